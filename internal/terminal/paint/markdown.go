package paint

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Markdown renders a text as lines of at most width columns; 0 does not wrap. It knows what GitHub knows of Markdown, except for HTML and
// for references to links that are defined elsewhere, which both stay as they are written. Whatever the text is, the cost is linear in
// its length.
func (s *Styles) Markdown(text string, width int) []string {
	m := NewMarkdownStream(s, width)
	m.Push(text)
	return m.Close()
}

// Parts of a text that are rendered for themselves are no longer than these, in bytes. They bound what a nested, endless or otherwise
// hostile text can cost. A line that is longer is shown as it is.
const (
	maxSegment = 16 << 10
	maxLine    = 16 << 10
)

// A MarkdownStream renders a text that is still being written. All lines that Settled has returned, and then those of Tail, are those of
// the whole text so far. It belongs to one goroutine.
//
// The text is cut into segments that are rendered one by one: at blank lines, headings and fences, but not within a list. So a segment is
// settled when the next begins, and no call costs more than the open one.
type MarkdownStream struct {
	cutter
	pending []byte   // the line that has not ended
	done    []string // settled, not fetched yet
	tail    []string // what Tail returned, until something is pushed
	known   bool     // whether tail is valid
}

// NewMarkdownStream returns a stream for lines of at most width columns.
func NewMarkdownStream(s *Styles, width int) *MarkdownStream {
	return &MarkdownStream{cutter: cutter{renderer: newRenderer(s, width)}}
}

// Push adds to the text.
func (m *MarkdownStream) Push(delta string) {
	if delta == "" {
		return
	}
	m.known, m.tail = false, nil
	emit := func(line string) { m.done = append(m.done, line) }
	for delta != "" {
		line, rest, found := strings.Cut(delta, "\n")
		room := maxLine - len(m.pending)
		if len(line) > room {
			// Only as much as is needed to decide where to cut, or a text would be rendered otherwise if it came in other pieces.
			m.pending = append(m.pending, delta[:room+1]...)
			delta = delta[room+1:]
			n := cutAt(m.pending)
			m.long(string(m.pending[:n]), emit)
			m.pending = append(m.pending[:0], m.pending[n:]...)
			continue
		}
		m.pending = append(m.pending, line...)
		if delta = rest; found {
			m.line(string(m.pending), emit)
			m.pending = m.pending[:0]
		}
	}
}

// cutAt returns where a line that is too long is cut: after a space in its second half, or between characters.
func cutAt(line []byte) int {
	if i := bytes.LastIndexByte(line[:maxLine], ' '); i > maxLine/2 {
		return i + 1
	}
	n := maxLine
	for n > maxLine-utf8.UTFMax && !utf8.RuneStart(line[n]) {
		n--
	}
	return n
}

// Settled returns the lines that cannot change any more, since the last call.
func (m *MarkdownStream) Settled() []string {
	lines := m.done
	m.done = nil
	return lines
}

// Tail returns the lines of what may still change. They are the caller's to read until the next Push.
func (m *MarkdownStream) Tail() []string {
	if !m.known {
		m.tail, m.known = nil, true
		open := m.cutter
		open.text = bytes.Clone(m.text) // the copy must not write into it
		emit := func(line string) { m.tail = append(m.tail, line) }
		if len(m.pending) > 0 {
			open.line(string(m.pending), emit)
		}
		open.flush(emit)
	}
	return m.tail
}

// Close says that the text is complete, and returns the lines that Settled has not returned. The stream is then as new.
func (m *MarkdownStream) Close() []string {
	lines := append(m.Settled(), m.Tail()...)
	*m = MarkdownStream{cutter: cutter{renderer: m.renderer}}
	return lines
}

// segment is what kind of segment is open.
type segment int

const (
	segmentNone segment = iota
	segmentFlow
	segmentList
	segmentFence
)

// A cutter cuts a text, line by line, into segments and has them rendered. What it decides depends on the lines so far alone.
type cutter struct {
	renderer *renderer
	open     segment
	text     []byte // of the open segment, unless it is a fence
	blank    bool   // a blank line came last
	fence    fence  // the open one; within a list it is the list's
	shown    bool   // something has been emitted: a blank line stands before the next segment
	glued    bool   // the next segment goes on with the last: no blank line
	tailed   bool   // the line goes on from one that was too long
}

// long takes a part of a line that is too long.
func (c *cutter) long(text string, emit func(string)) {
	if c.open != segmentFence {
		c.flush(emit)
	}
	c.verbatim(text, emit)
	c.tailed = true
}

// verbatim shows a part of a line as it is.
func (c *cutter) verbatim(text string, emit func(string)) {
	text = Clean(strings.TrimSuffix(text, "\r"))
	if c.open == segmentFence {
		c.renderer.code(text, emit)
		return
	}
	c.separate(emit)
	c.renderer.plain(text, emit)
	c.glued = true
}

// line takes a line without its end.
func (c *cutter) line(text string, emit func(string)) {
	if c.tailed { // the end of a line that was too long
		c.tailed = false
		if text != "" {
			c.verbatim(text, emit)
		}
		c.glued = false
		return
	}
	text = Clean(strings.TrimSuffix(text, "\r"))
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if c.open == segmentFence {
		if c.fence.closedBy(indent, body) {
			c.open, c.fence = segmentNone, fence{}
			return
		}
		c.renderer.code(text[min(indent, c.fence.indent):], emit)
		return
	}
	if nesting(body) > maxNesting {
		c.flush(emit)
		c.verbatim(text, emit)
		return
	}
	if body == "" {
		c.blank = true
		if c.open != segmentNone {
			c.text = append(c.text, '\n')
		}
		return
	}
	if c.begins(indent, body) {
		c.flush(emit)
	}
	if len(c.text)+len(text) > maxSegment {
		glued := !c.blank
		c.flush(emit)
		c.glued = glued
	}
	c.blank = false
	near := c.near(indent)
	switch mark, opens := opening(indent, body); {
	case opens && near:
		c.separate(emit)
		c.open, c.fence = segmentFence, mark
		c.renderer.label(mark.info, emit)
		return
	case c.open == segmentNone:
		c.open = segmentFlow
		if item(body) && indent < 4 {
			c.open = segmentList
		}
	}
	c.inner(body)
	c.text = append(append(c.text, text...), '\n')
	if near && heading(body) {
		c.flush(emit)
	}
}

// near reports whether a line stands at the left edge, so that it cannot belong to what is open.
func (c *cutter) near(indent int) bool {
	if c.open == segmentList {
		return indent < 2 && c.fence == fence{}
	}
	return indent < 4
}

// begins reports whether a line begins a segment of its own.
func (c *cutter) begins(indent int, body string) bool {
	if c.open == segmentNone || !c.near(indent) {
		return false
	}
	if _, opens := opening(indent, body); opens || heading(body) {
		return true
	}
	if c.open == segmentList {
		return c.blank && !item(body)
	}
	return c.blank || interrupts(body)
}

// inner keeps account of a fence within a list: blank lines in it cut nothing.
func (c *cutter) inner(body string) {
	if c.open != segmentList {
		return
	}
	if c.fence != (fence{}) {
		if c.fence.closes(body) {
			c.fence = fence{}
		}
		return
	}
	for rest := body; ; { // a fence may stand right after the item's sign
		if mark, opens := opening(0, rest); opens {
			c.fence = mark
			return
		}
		n := marker(rest)
		if n == 0 {
			return
		}
		rest = strings.TrimLeft(rest[n:], " ")
	}
}

// flush renders the open segment.
func (c *cutter) flush(emit func(string)) {
	text := c.text
	c.open, c.text, c.blank, c.fence = segmentNone, c.text[:0], false, fence{}
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	if costly(text) {
		c.separate(emit)
		c.renderer.plain(strings.TrimRight(string(text), "\n"), emit)
		return
	}
	first := true
	c.renderer.segment(text, func(line string) {
		if first {
			c.separate(emit)
			first = false
		}
		emit(line)
	})
}

// separate puts a blank line before a segment that is not the first.
func (c *cutter) separate(emit func(string)) {
	if c.shown && !c.glued {
		emit("")
	}
	c.shown, c.glued = true, false
}

// costly reports whether a segment would cost far more than its length, as no text does that the user means: brackets that are never
// closed, and links that begin again and again within each other, are looked for to the end of the segment each time.
func costly(text []byte) bool {
	const maxOpen, maxSteps, maxPointed = 500, 256 << 10, 50
	if bytes.Count(text, []byte("["))-bytes.Count(text, []byte("]")) > maxOpen || bytes.Count(text, []byte("](<")) > maxPointed {
		return true
	}
	steps := 0
	for word := range bytes.FieldsSeq(text) {
		steps += bytes.Count(word, []byte("](")) * len(word)
	}
	return steps > maxSteps
}

// maxNesting is how many quotes and lists may begin in one line. What has more is shown as it is: reading it would cost much, and no user
// could read it anyway.
const maxNesting = 24

// nesting returns how many quotes and lists a line begins.
func nesting(body string) int {
	n := 0
	for ; n <= maxNesting; n++ {
		body = strings.TrimLeft(body, " ")
		if strings.HasPrefix(body, ">") {
			body = body[1:]
		} else if m := marker(body); m > 0 {
			body = body[m:]
		} else {
			break
		}
	}
	return n
}

// A fence is what stands before and after a block of code.
type fence struct {
	sign   byte
	length int
	indent int
	info   string
}

// opening reports whether a line opens a fence.
func opening(indent int, body string) (fence, bool) {
	if indent > 3 || body == "" || body[0] != '`' && body[0] != '~' {
		return fence{}, false
	}
	length := len(body) - len(strings.TrimLeft(body, body[:1]))
	info := strings.TrimSpace(body[length:])
	if length < 3 || body[0] == '`' && strings.Contains(info, "`") {
		return fence{}, false
	}
	return fence{sign: body[0], length: length, indent: indent, info: info}, true
}

// closedBy reports whether a line closes the fence.
func (f fence) closedBy(indent int, body string) bool { return indent < 4 && f.closes(body) }

func (f fence) closes(body string) bool {
	length := len(body) - len(strings.TrimLeft(body, string(f.sign)))
	return length >= f.length && strings.TrimRight(body[length:], " ") == ""
}

// heading reports whether a line is a heading of the kind with number signs.
func heading(body string) bool {
	n := len(body) - len(strings.TrimLeft(body, "#"))
	return n >= 1 && n <= 6 && (n == len(body) || body[n] == ' ')
}

// item reports whether a line begins an item of a list.
func item(body string) bool { return marker(body) > 0 && !rule(body) }

// interrupts reports whether it does so even right after a paragraph: it must not be empty, and a number must be 1.
func interrupts(body string) bool {
	n := marker(body)
	if n == 0 || rule(body) || strings.TrimSpace(body[n:]) == "" {
		return false
	}
	return n == 1 || strings.TrimLeft(body[:n-1], "0") == "1"
}

// marker returns how long the sign of a list's item is, or 0 if a line begins none.
func marker(body string) int {
	n := 0
	switch {
	case body == "":
		return 0
	case strings.IndexByte("-*+", body[0]) >= 0:
		n = 1
	default:
		for n < len(body) && n < 9 && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		if n == 0 || n == len(body) || body[n] != '.' && body[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(body) && body[n] != ' ' {
		return 0
	}
	return n
}

// rule reports whether a line is a horizontal rule.
func rule(body string) bool {
	if strings.IndexByte("-*_", body[0]) < 0 {
		return false
	}
	return strings.Count(body, body[:1]) >= 3 && strings.Trim(body, body[:1]+" ") == ""
}
