package conformance

import (
	"slices"
	"strings"
	"testing"
)

// Which cells of the matrix run every day, and which with make soak only.
//
// A pinned CLI does not change. What a real cell can catch every day is a change on our side: in the lines and arguments that package claude
// and package wire make for it, in a transport, in the simulated model, in the table. Most of that is the same for every version and every
// transport, so a scenario runs on one real cell for each result that the table expects, the newest version over stdio first. Where our side
// differs though the result does not, the scenario says so in Also. The simulated CLI is our own code, all of whose versions change, and costs a
// tenth: it runs everywhere.

// shown returns the real cells of a scenario that are left to make soak, each with the cell that shows the same every day.
func (sc *Scenario) shown(all []Subject) map[Subject]Subject {
	order := slices.DeleteFunc(slices.Clone(all), func(s Subject) bool { return s.Kind != kindReal || sc.why(s) != "" || sc.Slow || sc.rare(s) })
	transports := []string{stdio, websocket, hybrid}
	slices.SortStableFunc(order, func(a, b Subject) int {
		if by := slices.Index(transports, a.Transport) - slices.Index(transports, b.Transport); by != 0 {
			return by
		}
		return b.Version.Compare(a.Version)
	})
	left := map[Subject]Subject{}
	var chosen []Subject
	for _, s := range order {
		i := slices.IndexFunc(chosen, func(c Subject) bool { return sc.wantsSame(c, s) })
		if i < 0 || sc.also(s) != "" {
			chosen = append(chosen, s)
		} else {
			left[s] = chosen[i]
		}
	}
	return left
}

// wantsSame reports whether the table expects the same notes on two subjects. Where it does not say what it expects, that is for another test.
func (sc *Scenario) wantsSame(a, b Subject) bool {
	one, _ := sc.Want.on(a)
	two, _ := sc.Want.on(b)
	return slices.Equal(one, two)
}

// also returns why a cell runs every day though another one shows the same, or "".
func (sc *Scenario) also(s Subject) string {
	for _, key := range []string{s.Name + "/" + s.Transport, s.Name, "*/" + s.Transport, "*"} {
		if reason := sc.Also[key]; reason != "" {
			return reason
		}
	}
	return ""
}

// rare reports whether the scenario says that it costs too much on a subject.
func (sc *Scenario) rare(s Subject) bool { return sc.Rare != nil && sc.Rare(s) }

// A selection says which cells run.
type selection struct {
	soak    bool // all of them
	reports bool // those of a version that the table does not know: all but the slow ones
	slow    *slowResults
	shown   map[string]map[Subject]Subject // by scenario
}

// newSelection decides about the cells of a table.
func newSelection(table []Scenario, all []Subject, soak, reports bool, slow *slowResults) *selection {
	sel := &selection{soak: soak, reports: reports, slow: slow, shown: map[string]map[Subject]Subject{}}
	for i := range table {
		sel.shown[table[i].ID] = table[i].shown(all)
	}
	return sel
}

// leaves returns why a cell is left to make soak, or "" if it runs.
func (sel *selection) leaves(sc *Scenario, s Subject) string {
	switch by, shown := sel.shown[sc.ID][s]; {
	case sel.soak:
		return ""
	case sc.Slow, sc.rare(s) && !sel.reports:
		reason := "soak: " + sel.slow.last(sc.ID, s)
		if differs := sc.differs(s); differs != "" {
			reason += ": " + differs
		}
		return reason
	case shown && !sel.reports:
		return "soak: the table expects what " + label(by) + " shows"
	}
	return ""
}

// remembers reports whether the result of a cell is kept in a file, since it is rarely run and shown by no other.
func (sel *selection) remembers(sc *Scenario, s Subject) bool {
	return sel.soak && (sc.Slow || sc.rare(s))
}

// TestEveryDay holds the rule on scenarios of each kind.
func TestEveryDay(t *testing.T) {
	tests := []struct {
		name string
		sc   Scenario
		want string // the real cells
	}{
		{"the same everywhere", Scenario{Want: Same("x")}, "R325p"},
		{"the oldest differs", Scenario{Want: Per{Oldest: {"old"}, LastDialing: {"new"}}}, "R37p R325p"},
		{"only the middle differs", Scenario{Want: Per{Oldest: {"x"}, LastDialing: {"y"}, Newest: {"x"}}}, "R120p R325p"},
		{"all differ", Scenario{Want: Per{Oldest: {"x"}, LastDialing: {"y"}, Newest: {"z"}}}, "R37p R120p R325p"},
		{"a transport differs", Scenario{Want: Per{"*": {"x"}, "*/hybrid": {"y"}}}, "R120h R325p"},
		{"a version over a transport differs", Scenario{Want: Per{"*": {"x"}, Oldest + "/hybrid": {"y"}, LastDialing: {"x"}}}, "R37h R325p"},
		{"gone in the newest", Scenario{Where: before(Newest, "gone"), Want: Same("x")}, "R120p"},
		{"dialled only", Scenario{Where: dialledOnly, Want: Same("x")}, "R120w"},
		{"hybrid only", Scenario{Where: hybridOnly, Want: Per{Oldest: {"old"}, LastDialing: {"new"}}}, "R37h R120h"},
		{"raw", Scenario{Raw: true, Want: Same("x")}, "R325p"},
		{"one more version", Scenario{Want: Same("x"), Also: map[string]string{Oldest + "/stdio": "why"}}, "R37p R325p"},
		{"one more transport", Scenario{Want: Same("x"), Also: map[string]string{"*/websocket": "why"}}, "R37w R120w R325p"},
		{"everywhere", Scenario{Want: Same("x"), Also: map[string]string{"*": "why"}}, "R37p R37w R37h R120p R120w R120h R325p"},
		{"slow", Scenario{Want: Same("x"), Slow: true, Also: map[string]string{"*": "why"}}, ""},
		{"what is rare shows nothing", Scenario{Want: Same("x"), Rare: func(s Subject) bool { return s.Name == Newest }}, "R120p"},
	}
	all := subjects(t)
	for _, test := range tests {
		test.sc.ID = "made.up"
		runs := func(sel *selection) (real string, simulated int) {
			var labels []string
			for _, s := range all {
				if test.sc.why(s) != "" || sel.leaves(&test.sc, s) != "" {
					continue
				}
				if s.Kind == kindReal {
					labels = append(labels, label(s))
				} else {
					simulated++
				}
			}
			return strings.Join(labels, " "), simulated
		}
		table := []Scenario{test.sc}
		real, simulated := runs(newSelection(table, all, false, false, &slowResults{}))
		if real != test.want {
			t.Errorf("%s: runs on %q, want %q", test.name, real, test.want)
		}
		everything, every := runs(newSelection(table, all, true, false, &slowResults{}))
		if !test.sc.Slow && test.sc.Rare == nil && simulated != every {
			t.Errorf("%s: runs on %d simulated cells of %d", test.name, simulated, every)
		}
		// A version that is asked for is tried in full.
		if asked, _ := runs(newSelection(table, all, false, true, &slowResults{})); !test.sc.Slow && asked != everything {
			t.Errorf("%s: a version that is asked for runs on %q, want %q", test.name, asked, everything)
		}
	}
}

// TestWhatIsLeftOutIsShown holds that the cell which is said to show the same runs and expects the same, and that no addition is for nothing.
func TestWhatIsLeftOutIsShown(t *testing.T) {
	all := subjects(t)
	daily, left := 0, 0
	for _, sc := range scenarios() {
		shown := sc.shown(all)
		for s, by := range shown {
			left++
			if _, out := shown[by]; out || by.Kind != kindReal || !sc.wantsSame(s, by) {
				t.Errorf("%s on %s is not shown by %s", sc.ID, s, by)
			}
		}
		for _, s := range all {
			if _, out := shown[s]; s.Kind == kindReal && !out && sc.why(s) == "" && !sc.Slow && !sc.rare(s) {
				daily++
			}
		}
		for key, reason := range sc.Also {
			without := sc
			without.Also = nil
			needed := false
			for s := range without.shown(all) {
				needed = needed || slices.Contains([]string{s.Name + "/" + s.Transport, s.Name, "*/" + s.Transport, "*"}, key)
			}
			if !needed || reason == "" {
				t.Errorf("%s: the addition %q (%s) adds no cell, or has no reason", sc.ID, key, reason)
			}
		}
	}
	t.Logf("every day %d real cells, with make soak %d more", daily, left)
}
