package termtest

import (
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// teaModel is a small Bubble Tea program: it counts the spaces that are typed, prints a line above itself for each, and ends with q.
type teaModel struct {
	full   bool
	count  int
	width  int
	pasted string
}

func (m teaModel) Init() tea.Cmd { return nil }

func (m teaModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case tea.PasteMsg:
		m.pasted = msg.Content
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q":
			return m, tea.Quit
		case "space":
			m.count++
			return m, tea.Println(fmt.Sprintf("above 日本 %d", m.count))
		}
	}
	return m, nil
}

func (m teaModel) View() tea.View {
	v := tea.NewView(fmt.Sprintf("\x1b[1mcount %d\x1b[m 👩\u200d💻|\nwidth %d\npasted %q\n", m.count, m.width, m.pasted))
	v.AltScreen = m.full
	v.WindowTitle = "counting"
	return v
}

// runTea is the program.
func runTea(full bool) int {
	if _, err := tea.NewProgram(teaModel{full: full}).Run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
