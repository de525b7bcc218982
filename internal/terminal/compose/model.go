package compose

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A Command is a command that can be written after a slash.
type Command struct {
	// Name is the command without its slash, Hint what it does.
	Name, Hint string
}

// A Key is a key and what it does.
type Key struct{ Key, Help string }

// CommandMsg says that one of our own commands was written.
type CommandMsg struct{ Name, Rest string }

// Options say what a composer can do. The zero value is a plain one.
type Options struct {
	// Styles are what it is drawn with. If nil, without colours.
	Styles *paint.Styles
	// Width is how many columns it has. If zero, 80. Rows is how many rows of the text are shown at most. If zero, 8.
	Width, Rows int
	// Dir is the folder in which @path is looked for.
	Dir string
	// History is what was written before, the oldest first. What is sent is appended to HistoryFile, if there is one.
	History     []string
	HistoryFile string
	// Commands are the CLI's own, which are sent as text; Slash are ours, which become a CommandMsg.
	Commands, Slash []Command
	// Files completes paths. If nil, those in Dir.
	Files func(prefix string) []string
	// Editor opens a text in an editor; see the function Editor. If nil, there is none.
	Editor func(text, suffix string) tea.Cmd
	// Placeholder stands where nothing is written yet.
	Placeholder string
}

// A Model is a composer.
type Model struct {
	// Static after construction.
	o      Options
	styles *paint.Styles

	field    Field
	attached []Attachment
	focused  bool
	problem  string // what went wrong last
	editing  bool   // the editor has the text
	busy     bool   // files are being read, to be sent
	reading  int    // how many pasted files are being read, to be attached
	// Numbers of what commands were asked for: files that the text goes with, and completions. Answers with another number are out of date.
	seq, offers int

	// What was written before, what is shown of it (len: nothing), and what was being written meanwhile.
	history []string
	at      int
	draft   string

	offer offer
}

// New returns a composer that has the focus.
func New(o Options) Model {
	if o.Styles == nil {
		o.Styles = paint.Profile{}.Styles()
	}
	if o.Files == nil {
		o.Files = Files(o.Dir)
	}
	m := Model{o: o, styles: o.Styles, focused: true, field: Field{Multiline: true}}
	for _, text := range o.History {
		m.history = remember(m.history, text)
	}
	m.at = len(m.history)
	return m.SetSize(o.Width, o.Rows)
}

// SetSize tells the composer how much room it has.
func (m Model) SetSize(width, rows int) Model {
	if width <= 0 {
		width = 80
	}
	if rows <= 0 {
		rows = 8
	}
	m.o.Width, m.o.Rows = width, rows
	return m
}

// Focus lets the composer take keys.
func (m Model) Focus() Model { m.focused = true; return m }

// Blur has it ignore keys.
func (m Model) Blur() Model { m.focused = false; m.offer = offer{}; return m }

// Focused reports whether the composer takes keys.
func (m Model) Focused() bool { return m.focused }

// Value returns the text.
func (m Model) Value() string { return m.field.Value() }

// SetValue replaces the text.
func (m Model) SetValue(text string) Model {
	m.field, m.problem, m.at, m.offer = m.field.Set(text), "", len(m.history), offer{}
	return m
}

// SetCommands replaces the CLI's commands.
func (m Model) SetCommands(list []Command) Model { m.o.Commands = list; return m }

// SetPlaceholder replaces what stands where nothing is written yet.
func (m Model) SetPlaceholder(text string) Model { m.o.Placeholder = text; return m }

// SetDir replaces the folder in which @path is looked for.
func (m Model) SetDir(dir string) Model {
	m.o.Dir, m.o.Files = dir, Files(dir)
	return m
}

// Attachments returns what is attached.
func (m Model) Attachments() []Attachment { return slices.Clone(m.attached) }

// SetAttachments replaces what is attached, by what Attachments has returned.
func (m Model) SetAttachments(list []Attachment) Model {
	m.attached = slices.Clone(list)
	return m
}

// Reset empties the composer.
func (m Model) Reset() Model {
	m = m.SetValue("")
	m.attached, m.busy, m.reading, m.draft = nil, false, 0, ""
	m.seq++
	return m
}

// Empty reports whether nothing is written and nothing attached.
func (m Model) Empty() bool { return m.field.Value() == "" && len(m.attached) == 0 }

// Completing reports whether completions are shown: then esc, tab, enter, up and down are the composer's.
func (m Model) Completing() bool { return len(m.offer.list) > 0 }

// Completes reports whether tab would complete something now.
func (m Model) Completes() bool {
	if m.Completing() {
		return true
	}
	if _, ok := m.word(); ok {
		return true
	}
	text := m.field.text[:m.field.pos]
	return strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \t\n")
}

// The composer's own messages. Each carries the number of the question that it answers.
type (
	offeredMsg struct {
		seq  int
		list []string
	}
	attachedMsg struct {
		seq     int
		list    []Attachment
		pasted  string // what is written instead if nothing was attached
		mention string
		counted bool // it is one of those that sending waits for
		err     error
	}
	readyMsg struct {
		seq  int
		list []Attachment
		out  SubmitMsg
		err  error
	}
	historyMsg struct{ err error }
)

// Update changes the composer as a message says.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if !m.focused || m.editing {
			return m, nil
		}
		return m.key(msg)
	case tea.PasteMsg:
		if !m.focused || m.editing {
			return m, nil
		}
		return m.paste(msg.Content)
	case EditedMsg:
		if !m.editing {
			return m, nil
		}
		m.editing = false
		if msg.Err != nil {
			m.problem = msg.Err.Error()
			return m, nil
		}
		if len(msg.Text) > MaxText {
			m.problem = tooLong(len(msg.Text)).Error()
			return m, nil
		}
		return m.SetValue(strings.TrimRight(msg.Text, "\n")), nil
	case offeredMsg:
		if msg.seq == m.offers && m.offer.asked {
			m.offer = m.offer.with(msg.list)
			if len(m.offer.list) == 1 && m.offer.only {
				return m.complete()
			}
		}
	case attachedMsg:
		if msg.seq == m.seq {
			if msg.counted {
				m.reading--
			}
			return m.attach(msg)
		}
	case readyMsg:
		if msg.seq == m.seq && m.busy {
			return m.ready(msg)
		}
	case historyMsg:
		if msg.err != nil {
			m.problem = msg.err.Error()
		}
	}
	return m, nil
}

// key does what a key says.
func (m Model) key(key tea.KeyPressMsg) (Model, tea.Cmd) {
	name := key.String()
	if m.busy {
		if name == "ctrl+x" { // a file that cannot be read to its end
			m.busy, m.reading = false, 0
			m.seq++
		}
		return m, nil
	}
	if m.Completing() {
		switch name {
		case "esc":
			m.offer = offer{}
			return m, nil
		case "up", "ctrl+p":
			m.offer = m.offer.move(-1)
			return m, nil
		case "down", "ctrl+n":
			m.offer = m.offer.move(1)
			return m, nil
		case "tab", "enter":
			// What is written to its end is sent, not completed.
			if name == "tab" || !m.offer.whole() {
				return m.complete()
			}
		}
	}
	m.problem = ""
	switch name {
	case "enter":
		if rest, ok := strings.CutSuffix(m.field.text, `\`); ok && m.field.pos == len(m.field.text) {
			m.field = m.field.cut(len(rest), len(m.field.text))
			m.field, _ = m.field.put("\n")
			return m, nil
		}
		return m.submit(false)
	case "ctrl+s":
		return m.submit(true)
	case "tab":
		return m.ask(true)
	case "ctrl+g":
		if m.o.Editor == nil {
			m.problem = "no editor; set VISUAL or EDITOR"
			return m, nil
		}
		m.editing, m.offer = true, offer{}
		return m, m.o.Editor(m.field.Value(), ".md")
	case "ctrl+x":
		return m.detach(), nil
	case "up", "ctrl+p":
		if field, ok := m.field.Key(tea.KeyPressMsg{Code: tea.KeyUp}, m.textWidth()); ok {
			m.field = field
			return m, nil
		}
		return m.recall(-1), nil
	case "down", "ctrl+n":
		if field, ok := m.field.Key(tea.KeyPressMsg{Code: tea.KeyDown}, m.textWidth()); ok {
			m.field = field
			return m, nil
		}
		return m.recall(1), nil
	}
	before := m.field.text
	field, ok := m.field.Key(key, m.textWidth())
	if !ok {
		return m, nil
	}
	if key.Text != "" && field.text == before {
		m.problem = tooLong(len(before) + len(key.Text)).Error()
	}
	m.field = field
	if field.text == before {
		m.offer = offer{}
		return m, nil
	}
	return m.ask(false)
}

// recall shows what was written before (by -1) or after (by 1) what is shown.
func (m Model) recall(by int) Model {
	to := m.at + by
	if to < 0 || to > len(m.history) {
		return m
	}
	if m.at == len(m.history) {
		m.draft = m.field.Value()
	}
	text := m.draft
	if to < len(m.history) {
		text = m.history[to]
	}
	m.field = m.field.Set(text)
	if by < 0 {
		// The next up goes on at once, even if the text has several rows.
		m.field = m.field.to(lineEnd(m.field.text, 0))
	}
	m.at, m.offer = to, offer{}
	return m
}

// paste writes what was pasted, or attaches it if it is the path of an image.
func (m Model) paste(text string) (Model, tea.Cmd) {
	if m.busy {
		return m, nil
	}
	m.problem, m.offer = "", offer{}
	if path, ok := ImagePath(text, m.o.Dir); ok {
		seq := m.seq
		m.reading++
		return m, func() tea.Msg {
			a, err := Attach(path)
			if err != nil {
				return attachedMsg{seq: seq, pasted: text, counted: true, err: err}
			}
			return attachedMsg{seq: seq, list: []Attachment{a}, counted: true}
		}
	}
	field, err := m.field.Insert(text)
	if err != nil {
		m.problem = err.Error()
		return m, nil
	}
	m.field = field
	return m, nil
}

// attach adds files that were read.
func (m Model) attach(msg attachedMsg) (Model, tea.Cmd) {
	if msg.err != nil {
		m.problem = msg.err.Error()
		if msg.pasted != "" {
			if field, err := m.field.Insert(msg.pasted); err == nil {
				m.field = field
			}
		}
		return m, nil
	}
	for _, a := range msg.list {
		if msg.mention != "" && slices.ContainsFunc(m.attached, func(b Attachment) bool { return b.mention == msg.mention }) {
			continue
		}
		if err := Room(m.attached, a); err != nil {
			m.problem = err.Error()
			return m, nil
		}
		a.mention = msg.mention
		m.attached = append(slices.Clip(m.attached), a)
	}
	return m, nil
}

// detach removes the last attachment. The @path that it stood for becomes a mere path, so that it is not attached again.
func (m Model) detach() Model {
	n := len(m.attached)
	if m.reading > 0 { // what is still being read came last
		m.reading = 0
		m.seq++
		return m
	}
	if n == 0 {
		return m
	}
	last := m.attached[n-1]
	m.attached = m.attached[: n-1 : n-1]
	if last.mention != "" {
		if at := mentionAt(m.field.text, last.mention); at >= 0 {
			pos := m.field.pos
			m.field = m.field.cut(at, at+1)
			if pos > at {
				pos--
			}
			m.field = m.field.to(pos)
		}
	}
	return m
}

// submit sends the text, when the files that it names are read.
func (m Model) submit(steer bool) (Model, tea.Cmd) {
	text := strings.TrimSpace(m.field.Value())
	m.offer = offer{}
	if text == "" && len(m.attached) == 0 && m.reading == 0 {
		return m, nil
	}
	if m.reading > 0 { // it would be sent without
		m.problem = "a file is still being read: wait a moment, or drop it with ctrl+x"
		return m, nil
	}
	if command, ok := m.own(text); ok && len(m.attached) == 0 {
		m, save := m.sent(text)
		return m, tea.Batch(save, func() tea.Msg { return command })
	}
	out := SubmitMsg{Text: text, Steer: steer}
	if len(mentions(text)) == 0 {
		return m.ready(readyMsg{out: out})
	}
	m.busy = true
	seq, dir, have := m.seq, m.o.Dir, m.attached
	return m, func() tea.Msg {
		ready := readyMsg{seq: seq, out: out}
		words, paths := found(text, dir)
		for i, path := range paths {
			if slices.ContainsFunc(have, func(a Attachment) bool { return a.mention == words[i] }) {
				continue
			}
			a, err := Attach(path)
			if err == nil {
				err = Room(append(slices.Clone(have), ready.list...), a)
			}
			if err != nil {
				ready.err = err
				return ready
			}
			a.mention = words[i]
			ready.list = append(ready.list, a)
		}
		return ready
	}
}

// own returns the command of ours that a text is.
func (m Model) own(text string) (CommandMsg, bool) {
	name, ok := strings.CutPrefix(text, "/")
	if !ok {
		return CommandMsg{}, false
	}
	rest := ""
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		name, rest = name[:i], strings.TrimSpace(name[i:])
	}
	if !slices.ContainsFunc(m.o.Slash, func(c Command) bool { return c.Name == name }) {
		return CommandMsg{}, false
	}
	return CommandMsg{Name: name, Rest: rest}, true
}

// ready sends the text with all files that it names.
func (m Model) ready(msg readyMsg) (Model, tea.Cmd) {
	m.busy = false
	if msg.err != nil {
		m.problem = msg.err.Error()
		return m, nil
	}
	out := msg.out
	out.Attachments = slices.Clone(m.attached)
	for _, a := range msg.list {
		// One that was completed may have come meanwhile.
		if !slices.ContainsFunc(m.attached, func(b Attachment) bool { return b.mention == a.mention }) {
			out.Attachments = append(out.Attachments, a)
		}
	}
	m, save := m.sent(out.Text)
	return m, tea.Batch(save, func() tea.Msg { return out })
}

// sent empties the composer and keeps the text in the history.
func (m Model) sent(text string) (Model, tea.Cmd) {
	if text != "" && len(text) <= maxHistoryText {
		m.history = remember(m.history, text)
	}
	m = m.Reset()
	path := m.o.HistoryFile
	if path == "" || text == "" {
		return m, nil
	}
	return m, func() tea.Msg { return historyMsg{AppendHistory(path, text)} }
}
