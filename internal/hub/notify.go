package hub

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// The kinds of notifications.
const (
	notifyNeedsInput = "needs_input"
	notifyDone       = "done"
	notifyFailed     = "failed"
	notifyLimit      = "limit"
)

// A Notification tells a person who does not watch that a session wants
// something.
type Notification struct {
	// Kind is needs_input (the session asks something that no rule answers), done
	// (it has worked off all that it was told), failed (a turn failed, or its
	// process ended in the middle of one) or limit (a budget or a rate limit is
	// reached, or a budget nearly).
	Kind string
	// Session, Title and Dir are the session's. Question and QuestionKind are
	// those of the question, with needs_input.
	Session, Title, Dir    string
	Question, QuestionKind string
	// Text says more, in one sentence.
	Text string
	Time time.Time
}

// stoppedBy is how the reason begins of a run that a client has ended, which is
// no failure; givenUpBy that of one that could not be reached.
const (
	stoppedBy = "it was stopped by "
	givenUpBy = "it was given up by "
)

// notify has people told what the step did. It is called last, so that what was
// settled within the step is not told.
func (st *step) notify() {
	s, p := st.s, st.s.projection
	if s.hub.options.Notify == nil || len(st.entries) == 0 {
		return
	}
	var list []Notification
	held := map[string]bool{} // budgets whose hold was told
	for i := range st.entries {
		list = append(list, st.notifications(&st.entries[i], held)...)
	}
	first := st.entries[0].Seq
	if p.Limits.Failed >= first {
		list = append(list, Notification{Kind: notifyFailed, Text: "the turn failed"})
	}
	for i := range list {
		n := &list[i]
		n.Session, n.Title, n.Dir, n.Time = s.id, p.title(), p.folder(), st.now
	}
	if len(list) > 0 {
		st.then(func() {
			for _, n := range list {
				s.hub.options.Notify(n)
			}
		})
	}
}

// notifications returns what people are told because of an entry.
func (st *step) notifications(e *journal.Entry, held map[string]bool) []Notification {
	p := st.s.projection
	switch e.Kind {
	case api.KindQuestionOpened:
		var q api.Question
		if json.Unmarshal(e.Data, &q) != nil || p.questionIndex(q.ID) < 0 {
			return nil
		}
		text := "the agent asks something"
		switch {
		case q.Tool == wire.ToolSandboxNetwork:
			text = "the sandbox asks about a connection"
		case q.Tool != "":
			text = "the agent asks about a call of " + q.Tool
		}
		return []Notification{{Kind: notifyNeedsInput, Question: q.ID, QuestionKind: string(q.Kind), Text: text}}
	case api.KindState:
		if p.Told == "idle" && p.Limits.Done != 0 {
			return []Notification{{Kind: notifyDone, Text: "the turn is over"}}
		}
	case api.KindRunEnded:
		if _, waiting := p.nextPrompt(); p.Ended != nil && (p.Ended.Unfinished || waiting) && !strings.HasPrefix(p.Ended.Reason, stoppedBy) {
			return []Notification{{Kind: notifyFailed, Text: "the process ended before its work was done: " + p.Ended.Reason}}
		}
	case api.KindBudget:
		var d record.Budget
		if json.Unmarshal(e.Data, &d) != nil {
			return nil
		}
		held[d.Name+" "+d.Unit] = d.Over
		return []Notification{{Kind: notifyLimit, Text: budget.Sentence(d.BudgetUse)}}
	case api.KindHold:
		var h record.Hold
		if json.Unmarshal(e.Data, &h) != nil || h.Changed || held[h.Budget+" "+h.Unit] {
			return nil // told with its budget, or one that has changed
		}
		return []Notification{{Kind: notifyLimit, Text: h.Reason}}
	}
	return nil
}
