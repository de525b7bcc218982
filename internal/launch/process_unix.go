//go:build unix

package launch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startDetached starts a program in a session of its own, with orders as its
// descriptor 3. Only the caller's wait for it is left of the relation.
func startDetached(program string, args, env []string, orders, output *os.File) (pid int, err error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{orders}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release() // the reaper waits for it
}

// A reaper waits for the ends of shims. A goroutine for each, blocked in a wait
// for a process that may outlive the hub, could never be joined; so there is
// one, which looks at all of them whenever the system says that a child has
// ended.
type reaper struct {
	// Static after construction.
	onExit  func(Exit)
	signals chan os.Signal
	kick    chan struct{} // asks for a look without a signal; has room for one
	stop    chan struct{}
	once    sync.Once
	done    sync.WaitGroup

	mu       sync.Mutex
	children map[int]*child // by pid; guarded by mu
}

type child struct {
	Exit
	ended     bool // it has been waited for
	announced bool // its end may be told
	abandoned bool // no caller wants to know of its end
}

func newReaper(onExit func(Exit)) *reaper {
	r := &reaper{onExit: onExit, signals: make(chan os.Signal, 1), kick: make(chan struct{}, 1), stop: make(chan struct{}), children: make(map[int]*child)}
	signal.Notify(r.signals, syscall.SIGCHLD)
	r.done.Go(r.run)
	return r
}

func (r *reaper) run() {
	for {
		select {
		case <-r.signals:
			r.collect()
		case <-r.kick:
			r.collect()
		case <-r.stop:
			return
		}
	}
}

// close stops waiting. Children that end from now on are left to the system.
func (r *reaper) close() {
	r.once.Do(func() {
		signal.Stop(r.signals)
		close(r.stop)
	})
	r.done.Wait()
}

// start starts a child. The lock is held meanwhile, so that one that ends at
// once is not missed. What becomes of it is told after announce.
func (r *reaper) start(who Exit, start func() (int, error)) (pid int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err = start()
	if pid > 0 {
		who.PID = pid
		r.children[pid] = &child{Exit: who, abandoned: err != nil}
	}
	return pid, err
}

// announce says that the start of a child has succeeded.
func (r *reaper) announce(pid int) {
	r.change(pid, func(c *child) { c.announced = true })
}

// abandon kills a child that is of no use. As long as it has not been waited
// for, its number cannot be another's.
func (r *reaper) abandon(pid int) {
	r.change(pid, func(c *child) {
		c.abandoned = true
		if !c.ended {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended on its own
		}
	})
}

func (r *reaper) change(pid int, change func(*child)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.children[pid]; c != nil {
		change(c)
	}
	select {
	case r.kick <- struct{}{}:
	default: // it is asked already
	}
}

// collect waits for all children that have ended, and tells of those whose
// start has succeeded.
func (r *reaper) collect() {
	var ended []Exit
	r.mu.Lock()
	for pid, c := range r.children {
		c.wait()
		if !c.ended || !c.announced && !c.abandoned {
			continue
		}
		delete(r.children, pid)
		if !c.abandoned {
			ended = append(ended, c.Exit)
		}
	}
	r.mu.Unlock()
	if r.onExit == nil {
		return
	}
	for _, e := range ended {
		r.onExit(e)
	}
}

// wait looks whether the child has ended, without waiting for it.
func (c *child) wait() {
	if c.ended {
		return
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(c.PID, &status, syscall.WNOHANG, nil)
	if err == nil && got != c.PID || errors.Is(err, syscall.EINTR) {
		return
	}
	c.ended, c.Code = true, -1 // also if another goroutine has waited for it
	switch {
	case err != nil:
	case status.Exited():
		c.Code = status.ExitStatus()
	case status.Signaled():
		c.Signal = status.Signal().String()
	}
}

// reachable reports whether a process of this user has a number, for want of a way
// to look at it.
func reachable(pid int) bool { return syscall.Kill(pid, 0) == nil }

// processStat returns when a process was started, in the system's own form, and
// whether it has ended and only waits for its parent. Where that cannot be read,
// because this process has no descriptor left for it or ps takes too long, start is
// empty.
func processStat(pid int) (start string, ended, ok bool) {
	if runtime.GOOS == "linux" {
		return procStat(pid)
	}
	return psStat(pid)
}

// procStat is processStat for Linux.
func procStat(pid int) (start string, ended, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", false, reachable(pid)
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const state, begun = 0, 19 // fields 3 and 22 in proc(5)
	if len(fields) <= begun {
		return "", false, false
	}
	return string(fields[begun]), bytes.ContainsAny(fields[state], "ZXx"), true
}

// psStat is processStat for other systems, which have ps.
func psStat(pid int) (start string, ended, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", strconv.Itoa(pid))
	// The form must depend neither on the caller's locale nor on where the machine is by now.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, err := cmd.Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 {
		return "", false, reachable(pid)
	}
	return strings.Join(fields[1:], " "), strings.HasPrefix(fields[0], "Z"), true
}
