package history

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad: whatever stands in a transcript, what is loaded is a conversation that the API takes, and it can be continued and forked.
func FuzzLoad(f *testing.F) {
	for i, version := range versions() {
		w := newWorld(f, version)
		w.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
		everything(w)
		f.Add(uint8(i), []byte(w.read(w.process(), first)))
		f.Add(uint8(i), []byte(w.read(w.process(), second)))
	}
	f.Add(uint8(0), []byte(`{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"x"}}`+"\n"+`{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"y"}}`))
	f.Add(uint8(1), []byte(`{"type":"assistant","uuid":"a","parentUuid":"a","message":{"content":[{"type":"tool_use","id":"1"},null,5,{}]}}`))
	f.Add(uint8(2), []byte(`{"type":"user","uuid":"a","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}`))
	f.Fuzz(func(t *testing.T, generation uint8, data []byte) {
		w := newWorld(t, versions()[int(generation)%len(versions())])
		s := w.process()
		path, err := s.Path(first)
		w.must(err)
		w.mkdir(filepath.Dir(path))
		w.must(os.WriteFile(path, data, 0o600))
		c, err := s.Load(first)
		if err != nil {
			return
		}
		checkConversation(t, c)
		_, err = s.Fork(c, second)
		w.must(err)
		w.must(s.Continue(c))
		before := dialogue(c)
		for _, id := range []string{first, second} {
			w.say(s, id, "next", "done")
			again := w.load(w.process(), id)
			checkConversation(t, again)
			got := dialogue(again)
			if n := len(got); n < 2 || got[n-1] != "a: done" {
				t.Errorf("session %s ends with %q", id, got)
			}
			if want := append(slices.Clip(before), "u: next", "a: done"); clean(data) && !cmp.Equal(spoken(got), spoken(want)) {
				t.Errorf("session %s went on differently: %q, before it was %q", id, got, before)
			}
		}
	})
}

// spoken returns a dialogue without the space that an empty text takes: it says nothing, and is not kept when the conversation is written again.
func spoken(dialogue []string) []string {
	out := make([]string, 0, len(dialogue))
	for _, line := range dialogue {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

// clean reports whether a transcript is one that a CLI could have written: every line is JSON and names a line before it.
func clean(data []byte) bool {
	seen := map[string]bool{"": true}
	for line := range bytes.Lines(data) {
		r, err := parse(bytes.TrimSpace(line))
		if err != nil || r.linked() && (seen[r.UUID] || !seen[r.ParentUUID]) {
			return false
		}
		if r.linked() {
			seen[r.UUID] = true
		}
	}
	return true
}

// checkConversation checks what the API checks: the roles alternate, no message is empty, and calls and results belong together.
func checkConversation(t *testing.T, c *Conversation) {
	t.Helper()
	calls, results := map[string]bool{}, map[string]bool{}
	for i, m := range c.Messages {
		if !json.Valid(m.Content) {
			t.Fatalf("message %d is no JSON: %s", i, m.Content)
		}
		if i > 0 && c.Messages[i-1].Role == m.Role {
			t.Errorf("message %d has the role of the one before", i)
		}
		blocks := blocksOf(m.Content)
		if len(blocks) == 0 || len(m.UUIDs) == 0 {
			t.Errorf("message %d is empty", i)
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				calls[b.ID] = true
			case "tool_result":
				results[b.ToolUseID] = true
			}
		}
	}
	if diff := cmp.Diff(calls, results); diff != "" {
		t.Errorf("calls and results do not belong together (-calls +results):\n%s", diff)
	}
}
