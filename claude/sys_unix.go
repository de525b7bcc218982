//go:build unix

package claude

import (
	"os"
	"syscall"
)

// terminate asks a process to end.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// kill ends a process and its group at once. Only the group of a process that
// has not been waited for is certain to be its own, so the caller must not
// have.
func kill(p *os.Process) error {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	return p.Kill()
}

// exitStatus returns the exit code, -1 if there is none, and the name of the
// sendSignal that ended the process.
func exitStatus(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return s.ExitCode(), ""
}
