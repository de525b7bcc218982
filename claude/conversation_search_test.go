package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// searchAll searches to the end, in parts that read so many bytes, and returns what was found, in order.
func searchAll(t *testing.T, o SearchOptions, text string) (found []string, parts int) {
	t.Helper()
	for {
		part, err := SearchConversations(t.Context(), text, &o)
		if err != nil {
			t.Fatal(err)
		}
		parts++
		for _, hit := range part.Hits {
			runes := []rune(hit.Snippet)
			var words []string
			for _, m := range hit.Marks {
				words = append(words, string(runes[m[0]:m[1]]))
			}
			if hit.Bytes == 0 || hit.Modified.IsZero() {
				t.Errorf("%+v", hit)
			}
			found = append(found, strings.TrimLeft(hit.ID[24:], "0")+" "+hit.Dir+" "+strings.Join(words, "+"))
		}
		if part.Next == (ListPlace{}) {
			return found, parts
		}
		o.After = part.Next
	}
}

func TestSearchConversations(t *testing.T) {
	config := t.TempDir()
	in := func(o ListOptions, most int64) SearchOptions {
		o.ConfigDir = config
		return SearchOptions{ListOptions: o, MaxBytes: most}
	}
	if got, _ := searchAll(t, in(ListOptions{}, 1), "pear"); len(got) != 0 {
		t.Errorf("without a folder there are %q", got)
	}
	answer := func(dir, block string) string {
		return fmt.Sprintf(`{"type":"assistant","cwd":%q,"message":{"role":"assistant","content":[%s]}}`+"\n", dir, block)
	}
	put := func(dir string, id int, lines ...string) string {
		return putConversation(t, config, dir, testID(id), id, strings.Join(lines, ""))
	}
	first := put("/a", 1, prompt("/a", "Two Pears, and\n\ta plum", ""))
	put("/b", 2, prompt("/b", "hello", ""), answer("/b", `{"type":"text","text":"one PEAR for \"Zoë\""}`))
	put("/b", 3, prompt("/b", "hello", ""), `{"type":"custom-title","customTitle":"Pear trees","sessionId":"c3"}`+"\n")
	put("/c", 4, "{not JSON pear\n", prompt("/c", strings.Repeat("word ", 100)+"then a pear"+strings.Repeat(" word", 100), ""))
	// What does not count: what tools were given and gave, what the CLI says to itself, sub-agents, lines that are too long.
	put("/d", 5, prompt("/d", "hello", ""), answer("/d", `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pear"}}`),
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"pear"}]}}`+"\n",
		prompt("/d", "pear", `,"isMeta":true`), strings.Replace(prompt("/d", "pear", ""), `"isSidechain":false`, `"isSidechain":true`, 1),
		`{"type":"queue-operation","content":"pear"}`+"\n", prompt("/d", "pear "+strings.Repeat("x", maxSearchedLine), ""))
	putConversation(t, config, "/d", "agent-1", 5, prompt("/d", "pear", ""))
	// An older copy of one that was searched.
	putConversation(t, config, "/e", testID(5), 60, prompt("/e", "pear", ""))
	all := []string{"1 /a Pear", "2 /b PEAR", "3 /b Pear", "4 /c pear"}
	for _, test := range []struct {
		name, text string
		o          ListOptions
		want       []string
	}{
		{"a word", "pear", ListOptions{}, all},
		{"in upper case", "PEAR", ListOptions{}, all},
		{"words over a line's end", "plum pears", ListOptions{}, []string{"1 /a Pears+plum"}},
		{"words of which one is missing", "pear grape", ListOptions{}, nil},
		{"letters that are escaped", `"zoë"`, ListOptions{}, []string{`2 /b "Zoë"`}},
		{"other letters", "ZOË", ListOptions{}, []string{"2 /b Zoë"}},
		{"in a folder", "pear", ListOptions{ConversationOptions: ConversationOptions{Dir: "/b"}}, all[1:3]},
		{"one at a time", "pear", ListOptions{Limit: 1}, all},
		{"by the beginning of the id", "pear", ListOptions{Prefix: testID(3)[:36]}, all[2:3]},
	} {
		for _, most := range []int64{1, 0} {
			got, parts := searchAll(t, in(test.o, most), test.text)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %q, want %q", test.name, got, test.want)
			}
			if most == 1 && test.o == (ListOptions{}) && parts != 5 {
				t.Errorf("%s: %d parts, want one for each of the 5 conversations", test.name, parts)
			}
		}
	}
	hit, err := SearchConversations(t.Context(), "then pear", &SearchOptions{ListOptions: ListOptions{ConversationOptions: ConversationOptions{ConfigDir: config}}})
	if err != nil || len(hit.Hits) != 1 {
		t.Fatalf("%+v, %v", hit, err)
	}
	if text := hit.Hits[0].Snippet; !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") || !strings.Contains(text, "word then a pear word") || len(text) > 200 {
		t.Errorf("the snippet is %q", text)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	away := errors.New("the client has left")
	cancel(away)
	here := in(ListOptions{}, 0)
	if _, err := SearchConversations(ctx, "pear", &here); !errors.Is(err, away) {
		t.Errorf("a search that was given up: %v", err)
	}
	for _, o := range []SearchOptions{in(ListOptions{Limit: -1}, 0), {ListOptions: ListOptions{ConversationOptions: ConversationOptions{Store: new(MemoryStore)}}}} {
		if _, err := SearchConversations(t.Context(), "pear", &o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := SearchConversations(t.Context(), " \n", &here); err == nil {
		t.Error("a search for nothing found something")
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if got, _ := searchAll(t, here, "pear"); len(got) != 3 {
		t.Errorf("after one was removed: %q", got)
	}
}

// TestSearchMemory goes through many transcripts: memory is needed for their names and one line at a time.
func TestSearchMemory(t *testing.T) {
	config := t.TempDir()
	line := prompt("/a", strings.Repeat("nothing of interest here ", 40), "")
	const many = 2_000
	for i := range many {
		putConversation(t, config, "/a", testID(i), i, line)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := SearchConversations(t.Context(), "pear", &SearchOptions{ListOptions: ListOptions{ConversationOptions: ConversationOptions{ConfigDir: config}}})
	runtime.ReadMemStats(&after)
	if err != nil || len(found.Hits) != 0 || found.Next != (ListPlace{}) {
		t.Fatalf("%+v, %v", found, err)
	}
	// All that was ever allocated, most of it garbage at once.
	if used := (after.TotalAlloc - before.TotalAlloc) / many; used > 128<<10 {
		t.Errorf("%d bytes were allocated for each transcript", used)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
}
