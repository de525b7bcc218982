package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// An Allow lets something happen as it was asked, or nearly so.
type Allow struct {
	// Always is the number of the suggestion of what to allow from now on, from 1; 0 for none. Rule is a rule to allow instead, such as
	// Bash(npm test:*).
	Always int
	Rule   string
	// Destination is where that is kept; see [Destinations].
	Destination string
	// Input is what the tool gets instead of what it was to get.
	Input json.RawMessage
	// Note is for the log alone.
	Note string

	slash bool // see Slash
}

// Destinations returns the places in which a rule can be kept, by the words that people use.
func Destinations() []string {
	return []string{"session", "local", "project", "user", "switchboard"}
}

// destination returns the word of the interface for a place; theirs are taken, too.
func destination(word string) (string, error) {
	names := map[string]string{
		"session": "session", "switchboard": "switchboard",
		"local": "localSettings", "project": "projectSettings", "user": "userSettings",
		"localSettings": "localSettings", "projectSettings": "projectSettings", "userSettings": "userSettings",
	}
	if name, ok := names[word]; ok || word == "" {
		return name, nil
	}
	return "", fmt.Errorf("can't save it in %q; use one of: %s", word, strings.Join(Destinations(), ", "))
}

// always returns what to allow from now on, nil for nothing.
func (a *Allow) always(q *api.Question) (*api.Always, error) {
	place, err := destination(a.Destination)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Always == 0 && a.Rule == "":
		if place != "" {
			return nil, errors.New("--destination needs --always or --rule")
		}
		return nil, nil //nolint:nilnil // only this once
	case a.Always != 0 && a.Rule != "":
		return nil, errors.New("use --always or --rule, not both")
	case a.Rule != "":
		return &api.Always{Rule: a.Rule, Destination: place}, nil
	case a.Always < 1 || a.Always > len(q.Suggestions):
		return nil, noSuggestion(q, a.Always)
	case place == "switchboard":
		return nil, errors.New("suggestions can't be saved in switchboard; only a rule can")
	default:
		return &api.Always{Suggestion: new(a.Always - 1), Destination: place}, nil
	}
}

// noSuggestion says that there is no suggestion of a number.
func noSuggestion(q *api.Question, number int) error {
	return fmt.Errorf("%s has %s, none of them number %d%s", q.ID, units.Plural(len(q.Suggestions), "suggestion"), number, suggested(q))
}

// suggested lists the suggestions of a question.
func suggested(q *api.Question) string {
	var b strings.Builder
	for i, s := range q.Suggestions {
		fmt.Fprintf(&b, "\n  %d  %s", i+1, paint.CleanLine(s.Text, 0))
	}
	return b.String()
}

// Answer returns the answer that allows.
func (a *Allow) Answer(q *api.Question) (*api.Answer, error) {
	always, err := a.always(q)
	if err != nil {
		return nil, err
	}
	if q.Kind != api.QuestionPermission && (always != nil || a.Input != nil) {
		return nil, fmt.Errorf("%s is a %s: it takes no rule and no input", q.ID, q.Kind)
	}
	answer := &api.Answer{Decision: "allow", Note: a.Note, Always: always, Input: a.Input}
	switch q.Kind {
	case api.QuestionPermission:
		if err := object(a.Input); err != nil {
			return nil, err
		}
		return answer, nil
	case api.QuestionPlan:
		return answer, nil
	case api.QuestionForm:
		answer.Decision = "accept"
		answer.Content, err = fill(q, nil, a.slash)
		return answer, err
	case api.QuestionChoice:
		return nil, fmt.Errorf("%s is a choice; choose with: %s NUMBER", q.ID, command(a.slash, "answer", q))
	case api.QuestionDialog:
		return nil, fmt.Errorf("%s is a dialog; choose with: %s RESULT", q.ID, command(a.slash, "answer", q))
	}
	return nil, unknown(q)
}

// unknown says that a question is one of tomorrow.
func unknown(q *api.Question) error {
	return fmt.Errorf("%s is a question of the kind %q, which this version can't answer", q.ID, q.Kind)
}

// object refuses an input that is not a JSON object.
func object(input json.RawMessage) error {
	if input == nil {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil {
		return fmt.Errorf("the input must be a JSON object: %w", err)
	}
	if members == nil {
		return errors.New("the input must be a JSON object, not null")
	}
	return nil
}

// A Deny refuses something.
type Deny struct {
	// Reason is what the agent is told.
	Reason string
	// Stop also stops the turn.
	Stop bool
	// Note is for the log alone.
	Note string

	slash bool // see Slash
}

// Answer returns the answer that refuses: it declines a form, skips a choice and cancels a dialog.
func (d *Deny) Answer(q *api.Question) (*api.Answer, error) {
	decisions := map[api.QuestionKind]string{
		api.QuestionPermission: "deny", api.QuestionPlan: "deny", api.QuestionChoice: "deny", api.QuestionForm: "decline", api.QuestionDialog: "cancel",
	}
	decision, ok := decisions[q.Kind]
	if !ok && d.slash {
		decision, ok = "deny", true // the hub may know better
	}
	switch refuses := decision == "deny" || d.Reason == "" && !d.Stop; {
	case !ok:
		return nil, unknown(q)
	case !refuses && d.slash:
		return nil, fmt.Errorf("%s is a %s: it takes no reason and can't be aborted; write %s alone, or /interrupt", q.ID, q.Kind, command(true, "deny", q))
	case !refuses:
		return nil, fmt.Errorf("%s is a %s and takes no --reason or --stop; leave them out, or interrupt the session", q.ID, q.Kind)
	}
	return &api.Answer{Decision: decision, Message: d.Reason, Interrupt: d.Stop, Note: d.Note}, nil
}

// A Reply answers with something.
type Reply struct {
	// Words are what was written behind the question: for a choice the answer to each of its questions, for a plan its outcome, for a form a
	// JSON object, for a dialog its result.
	Words []string
	// Text takes Words as words of one's own, also if they look like a number, a label, JSON, or - to skip.
	Text bool
	// Fields fill in a form: NAME=VALUE each.
	Fields []string
	// Skip leaves a choice without an answer, and declines or cancels a form or a dialog.
	Skip bool
	// Feedback is what a plan lacks. Plan, if not nil, is the plan as it was changed.
	Feedback string
	Plan     *string
	// Compact has the conversation compacted when the turn is over, NoPrompts leaves out what a plan asks to be allowed, Bypass has nothing asked
	// any more.
	Compact, NoPrompts, Bypass bool
	// Note is for the log alone.
	Note string

	slash bool   // see Slash
	rest  string // what stands behind the outcome of a plan
}

// Answer returns the answer that says it.
func (r *Reply) Answer(q *api.Question) (*api.Answer, error) {
	if err := r.fits(q); err != nil {
		return nil, err
	}
	if r.Skip {
		if len(r.Words) > 0 || len(r.Fields) > 0 || r.Text {
			return nil, errors.New("--skip takes no answer; leave out the others")
		}
		d := &Deny{Note: r.Note}
		return d.Answer(q)
	}
	answer, err := &api.Answer{Note: r.Note}, error(nil)
	switch q.Kind {
	case api.QuestionChoice:
		answer.Decision = "allow"
		if answer.Choices, err = r.choose(q); err == nil && allSkipped(answer.Choices) {
			answer.Decision, answer.Choices = "deny", nil // the hub takes no answer in which nothing is answered
		}
	case api.QuestionPlan:
		err = r.review(q, answer)
	case api.QuestionForm:
		answer.Decision = "accept"
		answer.Content, err = r.form(q)
	case api.QuestionDialog:
		answer.Decision = "choose"
		answer.Result, err = r.result(q)
	case api.QuestionPermission:
		err = fmt.Errorf("%s asks to use %s; answer with: %s, or: %s", q.ID, paint.CleanLine(q.Tool, 60), command(r.slash, "allow", q), command(r.slash, "deny", q))
	default:
		err = unknown(q)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// fits says which flag has nothing to do with a question.
func (r *Reply) fits(q *api.Question) error {
	plan := q.Kind == api.QuestionPlan
	for _, flag := range []struct {
		name string
		set  bool
		fits bool
	}{
		{"--field", len(r.Fields) > 0, q.Kind == api.QuestionForm},
		{"--text", r.Text, q.Kind == api.QuestionChoice || q.Kind == api.QuestionDialog},
		{"--skip", r.Skip, slices.Contains([]api.QuestionKind{api.QuestionChoice, api.QuestionForm, api.QuestionDialog}, q.Kind)},
		{"--feedback", r.Feedback != "", plan},
		{"--plan", r.Plan != nil, plan},
		{"--compact", r.Compact, plan},
		{"--no-prompts", r.NoPrompts, plan},
		{"--bypass", r.Bypass, plan},
	} {
		if flag.set && !flag.fits {
			return fmt.Errorf("%s is a %s and takes no %s", q.ID, q.Kind, flag.name)
		}
	}
	return nil
}

// result returns the result of a dialog: JSON, else a word. With Text it is a word whatever it looks like.
func (r *Reply) result(q *api.Question) (json.RawMessage, error) {
	if len(r.Words) == 0 {
		return nil, fmt.Errorf("which result? Write: %s RESULT, as JSON or a word", command(r.slash, "answer", q))
	}
	text := strings.TrimSpace(strings.Join(r.Words, " "))
	if r.Text {
		return json.Marshal(text)
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return nil, errors.New("the result isn't valid JSON")
	}
	return json.Marshal(text)
}

// Input returns what the tool gets that a question asks about, to be changed.
func Input(q *api.Question) (json.RawMessage, error) {
	if q.Kind != api.QuestionPermission {
		return nil, fmt.Errorf("%s is a %s and has no input to change", q.ID, q.Kind)
	}
	_, input := words.Call(q)
	if input == nil {
		return nil, fmt.Errorf("%s is about no tool and has no input to change", q.ID)
	}
	return input, nil
}
