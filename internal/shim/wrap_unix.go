//go:build linux || darwin

package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A WrapSpec says what [Wrap] wraps.
type WrapSpec struct {
	// Tee says how the hub is reached, and what it may do. CLIPID is filled in.
	Tee TeeSpec
	// Args are the CLI and its arguments, Env its environment.
	Args, Env []string
	// Stdin, Stdout and Stderr are the program's ends of its pipes. The first two
	// are closed. The third is the CLI's own.
	Stdin, Stdout, Stderr *os.File
	// Log is the path of a log file as in [Spec]. If empty, it is not recorded what
	// happens: on standard error the program would take it for the CLI's.
	Log string
}

// An Exit is how a CLI has ended: with a code, or by a signal if that is not 0.
type Exit struct {
	Code   int
	Signal syscall.Signal
}

// Wrap starts a CLI between a program and itself, passes on everything that they
// say to each other and every signal, and returns when the CLI has ended. The
// hub, if there is one or one comes, gets a copy; see [Tee].
//
// It is for a process that does nothing else. The CLI is in a process group of
// its own, so that a signal from a terminal reaches it once; on Linux it dies
// with this process, as the program that kills this one wants it to.
func Wrap(spec *WrapSpec) (Exit, error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passed()...)
	defer signal.Stop(signals)
	// Or the end of the program's pipe would end this process before the CLI.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGPIPE)
	defer signal.Stop(broken)

	log := slog.New(slog.DiscardHandler)
	if spec.Log != "" {
		if file, err := openLog(spec.Log, logLimit); err == nil { // else the CLI matters more
			defer func() { _ = file.Close() }() // it is written line by line
			log = slog.New(slog.NewTextHandler(file, nil))
		}
	}
	w, err := startWrapped(spec)
	if err != nil {
		return Exit{}, err
	}
	done := make(chan struct{})
	defer close(done)
	farewells, hasten := context.WithCancel(context.Background())
	defer hasten()
	var told atomic.Bool // that it should end
	go func() {          // ends with Wrap
		for {
			select {
			case s := <-signals:
				log.Info("a signal is passed on", "signal", s)
				told.Store(told.Load() || ends(s))
				_ = w.cmd.Process.Signal(s) // it may have ended
				select {
				case <-w.exited: // it is this process that is meant, and that takes too long
					time.AfterFunc(stalled, hasten)
				default:
				}
			case <-done:
				return
			}
		}
	}()

	tee := spec.Tee
	tee.CLIPID = w.cmd.Process.Pid
	output := &lastingReader{file: w.fromCLI, exited: w.exited}
	program := &lastingWriter{w: spec.Stdout, lost: func(err error) {
		log.Info("the program takes no more", "error", err)
		_ = w.fromCLI.Close() // the CLI gets to know it as it would without us
	}}
	t := NewTee(&tee, Streams{FromProgram: spec.Stdin, ToCLI: w.toCLI, FromCLI: output, ToProgram: program}, &Env{Logger: log})
	ran := make(chan error, 1)
	go func() { ran <- t.Run() }() // ends before Wrap, or with the process
	select {
	case err = <-ran:
	case <-program.ignored(w.exited, &told, done):
		err = errors.New("the program has ended the CLI and takes nothing of what is left")
	}
	if err != nil {
		log.Warn("not everything was passed on", "error", err)
	}
	<-w.exited
	_ = w.fromCLI.Close() // it has been read
	_ = spec.Stdout.Close()
	exit := exitOf(w.cmd.ProcessState)
	t.Finish(farewells, exit.exited())
	return exit, nil
}

// ends reports whether a signal is one by which a program ends its CLI.
func ends(s os.Signal) bool {
	return s == unix.SIGINT || s == unix.SIGTERM || s == unix.SIGHUP || s == unix.SIGQUIT
}

// exited says how the CLI has ended in the words of the link.
func (e Exit) exited() *link.Event {
	event := &link.Event{Reason: "the CLI of a program ended"}
	if e.Signal != 0 {
		event.Signal = unix.SignalName(e.Signal)
		event.Reason += " by " + event.Signal
	} else {
		event.Code = &e.Code
		event.Reason += fmt.Sprintf(" with code %d", e.Code)
	}
	return event
}

// passed are the signals that are passed on. What is ignored stays so: the CLI
// inherits that.
func passed() []os.Signal {
	list := []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}
	return slices.DeleteFunc(list, signal.Ignored)
}

// A wrappedCLI is a CLI with the ends of its pipes.
type wrappedCLI struct {
	cmd     *exec.Cmd
	toCLI   *os.File
	fromCLI *os.File
	exited  chan struct{}
}

// startWrapped starts the CLI.
func startWrapped(spec *WrapSpec) (*wrappedCLI, error) {
	stdin, toCLI, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making pipes for the CLI: %w", err)
	}
	defer func() { _ = stdin.Close() }() // the CLI has it
	fromCLI, stdout, err := os.Pipe()
	if err != nil {
		_ = toCLI.Close() // nothing was written
		return nil, fmt.Errorf("making pipes for the CLI: %w", err)
	}
	defer func() { _ = stdout.Close() }()
	w := &wrappedCLI{toCLI: toCLI, fromCLI: fromCLI, exited: make(chan struct{})}
	w.cmd = &exec.Cmd{Path: spec.Args[0], Args: spec.Args, Env: marked(spec.Env), Stdin: stdin, Stdout: stdout, Stderr: spec.Stderr, SysProcAttr: attributes()}
	started := make(chan error, 1)
	go func() { // ends with the CLI
		// The system takes the end of the thread that started the CLI for the end
		// of this process.
		runtime.LockOSThread()
		err := w.cmd.Start()
		started <- err
		if err == nil {
			_ = w.cmd.Wait() // how it ended is in its state
			close(w.exited)
		}
	}()
	if err := <-started; err != nil {
		_, _ = toCLI.Close(), fromCLI.Close()
		return nil, fmt.Errorf("starting %s: %w", spec.Args[0], err)
	}
	return w, nil
}

// marked returns an environment that marks the CLI and all that it starts as an
// agent's: the hub's socket does not let those approve. What a run of the hub's
// has marked stays so.
func marked(env []string) []string {
	if getenv(env, claude.MarkerEnv) != "" {
		return env
	}
	return append(slices.Clone(env), claude.MarkerEnv+"=wrap."+newInstance())
}

// exitOf returns how a process has ended.
func exitOf(state *os.ProcessState) Exit {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Code: state.ExitCode()}
}

// Leave ends this process as the CLI has ended. It does not return.
func (e Exit) Leave() {
	if e.Signal == 0 {
		os.Exit(e.Code)
	}
	// A new program has none of our handlers: whatever the signal is, it does what
	// it did to the CLI, unless it is ignored here. Numbers are understood by every
	// shell.
	kill := []string{"sh", "-c", fmt.Sprintf("kill -%d $$; exit %d", e.Signal, 128+e.Signal)}
	_ = syscall.Exec("/bin/sh", kill, []string{})
	os.Exit(128 + int(e.Signal))
}

// Become turns this process into the CLI. It only returns if that fails.
func Become(args, env []string) error {
	err := syscall.Exec(args[0], args, env)
	return fmt.Errorf("becoming %s: %w", args[0], err)
}

// A lastingReader reads what a process writes, to the end of the process: what it
// started may hold its end of the pipe open for longer. If nothing can be read
// any more it waits for the process.
type lastingReader struct {
	file   *os.File
	exited <-chan struct{}
	watch  sync.Once
}

func (r *lastingReader) Read(b []byte) (int, error) {
	r.watch.Do(func() {
		go func() { // ends with the process
			<-r.exited
			_ = r.file.SetReadDeadline(time.Now()) // a read that waits does so no more
		}()
	})
	n, err := r.file.Read(b)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return r.rest(b)
	case err != nil:
		<-r.exited
		return 0, io.EOF
	}
	return n, err
}

// rest reads what is left in the pipe and does not wait for more.
func (r *lastingReader) rest(b []byte) (n int, err error) {
	_ = r.file.SetReadDeadline(time.Time{}) // or nothing could be read
	raw, err := r.file.SyscallConn()
	if err != nil {
		return 0, io.EOF
	}
	_ = raw.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), b)
		return true
	})
	_ = r.file.SetReadDeadline(time.Now())
	if n <= 0 || err != nil {
		return 0, io.EOF
	}
	return n, nil
}

// A lastingWriter takes everything. When its writer takes no more that is told
// once.
type lastingWriter struct {
	w     io.Writer
	lost  func(error)
	over  bool
	taken atomic.Int64 // how often something was
}

func (l *lastingWriter) Write(b []byte) (int, error) {
	if l.over {
		return len(b), nil
	}
	if _, err := l.w.Write(b); err != nil {
		l.over = true
		l.lost(err)
	}
	l.taken.Add(1)
	return len(b), nil
}

// ignored returns a channel that is closed when a CLI was told to end, has ended, and
// nothing is taken for a while: a program that waits for the end of its CLI before it
// reads on, or does not read on at all, would otherwise wait for ever, as it would not
// without us. It is not closed after done.
func (l *lastingWriter) ignored(exited <-chan struct{}, told *atomic.Bool, done <-chan struct{}) <-chan struct{} {
	out := make(chan struct{})
	go func() { // ends with done
		select {
		case <-exited:
		case <-done:
			return
		}
		look := time.NewTicker(farewell / 50)
		defer look.Stop()
		taken, since := l.taken.Load(), time.Now()
		for {
			select {
			case <-look.C:
			case <-done:
				return
			}
			if now := l.taken.Load(); now != taken || !told.Load() {
				taken, since = now, time.Now()
			} else if time.Since(since) > farewell {
				close(out)
				return
			}
		}
	}()
	return out
}
