package hub_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// A shim stands between a simulated CLI and the hub, as the real one does: it
// numbers lines, keeps them until they are acknowledged, and writes commands
// once.
type shim struct {
	lab  *lab
	node string
	spec hub.LaunchSpec
	pid  int
	sim  *claudetest.Sim

	mu      sync.Mutex
	items   []hub.Item // kept until acknowledged
	next    int64
	live    int64
	written int64
	conn    *conn
	dead    bool
	gone    string
	changed chan struct{}
	done    sync.WaitGroup
	taken   []string // answers to what the shim itself has asked
}

func newShim(l *lab, spec hub.LaunchSpec, pid int, version string) *shim {
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		l.t.Fatal(err)
	}
	args := []string{
		"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
		"--include-partial-messages", "--replay-user-messages",
	}
	if spec.Resume != "" {
		args = append(args, "--resume="+spec.Resume)
	}
	if spec.Fork {
		args = append(args, "--fork-session")
	}
	if mode := spec.Options.PermissionMode; mode != "" {
		args = append(args, "--permission-mode="+mode)
	}
	if spec.Options.AllowBypass {
		args = append(args, "--allow-dangerously-skip-permissions")
	}
	if len(spec.Deny)+len(spec.Ask) > 0 {
		args = append(args, "--settings="+encode(map[string]any{"permissions": map[string]any{"deny": spec.Deny, "ask": spec.Ask}}))
	}
	dir := spec.Dir
	if _, err := os.Stat(dir); err != nil {
		dir = l.dir // it is one of another machine's
	}
	s := &shim{lab: l, spec: spec, pid: pid, next: 1, changed: make(chan struct{})}
	s.sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: dir, Args: args,
		Env: []string{"HOME=" + l.dir, "ANTHROPIC_API_KEY=made-up", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1", "IS_SANDBOX=1"},
	})
	s.done.Go(s.read)
	return s
}

// read numbers the CLI's lines.
func (s *shim) read() {
	for {
		line, err := s.sim.Read(context.Background())
		if err != nil {
			break
		}
		h, _ := wire.Peek(line)
		s.put(line, wire.ClassOf(h))
	}
	code, _ := s.sim.Wait(context.Background())
	s.mu.Lock()
	dead := s.dead
	s.mu.Unlock()
	if !dead {
		s.event(link.Event{Event: "exited", Code: &code, Reason: fmt.Sprintf("it exited with code %d", code), Requested: true})
	}
}

func (s *shim) event(e link.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, hub.Item{Record: link.Record{Number: s.next, Kind: link.Happened, Bytes: []byte(encode(e))}})
	s.next++
	s.notify()
}

func (s *shim) put(line []byte, class wire.Class) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch class {
	case wire.Durable:
		s.items = append(s.items, hub.Item{Record: link.Record{Number: s.next, Kind: link.Line, Bytes: line}})
		s.next++
		s.live = 0
	case wire.Live:
		s.live++
		s.items = append(s.items, hub.Item{Record: link.Record{Number: s.next - 1, K: s.live, Kind: link.Live, Bytes: line}})
	default:
	}
	s.notify()
}

// notify wakes the connection. mu is held.
func (s *shim) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *shim) lives() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.dead
}

// kill ends shim and CLI at once, as SIGKILL does.
func (s *shim) kill() {
	s.mu.Lock()
	s.dead = true
	s.mu.Unlock()
	s.cut()
	if err := s.sim.Close(); err != nil {
		s.lab.t.Error(err)
	}
	s.done.Wait()
}

// cut cuts the connection and waits until it is gone.
func (s *shim) cut() {
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		c.cancel()
		<-c.done
	}
}

// connect connects to the hub.
func (s *shim) connect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead || s.conn != nil {
		return
	}
	c := &conn{shim: s, done: make(chan struct{}), commands: make(chan link.Order, 1024), stop: make(chan time.Duration, 1), closeInput: make(chan struct{}, 8), acks: make(chan int64, 1024)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	s.conn = c
	s.done.Go(c.run)
}

// hello introduces the shim.
func (s *shim) hello() hub.Hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.next
	for _, item := range s.items {
		if item.Kind != link.Live {
			oldest = item.Number
			break
		}
	}
	return hub.Hello{Hello: link.Hello{
		Session: s.spec.Session, Run: s.spec.Run, Instance: fmt.Sprint("i", s.pid), Next: s.next, Oldest: oldest,
		Written: s.written, PID: s.pid, PIDStart: "x",
	}, Token: s.spec.Token, Node: s.node}
}

// A conn is one connection of a shim.
type conn struct {
	shim       *shim
	ctx        context.Context
	cancel     context.CancelFunc
	done       chan struct{}
	commands   chan link.Order
	stop       chan time.Duration
	closeInput chan struct{}
	acks       chan int64
}

func (c *conn) Send(commands []link.Order) {
	for _, v := range commands {
		select {
		case c.commands <- v:
		default:
			panic("too many commands are under way")
		}
	}
}
func (c *conn) Stop(grace time.Duration, _ string) { c.stop <- grace }
func (c *conn) CloseInput()                        { c.closeInput <- struct{}{} }
func (c *conn) Ack(have int64) {
	select {
	case c.acks <- have:
	default:
	}
}
func (c *conn) Close(string) { c.cancel() }

// run carries lines and commands until the connection is cut.
func (c *conn) run() {
	defer close(c.done)
	s := c.shim
	a, welcome, err := s.lab.hub.Attach(c.ctx, s.hello(), c)
	if err != nil {
		if gone, ok := errors.AsType[*hub.GoneError](err); ok {
			s.mu.Lock()
			s.gone = gone.Reason
			s.mu.Unlock()
		}
		return
	}
	var lines sync.WaitGroup
	lines.Go(func() { c.lines(a, welcome.Have) })
	for c.ctx.Err() == nil {
		select {
		case v := <-c.commands:
			c.write(a, v)
		case <-c.stop:
			_ = s.sim.CloseInput()
			go func() { _ = s.sim.Close() }()
		case <-c.closeInput:
			_ = s.sim.CloseInput()
		case have := <-c.acks:
			s.acked(have)
		case <-c.ctx.Done():
		}
	}
	lines.Wait()
	a.Lost(errors.New("the link was cut"))
}

func (c *conn) write(l *hub.RunLink, v link.Order) {
	s := c.shim
	s.mu.Lock()
	again := v.Number <= s.written
	s.mu.Unlock()
	if !again {
		if h, _ := wire.Peek(v.Line); string(h.Type) == "control_response" && wire.IsSandboxRequest(string(h.RequestID)) {
			s.mu.Lock()
			s.taken = append(s.taken, string(v.Line))
			s.mu.Unlock()
		} else if err := s.sim.Write(c.ctx, v.Line); err != nil {
			_ = l.Failed(c.ctx, v.Number, err.Error())
			return
		}
		s.mu.Lock()
		s.written = v.Number
		s.mu.Unlock()
	}
	_ = l.Written(c.ctx, v.Number)
}

// lines sends what the hub does not have.
func (c *conn) lines(l *hub.RunLink, have int64) {
	s := c.shim
	sent := 0
	for c.ctx.Err() == nil {
		s.mu.Lock()
		changed := s.changed
		var batch []hub.Item
		for _, item := range s.items[min(sent, len(s.items)):] {
			sent++
			if item.Kind == link.Live || item.Number > have {
				batch = append(batch, item)
			}
		}
		s.mu.Unlock()
		if len(batch) > 0 {
			if err := l.Receive(c.ctx, batch); err != nil {
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		}
	}
}

// acked would forget lines; the test keeps them all, so that a connection can
// begin anywhere.
func (*shim) acked(int64) {}

// lines returns what the CLI wrote, without live lines.
func (s *shim) lines() []string {
	var lines []string
	for _, e := range s.sim.Record() {
		if e.Read {
			continue
		}
		h, _ := wire.Peek([]byte(e.Line))
		if wire.ClassOf(h) == wire.Durable {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

// read returns what the CLI read.
func (s *shim) commands() []string {
	var lines []string
	for _, e := range s.sim.Record() {
		if e.Read {
			lines = append(lines, e.Line)
		}
	}
	return lines
}
