package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// asked returns the versions that are to be compared with the table instead of being held to it, and whether there are any.
func asked() (versions []string, reports bool) {
	list := os.Getenv(versionsEnv)
	versions = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	return versions, len(versions) > 0
}

// nearest returns the pinned version whose behaviour is expected of a version: the newest one that is not newer, or the oldest.
func nearest(version wire.Version) string {
	found := Oldest
	for _, name := range Versions() {
		if v, err := wire.ParseVersion(name); err == nil && v.Compare(version) <= 0 {
			found = name
		}
	}
	return found
}

// A knownDrift holds what pinned versions write and package wire does not know, by version, as of the last make soak.
type knownDrift map[string][]string

func driftPath() string { return filepath.Join("testdata", "drift.json") }

func readDrift() (knownDrift, error) {
	known := knownDrift{}
	data, err := os.ReadFile(driftPath())
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is known of pinned versions: %w", err)
	}
	return known, nil
}

// saveDrift records what this run has seen of the pinned versions, if it was a whole one.
func (m *matrix) saveDrift() error {
	m.mu.Lock()
	known := knownDrift{}
	for i := range m.table {
		for _, s := range m.subjects {
			if kind := m.cells[m.table[i].ID][s].kind; s.Kind == kindReal && (kind == cellUnknown || kind == cellSkip) {
				m.mu.Unlock()
				return nil
			}
		}
	}
	for _, name := range Versions() {
		known[name] = []string{}
	}
	for what, versions := range m.drifts {
		for name := range versions {
			known[name] = append(known[name], what)
		}
	}
	m.mu.Unlock()
	for name := range known {
		slices.Sort(known[name])
	}
	data, err := json.MarshalIndent(known, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(driftPath()), 0o700)
	}
	if err == nil {
		err = os.WriteFile(driftPath(), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what pinned versions write: %w", err)
	}
	return nil
}

// report says how each version that was asked for differs from what the table expects of the pinned version before it.
func (m *matrix) report(known knownDrift) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out strings.Builder
	for _, name := range m.versions() {
		version, err := wire.ParseVersion(name)
		if err != nil {
			continue // there is no column for it
		}
		m.reportRows(&out, name, nearest(version))
		m.reportLines(&out, name, known)
	}
	return out.String()
}

// versions returns the versions of the real columns, in order.
func (m *matrix) versions() []string {
	var all []string
	for _, s := range m.subjects {
		if s.Kind == kindReal && !slices.Contains(all, s.Name) {
			all = append(all, s.Name)
		}
	}
	return all
}

// reportRows tells which rows went otherwise than with the pinned version.
func (m *matrix) reportRows(out *strings.Builder, name, pinned string) {
	fmt.Fprintf(out, "Claude Code %s, compared with what the table expects of %s\n\n", name, pinned)
	same, transports := 0, []string{}
	var changed strings.Builder
	count := 0
	for _, s := range m.subjects {
		if s.Kind != kindReal || s.Name != name {
			continue
		}
		ran := false
		for i := range m.table {
			id := m.table[i].ID
			switch c := m.cells[id][s]; c.kind {
			case cellOK:
				same, ran = same+1, true
			case cellFail:
				count, ran = count+1, true
				fmt.Fprintf(&changed, "  %s over %s\n", id, s.Transport)
				for line := range strings.Lines(c.reason) {
					fmt.Fprintf(&changed, "    %s\n", strings.TrimRight(line, "\n"))
				}
			}
		}
		if ran {
			transports = append(transports, s.Transport)
		}
	}
	fmt.Fprintf(out, "%d rows as expected, %d otherwise, over %s\n", same, count, strings.Join(transports, ", "))
	out.WriteString(changed.String())
}

// reportLines tells which types, subtypes and members package wire does not know, those that are new first.
func (m *matrix) reportLines(out *strings.Builder, name string, known knownDrift) {
	old := map[string][]string{}
	for pinned, all := range known {
		for _, what := range all {
			old[what] = append(old[what], pinned)
		}
	}
	var fresh, rest []string
	for _, what := range slices.Sorted(maps.Keys(m.drifts)) {
		lines := m.drifts[what][name]
		switch {
		case lines == 0:
		case len(old[what]) == 0:
			fresh = append(fresh, fmt.Sprintf("  %s, in %d lines", what, lines))
		default:
			slices.Sort(old[what])
			rest = append(rest, fmt.Sprintf("  %s, in %d lines (also %s)", what, lines, strings.Join(old[what], ", ")))
		}
	}
	fmt.Fprintf(out, "\n%d types, subtypes and members that neither package wire nor a pinned version knows\n", len(fresh))
	for _, line := range fresh {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "%d that package wire does not know, but a pinned version does\n", len(rest))
	for _, line := range rest {
		fmt.Fprintln(out, line)
	}
	out.WriteString("\n")
}

// difference tells how notes differ from those expected, a line for each that is missing (-) or new (+).
func difference(want, got []string) string {
	var out strings.Builder
	// The longest common part, by the usual table: notes are few.
	length := make([][]int, len(want)+1)
	for i := range length {
		length[i] = make([]int, len(got)+1)
	}
	for i, w := range slices.Backward(want) {
		for j, g := range slices.Backward(got) {
			if w == g {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			i, j = i+1, j+1
		case i < len(want) && (j == len(got) || length[i+1][j] >= length[i][j+1]):
			fmt.Fprintf(&out, "- %s\n", want[i])
			i++
		default:
			fmt.Fprintf(&out, "+ %s\n", got[j])
			j++
		}
	}
	return out.String()
}

func TestNearest(t *testing.T) {
	for version, want := range map[string]string{
		"2.0.5": Oldest, "2.1.37": Oldest, "2.1.62": Oldest, "2.1.120": LastDialing, "2.1.200": LastDialing, "2.1.325": Newest, "2.2.0": Newest,
	} {
		if got := nearest(must(wire.ParseVersion(version))); got != want {
			t.Errorf("%s is compared with %s, want %s", version, got, want)
		}
	}
}

func TestDifference(t *testing.T) {
	tests := []struct {
		name      string
		want, got []string
		text      string
	}{
		{"the same", []string{"a", "b"}, []string{"a", "b"}, ""},
		{"one is new", []string{"a", "c"}, []string{"a", "b", "c"}, "+ b\n"},
		{"one is gone", []string{"a", "b", "c"}, []string{"a", "c"}, "- b\n"},
		{"one has changed", []string{"a", "b", "c"}, []string{"a", "x", "c"}, "- b\n+ x\n"},
		{"nothing was noted", []string{"a"}, nil, "- a\n"},
		{"nothing was expected", nil, []string{"a"}, "+ a\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.text, difference(test.want, test.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReport holds that the report names rows that went otherwise, and what is new in lines.
func TestReport(t *testing.T) {
	later := Subject{kindReal, "2.1.130", wire.Version{Major: 2, Minor: 1, Patch: 130}, stdio}
	dialled := later
	dialled.Transport = websocket
	row := func(id string, want Want) Scenario {
		return Scenario{ID: id, Facts: "§0", Run: func(*Stage) {}, Want: want}
	}
	expected := Per{Oldest: {"old"}, LastDialing: {"first", "second"}}
	m := newMatrix([]Scenario{row("theme.same", Same("x")), row("theme.changed", expected), row("theme.broken", expected), row("theme.slow", Same("x"))}, []Subject{later, dialled})
	m.set("theme.same", later, cell{kind: cellOK, took: time.Second})
	for id, notes := range map[string][]string{"theme.changed": {"first", "third"}, "theme.broken": nil} {
		var err error
		if notes == nil {
			err = errors.New("the CLI has not ended in time")
		}
		c := &column{subject: later, matrix: m}
		m.set(id, later, cell{kind: cellFail, reason: c.drifted(&m.table[slices.IndexFunc(m.table, func(sc Scenario) bool { return sc.ID == id })], notes, err)})
	}
	m.set("theme.slow", later, cell{kind: cellSoak, reason: "runs with make soak"})
	for i := range m.table {
		m.set(m.table[i].ID, dialled, cell{kind: cellNone, reason: "it does not dial"})
	}
	m.drift(later, [][]byte{
		[]byte(`{"type":"invented","uuid":"u"}`),
		[]byte(`{"type":"system","subtype":"invented","uuid":"u"}`),
		[]byte(`{"type":"keep_alive","since":1,"also":2}`),
		[]byte(`{"type":"keep_alive","since":1}`),
	})
	known := knownDrift{Newest: {"keep_alive.also"}, LastDialing: {"keep_alive.also", "keep_alive.other"}}
	want := `Claude Code 2.1.130, compared with what the table expects of 2.1.120

1 rows as expected, 2 otherwise, over stdio
  theme.changed over stdio
    - second
    + third
  theme.broken over stdio
    the CLI has not ended in time
    - first
    - second

3 types, subtypes and members that neither package wire nor a pinned version knows
  invented (unknown type), in 1 lines
  keep_alive.since, in 2 lines
  system/invented (unknown type), in 1 lines
1 that package wire does not know, but a pinned version does
  keep_alive.also, in 1 lines (also 2.1.120, 2.1.325)

`
	if diff := cmp.Diff(want, m.report(known)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
