package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// itemLines is how many lines of one item are printed at most: a scrollback is
// not the place for more.
const itemLines = 2000

// patchLines is how many lines of a change are printed if no user has asked for
// more.
const patchLines = 30

// A printer prints what is finished above the part that changes, in order and
// once. Only one command is on its way at a time, since commands overtake each
// other.
type printer struct {
	m *model

	queue    []string // lines to print
	printing bool
	emit     func(lines []string) tea.Cmd // prints them

	first   int             // items before it are printed
	printed map[string]bool // ids of items after it that are, and of all after a reset
	begun   map[string]bool // ids of calls that started an agent, whose beginning is
	last    transcript.Kind
	blank   bool // the last line is empty

	// What is printed of the text that is being written: its source, and its lines.
	source string
	shown  []string

	heights []height // of the part that changes
}

// A height is how high the part that changes was at a time, and in which of its
// rows the cursor was.
type height struct {
	time   time.Time
	lines  int
	cursor int
}

// heightAge and heightCount are for how long the terminal may still show an older
// one: it is written to by another goroutine, a few times a second.
const (
	heightAge   = 500 * time.Millisecond
	heightCount = 3
)

// init begins.
func (p *printer) init(m *model) {
	*p = printer{m: m, printed: map[string]bool{}, begun: map[string]bool{}, last: -1, blank: true}
	p.emit = p.above
}

// add adds lines of our own.
func (p *printer) add(lines ...string) {
	for _, line := range lines {
		p.m.dirty = true // what is printed is no longer shown below
		p.queue = append(p.queue, paint.Cut(line, p.m.width))
		p.blank = line == ""
	}
}

// empty says whether all is printed.
func (p *printer) empty() bool { return len(p.queue) == 0 && !p.printing }

// done says that what was on its way has been printed.
func (p *printer) done() { p.printing = false }

// least is how high the part that changes has to be: Bubble Tea loses count of
// its rows, and leaves the first ones behind, if it becomes lower than where the
// cursor was.
func (p *printer) least() int {
	least := 1
	for _, h := range p.heights {
		least = max(least, h.cursor+1)
	}
	return least
}

// measured takes the height of the part that changes, and the cursor's row in it.
func (p *printer) measured(lines, cursor int) {
	now := p.m.now()
	p.heights = append(p.heights, height{now, lines, cursor})
	// The one before those that are young enough may still be on the screen, too.
	first := 0
	for first+heightCount < len(p.heights) && now.Sub(p.heights[first+1].time) > heightAge {
		first++
	}
	p.heights = slices.Delete(p.heights, 0, first)
}

// next returns the command that prints the next lines, nil if there are none or
// some are on their way. The terminal makes room for them by scrolling: there
// must not be more at a time than fit above the part that changes.
func (p *printer) next() tea.Cmd {
	if p.printing || len(p.queue) == 0 || !p.m.ready {
		return nil
	}
	highest := 0
	for _, h := range p.heights {
		highest = max(highest, h.lines)
	}
	n := min(len(p.queue), max(1, p.m.height-highest))
	lines := p.queue[:n]
	p.queue = p.queue[n:]
	return p.emit(lines)
}

// above prints lines above the part that changes.
func (p *printer) above(lines []string) tea.Cmd {
	text := strings.Join(lines, "\n")
	if text == "" {
		text = " " // nothing at all would not be printed
	}
	p.printing = true
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printedMsg{} })
}

// look says how items are drawn.
func (p *printer) look() *talk.Look {
	return &talk.Look{
		Styles: p.m.styles, Width: p.m.width, Now: p.m.now(), Session: p.m.session.ID(),
		Unfolded: func(it *transcript.Item) bool { return p.m.unfold && it.Kind == transcript.KindTool },
	}
}

// reset says that the log is another one: what comes is printed anew.
func (p *printer) reset() {
	p.forget()
	p.add(p.m.styles.Warn.Render("The log has changed; it starts over here."))
}

// forget says that the conversation begins anew, with nothing that is to be printed.
func (p *printer) forget() {
	p.first = 0
	clear(p.printed)
	clear(p.begun)
	p.source, p.shown = "", nil
}

// moved says that items have other places than before.
func (p *printer) moved() { p.first = 0 }

// items prints what has been finished. What is not holds up what comes after it,
// so that the order stays, but for agents: what they do is printed while they do
// it, between a line that says what they are to do and one that says what came of
// it.
func (p *printer) items() {
	c := &p.m.talk
	p.first = min(p.first, c.Len()) // what was being written may be gone
	blocked := false
	for i := p.first; i < c.Len(); i++ {
		it := c.Item(i)
		if p.printed[it.ID] {
			continue
		}
		waits := blocked && !(it.Parent != "" && p.begun[it.Parent])
		if !waits && p.finished(it) {
			for _, q := range c.QuestionsOf(i) { // the answer comes before what it led to
				if asked := c.Item(q); !p.printed[asked.ID] && p.finished(asked) {
					p.print(asked)
					p.printed[asked.ID] = true
				}
			}
			it = c.Item(i)
			p.print(it)
			p.printed[it.ID] = true
			continue
		}
		if !waits && it.Streaming {
			p.settle(it)
		}
		if !waits && it.Kind == transcript.KindTool && it.Tool != nil && it.Tool.Children > 0 && !p.begun[it.Tool.ID] {
			p.begun[it.Tool.ID] = true
			p.print(it)
		}
		blocked = true
	}
	for p.first < c.Len() && p.printed[c.Item(p.first).ID] {
		p.first++
	}
}

// finished says whether an item will not change any more.
func (p *printer) finished(it *transcript.Item) bool {
	if it.Streaming {
		return false
	}
	//nolint:exhaustive // the others are what they are
	switch it.Kind {
	case transcript.KindTool:
		if it.Tool == nil || it.Tool.State != transcript.ToolRunning {
			return true
		}
		// What has no result when the turn is over gets none.
		state := p.m.talk.State().Session
		return state == api.StateIdle || state == api.StateEnded
	case transcript.KindQuestion:
		return it.Question == nil || it.Question.State != api.QuestionOpen
	case transcript.KindNotice:
		return it.Label != transcript.RetryLabel || p.m.talk.State().Retry == nil // the footer tells how it goes
	}
	return true
}

// quiet says whether an item tells only what happens all the time, or what is
// said elsewhere on the screen.
func quiet(it *transcript.Item) bool {
	if it.Level != transcript.LevelInfo || it.Failed {
		return false
	}
	//nolint:exhaustive // the others are what the conversation is about
	switch it.Kind {
	case transcript.KindState:
		switch it.Label {
		case "session", "link", "ended":
			return true
		}
		return strings.HasPrefix(it.Label, "run ")
	case transcript.KindNotice:
		switch it.Label {
		case "summary", "suggestion", "request":
			return true
		}
		return strings.HasPrefix(it.Label, "hook")
	}
	return false
}

// print prints an item.
func (p *printer) print(it *transcript.Item) {
	if quiet(it) {
		return
	}
	lines := p.lines(it)
	if len(lines) == 0 {
		return
	}
	if it.Kind == transcript.KindText && it.Depth == 0 && p.source != "" {
		lines = p.remainder(it, lines)
		p.source, p.shown = "", nil
	} else {
		p.space(it.Kind)
	}
	if left := len(lines) - itemLines; left > 0 {
		lines = append(lines[:itemLines:itemLines], p.m.styles.Dim.Render("… more lines in the log"))
	}
	p.add(lines...)
	if it.Kind != transcript.KindRefusal || p.last != transcript.KindTool {
		p.last = it.Kind
	}
}

// lines draws an item to be printed. Changes to files are what people look at, so
// they are shown even if no user has asked for more than a line.
func (p *printer) lines(it *transcript.Item) []string {
	look := p.look()
	if it.Tool == nil || len(it.Tool.Patch) == 0 || p.m.unfold || it.Tool.State != transcript.ToolDone {
		return look.Lines(it)
	}
	look.Unfolded = func(*transcript.Item) bool { return true }
	lines := look.Lines(it)
	if left := len(lines) - patchLines; left > 1 {
		lines = append(lines[:patchLines:patchLines], p.m.styles.Dim.Render(fmt.Sprintf("  %s %d more lines; ctrl+o shows them", p.m.styles.Glyphs.Ellipsis, left)))
	}
	return lines
}

// space keeps items of different kinds apart.
func (p *printer) space(kind transcript.Kind) {
	if kind == transcript.KindRefusal && p.last == transcript.KindTool {
		return // it belongs to it
	}
	if !p.blank && (kind != p.last || kind == transcript.KindText || kind == transcript.KindPrompt) {
		p.add("")
	}
}

// remainder returns the lines of a finished text that were not printed while it
// was written.
func (p *printer) remainder(it *transcript.Item, lines []string) []string {
	if len(lines) >= len(p.shown) && slices.Equal(lines[:len(p.shown)], p.shown) {
		return lines[len(p.shown):]
	}
	if rest, found := strings.CutPrefix(it.Text, p.source); found {
		part := *it
		part.Text = rest
		return p.look().Lines(&part)
	}
	return append([]string{""}, lines...) // it was another text
}

// settle prints what cannot change any more of a text that is being written.
func (p *printer) settle(it *transcript.Item) {
	if it.Kind != transcript.KindText || it.Depth != 0 {
		return
	}
	if !strings.HasPrefix(it.Text, p.source) { // another one
		p.source, p.shown = "", nil
	}
	end := settled(it.Text)
	if end <= len(p.source) {
		return
	}
	part := *it
	part.Text, part.Streaming = it.Text[:end], false
	lines := p.look().Lines(&part)
	if len(lines) < len(p.shown) || !slices.Equal(lines[:len(p.shown)], p.shown) {
		return // it has changed after all; the rest is printed when it is finished
	}
	if len(p.shown) == 0 {
		p.space(transcript.KindText)
	}
	p.add(lines[len(p.shown):]...)
	p.last = transcript.KindText
	p.source, p.shown = it.Text[:end], lines
}

// settled returns how much of a Markdown text cannot be changed by what follows:
// up to the last paragraph that begins at the left, outside of code.
func settled(text string) int {
	end, offset := 0, 0
	fence := ""
	blank := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			blank = false
		case trimmed == "":
			blank = true
		default:
			if blank && strings.HasSuffix(line, "\n") && !strings.ContainsAny(line[:1], " \t-*+>|0123456789") {
				end = offset
			}
			blank = false
			if mark := trimmed[:min(3, len(trimmed))]; mark == "```" || mark == "~~~" {
				fence = mark
			}
		}
		offset += len(line)
	}
	return end
}

// again prints the last tool once more, as it is to be shown now.
func (p *printer) again() {
	c := &p.m.talk
	for i := c.Len() - 1; i >= 0; i-- {
		it := c.Item(i)
		if it.Kind != transcript.KindTool || !p.printed[it.ID] {
			continue
		}
		if p.m.unfold {
			p.print(it)
			p.m.note = "tools in full; ctrl+o shows one line each"
		} else {
			p.m.note = "tools in one line each"
		}
		return
	}
}

// rest prints what is not finished, as it is now.
func (p *printer) rest() {
	c := &p.m.talk
	for i := p.first; i < c.Len(); i++ {
		if it := c.Item(i); !p.printed[it.ID] && it.Kind != transcript.KindQuestion && (it.Tool == nil || !p.begun[it.Tool.ID]) {
			p.print(it)
			p.printed[it.ID] = true
		}
	}
}
