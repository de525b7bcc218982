package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
	"github.com/switchboard-dev/switchboard/wire"
)

// consoleGolden is read by the console's own test of the same: what it reads from these logs has to mean the same.
const consoleGolden = "../../web/src/talk/testdata/parity.json"

// consoleRecordings are the recordings that the console reads as well, from their own files.
const consoleRecordings = "2.1.325/"

// A consoleLog is a log with what is to be read from it.
type consoleLog struct {
	Name string `json:"name"`
	// Events are left out of recordings.
	Events []api.Event   `json:"events,omitempty"`
	Items  []consoleItem `json:"items"`
}

// A consoleItem is what an item says, whatever it looks like.
type consoleItem struct {
	Kind   string `json:"kind"`
	Label  string `json:"label,omitempty"`
	Tool   string `json:"tool,omitempty"` // its id
	Parent string `json:"parent,omitempty"`
	Author string `json:"author,omitempty"`
	Text   string `json:"text,omitempty"`
	Name   string `json:"name,omitempty"`
	Title  string `json:"title,omitempty"`
	State  string `json:"state,omitempty"`
	Level  string `json:"level,omitempty"`
	Denied string `json:"denied,omitempty"`
	Task   string `json:"task,omitempty"`
	USD    string `json:"usd,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Refusals are those of a tool call. One that belongs to none is an item of its own.
	Refusals []api.SandboxRefusal `json:"refusals,omitempty"`
}

var (
	consoleKinds  = []string{"unknown", "prompt", "text", "thinking", "tool", "question", "turn", "notice", "notice", "refusal"}
	consoleStates = []string{"running", "done", "failed", "denied", "stopped"}
	consoleLevels = []string{"info", "warn", "bad"}
)

func forConsole(c *transcript.Conversation) []consoleItem {
	out := []consoleItem{}
	for i := range c.Len() {
		it := c.Item(i)
		if r := it.Refusal; r != nil {
			// The console shows it in the card of its call.
			if k := slices.IndexFunc(out, func(o consoleItem) bool { return o.Kind == "tool" && o.Tool == r.ToolUseID }); k >= 0 {
				out[k].Refusals = append(out[k].Refusals, *r)
			} else {
				out = append(out, consoleItem{Kind: consoleKinds[it.Kind], Refusals: []api.SandboxRefusal{*r}})
			}
			continue
		}
		item := consoleItem{Kind: consoleKinds[it.Kind], Label: it.Label, Parent: it.Parent, Author: it.Author, Text: it.Text, Failed: it.Failed}
		switch it.Kind { //nolint:exhaustive // the others have no more
		case transcript.KindTool:
			item.Text, item.Tool, item.Name, item.Title = it.Tool.Output, it.Tool.ID, it.Tool.Name, it.Tool.Title
			item.State, item.Denied = consoleStates[it.Tool.State], it.Tool.Denied
			if it.Tool.Task != nil {
				item.Task = it.Tool.Task.ID
			}
		case transcript.KindPrompt:
			if it.Message != nil {
				item.State = string(it.Message.State)
			}
		case transcript.KindQuestion:
			item.Text, item.State = it.Question.ID, string(it.Question.State)
		case transcript.KindResult:
			item.State, item.Author = it.Result.Subtype, "" // who interrupted it stands elsewhere there
			if usd, err := json.Marshal(it.Result.USD); it.Result.Known && err == nil {
				item.USD = string(usd)
			}
		case transcript.KindNotice, transcript.KindState:
			item.Level = consoleLevels[it.Level]
		}
		out = append(out, item)
	}
	return out
}

// TestConsole holds that the console's golden file says what this package reads from the same events. With -update it writes the file.
func TestConsole(t *testing.T) {
	logs := []consoleLog{{Name: "whole", Events: logtest.Whole()}, {Name: "every line", Events: everyLine(t)}}
	recorded := logtest.Recordings(t)
	paths, err := filepath.Glob("../../wire/fold/testdata/recordings/" + consoleRecordings + "*.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		logs = append(logs, consoleLog{Name: consoleRecordings + filepath.Base(path)})
	}
	for i := range logs {
		events := logs[i].Events
		if events == nil {
			events = recorded[logs[i].Name]
		}
		logs[i].Items = forConsole(logtest.Read(events))
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(logs); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(consoleGolden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(consoleGolden)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("what the console is tested with is another (write it with -update, -want +got):\n%s", diff)
	}
}

// everyLine is a log with a line of every type, as the simulated agent writes them on demand.
func everyLine(t *testing.T) []api.Event {
	t.Helper()
	text, err := os.ReadFile("../../claude/claudetest/every.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var s logtest.Script
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.ReplaceAll(line, []byte(`"uuid":"UUID"`), []byte(fmt.Sprintf(`"uuid":"every%d"`, len(s.Events))))
		if header, err := wire.Peek(line); err == nil && wire.ClassOf(header) == wire.Live {
			s.Events = append(s.Events, api.Event{Session: "s1", Run: 1, Kind: api.KindLive, Line: line, Time: logtest.Noon})
			continue
		}
		s.Line("%s", line)
	}
	return s.Events
}
