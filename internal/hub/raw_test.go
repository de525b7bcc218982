package hub_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestSubmitDialog answers dialogs by lines: what is no answer to a dialog does not
// reach the CLI, and the rest is told as if it had come in another way.
func TestSubmitDialog(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	q := s.asks("d1", askDialog)
	before := len(s.w.texts())
	for _, body := range []string{`{"behavior":"allow","updatedInput":{}}`, `{"behavior":"deny","message":"no"}`, `{"behavior":"perhaps"}`, `{"behavior":"completed"}`, `{}`} {
		line := `{"type":"control_response","response":{"request_id":"d1","subtype":"success","response":` + body + `}}`
		if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(line), everything); code(err) != api.CodeInvalid {
			t.Errorf("%s: %v", body, err)
		}
	}
	if got := s.w.texts(); len(got) != before {
		t.Errorf("the CLI was sent %q", got[before:])
	}
	if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(`{"type":"control_response","response":{"request_id":"d1","subtype":"success","response":{"behavior":"completed","result":{"a":1}}}}`), everything); err != nil {
		t.Fatal(err)
	}
	if v, err := s.hub.Question(s.ctx(), q.ID); err != nil || v.Answer == nil || v.Answer.Decision != "choose" || string(v.Answer.Result) != `{"a":1}` {
		t.Errorf("the question is %s, %v", encode(v), err)
	}
	q = s.asks("d2", askDialog)
	if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(`{"type":"control_response","response":{"request_id":"d2","subtype":"success","response":{"behavior":"cancelled"}}}`), everything); err != nil {
		t.Fatal(err)
	}
	if v, err := s.hub.Question(s.ctx(), q.ID); err != nil || v.Answer == nil || v.Answer.Decision != "cancel" {
		t.Errorf("the question is %s, %v", encode(v), err)
	}
}

// TestSubmitChoice answers a choice by a line that leaves out its questions: they are
// repeated, as newer CLIs do not take the answer otherwise.
func TestSubmitChoice(t *testing.T) {
	s := newStage(newLab(t), "2.1.325")
	const questions = `"questions":[{"question":"Which?","header":"h","options":[{"label":"a","description":"x"},{"label":"b","description":"y"}],"multiSelect":false}]`
	for id, input := range map[string]string{"c1": `{"answers":{"Which?":"a"}}`, "c2": `{"answers":{"Which?":"a"},` + questions + `}`} {
		s.asks(id, `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{`+questions+`},"tool_use_id":"t`+id+`"}`)
		line := `{"type":"control_response","response":{"request_id":"` + id + `","subtype":"success","response":{"behavior":"allow","updatedInput":` + input + `}}}`
		if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(line), upTo(wire.ScopeApprove)); err != nil {
			t.Fatal(err)
		}
		sent := s.w.texts()
		if got := sent[len(sent)-1]; !strings.Contains(got, `"updatedInput":{"answers":{"Which?":"a"},`+questions+`}`) || !strings.Contains(got, `"`+id+`"`) {
			t.Errorf("%s became %s", line, got)
		}
	}
}

// TestSubmitUsedUUID sends another message under the uuid of one that the agent has:
// the CLI would swallow it without a word.
func TestSubmitUsedUUID(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	m := l.send(s.ID, "@say one")
	l.awaitDone(s.ID, 1)
	line := `{"type":"user","message":{"role":"user","content":"@say two"},"uuid":"` + m.UUID + `"}`
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(line), everything); code(err) != api.CodeClientIDReused {
		t.Errorf("a used uuid: %v", err)
	}
	long := strings.Replace(line, m.UUID, strings.Repeat("x", 200), 1)
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(long), everything); code(err) != api.CodeInvalid {
		t.Errorf("a uuid that is none: %v", err)
	}
	l.judge(s.ID)
}

// TestQueueIsBounded fills the queue of an agent that is busy: there is an end to it,
// and room again when a message is taken back.
func TestQueueIsBounded(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	s.asks("r1", askBash)
	var last *api.Message
	for n := 0; ; n++ {
		m, err := s.hub.Send(s.ctx(), person, s.id, api.SendMessage{Text: "one more"})
		if err != nil {
			if n < 100 || code(err) != api.CodeTooMany {
				t.Fatalf("after %d messages: %v", n, err)
			}
			break
		}
		if last = m; n > 2000 {
			t.Fatal("there is no end to it")
		}
	}
	line := []byte(`{"type":"user","message":{"role":"user","content":"one more"}}`)
	if _, err := s.hub.Submit(s.ctx(), person, s.id, line, everything); code(err) != api.CodeTooMany {
		t.Errorf("a message as a line: %v", err)
	}
	if _, err := s.hub.TakeBack(s.ctx(), person, s.id, last.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.Submit(s.ctx(), person, s.id, line, everything); err != nil {
		t.Errorf("when there is room: %v", err)
	}
}

// TestSentSecrets gives an agent what may hold secrets of its user: who only looks
// sees names, and no values, in events and exports.
func TestSentSecrets(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	const secret = "hunter2-secret"
	for _, line := range []string{
		`{"type":"control_request","request_id":"m","request":{"subtype":"mcp_set_servers","servers":{"files":{"type":"stdio","command":"x","env":{"KEY":"` + secret + `"}}}}}`,
		`{"type":"control_request","request_id":"f","request":{"subtype":"apply_flag_settings","settings":{"env":{"KEY":"` + secret + `"},"permissions":{"deny":["WebFetch"]}}}}`,
		`{"type":"update_environment_variables","variables":{"KEY":"` + secret + `"}}`,
	} {
		if answer, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(line), everything); err != nil && code(err) != api.CodeUnsupported {
			t.Fatalf("%s: %s, %v", line, answer, err)
		}
	}
	if sent := strings.Join(l.launcher.of(s.ID).commands(), "\n"); strings.Count(sent, secret) < 2 {
		t.Fatalf("the CLI was not given what it was to be given: %s", sent)
	}
	f := l.follow(s.ID, hub.FollowOptions{})
	f.until(l.ctx(), "the settings", func(v api.Frame) bool {
		return v.Type == api.FrameEvent && v.Event.Kind == api.KindSent && strings.Contains(string(v.Event.Line), "WebFetch")
	})
	shown := encode(f.frames) + encode(l.events(s.ID))
	for _, format := range []string{"jsonl", "events", "markdown"} {
		var out bytes.Buffer
		if err := l.reports.Export(l.ctx(), s.ID, format, &out); err != nil {
			t.Fatal(err)
		}
		shown += out.String()
	}
	if i := strings.Index(shown, secret); i >= 0 {
		t.Errorf("a secret is shown: …%s", shown[max(0, i-300):i+20])
	}
	if !strings.Contains(shown, `"files"`) || !strings.Contains(shown, `"WebFetch"`) {
		t.Error("what is no secret is not shown")
	}
}

// TestIdleInterrupt interrupts an agent that does nothing: the next turn was not
// interrupted.
func TestIdleInterrupt(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	if answer, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(`{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}`), everything); err != nil || !strings.Contains(string(answer), "success") {
		t.Fatalf("%s, %v", answer, err)
	}
	l.send(s.ID, "@say one")
	l.awaitDone(s.ID, 1)
	line, err := l.reports.Timeline(l.ctx(), s.ID, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := l.reports.Export(l.ctx(), s.ID, "markdown", &text); err != nil {
		t.Fatal(err)
	}
	if got := encode(line); strings.Contains(got, "Turn interrupted") || !strings.Contains(got, "Turn finished") {
		t.Errorf("the timeline is %s", got)
	}
	if got := text.String(); strings.Contains(got, "Turn interrupted") || !strings.Contains(got, "Turn finished") {
		t.Errorf("the export is %s", got)
	}
}

// TestDirectAgain has a client connect anew while its first connection, of which
// nobody has noticed yet that it is dead, is still there.
func TestDirectAgain(t *testing.T) {
	l := newLab(t)
	id, first := l.direct()
	if answer, err := first.Submit(l.ctx(), person, []byte(registers), everything); err != nil || strings.Contains(string(answer), `"error"`) {
		t.Fatalf("initialize: %s, %v", answer, err)
	}
	join := func(line string, may hub.May) *hub.Driver {
		t.Helper()
		d, err := l.hub.Join(l.ctx(), id)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Leave)
		if answer, err := d.Submit(l.ctx(), person, []byte(line), may); err != nil || d.Registered() || !strings.Contains(string(answer), `"success"`) {
			t.Fatalf("a second initialize: %s, %v, registered %v", answer, err, d.Registered())
		}
		return d
	}
	other := join(strings.Replace(registers, "hook_1", "hook_9", 1), everything)
	weak := join(registers, upTo(wire.ScopeObserve, wire.ScopePrompt))
	gone := join(registers, everything)
	gone.Leave()
	again := join(registers, everything)
	first.Leave()
	l.snapshot(id) // after what came before
	if !again.Registered() || other.Registered() || weak.Registered() || gone.Registered() {
		t.Errorf("registered: again %v, another %v, without the right %v, gone %v", again.Registered(), other.Registered(), weak.Registered(), gone.Registered())
	}
	again.Leave()
	// What it had sent before may come late.
	if answer, err := again.Submit(l.ctx(), person, []byte(registers), everything); err != nil || !strings.Contains(string(answer), `"error"`) {
		t.Errorf("initialize of somebody who has left: %s, %v", answer, err)
	}
	if again.Registered() {
		t.Error("who has left is still registered")
	}
	f := l.follow(id, hub.FollowOptions{After: "now", NoLive: true})
	l.send(id, `@tool Bash {"command":"make"}`+"\n@say done")
	f.request(l, `"callback_id":"hook_0"`)
	l.awaitDone(id, 1)
	l.judge(id)
}
