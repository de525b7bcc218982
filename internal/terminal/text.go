package terminal

import (
	"strings"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// Clean makes a text that may be an agent's harmless for a terminal; see [paint.Clean].
func Clean(text string) string { return paint.Clean(text) }

// most is how long a text in one line may become, in columns.
const most = 160

// oneLine returns a text in one line.
func oneLine(text string) string { return paint.CleanLine(text, 0) }

// short returns a text in one line, cut if it is long.
func short(text string) string { return paint.CleanLine(text, most) }

// below puts the further lines of a text under its first one.
func below(text string, width int) string {
	text = strings.TrimRight(Clean(text), " \n")
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimRight(strings.Repeat(" ", width)+line, " ")
	}
	return strings.Join(lines, "\n")
}
