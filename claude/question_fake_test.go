package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/wire"
)

// askingSession returns a session with a CLI that says what the test says, inside a
// bubble. The CLI has answered the initialize request, which is returned too.
func askingSession(t *testing.T, version string, o *Options) (*fakeTransport, *Session, string) {
	t.Helper()
	f := newFakeTransport()
	f.Set(StateConnected)
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	copied := Options{}
	if o != nil {
		copied = *o
	}
	copied.CLI = &CLI{Version: v}
	if copied.Logger == nil {
		copied.Logger = quietly()
	}
	first := make(chan string, 1)
	go func() {
		select {
		case line := <-f.heard:
			first <- line
			f.answer(line, `{"commands":[],"output_style":"default","available_output_styles":[],"models":[],"account":{},"hook_on_failure_supported":true}`)
		case <-f.done: // it was refused before
			first <- ""
		}
	}()
	s, err := NewSession(t.Context(), f, &copied)
	if err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return f, s, <-first
}

// answer answers a request with a body.
func (f *fakeTransport) answer(line, body string) {
	h, err := wire.Peek([]byte(line))
	if err != nil {
		panic(err)
	}
	f.say <- fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, h.RequestID, body)
}

// asks makes the CLI ask something.
func (f *fakeTransport) asks(id, body string) {
	f.say <- fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, body)
}

func (f *fakeTransport) withdraws(id string) {
	f.say <- fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, id)
}

const (
	askBash   = `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch one"},"tool_use_id":"toolu_1","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*","later":1}],"behavior":"allow","destination":"localSettings"}]}`
	askChoice = `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which?","header":"One","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":false},{"question":"Many?","header":"Many","options":[{"label":"C","description":"c"},{"label":"D","description":"d"}],"multiSelect":true}]},"tool_use_id":"toolu_2"}`
	askPlan   = `{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"1. Do it.","planFilePath":"/plans/one.md","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]},"tool_use_id":"toolu_3"}`
	askForm   = `{"subtype":"elicitation","mcp_server_name":"forms","message":"Your name?","mode":"form","requested_schema":{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":5},"age":{"type":"integer","minimum":1,"maximum":150},"size":{"type":"string","enum":["S","M"]},"kind":{"type":"string","oneOf":[{"const":"x","title":"X"}]},"sure":{"type":"boolean"},"days":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["mon","tue"]}}},"required":["name"]}}`
	askPage   = `{"subtype":"elicitation","mcp_server_name":"forms","message":"Log in","mode":"url","url":"https://example.com/"}`
	askDialog = `{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{"title":"Pick one"}}`
)

// answerBody returns the body of an answer, after a look at its envelope.
func answerBody(t *testing.T, line, id string) string {
	t.Helper()
	var m struct {
		Type     string
		Response struct {
			Subtype   string
			RequestID string `json:"request_id"`
			Response  json.RawMessage
			Error     string
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != "control_response" || m.Response.RequestID != id {
		t.Fatalf("expected an answer to %s, got %s", id, line)
	}
	if m.Response.Subtype == "error" {
		return "error: " + m.Response.Error
	}
	return string(m.Response.Response)
}

// expectAnswer fails if the next line is not that answer.
func (f *fakeTransport) expectAnswer(t *testing.T, id, want string) {
	t.Helper()
	if got := answerBody(t, f.next(t), id); got != want {
		t.Fatalf("answer to %s:\ngot  %s\nwant %s", id, got, want)
	}
}

// bubble runs a test in one.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// wantPart fails if a text is not part of another.
func wantPart(t *testing.T, s, part string) {
	t.Helper()
	if !strings.Contains(s, part) {
		t.Fatalf("%q is not in %s", part, s)
	}
}

// only returns the question that is open.
func only(t *testing.T, s *Session) Question {
	t.Helper()
	synctest.Wait()
	open := s.Pending()
	if len(open) != 1 {
		t.Fatalf("%d questions are open, want 1", len(open))
	}
	return open[0]
}

// handed returns a handler that hands its questions to the test, which answers.
func handed() (QuestionHandler, <-chan handedQuestion) {
	out := make(chan handedQuestion)
	return func(ctx context.Context, q Question) (Reply, error) {
		h := handedQuestion{ctx, q, make(chan func() (Reply, error))}
		select {
		case out <- h:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		select {
		case f := <-h.answer:
			return f()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}, out
}

type handedQuestion struct {
	ctx    context.Context
	q      Question
	answer chan func() (Reply, error)
}

func (h handedQuestion) reply(r Reply, err error) {
	h.answer <- func() (Reply, error) { return r, err }
}
