package terminal

import (
	"fmt"
	"strconv"

	"github.com/switchboard-dev/switchboard/api"
)

// Relays writes relays of other programs as a table.
func (v *View) Relays(list []api.Relay) []string {
	table := NewTable(
		Column{Title: "ID"}, Column{Title: "ADDRESS", Least: 16}, Column{Title: "STATE"}, Column{Title: "SESSIONS"}, Column{Title: "RULES", Optional: true},
		Column{Title: "CREATED", Optional: true}, Column{Title: "PROBLEM", Least: 8},
	)
	for i := range list {
		r := &list[i]
		address, rules, problem := Clean(r.URL), "people answer", Clean(r.Error)
		switch {
		case r.Discover:
			address = "ports 8765-8774"
		case r.Discovered:
			address += " (found)"
		}
		if r.Rules {
			rules = "rules answer"
		}
		if r.Dropped > 0 {
			if problem != "" {
				problem += "; "
			}
			problem += fmt.Sprintf("%d lines not shown", r.Dropped)
		}
		state := Cell{Text: string(r.State)}
		if r.State == api.RelayWaiting {
			state.Style = v.Styles.Warn
		}
		table.Row(Cell{r.ID, v.Styles.Accent}, Cell{Text: address}, state, Cell{Text: strconv.Itoa(len(r.Sessions))}, Cell{rules, v.Styles.Dim}, v.when(r.Created), Cell{problem, v.Styles.Warn})
	}
	return table.Lines(v.Styles, v.Headings)
}
