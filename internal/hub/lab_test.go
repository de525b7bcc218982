package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 90 * time.Second

var person = hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}

// A lab is a hub with simulated CLIs behind shims that live in the test.
type lab struct {
	t        *testing.T
	dir      string
	journal  *journal.SQLite
	hub      *hub.Hub
	reports  *report.Reports
	launcher *launcher
	options  hub.Options
	// Of the reports alone.
	library report.Library
	scratch string
}

// newLab opens a hub on an empty journal.
func newLab(t *testing.T, change ...func(*hub.Options)) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir()}
	l.launcher = &launcher{lab: l, shims: map[string]*shim{}}
	l.options = hub.Options{Launcher: l.launcher, Watch: 50 * time.Millisecond}
	for _, c := range change {
		c(&l.options)
	}
	l.open()
	t.Cleanup(func() {
		l.close()
		l.launcher.killAll()
	})
	return l
}

func (l *lab) open() {
	l.t.Helper()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	l.options.Journal = l.journal
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		l.t.Fatal(err)
	}
	l.report(l.library, l.scratch)
	l.launcher.connectAll()
}

// report has the lab's reports use a library and a scratch folder.
func (l *lab) report(library report.Library, scratch string) {
	l.library, l.scratch = library, scratch
	l.reports = report.New(report.Options{
		Journal: l.journal, Now: l.options.Now, Library: library, Rules: l.options.Rules, Live: l.hub.Unknown, Scratch: scratch,
	})
}

// adopt makes a session of a conversation on disk.
func (l *lab) adopt(conversation string, in api.Adopt) (*api.Created, error) {
	session, err := l.reports.Adopt(l.ctx(), conversation, in)
	if err != nil {
		return nil, err
	}
	return l.hub.Create(l.ctx(), person, session)
}

func (l *lab) close() {
	l.launcher.listen(false)
	l.launcher.cutAll()
	if err := l.hub.Close(); err != nil {
		l.t.Error(err)
	}
	if err := l.journal.Close(); err != nil {
		l.t.Error(err)
	}
}

// restart ends the hub and opens another on the same journal.
func (l *lab) restart() {
	l.t.Helper()
	l.close()
	l.open()
}

// ctx returns a context that ends before the test's own limit.
func (l *lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.t.Cleanup(cancel)
	return ctx
}

// create makes a session.
func (l *lab) create(in api.CreateSession) *api.Session {
	l.t.Helper()
	if in.Dir == "" {
		in.Dir = l.t.TempDir()
	}
	created, err := l.hub.Create(l.ctx(), person, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return &created.Session
}

// snapshot returns a session as it is.
func (l *lab) snapshot(id string) *api.Session {
	l.t.Helper()
	s, err := l.hub.Snapshot(l.ctx(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// await follows a session until it is as ready says.
func (l *lab) await(id string, what string, ready func(*api.Session) bool) *api.Session {
	l.t.Helper()
	ctx := l.ctx()
	c, err := l.hub.Follow(ctx, id, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for {
		s := l.snapshot(id)
		if ready(s) {
			return s
		}
		if _, err := c.Next(ctx); err != nil {
			l.t.Fatalf("waiting until %s: %v; the session: %s", what, err, encode(s))
		}
	}
}

func (l *lab) awaitState(id string, state api.State) *api.Session {
	l.t.Helper()
	return l.await(id, "it is "+string(state), func(s *api.Session) bool { return s.State == state })
}

// awaitDone waits until everything that was sent has been worked on.
func (l *lab) awaitDone(id string, turns int64) *api.Session {
	l.t.Helper()
	return l.await(id, fmt.Sprintf("%d turns are over", turns), func(s *api.Session) bool {
		return s.State == api.StateIdle && s.Cost.Turns >= turns && len(s.Messages) == 0
	})
}

// send sends a message.
func (l *lab) send(id, text string) *api.Message {
	l.t.Helper()
	m, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: text})
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// events returns the whole log of a session.
func (l *lab) events(id string) []api.Event {
	l.t.Helper()
	var all []api.Event
	after := ""
	for {
		page, err := l.hub.Events(l.ctx(), id, after, 0)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, page.Events...)
		if !page.More {
			return all
		}
		after = page.Next
	}
}

// kinds returns the kinds of a log's events.
func kinds(events []api.Event) string {
	var list []string
	for _, e := range events {
		kind := e.Kind
		if kind == api.KindLine || kind == api.KindSent {
			h, err := wire.Peek(e.Line)
			if err == nil {
				kind += ":" + string(h.Type)
			}
		}
		list = append(list, kind)
	}
	return strings.Join(list, " ")
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// code returns the code of an error of the interface.
func code(err error) string {
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem.Code
	}
	return fmt.Sprint(err)
}

// A launcher starts shims that live in the test.
type launcher struct {
	lab *lab

	mu      sync.Mutex
	shims   map[string]*shim // by marker
	fail    error            // the next start fails with it
	specs   []hub.LaunchSpec
	history map[string][]string
	plan    string                // what Plan finds
	asked   func(context.Context) // called by Plan and Alive, if it is not nil
	version string
	pid     int
	hold    chan struct{} // starts wait for it, if it is not nil
	closed  bool          // there is no hub to connect to
}

func (l *launcher) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	if l.hold != nil {
		<-l.hold
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.specs = append(l.specs, spec)
	if err := l.fail; err != nil {
		l.fail = nil
		return nil, err
	}
	l.pid++
	version := l.version
	if version == "" {
		version = "2.1.325"
	}
	s := newShim(l.lab, spec, l.pid, version)
	l.shims[spec.Marker] = s
	if !l.closed {
		s.connect()
	}
	return &hub.Launched{PID: s.pid, PIDStart: "x", Version: version, Simulated: true, ConfigDir: "/config"}, nil
}

func (l *launcher) Alive(pid int, _ string) bool {
	if l.asked != nil {
		l.asked(context.Background())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shims {
		if s.pid == pid {
			return s.lives()
		}
	}
	return false
}

func (l *launcher) Sweep(_ context.Context, marker string) (int, error) {
	l.mu.Lock()
	s := l.shims[marker]
	l.mu.Unlock()
	if s == nil || !s.lives() {
		return 0, nil
	}
	s.kill()
	return 1, nil
}

// keep gives a conversation a transcript.
func (l *launcher) keep(conversation string, lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = map[string][]string{conversation: lines}
}

func (l *launcher) History(_ context.Context, _, _, conversation string) (iter.Seq2[[]byte, error], error) {
	l.mu.Lock()
	lines, found := l.history[conversation]
	l.mu.Unlock()
	if !found {
		return nil, fs.ErrNotExist
	}
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield([]byte(line), nil) {
				return
			}
		}
	}, nil
}

func (l *launcher) Plan(ctx context.Context, _ hub.PlanQuery) (*hub.PlanFile, error) {
	if l.asked != nil {
		l.asked(ctx)
	}
	if l.plan == "" {
		return nil, fs.ErrNotExist
	}
	return &hub.PlanFile{Path: "/config/plans/a.md", Text: l.plan}, nil
}

// spec returns how a session's newest run was started.
func (l *launcher) spec(session string) hub.LaunchSpec {
	l.mu.Lock()
	defer l.mu.Unlock()
	var newest hub.LaunchSpec
	for _, s := range l.specs {
		if s.Session == session && s.Run > newest.Run {
			newest = s
		}
	}
	return newest
}

func (l *launcher) each(f func(*shim)) {
	l.mu.Lock()
	var all []*shim
	for _, s := range l.shims {
		all = append(all, s)
	}
	l.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

func (l *launcher) connectAll() {
	l.listen(true)
	l.each((*shim).connect)
}

// alive has a process live that is no shim of the lab's.
func (l *launcher) alive(t *testing.T, pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shims["process"] = &shim{pid: pid}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.shims, "process")
	})
}

// specOf returns what was to be started for a session last.
func (l *launcher) specOf(session string) (spec hub.LaunchSpec) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shims {
		if s.spec.Session == session && s.spec.Run > spec.Run {
			spec = s.spec
		}
	}
	return spec
}

// listen says whether there is a hub that shims can connect to.
func (l *launcher) listen(there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = !there
}

func (l *launcher) cutAll()  { l.each((*shim).cut) }
func (l *launcher) killAll() { l.each((*shim).kill) }

// of returns the shim of a session's newest run.
func (l *launcher) of(session string) *shim {
	var newest *shim
	l.each(func(s *shim) {
		if s.spec.Session == session && (newest == nil || s.spec.Run > newest.spec.Run) {
			newest = s
		}
	})
	return newest
}

// A shim stands between a simulated CLI and the hub, as the real one does: it
// numbers lines, keeps them until they are acknowledged, and writes commands
// once.
type shim struct {
	lab  *lab
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
	s := &shim{lab: l, spec: spec, pid: pid, next: 1, changed: make(chan struct{})}
	s.sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: spec.Dir, Args: args,
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
	}, Token: s.spec.Token}
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
		if err := s.sim.Write(c.ctx, v.Line); err != nil {
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
