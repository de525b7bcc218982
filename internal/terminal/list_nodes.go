package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// maxSkew is by how much clocks may differ before it is shown.
const maxSkew = 2 * time.Second

// machinesTable is the table of sessions with a column for the machine.
func (v *View) machinesTable() *Table {
	if v.Terminal {
		return NewTable(
			Column{Title: "ID"}, Column{Title: "STATE"}, Column{Title: "TITLE", Least: 24}, Column{Title: "MACHINE", Least: 6},
			Column{Title: "FOLDER", Least: 10, Tail: true, Optional: true}, Column{Title: "COST", Right: true, Optional: true}, Column{Title: "UPDATED"},
			Column{Title: "MODEL", Least: 8, Optional: true},
		)
	}
	return NewTable(
		Column{Title: "ID"}, Column{Title: "STATE"}, Column{Title: "ASKS", Right: true}, Column{Title: "COST", Right: true}, Column{Title: "UPDATED"},
		Column{Title: "MODEL"}, Column{Title: "MACHINE"}, Column{Title: "FOLDER"}, Column{Title: "TITLE"},
	)
}

// folderOn returns the path of a folder as it is shown. Another machine's home folder is not ours.
func (v *View) folderOn(node, path string) string {
	if node != "" {
		return path
	}
	return v.folder(path)
}

// Nodes returns a table of other machines.
func (v *View) Nodes(list []api.Node) []string {
	table := NewTable(
		Column{Title: "NAME", Least: 6}, Column{Title: "STATE"}, Column{Title: "SESSIONS", Right: true}, Column{Title: "LOAD", Right: true}, Column{Title: "MEMORY FREE", Right: true, Optional: true},
		Column{Title: "CLAUDE CODE", Least: 8}, Column{Title: "LABELS", Least: 8, Optional: true}, Column{Title: "VERSION", Optional: true}, Column{Title: "LAST SEEN"},
	)
	for i := range list {
		n := &list[i]
		load, memory := "", ""
		if n.CPUs > 0 {
			load = fmt.Sprintf("%.0f%%", n.Load*100)
		}
		if n.MemoryBytes > 0 {
			memory = strings.ReplaceAll(units.Size(n.MemoryFree), " ", "")
		}
		table.Row(Cell{n.Name, v.Styles.Accent}, v.nodeState(n), Cell{Text: sessionsOf(n)}, Cell{Text: load}, Cell{Text: memory},
			Cell{Text: cliOf(n)}, Cell{labels(n.Labels), v.Styles.Dim}, Cell{n.Version, v.Styles.Dim}, v.seen(n))
	}
	return table.Lines(v.Styles, v.Headings)
}

// nodeState returns a machine's state in its colour.
func (v *View) nodeState(n *api.Node) Cell {
	style := v.Styles.Text
	switch n.State {
	case api.NodeOnline:
		style = v.Styles.Good
	case api.NodeDraining:
		style = v.Styles.Warn
	case api.NodeOffline:
		style = v.Styles.Bad
	case api.NodeRevoked:
		style = v.Styles.Dim
	}
	return Cell{string(n.State), style}
}

// sessionsOf returns how many sessions a machine has, and how many it may have.
func sessionsOf(n *api.Node) string {
	if n.MaxSessions > 0 {
		return fmt.Sprintf("%d/%d", n.Sessions, n.MaxSessions)
	}
	return fmt.Sprint(n.Sessions)
}

// cliOf returns the version of the CLI that a machine's sessions run.
func cliOf(n *api.Node) string {
	switch {
	case len(n.CLIs) == 0 && n.LastSeen.IsZero():
		return ""
	case len(n.CLIs) == 0:
		return "none"
	case n.CLIs[0].Simulated:
		return "simulated"
	}
	return n.CLIs[0].Version
}

// labels returns labels in one word each, sorted.
func labels(of map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		words = append(words, key+"="+of[key])
	}
	return strings.Join(words, ",")
}

// seen returns when a machine was last connected.
func (v *View) seen(n *api.Node) Cell {
	switch {
	case n.LastSeen.IsZero():
		return Cell{"never", v.Styles.Dim}
	case v.Terminal && (n.State == api.NodeOnline || n.State == api.NodeDraining):
		return Cell{"now", v.Styles.Dim}
	}
	return v.when(n.LastSeen)
}

// Node returns all about a machine for people to read.
func (v *View) Node(n *api.Node) []string {
	s := &sheet{styles: v.Styles}
	text := v.Styles.Text
	line := func(label, value string) { s.add(label, paint.CleanLine(value, 0), text) }
	s.add("machine", paint.CleanLine(n.Name, 0), v.Styles.Bold)
	s.add("id", paint.CleanLine(n.ID, 0), v.Styles.Accent)
	state := v.nodeState(n)
	if n.Draining && n.State == api.NodeOffline {
		state.Text += ", draining"
	}
	s.addCell("state", state)
	line("labels", strings.ReplaceAll(labels(n.Labels), ",", ", "))
	sessions := units.Plural(n.Sessions, "session")
	if n.MaxSessions > 0 {
		sessions = fmt.Sprintf("%d of %d", n.Sessions, n.MaxSessions)
	}
	line("sessions", sessions)
	line("host", strings.TrimSpace(n.Hostname+" "+strings.Trim(n.OS+"/"+n.Arch, "/")))
	line("address", n.Address)
	if n.CPUs > 0 {
		line("load", fmt.Sprintf("%.0f %% of %s", n.Load*100, units.Plural(n.CPUs, "CPU")))
	}
	if n.MemoryBytes > 0 {
		line("memory", fmt.Sprintf("%s free of %s", units.Size(n.MemoryFree), units.Size(n.MemoryBytes)))
	}
	for i := range n.CLIs {
		cli := "Claude Code " + n.CLIs[i].Version + ", " + n.CLIs[i].Path
		if n.CLIs[i].Simulated {
			cli = "simulated Claude Code " + n.CLIs[i].Version
		}
		line("agent", cli)
	}
	if len(n.CLIs) == 0 && !n.LastSeen.IsZero() {
		s.add("agent", "no Claude Code found", v.Styles.Warn)
	}
	line("sandbox", n.Sandbox)
	if skew := time.Duration(n.SkewMillis) * time.Millisecond; skew.Abs() > maxSkew {
		direction := "ahead of"
		if skew < 0 {
			direction = "behind"
		}
		s.add("clock", fmt.Sprintf("%s %s the hub's", units.Duration(skew.Abs()), direction), v.Styles.Warn)
	}
	line("version", n.Version)
	s.addCell("joined", v.when(n.Created))
	s.addCell("last seen", v.seen(n))
	line("fingerprint", n.Fingerprint)
	return s.lines
}

// A KnownHub is a row of the table of hubs.
type KnownHub struct {
	Name, URL, Pin string
	Current        bool
	Added          time.Time
}

// Hubs returns a table of hubs that the user has logged in to.
func (v *View) Hubs(list []KnownHub) []string {
	table := NewTable(Column{Title: "CURRENT"}, Column{Title: "NAME", Least: 6}, Column{Title: "ADDRESS", Least: 16}, Column{Title: "LOGGED IN", Optional: true}, Column{Title: "FINGERPRINT", Least: 12})
	for _, h := range list {
		current, address := "", h.URL
		if h.Current {
			current = "*"
		}
		if address == "" && v.Terminal {
			address = "this machine"
		}
		table.Row(Cell{current, v.Styles.Good}, Cell{h.Name, v.Styles.Accent}, Cell{Text: address}, v.when(h.Added), Cell{h.Pin, v.Styles.Dim})
	}
	return table.Lines(v.Styles, v.Headings)
}
