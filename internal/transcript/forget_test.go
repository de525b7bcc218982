package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// told returns what an event tells a reader that looks at each item once: what is said, calls and their results, questions and their answers,
// ends of turns.
func told(t *testing.T, c *transcript.Conversation, e *api.Event) []string {
	t.Helper()
	changed := c.Event(e)
	at := changed.Items
	for i := c.Len() - changed.Appended; i < c.Len(); i++ {
		at = append(at, i)
	}
	out := []string{}
	for _, i := range at {
		it := *c.Item(i)
		it.Depth = 0 // only what goes on is known of the agents above it
		if it.Kind == transcript.KindRefusal {
			it.Parent = ""
		}
		begun := it.Event == e.ID
		switch it.Kind {
		case transcript.KindTool:
			if !begun && !it.Tool.Ended.Equal(e.Time) {
				continue
			}
			tool := *it.Tool
			tool.Children, tool.Task, tool.Progress = 0, nil, ""
			it.Tool = &tool
		case transcript.KindQuestion:
		case transcript.KindPrompt, transcript.KindText, transcript.KindThinking, transcript.KindResult, transcript.KindState, transcript.KindRefusal:
			if !begun || strings.HasPrefix(it.ID, "run:") { // of a run it is told again when it has started
				continue
			}
		case transcript.KindNotice, transcript.KindUnknown:
			continue
		}
		raw, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

// TestForget holds that a reader that forgets after each event is told what one is that keeps everything, and the same state.
func TestForget(t *testing.T) {
	logs := logtest.Recordings(t)
	logs["whole"] = logtest.Whole()
	for name, events := range logs {
		t.Run(name, func(t *testing.T) {
			var all, few transcript.Conversation
			most := 0
			events := logtest.Durable(events)
			for i := range events {
				want, got := told(t, &all, &events[i]), told(t, &few, &events[i])
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("event %d, %s %s (-all, +forgetting):\n%s", i, events[i].Kind, events[i].Line, diff)
				}
				if all.Interrupted() != few.Interrupted() {
					t.Fatalf("event %d: the turn is interrupted: %t and %t", i, all.Interrupted(), few.Interrupted())
				}
				few.Forget()
				if diff := cmp.Diff(stateText(t, &all), stateText(t, &few)); diff != "" {
					t.Fatalf("state after event %d, %s (-all, +forgetting):\n%s", i, events[i].Kind, diff)
				}
				most = max(most, few.Len())
			}
			if most > 10 {
				t.Errorf("up to %d of %d items were kept", most, all.Len())
			}
		})
	}
}

// TestForgetPrompt holds that a prompt is told once, whatever becomes of it.
func TestForgetPrompt(t *testing.T) {
	line := json.RawMessage(`{"type":"user","uuid":"p","message":{"role":"user","content":"hello"}}`)
	var s logtest.Script
	s.Hub(api.KindMessage, api.Message{ID: "m", UUID: "p", Text: "hello", State: api.MessageQueued})
	s.Add(api.Event{Kind: api.KindSent, Line: line})
	s.Add(api.Event{Kind: api.KindSent, Line: line})
	s.Hub(api.KindMessage, api.Message{ID: "m", UUID: "p", State: api.MessageWritten})
	s.Add(api.Event{Kind: api.KindLine, Line: line})
	var c transcript.Conversation
	appended := 0
	for i := range s.Events {
		appended += c.Event(&s.Events[i]).Appended
		c.Forget()
	}
	if appended != 1 || c.Len() != 0 || len(c.State().Queued) != 0 {
		t.Errorf("%d prompts were told, %d are kept", appended, c.Len())
	}
}
