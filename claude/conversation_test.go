package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// testID returns the id of a conversation by a number.
func testID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// putConversation writes a transcript that is so many minutes old.
func putConversation(t testing.TB, config, dir, id string, age int, text string) (path string) {
	t.Helper()
	project, _ := wire.ProjectDir(config, dir)
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(project, id+".jsonl")
	putFile(t, path, text)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-time.Duration(age) * time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return path
}

func putFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// prompt is a transcript with one prompt, as new CLIs write it.
func prompt(dir, text, more string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%s},"uuid":"u1","timestamp":"2026-01-02T03:04:05.678Z","cwd":%q,"version":"2.1.325","gitBranch":"main"%s}`+"\n", content, dir, more)
}

// summaries returns what conversations are listed as.
func summaries(t testing.TB, o *ListOptions) []string {
	t.Helper()
	var all []string
	for info, err := range ListConversations(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Summary())
	}
	return all
}

func TestListConversations(t *testing.T) {
	config := t.TempDir()
	// Project folders may be in any order, so those with the newest are not the first.
	putConversation(t, config, "/a", testID(1), 50, prompt("/a", "oldest", ""))
	putConversation(t, config, "/a", testID(2), 10, prompt("/a", "newest\n of   all ", `,"entrypoint":"cli"`))
	putConversation(t, config, "/b", testID(3), 20, prompt("/b", "second", `,"entrypoint":"sdk-go"`))
	putConversation(t, config, "/b", testID(4), 30, prompt("/b", "third", `,"entrypoint":"daemon"`)+`{"type":"custom-title","customTitle":"Titled","sessionId":"x"}`+"\n")
	// What is not listed.
	putConversation(t, config, "/b", testID(5), 1, strings.Replace(prompt("/b", "a sub-agent's", ""), `"isSidechain":false`, `"isSidechain":true`, 1))
	putConversation(t, config, "/b", testID(6), 1, `{"type":"queue-operation","operation":"dequeue"}`+"\n")
	putConversation(t, config, "/b", testID(7), 1, "")
	putConversation(t, config, "/b", testID(8), 1, "\x00\x01 not JSON\n{\"type\":\"us")
	putConversation(t, config, "/b", "agent-a1b2c3", 1, prompt("/b", "an old CLI's sub-agent", ""))
	putConversation(t, config, "/b", testID(2), 90, prompt("/b", "an older copy", ""))
	putFile(t, filepath.Join(config, "projects", "-b", testID(9)+".jsonl", "x"), "a folder of that name")
	putFile(t, filepath.Join(config, "projects", testID(10)+".jsonl"), prompt("/", "beside the folders", ""))
	outside := filepath.Join(t.TempDir(), "x.jsonl")
	putFile(t, outside, prompt("/b", "outside", ""))
	if err := os.Symlink(outside, filepath.Join(config, "projects", "-b", testID(11)+".jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(config, "projects", "-linked")); err != nil {
		t.Fatal(err)
	}
	at := func(o ListOptions) *ListOptions {
		o.ConfigDir = config
		return &o
	}
	place := func(id, age int) ListPlace {
		return ListPlace{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-time.Duration(age) * time.Minute), testID(id)}
	}
	for _, test := range []struct {
		name string
		o    *ListOptions
		want string
	}{
		{"all", at(ListOptions{}), "newest of all|second|Titled|oldest"},
		{"a page", at(ListOptions{Offset: 1, Limit: 2}), "second|Titled"},
		{"the last page", at(ListOptions{Offset: 3, Limit: 2}), "oldest"},
		{"beyond the end", at(ListOptions{Offset: 4}), ""},
		{"of a folder", at(ListOptions{ConversationOptions: ConversationOptions{Dir: "/b"}}), "second|Titled|an older copy"},
		{"of no folder", at(ListOptions{ConversationOptions: ConversationOptions{Dir: "/c"}}), ""},
		{"of people", at(ListOptions{NoProgrammatic: true}), "newest of all|oldest"},
		{"by the beginning of the id", at(ListOptions{Prefix: testID(3)}), "second"},
		{"no id begins so", at(ListOptions{Prefix: "x"}), ""},
		{"after a place", at(ListOptions{After: place(3, 20)}), "Titled|oldest"},
		{"after a place at the same time", at(ListOptions{After: place(2, 20)}), "second|Titled|oldest"},
		{"after a copy that was listed", at(ListOptions{After: place(2, 10)}), "second|Titled|oldest"},
		{"of so many files", at(ListOptions{MaxFiles: 1, ConversationOptions: ConversationOptions{Dir: "/c"}}), ""},
		{"no library", &ListOptions{ConversationOptions: ConversationOptions{ConfigDir: t.TempDir()}}, ""},
	} {
		if got := strings.Join(summaries(t, test.o), "|"); got != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
	for info, err := range ListConversations(t.Context(), at(ListOptions{Limit: 1})) {
		want := ConversationInfo{
			ID: testID(2), Path: filepath.Join(config, "projects", "-a", testID(2)+".jsonl"), Dir: "/a", GitBranch: "main", FirstPrompt: "newest\n of   all",
			Entrypoint: "cli", Version: "2.1.325", Created: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Modified: info.Modified, Bytes: info.Bytes,
		}
		if err != nil || info != want || info.Bytes == 0 || info.Modified.IsZero() {
			t.Errorf("%+v, %v\nexpected %+v", info, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fails := func(ctx context.Context, o *ListOptions, is error) {
		t.Helper()
		n := 0
		for _, err := range ListConversations(ctx, o) {
			if n++; err == nil || is != nil && !errors.Is(err, is) {
				t.Errorf("error %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d errors", n)
		}
	}
	fails(ctx, at(ListOptions{}), context.Canceled)
	fails(t.Context(), at(ListOptions{Limit: -1}), nil)
}

func TestConfigDirOfTheEnvironment(t *testing.T) {
	config := t.TempDir()
	putConversation(t, config, "/a", testID(1), 1, prompt("/a", "found", ""))
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	if got := summaries(t, nil); !slices.Equal(got, []string{"found"}) {
		t.Errorf("listed %q", got)
	}
	if info, err := ConversationInfoOf(t.Context(), testID(1), nil); err != nil || info.FirstPrompt != "found" {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestConversationInfo(t *testing.T) {
	user := func(text string) string { return prompt("/x", text, "") }
	note := func(kind, name, value string) string {
		return fmt.Sprintf(`{"type":%q,%q:%q,"sessionId":"x"}`+"\n", kind, name, value)
	}
	filler := func(n int) string {
		return strings.Repeat(`{"type":"assistant","uuid":"a","isSidechain":false,"message":{"content":[{"type":"text","text":"`+strings.Repeat("x", 1000)+`"}]}}`+"\n", n)
	}
	long := strings.Repeat("long ", 40_000)
	tests := []struct {
		name, text string
		want       ConversationInfo
	}{
		{"titles: the last counts", user("p") + note("custom-title", "customTitle", "one") + note("ai-title", "aiTitle", "made") + note("custom-title", "customTitle", "two"), ConversationInfo{Title: "two", GeneratedTitle: "made", FirstPrompt: "p"}},
		{"a tag that was taken away", user("p") + note("tag", "tag", "t") + note("tag", "tag", ""), ConversationInfo{FirstPrompt: "p"}},
		{"a tag", user("p") + note("tag", "tag", "") + note("tag", "tag", "t"), ConversationInfo{FirstPrompt: "p", Tag: "t"}},
		{"a summary of old CLIs", note("summary", "summary", "s") + user("p"), ConversationInfo{GeneratedTitle: "s", FirstPrompt: "p"}},
		{"the last prompt", user("p") + note("last-prompt", "lastPrompt", "q"), ConversationInfo{FirstPrompt: "p", LastPrompt: "q"}},
		{"commands first", user("<command-name>/clear</command-name>") + user("<local-command-stdout></local-command-stdout>") + user("[Request interrupted by user]") + user("then"), ConversationInfo{FirstPrompt: "then"}},
		{"commands only", user("<command-message>x</command-message><command-name>/cost</command-name>"), ConversationInfo{FirstPrompt: "/cost"}},
		{"what a program says", user("<task-notification>x") + user("real"), ConversationInfo{FirstPrompt: "real"}},
		{"meta and summaries", strings.Replace(user("meta"), `"type":"user"`, `"type":"user","isMeta":true`, 1) + strings.Replace(user("summary"), `"type":"user"`, `"type":"user","isCompactSummary":true`, 1) + user("real"), ConversationInfo{FirstPrompt: "real"}},
		{"blocks", `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"image"},{"type":"text","text":""},{"type":"text","text":"see"}]}}` + "\n", ConversationInfo{FirstPrompt: "see"}},
		{"the title in the head of a long one", user("p") + note("custom-title", "customTitle", "one") + note("tag", "tag", "t") + filler(300), ConversationInfo{FirstPrompt: "p", Title: "one", Tag: "t"}},
		{"the title in the tail of a long one", user("p") + note("custom-title", "customTitle", "one") + filler(300) + note("custom-title", "customTitle", "two"), ConversationInfo{FirstPrompt: "p", Title: "two"}},
		{"two titles in the head of a long one", user("p") + note("custom-title", "customTitle", "one") + note("custom-title", "customTitle", "two") + filler(300), ConversationInfo{FirstPrompt: "p", Title: "two"}},
		{"a prompt behind the head of a long one", `{"type":"user","isMeta":true,"message":{"role":"user","content":"` + strings.Repeat("x", 2*endSize) + `"}}` + "\n" + user("p") + filler(200), ConversationInfo{FirstPrompt: "p"}},
		{"half a line at the end", user("p") + filler(300) + note("custom-title", "customTitle", "two") + `{"type":"custom-title","customTi`, ConversationInfo{FirstPrompt: "p", Title: "two"}},
		{"a long prompt", user(long) + filler(10), ConversationInfo{FirstPrompt: long[:maxPrompt]}},
		{"a long prompt of blocks", `{"isSidechain":false,"cwd":"/x","type":"user","message":{"role":"user","content":[{"type":"image","data":"xyz"},{"type":"text","text":"` + long + `"}]}}` + "\n" + filler(100), ConversationInfo{FirstPrompt: long[:maxPrompt]}},
		{"a large picture behind the prompt", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"see \"this\""},{"type":"image","data":"` + strings.Repeat("x", 1<<20) + `"}]},"uuid":"u"}` + "\n", ConversationInfo{FirstPrompt: `see "this"`}},
		{"a large picture before the prompt", `{"type":"user","message":{"role":"user","content":[{"type":"image","data":"` + strings.Repeat("x", 1<<20) + `"},{"type":"text","text":"unseen"}]},"uuid":"u"}` + "\n" + note("last-prompt", "lastPrompt", "q"), ConversationInfo{LastPrompt: "q"}},
		{"a long answer first", `{"type":"assistant","message":{"role":"assistant","content":"` + long + `"}}` + "\n" + note("ai-title", "aiTitle", "made"), ConversationInfo{GeneratedTitle: "made"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := t.TempDir()
			putConversation(t, config, "/x", testID(1), 0, test.text)
			info, err := ConversationInfoOf(t.Context(), testID(1), &ConversationOptions{ConfigDir: config})
			if err != nil {
				t.Fatal(err)
			}
			got := ConversationInfo{Title: info.Title, GeneratedTitle: info.GeneratedTitle, FirstPrompt: info.FirstPrompt, LastPrompt: info.LastPrompt, Tag: info.Tag}
			test.want.FirstPrompt = strings.TrimSpace(test.want.FirstPrompt)
			got.FirstPrompt = strings.TrimSpace(got.FirstPrompt)
			if got != test.want {
				t.Errorf("%+.200v\nexpected %+.200v", got, test.want)
			}
		})
	}
}

func TestConversationInfoBeside(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", ""))
	putFile(t, filepath.Join(strings.TrimSuffix(path, ".jsonl"), "custom-title.json"), `{"customTitle":"From beside"}`)
	o := &ConversationOptions{ConfigDir: config}
	info, err := ConversationInfoOf(t.Context(), testID(1), o)
	if err != nil || info.Title != "From beside" || info.Archived {
		t.Errorf("%+v, %v", info, err)
	}
	// A line in the transcript is newer.
	if err := RenameConversation(t.Context(), testID(1), "From a line", o); err != nil {
		t.Fatal(err)
	}
	if info, err = ConversationInfoOf(t.Context(), testID(1), o); err != nil || info.Title != "From a line" {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestListBounds looks at so many names, in the last changed folder first, and never follows a link out of the CLI's folder.
func TestListBounds(t *testing.T) {
	config := t.TempDir()
	for i := range 10 {
		putConversation(t, config, fmt.Sprintf("/d%d", i%2), testID(i), i, prompt("/d", fmt.Sprint("prompt ", i), ""))
	}
	recent := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(config, "projects", "-d1"), recent, recent); err != nil {
		t.Fatal(err)
	}
	o := ListOptions{ConversationOptions: ConversationOptions{ConfigDir: config, Confined: true}, MaxFiles: 5}
	if got := strings.Join(summaries(t, &o), "|"); got != "prompt 1|prompt 3|prompt 5|prompt 7|prompt 9" {
		t.Errorf("of five files: %q", got)
	}
	if o.MaxFiles = 7; len(summaries(t, &o)) != 7 {
		t.Errorf("of seven files: %q", summaries(t, &o))
	}
	// The CLI's folder may be a link, that of the transcripts may not lead out of it.
	linked := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(config, linked); err != nil {
		t.Fatal(err)
	}
	o = ListOptions{ConversationOptions: ConversationOptions{ConfigDir: linked, Confined: true}}
	if got := summaries(t, &o); len(got) != 10 {
		t.Errorf("through a link to the folder: %q", got)
	}
	other := t.TempDir()
	if err := os.Symlink(filepath.Join(config, "projects"), filepath.Join(other, "projects")); err != nil {
		t.Fatal(err)
	}
	o.ConfigDir = other
	for c, err := range ListConversations(t.Context(), &o) {
		if err == nil {
			t.Errorf("a link out of the folder led to %q", c.Summary())
		}
	}
	if _, err := ConversationInfoOf(t.Context(), testID(1), &o.ConversationOptions); err == nil {
		t.Error("a link out of the folder led to a conversation")
	}
	if o.Confined = false; len(summaries(t, &o)) != 10 {
		t.Errorf("through a link to the folder of transcripts: %q", summaries(t, &o))
	}
}

func TestSummaryIsShort(t *testing.T) {
	c := ConversationInfo{FirstPrompt: strings.Repeat("wörter ", 100)}
	if got := (&ConversationInfo{Title: " \x00\u0085", FirstPrompt: "a\x1b[2J\r\nb\x9d"}).Summary(); got != "a [2J b" {
		t.Errorf("control characters: %q", got)
	}
	if got := c.Summary(); len([]rune(got)) > 200 || !strings.HasSuffix(got, "…") || strings.ContainsAny(got, "\n\uFFFD") {
		t.Errorf("%q", got)
	}
}

// TestListReadsLittle counts what is read and allocated, with ten thousand
// conversations and with one of 900 MB among them.
func TestListReadsLittle(t *testing.T) {
	const count = 10_000
	config := t.TempDir()
	for i := range count {
		project := filepath.Join(config, "projects", fmt.Sprintf("-p%d", i%50))
		if i < 50 {
			if err := os.MkdirAll(project, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(project, testID(i)+".jsonl"), []byte(prompt("/p", fmt.Sprint("prompt ", i), "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	huge := putConversation(t, config, "/p0", testID(count), -1e6, prompt("/p", "huge", ""))
	f, err := os.OpenFile(huge, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	tail := "\n" + `{"type":"custom-title","customTitle":"Huge","sessionId":"x"}` + "\n"
	if _, err := f.WriteAt([]byte(tail), 900<<20-int64(len(tail))); err != nil {
		t.Fatal(err)
	}
	newest := time.Now().Add(time.Hour)
	if err := os.Chtimes(huge, newest, newest); err != nil {
		t.Fatal(err)
	}
	lib, err := openLibrary(config, false)
	if err != nil {
		t.Fatal(err)
	}
	defer lib.close()
	var read, calls int
	lib.read = func(n int) { read += n; calls++ }
	list := func(limit int) (names []string, allocated uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		err := lib.list(t.Context(), &ListOptions{}, &listPage{left: limit, all: limit == 0, visit: func(info *ConversationInfo) bool {
			if n++; n <= 3 {
				names = append(names, info.Summary())
			}
			return true
		}})
		runtime.ReadMemStats(&after)
		if want := limit; err != nil || n != want && want != 0 || want == 0 && n != count+1 {
			t.Errorf("%d listed, %v", n, err)
		}
		return names, after.TotalAlloc - before.TotalAlloc
	}
	names, _ := list(1)
	if read != 2*endSize || calls != 2 || names[0] != "Huge" {
		t.Errorf("for the first: %d bytes in %d reads, %q", read, calls, names)
	}
	read, calls = 0, 0
	_, few := list(10)
	if read > 2*endSize+9*1000 || calls != 11 {
		t.Errorf("for the first ten: %d bytes in %d reads", read, calls)
	}
	// Names and times of all, but the contents of ten only.
	if few > count*2000+1<<20 {
		t.Errorf("for the first ten: %d bytes allocated", few)
	}
	read = 0
	if _, all := list(0); read > 2*endSize+count*1000 || all > few+count*16<<10 {
		t.Errorf("for all: %d bytes read, %d allocated, %d for the first ten", read, all, few)
	}
	if info, err := ConversationInfoOf(t.Context(), testID(count), &ConversationOptions{ConfigDir: config}); err != nil || info.Bytes != 900<<20 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestWorktrees(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	// A repository with two more worktrees, one of them by a relative path.
	putFile(t, at("main", ".git", "HEAD"), "ref: refs/heads/main\n")
	putFile(t, at("main", ".git", "worktrees", "two", "gitdir"), at("two", ".git")+"\n")
	putFile(t, at("main", ".git", "worktrees", "two", "commondir"), "../..\n")
	putFile(t, at("two", ".git"), "gitdir: "+at("main", ".git", "worktrees", "two")+"\n")
	putFile(t, at("main", ".git", "worktrees", "three", "gitdir"), "../../../../three/.git\n")
	putFile(t, at("main", ".git", "worktrees", "three", "commondir"), "../..\n")
	putFile(t, at("three", ".git"), "gitdir: ../main/.git/worktrees/three\n")
	putFile(t, at("three", "sub", "x"), "")
	putFile(t, at("main-other", "x"), "")
	putFile(t, at("plain", "x"), "")
	for i, dir := range []string{"main", "two", "three", "three/sub", "main-other", "main/other", "plain"} {
		putConversation(t, config, at(dir), testID(i), i, prompt(at(dir), dir, ""))
	}
	for _, test := range []struct{ dir, worktrees, alone string }{
		{"main", "main|two|three|three/sub|main/other", "main"},
		{"two", "main|two|three|three/sub|main/other", "two"},
		{"three/sub", "main|two|three|three/sub|main/other", "three/sub"},
		{"plain", "plain", "plain"},
		{"main-other", "main-other", "main-other"}, // main/other has the same folder for its transcripts
	} {
		o := &ListOptions{ConversationOptions: ConversationOptions{ConfigDir: config, Dir: at(test.dir)}}
		if got := strings.Join(summaries(t, o), "|"); got != test.worktrees {
			t.Errorf("%s with its worktrees: %q, expected %q", test.dir, got, test.worktrees)
		}
		o.NoWorktrees = true
		if got := strings.Join(summaries(t, o), "|"); got != test.alone {
			t.Errorf("%s alone: %q, expected %q", test.dir, got, test.alone)
		}
	}
	// Files that make no sense are none.
	putFile(t, at("odd", ".git"), "gitdir:\n")
	if got := gitWorktrees(at("odd")); len(got) > 2 {
		t.Errorf("%q", got)
	}
}

func TestConversationsThatAreNotThere(t *testing.T) {
	config := t.TempDir()
	putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", ""))
	putConversation(t, config, "/x", testID(3), 0, "{}\n")
	o := ConversationOptions{ConfigDir: config}
	calls := func(id string) map[string]error {
		errs := map[string]error{
			"rename":    RenameConversation(t.Context(), id, "t", &o),
			"tag":       TagConversation(t.Context(), id, "t", &o),
			"archive":   ArchiveConversation(t.Context(), id, &o),
			"unarchive": UnarchiveConversation(t.Context(), id, &o),
			"delete":    DeleteConversation(t.Context(), id, &o),
			"import":    ImportConversation(t.Context(), id, new(MemoryStore), &ImportOptions{ConversationOptions: o}),
		}
		_, errs["info"] = ConversationInfoOf(t.Context(), id, &o)
		_, errs["fork"] = ForkConversation(t.Context(), id, &ForkOptions{ConversationOptions: o})
		_, errs["subagents"] = Subagents(t.Context(), id, &o)
		for _, err := range ReadConversation(t.Context(), id, &ReadOptions{ConversationOptions: o}) {
			errs["read"] = err
		}
		for _, err := range ReadSubagent(t.Context(), id, "a1", &ReadOptions{ConversationOptions: o}) {
			errs["read a sub-agent"] = err
		}
		return errs
	}
	for name, err := range calls(testID(2)) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", ".", "../" + testID(1), "x/" + testID(1), testID(1) + "\x00", strings.ToUpper("not-a-uuid"), testID(1) + ".jsonl"} {
		for name, err := range calls(id) {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %q: %v", name, id, err)
			}
		}
	}
	if _, err := ConversationInfoOf(t.Context(), testID(3), &o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty one: %v", err)
	}
	if got := summaries(t, &ListOptions{ConversationOptions: o}); !slices.Equal(got, []string{"p"}) {
		t.Errorf("left: %q", got)
	}
	// What is behind a picture of a megabyte is not read, but there is something.
	picture := `{"type":"user","message":{"role":"user","content":[{"type":"image","data":"` + strings.Repeat("x", 1<<20) + `"},{"type":"text","text":"unseen"}]},"uuid":"u"}` + "\n"
	putConversation(t, config, "/x", testID(4), 9, picture)
	if got := summaries(t, &ListOptions{ConversationOptions: o}); !slices.Equal(got, []string{"p", ""}) {
		t.Errorf("with a long one: %q", got)
	}
}
