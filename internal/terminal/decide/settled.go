package decide

import (
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A SettledError says that a question was already answered by someone else.
type SettledError struct {
	// Question is the question as it was settled, Err what the server said, if it was asked.
	Question *api.Question
	Err      error
}

// Error says who was faster, and what became of the question.
func (e *SettledError) Error() string {
	return fmt.Sprintf("already answered by someone else: %s was %s", e.Question.ID, Outcome(e.Question))
}

// Unwrap returns what the server said.
func (e *SettledError) Unwrap() error { return e.Err }

// Outcome says in a line how a question was settled and by whom.
func Outcome(q *api.Question) string {
	var words []string
	add := func(text string) {
		if text = paint.CleanLine(text, 0); text != "" {
			words = append(words, text)
		}
	}
	switch a := q.Answer; {
	case q.State == api.QuestionCancelled:
		add("cancelled")
	case a == nil:
		add(strings.ReplaceAll(string(q.State), "_", " "))
	case a.Outcome != "":
		add("answered with " + string(a.Outcome))
	default:
		said := map[string]string{"allow": "allowed", "deny": "denied", "accept": "accepted", "decline": "declined", "choose": "answered", "cancel": "cancelled"}[a.Decision]
		if q.Kind == api.QuestionChoice {
			said = map[string]string{"allow": "answered", "deny": "skipped"}[a.Decision]
		}
		if said == "" {
			said = "answered with " + a.Decision
		}
		add(said)
	}
	switch r := q.Rule; {
	case r != nil && r.Decision != api.RuleAsk:
		add("by the rule " + r.Rule)
	case q.By != "":
		add("by " + q.By)
	case q.From == "hub":
		add("by the hub")
	}
	text := strings.Join(words, " ")
	if why := paint.CleanLine(q.Reason, 0); why != "" {
		text += " (" + why + ")"
	}
	return text
}
