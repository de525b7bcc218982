//go:build unix

package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// A dirLock keeps other processes out of a data folder. The system gives it
// back when the process dies. The file stays: removing it would let two
// processes hold locks on two files of the same name.
type dirLock struct {
	file *os.File
	// tooBig swallows SIGXFSZ, which would end the process when a file grows
	// beyond the process's limit; without it the write fails, and is reported.
	tooBig chan os.Signal
	// sameBoot says that the machine has not been started since the lock was taken
	// the last time.
	sameBoot bool
}

// lockDir takes the lock of a data folder.
func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, "lock")
	if err := asFileError(trust.File(path)); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := awaitLock(file); err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		holder := "another process"
		if pid, _ := holderOf(file); pid > 0 {
			holder = fmt.Sprintf("process %d", pid)
		}
		return nil, &FileError{
			Path:   path,
			Reason: fmt.Sprintf("the data folder is in use by %s", holder),
			Hint:   "stop that one first, or give this one another folder with --data-dir",
			Err:    err,
		}
	}
	_, before := holderOf(file)
	boot := bootID()
	// The pid is a help for people only, and without the other line less is known
	// after a crash; a full disk must not keep us out.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"+boot+"\n"), 0)
	}
	l := &dirLock{file: file, tooBig: make(chan os.Signal, 1), sameBoot: boot != "" && boot == before}
	signal.Notify(l.tooBig, syscall.SIGXFSZ)
	return l, nil
}

// inUse reports whether a process holds the lock of a data folder, and whether the
// machine has not been started since one did. It takes the lock for a moment, shared
// with others that only look.
func inUse(dir string) (used, sameBoot bool, err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	defer file.Close() // which gives the lock back
	_, before := holderOf(file)
	boot := bootID()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, false, nil
	}
	return false, boot != "" && boot == before, err
}

// How long the lock of a process that is dead is waited for, and how often it is
// tried meanwhile.
const (
	lockPatience = 2 * time.Second
	lockPause    = 5 * time.Millisecond
)

// awaitLock takes the lock. A process that a killed hub had just forked holds the
// hub's descriptor until it runs another program. So as long as the process that the
// file names is dead, awaitLock tries again for a moment.
func awaitLock(file *os.File) error {
	for deadline := time.Now().Add(lockPatience); ; {
		err := flock(file)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
		if pid, _ := holderOf(file); pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return err
		}
		time.Sleep(lockPause)
	}
}

// holderOf returns the process that the file names, 0 if it names none, and the
// start of the machine in which it wrote that.
func holderOf(file *os.File) (pid int, boot string) {
	text := make([]byte, 128)
	n, err := file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, ""
	}
	first, rest, _ := strings.Cut(string(text[:n]), "\n")
	pid, err = strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0, ""
	}
	return pid, strings.TrimSpace(rest)
}

// flock takes the lock on a file if no process has it.
func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// atSizeLimit reports whether a file, or the log beside it, is about as large as the
// process may make one. SQLite does not tell why a write failed.
func (l *dirLock) atSizeLimit(path string) bool {
	var limit syscall.Rlimit
	if l == nil || syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) != nil {
		return false
	}
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil && limit.Cur < 1<<62 && info.Size()+1<<20 > int64(limit.Cur) {
			return true
		}
	}
	return false
}

// unlock gives the lock back. Closing alone does not while a process that was just
// forked has the descriptor, too.
func (l *dirLock) unlock() error {
	signal.Stop(l.tooBig)
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
