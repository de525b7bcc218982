package talk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// rows returns what a conversation looks like, a line for each item.
func rows(events []api.Event) []string {
	c := logtest.Read(events)
	look := &talk.Look{Styles: paint.Profile{}.Styles(), Width: 100}
	var list []string
	for i := range c.Len() {
		list = append(list, strings.Join(look.Lines(c.Item(i)), "\n"))
	}
	return list
}

// TestOneRowForAnInterrupt holds that the end of the turn tells of an interrupt, and by whom; that a message was cancelled says nothing.
func TestOneRowForAnInterrupt(t *testing.T) {
	var s logtest.Script
	s.Add(api.Event{Kind: api.KindSent, By: "ann", Line: []byte(`{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)})
	s.Line(`{"type":"user","uuid":"u1","message":{"role":"user","content":"[Request interrupted by user]"}}`)
	s.Line(`{"type":"command_lifecycle","uuid":"c1","command_uuid":"p1","state":"cancelled"}`)
	s.Line(`{"type":"result","uuid":"x1","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","duration_ms":2000,"num_turns":1}`)
	got := rows(s.Events)
	if len(got) != 1 || !strings.Contains(got[0], "interrupted by ann in 2s") {
		t.Errorf("%q", got)
	}
}

// TestOneRowForRetries holds that one row says how far the attempts to repeat a request have come, also if they are read page by page.
func TestOneRowForRetries(t *testing.T) {
	var s logtest.Script
	for i := range 10 {
		s.Line(`{"type":"system","subtype":"api_retry","uuid":"y%d","attempt":%d,"max_retries":10,"error":"server_error","error_status":500,"retry_delay_ms":100}`, i, i+1)
	}
	s.Line(`{"type":"system","subtype":"api_retry","uuid":"z","attempt":1,"max_retries":10,"error":"overloaded","retry_delay_ms":100}`)
	got := rows(s.Events)
	if len(got) != 2 || !strings.Contains(got[0], "API error (server_error, 500); retry 10 of 10") || !strings.Contains(got[1], "overloaded") {
		t.Errorf("%q", got)
	}
	for cut := range s.Events {
		c := logtest.Read(s.Events[cut:])
		c.Prepend(s.Events[:cut])
		if c.Len() != 2 {
			t.Errorf("read from %d on, and then what is before: %d items", cut, c.Len())
		}
	}
}

// TestToolTimeWithoutWaiting holds that a tool is not said to take the time in which somebody was asked about it.
func TestToolTimeWithoutWaiting(t *testing.T) {
	var s logtest.Script
	s.Call("t1", "Bash", `{"command":"make"}`, "")
	called := s.Events[0].Time
	asked := func(state string, settled time.Duration) map[string]any {
		q := map[string]any{"id": "q1", "kind": "permission", "state": state, "tool": "Bash", "tool_use_id": "t1", "request": map[string]any{}, "opened": called.Add(time.Second)}
		if settled > 0 {
			q["settled"], q["by"], q["answer"] = called.Add(settled), "ann", map[string]any{"decision": "allow"}
		}
		return q
	}
	s.Hub(api.KindQuestionOpened, asked("open", 0))
	look := &talk.Look{Styles: paint.Profile{}.Styles(), Width: 100, Now: called.Add(58 * time.Second)}
	if line := look.Lines(logtest.Read(s.Events).Item(0))[0]; !strings.Contains(line, "waiting for an answer") || strings.Contains(line, "57s") || strings.Contains(line, "58s") {
		t.Errorf("while it is asked about: %s", line)
	}
	s.Hub(api.KindQuestionSettled, asked("answered", 58*time.Second))
	s.Gave("t1", "done", false, "")
	s.Events[len(s.Events)-1].Time = called.Add(61 * time.Second)
	if line := look.Lines(logtest.Read(s.Events).Item(0))[0]; !strings.Contains(line, "4s") || strings.Contains(line, "1m") {
		t.Errorf("it took: %s", line)
	}
}

// TestFailureShowsItsLines holds that of a command that failed one sees more than that it did.
func TestFailureShowsItsLines(t *testing.T) {
	var s logtest.Script
	s.Call("t1", "Bash", `{"command":"make"}`, "")
	text := "Exit code 2"
	for i := range 14 {
		text += fmt.Sprintf("\nline %d", i)
	}
	s.Gave("t1", text, true, "")
	got := rows(s.Events)[0]
	if strings.Contains(got, "more line") || strings.Contains(got, "line 3\n") || !strings.Contains(got, "(4 lines before)") || !strings.Contains(got, "line 13") {
		t.Errorf("%s", got)
	}
}

// TestFinishedEditIsWhatWasAsked holds that a change that was made is shown with the same lines as before it was allowed.
func TestFinishedEditIsWhatWasAsked(t *testing.T) {
	patch := `[{"oldStart":1,"newStart":1,"lines":["-a","-b","-c","+a","+B","+c"]}]`
	if added, removed, ok := paint.PatchSize([]byte(patch)); !ok || added != 1 || removed != 1 {
		t.Errorf("+%d -%d, %t", added, removed, ok)
	}
	lines, ok := paint.Profile{}.Styles().Hunks([]byte(patch), paint.DiffOptions{})
	if got := strings.Join(lines, "\n"); !ok || got != "+1 -1\n1   a\n2 - b\n2 + B\n3   c" {
		t.Errorf("%s", got)
	}
}
