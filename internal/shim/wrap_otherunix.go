//go:build unix && !linux

package shim

import "syscall"

// attributes are those of a wrapped CLI. When this process is killed, the CLI
// finds its input closed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
