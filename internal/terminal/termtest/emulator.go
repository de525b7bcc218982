package termtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// maxScrollback is how many rows above the screen are kept.
	maxScrollback = 200_000
	// maxUnknown is how many unknown sequences are kept.
	maxUnknown = 1000
	// maxSide is the most columns and rows that a terminal has.
	maxSide = 2000
	// maxCluster is how many bytes of one character are kept; a hostile text has ten thousand accents on one letter.
	maxCluster = 64
)

// The modes that the emulator itself has to do with.
const (
	modeOrigin   = 6
	modeAutoWrap = 7
	modeCursor   = 25
	modePaste    = 2004
	modeSync     = 2026
	modeGrapheme = 2027
)

// An Emulator is a terminal without a window: what is written to it changes its [Screen]. It is not safe for concurrent use. The zero value is
// not usable, see [NewEmulator].
type Emulator struct {
	parse      parser
	cols, rows int

	grid, other []row // the one that is shown, and the one that is not
	alt         bool
	x, y        int
	wrap        bool // the last column was written; the next character goes to the next row
	saved       [2]cursor
	style       Style
	top, bottom int // of the scroll region, both within
	tabs        []bool
	insert      bool
	newline     bool
	lines       [2]bool // G0 and G1 hold the line drawing characters
	shift       int     // which of them counts
	last        rune    // for REP

	modes      map[int]bool
	kitty      int
	otherKeys  bool // modifyOtherKeys is on
	colors     map[int]bool
	title      string
	titles     int
	bell       int
	clipboard  []string
	unknown    []string
	scrollback []string
	reply      func(string)
	frozen     *Screen // what is shown while output is synchronized
}

// cursor is what ESC 7 saves.
type cursor struct {
	x, y   int
	wrap   bool
	style  Style
	origin bool
	lines  [2]bool
	shift  int
}

// NewEmulator returns an empty terminal of some size; it is at least 2 columns and 1 row. Answers to what a program asks of its terminal go to
// reply, which may be nil.
func NewEmulator(cols, rows int, reply func(string)) *Emulator {
	e := &Emulator{reply: reply}
	if reply == nil {
		e.reply = func(string) {}
	}
	e.cols, e.rows = min(max(cols, 2), maxSide), min(max(rows, 1), maxSide)
	e.parse.to = e
	e.reset()
	return e
}

// Render returns the screen of a new terminal after a text. As on a terminal line, "\n" goes to the beginning of the next row.
func Render(cols, rows int, text string) *Screen {
	e := NewEmulator(cols, rows, nil)
	_, _ = e.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	return e.Screen()
}

// Write takes what a program writes. It always succeeds.
func (e *Emulator) Write(b []byte) (int, error) {
	e.parse.write(b)
	return len(b), nil
}

// Screen returns what the terminal shows now; while output is synchronized (mode 2026), what it showed before.
func (e *Emulator) Screen() *Screen {
	if e.frozen != nil {
		return e.frozen
	}
	s := &Screen{
		Cols: e.cols, Rows: e.rows, CursorX: e.x, CursorY: e.y, CursorHidden: !e.modes[modeCursor], Title: e.title, Titles: e.titles,
		AltScreen: e.alt, Bell: e.bell,
		// These only grow, and what is there does not change.
		Clipboard: slices.Clip(e.clipboard), Unknown: slices.Clip(e.unknown), scrollback: slices.Clip(e.scrollback),
		modes: maps.Clone(e.modes), style: e.style, kitty: e.kitty, otherKeys: e.otherKeys, colors: maps.Clone(e.colors), region: e.top != 0 || e.bottom != e.rows-1,
	}
	cells := make([]cell, 0, e.cols*e.rows)
	s.rows = make([]row, e.rows)
	for i, r := range e.grid {
		cells = append(cells, r...)
		s.rows[i] = cells[len(cells)-len(r):]
	}
	return s
}

// Resize changes the size. As in xterm, rows are cut and not wrapped anew; rows that no longer fit leave at the top.
func (e *Emulator) Resize(cols, rows int) {
	cols, rows = min(max(cols, 2), maxSide), min(max(rows, 1), maxSide)
	fit := func(grid []row, keep bool, y int) ([]row, int) {
		for len(grid) > rows {
			if y == len(grid)-1 { // nothing below the cursor can go
				if keep {
					e.keep(grid[0])
				}
				grid = grid[1:]
				y--
			} else {
				grid = grid[:len(grid)-1]
			}
		}
		for i, r := range grid {
			for len(r) < cols {
				r = append(r, cell{width: 1})
			}
			r = r[:cols:cols]
			if r[cols-1].width == 2 {
				r[cols-1] = cell{width: 1}
			}
			grid[i] = r
		}
		for len(grid) < rows {
			grid = append(grid, blank(cols, Style{}))
		}
		return grid, y
	}
	e.grid, e.y = fit(e.grid, !e.alt, e.y)
	if e.alt {
		e.other, e.saved[0].y = fit(e.other, true, e.saved[0].y) // where the cursor will come back to
	} else {
		e.other, _ = fit(e.other, false, -1)
	}
	for i := range e.saved {
		e.saved[i].x, e.saved[i].y = min(e.saved[i].x, cols-1), min(e.saved[i].y, rows-1)
	}
	for len(e.tabs) < cols {
		e.tabs = append(e.tabs, len(e.tabs)%8 == 0)
	}
	e.cols, e.rows = cols, rows
	e.top, e.bottom = 0, rows-1
	e.x, e.wrap = min(e.x, cols-1), false
	if e.frozen != nil {
		e.frozen = nil
		e.frozen = e.Screen()
	}
}

// reset is what a terminal is in the beginning; the scrollback and what was recorded stay.
func (e *Emulator) reset() {
	empty := func() []row {
		grid := make([]row, e.rows)
		for i := range grid {
			grid[i] = blank(e.cols, Style{})
		}
		return grid
	}
	e.grid, e.other, e.alt = empty(), empty(), false
	e.x, e.y, e.wrap, e.saved, e.style = 0, 0, false, [2]cursor{}, Style{}
	e.top, e.bottom = 0, e.rows-1
	e.tabStops()
	e.insert, e.newline, e.lines, e.shift, e.last = false, false, [2]bool{}, 0, 0
	e.modes = map[int]bool{modeAutoWrap: true, modeCursor: true}
	e.kitty, e.otherKeys, e.colors, e.frozen = 0, false, map[int]bool{}, nil
}

// tabStops sets one every eight columns.
func (e *Emulator) tabStops() {
	e.tabs = make([]bool, e.cols)
	for i := range e.tabs {
		e.tabs[i] = i%8 == 0
	}
}

// blank returns an empty row; only the background of a style counts.
func blank(cols int, s Style) row {
	r := make(row, cols)
	for i := range r {
		r[i] = cell{width: 1, style: Style{Background: s.Background}}
	}
	return r
}

// dontKnow records a sequence.
func (e *Emulator) dontKnow(format string, args ...any) {
	if len(e.unknown) < maxUnknown {
		e.unknown = append(e.unknown, fmt.Sprintf(format, args...))
	}
}

// printable are the characters that most text is made of, so that cells can share them.
const printable = ` !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_` + "`abcdefghijklmnopqrstuvwxyz{|}~"

// lineDrawing is what the characters from ` to ~ are in the line drawing set.
const lineDrawing = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"

// ascii prints a printable ASCII character.
func (e *Emulator) ascii(c byte) {
	e.last = rune(c)
	if e.lines[e.shift] && c >= '`' {
		e.put(string([]rune(lineDrawing)[c-'`']), 1)
		return
	}
	e.put(printable[c-' ':c-' '+1], 1)
}

// print prints any other character.
func (e *Emulator) print(r rune) {
	if r < 0xa0 {
		// Some terminals take U+0080 to U+009F for what they are, the C1 controls: U+009B begins a sequence. We show nothing, and record it.
		e.dontKnow("U+%04X", r)
		return
	}
	e.last = r
	text := string(r)
	prev, at := e.previous()
	if e.modes[modeGrapheme] && prev != nil {
		cluster, width := ansi.FirstGraphemeCluster(prev.text+text, ansi.GraphemeWidth)
		if len(cluster) == len(prev.text)+len(text) {
			e.join(prev, at, text, width)
			return
		}
	}
	width := ansi.WcWidth.StringWidth(text)
	if e.modes[modeGrapheme] {
		width = ansi.GraphemeWidth.StringWidth(text)
	}
	if width <= 0 {
		if prev != nil {
			e.join(prev, at, text, int(prev.width))
		}
		return
	}
	e.put(text, min(width, 2))
}

// previous returns the cell before the cursor, and its column; nil if there is none, or nothing in it.
func (e *Emulator) previous() (*cell, int) {
	at := e.x - 1
	if e.wrap {
		at = e.x
	}
	if at >= 0 && e.grid[e.y][at].width == 0 {
		at--
	}
	if at < 0 || e.grid[e.y][at].text == "" {
		return nil, 0
	}
	return &e.grid[e.y][at], at
}

// join adds to a character what belongs to it. It may become wide by that.
func (e *Emulator) join(to *cell, at int, text string, width int) {
	if len(to.text)+len(text) <= maxCluster {
		to.text += text
	}
	if width == 2 && to.width == 1 && at+1 < e.cols {
		text, style := to.text, to.style
		e.x, e.wrap = at, false
		e.style, style = style, e.style
		e.put(text, 2)
		e.style = style
	}
}

// put writes a character at the cursor.
func (e *Emulator) put(text string, width int) {
	if e.wrap || e.x+width > e.cols {
		if e.modes[modeAutoWrap] {
			e.x, e.wrap = 0, false
			e.down()
		} else {
			e.x, e.wrap = e.cols-width, false
		}
	}
	r := e.grid[e.y]
	if e.insert {
		e.split(e.x)
		copy(r[e.x+width:], r[e.x:])
		if r[e.cols-1].width == 2 {
			r[e.cols-1] = cell{width: 1}
		}
	} else {
		e.split(e.x)
		e.split(e.x + width)
	}
	r[e.x] = cell{text: text, style: e.style, width: int8(width)}
	if width == 2 {
		r[e.x+1] = cell{style: e.style}
	}
	e.x += width
	if e.x >= e.cols {
		e.x, e.wrap = e.cols-1, e.modes[modeAutoWrap]
	}
}

// split makes sure that no wide character lies across the beginning of a column: one that does is gone.
func (e *Emulator) split(x int) {
	r := e.grid[e.y]
	if x > 0 && x < e.cols && r[x].width == 0 {
		r[x-1] = cell{width: 1, style: Style{Background: r[x-1].style.Background}}
		r[x] = cell{width: 1, style: Style{Background: r[x].style.Background}}
	}
}

// down goes to the next row, and scrolls at the end of the region.
func (e *Emulator) down() {
	switch {
	case e.y == e.bottom:
		e.scrollUp(e.top, 1)
	case e.y < e.rows-1:
		e.y++
	}
}

// scrollUp moves the rows from one to the end of the region up.
func (e *Emulator) scrollUp(from, n int) {
	for range min(n, e.bottom-from+1) {
		if from == 0 && !e.alt {
			e.keep(e.grid[0])
		}
		copy(e.grid[from:], e.grid[from+1:e.bottom+1])
		e.grid[e.bottom] = blank(e.cols, e.style)
	}
}

// scrollDown moves the rows from one to the end of the region down.
func (e *Emulator) scrollDown(from, n int) {
	for range min(n, e.bottom-from+1) {
		copy(e.grid[from+1:e.bottom+1], e.grid[from:])
		e.grid[from] = blank(e.cols, e.style)
	}
}

// keep takes a row into the scrollback.
func (e *Emulator) keep(r row) {
	if len(e.scrollback) >= maxScrollback {
		e.scrollback = slices.Clone(e.scrollback[maxScrollback/2:])
	}
	e.scrollback = append(e.scrollback, r.text())
}

// erase empties the cells from one column up to another of a row.
func (e *Emulator) erase(y, from, to int) {
	to = min(to, e.cols)
	old := e.y
	e.y = y
	e.split(from)
	e.split(to)
	e.y = old
	for x := from; x < to; x++ {
		e.grid[y][x] = cell{width: 1, style: Style{Background: e.style.Background}}
	}
}

// show changes between the two screens.
func (e *Emulator) show(alt bool) {
	if e.alt != alt {
		e.grid, e.other, e.alt = e.other, e.grid, alt
		e.wrap = false
	}
}

// save and restore are ESC 7 and ESC 8; each screen has its own place.
func (e *Emulator) save() {
	e.saved[e.screen()] = cursor{e.x, e.y, e.wrap, e.style, e.modes[modeOrigin], e.lines, e.shift}
}

func (e *Emulator) restore() {
	c := e.saved[e.screen()]
	e.x, e.y, e.wrap, e.style, e.lines, e.shift = min(c.x, e.cols-1), min(c.y, e.rows-1), c.wrap, c.style, c.lines, c.shift
	e.modes[modeOrigin] = c.origin
}

func (e *Emulator) screen() int {
	if e.alt {
		return 1
	}
	return 0
}
