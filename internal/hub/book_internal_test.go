package hub

import (
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestManyAnswersUnderWay has more answers under way at once than are remembered as a
// rule: of each it gets known that it has arrived, and few are remembered then.
func TestManyAnswersUnderWay(t *testing.T) {
	const many = 3 * maxRecent
	b := &book{Run: 2}
	answered := func(n, run int) journal.Question {
		return journal.Question{
			ID: fmt.Sprint("q", n), RequestID: fmt.Sprint("r", n), Run: run, State: string(api.QuestionAnswered),
			Data: []byte(`{"answer":{"decision":"allow"},"delivery":"sent"}`),
		}
	}
	b.remember(answered(-1, 1)) // that of a run that has ended does not arrive any more
	for n := range many {
		b.remember(answered(n, 2))
	}
	if len(b.Recent) != many {
		t.Errorf("%d are remembered, want the %d that are under way", len(b.Recent), many)
	}
	var c changes
	for n := range many {
		b.delivered(fmt.Sprint("r", n), api.MessageWritten, &c)
	}
	for n := range many {
		q := c.questions[fmt.Sprint("q", n)]
		if d := answer.DataOf(&q); d.Delivery != api.MessageWritten {
			t.Fatalf("the answer to question %d of %d is %q", n+1, many, d.Delivery)
		}
	}
	b.remember(answered(many, 2))
	if len(b.Recent) != maxRecent || b.Recent[maxRecent-1].ID != fmt.Sprint("q", many) {
		t.Errorf("%d are remembered, want the last %d", len(b.Recent), maxRecent)
	}
	// There is a bound for those as well.
	b.Recent = nil
	for n := range maxUnderWay {
		b.Recent = append(b.Recent, answered(n, 2))
	}
	b.remember(answered(-2, 2))
	if len(b.Recent) != maxUnderWay || b.Recent[0].ID != "q1" {
		t.Errorf("%d are remembered, want at most %d", len(b.Recent), maxUnderWay)
	}
}
