package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxCluster is how many bytes are taken for one character as people see it. Some scripts can be joined without end.
const maxCluster = 128

// cluster returns how long the first grapheme cluster of a text is, and how many columns it takes. Terminals differ about clusters of
// several characters: the larger of their two opinions is taken, so that a line never becomes too long.
func cluster(text string) (n, width int) {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1, 1
	}
	window := text
	if len(window) > maxCluster {
		end := maxCluster
		for !utf8.RuneStart(window[end]) && end > maxCluster-utf8.UTFMax {
			end--
		}
		window = window[:end]
	}
	first, width := ansi.FirstGraphemeCluster(window, ansi.GraphemeWidth)
	if first == "" {
		return 1, 1
	}
	width = max(width, ansi.StringWidthWc(first))
	if width == 0 {
		// Marks are few, see Clean. Of whatever else shows nothing there could be megabytes in one line.
		if r, _ := utf8.DecodeRuneInString(first); !stacks(r) {
			width = 1
		}
	}
	return len(first), width
}

// Width returns how many columns a line takes, styled or not.
func Width(line string) int { return ansi.StringWidth(line) }

// Cut returns a line, styled or not, cut at width columns with an ellipsis. A width of 0 does not cut.
func Cut(line string, width int) string { return cut(line, width, "…") }

func cut(line string, width int, ellipsis string) string {
	if width <= 0 {
		return line
	}
	return ansi.Truncate(line, width, ellipsis)
}

// Wrap returns a text, cleaned, in lines of at most width columns, broken between words where that is possible and never within a
// character. Wide characters may be broken between. Letters stay in the order in which they are written, whatever their direction. A width
// of 0 breaks at line feeds only, one of 1 counts as 2, which a wide character needs.
func Wrap(text string, width int) []string {
	text = Clean(text)
	lines := make([]string, 0, 1+strings.Count(text, "\n"))
	for line := range strings.SplitSeq(text, "\n") {
		if width <= 0 {
			lines = append(lines, strings.TrimRight(line, " "))
			continue
		}
		spans := []span{{text: line}}
		layout(spans, width, func(row []piece) {
			switch len(row) {
			case 0:
				lines = append(lines, "")
			case 1:
				lines = append(lines, line[row[0].from:row[0].to])
			default: // spaces within it were left out
				var b strings.Builder
				for _, p := range row {
					b.WriteString(line[p.from:p.to])
				}
				lines = append(lines, b.String())
			}
		})
	}
	return lines
}

// A span is a text in one style. It is clean.
type span struct {
	text string
	ink  ink
	link string // an address, or empty
}

// A piece is a part of a span.
type piece struct {
	span     int
	from, to int
}

// A row collects pieces.
type row struct {
	pieces []piece
	width  int
}

func (r *row) add(p piece, width int) {
	r.width += width
	if n := len(r.pieces); n > 0 && r.pieces[n-1].span == p.span && r.pieces[n-1].to == p.from {
		r.pieces[n-1].to = p.to
		return
	}
	r.pieces = append(r.pieces, p)
}

func (r *row) take(other *row) {
	for _, p := range other.pieces {
		r.add(p, 0)
	}
	r.width += other.width
	other.clear()
}

func (r *row) clear() { r.pieces, r.width = r.pieces[:0], 0 }

// A flow puts words into rows. What it holds is never longer than a row, however long the text is.
type flow struct {
	width            int
	emit             func([]piece)
	row, space, word row
}

// layout breaks spans into rows of at most width columns and calls emit for each; the pieces are valid during the call only. Line feeds
// within spans begin a row. At least one row is emitted.
func layout(spans []span, width int, emit func([]piece)) {
	f := flow{width: max(width, 2), emit: emit}
	if width <= 0 {
		f.width = 1 << 62
	}
	for n := range spans {
		text := spans[n].text
		for i := 0; i < len(text); {
			if text[i] == '\n' {
				f.finish()
				i++
				continue
			}
			size, columns := cluster(text[i:])
			f.put(piece{span: n, from: i, to: i + size}, columns, text[i] == ' ' && size == 1)
			i += size
		}
	}
	f.finish()
}

// put takes the next character.
func (f *flow) put(p piece, columns int, space bool) {
	switch {
	case space:
		f.settle()
		if f.space.width < f.width { // spaces beyond a row never show
			f.space.add(p, 1)
		}
	case columns > 1:
		f.settle()
		f.word.add(p, columns)
		f.fit()
		f.settle()
	default:
		if f.word.width+columns > f.width { // a word that is longer than a row
			f.fit()
			f.settle()
			f.end()
		}
		f.word.add(p, columns)
		f.fit()
	}
}

// fit ends the row if the word has no room in it.
func (f *flow) fit() {
	if f.row.width+f.space.width+f.word.width <= f.width {
		return
	}
	if f.row.width == 0 { // only its indentation is in the way
		f.space.clear()
		return
	}
	f.end()
}

// settle puts the word into the row.
func (f *flow) settle() {
	if f.word.width == 0 && len(f.word.pieces) == 0 {
		return
	}
	f.row.take(&f.space)
	f.row.take(&f.word)
}

// end emits the row; spaces at its end are left out.
func (f *flow) end() {
	f.emit(f.row.pieces)
	f.row.clear()
	f.space.clear()
}

// finish ends a line of the text.
func (f *flow) finish() {
	f.settle()
	f.end()
}

// columns returns how many columns spans take in one row.
func columns(spans []span) int {
	sum := 0
	for _, s := range spans {
		for i := 0; i < len(s.text); {
			n, w := cluster(s.text[i:])
			sum += w
			i += n
		}
	}
	return sum
}
