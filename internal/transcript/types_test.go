package transcript_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// silent are the messages that make no item of their own, with why.
var silent = map[string]string{
	"stream_event":                    "pieces of a message, shown while it is written",
	"tool_progress":                   "changes the tool's item",
	"system/init":                     "the state, and notices of servers that can't be used",
	"system/status":                   "the state",
	"system/session_state_changed":    "the hub tells the state",
	"system/commands_changed":         "for the composer",
	"system/background_tasks_changed": "the state",
	"system/thinking_tokens":          "the state",
	"control_request":                 "the hub tells of questions",
	"control_response":                "not for people",
	"control_cancel_request":          "the hub tells of questions",
	"keep_alive":                      "not for people",
	"update_environment_variables":    "not for people",
}

// TestEveryType holds that there is an item for every message that wire knows, or a reason why not. It reads the types from wire's own source,
// so one that is added there has to be decided about here.
func TestEveryType(t *testing.T) {
	source, err := os.ReadFile("../../wire/zz_messages.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`MessageType\(\) \(typ, subtype string\) \{\s*return "([a-z_]*)", ("([a-z_]*)"|string\(v\.Subtype\))`).FindAllSubmatch(source, -1)
	if len(found) < 45 {
		t.Fatalf("only %d types found in wire", len(found))
	}
	var names []string
	for _, match := range found {
		name := string(match[1])
		if sub := string(match[3]); sub != "" {
			name += "/" + sub
		}
		names = append(names, name)
		line := `{"type":"` + string(match[1]) + `","uuid":"x"`
		if sub := string(match[3]); sub != "" {
			line += `,"subtype":"` + sub + `"`
		}
		line += "}"
		if sample, ok := logtest.Samples[name]; ok {
			line = sample
		}
		var c transcript.Conversation
		c.Event(&api.Event{ID: "e:1", Kind: api.KindLine, Line: json.RawMessage(line)})
		_, quiet := silent[name]
		switch {
		case quiet && c.Len() > 0:
			t.Errorf("%s: %d items, although it is said to make none", name, c.Len())
		case !quiet && c.Len() == 0:
			t.Errorf("%s: no item, and no reason why", name)
		case !quiet && c.Item(0).Kind == transcript.KindUnknown:
			t.Errorf("%s: shown as unknown", name)
		}
	}
	for name := range silent {
		if !slices.Contains(names, name) {
			t.Errorf("%s is said to make no item, and wire does not know it", name)
		}
	}
}

// TestEveryKind holds the same of the events of the hub.
func TestEveryKind(t *testing.T) {
	none := map[string]bool{
		api.KindState: true, api.KindUpdated: true, api.KindLinkUp: true, api.KindLinkLost: true, api.KindCommand: true, api.KindSent: true, api.KindLive: true,
	}
	var source []byte
	files, err := os.ReadDir("../../api")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile("../../api/" + f.Name()); err == nil {
			source = append(source, text...)
		}
	}
	found := regexp.MustCompile(`\bKind[A-Za-z]+ +(?:string )?= "([a-z_]+)"`).FindAllSubmatch(source, -1)
	if len(found) < 25 {
		t.Fatalf("only %d kinds found", len(found))
	}
	for _, match := range found {
		kind := string(match[1])
		e := api.Event{ID: "e:1", Kind: kind, Data: json.RawMessage(`{"id":"x","state":"sent","text":"hello"}`), Line: json.RawMessage(logtest.Samples["user"])}
		var c transcript.Conversation
		c.Event(&e)
		switch {
		case none[kind] && kind != api.KindSent && kind != api.KindLive && c.Len() > 0:
			t.Errorf("%s: %d items", kind, c.Len())
		case !none[kind] && c.Len() == 0:
			t.Errorf("%s: no item", kind)
		case !none[kind] && c.Item(0).Kind == transcript.KindUnknown:
			t.Errorf("%s: shown as unknown: %s", kind, c.Item(0).Text)
		}
	}
}
