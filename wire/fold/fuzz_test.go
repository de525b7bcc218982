package fold_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// FuzzFold folds anything. Nothing may panic, a value that went through JSON
// must go on like the one that did not, and what is kept must stay in proportion
// to what came.
func FuzzFold(f *testing.F) {
	// One line of each sort, since short inputs are tried more often; the tests
	// fold the recordings whole.
	seen := map[string]bool{}
	for _, path := range recordings(f) {
		for _, s := range recording(f, path) {
			if s.line == nil || seen[label(s.line)] || len(s.line.Raw) > 2000 {
				continue
			}
			seen[label(s.line)] = true
			f.Add(append([]byte("< "), s.line.Raw...))
		}
	}
	for _, line := range flood(1) {
		f.Add([]byte(line))
	}
	f.Add([]byte(strings.Join([]string{started, initialize, ready, prompt("a"), begin, echo("a"), canUse("q", "u", ""), answer("q"), success}, "\n")))
	f.Add([]byte(strings.Join([]string{canUse("q", "u", ""), hook("h", "u"), interrupt, withdraw("q"), stopped, answer("q")}, "\n")))
	f.Add([]byte(strings.Join([]string{messageStart("a"), textStart(0), textDelta(0, "some text"), finished("a", `{"type":"text"}`), messageStop}, "\n")))
	f.Add([]byte(strings.Join([]string{started, spent(1, 10, 1, 10, 1), ended, resumed, spent(2, 20, 2, 10, 1), cleared, nothingSpent}, "\n")))
	f.Add([]byte(strings.Join([]string{initialize, pending("i", `"pending_permission_requests":[`+canUse("q", "u", "")[2:]+`]`)}, "\n")))
	f.Add([]byte("< {\"type\":\"\xff\",\"uuid\":\"\xff\",\"session_id\":\"\xfe\",\"\xff\":1}\n< \n> null\n! ended \xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Split(text, []byte("\n"))
		a := &all{Partial: fold.Partial{Max: 64}}
		b := &all{Partial: fold.Partial{Max: 64}}
		for i, raw := range lines {
			// What is not a recording is folded all the same, as lines of the CLI.
			steps, err := parse(raw)
			if err != nil || len(steps) != 1 {
				steps = []step{{line: fold.NewLine(raw, false)}}
			}
			if steps[0].line != nil {
				steps[0].line.Seq = int64(i)
			}
			a.apply(steps[0])
			if i == len(lines)/2 {
				b = restored(t, b)
			}
			b.apply(steps[0].again())
		}
		got, err := json.Marshal(restored(t, b))
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("restored in between it folds to something else (-want +got):\n%s", cmp.Diff(encode(t, a), encode(t, b)))
		}
		// A line may be kept in several forms, each longer in JSON than it was.
		if limit := 10_000 + 60*len(text); len(want) > limit {
			t.Errorf("%d bytes are kept of %d", len(want), len(text))
		}
	})
}
