package since

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func patch(n int) wire.Version { return wire.Version{Major: 2, Minor: 1, Patch: n} }

// published are 200 versions with holes, as in the registry.
func published() []wire.Version {
	var all []wire.Version
	for n := 37; len(all) < 200; n++ {
		if n%7 != 3 {
			all = append(all, patch(n))
		}
	}
	return all
}

// A world is what made-up versions have: a feature is there from the first number on, up to the second if that is not 0.
type world map[string][2]int

func (w world) try(v wire.Version) Findings {
	findings := Findings{}
	for _, f := range Features() {
		span, ok := w[f.Key()]
		findings[f.Key()] = No
		if !ok || v.Patch >= span[0] && (span[1] == 0 || v.Patch <= span[1]) {
			findings[f.Key()] = Yes
		}
	}
	return findings
}

// rowOf returns the row of a feature.
func rowOf(t *testing.T, rows []Row, key string) Row {
	t.Helper()
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Key() == key })
	if i < 0 {
		t.Fatalf("there is no row of %s", key)
	}
	return rows[i]
}

// TestPlan holds that the search finds every change to the version, and that features share the versions that are tried.
func TestPlan(t *testing.T) {
	all := published()
	pinned := []wire.Version{all[0], patch(120), all[len(all)-1]}
	w := world{
		"flag effort": {52, 0}, "flag thinking": {52, 0}, "flag task-budget": {90, 0}, "mode delegate": {0, 60},
		"request set_color": {1000, 0}, "request read_file": {196, 0}, "request list_models": {196, 0}, "hook PostToolBatch": {118, 0},
		"hook MessageDisplay": {200, 230},
	}
	tried := Tried{}
	count := 0
	for {
		next, more := Plan(all, pinned, tried)
		if !more {
			break
		}
		if tried[next] != nil {
			t.Fatalf("%s is to be tried twice", next)
		}
		tried[next] = w.try(next)
		if count++; count > len(all) {
			t.Fatal("the search does not end")
		}
	}
	if count > 45 {
		t.Errorf("%d versions were tried", count)
	}
	if open, widest := Open(all, tried); open != 0 || widest != 0 {
		t.Errorf("%d changes are left, %d wide", open, widest)
	}
	rows, returned := Rows(all, tried)
	if len(returned) != 0 || len(rows) != len(Features()) {
		t.Errorf("%d rows; %q came back", len(rows), returned)
	}
	type versions struct{ Without, Since, Until, Gone wire.Version }
	for key, want := range map[string]versions{
		"flag model":         {Since: patch(37)},
		"flag effort":        {Without: patch(51), Since: patch(53)}, // 52 is a hole
		"flag thinking":      {Without: patch(51), Since: patch(53)},
		"flag task-budget":   {Without: patch(89), Since: patch(90)},
		"mode delegate":      {Since: patch(37), Until: patch(60), Gone: patch(61)},
		"request set_color":  {Without: all[len(all)-1]},
		"request read_file":  {Without: patch(195), Since: patch(196)},
		"hook PostToolBatch": {Without: patch(117), Since: patch(118)},
		// No pinned version has it; one that was tried for another feature does.
		"hook MessageDisplay": {Without: patch(198), Since: patch(200), Until: patch(230), Gone: patch(231)},
	} {
		r := rowOf(t, rows, key)
		if diff := cmp.Diff(want, versions{r.Without, r.Since, r.Until, r.Gone}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// TestPlanGoesOn holds that a search that was stopped tells intervals, and that what is unclear is not asked again.
func TestPlanGoesOn(t *testing.T) {
	all := published()
	pinned := []wire.Version{all[0], all[len(all)-1]}
	w := world{"flag effort": {100, 0}}
	tried := Tried{all[0]: w.try(all[0]), all[len(all)-1]: w.try(all[len(all)-1])}
	rows, _ := Rows(all, tried)
	if r := rowOf(t, rows, "flag effort"); r.Without != all[0] || r.Since != all[len(all)-1] {
		t.Errorf("before the search: %s to %s", r.Without, r.Since)
	}
	next, more := Plan(all, pinned, tried)
	if want := all[len(all)/2]; !more || next != want && next != all[len(all)/2-1] {
		t.Fatalf("the next version is %s, want the middle, %s", next, want)
	}
	tried[next] = w.try(next)
	tried[next]["flag effort"] = Unclear
	if again, more := Plan(all, pinned, tried); !more || again == next {
		t.Errorf("the version that is unclear is asked again: %s, %t", again, more)
	}
	// A new feature is asked of the versions that are pinned first.
	delete(tried[all[0]], "hook Stop")
	if again, _ := Plan(all, pinned, tried); again != all[0] {
		t.Errorf("the new feature is first asked of %s", again)
	}
}

func TestRowsOfWhatCameBack(t *testing.T) {
	all := published()[:6]
	tried := Tried{}
	for i, found := range []Finding{Yes, No, No, Yes, No, Yes} {
		tried[all[i]] = Findings{"flag effort": found}
	}
	rows, returned := Rows(all, tried)
	if r := rowOf(t, rows, "flag effort"); r.Without != all[4] || r.Since != all[5] || !r.Until.IsZero() {
		t.Errorf("got %+v", r)
	}
	if !slices.Equal(returned, []string{"flag effort"}) {
		t.Errorf("came back: %q", returned)
	}
}

// TestFeatures holds that a key names one feature, and that what is searched for by name has a name.
func TestFeatures(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Features() {
		if seen[f.Key()] {
			t.Errorf("%s is there twice", f.Key())
		}
		seen[f.Key()] = true
		if f.Way == ByName && len(f.text) < 8 {
			t.Errorf("%s is searched for by %q", f.Key(), f.text)
		}
		if f.Way == ByFlag && !strings.HasPrefix(f.text, "--") {
			t.Errorf("%s is tried by %q", f.Key(), f.text)
		}
	}
}

// TestNeeded holds that a version is tried for what changes around it, and for what comes for nothing with that.
func TestNeeded(t *testing.T) {
	all := published()
	pinned := []wire.Version{all[0], all[len(all)-1]}
	count := func(w world, v wire.Version) (ways map[Way]int) {
		tried := Tried{}
		for _, p := range pinned {
			tried[p] = w.try(p)
		}
		ways = map[Way]int{}
		needed := Needed(all, pinned, tried, v)
		for _, f := range Features() {
			if needed(f) {
				ways[f.Way]++
			}
		}
		return ways
	}
	whole := count(world{}, all[0])
	if whole[ByFlag] < 40 || whole[ByAnswer] < 40 || whole[ByTurn] < 5 || whole[ByName] < 40 {
		t.Errorf("a pinned version is tried for %v", whole)
	}
	for name, test := range map[string]struct {
		world world
		want  map[Way]int
	}{
		"nothing changes": {world{}, map[Way]int{ByName: whole[ByName]}},
		"a flag":          {world{"flag effort": {100, 0}}, map[Way]int{ByName: whole[ByName], ByFlag: 1}},
		"a request":       {world{"request read_file": {100, 0}}, map[Way]int{ByName: whole[ByName], ByAnswer: whole[ByAnswer] - 1}},
		"a behavior":      {world{"behavior managed_settings_obeyed": {100, 0}}, map[Way]int{ByName: whole[ByName], ByAnswer: 1}},
		"a turn":          {world{"initialize title": {100, 0}}, map[Way]int{ByName: whole[ByName], ByTurn: whole[ByTurn]}},
	} {
		if diff := cmp.Diff(test.want, count(test.world, patch(90))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
