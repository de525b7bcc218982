package screen

import (
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// maxDrawn is how many items are kept as they were drawn. All others are drawn again when they come into view.
const maxDrawn = 400

// A row is one line of the conversation: the n-th line of an item.
type row struct {
	item, line int
	text       string
}

// A window is a part of a session's log without holes, and a place in it. It draws only what it shows: there is no layout of the whole.
type window struct {
	log  eventlog.Log
	talk *transcript.Conversation
	// first and last are the numbers of the first and the last event in it. tail says that it ends where the log does, and is followed.
	first, last int64
	tail        bool

	look     talk.Look
	height   int
	unfolded map[string]bool // by the item's id: those that were folded or unfolded one by one
	open     bool            // whether all others are unfolded
	drawn    [][]string      // by the item; nil if it was not drawn yet
	count    int             // of drawn

	// Where: at the end, or with a line of an item at the top.
	bottom    bool
	top, line int
	// selected is the item that keys are about, -1 if there is none.
	selected int

	reading bool // a page is on its way
	unseen  int  // pages that were read to fill the screen
	// wanted is how many lines are still to be scrolled when it has come; negative is up.
	wanted int
}

// newWindow makes an empty window before the event with a number.
func newWindow(l eventlog.Log, before int64, tail bool) *window {
	return &window{
		log: l, talk: &transcript.Conversation{}, first: before, last: before - 1, tail: tail, bottom: tail,
		unfolded: map[string]bool{}, selected: -1,
	}
}

// size sets how it is drawn.
func (w *window) size(look talk.Look, height int) {
	again := look.Width != w.look.Width || look.Styles != w.look.Styles || look.Thinking != w.look.Thinking
	w.look, w.height = look, max(1, height)
	w.look.Unfolded = w.isUnfolded
	if again {
		w.forget()
	}
}

// isUnfolded reports whether an item is shown whole.
func (w *window) isUnfolded(it *transcript.Item) bool {
	if is, chosen := w.unfolded[it.ID]; chosen {
		return is
	}
	return w.open
}

// forget has everything drawn again.
func (w *window) forget() {
	w.drawn, w.count = make([][]string, w.talk.Len()), 0
	w.settle()
}

// lines returns an item as it is drawn.
func (w *window) lines(i int) []string {
	if w.drawn[i] != nil {
		return w.drawn[i]
	}
	if w.count >= maxDrawn {
		clear(w.drawn)
		w.count = 0
	}
	it := w.talk.Item(i)
	lines := w.look.Lines(it)
	out := make([]string, 0, len(lines)+1) // never nil: some have nothing to show
	if len(lines) > 0 && i > 0 && spaced(it, w.talk.Item(i-1)) {
		out = append(out, "")
	}
	w.drawn[i] = append(out, lines...)
	w.count++
	return w.drawn[i]
}

// spaced reports whether there is a blank line before an item. Tools that follow each other stand together, as do small news.
func spaced(it, before *transcript.Item) bool {
	small := func(k transcript.Kind) bool {
		return k == transcript.KindTool || k == transcript.KindState || k == transcript.KindNotice || k == transcript.KindUnknown || k == transcript.KindResult ||
			k == transcript.KindRefusal
	}
	return !small(it.Kind) || !small(before.Kind)
}

// changed takes over what the conversation says has changed.
func (w *window) changed(c transcript.Changed) {
	if c.Reset || len(w.drawn) > w.talk.Len() {
		w.forget()
		return
	}
	for len(w.drawn) < w.talk.Len() {
		w.drawn = append(w.drawn, nil)
	}
	for _, i := range c.Items {
		if i >= 0 && i < len(w.drawn) && w.drawn[i] != nil {
			w.drawn[i] = nil
			w.count--
		}
	}
	w.settle()
}

// append takes a frame at the end.
func (w *window) append(f *api.Frame) transcript.Changed {
	if e := f.Event; e != nil && f.Type == api.FrameEvent {
		if e.Seq <= w.last {
			return transcript.Changed{} // it is there already
		}
		w.last = e.Seq
	}
	c := w.talk.Frame(*f)
	w.changed(c)
	return c
}

// more takes a page that comes behind what is there.
func (w *window) more(events []api.Event, last int64) {
	for i := range events {
		w.changed(w.talk.Event(&events[i]))
	}
	w.last = max(w.last, last)
}

// prepend takes the page before what is there. What is on the screen stays where it is.
func (w *window) prepend(events []api.Event, from int64) {
	anchor, chosen := w.name(w.top), w.name(w.selected)
	n := w.talk.Prepend(events)
	w.first = from
	w.drawn, w.count = make([][]string, w.talk.Len()), 0
	w.top = w.named(anchor, w.top+n)
	if w.selected >= 0 {
		w.selected = w.named(chosen, w.selected+n)
	}
	w.settle()
}

// name returns the id of an item.
func (w *window) name(i int) string {
	if i < 0 || i >= w.talk.Len() {
		return ""
	}
	return w.talk.Item(i).ID
}

// named returns where the item with an id is now: about where it is thought to be, since some may have grown together.
func (w *window) named(id string, about int) int {
	for d := range 8 {
		for _, i := range []int{about - d, about + d} {
			if id != "" && w.name(i) == id {
				return i
			}
		}
	}
	return min(max(0, about), max(0, w.talk.Len()-1))
}

// settle keeps the place within what there is.
func (w *window) settle() {
	last := w.talk.Len() - 1
	w.top, w.selected = min(max(0, w.top), max(0, last)), min(w.selected, last)
	if last >= 0 && w.line > 0 {
		w.line = min(w.line, max(0, len(w.lines(w.top))-1))
	}
}

// rows returns what is on the screen, from the top, at most height of them.
func (w *window) rows() []row {
	if len(w.drawn) != w.talk.Len() {
		w.forget()
	}
	if !w.bottom {
		rows := w.from(w.top, w.line)
		if len(rows) == w.height {
			return rows
		}
		// There is no more below: what is at the end stays at the bottom.
		w.bottom = w.tail
		if end := w.atEnd(); len(end) > 0 {
			w.top, w.line = end[0].item, end[0].line
			return end
		}
	}
	return w.atEnd()
}

// from returns the rows from a place on.
func (w *window) from(item, line int) []row {
	rows := make([]row, 0, w.height)
	for i := item; i < w.talk.Len(); i++ {
		lines := w.lines(i)
		for n := line; n < len(lines); n++ {
			rows = append(rows, row{i, n, lines[n]})
			if len(rows) == w.height {
				return rows
			}
		}
		line = 0
	}
	return rows
}

// atEnd returns the last rows.
func (w *window) atEnd() []row {
	rows := make([]row, 0, w.height)
	for i := w.talk.Len() - 1; i >= 0; i-- {
		for n, line := range slices.Backward(w.lines(i)) {
			rows = append(rows, row{i, n, line})
			if len(rows) == w.height {
				slices.Reverse(rows)
				return rows
			}
		}
	}
	slices.Reverse(rows)
	return rows
}

// scroll moves by lines; negative is up. It reports how many are missing because what is beyond has not been read.
func (w *window) scroll(by int) (missing int) {
	rows := w.rows()
	if len(rows) == 0 {
		return by
	}
	w.top, w.line = rows[0].item, rows[0].line
	for ; by < 0; by++ {
		if !w.up() {
			w.bottom = w.bottom && len(rows) < w.height
			return by
		}
		w.bottom = false
	}
	for ; by > 0; by-- {
		if w.bottom {
			return by
		}
		top, line := w.top, w.line
		if !w.down() || len(w.from(w.top, w.line)) < w.height {
			w.top, w.line, w.bottom = top, line, w.tail
			return by
		}
	}
	return 0
}

// up moves the top one line up, if there is one.
func (w *window) up() bool {
	if w.line > 0 {
		w.line--
		return true
	}
	for i := w.top - 1; i >= 0; i-- {
		if n := len(w.lines(i)); n > 0 {
			w.top, w.line = i, n-1
			return true
		}
	}
	return false
}

// down moves the top one line down, if there is one.
func (w *window) down() bool {
	if w.line+1 < len(w.lines(w.top)) {
		w.line++
		return true
	}
	for i := w.top + 1; i < w.talk.Len(); i++ {
		if len(w.lines(i)) > 0 {
			w.top, w.line = i, 0
			return true
		}
	}
	return false
}

// short reports whether the rows do not fill the screen.
func (w *window) short() bool { return len(w.rows()) < w.height }

// toEnd shows the end.
func (w *window) toEnd() { w.bottom, w.selected = w.tail, w.talk.Len()-1 }

// toStart shows the first line.
func (w *window) toStart() { w.bottom, w.top, w.line, w.selected = false, 0, 0, 0 }

// show scrolls so far that an item is on the screen, and selects it.
func (w *window) show(i int) {
	w.selected = i
	rows := w.rows()
	for _, r := range rows {
		if r.item == i && (r.line == 0 || len(w.lines(i)) > w.height) {
			if r.item != rows[len(rows)-1].item || r.line == len(w.lines(i))-1 || w.bottom {
				return
			}
		}
	}
	if len(rows) > 0 && i > rows[0].item && len(w.lines(i)) < w.height {
		// It is below: its last line becomes the last one.
		w.bottom, w.top, w.line = false, i, 0
		for range w.height - len(w.lines(i)) {
			if !w.up() {
				break
			}
		}
		return
	}
	w.bottom, w.top, w.line = false, i, 0
}

// lookAt shows an item a third down the screen, with what is around it.
func (w *window) lookAt(i int) {
	w.selected, w.bottom, w.top, w.line = i, false, i, 0
	for range w.height / 3 {
		if !w.up() {
			break
		}
	}
}

// step selects the next item up or down that has lines; in one that is higher than the screen it moves by lines. It reports whether it could.
func (w *window) step(by int) bool {
	rows := w.rows()
	if len(rows) == 0 {
		return false
	}
	i := w.selected
	on := slices.ContainsFunc(rows, func(r row) bool { return r.item == i })
	if !on { // begin with what is on the screen
		if by < 0 {
			w.selected = rows[len(rows)-1].item
		} else {
			w.selected = rows[0].item
		}
		return true
	}
	first, last := rows[0], rows[len(rows)-1]
	if by < 0 && first.item == i && first.line > 0 || by > 0 && last.item == i && last.line < len(w.lines(i))-1 {
		return w.scroll(by) == 0
	}
	for i += by; i >= 0 && i < w.talk.Len(); i += by {
		if len(w.lines(i)) > 0 {
			if by < 0 && len(w.lines(i)) > w.height { // its end first
				w.selected = i
				return w.scroll(-1) == 0
			}
			w.show(i)
			return true
		}
	}
	return false
}

// fold folds the selected item or unfolds it.
func (w *window) fold() bool {
	if w.selected < 0 || w.selected >= w.talk.Len() {
		return false
	}
	it := w.talk.Item(w.selected)
	w.unfolded[it.ID] = !w.isUnfolded(it)
	w.drawn[w.selected] = nil
	w.count--
	w.bottom = w.bottom && w.selected == w.talk.Len()-1
	if !w.bottom {
		w.show(w.selected)
	}
	w.settle()
	return true
}

// foldAll unfolds everything, or folds it again.
func (w *window) foldAll() {
	w.open = !w.open
	clear(w.unfolded)
	w.forget()
}

// matches reports whether an item has a text, which is in lower case.
func matches(it *transcript.Item, text string) bool {
	has := func(s string) bool { return s != "" && strings.Contains(strings.ToLower(s), text) }
	if has(it.Text) {
		return true
	}
	if t := it.Tool; t != nil {
		return has(t.Title) || has(t.Output) || has(string(t.Input))
	}
	return false
}

// find returns the next item up or down from a place that has a text, -1 if there is none.
func (w *window) find(text string, from, by int) int {
	text = strings.ToLower(text)
	for i := from; i >= 0 && i < w.talk.Len(); i += by {
		if matches(w.talk.Item(i), text) {
			return i
		}
	}
	return -1
}

// at returns the item with an event, or the last one before it.
func (w *window) at(seq int64) int {
	found := -1
	for i := range w.talk.Len() {
		if _, n := eventlog.Position(w.talk.Item(i).Event); n > seq {
			break
		}
		found = i
	}
	return found
}
