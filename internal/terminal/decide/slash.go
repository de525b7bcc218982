package decide

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// Slash makes the answer of a line that begins with a slash, as the plain view of a session takes it: verb is allow, deny, abort or answer, text
// what stands behind the id of the question. Errors say what to write there, not which flags of a command to use.
func Slash(q *api.Question, verb, text string) (*api.Answer, error) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "allow":
		a := &Allow{slash: true, Destination: rest}
		if text != "" {
			number, err := strconv.Atoi(first)
			switch {
			case err != nil || q.Kind != api.QuestionPermission:
				return nil, fmt.Errorf("/allow takes no text; send %q as a message", text)
			case number == 0: // which means none in an Allow
				return nil, noSuggestion(q, number)
			}
			a.Always = number
		}
		return a.Answer(q)
	case "deny", "abort":
		d := &Deny{slash: true, Reason: text, Stop: verb == "abort"}
		return d.Answer(q)
	case "answer":
		r := &Reply{slash: true, Words: []string{text}}
		switch {
		case q.Kind == api.QuestionChoice:
			r.Words = strings.Split(text, ";")
		case text == "":
			r.Words = nil
		case q.Kind == api.QuestionPlan:
			r.Words, r.rest = []string{first}, rest
		}
		return r.Answer(q)
	}
	return nil, fmt.Errorf("a question can't be answered with /%s", verb)
}

// command returns what to write to answer a question: a command, or a line that begins with a slash.
func command(slash bool, verb string, q *api.Question) string {
	if slash {
		return "/" + verb + " " + q.ID
	}
	return "switchboard " + verb + " " + q.ID
}

// quoted returns what stands between quotation marks: words of one's own, also if they look like a number.
func quoted(text string) (string, bool) {
	if len(text) < 3 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", false
	}
	inner := strings.TrimSpace(text[1 : len(text)-1])
	return inner, inner != ""
}

// follow reads what stands behind the outcome of a plan in the same line: with an approval what goes with it, else what the agent is told.
func (r *Reply) follow(q *api.Question, outcome api.PlanOutcome, approves bool) error {
	if !approves && outcome != api.PlanOutline {
		r.Feedback = r.rest
		return nil
	}
	for word := range strings.FieldsSeq(r.rest) {
		switch {
		case word == "bypass" && approves:
			r.Bypass = true
		case word == "compact" && approves:
			r.Compact = true
		case word == "no-prompts" && approves:
			r.NoPrompts = true
		default:
			return fmt.Errorf("%q can't follow %s: bypass, compact and no-prompts go with an approval; to change the plan write %s %s and what to change",
				word, outcome, command(true, "answer", q), api.PlanRevise)
		}
	}
	return nil
}
