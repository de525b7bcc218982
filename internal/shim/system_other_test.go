//go:build !linux && !darwin

package shim

import "os/exec"

// ownSession does nothing: there are no sessions.
func ownSession(*exec.Cmd) {}
