package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// allScopes is how many scopes there are; a token that has them all is said to have all.
const allScopes = 4

// Tokens returns a table of tokens.
func (v *View) Tokens(list []api.Token) []string {
	table := NewTable(
		Column{Title: "ID"}, Column{Title: "NAME", Least: 10}, Column{Title: "SCOPES", Least: 7}, Column{Title: "KIND"},
		Column{Title: "CREATED", Optional: true}, Column{Title: "EXPIRES"}, Column{Title: "LAST USED"},
	)
	for i := range list {
		t := &list[i]
		used := v.when(t.Used)
		switch {
		case !t.Used.IsZero():
		case t.Kind == "admin": // of that one the last use is not kept
			used.Text = "-"
		default:
			used.Text = "never"
		}
		// Whole, as commands want it.
		table.Row(Cell{t.ID, v.Styles.Accent}, Cell{Text: t.Name}, Cell{Text: v.scopes(t.Scopes)}, Cell{t.Kind, v.Styles.Dim}, v.when(t.Created), v.until(t.Expires), used)
	}
	return table.Lines(v.Styles, v.Headings)
}

// scopes returns the scopes of a token in a word.
func (v *View) scopes(list []string) string {
	if v.Terminal && len(list) == allScopes {
		return "all"
	}
	return strings.Join(list, ",")
}

// until returns when something ends, as it is shown.
func (v *View) until(t time.Time) Cell {
	left := t.Sub(v.Now)
	switch {
	case t.IsZero():
		return Cell{"never", v.Styles.Dim}
	case !v.Terminal && left <= 0:
		return Cell{Text: "expired"}
	case !v.Terminal:
		return v.when(t)
	case left <= 0:
		return Cell{"expired", v.Styles.Warn}
	case left < time.Hour:
		return Cell{fmt.Sprintf("in %dm", int(left.Minutes())+1), v.Styles.Warn}
	case left < 48*time.Hour:
		return Cell{fmt.Sprintf("in %dh", int(left.Hours())), v.Styles.Warn}
	default:
		return Cell{fmt.Sprintf("in %dd", int(left.Hours())/24), v.Styles.Dim}
	}
}

// QR returns a QR code, given as rows of modules, as lines of half blocks, with the light margin that cameras need. Each line is two rows.
// In colour it is dark on light in any terminal; without it, it is for a dark background.
func (v *View) QR(modules []string) []string {
	const margin = 4
	dark := func(x, y int) bool {
		return y >= 0 && y < len(modules) && x >= 0 && x < len(modules[y]) && modules[y][x] == '1'
	}
	var lines []string
	for y := -margin; y < len(modules)+margin; y += 2 {
		var b strings.Builder
		for x := -margin; x < len(modules)+margin; x++ {
			b.WriteString(half(!dark(x, y), !dark(x, y+1)))
		}
		line := b.String()
		if v.Styles.Profile.Color {
			line = "\x1b[38;5;231;48;5;16m" + line + "\x1b[0m" // white on black, whatever the theme
		}
		lines = append(lines, line)
	}
	return lines
}

// half is a character whose upper and lower half are light or not.
func half(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	default:
		return " "
	}
}
