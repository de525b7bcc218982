//go:build unix

package termtest

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// maxTyped is how much a program may leave unread before what is typed is lost, as on a real terminal.
const maxTyped = 1 << 20

// A Terminal is a program that runs on a pseudo-terminal. Its methods are to be called on the test's goroutine, since they end the test when
// something goes wrong.
type Terminal struct {
	tb       testing.TB
	patience time.Duration
	cmd      *exec.Cmd
	pty      *os.File
	pumps    sync.WaitGroup
	exited   chan struct{} // closed when the process is gone and waited for
	ended    chan struct{} // closed when nothing more can come from the terminal

	mu      sync.Mutex
	emu     *Emulator
	changed chan struct{} // closed at the next change
	rec     *recorder
	typed   []byte
	more    *sync.Cond // typed has grown, or closing
	closing bool
}

// Start starts a program on a terminal of its own. When the test ends the program is ended, with what it started in its session, and waited for.
func Start(tb testing.TB, o Options) *Terminal {
	tb.Helper()
	if len(o.Args) == 0 {
		tb.Fatal("termtest: Options.Args is empty")
	}
	if o.Cols == 0 {
		o.Cols = 80
	}
	if o.Rows == 0 {
		o.Rows = 24
	}
	t := &Terminal{
		tb: tb, patience: o.Patience, exited: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}),
	}
	if t.patience <= 0 {
		t.patience = 90 * time.Second
	}
	t.more = sync.NewCond(&t.mu)
	reply := t.queue // called with the lock held, by what the emulator is given
	if o.Mute {
		reply = nil
	}
	t.emu = NewEmulator(o.Cols, o.Rows, reply)
	if o.Record != nil {
		t.rec = newRecorder(o.Record, o.Cols, o.Rows)
	}
	env := o.env(func() string { return os.Getenv("PATH") }, tb.TempDir)
	if o.Dir == "" {
		o.Dir, _ = lookup(env, "HOME")
	}
	t.cmd = exec.Command(o.Args[0], o.Args[1:]...)
	t.cmd.Env, t.cmd.Dir = env, o.Dir
	file, err := pty.StartWithSize(t.cmd, size(o.Cols, o.Rows))
	if err != nil {
		tb.Fatalf("termtest: starting %s: %v", o.Args[0], err)
	}
	t.pty = file
	t.pumps.Go(t.read)
	t.pumps.Go(t.write)
	t.pumps.Go(func() {
		_ = t.cmd.Wait() // the state says it all
		close(t.exited)
	})
	tb.Cleanup(t.close)
	return t
}

// size returns a size as the system wants it.
func size(cols, rows int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows), X: uint16(cols * 10), Y: uint16(rows * 20)}
}

// read brings what the program writes to the emulator, until its end.
func (t *Terminal) read() {
	defer close(t.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := t.pty.Read(buffer)
		t.mu.Lock()
		if n > 0 {
			_, _ = t.emu.Write(buffer[:n])
			t.rec.output(buffer[:n])
		}
		if err != nil {
			// On Linux the end is EIO: no process has the other side open any more. A frame that was never finished is shown as it is.
			t.emu.frozen = nil
		}
		t.change()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// change wakes the goroutines that wait for a change. The caller has the lock.
func (t *Terminal) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// write brings what is typed, and what the terminal answers, to the program. It is a goroutine of its own since a program that does not read must not
// keep us from reading what it writes.
func (t *Terminal) write() {
	for {
		t.mu.Lock()
		for len(t.typed) == 0 && !t.closing {
			t.more.Wait()
		}
		typed := t.typed
		t.typed = nil
		closing := t.closing
		t.mu.Unlock()
		if closing {
			return
		}
		if _, err := t.pty.Write(typed); err != nil {
			return // the program is gone, and reading finds that out too
		}
	}
}

// queue takes what is to be typed. The caller has the lock.
func (t *Terminal) queue(keys string) {
	if len(t.typed)+len(keys) <= maxTyped {
		t.typed = append(t.typed, keys...)
		t.more.Signal()
	}
}

// Type types keys: text, or what the keys of this package send. It does not wait for anything: a program that does not listen yet finds them later,
// shown by the system itself as they come.
func (t *Terminal) Type(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		t.rec.event(CastInput, key)
		t.queue(key)
	}
}

// Mark puts a mark into the recording.
func (t *Terminal) Mark(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rec.event(CastMark, name)
}

// Screen returns what the terminal shows now.
func (t *Terminal) Screen() *Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.emu.Screen()
}

// Resize changes the terminal's size, and tells the program.
func (t *Terminal) Resize(cols, rows int) {
	t.tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emu.Resize(cols, rows)
	t.rec.event(CastResize, resized(cols, rows))
	t.change()
	if err := pty.Setsize(t.pty, size(cols, rows)); err != nil {
		t.tb.Fatalf("termtest: changing the size to %d×%d: %v", cols, rows, err)
	}
}

// Pid returns the process's number.
func (t *Terminal) Pid() int { return t.cmd.Process.Pid }

// Signal sends a signal to the program.
func (t *Terminal) Signal(signal os.Signal) {
	t.tb.Helper()
	if err := t.cmd.Process.Signal(signal); err != nil {
		t.tb.Fatalf("termtest: sending %v: %v", signal, err)
	}
}

// Exit waits until the program has ended and all it wrote has been seen, and returns its exit code; -1 if a signal ended it. The test ends if
// something that the program has started keeps the terminal open.
func (t *Terminal) Exit() int {
	t.tb.Helper()
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case <-t.exited:
	case <-timer.C:
		t.tb.Fatalf("termtest: %s has not ended after %v; the screen:\n%s", t.cmd.Args[0], t.patience, t.Screen())
	}
	select {
	case <-t.ended:
	case <-timer.C:
		t.tb.Fatalf("termtest: %s has ended, but something that it started still holds the terminal; the screen:\n%s", t.cmd.Args[0], t.Screen())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rec != nil && t.rec.err != nil {
		t.tb.Fatalf("termtest: recording: %v", t.rec.err)
	}
	return t.cmd.ProcessState.ExitCode()
}

// wait is behind all that waits for the screen.
func (t *Terminal) wait(is func(*Screen) bool, why string) {
	t.tb.Helper()
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	for {
		over := false
		select {
		case <-t.ended:
			over = true // what is there now is all
		default:
		}
		t.mu.Lock()
		screen, changed := t.emu.Screen(), t.changed
		t.mu.Unlock()
		if is(screen) {
			return
		}
		if over {
			t.tb.Fatalf("termtest: the program ended while waiting for %s; the screen:\n%s", why, screen)
		}
		select {
		case <-changed:
		case <-t.ended:
		case <-timer.C:
			t.tb.Fatalf("termtest: waited %v for %s; the screen:\n%s", t.patience, why, t.Screen())
		}
	}
}

// close ends the program and waits for all there is.
func (t *Terminal) close() {
	select {
	case <-t.exited:
	default:
		// It leads a session and a process group of its own.
		if err := syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.tb.Errorf("termtest: ending %s: %v", t.cmd.Args[0], err)
		}
		<-t.exited
	}
	t.mu.Lock()
	t.closing = true
	t.more.Signal()
	t.mu.Unlock()
	_ = t.pty.Close() // and with it whatever still reads or writes
	t.pumps.Wait()
}
