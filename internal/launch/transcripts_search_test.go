//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// search searches to the end, in parts that read so many bytes, and returns the ids, in order, with what was found.
func (s *shelf) search(q TranscriptQuery, text string, most int64) (found []string, parts int) {
	s.Helper()
	found = []string{}
	for {
		part, err := s.l.searchTranscripts(s.Context(), q, text, most)
		if err != nil {
			s.Fatal(err)
		}
		parts++
		for _, hit := range part.Found {
			runes := []rune(hit.Snippet)
			var words []string
			for _, m := range hit.Marks {
				words = append(words, string(runes[m[0]:m[1]]))
			}
			found = append(found, hit.Conversation+" "+hit.Dir+" "+strings.Join(words, "+"))
		}
		if part.Before.IsZero() {
			return found, parts
		}
		q.Before, q.BeforeAfter = part.Before, part.BeforeAfter
	}
}

func TestSearchTranscripts(t *testing.T) {
	s := newShelf(t)
	if got, _ := s.search(TranscriptQuery{}, "pear", 1); len(got) != 0 {
		t.Errorf("without a folder there are %q", got)
	}
	answer := func(dir, block string) string {
		return fmt.Sprintf(`{"type":"assistant","cwd":%q,"message":{"role":"assistant","content":[%s]}}`, dir, block)
	}
	s.put("/a", "c1", 1, said("/a", "Two Pears, and\n\ta plum", ""))
	s.put("/b", "c2", 2, said("/b", "hello", ""), answer("/b", `{"type":"text","text":"one PEAR for \"Zoë\""}`))
	s.put("/b", "c3", 3, said("/b", "hello", ""), `{"type":"custom-title","customTitle":"Pear trees","sessionId":"c3"}`)
	s.put("/c", "c4", 4, "{not JSON pear", said("/c", strings.Repeat("word ", 100)+"then a pear"+strings.Repeat(" word", 100), ""))
	// What does not count: what tools were given and gave, what the CLI says to itself, sub-agents, lines that are too long.
	s.put("/d", "c5", 5, said("/d", "hello", ""), answer("/d", `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pear"}}`),
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"pear"}]}}`,
		said("/d", "pear", `,"isMeta":true`), said("/d", "pear", `,"isSidechain":true`), `{"type":"queue-operation","content":"pear"}`,
		said("/d", "pear "+strings.Repeat("x", mostSearched), ""))
	s.put("/d", "agent-1", 5, said("/d", "pear", ""))
	all := []string{"c1 /a Pear", "c2 /b PEAR", "c3 /b Pear", "c4 /c pear"}
	for _, test := range []struct {
		name, text string
		q          TranscriptQuery
		want       []string
	}{
		{"a word", "pear", TranscriptQuery{}, all},
		{"in large letters", "PEAR", TranscriptQuery{}, all},
		{"words over a line's end", "plum pears", TranscriptQuery{}, []string{"c1 /a Pears+plum"}},
		{"words of which one is missing", "pear grape", TranscriptQuery{}, []string{}},
		{"letters that are escaped", `"zoë"`, TranscriptQuery{}, []string{`c2 /b "Zoë"`}},
		{"other letters", "ZOË", TranscriptQuery{}, []string{"c2 /b Zoë"}},
		{"in a folder", "pear", TranscriptQuery{Dir: "/b"}, all[1:3]},
		{"one at a time", "pear", TranscriptQuery{Limit: 1}, all},
		{"by the beginning of the id", "pear", TranscriptQuery{Prefix: "c3"}, all[2:3]},
	} {
		for _, most := range []int64{1, searchBytes} {
			got, parts := s.search(test.q, test.text, most)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
			if most == 1 && test.q == (TranscriptQuery{}) && parts != 5 {
				t.Errorf("%s: %d parts, want one for each of the 5 transcripts", test.name, parts)
			}
		}
	}
	if got := s.list(TranscriptQuery{Prefix: "c3"}); len(got) != 1 || !strings.HasPrefix(got[0], "c3 ") {
		t.Errorf("by the beginning of an id: %q", got)
	}
	hit, err := s.l.SearchTranscripts(t.Context(), TranscriptQuery{Conversation: "c4"}, "pear")
	if err != nil || len(hit.Found) != 1 {
		t.Fatalf("%+v, %v", hit, err)
	}
	if text := hit.Found[0].Snippet; !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") || !strings.Contains(text, "word then a pear word") || len(text) > 200 {
		t.Errorf("the snippet is %q", text)
	}
	if _, err := s.l.SearchTranscripts(t.Context(), TranscriptQuery{}, " \n"); err == nil {
		t.Error("nothing was looked for, and found")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	away := errors.New("whoever asked has left")
	cancel(away)
	if _, err := s.l.SearchTranscripts(ctx, TranscriptQuery{}, "pear"); !errors.Is(err, away) {
		t.Errorf("a search that was given up: %v", err)
	}
	if err := os.Remove(s.path("/a", "c1")); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.search(TranscriptQuery{}, "pear", searchBytes); len(got) != 3 {
		t.Errorf("after one was removed: %q", got)
	}
}

// TestSearchMemory goes through ten thousand transcripts: what it needs of memory at once is for their names and one line.
func TestSearchMemory(t *testing.T) {
	s := newShelf(t)
	line := said("/a", strings.Repeat("nothing of interest here ", 40), "")
	const many = 2_000
	for i := range many {
		s.put("/a", fmt.Sprintf("c%05d", i), i, line)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := s.l.SearchTranscripts(t.Context(), TranscriptQuery{}, "pear")
	runtime.ReadMemStats(&after)
	if err != nil || len(found.Found) != 0 || !found.Before.IsZero() {
		t.Fatalf("%+v, %v", found, err)
	}
	// All that was ever asked for, most of it given back at once.
	if used := (after.TotalAlloc - before.TotalAlloc) / many; used > 128<<10 {
		t.Errorf("%d bytes were allocated for each transcript", used)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
}
