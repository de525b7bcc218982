package hub_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// A dialler is the wire of a CLI that dialled in, played by the test.
type dialler struct {
	mu      sync.Mutex
	sent    []link.Order
	stopped string
	changed chan struct{}
}

func newDialler() *dialler { return &dialler{changed: make(chan struct{}, 1)} }

func (d *dialler) Send(commands []link.Order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, commands...)
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *dialler) Stop(_ time.Duration, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = reason
}
func (*dialler) CloseInput()  {}
func (*dialler) Ack(int64)    {}
func (*dialler) Close(string) {}

// await returns the n-th command, from 1.
func (d *dialler) await(t *testing.T, n int) link.Order {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		d.mu.Lock()
		if len(d.sent) >= n {
			c := d.sent[n-1]
			d.mu.Unlock()
			return c
		}
		d.mu.Unlock()
		select {
		case <-d.changed:
		case <-timeout.C:
			t.Fatalf("command %d was not sent", n)
		}
	}
}

func line(text string) hub.Item {
	return hub.Item{Record: link.Record{Kind: link.Line, Bytes: []byte(text)}}
}

// TestDialled plays a CLI that dials in: a placeholder that is prompted before it
// is there, a loss, repeated lines, a question that is recovered and one that was
// answered already.
func TestDialled(t *testing.T) {
	l := newLab(t)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket", Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if created.Token == "" || created.State != api.StateStarting || len(created.Messages) != 1 {
		t.Fatalf("the placeholder is %s", encode(created))
	}
	grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Token: created.Token, Name: created.ID})
	if err != nil || grant.Session != created.ID || grant.Run != 1 || !grant.Own {
		t.Fatalf("the grant is %s, %v", encode(grant), err)
	}
	if _, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Token: created.Token + "x"}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("a wrong credential: %v", err)
	}
	other := l.create(api.CreateSession{})
	if _, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Token: created.Token, Name: other.ID}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("the credential of one session on the path of another: %v", err)
	}
	if _, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("no credential: %v", err)
	}
	wire1 := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: grant.Session, Run: grant.Run}, wire1)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	initialize, prompt := wire1.await(t, 1), wire1.await(t, 2)
	if !strings.Contains(string(initialize.Line), `"initialize"`) || !strings.Contains(string(prompt.Line), "hello") {
		t.Fatalf("first were sent %s and %s", initialize.Line, prompt.Line)
	}
	if err := a.Written(l.ctx(), prompt.Number); err != nil {
		t.Fatal(err)
	}
	h, _ := wire.Peek(initialize.Line)
	question := `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t1"}}`
	answer := `{"type":"control_response","response":{"subtype":"success","request_id":"` + string(h.RequestID) + `","response":{"commands":[]}}}`
	init := `{"type":"system","subtype":"init","session_id":"c1","uuid":"u1","claude_code_version":"2.1.120","cwd":"/tmp"}`
	said := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"c1","uuid":"u2"}`
	if err := a.Receive(l.ctx(), []hub.Item{line(answer), line(init), line(said), line(question)}); err != nil {
		t.Fatal(err)
	}
	asked := l.snapshot(created.ID)
	if asked.State != api.StateRequiresAction || len(asked.Questions) != 1 || asked.Conversation != "c1" {
		t.Fatalf("the session is %s", encode(asked))
	}
	first, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "allow"})
	if err != nil {
		t.Fatal(err)
	}
	reply := wire1.await(t, 3)
	// The connection breaks while the answer is written.
	if err := a.Doubtful(l.ctx(), reply.Number, "cut"); err != nil {
		t.Fatal(err)
	}
	if err := a.Disconnected(l.ctx(), errors.New("cut")); err != nil {
		t.Fatal(err)
	}
	l.awaitState(created.ID, api.StateOffline)
	if err := a.Connected(l.ctx(), true); err != nil {
		t.Fatal(err)
	}
	again := wire1.await(t, 4)
	hAgain, _ := wire.Peek(again.Line)
	if string(hAgain.RequestSubtype) != "initialize" || string(hAgain.RequestID) == string(h.RequestID) {
		t.Fatalf("after the reconnect was sent %s", again.Line)
	}
	// 2.1.120 repeats what it wrote; then it lists what it waits for: the question
	// whose answer was lost, and a new one.
	repeated := hub.Item{Record: link.Record{Kind: link.Line, Bytes: []byte(said)}, Repeat: true}
	listed := `{"type":"control_response","response":{"subtype":"error","error":"Already initialized","request_id":"` + string(hAgain.RequestID) +
		`","pending_permission_requests":[` + question + `,` + strings.NewReplacer(`"r1"`, `"r2"`, `"t1"`, `"t2"`).Replace(question) + `]}}`
	if err := a.Receive(l.ctx(), []hub.Item{repeated, line(listed)}); err != nil {
		t.Fatal(err)
	}
	if resent := wire1.await(t, 5); !strings.Contains(string(resent.Line), `"r1"`) || !strings.Contains(string(resent.Line), `"allow"`) {
		// The prompt that was not picked up comes between.
		if resent = wire1.await(t, 6); !strings.Contains(string(resent.Line), `"r1"`) || !strings.Contains(string(resent.Line), `"allow"`) {
			t.Errorf("the recorded answer was not sent again: %s", resent.Line)
		}
	}
	now := l.snapshot(created.ID)
	if len(now.Questions) != 1 || now.Questions[0].RequestID != "r2" {
		t.Errorf("open are %s", encode(now.Questions))
	}
	if q, err := l.hub.Question(l.ctx(), first.ID); err != nil || q.State != api.QuestionAnswered {
		t.Errorf("the first question is %s, %v", encode(q), err)
	}
	count := 0
	for _, e := range l.events(created.ID) {
		if strings.Contains(string(e.Line), `"u2"`) {
			count++
		}
	}
	if count != 1 {
		t.Errorf("a repeated line is in the log %d times", count)
	}
	a.Lost(hub.ErrGone)
	ended := l.awaitState(created.ID, api.StateEnded)
	if !strings.Contains(ended.Ended.Reason, "come back") {
		t.Errorf("it ended so: %s", ended.Ended.Reason)
	}
	// Whoever starts the same command again goes on with the next run.
	grant, err = l.hub.DialGrant(l.ctx(), hub.DialRequest{Token: created.Token, Name: created.ID})
	if err != nil || grant.Run != 2 || !grant.Own {
		t.Errorf("after its end the grant is %s, %v", encode(grant), err)
	}
}

// TestDialledTrusted opens sessions for CLIs that an administrator lets in.
func TestDialledTrusted(t *testing.T) {
	l := newLab(t)
	attach := func(name string) *hub.RunLink {
		t.Helper()
		grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: grant.Session, Run: grant.Run, Name: name}, newDialler())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := attach("work")
	if b := attach("work"); b.Session() != a.Session() || b.Run() != 1 {
		t.Errorf("the same name gave sessions %s and %s", a.Session(), b.Session())
	}
	other := attach("")
	if other.Session() == a.Session() {
		t.Error("a CLI without a name got another's session")
	}
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	started := l.awaitDone(s.ID, 1)
	var owned *hub.OwnedError
	for _, name := range []string{started.ID, started.Conversation} {
		if _, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: name}); !errors.As(err, &owned) {
			t.Errorf("a CLI that names what a shim has got %v", err)
		}
	}
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: started.Conversation})
	if err != nil || grant.Session != s.ID || grant.Run != 2 {
		t.Errorf("an ended session's conversation: %s, %v", encode(grant), err)
	}
}

// A clock goes when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestEchoedAnswer settles answers by the CLI's echo: one that a former hub sent
// and could not note, and one that was never sent because the first had arrived.
func TestEchoedAnswer(t *testing.T) {
	l := newLab(t)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "hybrid", Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	w := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	question := `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t1"}}`
	if err := a.Receive(l.ctx(), []hub.Item{line(question)}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Answer(l.ctx(), person, l.snapshot(created.ID).Questions[0].ID, api.Answer{Decision: "allow"}); err != nil {
		t.Fatal(err)
	}
	sent := w.await(t, 3)
	a.Lost(errors.New("the hub is killed"))
	l.restart()
	w = newDialler()
	if a, _, err = l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1, Reconnected: true}, w); err != nil {
		t.Fatal(err)
	}
	defer func() { a.Lost(nil) }()
	// Lines come by POST before there is a connection to answer on.
	if err := a.Receive(l.ctx(), []hub.Item{line(string(sent.Line))}); err != nil {
		t.Fatal(err)
	}
	states := func() map[int64]string {
		rows, err := l.journal.Commands(l.ctx(), created.ID, false)
		if err != nil {
			t.Fatal(err)
		}
		m := map[int64]string{}
		for _, row := range rows {
			if row.Kind == "answer" {
				m[row.Number] = row.State
			}
		}
		return m
	}
	if got := states(); got[sent.Number] != "written" {
		t.Errorf("after its echo the answer is %v", got)
	}
}

func TestIdentity(t *testing.T) {
	same := func(x, y string) bool { return hub.Identity([]byte(x)) == hub.Identity([]byte(y)) }
	if !same(`{"type":"result","uuid":"u","modelUsage":1}`, `{"type":"result","uuid":"u","modelUsage":2}`) {
		t.Error("a result that is encoded anew passes for another")
	}
	if same(`{"type":"result","uuid":"u"}`, `{"type":"result","uuid":"v"}`) {
		t.Error("two results pass for one")
	}
	if same(`{"type":"user","uuid":"u","n":1}`, `{"type":"user","uuid":"u","n":2}`) {
		t.Error("two echoes of a prompt pass for one")
	}
	if !same(`{"type":"control_request","request_id":"r","n":1}`, `{"type":"control_request","request_id":"r","n":2}`) {
		t.Error("a request that is asked again passes for another")
	}
}
