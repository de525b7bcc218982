package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A pipe is a CLI over plain pipes that can be sent anything: package claude refuses to write what this is for. It is a claude.Transport.
type pipe struct {
	cmd     *exec.Cmd
	command *claude.Command
	stdin   io.WriteCloser
	lines   chan []byte   // lines as they come; closed at the end of output
	exited  chan struct{} // closed when the process has been waited for
	stderr  lockedBuffer

	mu sync.Mutex // one write at a time
}

// startPipe starts a command.
func startPipe(command *claude.Command) (*pipe, error) {
	p := &pipe{
		cmd:     exec.Command(command.Args[0], command.Args[1:]...),
		command: command,
		lines:   make(chan []byte),
		exited:  make(chan struct{}),
	}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = command.Env, command.Dir, &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	// It ends with the process's output, which Close makes sure of.
	go func() {
		defer close(p.exited)
		defer close(p.lines)
		reader := wire.NewLineReader(stdout, 0)
		for {
			line, err := reader.Next()
			if err != nil {
				_ = p.cmd.Wait() // the exit code is looked at where it matters
				return
			}
			p.lines <- bytes.Clone(line)
		}
	}()
	return p, nil
}

// Read implements claude.Transport.
func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	select {
	case line, ok := <-p.lines:
		if !ok {
			<-p.exited
			return nil, p.ended()
		}
		return line, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ended returns how the process ended, as package claude does.
func (p *pipe) ended() error {
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return &claude.ExitError{PID: p.PID(), Code: code, Stderr: p.Stderr()}
	}
	return io.EOF
}

// Write implements claude.Transport.
func (p *pipe) Write(_ context.Context, line []byte) error {
	return p.bytes(append(bytes.Clone(line), '\n'))
}

// bytes writes what it is given. A CLI that is gone does not read it; the next Read reports that.
func (p *pipe) bytes(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.stdin.Write(data)
	return nil
}

// CloseInput implements claude.Transport.
func (p *pipe) CloseInput() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Close implements claude.Transport. A CLI that does not end is killed.
func (p *pipe) Close() error {
	_ = p.CloseInput() // it may be closed, or broken
	kill := time.AfterFunc(2*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	for range p.lines { // what it still writes is read by nobody
	}
	<-p.exited
	return p.command.Discard()
}

// State implements claude.Transport.
func (p *pipe) State() (string, <-chan struct{}) { return claude.StateConnected, nil }

// Wait returns how the process ended.
func (p *pipe) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		if err := p.ended(); !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of the CLI: %w", ctx.Err())
	}
}

// Done is closed when the process has ended.
func (p *pipe) Done() <-chan struct{} { return p.exited }

// PID returns the id of the process.
func (p *pipe) PID() int { return p.cmd.Process.Pid }

// Stderr returns what the CLI has written to standard error so far.
func (p *pipe) Stderr() string { return p.stderr.String() }

// lockedBuffer is a buffer for the goroutine of exec and the test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
