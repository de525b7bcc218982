package hub

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestManyAnswersUnderWay has more answers under way at once than are remembered as a
// rule: of each it gets known that it has arrived, and few are remembered then.
func TestManyAnswersUnderWay(t *testing.T) {
	const many = 3 * maxRecent
	p := &projection{Run: 2}
	answered := func(n, run int) journal.Question {
		return journal.Question{
			ID: fmt.Sprint("q", n), RequestID: fmt.Sprint("r", n), Run: run, State: string(api.QuestionAnswered),
			Data: []byte(`{"answer":{"decision":"allow"},"delivery":"sent"}`),
		}
	}
	p.remember(answered(-1, 1)) // that of a run that has ended does not arrive any more
	for n := range many {
		p.remember(answered(n, 2))
	}
	if len(p.Recent) != many {
		t.Errorf("%d are remembered, want the %d that are under way", len(p.Recent), many)
	}
	var c changes
	for n := range many {
		p.delivered(fmt.Sprint("r", n), api.MessageWritten, &c)
	}
	for n := range many {
		q := c.questions[fmt.Sprint("q", n)]
		if d := answer.DataOf(&q); d.Delivery != api.MessageWritten {
			t.Fatalf("the answer to question %d of %d is %q", n+1, many, d.Delivery)
		}
	}
	p.remember(answered(many, 2))
	if len(p.Recent) != maxRecent || p.Recent[maxRecent-1].ID != fmt.Sprint("q", many) {
		t.Errorf("%d are remembered, want the last %d", len(p.Recent), maxRecent)
	}
	// There is a bound for those as well.
	p.Recent = nil
	for n := range maxUnderWay {
		p.Recent = append(p.Recent, answered(n, 2))
	}
	p.remember(answered(-2, 2))
	if len(p.Recent) != maxUnderWay || p.Recent[0].ID != "q1" {
		t.Errorf("%d are remembered, want at most %d", len(p.Recent), maxUnderWay)
	}
}

// TestStoredProjection reads a projection as it was stored before its members were grouped, and
// stores it again: the form is the same, so that an older hub can read it, too.
func TestStoredProjection(t *testing.T) {
	const stored = `{"id":"s1","epoch":"e","seq":9,"form":1,"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","run":2,
		"state":{"queue":{},"questions":{}},"costs":{},
		"commands":[{"Session":"s1","ID":"m1","Kind":"prompt","State":"queued","Order":3}],"order":3,
		"questions":[{"ID":"q1","Session":"s1","Run":2,"RequestID":"r1","Kind":"permission","State":"open"}],
		"recent":[{"ID":"q2","Session":"s1","Run":2,"RequestID":"r2","Kind":"plan","State":"answered"}],
		"rules":[{"id":"u1","rule":"Bash","decision":"ask"}],"enforced":{"deny":["Bash"]},
		"intent":{"question":"q2","prompt":"go on","mode":"default","since":"2026-01-02T03:04:05Z"},"outline":{"clicks":1},
		"direct":true,"registration":{"type":"control_request"},"foreign":[{"request_id":"r3","subtype":"mcp_message"}]}`
	var p projection
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		t.Fatal(err)
	}
	row, open := p.asked("r1")
	next, waits := p.nextPrompt()
	if !open || row.ID != "q1" || p.recent("r2") == nil || !waits || next.ID != "m1" || p.Order != 3 || len(p.Rules) != 1 || p.Enforced.Deny[0] != "Bash" ||
		p.Intent.Prompt != "go on" || p.Outline.Clicks != 1 || !p.Direct || p.Registration == nil || p.foreign("r3") == nil {
		t.Errorf("it was read as %+v", p)
	}
	again, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var before, after map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stored), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &after); err != nil {
		t.Fatal(err)
	}
	names := func(m map[string]json.RawMessage) map[string]bool {
		all := map[string]bool{}
		for name := range m {
			all[name] = true
		}
		return all
	}
	if diff := cmp.Diff(names(before), names(after)); diff != "" {
		t.Errorf("it is stored with other members:\n%s", diff)
	}
}
