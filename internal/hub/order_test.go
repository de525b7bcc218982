package hub_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A heldJournal is a journal whose commits can be held up, or made to fail.
type heldJournal struct {
	*journal.SQLite

	mu   sync.Mutex
	gate chan struct{}
	fail error
	held chan struct{}
}

// hold holds up the next commits until release is called.
func (j *heldJournal) hold() (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	gate := make(chan struct{})
	j.gate = gate
	return sync.OnceFunc(func() {
		j.mu.Lock()
		j.gate = nil
		j.mu.Unlock()
		close(gate)
	})
}

// failOnce has the next commit fail.
func (j *heldJournal) failOnce(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fail = err
}

func (j *heldJournal) Commit(ctx context.Context, b *journal.Batch) (first, last int64, err error) {
	j.mu.Lock()
	gate, err := j.gate, j.fail
	j.fail = nil
	j.mu.Unlock()
	if err != nil {
		return 0, 0, err
	}
	if gate != nil {
		j.held <- struct{}{}
		<-gate
	}
	return j.SQLite.Commit(ctx, b)
}

// held opens the lab anew with a journal that can be held up.
func (l *lab) held() *heldJournal {
	l.t.Helper()
	l.close()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	j := &heldJournal{SQLite: l.journal, held: make(chan struct{}, 16)}
	l.options.Journal = j
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		l.t.Fatal(err)
	}
	l.launcher.connectAll()
	return j
}

// inOneStep has calls made that all wait for the session at the same time, in
// their order, so that they become one step.
func (l *lab) inOneStep(j *heldJournal, id string, calls ...func()) {
	l.t.Helper()
	release := j.hold()
	defer release()
	var done sync.WaitGroup
	done.Go(func() {
		title := "held up"
		if _, err := l.hub.Update(l.ctx(), person, id, api.UpdateSession{Title: &title}); err != nil {
			l.t.Error(err)
		}
	})
	<-j.held
	ctx := l.ctx()
	for i, call := range calls {
		done.Go(call)
		for l.hub.Waiting(id) < i+1 {
			if ctx.Err() != nil {
				l.t.Fatal("a call does not wait for the session")
			}
			runtime.Gosched()
		}
	}
	release()
	done.Wait()
}

// tee makes a session of a program and connects its link, played by the test.
func (l *lab) tee() (*api.Created, hub.Hello, *hub.RunLink, *dialler) {
	l.t.Helper()
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
	if err != nil {
		l.t.Fatal(err)
	}
	hello := hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true, Steer: true}, Token: created.Token}
	wire := newDialler()
	a, _, err := l.hub.Attach(l.ctx(), hello, wire)
	if err != nil {
		l.t.Fatal(err)
	}
	return created, hello, a, wire
}

func numbered(n int64, text string) hub.Item {
	return hub.Item{Record: link.Record{Kind: link.Line, Number: n, Bytes: []byte(text)}}
}

func bashQuestion(id string) string {
	return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t` + id + `"}}`
}

// TestCommandsOfOneStep answers a question in the very step in which the shim
// comes back: an answer that was given before must not be overtaken, since a shim
// takes a lower number for one that is written.
func TestCommandsOfOneStep(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
	j := l.held()
	created, hello, a, _ := l.tee()
	if err := a.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1")), numbered(2, bashQuestion("r2"))}); err != nil {
		t.Fatal(err)
	}
	questions := l.snapshot(created.ID).Questions
	if len(questions) != 2 {
		t.Fatalf("%d questions", len(questions))
	}
	a.Lost(errors.New("cut"))
	answer := func(i int) {
		if _, err := l.hub.Answer(l.ctx(), person, questions[i].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
			t.Error(err)
		}
	}
	answer(0)
	wire := newDialler()
	hello.Next, hello.Oldest = 3, 3
	var back *hub.RunLink
	l.inOneStep(j, created.ID, func() { answer(1) }, func() {
		var err error
		if back, _, err = l.hub.Attach(l.ctx(), hello, wire); err != nil {
			t.Error(err)
		}
	})
	defer back.Lost(nil)
	l.snapshot(created.ID)
	wire.mu.Lock()
	defer wire.mu.Unlock()
	var numbers []int64
	for _, c := range wire.sent {
		numbers = append(numbers, c.Number)
	}
	if fmt.Sprint(numbers) != "[1 2]" {
		t.Errorf("the commands were sent in the order %v", numbers)
	}
}

// TestSameClientID sends a message, gives up waiting for it while it is being written,
// and repeats it before it is in the journal.
func TestSameClientID(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
	j := l.held()
	created, _, a, _ := l.tee()
	defer a.Lost(nil)
	if err := a.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1"))}); err != nil {
		t.Fatal(err)
	}
	send := func(ctx context.Context, text string) (*api.Message, error) {
		return l.hub.Send(ctx, person, created.ID, api.SendMessage{Text: text, ClientID: "once"})
	}
	release := j.hold()
	defer release()
	gone, leave := context.WithCancel(l.ctx())
	go func() {
		<-j.held
		leave()
	}()
	if _, err := send(gone, "hello"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a client that has left is told %v", err)
	}
	var second, third *api.Message
	var err error
	var reused error
	var calls sync.WaitGroup
	calls.Go(func() { second, err = send(l.ctx(), "hello") })
	calls.Go(func() { _, reused = send(l.ctx(), "something else") })
	release()
	calls.Wait()
	if err != nil || code(reused) != api.CodeClientIDReused {
		t.Errorf("the repetition: %v; the id used for another message: %v", err, reused)
	}
	if third, err = send(l.ctx(), "hello"); err != nil || third.ID != second.ID {
		t.Errorf("the message is %s, its repetition %s, %v", encode(second), encode(third), err)
	}
	v := l.snapshot(created.ID)
	if len(v.Messages) != 1 || v.Messages[0].ID != second.ID {
		t.Errorf("these messages wait: %s", encode(v.Messages))
	}
	for range 2 {
		calls.Go(func() {
			q, err := l.hub.Answer(l.ctx(), person, v.Questions[0].ID, api.Answer{Decision: "deny", Message: "no", ClientID: "a"})
			if err != nil || q.State != api.QuestionAnswered {
				t.Errorf("answering: %s, %v", encode(q), err)
			}
		})
	}
	calls.Wait()
}

// TestStopFresh stops a session with a process for each turn while messages
// wait: it must not go on with them.
func TestStopFresh(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`, Options: api.SessionOptions{Fresh: true}})
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.send(s.ID, "@say later")
	stopped, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{})
	if err != nil {
		t.Fatal(err)
	}
	if stopped.State != api.StateEnded || stopped.Run != 1 || len(stopped.Messages) != 1 {
		t.Errorf("after the stop it is %s", encode(stopped))
	}
}

// ackers keep what they were acknowledged.
type acker struct {
	dialler
	have int64
}

func (a *acker) Ack(have int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.have = have
}

// TestLastAck has the shim of a process for one turn acknowledged its last line,
// though the next process is started in the same step: it waits for that.
func TestLastAck(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`, Options: api.SessionOptions{Fresh: true}})
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	shim := l.launcher.of(s.ID)
	shim.cut()
	wire := &acker{dialler: *newDialler()}
	hello := shim.hello()
	a, welcome, err := l.hub.Attach(l.ctx(), hello, wire)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	l.send(s.ID, "@say two")
	result := `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"x","session_id":"c","total_cost_usd":0,"usage":{},"uuid":"r"}`
	exited := hub.Item{Record: link.Record{Kind: link.Happened, Number: welcome.Have + 2, Bytes: []byte(`{"event":"exited","code":0,"requested":true}`)}}
	if err := a.Receive(l.ctx(), []hub.Item{numbered(welcome.Have+1, result), exited}); err != nil {
		t.Fatal(err)
	}
	done := l.await(s.ID, "the next is done", func(s *api.Session) bool { return s.Text == "two" && s.State == api.StateEnded })
	wire.mu.Lock()
	defer wire.mu.Unlock()
	if wire.have != welcome.Have+2 {
		t.Errorf("acknowledged up to %d of %d", wire.have, welcome.Have+2)
	}
	for _, c := range wire.sent {
		if strings.Contains(string(c.Line), "two") || strings.Contains(string(c.Line), "initialize") {
			t.Errorf("the ended process was sent %s", c.Line)
		}
	}
	if done.Run != 2 {
		t.Errorf("run %d", done.Run)
	}
}
