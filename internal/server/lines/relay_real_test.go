package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// A lab is a relay on a real hub, with simulated CLIs in this process.
type lab struct {
	*rig

	t       *testing.T
	hub     *hub.Hub
	version string

	mu     sync.Mutex
	agents map[string]*agent // by session
	done   sync.WaitGroup
}

func newLab(t *testing.T, version string) *lab {
	t.Helper()
	l := &lab{t: t, version: version, agents: map[string]*agent{}}
	log, err := journal.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.hub, err = hub.New(t.Context(), hub.Options{Journal: log, Launcher: l}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, a := range l.agents {
			a.cancel()
			if a.sim != nil {
				_ = a.sim.Close()
			}
		}
		l.done.Wait()
		if err := errors.Join(l.hub.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	l.rig = newRig(t, Of(l.hub), nil)
	return l
}

// Start implements [hub.Launcher].
func (l *lab) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	quirks, err := claudetest.QuirksFor(l.version)
	if err != nil {
		return nil, err
	}
	a := &agent{lab: l, spec: spec, commands: make(chan link.Order, 1024), stopped: make(chan struct{}, 8)}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: spec.Dir, Env: []string{"ANTHROPIC_API_KEY=made-up"},
		Args: []string{
			"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
			"--include-partial-messages", "--replay-user-messages",
		},
	})
	l.mu.Lock()
	l.agents[spec.Session] = a
	l.mu.Unlock()
	l.done.Go(a.run)
	return &hub.Launched{PID: 1, PIDStart: "x", Version: l.version, Simulated: true, ConfigDir: "/config"}, nil
}

func (l *lab) Alive(int, string) bool                     { return true }
func (l *lab) Sweep(context.Context, string) (int, error) { return 0, nil }
func (l *lab) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, fs.ErrNotExist
}

func (l *lab) Plan(context.Context, hub.PlanQuery) (*hub.PlanFile, error) { return nil, fs.ErrNotExist }

// create makes a session.
func (l *lab) create() string {
	l.t.Helper()
	created, err := l.hub.Create(l.t.Context(), hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}, api.CreateSession{Dir: l.t.TempDir()})
	if err != nil {
		l.t.Fatal(err)
	}
	return created.ID
}

func (l *lab) agent(session string) *agent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.agents[session]
}

// An agent is a simulated CLI, and what carries its lines. It is the hub's wire.
type agent struct {
	lab      *lab
	spec     hub.LaunchSpec
	sim      *claudetest.Sim
	ctx      context.Context
	cancel   context.CancelFunc
	commands chan link.Order
	stopped  chan struct{}
}

func (a *agent) Send(commands []link.Order) {
	for _, v := range commands {
		a.commands <- v
	}
}
func (a *agent) Stop(time.Duration, string) { a.stopped <- struct{}{} }
func (a *agent) CloseInput()                { a.stopped <- struct{}{} }
func (a *agent) Ack(int64)                  {}
func (a *agent) Close(string)               { a.cancel() }

// attach introduces the agent to the hub.
func (a *agent) attach() (*hub.Attachment, error) {
	att, _, err := a.lab.hub.Attach(a.ctx, hub.Hello{Hello: link.Hello{Session: a.spec.Session, Run: a.spec.Run, Instance: "i", Next: 1, Oldest: 1, PID: 1, PIDStart: "x"}, Token: a.spec.Token}, a)
	return att, err
}

func (a *agent) run() {
	att, err := a.attach()
	if err != nil {
		a.lab.t.Errorf("attaching: %v", err)
		return
	}
	var writer sync.WaitGroup
	defer writer.Wait()
	defer a.cancel()
	writer.Go(func() {
		for {
			select {
			case v := <-a.commands:
				if a.sim.Write(a.ctx, v.Line) == nil {
					_ = att.Written(a.ctx, v.Number)
				}
			case <-a.stopped:
				_ = a.sim.CloseInput()
			case <-a.ctx.Done():
				return
			}
		}
	})
	number, k := int64(0), int64(0)
	receive := func(item hub.Item) { _ = att.Receive(a.ctx, []hub.Item{item}) }
	for {
		line, err := a.sim.Read(a.ctx)
		if err != nil {
			break
		}
		h, _ := wire.Peek(line)
		switch wire.ClassOf(h) {
		case wire.Durable:
			number++
			k = 0
			receive(hub.Item{Record: link.Record{Number: number, Kind: link.Line, Bytes: line}})
		case wire.Live:
			k++
			receive(hub.Item{Record: link.Record{Number: number, K: k, Kind: link.Live, Bytes: line}})
		case wire.Consumed:
		}
	}
	if a.ctx.Err() != nil {
		return
	}
	code, _ := a.sim.Wait(a.ctx)
	event, _ := json.Marshal(link.Event{Event: "exited", Code: &code, Reason: "it has ended", Requested: true})
	receive(hub.Item{Record: link.Record{Number: number + 1, Kind: link.Happened, Bytes: event}})
	<-a.ctx.Done() // the hub closes the connection, or the test is over
}

// shown returns what the CLI wrote for front ends.
func (a *agent) shown() []string {
	var lines []string
	for _, e := range a.sim.Record() {
		h, _ := wire.Peek([]byte(e.Line))
		if kind := kindOfLine([]byte(e.Line), h); !e.Read && kind != sightNothing && kind != sightProgram {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

// until reads lines up to one of a type and returns them with it.
func (c *client) until(kind, subtype string) []string {
	c.t.Helper()
	var lines []string
	for {
		lines = append(lines, c.next())
		if h, err := wire.Peek([]byte(lines[len(lines)-1])); err == nil && h.Is(kind, subtype) {
			return lines
		}
	}
}

func user(text string) string {
	return `{"type":"user","message":{"role":"user","content":` + asJSON(text) + `},"parent_tool_use_id":null,"session_id":""}`
}

func TestRelayConversation(t *testing.T) {
	l := newLab(t, "2.1.325")
	all := l.dial(t, "")
	id := l.create()
	all.until("status", "") // that it is, or is now, connected
	one := l.dial(t, "?session="+id)
	one.expect(saysIsConnected)
	one.say(user("@say hello there"))
	lines := one.until("result", "")
	others := all.until("result", "")
	agent := l.agent(id)
	wrote := agent.shown()
	if i := slices.IndexFunc(wrote, func(s string) bool { return strings.Contains(s, `"type":"result"`) }); i >= 0 {
		wrote = wrote[:i+1]
	}
	if !slices.Equal(lines, wrote) {
		t.Errorf("the sender saw\n%s\nand the CLI wrote\n%s", strings.Join(lines, "\n"), strings.Join(wrote, "\n"))
	}
	// The others are shown the prompt too.
	i := slices.IndexFunc(others, func(s string) bool { return !slices.Contains(wrote, s) })
	if i < 0 || !strings.Contains(others[i], "hello there") || !strings.Contains(others[i], `"type":"user"`) {
		t.Fatalf("the others saw\n%s", strings.Join(others, "\n"))
	}
	if rest := slices.Delete(slices.Clone(others), i, i+1); !slices.Equal(rest, wrote) {
		t.Errorf("the others saw\n%s", strings.Join(others, "\n"))
	}
	// Who comes late is told what it is.
	late := l.dial(t, "")
	late.expect(saysIsConnected)
	if init := late.next(); !strings.Contains(init, `"subtype":"init"`) || !slices.Contains(wrote, init) {
		t.Errorf("got %s", init)
	}
	// The whole of it again.
	again := l.dial(t, "?session="+id+"&after=")
	again.until("status", "resume")
	var kept []string
	for _, s := range wrote {
		if h, _ := wire.Peek([]byte(s)); wire.ClassOf(h) == wire.Durable {
			kept = append(kept, s)
		}
	}
	var durable []string
	for _, s := range again.until("result", "") {
		if slices.Contains(wrote, s) {
			durable = append(durable, s)
		}
	}
	if !slices.Equal(durable, kept) {
		t.Errorf("the log has\n%s", strings.Join(durable, "\n"))
	}
	if _, err := l.hub.Stop(t.Context(), hub.Actor{}, id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client{one, all} {
		if last := c.until("status", ""); last[len(last)-1] != saysDisconnected {
			t.Errorf("got %q", last)
		}
	}
}

func TestRelayPermission(t *testing.T) {
	l := newLab(t, "2.1.325")
	id := l.create()
	a, b := l.dial(t, ""), l.dial(t, "?session="+id)
	a.until("status", "")
	b.until("status", "")
	a.say(user("@tool Bash {\"command\":\"rm -rf x\"}\n@say done"))
	lines := a.until("control_request", "")
	ask := lines[len(lines)-1]
	lines = b.until("control_request", "")
	if lines[len(lines)-1] != ask {
		t.Fatalf("others are asked %s", lines[len(lines)-1])
	}
	late := l.dial(t, "")
	lines = late.until("control_request", "")
	if lines[len(lines)-1] != ask {
		t.Fatalf("late joiners are asked %s", lines[len(lines)-1])
	}
	h, err := wire.Peek([]byte(ask))
	if err != nil {
		t.Fatal(err)
	}
	request := string(h.RequestID)
	observer := l.dialAs(t, "", bearer(observeToken))
	observer.until("control_request", "")
	answer := `{"type":"control_response","request_id":"` + request + `","permission":{"allow":true}}`
	observer.say(answer)
	if lines := observer.until("status", subtypeRefused); !strings.Contains(lines[len(lines)-1], `"code":"forbidden"`) {
		t.Errorf("got %q", lines)
	}
	a.say(answer) // as agents-ui says it
	for _, line := range a.until("result", "") {
		if strings.Contains(line, "control_cancel_request") {
			t.Errorf("who has answered is told %s", line)
		}
	}
	cancel := `{"type":"control_cancel_request","request_id":"` + request + `"}`
	for _, c := range []*client{b, late, observer} {
		lines := c.until("control_cancel_request", "")
		if lines[len(lines)-1] != cancel {
			t.Errorf("others are told %s", lines[len(lines)-1])
		}
		c.until("result", "")
	}
	b.say(answer)
	lines = b.until("status", subtypeRefused)
	if got := lines[len(lines)-1]; !strings.Contains(got, `"code":"already_settled"`) || !strings.Contains(got, request) || !strings.Contains(got, "ada") {
		t.Errorf("a late answer gets %s", got)
	}
	// A request comes back under the id that its sender gave it.
	b.say(`{"type":"control_request","request_id":"mine","request":{"subtype":"set_model","model":"opus"}}`)
	lines = b.until("control_response", "")
	if got := lines[len(lines)-1]; !strings.Contains(got, `"request_id":"mine"`) || !strings.Contains(got, `"success"`) {
		t.Errorf("got %s", got)
	}
}

// TestRelayDeadlyLines sends what kills CLIs.
func TestRelayDeadlyLines(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			l := newLab(t, version)
			id := l.create()
			c := l.dial(t, "?session="+id)
			c.until("status", "")
			deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
			for _, line := range []string{
				"what", `{"type":"user"`, `{"type":"keep_alive"}{"type":"keep_alive"}`, "{\"type\":\"user\",\x00}", "null", "", "   ", "{}", "[1]", `{"type":"what"}`,
				`{"type":"assistant"}`, `{"type":"system"}`, `{"type":"result"}`, "5", `"abc"`, "true", `{"type":"user"}`,
				`{"type":"user","message":{"content":"x"}}`, `{"type":"user","message":{"role":"assistant","content":"x"}}`,
				`{"type":"user","message":{"role":"user","content":5}}`, `{"type":"user","message":{"role":"user","content":[null]}}`,
				`{"type":"user","message":{"role":"user"}}`, `{"type":"user","message":{"role":"user","content":` + deep + `}}`,
				`{"type":"control_response"}`, `{"type":"control_response","request_id":"x","approved":true}`,
				`{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{}}}`,
				`{"type":"control_request"}`, `{"type":"control_request","request_id":"x"}`, `{"type":"control_request","request":{"subtype":"interrupt"}}`,
				`{"type":"control_request","request_id":5,"request":{"subtype":"interrupt"}}`,
				`{"type":"control_request","request_id":"y","request":{"subtype":"brand_new"}}`,
				`{"type":"control_cancel_request","request_id":"x"}`, "\ufeff" + `{"type":"keep_alive"}`, `{"type":"user","message":{"role":"user","content":"a` + "\\u0000\\ud800" + `"}}`,
			} {
				c.say(line + "\n")
				if len(line) > 0 && line[0] == '{' {
					c.say(line) // and without a line end
				}
			}
			c.say(user("@say still here"))
			for {
				got := c.next()
				if strings.Contains(got, "still here") && strings.Contains(got, `"type":"result"`) {
					break
				}
				if got == saysDisconnected {
					t.Fatal("the CLI is dead")
				}
			}
			s, err := l.hub.Snapshot(t.Context(), id)
			if err != nil || s.Run != 1 || s.State == api.StateEnded {
				t.Errorf("the session is %+v, %v", s, err)
			}
		})
	}
}

// TestRelayCatchUp has a front end read nothing while much happens. It neither slows
// the others nor takes memory, and in the end it has every line that is kept.
func TestRelayCatchUp(t *testing.T) {
	l := newLab(t, "2.1.325")
	created, err := l.hub.Create(t.Context(), hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}, api.CreateSession{Dir: t.TempDir(), Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{lab: l, commands: make(chan link.Order, 1024), stopped: make(chan struct{}, 8)}
	a.ctx, a.cancel = context.WithCancel(t.Context())
	l.agents[created.ID] = a
	att, _, err := l.hub.AttachDialled(t.Context(), hub.DialHello{Session: created.ID, Run: 1}, a)
	if err != nil {
		t.Fatal(err)
	}
	if err := att.Connected(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	quick := l.dial(t, "")
	slow := []*client{l.dialNarrow(t, ""), l.dialNarrow(t, "?session="+created.ID)}
	for _, c := range append(slow, quick) {
		c.expect(saysIsConnected)
	}
	text := func(i int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u%d","session_id":"c","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"%s"}]}}`, i, i, strings.Repeat("x", 100<<10))
	}
	delta := func(kind string) []byte {
		return []byte(`{"type":"stream_event","session_id":"c","parent_tool_use_id":null,"uuid":"d","event":{"type":"` + kind + `","index":0,"message":{"id":"m"},"delta":{"type":"text_delta","text":"x"}}}`)
	}
	const n = 120 // 12 MB: more than sockets take
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC() // twice: what pools keep outlives one
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	for i := range n {
		want := text(i)
		items := []hub.Item{
			{Record: link.Record{Kind: link.Live, Bytes: delta("message_start")}},
			{Record: link.Record{Kind: link.Live, Bytes: delta("content_block_delta")}},
			{Record: link.Record{Kind: link.Line, Bytes: []byte(want)}},
		}
		if err := att.Receive(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		for quick.next() != want {
		}
	}
	// What is kept for those who do not read stays. The index of words works beside it
	// for a moment, with many of the lines at once.
	for deadline := time.Now().Add(30 * time.Second); !raceEnabled; {
		grown := inUse() - before
		if grown <= 8<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("%d bytes more are in use", grown)
			break
		}
	}
	for _, c := range slow {
		i := 0
		for i < n {
			got := c.next()
			if h, _ := wire.Peek([]byte(got)); string(h.Type) == "stream_event" {
				continue
			}
			if got != text(i) {
				t.Fatalf("line %d is %.100s", i, got)
			}
			i++
		}
	}
	// From here on they are as quick as the others, deltas included.
	for _, kind := range []string{"message_start", "content_block_delta"} {
		if err := att.Receive(t.Context(), []hub.Item{{Record: link.Record{Kind: link.Live, Bytes: delta(kind)}}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range append(slow, quick) {
			for c.next() != string(delta(kind)) {
			}
		}
	}
}
