//go:build unix

package hubstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// maxLog is how large the log may be before the next hub sets it aside, tailSize
// how much of it an error quotes at most.
const (
	maxLog   = 4 << 20
	tailSize = 2 << 10
)

// start starts a hub and waits until it, or another one, answers.
func start(ctx context.Context, o *Options) (*Hub, error) {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, &NoHubError{Reason: "its data folder can't be created: " + err.Error(), Hint: "name another one with --data-dir", Err: err}
	}
	// Before anything is written there.
	if err := trust.Folder(o.DataDir); err != nil {
		return nil, &NoHubError{Reason: "its data folder is not safe: " + err.Error(), Hint: "name another one with --data-dir", Err: err}
	}
	unlock, err := lock(ctx, filepath.Join(o.DataDir, "start.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	// The process that had the lock before has started one.
	if hub, err := Find(ctx, o.Socket); !missing(err) {
		return hub, err
	}
	if o.Starting != nil {
		o.Starting()
	}
	p, err := launch(o)
	if err != nil {
		return nil, &NoHubError{Reason: "it couldn't be started: " + err.Error(), Err: err}
	}
	return p.await(ctx, o)
}

// lock takes the lock by which processes that start a hub wait for each other. The
// file stays: to remove it would let two have locks on two files of its name.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, &NoHubError{Reason: err.Error(), Hint: "check that you can write to the data folder", Err: err}
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		// One that blocks could not be given up when ctx ends.
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = file.Close() }, nil // which gives it back
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		}
	}
}

// A process is a hub that was started.
type process struct {
	cmd  *exec.Cmd
	log  string
	from int64         // where its part of the log begins
	done chan struct{} // closed when it has ended
}

// launch starts the process.
func launch(o *Options) (*process, error) {
	p := &process{log: filepath.Join(o.DataDir, LogName), done: make(chan struct{})}
	if info, err := os.Lstat(p.log); err == nil && info.Size() > maxLog {
		if err := os.Rename(p.log, p.log+".old"); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	if p.from, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(o.Program, o.Args...)
	p.cmd.Env = inheritable(o.Env)
	p.cmd.Dir = o.DataDir // not the caller's, which the user may want to remove
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepDescriptors()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // ends with the process, as the comment of Ensure says
		defer close(p.done)
		_ = p.cmd.Wait() // its state says how it ended
	}()
	return p, nil
}

// keepDescriptors has no process that is started from now on get the descriptors
// that this one was given besides the three usual ones. A script may hold a lock by
// one, or wait for the end of a pipe, and a hub runs for weeks.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a system without it has no way to tell
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd) // which all that Go opens is already
		}
	}
}

// await waits until a hub answers: this one, or the one that was faster.
func (p *process) await(ctx context.Context, o *Options) (*Hub, error) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	done := p.done
	for {
		hub, err := Find(ctx, o.Socket)
		switch {
		case err == nil && done != nil && !p.beaten(o.DataDir): // it may yet have to find out that it is too late
			hub.Started, hub.PID, hub.Log, hub.Done = true, p.cmd.Process.Pid, p.log, p.done
			return hub, nil
		case err == nil:
			return hub, nil
		case !missing(err):
			return nil, err
		}
		select {
		case <-done:
			done = nil
		case <-ticker.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if done == nil && !p.beaten(o.DataDir) {
			return nil, &NoHubError{Reason: "the one that was started has ended (" + p.cmd.ProcessState.String() + "): " + p.words(), Hint: "see " + p.log}
		}
	}
}

// beaten says whether the data folder belongs to another process that is alive:
// then that one is the hub, and will answer.
func (p *process) beaten(dataDir string) bool {
	text, err := os.ReadFile(filepath.Join(dataDir, "lock"))
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	return err == nil && pid > 0 && pid != p.cmd.Process.Pid && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// words returns the end of what the hub said.
func (p *process) words() string {
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.NewSectionReader(file, p.from, maxLog))
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text[max(0, len(text)-tailSize):])
	if len(text) == 0 {
		return "it said nothing"
	}
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}
