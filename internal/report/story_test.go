package report_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A recorded is a journal with one session, of which all entries are there.
type recorded struct {
	journal.Journal
	entries []journal.Entry
}

// record returns a journal of events.
func record(events []api.Event) *recorded {
	r := &recorded{}
	for _, e := range events {
		r.entries = append(r.entries, journal.Entry{
			Session: "s1", Seq: e.Seq, Run: e.Run, Time: e.Time, Source: journal.SourceAgent, By: e.By, Kind: e.Kind, Line: e.Line, Data: e.Data,
		})
	}
	return r
}

func (r *recorded) Session(context.Context, string) (*journal.Session, error) {
	return &journal.Session{ID: "s1", Epoch: "e1", Seq: int64(len(r.entries)), State: "idle", Title: "A log", Created: logtest.Noon}, nil
}

func (r *recorded) Turns(context.Context, string) ([]journal.Turn, error) { return nil, nil }

func (r *recorded) Entries(_ context.Context, _ string, after int64, limit int, _ int64) ([]journal.Entry, error) {
	return r.entries[after:min(len(r.entries), int(after)+limit)], nil
}

// TestWhole compares what is told of a log with something of everything with golden files, and the timeline in pages with the whole.
func TestWhole(t *testing.T) {
	var script logtest.Script
	for _, e := range logtest.Whole() {
		// A hub tells that a message is queued and that it is written; between them there is the line that was sent.
		if e.Kind != api.KindMessage || !bytes.Contains(e.Data, []byte(`"state":"sent"`)) {
			script.Add(e)
		}
	}
	script.Add(api.Event{Kind: api.KindHistory, Line: []byte(`{"type":"user","uuid":"h1","message":{"role":"user","content":"<command-name>/init</command-name><command-args>all</command-args>"}}`)})
	script.Hub(api.KindRunStarted, map[string]any{"run": 2, "transport": "shim", "resume": "c"})
	script.Add(api.Event{Kind: api.KindSent, By: "bob", Line: []byte(`{"type":"user","uuid":"p4","message":{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]}}`)})
	script.Call("last", "Bash", `{"command":"sleep 1000"}`, "")
	script.Add(api.Event{Kind: api.KindSent, By: "ann", Line: []byte(`{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}`)})
	script.Gave("last", "[Request interrupted by user for tool use]", true, "")
	script.Line(`{"type":"user","uuid":"x","message":{"role":"user","content":"[Request interrupted by user]"}}`)
	script.Line(`{"type":"result","subtype":"error_during_execution","uuid":"res3","is_error":true,"errors":["[ede_diagnostic] x","aborted"],"duration_ms":1500,"num_turns":1,"total_cost_usd":0.06}`)
	script.Hub(api.KindGap, api.Gap{Reason: "the link was slow"})
	script.Hub(api.KindTurn, api.TurnChange{State: "unknown", Reason: "its end was lost"})
	script.Hub(api.KindNotice, api.Notice{Text: "a *notice*: one"})
	script.Hub(api.KindRunEnded, api.Ended{Reason: "it crashed", Code: new(3), Stderr: "out of memory", Unfinished: true})
	reports := report.New(report.Options{Journal: record(script.Events)})

	whole, err := reports.Timeline(t.Context(), "s1", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, i := range whole.Items {
		fmt.Fprintf(&lines, "%d %s: %s", i.Seq, i.Kind, i.Title)
		if i.By != "" {
			fmt.Fprintf(&lines, " (%s)", i.By)
		}
		if i.Millis > 0 {
			fmt.Fprintf(&lines, ", %d ms", i.Millis)
		}
		if i.Failed {
			lines.WriteString(", failed")
		}
		lines.WriteString("\n")
	}
	golden(t, "timeline.txt", lines.String())
	for limit := 1; limit < 20; limit += 3 {
		var items []api.TimelineItem
		for after, more := "", true; more; {
			page, err := reports.Timeline(t.Context(), "s1", after, limit)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, page.Items...)
			after, more = page.Next, page.More
		}
		if diff := cmp.Diff(whole.Items, items); diff != "" {
			t.Errorf("in pages of %d (-whole +paged):\n%s", limit, diff)
		}
	}

	var out bytes.Buffer
	if err := reports.Export(t.Context(), "s1", "markdown", &out); err != nil {
		t.Fatal(err)
	}
	golden(t, "export.md", out.String())
}

// golden compares a text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if that is meant, run: go test ./internal/report -update\n%s", name, diff)
	}
}
