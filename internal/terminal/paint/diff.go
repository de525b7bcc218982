package paint

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/switchboard-dev/switchboard/internal/units"
)

// DiffOptions say how a difference is shown. The zero value is what a person usually wants.
type DiffOptions struct {
	// Width cuts lines; 0 does not.
	Width int
	// Context is how many unchanged lines stand around a change. If zero, 3.
	Context int
	// Lines is how many lines are shown at most. If zero, 400.
	Lines int
}

// Files beyond these are not compared: what they differ in would not be read.
const (
	maxDiffBytes = 2 << 20
	maxDiffLines = 400
)

// Diff shows what changes between two texts of a file: a line that sums it up, and the changes with the numbers of their lines. An empty
// path leaves the name out.
func (s *Styles) Diff(path, before, after string, o DiffOptions) []string {
	if before == after {
		return []string{s.summary(path, 0, 0, "nothing changes", o)}
	}
	if len(before)+len(after) > maxDiffBytes {
		what := fmt.Sprintf("from %s in %s to %s in %s; too long to be compared here",
			units.Size(int64(len(before))), units.Plural(countLines(before), "line"), units.Size(int64(len(after))), units.Plural(countLines(after), "line"))
		return []string{s.summary(path, 0, 0, what, o)}
	}
	context := o.Context
	if context == 0 {
		context = 3
	}
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), context)
	if err != nil { // it cannot be: the edits are of this text
		return []string{s.summary(path, 0, 0, "the changes cannot be shown: "+err.Error(), o)}
	}
	sheet := sheet{styles: s, options: o}
	for _, h := range diff.Hunks {
		hunk := hunk{old: h.FromLine, new: h.ToLine}
		for _, l := range h.Lines {
			hunk.lines = append(hunk.lines, diffLine{sign: signOf(l.Kind), text: strings.TrimSuffix(l.Content, "\n")})
		}
		sheet.hunks = append(sheet.hunks, hunk)
	}
	return sheet.draw(path)
}

// Hunks shows the structuredPatch of a tool's result. It reports false if there is nothing in it that could be shown.
func (s *Styles) Hunks(structuredPatch json.RawMessage, o DiffOptions) ([]string, bool) {
	hunks := patchHunks(structuredPatch)
	if len(hunks) == 0 {
		return nil, false
	}
	sheet := sheet{styles: s, options: o, hunks: hunks}
	return sheet.draw(""), true
}

// PatchSize counts the lines that a structuredPatch adds and removes, as Hunks shows them.
func PatchSize(structuredPatch json.RawMessage) (added, removed int, ok bool) {
	hunks := patchHunks(structuredPatch)
	for _, h := range hunks {
		for _, l := range h.lines {
			switch l.sign {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed, len(hunks) > 0
}

// patchHunks reads a structuredPatch.
func patchHunks(structuredPatch json.RawMessage) []hunk {
	var patch []struct {
		OldStart int      `json:"oldStart"`
		NewStart int      `json:"newStart"`
		Lines    []string `json:"lines"`
	}
	if len(structuredPatch) == 0 || json.Unmarshal(structuredPatch, &patch) != nil {
		return nil
	}
	var hunks []hunk
	for _, p := range patch {
		h := hunk{old: p.OldStart, new: p.NewStart}
		for _, line := range p.Lines {
			sign, text := byte(' '), line
			if line != "" && strings.IndexByte("+- \\", line[0]) >= 0 {
				sign, text = line[0], line[1:]
			}
			h.lines = append(h.lines, diffLine{sign: sign, text: text})
		}
		h.lines = least(h.lines)
		hunks = append(hunks, h)
	}
	return hunks
}

// least returns the lines of a hunk with as few changes as possible. Some versions of the CLI write a hunk as all of the old lines and all of the
// new ones; a user who has seen the change before it was made saw only what differs.
func least(lines []diffLine) []diffLine {
	var before, after strings.Builder
	for _, l := range lines {
		switch {
		case l.sign == '\\' || strings.Contains(l.text, "\n"):
			return lines // a remark, or no patch: it has its place
		case l.sign != '+':
			before.WriteString(l.text + "\n")
		}
		if l.sign != '-' {
			after.WriteString(l.text + "\n")
		}
	}
	if before.Len()+after.Len() > maxDiffBytes {
		return lines
	}
	diff, err := udiff.ToUnifiedDiff("", "", before.String(), udiff.Lines(before.String(), after.String()), len(lines))
	if err != nil || len(diff.Hunks) != 1 {
		return lines
	}
	var fewer []diffLine
	for _, l := range diff.Hunks[0].Lines {
		fewer = append(fewer, diffLine{sign: signOf(l.Kind), text: strings.TrimSuffix(l.Content, "\n")})
	}
	return fewer
}

// signOf returns the sign before a line.
func signOf(kind udiff.OpKind) byte {
	switch kind {
	case udiff.Delete:
		return '-'
	case udiff.Insert:
		return '+'
	case udiff.Equal:
	}
	return ' '
}

// A hunk is a place where a file changes.
type hunk struct {
	old, new int // the numbers of its first line
	lines    []diffLine
}

type diffLine struct {
	sign byte // +, -, space, or a backslash for a remark
	text string
}

// A sheet is a difference on its way to lines.
type sheet struct {
	styles  *Styles
	options DiffOptions
	hunks   []hunk

	dim, added, removed func(string) string
}

func (d *sheet) draw(path string) []string {
	d.dim, d.added, d.removed = Stroke(d.styles.Dim), Stroke(d.styles.Added), Stroke(d.styles.Removed)
	added, removed, last := 0, 0, 0
	for _, h := range d.hunks {
		for _, l := range h.lines {
			switch l.sign {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		last = max(last, h.old+len(h.lines), h.new+len(h.lines))
	}
	digits := len(strconv.Itoa(last))
	most := d.options.Lines
	if most <= 0 {
		most = maxDiffLines
	}
	lines := []string{d.styles.summary(path, added, removed, "", d.options)}
	for i, h := range d.hunks {
		if i > 0 {
			lines = append(lines, d.dim(d.styles.Cut(strings.Repeat(" ", digits)+" "+d.styles.ellipsis(), d.options.Width)))
		}
		oldLine, newLine := h.old, h.new
		for _, l := range h.lines {
			if len(lines) > most {
				return append(lines, d.styles.Dim.Render(d.styles.Cut("(and more: "+units.Plural(added+removed, "changed line")+" in all)", d.options.Width)))
			}
			number := newLine
			if l.sign == '-' {
				number = oldLine
			}
			lines = append(lines, d.line(number, digits, l))
			switch l.sign {
			case '+':
				newLine++
			case '-':
				oldLine++
			case ' ':
				newLine++
				oldLine++
			}
		}
	}
	return lines
}

// line draws one line with its number.
func (d *sheet) line(number, digits int, l diffLine) string {
	s := d.styles
	draw := func(text string) string { return text }
	switch l.sign {
	case '+':
		draw = d.added
	case '-':
		draw = d.removed
	case '\\':
		return s.Cut(d.dim(fmt.Sprintf("%*s %s", digits, "", cleanLine(l.text, d.options.Width, s.ellipsis()))), d.options.Width)
	}
	text := l.text
	if width := d.options.Width; width > 0 {
		text = truncate(Clean(head(text, width)), max(width-digits-3, 1), s.ellipsis())
	} else {
		text = Clean(text)
	}
	// A line feed can be in it only if the patch is not what it says to be.
	text = strings.TrimRight(strings.ReplaceAll(text, "\n", " "), " ")
	line := d.dim(fmt.Sprintf("%*d", digits, number))
	if rest := strings.TrimRight(string(l.sign)+" "+text, " "); rest != "" {
		line += " " + draw(rest)
	}
	return s.Cut(line, d.options.Width)
}

// head returns as much of a text as can be shown in so many columns, and a little more.
func head(text string, width int) string {
	if most := 1024 + 64*width; len(text) > most {
		return text[:most]
	}
	return text
}

// summary is the first line of a difference.
func (s *Styles) summary(path string, added, removed int, what string, o DiffOptions) string {
	parts := []string{}
	if path != "" {
		parts = append(parts, s.Bold.Render(s.CleanLine(path, o.Width)))
	}
	switch {
	case what != "":
		parts = append(parts, s.Dim.Render(what))
	default:
		parts = append(parts, s.Added.Render("+"+strconv.Itoa(added)), s.Removed.Render("-"+strconv.Itoa(removed)))
	}
	return s.Cut(strings.Join(parts, " "), o.Width)
}

// countLines returns how many lines a text has.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
