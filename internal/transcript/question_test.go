package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// TestLongQuestion holds that a question that can be answered is whole, however long it is: who allows a command must have been able to
// see it. When it is settled its text is not kept.
func TestLongQuestion(t *testing.T) {
	q := api.Question{ID: "q1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", Request: json.RawMessage(
		`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":` + logtest.Quoted(strings.Repeat("echo a lot; ", 1<<18)+"rm -rf x") + `}}`)}
	var s logtest.Script
	s.Hub(api.KindQuestionOpened, q)
	var c transcript.Conversation
	c.Event(&s.Events[0])
	if got := c.Question("q1"); got == nil || !strings.Contains(string(got.Request), "rm -rf x") {
		t.Fatal("the end of the command is lost")
	}
	q.State, q.Answer = api.QuestionAnswered, &api.Answer{Decision: "deny"}
	s.Hub(api.KindQuestionSettled, q)
	c.Event(&s.Events[1])
	if got := c.Question("q1"); got == nil || got.State != api.QuestionAnswered || len(got.Request) > 1<<20 {
		t.Errorf("it is settled, and %d bytes are kept", len(got.Request))
	}
}
