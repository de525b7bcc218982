package fold_test

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// restored returns a value that went through JSON.
func restored(t testing.TB, a *all) *all {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatalf("writing: %v", err)
	}
	out := new(all)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("reading again: %v\n%s", err, b)
	}
	return out
}

// inPieces folds steps with a trip through JSON where cut says so, and returns
// the values with everything that was reported on the way.
func inPieces(t testing.TB, steps []step, cut func(i int) bool) string {
	t.Helper()
	a := new(all)
	type reported struct {
		Changes []fold.Change
		Turn    *fold.Turn
	}
	var reports []reported
	for i, s := range steps {
		if cut(i) {
			a = restored(t, a)
		}
		changes, turn := a.apply(s.again())
		if changes != nil || turn != nil {
			reports = append(reports, reported{changes, turn})
		}
	}
	return encode(t, a) + encode(t, reports)
}

// TestRebuild shows that a log folded in one go gives the same as the log folded
// in pieces, with the values saved and restored in between.
func TestRebuild(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	for _, path := range recordings(t) {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			steps := recording(t, path)
			want := inPieces(t, steps, func(int) bool { return false })
			if diff := cmp.Diff(want, inPieces(t, steps, func(int) bool { return true })); diff != "" {
				t.Errorf("restored before every line (-want +got):\n%s", diff)
			}
			cuts := map[int]bool{random.IntN(len(steps)): true, random.IntN(len(steps)): true}
			if diff := cmp.Diff(want, inPieces(t, steps, func(i int) bool { return cuts[i] })); diff != "" {
				t.Errorf("restored before the lines %v (-want +got):\n%s", cuts, diff)
			}
		})
	}
}

// TestLiveLinesDoNotCount shows that a log without its live lines folds to the
// same state, questions and costs: that is what a journal keeps.
func TestLiveLinesDoNotCount(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			var whole, kept all
			left := 0
			for _, s := range recording(t, path) {
				whole.apply(s)
				if s.live() {
					left++
					continue
				}
				kept.apply(s.again())
			}
			if left == 0 {
				t.Log("the recording has no live lines")
			}
			whole.Partial, kept.Partial = fold.Partial{}, fold.Partial{}
			if diff := cmp.Diff(encode(t, &whole), encode(t, &kept)); diff != "" {
				t.Errorf("(-with +without):\n%s", diff)
			}
		})
	}
}

// TestStateHoldsTheQuestions shows that the questions within a state are those
// that are folded alone.
func TestStateHoldsTheQuestions(t *testing.T) {
	for _, path := range recordings(t) {
		var a all
		for _, s := range recording(t, path) {
			a.apply(s)
			if diff := cmp.Diff(encode(t, a.Questions), encode(t, a.State.Questions)); diff != "" {
				t.Fatalf("%s (-alone +within):\n%s", path, diff)
			}
		}
	}
}

// TestRecordingsEndClean shows what holds for every recording: when the process
// is gone nothing is left open, and all money was told of by the turns.
func TestRecordingsEndClean(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			var a all
			var sum float64
			opened, settled := 0, 0
			for _, s := range recording(t, path) {
				changes, turn := a.apply(s)
				if turn != nil {
					sum += turn.Figures.CostUSD
				}
				for _, c := range changes {
					switch c.Fate {
					case fold.FateOpened:
						opened++
					case fold.FateAnswered, fold.FateCancelled:
						settled++
					case fold.FateAnsweredTooLate, fold.FateAskedAgain:
					}
				}
			}
			if a.State.Phase() != fold.PhaseEnded || len(a.State.Tasks) > 0 || len(a.State.Queue.Waiting) > 0 || len(a.State.Requests) > 0 {
				t.Errorf("left over: %s", encode(t, a.State))
			}
			if opened != settled || len(a.Questions.Open) > 0 {
				t.Errorf("%d questions were opened and %d settled", opened, settled)
			}
			if len(a.Partial.Messages()) > 0 {
				t.Errorf("unfinished: %s", encode(t, a.Partial))
			}
			if total := a.Costs.Total().CostUSD; sum-total > 1e-9 || total-sum > 1e-9 {
				t.Errorf("the turns cost %v, the whole %v", sum, total)
			}
			if a.State.Drift.Malformed > 0 {
				t.Errorf("%d lines are malformed", a.State.Drift.Malformed)
			}
		})
	}
}

func TestPartialJSON(t *testing.T) {
	a := play(t, messageStart("a"), textStart(0), textDelta(0, "x"))
	a.Partial.Max = 50
	b := restored(t, a)
	b.apply(script(t, textDelta(0, "y"))[0])
	if got := b.Partial.Messages()[0].Blocks[0].Text; got != "xy" || b.Partial.Max != 50 {
		t.Errorf("restored, it went on with %q and a limit of %d", got, b.Partial.Max)
	}
	if err := json.Unmarshal([]byte(`{"messages":5}`), new(fold.Partial)); err == nil {
		t.Error("what is no partial was accepted")
	}
}
