package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultInputGrace = 2 * time.Second
	defaultTermGrace  = 5 * time.Second
	// killGrace bounds the wait for a process after SIGKILL. One that the
	// kernel holds cannot be ended at all.
	killGrace = 5 * time.Second
	// pipeGrace is how long a pipe is read after the CLI has ended, if
	// something that the CLI has started still holds its other end.
	pipeGrace = 500 * time.Millisecond
	// handoverGrace is how long a line that comes during Close waits for a
	// Read. A missing reader must not keep the CLI from finishing.
	handoverGrace = 100 * time.Millisecond
	// drainGrace bounds the wait for a reader that is at work when everything
	// else has ended.
	drainGrace = 2 * time.Second
	// exitGrace bounds the wait for the end of a process that has closed its
	// pipes.
	exitGrace = 5 * time.Second
)

// A Process is a running CLI, spoken to over its standard input and output. It
// implements [Transport].
//
// It owns four goroutines, which Close joins: one that started the process and
// waits for its end, on a thread of its own, because on Linux the CLI is told
// of that thread's death as if it were the program's; one each that reads
// standard output, reads standard error and writes standard input.
type Process struct {
	// Static after construction.
	command  Command
	pid      int
	process  *os.Process
	stdin    *os.File // nil with Command.NoInput
	stdout   *os.File
	stderr   *os.File
	redactor *redactor
	state    StateVar
	workers  sync.WaitGroup

	batches    chan batch    // from readLoop to Read; never closed
	jobs       chan writeJob // from Write to writeLoop; never closed
	inputDone  chan struct{} // closed by CloseInput
	closing    chan struct{} // closed when Close begins
	cut        chan struct{} // closed when Close waits for readers no longer
	exited     chan struct{} // closed when the process has been waited for
	dropped    chan struct{} // closed when lines are no longer kept for Read
	readDone   chan struct{} // closed when standard output has ended
	stderrDone chan struct{} // closed when stderrLoop has ended
	firstLine  chan struct{} // closed at the first line, or at the end of output

	reads   atomic.Int64 // how often Read was called
	returns atomic.Bool  // the reader is a Conn, which always comes back for more

	ahead [][]byte // lines that came with the last one that Read returned; owned by the one reader at a time

	inputOnce sync.Once
	closeOnce sync.Once
	exitOnce  sync.Once

	errTail tail // written by stderrLoop

	// Written before exited is closed.
	exitState *os.ProcessState
	exitAsked bool // Close had been called

	// Written before readDone is closed.
	readErr error

	silent bool // no line came; written before firstLine is closed

	exitErr  error // by exitOnce
	closeErr error // by closeOnce
}

var _ Transport = (*Process)(nil)

type writeJob struct {
	line []byte
	done chan error // has room for the answer: Write may have given up
}

// Start starts the process; see [CLI.Start]. A command can be started once.
func (c *Command) Start(ctx context.Context) (*Process, error) {
	p, err := c.start(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Discard())
	}
	return p, nil
}

func (c *Command) start(ctx context.Context) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting claude: %w", err)
	}
	if len(c.Args) == 0 {
		return nil, &OptionError{"Args", "there is no program"}
	}
	p := &Process{
		command:    *c,
		batches:    make(chan batch),
		jobs:       make(chan writeJob),
		inputDone:  make(chan struct{}),
		closing:    make(chan struct{}),
		cut:        make(chan struct{}),
		exited:     make(chan struct{}),
		dropped:    make(chan struct{}),
		readDone:   make(chan struct{}),
		stderrDone: make(chan struct{}),
		firstLine:  make(chan struct{}),
	}
	if c.token != "" && len(c.Files) > 0 {
		return nil, &OptionError{"Files", "the first descriptor is taken by SDKToken"}
	}
	if err := p.command.complete(); err != nil {
		return nil, err
	}
	p.redactor = newRedactor(p.command.Env, c.token)
	p.state.Set(StateConnecting)

	cmd, theirs, err := p.prepare()
	if err != nil {
		closeAll(theirs)
		p.closePipes()
		return nil, fmt.Errorf("starting claude: making pipes: %w", err)
	}
	started := make(chan error)
	p.workers.Go(func() { p.live(cmd, started) })
	err = <-started
	closeAll(theirs)
	if err != nil {
		p.closePipes()
		p.workers.Wait()
		return nil, p.command.explainStart(err)
	}
	p.state.Set(StateConnected)
	p.workers.Go(p.readLoop)
	p.workers.Go(p.stderrLoop)
	if p.stdin != nil {
		p.workers.Go(p.writeLoop)
	}
	return p, nil
}

// complete fills in what the caller left out.
func (c *Command) complete() error {
	if c.Marker == "" {
		c.Marker = newMarker()
	}
	if err := checkMarker(c.Marker); err != nil {
		return err
	}
	if c.Env == nil {
		c.Env = Environ(os.Environ(), false)
	}
	c.Env = setEnv(slices.Clone(c.Env), MarkerEnv, c.Marker)
	if c.InputGrace <= 0 {
		c.InputGrace = defaultInputGrace
	}
	if c.TermGrace <= 0 {
		c.TermGrace = defaultTermGrace
	}
	return nil
}

// prepare makes the pipes. It returns the ends that belong to the CLI, which
// are to be closed here once the process has them.
func (p *Process) prepare() (*exec.Cmd, []*os.File, error) {
	cmd := exec.Command(p.command.Args[0], p.command.Args[1:]...)
	cmd.Env, cmd.Dir = p.command.Env, p.command.Dir
	cmd.SysProcAttr = sysProcAttr()
	var theirs []*os.File
	if !p.command.NoInput {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, theirs, err
		}
		theirs = append(theirs, r)
		cmd.Stdin, p.stdin = r, w
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, theirs, err
	}
	theirs = append(theirs, w)
	cmd.Stdout, p.stdout = w, r
	growPipe(r)
	if r, w, err = os.Pipe(); err != nil {
		return nil, theirs, err
	}
	theirs = append(theirs, w)
	cmd.Stderr, p.stderr = w, r
	if p.command.token != "" {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, theirs, err
		}
		theirs = append(theirs, r)
		_, err = io.WriteString(w, p.command.token) // fits into the pipe
		if err = errors.Join(err, w.Close()); err != nil {
			return nil, theirs, err
		}
		cmd.ExtraFiles = []*os.File{r}
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, p.command.Files...)
	return cmd, theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the process has its own copy
	}
}

// closePipes closes our ends, for good, even while other goroutines use them.
func (p *Process) closePipes() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close() // it may be closed already
		}
	}
}

// live starts the process and waits for its end.
func (p *Process) live(cmd *exec.Cmd, started chan<- error) {
	// The thread that starts a process with PDEATHSIG must live as long as
	// the process does.
	unlock := lockThread()
	defer unlock()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.process, p.pid = cmd.Process, cmd.Process.Pid
	started <- nil
	_ = cmd.Wait() // the state tells how it ended
	p.exitState = cmd.ProcessState
	select {
	case <-p.closing:
		p.exitAsked = true
	default:
	}
	if !p.exitAsked {
		p.state.Set(StateClosed)
	}
	close(p.exited)
	// From now on a pipe without an end is one that a grandchild holds.
	// Windows has no deadlines for pipes; there Close ends the wait.
	deadline := time.Now().Add(pipeGrace)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
}

// end returns what Read returns after the last line.
func (p *Process) end(err error) error {
	switch {
	case errors.Is(err, os.ErrClosed): // by Close, which did not see the end
		return ErrClosed
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("reading from claude: %w", err)
	}
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-p.closing:
	case <-timer.C:
		return errors.New("claude has closed its output and still runs")
	}
	select {
	case <-p.exited: // perhaps before Close was called
	default:
		return io.EOF
	}
	if err := p.exitError(); err != nil {
		return err
	}
	return io.EOF
}

// exitError returns how the process ended: nil with code 0 or if Close was
// called before. It may only be called after the end.
func (p *Process) exitError() error {
	p.exitOnce.Do(func() {
		code, signal := exitStatus(p.exitState)
		if code == 0 || p.exitAsked {
			return
		}
		// The last words mostly say what happened. The pipes' deadlines bound
		// the wait, except on Windows.
		timer := time.NewTimer(2 * pipeGrace)
		defer timer.Stop()
		for _, done := range []<-chan struct{}{p.firstLine, p.stderrDone} {
			select {
			case <-done:
			case <-timer.C:
				timer.Reset(0) // nor is the next one waited for
			}
		}
		e := &ExitError{PID: p.pid, Version: p.command.Version, Code: code, Signal: signal, Stderr: p.Stderr()}
		select {
		case <-p.firstLine:
			e.Silent = p.silent
		default:
		}
		select {
		case <-p.inputDone:
			e.InputClosed = true
		default:
		}
		p.exitErr = e
	})
	return p.exitErr
}

// stderrLoop drains standard error, always: a full pipe would stop the CLI.
func (p *Process) stderrLoop() {
	defer close(p.stderrDone)
	defer p.stderr.Close()
	tee := &stderrTee{tail: &p.errTail, redactor: p.redactor, tell: p.command.Stderr}
	_, _ = io.Copy(tee, pipeReader{p.stderr, p.exited}) // what could be read is kept
	tee.close()
}

// writeLoop owns standard input.
func (p *Process) writeLoop() {
	defer p.stdin.Close()
	for {
		select {
		case job := <-p.jobs:
			_, err := p.stdin.Write(job.line)
			job.done <- err
		case <-p.inputDone:
			return
		case <-p.exited:
			return
		}
	}
}

// Write implements [Transport]. It returns when the line has been handed to
// the operating system, which says nothing about whether the CLI has read it.
// If ctx ends before the line's turn has come, nothing was sent; if it ends
// while the CLI is slow to take the line, the error is also [ErrUnfinished].
func (p *Process) Write(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("writing to claude: %w", ErrBadLine)
	}
	if err := p.writable(); err != nil {
		return err
	}
	// A copy, since writing may go on after Write has returned.
	buf := make([]byte, len(line)+1)
	copy(buf, line)
	buf[len(line)] = '\n'
	job := writeJob{buf, make(chan error, 1)}
	select {
	case p.jobs <- job:
	case <-ctx.Done():
		return fmt.Errorf("writing to claude: %w", ctx.Err())
	case <-p.inputDone:
		return p.writable()
	case <-p.exited:
		return p.writable()
	}
	select {
	case err := <-job.done:
		return p.writeError(err)
	case <-ctx.Done():
		return fmt.Errorf("writing to claude: %w: %w", ErrUnfinished, ctx.Err())
	}
}

// writable returns why nothing can be written.
func (p *Process) writable() error {
	select {
	case <-p.closing:
		return fmt.Errorf("writing to claude: %w", ErrClosed)
	default:
	}
	select {
	case <-p.exited:
		if err := p.exitError(); err != nil {
			return fmt.Errorf("writing to claude: %w", err)
		}
		return fmt.Errorf("writing to claude: it has ended: %w", io.ErrClosedPipe)
	default:
	}
	select {
	case <-p.inputDone:
		return fmt.Errorf("writing to claude: %w", ErrInputClosed)
	default:
	}
	if p.stdin == nil {
		return fmt.Errorf("writing to claude: it has no input: %w", ErrInputClosed)
	}
	return nil
}

// writeError explains an error of the pipe. A CLI that has died tells why a
// moment after its pipe has broken.
func (p *Process) writeError(err error) error {
	if err == nil {
		return nil
	}
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-p.closing:
	case <-timer.C:
	}
	if cause := p.writable(); cause != nil {
		return cause
	}
	return fmt.Errorf("writing to claude: %w", err)
}

// CloseInput implements [Transport]. Lines that are being written come first.
func (p *Process) CloseInput() error {
	p.inputOnce.Do(func() { close(p.inputDone) })
	return nil
}

// State implements [Transport].
func (p *Process) State() (state string, changed <-chan struct{}) { return p.state.Get() }

// PID returns the id of the CLI's process.
func (p *Process) PID() int { return p.pid }

// Marker returns the value of [MarkerEnv] that everything started by the CLI
// carries in its environment.
func (p *Process) Marker() string { return p.command.Marker }

// Args returns the command that was run. It contains no secrets.
func (p *Process) Args() []string { return slices.Clone(p.command.Args) }

// Done returns a channel that is closed when the process has ended. Lines that
// it wrote may still be there to be read, and processes that it started may
// still run until Close.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Wait waits for the end of the process. It returns nil if it exited with
// code 0 or was closed by us, else an [*ExitError]. A process whose lines
// no goroutine reads may never end.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.exitError()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stderr returns the end of what the CLI has written to standard error so far,
// at most 8 KiB, with secrets taken out.
func (p *Process) Stderr() string { return p.redactor.redact(p.errTail.bytes()) }

// Redact takes out of a text what Stderr would take out: the values of the
// CLI's environment that sound like secrets, and what looks like one.
func (p *Process) Redact(text string) string { return p.redactor.clean([]byte(text)) }
