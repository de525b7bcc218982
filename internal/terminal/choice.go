package terminal

import (
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

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
