package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// EditedMsg is what became of a text in an editor.
type EditedMsg = compose.EditedMsg

// A Key is a key and what it does.
type Key struct{ Key, Help string }

// AnsweredMsg says that the user has decided. The view that shows the question sends the answer, and then calls Settled or Failed.
type AnsweredMsg struct {
	Question string
	Answer   api.Answer
}

// PutOffMsg says that the question is to be answered later.
type PutOffMsg struct{ Question string }

// Options say how a question is shown. The zero value is 80 columns without colours.
type Options struct {
	// Styles are what it is drawn with. If nil, without colours.
	Styles *paint.Styles
	// Width is how many columns there are. If zero, 80. Height is how many lines there are. If zero, as many as it takes.
	Width, Height int
	// Diff shows what a tool changes in a file, in lines of at most width columns; nil from it means that it does not know. If Diff is nil,
	// what the tool's input says is shown.
	Diff func(tool string, input json.RawMessage, width int) []string
	// Editor opens a text in an editor; see compose.Editor. If nil, texts are edited in place.
	Editor func(text, suffix string) tea.Cmd
	// Dir is the folder in which images to attach are looked for.
	Dir string
	// Guard is for how long no key must have been pressed before one counts, so that a user who was just typing something else does not
	// answer by accident. If zero, every key counts. It needs Init.
	Guard time.Duration
	// Wait is how long that lasts if no key is pressed meanwhile. If zero, as long as Guard.
	Wait time.Duration
	// Later makes a command that brings a message after a while. If nil, one that ends only then.
	Later func(d time.Duration, msg tea.Msg) tea.Cmd
}

// phase is how far the answer has come.
type phase int

const (
	open    phase = iota
	sent          // the answer is on its way
	settled       // by whomever
)

// A Model is a question that is being answered.
type Model struct {
	o      Options
	styles *paint.Styles
	q      *api.Question // read only
	part   part
	phase  phase

	body     []string // what can be scrolled
	scroll   int
	unfolded bool
	seen     int  // how many lines of the body were to be seen so far, from the first
	warned   bool // it was said that something was not

	// At most one of these is open, and takes the keys.
	entry   entry
	menu    menu
	editing func(m Model, text string) (Model, tea.Cmd)

	problem string // what went wrong last
	guarded bool
	wait    time.Duration // how long the guard lasts from now
	seq     int           // of the guard
}

// A part is what differs between the kinds of questions. It is a value: methods return what has changed.
type part interface {
	// head returns what is asked, body what can be scrolled through, tail what can be chosen.
	head(m Model) []string
	body(m Model) []string
	tail(m Model) tail
	// key does what a key says.
	key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd)
	keys(m Model) []Key
	// changed returns the part with what is new about the question.
	changed(m Model) part
}

// A tail is what stands below the text of a question. The line focus must be seen; cursor says that it has the cursor, in column x.
type tail struct {
	lines  []string
	focus  int
	cursor bool
	x      int
}

// New returns a question to be answered. The question is not changed, and must not be meanwhile.
func New(q *api.Question, o Options) Model {
	if o.Styles == nil {
		o.Styles = paint.Profile{}.Styles()
	}
	if o.Later == nil {
		o.Later = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	}
	m := Model{o: o, styles: o.Styles, q: q, guarded: o.Guard > 0, wait: cmp.Or(o.Wait, o.Guard)}
	switch q.Kind {
	case api.QuestionPermission:
		m.part = newPermission(q)
	case api.QuestionChoice:
		m.part = newChoice(q)
	case api.QuestionPlan:
		m.part = newPlan(q)
	case api.QuestionForm:
		m.part = newForm(q)
	case api.QuestionDialog:
		m.part = newDialog(q)
	default:
		m.part = unknown{}
	}
	if q.State != "" && q.State != api.QuestionOpen {
		m.phase = settled
	}
	return m.SetSize(o.Width, o.Height)
}

// Question returns the question.
func (m Model) Question() *api.Question { return m.q }

// SetSize tells how much room there is.
func (m Model) SetSize(width, height int) Model {
	if width <= 0 {
		width = 80
	}
	m.o.Width, m.o.Height = width, max(0, height)
	return m.relaid()
}

// leastBar is how many columns there must be for a bar before what the agent wrote.
const leastBar = 12

// relaid draws anew what can be scrolled.
func (m Model) relaid() Model {
	inner, bar := m, ""
	if m.o.Width >= leastBar {
		// A bar stands before what the agent wrote: none of it can pass for something of ours.
		inner.o.Width -= 2
		bar = m.styles.Dim.Render(m.styles.Glyphs.Bar) + " "
	}
	lines := m.part.body(inner)
	for i, line := range lines {
		lines[i] = bar + line
	}
	if !slices.Equal(lines, m.body) {
		m.body, m.seen, m.warned = lines, 0, false
	}
	m.scroll = max(0, min(m.scroll, m.most()))
	return m.looked()
}

// looked keeps account of how much of the body has been seen.
func (m Model) looked() Model {
	switch rows := m.bodyRows(); {
	case len(m.body) <= rows:
		m.seen = len(m.body)
	case rows > 1 && m.scroll <= m.seen: // one of the rows says that there is more
		m.seen = max(m.seen, min(m.scroll+rows-1, len(m.body)))
	}
	return m
}

// unseen says that the lines of the body from the first one that was never shown on have not been read; once, for a user who insists knows.
func (m Model) unseen() (Model, bool) {
	if m.seen >= len(m.body) || m.warned {
		return m, false
	}
	m.warned = true
	m.problem = fmt.Sprintf("lines %d-%d not shown yet: scroll down (pgdown), or press the key again", m.seen+1, len(m.body))
	return m, true
}

// Typing reports whether a text is being written: then every key is the question's.
func (m Model) Typing() bool {
	if m.phase != open {
		return false
	}
	return m.entry.open || m.part.tail(m).cursor && !m.menu.open
}

// Settled shows how the question was settled, by whomever; no keys count any more.
func (m Model) Settled(q *api.Question) Model {
	m.q, m.phase, m.problem = q, settled, ""
	m.entry, m.menu, m.editing = entry{}, menu{}, nil
	return m
}

// Failed says that the answer was not taken, and why. The question is open again, unless another person was faster.
func (m Model) Failed(err error) Model {
	if e, ok := errors.AsType[*api.Error](err); ok && e.Code == api.CodeAlreadySettled && e.Question != nil {
		return m.Settled(e.Question)
	}
	if m.phase == sent {
		m.phase = open
	}
	m.problem = err.Error()
	return m
}

// Changed shows what is new about the question. What was written stays. If keys mean something else now, or are about something else, none
// counts until the user had the time to see that.
func (m Model) Changed(q *api.Question) Model {
	if q.State != "" && q.State != api.QuestionOpen {
		return m.Settled(q)
	}
	other := !sameMeaning(m.q, q)
	m.q = q
	m.part = m.part.changed(m)
	if other {
		m.menu = menu{} // what it lists may not be offered any more
		if m.phase == open && m.editing == nil && !m.Typing() {
			m.guarded, m.o.Guard = true, max(m.o.Guard, changedGuard)
			m.wait = m.o.Guard
			m.seq++
			m.problem = "this just changed: read it again before you answer"
		}
	}
	return m.relaid()
}

// changedGuard is for how long no key counts once one was pressed after the question has changed.
const changedGuard = 600 * time.Millisecond

// sameMeaning reports whether keys mean the same with two states of a question.
func sameMeaning(a, b *api.Question) bool {
	return bytes.Equal(a.Request, b.Request) && planText(a) == planText(b) && slices.Equal(planChoices(a), planChoices(b)) &&
		slices.EqualFunc(a.Suggestions, b.Suggestions, func(a, b api.Suggestion) bool {
			return a.Text == b.Text && a.Destination == b.Destination && bytes.Equal(a.Update, b.Update)
		})
}

// guardMsg says that no key was pressed for a while.
type guardMsg struct {
	question string
	seq      int
}

// Init starts the time in which keys do not count yet.
func (m Model) Init() tea.Cmd {
	if !m.guarded {
		return nil
	}
	return m.o.Later(m.wait, guardMsg{m.q.ID, m.seq})
}

// Guarded reports whether no key counts yet.
func (m Model) Guarded() bool { return m.guarded && m.phase == open }

// Update changes the question as a message says.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case guardMsg:
		if msg.question == m.q.ID && msg.seq == m.seq {
			m.guarded = false
		}
	case tea.KeyPressMsg:
		if m.guarded {
			m.wait = m.o.Guard
			m.seq++
			return m, m.Init()
		}
		if msg.IsRepeat && !m.Typing() && !moves(msg) {
			return m, nil // a user who holds a key down decides nothing more with it
		}
		m, cmd := m.key(msg)
		return m.looked(), cmd
	case tea.PasteMsg:
		if m.guarded || m.phase != open {
			return m, nil
		}
		return m.paste(msg.Content)
	case EditedMsg:
		then := m.editing
		if then == nil {
			return m, nil
		}
		m.editing = nil
		if msg.Err != nil {
			m.problem = msg.Err.Error()
			return m, nil
		}
		return then(m, msg.Text)
	case imageMsg:
		if msg.question == m.q.ID && m.entry.open && m.entry.images {
			m.entry, m.problem = m.entry.image(msg)
		}
	}
	return m, nil
}

// moves reports whether a key only moves something on the screen, and may be held down.
func moves(key tea.KeyPressMsg) bool {
	switch key.String() {
	case "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "j", "k", "tab":
		return true
	}
	return false
}

// key does what a key says.
func (m Model) key(key tea.KeyPressMsg) (Model, tea.Cmd) {
	if m.phase != open || m.editing != nil {
		if key.String() == "esc" && m.editing == nil {
			return m, m.putOff()
		}
		return m.scrolled(key), nil
	}
	m.problem = ""
	switch {
	case m.entry.open:
		return m.entryKey(key)
	case m.menu.open:
		return m.menuKey(key)
	}
	return m.part.key(m, key)
}

// common does what keys say that mean the same with every kind of question.
func (m Model) common(key tea.KeyPressMsg) (Model, tea.Cmd) {
	switch key.String() {
	case "esc":
		return m, m.putOff()
	case "v", "ctrl+o":
		m.unfolded, m.scroll = !m.unfolded, 0
		return m, nil
	}
	return m.scrolled(key), nil
}

// scrolled moves through the body.
func (m Model) scrolled(key tea.KeyPressMsg) Model {
	page := max(1, m.bodyRows()-1)
	switch key.String() {
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup", "ctrl+b":
		m.scroll -= page
	case "pgdown", "ctrl+f", "space":
		m.scroll += page
	case "home", "g":
		m.scroll = 0
	case "end", "G":
		m.scroll = len(m.body)
	}
	m.scroll = max(0, min(m.scroll, m.most()))
	return m
}

func (m Model) putOff() tea.Cmd {
	id := m.q.ID
	return func() tea.Msg { return PutOffMsg{id} }
}

// answered gives the answer to the model that shows the question.
func (m Model) answered(a api.Answer) (Model, tea.Cmd) {
	m.phase, m.entry, m.menu = sent, entry{}, menu{}
	id := m.q.ID
	return m, func() tea.Msg { return AnsweredMsg{id, a} }
}

// paste writes what was pasted where something is being written.
func (m Model) paste(text string) (Model, tea.Cmd) {
	m.problem = ""
	if m.entry.open {
		return m.entryPaste(text)
	}
	if p, ok := m.part.(interface {
		paste(m Model, text string) (Model, tea.Cmd)
	}); ok && !m.menu.open {
		return p.paste(m, text)
	}
	return m, nil
}

// edit has a text edited: in the editor, or in place if there is none.
func (m Model) edit(label, text, suffix string, then func(m Model, text string) (Model, tea.Cmd)) (Model, tea.Cmd) {
	if m.o.Editor == nil {
		if len(text) > maxInPlace {
			m.problem = "too long to edit here; set VISUAL or EDITOR"
			return m, nil
		}
		m.entry = newEntry(label, "", true, func(m Model, in written) (Model, tea.Cmd) { return then(m, in.text) })
		m.entry.empty = true // then judges the text
		m.entry.field = m.entry.field.Set(text)
		return m, nil
	}
	m.editing = func(m Model, edited string) (Model, tea.Cmd) {
		if !strings.HasSuffix(text, "\n") {
			edited = strings.TrimSuffix(edited, "\n") // which editors add
		}
		return then(m, edited)
	}
	return m, m.o.Editor(text, suffix)
}

// maxInPlace is how long a text may be to be edited without an editor, in bytes.
const maxInPlace = 64 << 10

// Keys returns the keys that count now, and what they do.
func (m Model) Keys() []Key {
	switch {
	case m.phase == settled, m.phase == sent:
		return []Key{{"esc", "close"}}
	case m.editing != nil:
		return nil
	case m.entry.open:
		return m.entry.keys()
	case m.menu.open:
		return []Key{{"1-9", "choose"}, {"up/down", "move"}, {"enter", "choose"}, {"esc", "back"}}
	}
	keys := m.part.keys(m)
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.Key == "esc" }) {
		keys = append(keys, Key{"esc", "later"})
	}
	return keys
}
