//go:build unix && !linux

package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// sysProcAttr gives the CLI a process group of its own, so that an interrupt
// typed at the program's terminal is the program's to handle. There is no
// sendSignal at the program's death here: the CLI notices the end of its input.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lockThread does nothing: no signal depends on the thread.
func lockThread() (unlock func()) { return func() {} }

// growPipe does nothing: pipes have the size that the system gives them.
func growPipe(*os.File) {}

// processes lists all processes, as ps sees them.
func processes(ctx context.Context) ([]procInfo, error) {
	cmd := exec.CommandContext(ctx, "/bin/ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "lstart=")
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"} // or another hour would be another process
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing processes with ps: %w", err)
	}
	var table []procInfo
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || strings.HasPrefix(fields[2], "Z") {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			table = append(table, procInfo{procID{pid, strings.Join(fields[3:], " ")}, parent})
		}
	}
	return table, nil
}

// marked cannot work: the environment of another process is not to be had, or
// not of all of them.
func marked(context.Context, string) ([]procID, error) {
	return nil, fmt.Errorf("finding processes by their environment: %w", errors.ErrUnsupported)
}

// running returns those processes that still run; all of them if that cannot be
// told.
func running(ids []procID) []procID {
	ctx, cancel := context.WithTimeout(context.Background(), sweepGrace)
	defer cancel()
	table, err := processes(ctx)
	if err != nil {
		return slices.Clone(ids)
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id procID) bool {
		return !slices.ContainsFunc(table, func(info procInfo) bool { return info.procID == id })
	})
}

// sendSignal ends a process, if it is still the same one. Between the check and
// the signal its number could change hands, which takes a full round through
// all numbers.
func sendSignal(id procID, force bool) {
	if len(running([]procID{id})) == 0 {
		return
	}
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(id.pid, sig) // if it fails, await finds the process again
}
