package transcript_test

import (
	"encoding/json"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// TestBrokenLine holds that a line which is not JSON is shown with what the hub could read
// of it.
func TestBrokenLine(t *testing.T) {
	for _, test := range []struct{ data, label string }{
		{``, "line"},
		{`{"broken":true,"length":12}`, "broken line"},
		{`{"broken":true,"length":12,"conversation":"sess_abc123","init":true}`, "broken line, init, session sess_abc123"},
		{`{"of":"tomorrow"}`, "line"},
		{`7`, "line"},
	} {
		var c transcript.Conversation
		c.Event(&api.Event{ID: "e:1", Kind: api.KindLine, Text: `{"type":"sys`, Data: json.RawMessage(test.data)})
		if c.Len() != 1 || c.Item(0).Kind != transcript.KindUnknown || c.Item(0).Label != test.label || c.Item(0).Text != `{"type":"sys` {
			t.Errorf("%s: %+v", test.data, c.Item(0))
		}
	}
}
