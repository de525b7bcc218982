package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// Audit returns a table of decisions, the newest first.
func (v *View) Audit(list []api.AuditItem) []string {
	table := NewTable(Column{Title: "TIME"}, Column{Title: "SESSION"}, Column{Title: "DECISION"}, Column{Title: "BY", Least: 8}, Column{Title: "WHAT", Least: 10})
	for i := range list {
		item := &list[i]
		by, what := item.By, strings.TrimSpace(item.Tool+" "+item.Title)
		switch {
		case item.Rule != nil && item.Rule.Scope != api.ScopeSandbox:
			by = "rule " + item.Rule.Rule
		case item.Rule != nil || item.Refusal != nil:
			by = "sandbox"
		}
		switch {
		case item.Refusal != nil:
			what = transcript.RefusalSubject(item.Refusal)
		case item.Tool == wire.ToolSandboxNetwork:
			what = item.Title
		}
		style := v.Styles.Text
		if item.Decision == string(api.RuleDeny) || item.Refusal != nil {
			style = v.Styles.Warn
		}
		table.Row(v.when(item.Time), v.id(item.Session), Cell{item.Decision, style}, Cell{Text: by}, Cell{Text: what})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Timeline returns a table of what happened in a session.
func (v *View) Timeline(list []api.TimelineItem) []string {
	table := NewTable(
		Column{Title: "EVENT", Right: true}, Column{Title: "TIME"}, Column{Title: "KIND"}, Column{Title: "TOOK", Right: true},
		Column{Title: "USD", Right: true, Optional: true}, Column{Title: "WHAT", Least: 10},
	)
	for i := range list {
		item := &list[i]
		took, usd := Cell{}, Cell{}
		if item.Millis > 0 {
			took.Text = fmt.Sprintf("%.1f", float64(item.Millis)/1000)
			if v.Terminal {
				took.Text = units.Duration(time.Duration(item.Millis) * time.Millisecond)
			}
		}
		if item.USD > 0 {
			usd = v.money(item.USD)
		}
		what := Cell{Text: item.Title}
		if item.Failed {
			what.Style = v.Styles.Warn
		}
		table.Row(Cell{fmt.Sprint(item.Seq), v.Styles.Dim}, v.when(item.Time), Cell{Text: item.Kind}, took, usd, what)
	}
	return table.Lines(v.Styles, v.Headings)
}

// Budgets returns a table of budgets and what is used of them.
func (v *View) Budgets(list []api.BudgetUse) []string {
	table := NewTable(
		Column{Title: "BUDGET", Least: 8}, Column{Title: "PER"}, Column{Title: "USED", Right: true}, Column{Title: "LIMIT", Right: true},
		Column{Title: "UNIT"}, Column{Title: "ACTION"}, Column{Title: "OVER"}, Column{Title: "OF", Least: 8, Tail: true},
	)
	amount := func(unit string, n float64) Cell {
		switch {
		case !v.Terminal:
			return Cell{Text: fmt.Sprintf("%.4g", n)}
		case unit == "usd":
			return Cell{Text: units.Money(n)}
		case unit == "wall" || unit == "idle":
			return Cell{Text: units.Duration(time.Duration(n * float64(time.Second)))}
		default:
			return Cell{Text: fmt.Sprintf("%.4g", n)}
		}
	}
	for i := range list {
		b := &list[i]
		over := Cell{Text: "no"}
		if b.Over {
			over = Cell{"yes", v.Styles.Warn}
		}
		table.Row(Cell{Text: b.Name}, Cell{Text: b.Per}, amount(b.Unit, b.Used), amount(b.Unit, b.Limit), Cell{Text: b.Unit}, Cell{Text: b.Action}, over, Cell{Text: v.folder(b.Scope)})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Drift returns a table of what is not known in the lines of CLIs.
func (v *View) Drift(list []api.DriftItem) []string {
	table := NewTable(Column{Title: "VERSION"}, Column{Title: "KIND"}, Column{Title: "COUNT", Right: true}, Column{Title: "NAME", Least: 10})
	for i := range list {
		table.Row(Cell{Text: list[i].Version}, Cell{Text: list[i].Kind}, Cell{Text: fmt.Sprint(list[i].Count)}, Cell{Text: list[i].Name})
	}
	return table.Lines(v.Styles, v.Headings)
}

// MCP returns a table of MCP servers.
func (v *View) MCP(list []wire.MCPServerStatus) []string {
	table := NewTable(
		Column{Title: "NAME", Least: 8}, Column{Title: "STATUS"}, Column{Title: "TOOLS", Right: true}, Column{Title: "SCOPE", Optional: true}, Column{Title: "ERROR", Least: 8},
	)
	for i := range list {
		s := &list[i]
		style := v.Styles.Text
		if s.Error != "" {
			style = v.Styles.Warn
		}
		table.Row(Cell{s.Name, v.Styles.Accent}, Cell{string(s.Status), style}, Cell{Text: fmt.Sprint(len(s.Tools))}, Cell{Text: s.Scope}, Cell{Text: s.Error})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Context returns what fills the context of a session's model.
func (v *View) Context(c *wire.GetContextUsageAnswer) []string {
	table := NewTable(Column{Title: "TOKENS", Right: true}, Column{Title: "SHARE", Right: true}, Column{Title: "WHAT", Least: 10})
	row := func(tokens int64, what Cell) {
		share, count := "", fmt.Sprint(tokens)
		if c.MaxTokens > 0 {
			share = fmt.Sprintf("%.1f%%", 100*float64(tokens)/float64(c.MaxTokens))
		}
		if v.Terminal {
			count = units.Tokens(tokens)
		}
		table.Row(Cell{Text: count}, Cell{Text: share}, what)
	}
	for i := range c.Categories {
		row(c.Categories[i].Tokens, Cell{Text: c.Categories[i].Name})
	}
	used := fmt.Sprintf("in use of %d", c.MaxTokens)
	if v.Terminal {
		used = "in use of " + units.Tokens(c.MaxTokens)
	}
	row(c.TotalTokens, Cell{used, v.Styles.Bold})
	return table.Lines(v.Styles, v.Headings)
}

// Rules returns a table of a session's own rules.
func (v *View) Rules(list []api.SessionRule) []string {
	table := NewTable(Column{Title: "ID"}, Column{Title: "DECISION"}, Column{Title: "EXPIRES"}, Column{Title: "BY", Optional: true}, Column{Title: "RULE", Least: 10})
	for i := range list {
		r := &list[i]
		table.Row(Cell{r.ID, v.Styles.Accent}, Cell{Text: string(r.Decision)}, v.until(r.Expires), Cell{Text: r.By}, Cell{Text: r.Rule})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Queue returns a table of messages that wait.
func (v *View) Queue(list []api.Message) []string {
	table := NewTable(Column{Title: "ID"}, Column{Title: "STATE"}, Column{Title: "CREATED"}, Column{Title: "TEXT", Least: 10})
	for i := range list {
		m := &list[i]
		text := m.Text
		if text == "" {
			text = transcript.ContentText(m.Content)
		}
		table.Row(Cell{m.ID, v.Styles.Accent}, Cell{Text: string(m.State)}, v.when(m.Created), Cell{Text: text})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Presets returns a table of presets.
func (v *View) Presets(list []api.Preset) []string {
	table := NewTable(Column{Title: "NAME"}, Column{Title: "DESCRIPTION", Least: 10})
	for i := range list {
		table.Row(Cell{list[i].Name, v.Styles.Accent}, Cell{Text: list[i].Description})
	}
	return table.Lines(v.Styles, v.Headings)
}

// Pairs returns a table of labels and texts, without headings.
func (v *View) Pairs(pairs ...[2]string) []string {
	table := NewTable(Column{}, Column{Least: 10})
	for _, pair := range pairs {
		table.Row(Cell{pair[0], v.Styles.Dim}, Cell{Text: pair[1]})
	}
	return table.Lines(v.Styles, false)
}
