package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// choices returns the questions of a choice.
func choices(q *api.Question) ([]api.Choice, error) {
	if len(q.Choices) > 0 {
		return q.Choices, nil
	}
	var tool wire.CanUseToolRequest
	if err := request(q, &tool); err != nil {
		return nil, err
	}
	var set wire.QuestionSet
	if err := json.Unmarshal(tool.Input, &set); err != nil {
		return nil, fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	if len(set.Questions) == 0 {
		return nil, fmt.Errorf("question %s offers nothing to choose", q.ID)
	}
	list := make([]api.Choice, 0, len(set.Questions))
	for _, each := range set.Questions {
		c := api.Choice{Question: each.Question, Header: each.Header, Multiple: each.MultiSelect}
		for _, o := range each.Options {
			c.Options = append(c.Options, api.Option{Label: o.Label, Description: o.Description})
		}
		list = append(list, c)
	}
	return list, nil
}

// Choices returns how many questions a choice has, 0 if it is none.
func Choices(q *api.Question) int {
	set, err := choices(q)
	if err != nil {
		return 0
	}
	return len(set)
}

// maxPreview is how many lines of an option's preview are shown.
const maxPreview = 20

// listed returns the questions of a choice with their options numbered, each in one line: none of them can pass for another. What choosing
// an option would look like stands below it, behind a bar.
func listed(set []api.Choice) string {
	var lines []string
	for _, each := range set {
		text := oneLine(each.Question)
		if each.Header != "" {
			text = oneLine(each.Header) + " - " + text
		}
		if each.Multiple {
			text += " (choose one or more)"
		}
		lines = append(lines, text)
		for i, option := range each.Options {
			text := fmt.Sprintf("  %d %s", i+1, oneLine(option.Label))
			if option.Description != "" {
				text += " - " + oneLine(option.Description)
			}
			lines = append(append(lines, text), preview(option.Preview)...)
		}
	}
	return strings.Join(lines, "\n")
}

// preview returns what choosing an option would look like.
func preview(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(Clean(text), "\n"), "\n")
	if more := len(lines) - maxPreview; more > 0 {
		lines = append(lines[:maxPreview:maxPreview], fmt.Sprintf("… (%d more lines)", more))
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight("    | "+line, " ")
	}
	return lines
}

// quoted returns what stands between quotation marks: words of the user's own, also if they look like a number.
func quoted(text string) (string, bool) {
	if len(text) < 3 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", false
	}
	inner := strings.TrimSpace(text[1 : len(text)-1])
	return inner, inner != ""
}

// choose makes an answer to a choice of what the user typed: for each question numbers, labels, words of their own, or - to skip it.
func choose(set []api.Choice, typed string) (map[string]api.ChoiceAnswer, error) {
	parts := strings.Split(typed, ";")
	if len(parts) != len(set) {
		return nil, fmt.Errorf("%d questions but %d answers; put a semicolon between answers", len(set), len(parts))
	}
	answers := map[string]api.ChoiceAnswer{}
	for i, each := range set {
		part := strings.TrimSpace(parts[i])
		if part == "" {
			return nil, fmt.Errorf("no answer to %q", each.Question)
		}
		labels, ok := labelsOf(&each, part)
		own, isOwn := quoted(part)
		switch {
		case isOwn && !ok:
			answers[each.Question] = api.ChoiceAnswer{Text: own}
		case part == "-":
			answers[each.Question] = api.ChoiceAnswer{Skip: true}
		case !ok:
			answers[each.Question] = api.ChoiceAnswer{Text: part}
		case len(labels) > 1 && !each.Multiple:
			return nil, fmt.Errorf("%q takes one answer only", each.Question)
		default:
			answers[each.Question] = api.ChoiceAnswer{Labels: labels}
		}
	}
	return answers, nil
}

// labelsOf returns the options that a text with commas names by number or label, all of them or none.
func labelsOf(c *api.Choice, text string) (labels []string, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		number, err := strconv.Atoi(part)
		at := number - 1
		if err != nil {
			at = slices.IndexFunc(c.Options, func(o api.Option) bool { return strings.EqualFold(o.Label, part) })
		}
		if at < 0 || at >= len(c.Options) {
			return nil, false
		}
		labels = append(labels, c.Options[at].Label)
	}
	return labels, true
}
