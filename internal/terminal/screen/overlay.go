package screen

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// An overlay takes all keys while it is there.
type overlay interface {
	// key does what a key asks for. To go away the overlay takes itself out of the model.
	key(m *Model, k tea.KeyPressMsg) tea.Cmd
	paste(m *Model, text string) tea.Cmd
	// draw returns its lines, at most width wide and height high. full says that they take the place of the whole conversation, else they are at
	// the bottom.
	draw(m *Model, width, height int) (lines []string, full bool)
}

// help says which keys there are.
type help struct{ top int }

func (h *help) paste(*Model, string) tea.Cmd { return nil }

func (h *help) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "up", "k":
		h.top--
	case "down", "j":
		h.top++
	case "pgup":
		h.top -= m.height / 2
	case "pgdown", "space", " ":
		h.top += m.height / 2
	default:
		m.overlay = nil
	}
	return nil
}

// A section is a part of the help.
type section struct {
	title string
	keys  []compose.Key
}

// sections are all keys.
func (m *Model) sections() []section {
	list := []section{
		{"Everywhere", []compose.Key{
			{Key: "ctrl+l", Help: "the list of sessions"},
			{Key: "ctrl+r", Help: "the next question, here or in another session"},
			{Key: "ctrl+x", Help: "stop the turn"},
			{Key: "shift+tab", Help: "the next permission mode"},
			{Key: "pgup pgdn", Help: "scroll; shift+up and shift+down by a line"},
			{Key: "ctrl+o", Help: "unfold or fold all tools"},
			{Key: "ctrl+t", Help: "show or hide thoughts"},
			{Key: "tab esc", Help: "from the composer to the conversation to the list"},
			{Key: "ctrl+c twice", Help: "leave; agents keep running"},
		}},
		{"In the conversation", []compose.Key{
			{Key: "up down", Help: "choose an item (k, j)"},
			{Key: "space enter", Help: "unfold or fold it; answer an open question"},
			{Key: "g G", Help: "the beginning, the end"},
			{Key: "/", Help: "search; n and N for the next one back and forth"},
			{Key: "m M", Help: "choose the model, the permission mode"},
			{Key: "a", Help: "what to do with the session: fork, restore files, archive"},
			{Key: "F", Help: "fork: a new session with a copy, up to what is chosen or whole"},
			{Key: "R", Help: "restore files as before the chosen prompt; shows them first"},
			{Key: "A", Help: "archive the session, or take it out again"},
			{Key: "i", Help: "write"},
			{Key: "q", Help: "leave; agents keep running"},
		}},
		{"In the list", []compose.Key{
			{Key: "up down", Help: "choose a session (k, j)"},
			{Key: "enter", Help: "open it"},
			{Key: "/", Help: "search in all sessions"},
			{Key: "A", Help: "archive it"},
			{Key: "ctrl+x", Help: "stop its turn"},
		}},
		{"Writing", m.pane.Composer.Keys()},
	}
	if m.pane.Ask != nil {
		asking := section{title: "The question"}
		for _, k := range m.pane.Ask.Keys() {
			asking.keys = append(asking.keys, compose.Key{Key: k.Key, Help: k.Help})
		}
		list = slices.Insert(list, 0, asking)
	}
	commands := section{title: "Commands"}
	for _, c := range slashCommands() {
		commands.keys = append(commands.keys, compose.Key{Key: "/" + c.Name, Help: c.Hint})
	}
	return append(list, commands)
}

func (h *help) draw(m *Model, width, height int) ([]string, bool) {
	var lines []string
	for _, s := range m.sections() {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.styles.Heading.Render(s.title))
		for _, k := range s.keys {
			name := k.Key + strings.Repeat(" ", max(1, 14-paint.Width(k.Key)))
			lines = append(lines, paint.Cut("  "+m.styles.Key.Render(name)+k.Help, width))
		}
	}
	h.top = max(0, min(h.top, len(lines)-height+1))
	end := min(len(lines), h.top+height-1)
	last := m.styles.Dim.Render(paint.Cut("any key goes back; up and down scroll", width))
	return append(slices.Clone(lines[h.top:end]), last), true
}

// A pick is one that can be chosen.
type pick struct{ value, label, hint string }

// A picker has one of several chosen. Letters narrow the list down.
type picker struct {
	title  string
	picks  []pick
	at     int
	filter string
	// reading says that what can be chosen is on its way.
	reading bool
	chosen  func(m *Model, value string) tea.Cmd
}

// found returns those that have what was written in them.
func (p *picker) found() []pick {
	if p.filter == "" {
		return p.picks
	}
	var list []pick
	for _, c := range p.picks {
		if strings.Contains(strings.ToLower(c.label+" "+c.value), strings.ToLower(p.filter)) {
			list = append(list, c)
		}
	}
	return list
}

func (p *picker) paste(_ *Model, text string) tea.Cmd {
	p.filter, p.at = p.filter+paint.CleanLine(text, 100), 0
	return nil
}

func (p *picker) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	list := p.found()
	switch name := k.String(); name {
	case "esc":
		m.overlay = nil
	case "up", "ctrl+p":
		p.at--
	case "down", "ctrl+n", "tab":
		p.at++
	case "enter":
		if p.at < len(list) {
			m.overlay = nil
			return p.chosen(m, list[p.at].value)
		}
	case "backspace":
		runes := []rune(p.filter)
		p.filter, p.at = string(runes[:max(0, len(runes)-1)]), 0
	default:
		// A number chooses at once, as long as nothing else was written.
		if n := strings.Index("123456789", name); len(name) == 1 && n >= 0 && p.filter == "" && n < len(p.picks) {
			m.overlay = nil
			return p.chosen(m, p.picks[n].value)
		}
		if k.Text != "" {
			p.filter, p.at = p.filter+paint.CleanLine(k.Text, 0), 0
		}
	}
	p.at = max(0, min(p.at, len(p.found())-1))
	return nil
}

func (p *picker) draw(m *Model, width, height int) ([]string, bool) {
	title := m.styles.Heading.Render(p.title)
	if p.filter != "" {
		title += " " + p.filter
	}
	lines := []string{paint.Cut(title, width)}
	list := p.found()
	room := max(1, min(len(list), height-2))
	top := max(0, min(p.at-room/2, len(list)-room))
	for i := top; i < min(len(list), top+room); i++ {
		lines = append(lines, p.line(m, i, &list[i], width))
	}
	switch {
	case p.reading:
		lines = append(lines, m.styles.Dim.Render("  reading "+m.styles.Glyphs.Ellipsis))
	case len(list) == 0:
		lines = append(lines, m.styles.Dim.Render("  no match"))
	}
	return append(lines, m.styles.Dim.Render(paint.Cut("enter chooses, letters narrow it down, esc goes back", width))), false
}

// line draws one.
func (p *picker) line(m *Model, i int, c *pick, width int) string {
	mark := "  "
	if i == p.at {
		mark = m.styles.Glyphs.Prompt + " "
	}
	number := "   "
	if i < 9 && p.filter == "" {
		number = string(rune('1'+i)) + "  "
	}
	label := paint.CleanLine(c.label, width)
	if i == p.at {
		label = m.styles.Selected.Render(label)
	}
	text := mark + number + label
	if c.hint != "" {
		text += "  " + m.styles.Dim.Render(paint.CleanLine(c.hint, width))
	}
	return paint.Cut(text, width)
}
