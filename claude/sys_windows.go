package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// sysProcAttr gives the CLI a process group of its own, so that an interrupt
// typed at the program's console is the program's to handle.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// lockThread does nothing: no signal depends on the thread.
func lockThread() (unlock func()) { return func() {} }

// terminate cannot ask: there is no signal that a program without a window
// would see. The CLI has been asked by the end of its input and gets the time
// that it would have had after SIGTERM.
func terminate(*os.Process) error { return errors.ErrUnsupported }

// kill ends a process and everything that descends from it.
func kill(p *os.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), killGrace/2)
	defer cancel()
	cmd := exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid))
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return p.Kill()
	}
	return nil
}

// exitStatus returns the exit code.
func exitStatus(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }

// growPipe does nothing: pipes have the size that the system gives them.
func growPipe(*os.File) {}

// processes cannot work without a library of the system's; kill ends the tree.
func processes(context.Context) ([]procInfo, error) {
	return nil, fmt.Errorf("listing processes: %w", errors.ErrUnsupported)
}

// marked cannot work: the environment of another process is not to be had.
func marked(context.Context, string) ([]procID, error) {
	return nil, fmt.Errorf("finding processes by their environment: %w", errors.ErrUnsupported)
}

// running is never asked, since no process is ever found.
func running([]procID) []procID { return nil }

// sendSignal is never asked either.
func sendSignal(procID, bool) {}
