package terminal

import (
	"sort"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// between is what stands between two columns.
const between = "  "

// A Column is one of a [Table].
type Column struct {
	Title string
	// Right puts texts at its right edge, as is usual for numbers.
	Right bool
	// Least is how narrow it may become when the terminal is: its texts are cut. If zero, it is as wide as its widest text.
	Least int
	// Tail keeps the end of a text that is cut, which of a path says more than its beginning.
	Tail bool
	// Optional columns are left out, the last one first, when not even the least widths fit.
	Optional bool
}

// A Cell is a text of a table, and how it is drawn. It may be an agent's: it is cleaned, and put into one line.
type Cell struct {
	Text  string
	Style lipgloss.Style
}

// A Table puts texts below each other. In a terminal it is as wide as that at most; in a pipe nothing is cut, and what is empty is a dash, so that
// every row has the same number of words as long as the texts of all columns but the last have one.
type Table struct {
	columns []Column
	rows    [][]Cell
}

// NewTable makes a table without rows.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Row adds a row. Missing cells are empty.
func (t *Table) Row(cells ...Cell) {
	row := make([]Cell, len(t.columns))
	for i := range row {
		if i < len(cells) {
			row[i] = Cell{paint.CleanLine(cells[i].Text, 0), cells[i].Style}
		}
	}
	t.rows = append(t.rows, row)
}

// Lines returns the table as lines, with a line of headings if there are any rows and headings are wanted.
func (t *Table) Lines(s *paint.Styles, headings bool) []string {
	if len(t.rows) == 0 {
		return nil
	}
	width := s.Profile.Width
	rows := t.rows
	if headings {
		head := make([]Cell, len(t.columns))
		for i, c := range t.columns {
			head[i] = Cell{c.Title, s.Dim}
		}
		rows = append([][]Cell{head}, rows...)
	}
	if width > 0 {
		rows = narrowed(rows, t.columns, width)
	}
	shown, widths := t.fit(rows, width)
	lines := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for k, column := range shown {
			if k > 0 {
				b.WriteString(between)
			}
			text := row[column].Text
			if text == "" && width == 0 {
				text = "-"
			}
			text = cut(text, widths[k], t.columns[column].Tail)
			padding := strings.Repeat(" ", max(0, widths[k]-paint.Width(text)))
			if t.columns[column].Right {
				b.WriteString(padding)
				padding = ""
			}
			if text != "" {
				b.WriteString(row[column].Style.Render(text))
			}
			if k < len(shown)-1 {
				b.WriteString(padding)
			}
		}
		lines[i] = strings.TrimRight(b.String(), " ")
		if width > 0 {
			lines[i] = paint.Cut(lines[i], width)
		}
	}
	return lines
}

// narrowed returns rows no text of which is wider than the terminal, so that one of megabytes is not measured again and again.
func narrowed(rows [][]Cell, columns []Column, width int) [][]Cell {
	all := make([][]Cell, len(rows))
	for i, row := range rows {
		all[i] = append([]Cell(nil), row...)
		for k := range row {
			switch text := row[k].Text; {
			case len(text) <= width:
			case columns[k].Tail:
				from := max(0, len(text)-4096-64*width) // more cannot be seen of it
				for from > 0 && !utf8.RuneStart(text[from]) {
					from--
				}
				all[i][k].Text = cut(text[from:], width, true)
			default:
				all[i][k].Text = paint.CleanLine(text, width)
			}
		}
	}
	return all
}

// fit returns which columns are shown, and how wide each of them is.
func (t *Table) fit(rows [][]Cell, width int) (shown, widths []int) {
	for i := range t.columns {
		shown = append(shown, i)
	}
	for {
		widths = make([]int, len(shown))
		least := make([]int, len(shown))
		for k, column := range shown {
			for _, row := range rows {
				widths[k] = max(widths[k], paint.Width(row[column].Text))
			}
			if width == 0 {
				widths[k] = max(widths[k], 1) // the dash
			}
			least[k] = widths[k]
			if l := t.columns[column].Least; l > 0 {
				least[k] = min(l, widths[k])
			}
		}
		if width == 0 {
			return shown, widths
		}
		room := width - len(between)*(len(shown)-1)
		if sum(least) <= room {
			shrink(widths, least, room)
			return shown, widths
		}
		last := -1
		for k, column := range shown {
			if t.columns[column].Optional {
				last = k
			}
		}
		if last < 0 {
			return shown, least
		}
		shown = append(shown[:last:last], shown[last+1:]...)
	}
}

// shrink takes from the widest columns, one by one, until all fit.
func shrink(widths, least []int, room int) {
	for over := sum(widths) - room; over > 0; over-- {
		widest := -1
		for k := range widths {
			if widths[k] > least[k] && (widest < 0 || widths[k] > widths[widest]) {
				widest = k
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// sum adds up.
func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// cut returns a text that is at most so many columns wide, with an ellipsis where something is missing.
func cut(text string, width int, tail bool) string {
	if paint.Width(text) <= width {
		return text
	}
	if !tail || width < 2 {
		return paint.Cut(text, width)
	}
	runes := []rune(text)
	from := sort.Search(len(runes), func(i int) bool { return paint.Width(string(runes[i:])) <= width-1 })
	return "…" + string(runes[from:])
}
