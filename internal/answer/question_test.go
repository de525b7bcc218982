package answer

import (
	"encoding/json"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// What a CLI suggests may be anything, and must not end the hub.
func TestSuggestionThatIsNull(t *testing.T) {
	q := Question(journal.Question{Kind: "permission", Ask: json.RawMessage(
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t",` +
			`"permission_suggestions":[null,{"type":"setMode","mode":"plan","destination":"session"}]}}`)})
	if len(q.Suggestions) != 2 || q.Suggestions[1].Text != "switch to mode plan" {
		t.Fatalf("suggestions are %+v", q.Suggestions)
	}
	if _, err := json.Marshal(q); err != nil {
		t.Error(err)
	}
}
