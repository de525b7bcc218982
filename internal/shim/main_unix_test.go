//go:build unix

package shim

import (
	"os/exec"
	"syscall"
)

// ownSession has a program started as the CLI starts its tools.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
