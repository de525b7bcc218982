package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/switchboard-dev/switchboard/api"
	names "github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// A View says how lists and snapshots are drawn.
type View struct {
	// Styles are those of the terminal, or of none.
	Styles *paint.Styles
	// Terminal says that a person reads it: ids are cut, times are told as how long ago, and the home folder is a tilde. Otherwise they are whole,
	// so that a script can use them.
	Terminal bool
	// Headings puts a line of them above tables.
	Headings bool
	// Now is what times are compared with, Home the folder that the tilde stands for.
	Now  time.Time
	Home string
}

// id returns an id as it is shown.
func (v *View) id(id string) Cell {
	if v.Terminal {
		id = names.Short(id)
	}
	return Cell{id, v.Styles.Accent}
}

// when returns a time as it is shown.
func (v *View) when(t time.Time) Cell {
	switch {
	case t.IsZero():
		return Cell{}
	case v.Terminal:
		return Cell{units.Ago(t, v.Now), v.Styles.Dim}
	default:
		return Cell{Text: t.UTC().Format(time.RFC3339)}
	}
}

// folder returns the path of a folder as it is shown.
func (v *View) folder(path string) string {
	if v.Terminal && v.Home != "" && v.Home != "/" {
		if rest, within := strings.CutPrefix(path, v.Home); within && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return path
}

// state returns a session's state in its colour.
func (v *View) state(s api.State) Cell {
	style := v.Styles.Text
	switch s {
	case api.StateRequiresAction:
		style = v.Styles.Warn
	case api.StateRunning, api.StateStarting, api.StateBackground:
		style = v.Styles.Accent
	case api.StateIdle:
		style = v.Styles.Good
	case api.StateOffline:
		style = v.Styles.Bad
	case api.StateEnded:
		style = v.Styles.Dim
	}
	return Cell{string(s), style}
}

// number returns a number, or nothing for zero.
func number(n int64, style lipgloss.Style) Cell {
	if n == 0 {
		return Cell{}
	}
	return Cell{fmt.Sprint(n), style}
}

// money returns what something cost. For programs it has neither sign nor words.
func (v *View) money(usd float64) Cell {
	if !v.Terminal {
		return Cell{Text: fmt.Sprintf("%.4f", usd)}
	}
	if usd == 0 {
		return Cell{}
	}
	return Cell{Text: units.Money(usd)}
}

// sessionState returns what a session is doing: for people in their words, for programs in one word.
func (v *View) sessionState(s *api.SessionSummary) Cell {
	c := v.state(s.State)
	if s.Failed && (s.State == api.StateIdle || s.State == api.StateEnded) {
		return Cell{api.StateFailed, v.Styles.Bad}
	}
	if v.Terminal && s.State == api.StateRequiresAction {
		c.Text = "needs you"
		if s.Questions > 1 {
			c.Text += fmt.Sprintf(" (%d)", s.Questions)
		}
	}
	return c
}

// Sessions returns a table of sessions.
func (v *View) Sessions(list []api.SessionSummary) []string {
	table := NewTable(
		Column{Title: "ID"}, Column{Title: "STATE"}, Column{Title: "ASKS", Right: true}, Column{Title: "COST", Right: true}, Column{Title: "UPDATED"},
		Column{Title: "MODEL"}, Column{Title: "FOLDER"}, Column{Title: "TITLE"},
	)
	if v.Terminal {
		table = NewTable(
			Column{Title: "ID"}, Column{Title: "STATE"}, Column{Title: "TITLE", Least: 24}, Column{Title: "FOLDER", Least: 10, Tail: true, Optional: true},
			Column{Title: "COST", Right: true, Optional: true}, Column{Title: "UPDATED"}, Column{Title: "MODEL", Least: 8, Optional: true},
		)
	}
	// The machine has a column where there are several.
	machines := slices.ContainsFunc(list, func(s api.SessionSummary) bool { return s.Node != "" })
	if machines {
		table = v.machinesTable()
	}
	mixed := slices.ContainsFunc(list, func(s api.SessionSummary) bool { return !s.Simulated })
	for i := range list {
		s := &list[i]
		title := Title(s.Title)
		for _, mark := range []struct {
			is   bool
			text string
		}{{s.Simulated && mixed && v.Terminal, " [simulated]"}, {s.Relay != "", " [relay]"}, {s.Archived, " [archived]"}} {
			if mark.is {
				title = strings.TrimSpace(title + mark.text)
			}
		}
		if s.Unauthenticated { // in front, where no title is cut
			title = strings.TrimSpace("[unauthenticated] " + title)
		}
		if s.Sandbox == "none" && s.State != api.StateEnded { // a mode is on, and nothing enforces it
			title = strings.TrimSpace("[no sandbox] " + title)
		}
		folder := []Cell{{Text: v.folder(s.Dir)}}
		if machines {
			folder = []Cell{{Text: paint.CleanLine(s.Node, 0)}, {Text: v.folderOn(s.Node, s.Dir)}}
		}
		if v.Terminal {
			row := append([]Cell{v.id(s.ID), v.sessionState(s), {title, v.Styles.Bold}}, folder...)
			table.Row(append(row, v.money(s.USD), v.when(s.Updated), Cell{strings.TrimPrefix(s.Model, "claude-"), v.Styles.Dim})...)
			continue
		}
		row := append([]Cell{
			v.id(s.ID), v.sessionState(s), number(int64(s.Questions), v.Styles.Warn), v.money(s.USD), v.when(s.Updated), {s.Model, v.Styles.Dim},
		}, folder...)
		table.Row(append(row, Cell{title, v.Styles.Bold})...)
	}
	return table.Lines(v.Styles, v.Headings)
}

// maxTitle is how long a title is shown. One that is a prompt's first line can be longer.
const maxTitle = 80

// Title returns a title as all views show it: its first line, cut.
func Title(title string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(title), "\n")
	return paint.CleanLine(first, maxTitle)
}

// Questions returns a table of questions. titles are those of their sessions, by id.
func (v *View) Questions(list []api.Question, titles map[string]string) []string {
	if v.Terminal {
		return v.questionsFor(list, titles)
	}
	table := NewTable(
		Column{Title: "ID"}, Column{Title: "SESSION"}, Column{Title: "STATE"}, Column{Title: "KIND"}, Column{Title: "ASKED"}, Column{Title: "TOOL"}, Column{Title: "WHAT"},
	)
	for i := range list {
		q := &list[i]
		table.Row(v.id(q.ID), v.id(q.Session), Cell{Text: string(q.State)}, Cell{Text: string(q.Kind)}, v.when(q.Opened), Cell{Text: q.Tool}, Cell{Text: Gist(q)})
	}
	return table.Lines(v.Styles, v.Headings)
}

// questionsFor returns a table of questions for people: what is asked, and by which session.
func (v *View) questionsFor(list []api.Question, titles map[string]string) []string {
	columns := []Column{{Title: "ID"}, {Title: "SESSION", Least: 12}, {Title: "ASKED"}, {Title: "QUESTION", Least: 20}}
	settled := slices.ContainsFunc(list, func(q api.Question) bool { return q.State != api.QuestionOpen })
	if settled {
		columns = append(columns, Column{Title: "STATE"})
	}
	table := NewTable(columns...)
	for i := range list {
		q := &list[i]
		session := Cell{Title(titles[q.Session]), v.Styles.Bold}
		if session.Text == "" {
			session = v.id(q.Session)
		}
		style := v.Styles.Dim
		if q.State == api.QuestionOpen {
			style = v.Styles.Warn
		}
		what := words.Asked(q, Gist(q))
		table.Row(v.id(q.ID), session, v.when(q.Opened), Cell{Text: what}, Cell{strings.ReplaceAll(string(q.State), "_", " "), style})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Gist says in a line what a question is about.
func Gist(q *api.Question) string {
	switch {
	case len(q.Choices) > 0:
		return oneLine(q.Choices[0].Question)
	case q.Plan != nil && q.Plan.Text != "":
		first, _, _ := strings.Cut(strings.TrimSpace(q.Plan.Text), "\n")
		return oneLine(strings.TrimLeft(first, "# "))
	case q.Title != "":
		return oneLine(q.Title)
	default:
		tool, input := words.Call(q)
		if input == nil {
			return oneLine(q.Description)
		}
		return oneLine(transcript.CallTitle(tool, input))
	}
}

// Costs returns a table of costs, with a sum below.
func (v *View) Costs(c *api.Costs, by string) []string {
	key := strings.ToUpper(by)
	if by == "dir" {
		key = "FOLDER"
	}
	columns := []Column{
		{Title: "USD", Right: true}, {Title: "TURNS", Right: true}, {Title: "TIME", Right: true}, {Title: key, Least: 9, Tail: by == "dir"},
	}
	if by == "session" { // nothing else has a title
		columns = append(columns, Column{Title: "TITLE", Least: 10})
	}
	table := NewTable(columns...)
	row := func(usd float64, turns, millis int64, key Cell, title string) {
		long := Cell{Text: fmt.Sprintf("%.1f", float64(millis)/1000)}
		if v.Terminal {
			long.Text = units.Duration(time.Duration(millis) * time.Millisecond)
		}
		cost := Cell{Text: fmt.Sprintf("%.4f", usd)}
		if v.Terminal {
			cost.Text = units.Money(usd)
		}
		table.Row(cost, Cell{Text: fmt.Sprint(turns)}, long, key, Cell{Text: title})
	}
	for _, item := range c.Items {
		key := Cell{Text: item.Key}
		switch by {
		case "session":
			key = v.id(item.Key)
		case "dir":
			key.Text = v.folder(item.Key)
		}
		row(item.USD, item.Turns, item.Millis, key, item.Title)
	}
	if v.Headings && len(c.Items) > 0 {
		row(c.USD, c.Turns, c.Millis, Cell{"total", v.Styles.Bold}, "")
	}
	return table.Lines(v.Styles, v.Headings)
}

// Hits returns what a search has found: in a terminal two lines for each, else one.
func (v *View) Hits(list []api.SearchHit) []string {
	if !v.Terminal {
		table := NewTable(Column{Title: "SESSION"}, Column{Title: "EVENT", Right: true}, Column{Title: "TIME"}, Column{Title: "KIND"}, Column{Title: "TEXT"})
		for _, h := range list {
			table.Row(v.id(h.Session), Cell{Text: fmt.Sprint(h.Seq)}, v.when(h.Time), Cell{Text: h.Kind}, Cell{Text: h.Snippet})
		}
		return table.Lines(v.Styles, v.Headings)
	}
	var lines []string
	for i, h := range list {
		if i > 0 {
			lines = append(lines, "")
		}
		head := strings.Join(nonEmptyTexts(v.Styles.Accent.Render(paint.CleanLine(names.Short(h.Session), 0)), v.Styles.Dim.Render(fmt.Sprintf("event %d", h.Seq)),
			v.Styles.Dim.Render(units.Ago(h.Time, v.Now)), v.Styles.Text.Render(Speaker(h.Kind)), v.Styles.Bold.Render(Title(h.Title))), between)
		lines = append(lines, paint.Cut(head, v.Styles.Profile.Width))
		lines = append(lines, paint.Cut(between+v.marked(h.Snippet, h.Marks), v.Styles.Profile.Width))
	}
	return lines
}

// Speaker says who said what a search has found.
func Speaker(kind string) string {
	if name := map[string]string{
		"user": "You", "assistant": "Claude", "result": "Claude", "tool": "Tool result", "plan": "Plan", "subagent": "Sub-agent", "system": "Claude Code",
	}[kind]; name != "" {
		return name
	}
	return paint.CleanLine(kind, 20)
}

// nonEmptyTexts leaves out what is empty.
func nonEmptyTexts(texts ...string) []string {
	var some []string
	for _, text := range texts {
		if text != "" {
			some = append(some, text)
		}
	}
	return some
}

// marked returns a text in one line with the words that were looked for. Marks count its characters as they came, so each part is cleaned on its own.
func (v *View) marked(text string, marks []api.Mark) string {
	runes := []rune(text)
	var b strings.Builder
	at := 0
	part := func(to int, style lipgloss.Style) {
		to = min(max(to, at), len(runes))
		if at < to {
			b.WriteString(style.Render(Clean(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(string(runes[at:to])))))
		}
		at = to
	}
	for _, m := range marks {
		part(m.From, v.Styles.Text)
		part(m.To, v.Styles.Warn)
	}
	part(len(runes), v.Styles.Text)
	return b.String()
}
