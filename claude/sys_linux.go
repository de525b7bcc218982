package claude

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr gives the CLI a process group of its own, so that an interrupt
// typed at the program's terminal is the program's to handle, and has the
// kernel send SIGTERM when the program dies. SIGKILL would leave the tools of
// every CLI behind.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// lockThread keeps the calling goroutine on its thread.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// pipeBytes is how much a CLI can write before it has to wait for a reader. The usual
// 64 KiB hold sixteen messages of a few kilobytes, since each takes a page or more.
// All pipes of a user together may hold 64 MiB, beyond which new ones get 8 KiB; so it
// is not more.
const pipeBytes = 128 << 10

// growPipe makes a pipe hold pipeBytes. If the system does not allow it, the pipe
// stays as it is.
func growPipe(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { // nothing depends on it
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes)
	})
}

// processes lists all processes of the machine that can be seen.
func processes(ctx context.Context) ([]procInfo, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var table []procInfo
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if info, ok := readStat(pid); ok {
			table = append(table, info)
		}
	}
	return table, nil
}

// readStat reads /proc/<pid>/stat. It reports no process if there is none, or
// if it has ended and only waits for its parent.
func readStat(pid int) (procInfo, bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return procInfo{}, false
	}
	return parseStat(pid, data)
}

func parseStat(pid int, data []byte) (procInfo, bool) {
	// The name comes second, in parentheses, and may contain anything.
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return procInfo{}, false
	}
	fields := bytes.Fields(data[i+1:])
	const state, parent, start = 0, 1, 19 // fields 3, 4 and 22 in proc(5)
	if len(fields) <= start || bytes.ContainsAny(fields[state], "ZXx") {
		return procInfo{}, false
	}
	ppid, err := strconv.Atoi(string(fields[parent]))
	if err != nil {
		return procInfo{}, false
	}
	return procInfo{procID{pid, string(fields[start])}, ppid}, true
}

// marked returns the processes that carry the marker, and what descends from
// them: a program may clear its environment.
func marked(ctx context.Context, marker string) ([]procID, error) {
	table, err := processes(ctx)
	if err != nil {
		return nil, err
	}
	entry := []byte(MarkerEnv + "=" + marker)
	self := os.Getpid()
	var found []procID
	var roots []int
	for _, info := range table {
		if info.pid == self || !carries(info.pid, entry) {
			continue
		}
		// The number may have changed hands since the table was read.
		if now, ok := readStat(info.pid); ok && now.procID == info.procID {
			found = append(found, info.procID)
			roots = append(roots, info.pid)
		}
	}
	for _, id := range descendants(table, roots...) {
		if id.pid != self {
			found = append(found, id)
		}
	}
	return found, nil
}

// carries reports whether a process was started with an entry in its
// environment. That of other users' processes cannot be read: they are not
// ours.
func carries(pid int, entry []byte) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	for len(env) > 0 {
		var kv []byte
		kv, env, _ = bytes.Cut(env, []byte{0})
		if bytes.Equal(kv, entry) {
			return true
		}
	}
	return false
}

// running returns those processes that still run.
func running(ids []procID) []procID {
	return slices.DeleteFunc(slices.Clone(ids), func(id procID) bool {
		info, ok := readStat(id.pid)
		return !ok || info.procID != id
	})
}

// sendSignal ends a process, if it is still the same one. The handle is opened
// before that is checked, so that the signal cannot reach another.
func sendSignal(id procID, force bool) {
	p, err := os.FindProcess(id.pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }() // there is nothing to do about a failure
	if info, ok := readStat(id.pid); !ok || info.procID != id {
		return
	}
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	_ = p.Signal(sig) // if it fails, await finds the process again
}
