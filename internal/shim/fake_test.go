package shim

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A fakeAgent is a CLI without a process, for tests whose time is not real.
type fakeAgent struct {
	lines   chan string // what it writes
	done    chan struct{}
	once    sync.Once
	mu      sync.Mutex
	written []string
	block   chan struct{} // if not nil, Write waits for an element
}

func newFakeAgent() *fakeAgent {
	return &fakeAgent{lines: make(chan string), done: make(chan struct{})}
}

func (a *fakeAgent) ReadBatch(ctx context.Context) ([][]byte, error) {
	select {
	case line := <-a.lines:
		return [][]byte{[]byte(line)}, nil
	case <-a.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *fakeAgent) Write(ctx context.Context, line []byte) error {
	if a.block != nil {
		select {
		case <-a.block:
		case <-a.done:
			return io.ErrClosedPipe
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = append(a.written, string(line))
	return nil
}

func (a *fakeAgent) CloseInput() error     { return nil }
func (a *fakeAgent) PID() int              { return 4711 }
func (a *fakeAgent) Done() <-chan struct{} { return a.done }
func (a *fakeAgent) Stderr() string        { return "" }

func (a *fakeAgent) Close() error {
	a.once.Do(func() { close(a.done) })
	return nil
}

// A fakeConn is a connection to a test that plays the hub.
type fakeConn struct {
	toShim chan frame
	toHub  chan frame
	closed chan struct{}
	once   sync.Once
}

type frame struct {
	text bool
	data []byte
}

func newFakeConn() *fakeConn {
	return &fakeConn{toShim: make(chan frame, 100), toHub: make(chan frame, 1000), closed: make(chan struct{})}
}

func (c *fakeConn) Read(ctx context.Context) (bool, []byte, error) {
	select {
	case f := <-c.toShim:
		return f.text, f.data, nil
	case <-c.closed:
		return false, nil, io.EOF
	case <-ctx.Done():
		return false, nil, ctx.Err()
	}
}

func (c *fakeConn) Write(ctx context.Context, text bool, data []byte) error {
	select {
	case c.toHub <- frame{text, append([]byte(nil), data...)}:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *fakeConn) Close(error) { c.once.Do(func() { close(c.closed) }) }

func (c *fakeConn) say(m link.Message) {
	c.toShim <- frame{true, link.AppendMessage(nil, m, link.Version)}
}

// fakeEnv has everything but the shim made up. Nobody is swept.
func fakeEnv(a *fakeAgent, dial dialFunc) *Env {
	return &Env{
		start: func(context.Context, *claude.Command) (agent, error) { return a, nil },
		dial:  dial,
		sweep: func(context.Context, string) (int, error) { return 0, nil },
	}
}

var errNoHub = errors.New("no hub")

func noHub(context.Context) (conn, error) { return nil, errNoHub }
