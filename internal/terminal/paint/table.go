package paint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// leastColumn is how narrow a column of a table may become. If even that does not fit, a row is shown as a list.
const leastColumn = 5

// table renders a table.
func (r *renderer) table(n *extast.Table, source []byte, f frame, emit func(string)) {
	var rows [][][]span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]span
		with := ink(0)
		if row.Kind() == extast.KindTableHeader {
			with = inkBold
		}
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inlines(cell, source, with))
		}
		if rest := excess(row, source); rest != "" && len(cells) > 0 {
			cells[len(cells)-1] = append(cells[len(cells)-1], span{text: " | " + Clean(rest), ink: with})
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return
	}
	widths, fits := r.columnWidths(rows, f)
	if !fits {
		r.tableAsList(rows, f, emit)
		return
	}
	bar := " " + r.draw(r.glyph(r.styles.Glyphs.Bar, "|"), inkDim, "") + " "
	before := f.first
	for i, cells := range rows {
		r.tableRow(cells, widths, n.Alignments, bar, func(line string) {
			emit(strings.TrimRight(before+line, " "))
			before = f.rest
		})
		if i == 0 {
			total := 3 * (len(widths) - 1)
			for _, w := range widths {
				total += w
			}
			emit(before + r.draw(strings.Repeat(r.glyph(r.styles.Glyphs.Rule, "-"), total), inkDim, ""))
		}
	}
}

// excess returns what stands in a row beyond the last column. Markdown leaves it away, and it would be hidden from the reader.
func excess(row ast.Node, source []byte) string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := bytes.Cut(source[last.Lines().At(last.Lines().Len()-1).Stop:], []byte("\n"))
	return string(bytes.Trim(rest, "| \t\r"))
}

// columnWidths returns how wide each column is. It reports false if they do not fit side by side.
func (r *renderer) columnWidths(rows [][][]span, f frame) ([]int, bool) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			if i < len(widths) {
				widths[i] = max(widths[i], columns(cell), 1)
			}
		}
	}
	room := r.room(f)
	if room == 0 {
		return widths, true
	}
	room -= 3 * (len(widths) - 1)
	if room < leastColumn*len(widths) {
		return nil, false
	}
	// What is wider than the others gives way: all columns up to a limit get what they want, the rest share what is left.
	left, open := room, len(widths)
	given := make([]bool, len(widths))
	for changed := true; changed && open > 0; {
		changed = false
		for i, w := range widths {
			if !given[i] && w <= left/open {
				given[i], changed = true, true
				left -= w
				open--
				if open == 0 {
					break
				}
			}
		}
	}
	for i := range slices.Backward(widths) {
		if !given[i] {
			widths[i] = (left + open - 1) / open
			left -= widths[i]
			open--
		}
	}
	return widths, true
}

// tableRow renders a row, whose cells may have several lines.
func (r *renderer) tableRow(cells [][]span, widths []int, alignments []extast.Alignment, bar string, emit func(string)) {
	lines := make([][]string, len(widths))
	height := 1
	for i := range widths {
		if i < len(cells) && len(cells[i]) > 0 {
			layout(cells[i], widths[i], func(pieces []piece) { lines[i] = append(lines[i], r.row(cells[i], pieces)) })
		}
		height = max(height, len(lines[i]))
	}
	for y := range height {
		var b strings.Builder
		for i, width := range widths {
			if i > 0 {
				b.WriteString(bar)
			}
			text := ""
			if y < len(lines[i]) {
				text = lines[i][y]
			}
			gap := max(width-Width(text), 0)
			left := 0
			if i < len(alignments) {
				switch alignments[i] {
				case extast.AlignRight:
					left = gap
				case extast.AlignCenter:
					left = gap / 2
				case extast.AlignLeft, extast.AlignNone:
				}
			}
			b.WriteString(strings.Repeat(" ", left) + text + strings.Repeat(" ", gap-left))
		}
		emit(b.String())
	}
}

// tableAsList renders a table that is too wide: each row as a list of its cells with their headings.
func (r *renderer) tableAsList(rows [][][]span, f frame, emit func(string)) {
	inner := f
	for y, cells := range rows[1:] {
		if y > 0 {
			emit(strings.TrimRight(f.rest, " "))
		}
		for i, cell := range cells {
			spans := []span{}
			if i < len(rows[0]) && len(rows[0][i]) > 0 {
				spans = append(append(spans, rows[0][i]...), span{text: ": ", ink: inkBold})
			}
			r.spans(inner, append(spans, cell...), emit)
			inner.first = f.rest
		}
	}
	if len(rows) == 1 {
		for _, cell := range rows[0] {
			r.spans(inner, cell, emit)
			inner.first = f.rest
		}
	}
}
