package shim

import (
	"bytes"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// An adopter makes this process the parent of those whose own parent, a
// descendant of ours, has ended, and takes note of their end.
type adopter struct {
	// own is the CLI: its end is for the goroutine that waits for it. Until it is known
	// no end is noted.
	own atomic.Int64

	signals chan os.Signal
	done    chan struct{}
	worker  sync.WaitGroup
}

// adopt begins to adopt. Stop ends that.
func adopt(log *slog.Logger) *adopter {
	a := &adopter{signals: make(chan os.Signal, 1), done: make(chan struct{})}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		log.Warn("orphans will not be adopted", "error", err)
	}
	signal.Notify(a.signals, unix.SIGCHLD)
	a.worker.Go(func() {
		for {
			select {
			case <-a.signals:
				a.reap()
			case <-a.done:
				a.reap()
				return
			}
		}
	})
	return a
}

// started says which process is the CLI.
func (a *adopter) started(pid int) {
	a.own.Store(int64(pid))
	select { // for processes that ended meanwhile
	case a.signals <- unix.SIGCHLD:
	default:
	}
}

func (a *adopter) stop() {
	signal.Stop(a.signals)
	close(a.done)
	a.worker.Wait()
}

// reap takes note of the end of every adopted process that has ended.
func (a *adopter) reap() {
	own := int(a.own.Load())
	if own == 0 {
		return
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return
	}
	self := strconv.Itoa(os.Getpid())
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		// The name comes second, in parentheses, and may contain anything.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 2 || string(fields[0]) != "Z" || string(fields[1]) != self {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == own {
			continue
		}
		var status unix.WaitStatus
		_, _ = unix.Wait4(pid, &status, unix.WNOHANG, nil) // it is ours and has ended
	}
}

// peerUID returns the user of the process at the other end of a Unix socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// startTime returns when a process was started, in the system's own form: field
// 22 of its stat file. It is empty if that cannot be seen.
func startTime(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const start = 19 // the first one here is field 3
	if len(fields) <= start {
		return ""
	}
	return string(fields[start])
}

// attributes are those of a wrapped CLI.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// programPages returns where the program's file is in this process's memory, as far
// as it was not written to.
func programPages() []pages {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return nil
	}
	// Per mapping there is a line "from-to rwxp offset device inode path" and then
	// "Name: value" lines. A page that was written to is not the file's any more,
	// and counts as anonymous.
	var list []pages
	var at pages
	mine := false
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			first, last, _ := strings.Cut(fields[0], "-")
			from, err1 := strconv.ParseUint(first, 16, 64)
			to, err2 := strconv.ParseUint(last, 16, 64)
			at = pages{uintptr(from), uintptr(to)}
			mine = err1 == nil && err2 == nil && len(fields) == 6 && fields[5] == self && (fields[1] == "r-xp" || fields[1] == "r--p")
		case mine && len(fields) == 3 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				list = append(list, at)
			}
			mine = false
		}
	}
	return list
}

// dropPages takes pages out of this process's memory that were read from a file and
// can only be read. They stay in the system's cache, from where they come back as
// they are used.
func dropPages(list []pages) {
	for _, p := range list {
		// Merely advice: if it is refused, the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.from, p.to-p.from, syscall.MADV_DONTNEED)
	}
}
