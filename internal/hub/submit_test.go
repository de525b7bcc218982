package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// everything is the rights of somebody who may do all, upTo those of somebody who
// may do less.
func everything(wire.Scope) bool { return true }

func upTo(scopes ...wire.Scope) hub.May {
	return func(s wire.Scope) bool { return slices.Contains(scopes, s) }
}

// TestSubmitMessage sends messages as lines: they are queued, keep what they came
// with, and are one message if they come twice.
func TestSubmitMessage(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	const uuid = "11111111-2222-3333-4444-555555555555"
	text := `{"type":"user","message":{"role":"user","content":"@say one"},"parent_tool_use_id":null,"session_id":"","uuid":"` + uuid + `"}`
	for range 2 {
		if answer, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(text), everything); err != nil || answer != nil {
			t.Fatalf("a message: %s, %v", answer, err)
		}
	}
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(strings.Replace(text, "one", "another", 1)), everything); code(err) != api.CodeClientIDReused {
		t.Errorf("another message with the same uuid: %v", err)
	}
	l.awaitDone(s.ID, 1)
	blocks := `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"@say two"}]}}`
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(blocks), upTo(wire.ScopePrompt)); err != nil {
		t.Fatal(err)
	}
	done := l.awaitDone(s.ID, 2)
	if done.Text != "two" {
		t.Errorf("the last answer is %q", done.Text)
	}
	var prompts []string
	for _, line := range l.launcher.of(s.ID).commands() {
		if strings.Contains(line, `"type":"user"`) {
			prompts = append(prompts, line)
		}
	}
	if len(prompts) != 2 || prompts[0] != text || !strings.Contains(prompts[1], `,"uuid":"`) {
		t.Errorf("the CLI was sent %q", prompts)
	}
	l.judge(s.ID)
}

// TestSubmitRefused sends what must not reach a CLI: it is refused with the reason,
// and the CLI is sent nothing.
func TestSubmitRefused(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	s.asks("r1", askBash)
	before := len(s.w.texts())
	for _, test := range []struct {
		name, line, code string
		may              hub.May
	}{
		{"not JSON", `hello`, api.CodeInvalid, everything},
		{"half", `{"type":"user"`, api.CodeInvalid, everything},
		{"two objects", `{"type":"keep_alive"}{"type":"keep_alive"}`, api.CodeInvalid, everything},
		{"null", `null`, api.CodeInvalid, everything},
		{"empty", ``, api.CodeInvalid, everything},
		{"no type", `{}`, api.CodeInvalid, everything},
		{"the CLI's own type", `{"type":"assistant","message":{}}`, api.CodeInvalid, everything},
		{"no role", `{"type":"user","message":{"content":"x"}}`, api.CodeInvalid, everything},
		{"a number for content", `{"type":"user","message":{"role":"user","content":5}}`, api.CodeInvalid, everything},
		{"no right to prompt", `{"type":"user","message":{"role":"user","content":"x"}}`, api.CodeForbidden, upTo(wire.ScopeObserve)},
		{"a tool's result", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}`, api.CodeForbidden, upTo(wire.ScopePrompt)},
		{"an answer to nothing", `{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{"behavior":"allow","updatedInput":{}}}}`, api.CodeNotFound, everything},
		{"an answer without an id", `{"type":"control_response","response":{"subtype":"success","response":{}}}`, api.CodeInvalid, everything},
		{"an answer without the right", `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{}}}}`, api.CodeForbidden, upTo(wire.ScopePrompt)},
		{
			"bypass without admin", `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]}}}`,
			api.CodeForbidden, upTo(wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove),
		},
		{
			"user settings without admin", `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"userSettings"}]}}}`,
			api.CodeForbidden, upTo(wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove),
		},
		{"neither yes nor no", `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"perhaps"}}}`, api.CodeInvalid, everything},
		{"environment without admin", `{"type":"update_environment_variables","variables":{"A":"b"}}`, api.CodeForbidden, upTo(wire.ScopePrompt, wire.ScopeApprove)},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := s.hub.Submit(s.ctx(), person, s.id, []byte(test.line), test.may)
			if answer != nil || code(err) != test.code {
				t.Errorf("got %s, %v; want the code %s", answer, err, test.code)
			}
		})
	}
	for _, test := range []struct{ name, line, want string }{
		{"a request without the right", `{"type":"control_request","request_id":"x","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}`, `admin`},
		{"an unknown request without the right", `{"type":"control_request","request_id":"x","request":{"subtype":"make_coffee"}}`, `admin`},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := s.hub.Submit(s.ctx(), person, s.id, []byte(test.line), upTo(wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove))
			if err != nil || !strings.Contains(string(answer), `"subtype":"error","request_id":"x"`) || !strings.Contains(string(answer), test.want) {
				t.Errorf("got %s, %v", answer, err)
			}
		})
	}
	if got := s.w.texts(); len(got) != before {
		t.Errorf("the CLI was sent %q", got[before:])
	}
	if n := len(s.snapshot(s.id).Questions); n != 1 {
		t.Errorf("%d questions are open, want 1", n)
	}
}

// TestSubmitAnswer answers questions by lines in the forms that front ends use. The
// first counts.
func TestSubmitAnswer(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	for i, test := range []struct{ ask, line, want string }{
		{askBash, `{"type":"control_response","request_id":"%s","permission":{"allow":true}}`, `"behavior":"allow","updatedInput":{"command":"make","description":"Builds it"}`},
		{askBash, `{"type":"control_response","response":{"request_id":"%s","subtype":"success","response":{"behavior":"allow","updatedInput":{"command":"make x"}}}}`, `"updatedInput":{"command":"make x"}`},
		{askBash, `{"type":"control_response","response":{"request_id":"%s","subtype":"success","response":{"behavior":"deny","message":"no","interrupt":true}}}`, `"behavior":"deny","message":"no","interrupt":true`},
		{askBash, `{"type":"control_response","response":{"request_id":"%s","subtype":"error","error":"broken"}}`, `"error":"broken"`},
		{askForm, `{"type":"control_response","response":{"request_id":"%s","subtype":"success","response":{"action":"accept","content":{"name":"Bo"}}}}`, `"content":{"name":"Bo"}`},
		{askDialog, `{"type":"control_response","response":{"request_id":"%s","subtype":"success","response":{"behavior":"completed","result":{"a":1}}}}`, `"result":{"a":1}`},
	} {
		id := fmt.Sprintf("r%d", i)
		q := s.asks(id, test.ask)
		if sessions, err := s.hub.Asked(s.ctx(), id); err != nil || len(sessions) != 1 || sessions[0] != s.id {
			t.Errorf("%s is asked by %q, %v", id, sessions, err)
		}
		line := fmt.Sprintf(test.line, id)
		if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(line), everything); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sent := s.w.texts()
		if got := sent[len(sent)-1]; !strings.Contains(got, test.want) || !strings.Contains(got, id) {
			t.Errorf("%s became %s, want %s", line, got, test.want)
		}
		if settled, err := s.hub.Question(s.ctx(), q.ID); err != nil || settled.State != api.QuestionAnswered || settled.By != "ada" || settled.Answer == nil || settled.Answer.Decision == "" {
			t.Errorf("the question is %s, %v", encode(settled), err)
		}
		if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(line), everything); code(err) != api.CodeAlreadySettled {
			t.Errorf("a second answer: %v", err)
		}
	}
	// A form's values have to fit.
	s.asks("form", askForm)
	if _, err := s.hub.Submit(s.ctx(), person, s.id, []byte(`{"type":"control_response","response":{"request_id":"form","subtype":"success","response":{"action":"accept","content":{"age":-1}}}}`), everything); code(err) != api.CodeInvalid {
		t.Errorf("a form that does not fit: %v", err)
	}
}

// TestSubmitRequest sends control requests under ids of the front end's own.
func TestSubmitRequest(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	submit := func(line string) string {
		t.Helper()
		answer, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(line), everything)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return string(answer)
	}
	if got := submit(`{"type":"control_request","request_id":"m1","request":{"subtype":"set_model","model":"claude-opus-4-6"}}`); !strings.Contains(got, `"subtype":"success","request_id":"m1"`) {
		t.Errorf("set_model: %s", got)
	}
	if got := l.snapshot(s.ID).Options.Model; got != "claude-opus-4-6" {
		t.Errorf("the next run would use the model %q", got)
	}
	if got := submit(`{"type":"control_request","request_id":"m2","request":{"subtype":"make_coffee"}}`); !strings.Contains(got, `"subtype":"error","request_id":"m2"`) {
		t.Errorf("an unknown request: %s", got)
	}
	l.send(s.ID, `@tool Bash {"command":"make"}`)
	l.awaitState(s.ID, api.StateRequiresAction)
	got := submit(`{"type":"control_request","request_id":"m3","request":{"subtype":"initialize","hooks":{}}}`)
	if !strings.Contains(got, `"request_id":"m3"`) || !strings.Contains(got, `"commands"`) || !strings.Contains(got, `"pending_permission_requests":[{"type":"control_request"`) {
		t.Errorf("a second initialize: %s", got)
	}
	if n := strings.Count(strings.Join(l.launcher.of(s.ID).commands(), "\n"), `"subtype":"initialize"`); n != 1 {
		t.Errorf("the CLI was initialized %d times", n)
	}
	if got := submit(`{"type":"control_request","request_id":"m4","request":{"subtype":"interrupt"}}`); !strings.Contains(got, `"subtype":"success","request_id":"m4"`) {
		t.Errorf("interrupt: %s", got)
	}
	l.awaitState(s.ID, api.StateIdle)
	if got := submit(`{"type":"keep_alive"}`); got != "" {
		t.Errorf("keep_alive: %s", got)
	}
	if id, err := l.hub.Resolve(l.ctx(), l.snapshot(s.ID).Conversation); err != nil || id != s.ID {
		t.Errorf("the conversation is of %q, %v", id, err)
	}
	if _, err := l.hub.Resolve(l.ctx(), "nobody"); code(err) != api.CodeNotFound {
		t.Errorf("an unknown id: %v", err)
	}
	l.judge(s.ID)
}

// TestSettingsKeepRules gives the CLI settings: the rules that it enforces go along.
func TestSettingsKeepRules(t *testing.T) {
	l := newLab(t, withFile(t, `deny = ["Bash(rm:*)"]`))
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	body, err := l.hub.Control(l.ctx(), person, s.ID, &wire.ApplyFlagSettingsRequest{Settings: []byte(`{"effortLevel":"high","permissions":{"deny":["WebFetch"],"allow":["Read"]}}`)})
	if err != nil {
		t.Fatalf("%s, %v", body, err)
	}
	commands := l.launcher.of(s.ID).commands()
	got := commands[len(commands)-1]
	for _, want := range []string{`"effortLevel":"high"`, `"WebFetch"`, `"allow":["Read"]`, `Bash(rm:*)`} {
		if !strings.Contains(got, want) {
			t.Errorf("the CLI was given %s, without %s", got, want)
		}
	}
	if _, err := l.hub.Control(l.ctx(), person, s.ID, &wire.ApplyFlagSettingsRequest{Settings: []byte(`{"permissions":null}`)}); err != nil {
		t.Errorf("settings taken back: %v", err)
	}
	for _, bad := range []string{`null`, `[]`, `{"permissions":5}`, `{"permissions":{"deny":"x"}}`} {
		if _, err := l.hub.Control(l.ctx(), person, s.ID, &wire.ApplyFlagSettingsRequest{Settings: []byte(bad)}); code(err) != api.CodeInvalid {
			t.Errorf("settings %s: %v", bad, err)
		}
	}
	if _, err := l.hub.Control(l.ctx(), person, s.ID, &wire.InitializeRequest{}); code(err) != api.CodeConflict {
		t.Errorf("initialize: %v", err)
	}
	if err := l.hub.Environment(l.ctx(), hub.Actor{Name: "bo"}, s.ID, map[string]string{"A": "b"}); code(err) != api.CodeForbidden {
		t.Errorf("an environment without the right: %v", err)
	}
}

// texts returns the lines that the CLI was sent.
func (d *dialler) texts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := make([]string, 0, len(d.sent))
	for _, c := range d.sent {
		lines = append(lines, string(c.Line))
	}
	return lines
}

// withFile has a hub keep to a rules file.
func withFile(t *testing.T, text string) func(*hub.Options) {
	t.Helper()
	return func(o *hub.Options) { o.Rules = newRules(t, text) }
}
