package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// A dialledSim is a simulated CLI of version 2.1.37 that dialled in: what it writes
// while it is not connected is lost.
type dialledSim struct {
	lab     *lab
	clock   *clock
	session string
	sim     *claudetest.Sim
	a       *hub.RunLink

	commands chan link.Order // more room than a test needs: Send must not wait
	working  sync.WaitGroup

	mu   sync.Mutex
	up   bool
	cut  int           // after how many more live lines it is down; 0 for never
	down chan struct{} // gets an element then
	lost chan struct{} // gets an element for a result that was lost

	inquiries int // how often it has reconnected
}

// newDialledSim makes a session whose CLI has dialled in and has had a turn. The
// hub's clock stands still.
func newDialledSim(t *testing.T) *dialledSim {
	t.Helper()
	d := &dialledSim{clock: &clock{now: time.Now()}, down: make(chan struct{}, 1), lost: make(chan struct{}, 1), commands: make(chan link.Order, 64)}
	d.lab = newLab(t, func(o *hub.Options) { o.Now = d.clock.Now })
	created, err := d.lab.hub.Create(d.lab.ctx(), person, api.CreateSession{Transport: "websocket", Prompt: "@say One."})
	if err != nil {
		t.Fatal(err)
	}
	d.session = created.ID
	quirks, err := claudetest.QuirksFor("2.1.37")
	if err != nil {
		t.Fatal(err)
	}
	d.sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: t.TempDir(),
		Args: []string{"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--include-partial-messages", "--replay-user-messages"},
		Env:  []string{"HOME=" + d.lab.dir, "ANTHROPIC_API_KEY=made-up"},
	})
	if d.a, _, err = d.lab.hub.AttachDialled(d.lab.ctx(), hub.DialHello{Session: d.session, Run: 1}, d); err != nil {
		t.Fatal(err)
	}
	d.working.Go(d.read)
	d.working.Go(d.write)
	t.Cleanup(func() {
		_ = d.sim.Close() // how it ends is not what is tested
		d.a.Lost(nil)
		d.lab.snapshot(d.session) // nothing is sent after this
		close(d.commands)
		d.working.Wait()
	})
	d.connect(false)
	d.lab.awaitDone(d.session, 1)
	return d
}

// read hands on what the CLI writes while it is connected.
func (d *dialledSim) read() {
	for {
		text, err := d.sim.Read(context.Background())
		if err != nil {
			return
		}
		d.mu.Lock()
		up := d.up
		d.mu.Unlock()
		h, _ := wire.Peek(text)
		if !up {
			if string(h.Type) == "result" {
				d.lost <- struct{}{}
			}
			continue
		}
		item := hub.Item{Record: link.Record{Kind: link.Line, Bytes: text}}
		if wire.ClassOf(h) == wire.Live {
			item.Kind = link.Live
		}
		if err := d.a.Receive(context.Background(), []hub.Item{item}); err != nil {
			return // the hub is closed
		}
		if item.Kind == link.Live {
			d.passed()
		}
	}
}

// passed counts a live line, after which the connection may be cut.
func (d *dialledSim) passed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut == 0 {
		return
	}
	if d.cut--; d.cut == 0 {
		d.up = false
		d.down <- struct{}{}
	}
}

// Send implements hub.LinkSender.
func (d *dialledSim) Send(commands []link.Order) {
	for _, c := range commands {
		d.commands <- c
	}
}

// write writes what the hub sends, in order.
func (d *dialledSim) write() {
	for c := range d.commands {
		if d.sim.Write(context.Background(), c.Line) == nil {
			_ = d.a.Written(context.Background(), c.Number) // fails when the hub is closed
		}
	}
}

func (*dialledSim) Stop(time.Duration, string) {}
func (*dialledSim) CloseInput()                {}
func (*dialledSim) Ack(int64)                  {}
func (*dialledSim) Close(string)               {}

func (d *dialledSim) connect(again bool) {
	d.lab.t.Helper()
	d.mu.Lock()
	d.up = true
	d.mu.Unlock()
	if err := d.a.Connected(d.lab.ctx(), again); err != nil {
		d.lab.t.Fatal(err)
	}
}

// lose begins a turn, cuts the connection in the middle of its message, and connects
// again when the turn is over, so that its end is lost. It returns the prompt.
func (d *dialledSim) lose() *api.Message {
	t := d.lab.t
	t.Helper()
	d.mu.Lock()
	d.cut = 3
	d.mu.Unlock()
	m := d.lab.send(d.session, "@say These words are said while nobody listens to most of them.")
	<-d.down
	if err := d.a.Disconnected(d.lab.ctx(), errors.New("cut")); err != nil {
		t.Fatal(err)
	}
	<-d.lost
	d.reconnect()
	return m
}

// reconnect connects again, with a gap, and waits for the CLI's answer to the inquiry.
func (d *dialledSim) reconnect() {
	t := d.lab.t
	t.Helper()
	d.connect(true)
	gap := hub.Item{Gap: &api.Gap{Reason: "cut"}}
	if err := d.a.Receive(d.lab.ctx(), []hub.Item{gap}); err != nil {
		t.Fatal(err)
	}
	d.inquiries++
	d.await("the answer to the inquiry", func(events []api.Event) bool {
		n := 0
		for _, e := range events {
			if strings.Contains(string(e.Line), "Already initialized") {
				n++
			}
		}
		return n == d.inquiries
	})
}

// await waits for events of the log.
func (d *dialledSim) await(what string, want func([]api.Event) bool) {
	d.lab.t.Helper()
	d.eventually(what, func() bool { return want(d.lab.events(d.session)) })
}

// pass lets time pass and returns the state that follows.
func (d *dialledSim) pass(by time.Duration) api.State {
	d.lab.t.Helper()
	d.clock.add(by)
	d.lab.snapshot(d.session) // a step looks at the clock when it is over
	return d.lab.snapshot(d.session).State
}

// awaitRead waits until the hub has read the transcript.
func (d *dialledSim) awaitRead() {
	t := d.lab.t
	t.Helper()
	d.eventually("the transcript to be read", func() bool {
		read, err := d.lab.hub.TurnRead(d.lab.ctx(), d.session)
		if err != nil {
			t.Fatal(err)
		}
		return read
	})
}

// eventually polls for something that sends no signal when it happens.
func (d *dialledSim) eventually(what string, ready func() bool) {
	d.lab.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-limit.C:
			d.lab.t.Fatalf("waiting for %s", what)
		}
	}
}

// turns returns what the log says of turns whose end was not seen.
func (d *dialledSim) turns() []api.TurnChange {
	d.lab.t.Helper()
	var list []api.TurnChange
	for _, e := range d.lab.events(d.session) {
		if e.Kind == api.KindTurn {
			var c api.TurnChange
			if err := json.Unmarshal(e.Data, &c); err != nil {
				d.lab.t.Error(err)
			}
			list = append(list, c)
		}
	}
	return list
}

// unknown holds that the turn has ended as unknown, for a reason, and that the log
// alone gives the same state.
func (d *dialledSim) unknown(reason string) {
	t := d.lab.t
	t.Helper()
	if turns := d.turns(); len(turns) != 1 || turns[0].State != api.TurnUnknown || !strings.Contains(turns[0].Reason, reason) {
		t.Errorf("the log has of turns %+v; want one, because %q", turns, reason)
	}
	d.rebuilt()
}

// rebuilt holds that the log alone gives what the session is.
func (d *dialledSim) rebuilt() {
	t := d.lab.t
	t.Helper()
	stored, anew, row, _, _, err := d.lab.hub.Projections(d.lab.ctx(), d.session)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, anew); diff != "" {
		t.Errorf("folding on top of the stored fold differs from folding anew:\n%s", diff)
	}
	if state := d.lab.snapshot(d.session).State; row.State != string(state) {
		t.Errorf("the log gives the state %s, the session is %s", row.State, state)
	}
}

// TestLostResult ends a turn whose result was lost, after the silence that is
// documented and not before, and answers a prompt then.
func TestLostResult(t *testing.T) {
	t.Run("queued before", func(t *testing.T) {
		d := newDialledSim(t)
		d.lose()
		d.lab.send(d.session, "@say Next.")
		if state := d.pass(29 * time.Second); state != api.StateRunning || len(d.turns()) != 0 {
			t.Errorf("after 29 s it is %s, with %+v", state, d.turns())
		}
		d.pass(2 * time.Second)
		d.lab.await(d.session, "the answer", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "Next." })
		d.unknown("silent for 30s")
	})
	t.Run("sent later", func(t *testing.T) {
		d := newDialledSim(t)
		d.lose()
		if state := d.pass(time.Minute); state != api.StateIdle {
			t.Fatalf("after a minute it is %s", state)
		}
		s := d.lab.snapshot(d.session)
		if s.Result == nil || s.Result.Subtype != "unknown" || s.Result.Failed {
			t.Errorf("the turn ended as %s", encode(s.Result))
		}
		d.unknown("silent for 30s")
		d.pass(time.Hour)
		d.lab.send(d.session, "@say Next.")
		d.lab.await(d.session, "the answer", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "Next." })
		d.unknown("silent for 30s")
	})
	t.Run("over several cuts", func(t *testing.T) {
		d := newDialledSim(t)
		d.lose()
		d.pass(20 * time.Second)
		if err := d.a.Disconnected(d.lab.ctx(), errors.New("cut")); err != nil {
			t.Fatal(err)
		}
		d.pass(time.Hour)
		d.reconnect()
		if state := d.pass(20 * time.Second); state != api.StateRunning {
			t.Errorf("20 s after the second cut it is %s", state)
		}
		if state := d.pass(20 * time.Second); state != api.StateIdle {
			t.Errorf("40 s after the second cut it is %s", state)
		}
		d.unknown("silent for 30s")
	})
}

// TestLostResultTranscript has the transcript tell whether a turn is over.
func TestLostResultTranscript(t *testing.T) {
	prompt := func(m *api.Message) string {
		return `{"type":"user","uuid":"` + m.UUID + `","message":{"role":"user","content":"x"}}`
	}
	answer := `{"type":"assistant","uuid":"a2","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Done."}]}}`
	t.Run("over", func(t *testing.T) {
		d := newDialledSim(t)
		m := d.lose()
		d.lab.launcher.keep(d.lab.snapshot(d.session).Conversation, prompt(m), answer)
		d.lab.send(d.session, "@say Next.")
		if state := d.pass(2 * time.Second); state != api.StateRunning {
			t.Errorf("after 2 s it is %s", state)
		}
		d.pass(2 * time.Second)
		d.lab.await(d.session, "the answer", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "Next." })
		d.unknown("the transcript shows that it is over")
	})
	t.Run("under way", func(t *testing.T) {
		d := newDialledSim(t)
		m := d.lose()
		d.lab.launcher.keep(d.lab.snapshot(d.session).Conversation, answer, prompt(m))
		d.pass(4 * time.Second)
		d.awaitRead()
		if state := d.pass(290 * time.Second); state != api.StateRunning {
			t.Errorf("after nearly 5 minutes it is %s", state)
		}
		if state := d.pass(10 * time.Second); state != api.StateIdle {
			t.Errorf("after 5 minutes it is %s", state)
		}
		d.unknown("although its transcript shows a turn under way")
	})
	t.Run("another conversation's", func(t *testing.T) {
		// The one that lies here does not have the prompt: it tells nothing.
		d := newDialledSim(t)
		d.lose()
		d.lab.launcher.keep(d.lab.snapshot(d.session).Conversation, answer)
		d.pass(4 * time.Second)
		d.awaitRead()
		if state := d.pass(20 * time.Second); state != api.StateRunning {
			t.Errorf("after 24 s it is %s", state)
		}
		d.pass(10 * time.Second)
		d.unknown("silent for 30s")
	})
}

// TestLostResultInterrupt interrupts a turn that is over without the hub's knowledge,
// and one that counts as over.
func TestLostResultInterrupt(t *testing.T) {
	d := newDialledSim(t)
	d.lose()
	done := make(chan error, 1)
	var out *api.Interrupted
	go func() {
		var err error
		out, err = d.lab.hub.Interrupt(d.lab.ctx(), person, d.session, api.Interrupt{})
		done <- err
	}()
	answers := func(events []api.Event) (n int) {
		for _, e := range events {
			if e.Kind == api.KindLine && strings.Contains(string(e.Line), `"control_response"`) && strings.Contains(string(e.Line), `"success"`) {
				n++
			}
		}
		return n
	}
	d.await("the answer to the interrupt", func(events []api.Event) bool { return answers(events) == 2 })
	if state := d.pass(2 * time.Second); state != api.StateRunning {
		t.Errorf("2 s after the answer it is %s", state)
	}
	d.pass(2 * time.Second)
	if err := <-done; err != nil || !out.Was || out.Session.State != api.StateIdle {
		t.Errorf("the interrupt gives %s, %v", encode(out), err)
	}
	d.unknown("answered an interrupt")
	// It may be under way after all, so that the next one is sent, too.
	out, err := d.lab.hub.Interrupt(d.lab.ctx(), person, d.session, api.Interrupt{})
	if err != nil || out.Was {
		t.Errorf("the second interrupt gives %s, %v", encode(out), err)
	}
	if n := answers(d.lab.events(d.session)); n != 3 {
		t.Errorf("the CLI has given %d answers, not 3", n)
	}
	d.lab.send(d.session, "@say Next.")
	d.lab.await(d.session, "the answer", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "Next." })
}

// TestFoundTurn follows a turn that counted as over and goes on.
func TestFoundTurn(t *testing.T) {
	assistant := `{"type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"Still here."}]},"session_id":"c9","uuid":"u9"}`
	delta := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Still"}},"session_id":"c9","uuid":"u8","parent_tool_use_id":null}`
	result := `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"Still here.","session_id":"c9","total_cost_usd":0,"usage":{},"uuid":"u10"}`
	for _, first := range []struct {
		name string
		item hub.Item
	}{
		{"a line", line(assistant)},
		{"a live line", hub.Item{Record: link.Record{Kind: link.Live, Bytes: []byte(delta)}}},
		{"the result of a tool", line(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"c9","uuid":"u7","parent_tool_use_id":null}`)},
	} {
		t.Run(first.name, func(t *testing.T) {
			d := newDialledSim(t)
			d.lose()
			if state := d.pass(time.Minute); state != api.StateIdle {
				t.Fatalf("after a minute it is %s", state)
			}
			receive := func(item hub.Item) api.State {
				t.Helper()
				if err := d.a.Receive(d.lab.ctx(), []hub.Item{item}); err != nil {
					t.Fatal(err)
				}
				d.rebuilt()
				return d.lab.snapshot(d.session).State
			}
			if state := receive(first.item); state != api.StateRunning {
				t.Errorf("after %s it is %s", first.name, state)
			}
			// It has shown that it is connected: silence does not count.
			if state := d.pass(time.Hour); state != api.StateRunning {
				t.Errorf("an hour later it is %s", state)
			}
			if state := receive(line(result)); state != api.StateIdle {
				t.Errorf("after its result it is %s", state)
			}
			if s := d.lab.snapshot(d.session); s.Result == nil || s.Result.Subtype != "success" {
				t.Errorf("the turn ended as %s", encode(s.Result))
			}
		})
	}
}

// TestStreamingIsNoSilence holds that a turn whose message is streamed is not taken
// for over.
func TestStreamingIsNoSilence(t *testing.T) {
	delta := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}},"session_id":"c9","uuid":"u8","parent_tool_use_id":null}`
	d := newDialledSim(t)
	d.lose()
	for range 5 {
		if state := d.pass(20 * time.Second); state != api.StateRunning {
			t.Fatalf("it is %s while it streams", state)
		}
		if err := d.a.Receive(d.lab.ctx(), []hub.Item{{Record: link.Record{Kind: link.Live, Bytes: []byte(delta)}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLostPrompt gives up a prompt of which nothing tells whether the CLI took it:
// without --replay-user-messages it swallows a second one without a word.
func TestLostPrompt(t *testing.T) {
	clock := &clock{now: time.Now()}
	l := newLab(t, func(o *hub.Options) { o.Now = clock.Now })
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket", Prompt: "first"})
	if err != nil {
		t.Fatal(err)
	}
	w := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, w)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	answer := func(c link.Order) {
		t.Helper()
		h, _ := wire.Peek(c.Line)
		text := `{"type":"control_response","response":{"subtype":"success","request_id":"` + string(h.RequestID) + `","response":{"commands":[]}}}`
		if err := errors.Join(a.Written(l.ctx(), c.Number), a.Receive(l.ctx(), []hub.Item{line(text)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	answer(w.await(t, 1))
	if err := errors.Join(a.Written(l.ctx(), w.await(t, 2).Number), a.Disconnected(l.ctx(), errors.New("cut")), a.Connected(l.ctx(), true)); err != nil {
		t.Fatal(err)
	}
	if err := a.Receive(l.ctx(), []hub.Item{{Gap: &api.Gap{Reason: "cut"}}}); err != nil {
		t.Fatal(err)
	}
	answer(w.await(t, 3))
	if again := w.await(t, 4); !strings.Contains(string(again.Line), "first") {
		t.Fatalf("after the reconnect was sent %s", again.Line)
	}
	l.send(created.ID, "second")
	clock.add(time.Minute)
	if second := w.await(t, 5); !strings.Contains(string(second.Line), "second") {
		t.Errorf("sent was %s", second.Line)
	}
	states := map[string]string{}
	rows, err := l.journal.Commands(l.ctx(), created.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == "prompt" {
			states[row.UUID] = row.State
		}
	}
	if state := states[created.Messages[0].UUID]; state != string(api.MessageUnknown) {
		t.Errorf("the first prompt is %q, of %v", state, states)
	}
}

// TestGapWhileIdle holds that lines that are missing while no turn is going on put
// no later turn in doubt.
func TestGapWhileIdle(t *testing.T) {
	d := newDialledSim(t)
	if err := d.a.Disconnected(d.lab.ctx(), errors.New("cut")); err != nil {
		t.Fatal(err)
	}
	d.reconnect()
	d.mu.Lock()
	d.up = false // as if it were slow
	d.mu.Unlock()
	d.lab.send(d.session, "@say Slowly.")
	if state := d.pass(time.Hour); state != api.StateRunning || len(d.turns()) != 0 {
		t.Errorf("an hour later it is %s, with %+v", state, d.turns())
	}
}
