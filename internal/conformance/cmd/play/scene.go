package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// What is said in the conversation.
const (
	firstPrompt  = "The slugs of our posts have double dashes in them. Please fix that."
	secondPrompt = "Do the tests still pass? Thank you."
)

// prompts are what the user says, in order.
func prompts() []string { return []string{firstPrompt, secondPrompt} }

// endOf is part of what the agent says at the end of a prompt's turn.
func endOf(prompt string) string {
	if prompt == firstPrompt {
		return "is fixed"
	}
	return "All tests still pass"
}

// policy is what this program allows, in words; judge does it.
const policy = "the tests may be run, files in the project edited and release notes written; plans are approved; of choices the first is taken; forms are left as they come"

// A verdict is how a question is answered.
type verdict struct {
	kind    string                 // "permission", "choice" or "plan"
	allowed bool                   // for a choice: it was answered
	words   string                 // the answer, for people
	choices map[string]wire.Choice // of a choice
}

// answer is the handler of the CLI's requests. It runs beside the reader, which shows the verdict when the question comes by.
func answer(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	if form, ok := q.Request.(*wire.ElicitationRequest); ok {
		content, err := fill(form)
		if err != nil {
			return nil, err
		}
		return wire.NewAnswer(q.RequestID, &wire.ElicitationAnswer{Action: wire.ElicitationActionAccept, Content: content})
	}
	question, ok := q.Request.(*wire.CanUseToolRequest)
	if !ok {
		return claude.Decline(ctx, q)
	}
	v, err := judge(question)
	switch {
	case err != nil:
		return nil, err
	case v.kind == "choice":
		return wire.NewChoice(q, v.choices)
	case v.allowed:
		return wire.NewPermission(q, &wire.Allow{})
	default:
		return wire.NewPermission(q, &wire.Deny{Message: v.words})
	}
}

// judge decides a question after the policy. The same question always gets the same verdict.
func judge(q *wire.CanUseToolRequest) (verdict, error) {
	switch q.ToolName {
	case "AskUserQuestion":
		return choose(q)
	case "ExitPlanMode":
		return verdict{kind: "plan", allowed: true, words: "approved"}, nil
	}
	var input struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
	}
	if err := json.Unmarshal(q.Input, &input); err != nil {
		return verdict{}, fmt.Errorf("reading the input of %s: %w", q.ToolName, err)
	}
	allowed := q.ToolName == "Bash" && input.Command == "go test ./..." || q.ToolName == "Edit" && inside(input.FilePath) || q.ToolName == "mcp__notes__add"
	if allowed {
		return verdict{kind: "permission", allowed: true, words: "allowed"}, nil
	}
	return verdict{kind: "permission", words: "The policy of this program does not allow it."}, nil
}

// inside reports whether a path is one of the project's: its name there, with or without the folder before it, and no way out of it.
func inside(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return (path == "slug/slug.go" || strings.HasSuffix(path, "/slug/slug.go")) && !strings.Contains(path, "..")
}

// choose takes the first option of every question, and two where several may be taken.
func choose(q *wire.CanUseToolRequest) (verdict, error) {
	var set wire.QuestionSet
	if err := json.Unmarshal(q.Input, &set); err != nil {
		return verdict{}, fmt.Errorf("reading a question: %w", err)
	}
	if len(set.Questions) == 0 {
		return verdict{}, errors.New("a choice without questions")
	}
	v := verdict{kind: "choice", allowed: true, choices: map[string]wire.Choice{}}
	var words []string
	for _, question := range set.Questions {
		if len(question.Options) == 0 {
			return verdict{}, errors.New("a question without options")
		}
		labels := []string{question.Options[0].Label}
		if question.MultiSelect && len(question.Options) > 1 {
			labels = append(labels, question.Options[1].Label)
		}
		v.choices[question.Question] = wire.Choice{Answers: labels}
		words = append(words, strings.Join(labels, ", "))
	}
	v.words = strings.Join(words, "; ")
	return v, nil
}

// A field is one of a form.
type field struct {
	name, title string
	value       json.RawMessage
}

// fields returns the fields of a form in their order, with the values that they come with.
func fields(form *wire.ElicitationRequest) ([]field, error) {
	var schema struct {
		Properties map[string]struct {
			Title   string          `json:"title"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(form.RequestedSchema, &schema); err != nil {
		return nil, fmt.Errorf("reading a form: %w", err)
	}
	var list []field
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		if len(property.Default) == 0 {
			return nil, fmt.Errorf("the field %s of a form comes without a value", name)
		}
		list = append(list, field{name, cmp.Or(property.Title, name), property.Default})
	}
	return list, nil
}

// fill accepts a form with the values that it comes with.
func fill(form *wire.ElicitationRequest) (json.RawMessage, error) {
	list, err := fields(form)
	if err != nil {
		return nil, err
	}
	content := map[string]json.RawMessage{}
	for _, f := range list {
		content[f.name] = f.value
	}
	return json.Marshal(content)
}
