package ask

import (
	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A menu is a list to choose one of.
type menu struct {
	open  bool
	title string
	items []string
	at    int
	pick  func(m Model, i int) (Model, tea.Cmd)
}

// menuKey does what a key says while a menu is open.
func (m Model) menuKey(key tea.KeyPressMsg) (Model, tea.Cmd) {
	n := len(m.menu.items)
	switch name := key.String(); name {
	case "esc":
		m.menu = menu{}
		return m, nil
	case "up", "k", "ctrl+p":
		m.menu.at = (m.menu.at + n - 1) % n
	case "down", "j", "ctrl+n", "tab":
		m.menu.at = (m.menu.at + 1) % n
	case "enter":
		return m.pick(m.menu.at)
	default:
		if i := digit(name) - 1; i >= 0 && i < n {
			return m.pick(i)
		}
	}
	return m, nil
}

// pick closes the menu and goes on with what was chosen.
func (m Model) pick(i int) (Model, tea.Cmd) {
	pick := m.menu.pick
	m.menu = menu{}
	return pick(m, i)
}

// digit returns the number that a key writes, 0 for others.
func digit(name string) int {
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		return int(name[0] - '0')
	}
	return 0
}

// maxTitle is how many lines of a menu's title are shown.
const maxTitle = 12

// tail draws the menu.
func (u menu) tail(m Model) tail {
	t := tail{lines: fittedLines(m.styles.Bold.Render, u.title, m.o.Width, maxTitle)}
	for i, text := range u.items {
		if i == u.at {
			t.focus = len(t.lines)
		}
		t.lines = append(t.lines, numbered(m, i+1, text, i == u.at)...)
	}
	return t
}

// numbered draws something that can be chosen by a number.
func numbered(m Model, number int, text string, chosen bool) []string {
	sign := string(rune('0' + number))
	if number > 9 {
		sign = m.styles.Glyphs.Bullet
	}
	return keyed(m, sign, text, chosen)
}

// keyed draws something that can be chosen by a key, in at most three lines.
func keyed(m Model, key, text string, chosen bool) []string {
	s := m.styles
	mark := " "
	if chosen {
		mark = s.Accent.Render(s.Glyphs.Prompt)
	}
	indent := paint.Width(key) + 3
	var lines []string
	for i, line := range wrapped(text, max(1, m.o.Width-indent), 3) {
		if chosen {
			line = s.Selected.Render(line)
		}
		if i == 0 {
			line = mark + " " + s.Key.Render(key) + " " + line
		} else {
			line = spaces(indent) + line
		}
		lines = append(lines, paint.Cut(line, m.o.Width))
	}
	return lines
}
