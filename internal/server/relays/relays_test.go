package relays

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// code returns the code of an error, "" for nil.
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	problem := new(api.Error)
	if !errors.As(err, &problem) {
		t.Fatalf("an error of another type: %v", err)
	}
	return problem.Code
}

// TestPromptFirst prompts an agent that has said nothing: that is all that a relay without
// status lines shows of it.
func TestPromptFirst(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	id := l.first(p)
	if _, err := l.Hub.Send(t.Context(), servertest.Admin, id, api.SendMessage{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	line := p.sent("the prompt arrives", func(line string) bool { return member(line, "type") == "user" })
	if got := member(line, "message", "content"); got != "hello" {
		t.Fatalf("the agent was sent %s", line)
	}
	p.say(initOf("sess-one"), saidBy("sess-one", "hi"), resultOf("sess-one"))
	s := l.session("sess-one", "the turn is over", inState(api.StateIdle))
	if s.ID != id || s.Transport != "relay" || s.Relay != p.url() || s.Text != "hi" || s.Dir != "/w" || !s.Linked {
		t.Fatalf("the session is %+v", s)
	}
	if n := strings.Count(l.log(id), `"hello"`); n != 2 { // the message and the line
		t.Errorf("the prompt is %d times in the log:\n%s", n, l.log(id))
	}
	if _, err := l.Hub.Send(t.Context(), servertest.Admin, id, api.SendMessage{Text: "again"}); err != nil {
		t.Fatal(err)
	}
	line = p.sent("the second prompt arrives", func(line string) bool { return member(line, "message", "content") == "again" })
	if member(line, "session_id") != "sess-one" {
		t.Errorf("the prompt names no session: %s", line)
	}
	p.say(initOf("sess-one"), saidBy("sess-one", "working"))
	l.session("sess-one", "the turn goes on", inState(api.StateRunning))
	interrupted := make(chan error, 1)
	go func() {
		_, err := l.Hub.Interrupt(t.Context(), servertest.Admin, id, api.Interrupt{})
		interrupted <- err
	}()
	line = p.sent("the interrupt arrives", func(line string) bool { return member(line, "request", "subtype") == "interrupt" })
	request, _ := member(line, "request_id").(string)
	p.say(`{"type":"control_response","response":{"subtype":"success","request_id":"`+request+`"}}`, strings.Replace(resultOf("sess-one"), `"r-`, `"r2-`, 1))
	if err := <-interrupted; err != nil {
		t.Fatal(err)
	}
	for _, line := range p.all() {
		if subtype := member(line, "request", "subtype"); subtype != nil && subtype != "interrupt" {
			t.Errorf("the agent of another program was sent %s", line)
		}
	}
	if l.count() != 1 {
		t.Errorf("%d sessions, want 1", l.count())
	}
}

// TestTwoSessions has two agents speak on one relay: first as if one had replaced the
// other, then in turns.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t, `{"type":"status","text":"claude code is connected"}`)
	l.attach(p, api.AttachRelay{})
	p.say(initOf("sess-aa"), saidBy("sess-aa", "one"), asks("q1"))
	a := l.session("sess-aa", "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	p.say(initOf("sess-bb") + "\n" + saidBy("sess-bb", "two")) // two lines in a message
	b := l.session("sess-bb", "it speaks", func(s *api.Session) bool { return s.Text == "two" })
	if a.ID == b.ID {
		t.Fatal("two sessions are one")
	}
	offline := l.session("sess-aa", "it is offline", inState(api.StateOffline))
	if len(offline.Questions) != 1 {
		t.Error("the question of a session that may be there still was dropped")
	}
	_, err := l.Hub.Send(t.Context(), servertest.Admin, a.ID, api.SendMessage{Text: "anyone?"})
	if got := code(t, err); got != api.CodeOffline {
		t.Errorf("a message to a session that is not there: %v", err)
	}
	p.say(saidBy("sess-aa", "back"), saidBy("sess-bb", "too"))
	l.session("sess-aa", "it is back", func(s *api.Session) bool { return s.Linked && s.Text == "back" && s.Run == 1 })
	l.session("sess-bb", "it stays", func(s *api.Session) bool { return s.Linked && s.Text == "too" })
	q, err := l.Hub.Answer(t.Context(), servertest.Admin, offline.Questions[0].ID, api.Answer{Decision: "allow"})
	if err != nil {
		t.Fatal(err)
	}
	line := p.sent("the answer arrives", func(line string) bool { return member(line, "type") == "control_response" })
	if member(line, "response", "request_id") != "q1" || member(line, "response", "response", "behavior") != "allow" ||
		member(line, "response", "response", "updatedInput", "command") != "make" {
		t.Errorf("the answer is %s", line)
	}
	until(t, "the answer is known to be written", func() bool {
		settled, err := l.Hub.Question(t.Context(), q.ID)
		return err == nil && settled.State == api.QuestionAnswered && settled.Delivery == api.MessageWritten
	})
	l.logged(a.ID, `"relay_answers"`)
}

// TestOthers shows what other front ends of a relay do.
func TestOthers(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	p.say(`{"type":"user","message":{"role":"user","content":"from elsewhere"},"parent_tool_use_id":null,"session_id":""}`, initOf("sess-one"), asks("q1"))
	s := l.session("sess-one", "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	if s.Prompt != "from elsewhere" || s.Title != "from elsewhere" {
		t.Errorf("the prompt of another front end: %q, title %q", s.Prompt, s.Title)
	}
	p.say(`{"type":"auth","token":"very-secret"}`, `{"type":"update_environment_variables","variables":{"KEY":"very-secret"}}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{}}}}`)
	l.session("sess-one", "it is answered", func(s *api.Session) bool { return len(s.Questions) == 0 })
	q, err := l.Hub.Question(t.Context(), s.Questions[0].ID)
	if err != nil || q.State != api.QuestionAnswered || q.Reason != "answered by another front end of the relay" {
		t.Errorf("the question is %+v, %v", q, err)
	}
	// A relay that approves by itself does not say so: the call goes on.
	p.say(asks("q2"), `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-q2","content":"ok"}]},"session_id":"sess-one","uuid":"u1"}`)
	l.session("sess-one", "nothing is asked", func(s *api.Session) bool { return strings.Contains(l.log(s.ID), `"q2"`) && len(s.Questions) == 0 })
	log := l.log(s.ID)
	for _, text := range []string{"very-secret", `"initialize"`} {
		if strings.Contains(log, text) {
			t.Errorf("the log holds %s", text)
		}
	}
	if !strings.Contains(log, "sent program ") {
		t.Errorf("no line is recorded as a program's:\n%s", log)
	}
}

// TestNotOurs asks for what the owner of the agent alone can do.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	r := l.attach(p, api.AttachRelay{})
	p.say(initOf("sess-one"), resultOf("sess-one"))
	id := l.session("sess-one", "it is idle", inState(api.StateIdle)).ID
	model := "other"
	verbs := map[string]func() error{
		"stop": func() error { _, err := l.Hub.Stop(t.Context(), servertest.Admin, id, api.Stop{}); return err },
		"stop with force": func() error {
			_, err := l.Hub.Stop(t.Context(), servertest.Admin, id, api.Stop{Force: true})
			return err
		},
		"fork": func() error { _, err := l.Hub.Fork(t.Context(), servertest.Admin, id, api.Fork{}); return err },
		"model": func() error {
			_, err := l.Hub.Update(t.Context(), servertest.Admin, id, api.UpdateSession{Model: &model})
			return err
		},
		"rule": func() error {
			_, err := l.Hub.AddRule(t.Context(), servertest.Admin, id, api.AddRule{Rule: "Bash(make)", Decision: api.RuleAllow})
			return err
		},
	}
	for name, verb := range verbs {
		if got := code(t, verb()); got != api.CodeConflict {
			t.Errorf("%s: got %q, want a conflict", name, got)
		}
	}
	if err := l.relays.Detach(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	ended := l.session("sess-one", "it has ended", inState(api.StateEnded))
	if ended.Ended.Reason != detached || ended.Relay != p.url() {
		t.Errorf("it ended with %+v", ended.Ended)
	}
	_, err := l.Hub.Resume(t.Context(), servertest.Admin, id, api.Resume{})
	if problem := new(api.Error); !errors.As(err, &problem) || problem.Code != api.CodeConflict || !strings.Contains(problem.Detail, p.url()) {
		t.Errorf("resume: %v", err)
	}
	_, err = l.Hub.Send(t.Context(), servertest.Admin, id, api.SendMessage{Text: "go on"})
	if got := code(t, err); got != api.CodeConflict {
		t.Errorf("a message to what has ended: %v", err)
	}
	if len(p.all()) != 0 {
		t.Errorf("the relay was sent %q", p.all())
	}
	if err := l.relays.Detach(t.Context(), r.ID); code(t, err) != api.CodeNotFound {
		t.Errorf("detaching twice: %v", err)
	}
}

// TestEnds cuts connections off, closes them, and has agents end.
func TestEnds(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	p.say(initOf("sess-one"), resultOf("sess-one"))
	id := l.session("sess-one", "it is idle", inState(api.StateIdle)).ID

	// Cut off: the agent may be there still, and what it said is missing.
	p.cut()
	p.front(2)
	l.logged(id, missed)
	l.session("sess-one", "it can be prompted", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	if _, err := l.Hub.Send(t.Context(), servertest.Admin, id, api.SendMessage{Text: "still there?"}); err != nil {
		t.Fatal(err)
	}
	p.sent("the prompt arrives", func(line string) bool { return member(line, "message", "content") == "still there?" })
	again := strings.ReplaceAll(resultOf("sess-one"), "r-sess-one", "r-sess-two")
	p.say(strings.ReplaceAll(initOf("sess-one"), "i-sess-one", "i-sess-two"), saidBy("sess-one", "yes"), again)
	l.session("sess-one", "it is idle again", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "yes" })

	// A CLI that comes back to its relay repeats what it said, on other connections and on
	// this one, and encodes results anew.
	p.say(initOf("sess-one"), resultOf("sess-one"), saidBy("sess-one", "yes"), strings.Replace(again, `"duration_ms":1`, `"duration_ms":2`, 1), saidBy("sess-one", "new"))
	repeated := l.session("sess-one", "it goes on", func(s *api.Session) bool { return s.Text == "new" })
	if repeated.Cost.Turns != 2 || strings.Count(l.log(id), `"text":"yes"`) != 1 || strings.Count(l.log(id), `"i-sess-one"`) != 1 {
		t.Errorf("%d turns; the log:\n%s", repeated.Cost.Turns, l.log(id))
	}

	// Closed in good order: the agent is gone, or another is there.
	p.close()
	p.front(3)
	l.session("sess-one", "it is offline", inState(api.StateOffline))
	next := l.first(p)
	if next == id {
		t.Error("an agent that may be another continues the session")
	}
	p.say(saidBy("sess-one", "here"))
	l.session("sess-one", "it is back", func(s *api.Session) bool { return s.ID == id && s.Linked && s.Text == "here" })

	// The relay says that the agent has ended, and then shows it again.
	p.say(`{"type":"status","text":"claude code disconnected"}`)
	l.session("sess-one", "it has ended", inState(api.StateEnded))
	p.say(`{"type":"status","text":"claude code connected"}`, initOf("sess-one"), saidBy("sess-one", "resumed"))
	s := l.session("sess-one", "it speaks", func(s *api.Session) bool { return s.Text == "resumed" })
	if s.ID != id || s.Run != 2 {
		t.Errorf("it continues as %s, run %d", s.ID, s.Run)
	}
	if l.count() != 2 { // and the one that was made for an agent that said nothing
		t.Errorf("%d sessions, want 2", l.count())
	}
}

// TestKept opens the hub's relays again: they are attached, and sessions go on.
func TestKept(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	made := l.attach(p, api.AttachRelay{Rules: true})
	p.say(initOf("sess-one"), asks("q1"))
	s := l.session("sess-one", "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.relays.Close()
	l.session("sess-one", "it is offline", inState(api.StateOffline))
	if _, err := l.Hub.Answer(t.Context(), servertest.Admin, s.Questions[0].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
		t.Fatal(err)
	}
	l.open()
	p.front(2)
	late := p.sent("the answer arrives late", func(line string) bool { return member(line, "response", "request_id") == "q1" })
	// It is asked once more: the answer did not reach the agent.
	p.say(initOf("sess-one"), asks("q1"))
	until(t, "the answer is sent again", func() bool {
		return len(slices.DeleteFunc(p.all(), func(line string) bool { return line != late })) == 2
	})
	p.say(saidBy("sess-one", "more"))
	again := l.session("sess-one", "it speaks", func(s *api.Session) bool { return s.Text == "more" })
	if again.ID != s.ID || again.Run != 1 {
		t.Errorf("it continues as %s, run %d", again.ID, again.Run)
	}
	r := l.relay(p.url(), "it is connected", func(r *api.Relay) bool { return r.State == api.RelayConnected })
	if r.ID != made.ID || !r.Rules {
		t.Errorf("the relay is %+v", r)
	}
	if _, err := l.relays.Attach(t.Context(), api.AttachRelay{URL: p.url()}); code(t, err) != api.CodeConflict {
		t.Errorf("attaching twice: %v", err)
	}
}

// TestRules has rules answer only where a person said so.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, judged := range []bool{false, true} {
		l, p := newLab(t, &servertest.Options{Rules: "deny = [\"Bash(make)\"]\n"}), newPipe(t)
		l.attach(p, api.AttachRelay{Rules: judged})
		p.say(initOf("sess-one"), asks("q1"), `{"type":"later","session_id":"sess-one"}`)
		s := l.session("sess-one", "it asked", func(s *api.Session) bool { return strings.Contains(l.log(s.ID), `"later"`) })
		if judged {
			line := p.sent("a rule answers", func(line string) bool { return member(line, "response", "request_id") == "q1" })
			if member(line, "response", "response", "behavior") != "deny" {
				t.Errorf("the rule says %s", line)
			}
			continue
		}
		if len(s.Questions) != 1 || s.Questions[0].Rule != nil || len(p.all()) != 0 {
			t.Errorf("a rule has judged the agent of another program: %+v, sent %q", s.Questions, p.all())
		}
	}
}

// TestDiscover looks for relays on ports.
func TestDiscover(t *testing.T) {
	t.Parallel()
	p, own := newPipe(t), newPipe(t)
	l := newLab(t, nil, func(o *Options) {
		o.Ports = []uint16{portOf(own.url()), portOf(p.url())}
		o.Own = func(port uint16) bool { return port == portOf(own.url()) }
	})
	r, err := l.relays.Attach(t.Context(), api.AttachRelay{Discover: true})
	if err != nil {
		t.Fatal(err)
	}
	p.front(1)
	found := l.relay(p.url(), "it is found", func(r *api.Relay) bool { return r.Discovered && r.State == api.RelayConnected })
	if l.count() != 0 {
		t.Error("a relay that says nothing has a session")
	}
	p.say("no JSON", `{"type":"hot-update"`, initOf("sess-one"))
	l.session("sess-one", "it is shown", func(s *api.Session) bool { return s.Linked })
	if err := l.relays.Detach(t.Context(), found.ID); code(t, err) != api.CodeConflict {
		t.Errorf("detaching what is found again: %v", err)
	}
	p.cut()
	p.front(2)
	l.session("sess-one", "it is back", func(s *api.Session) bool { return s.Linked })
	if err := l.relays.Detach(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	l.session("sess-one", "it has ended", inState(api.StateEnded))
	if list, err := l.relays.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("left: %+v, %v", list, err)
	}
	if own.joined != 0 {
		t.Error("the hub is its own front end")
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url      string
		insecure bool
		want     string
	}{
		{"ws://127.0.0.1:8765/ws", false, "ws://127.0.0.1:8765/ws"},
		{"ws://LOCALHOST:8765/ws", false, "ws://localhost:8765/ws"},
		{"ws://[::1]:8765", false, "ws://[::1]:8765/"},
		{"wss://relay.example/ws", false, "wss://relay.example/ws"},
		{"ws://relay.example/ws", true, "ws://relay.example/ws"},
		{"ws://relay.example/ws", false, ""},
		{"ws://localhost.example/ws", false, ""},
		{"ws://127.0.0.1.example/ws", false, ""},
		{"ws://10.0.0.1/ws", false, ""},
		{"http://127.0.0.1:8765/ws", false, ""},
		{"wss://user:secret@relay.example/ws", false, ""},
		{"wss://relay.example/ws?token=secret", false, ""},
		{"wss://relay.example/ws#x", false, ""},
		{"wss:///ws", false, ""},
		{"", false, ""},
	}
	for _, tt := range tests {
		got, err := checkURL(tt.url, tt.insecure)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: got %q, %v, want %q", tt.url, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error holds a secret: %v", tt.url, err)
		}
	}
	l := newLab(t, nil, func(o *Options) { o.Own = func(port uint16) bool { return port == 8765 } })
	if _, err := l.relays.Attach(t.Context(), api.AttachRelay{URL: "ws://localhost:8765/ws"}); code(t, err) != api.CodeInvalid {
		t.Errorf("the hub is attached to itself: %v", err)
	}
}
