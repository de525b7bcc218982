package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// storeOf returns a store with a conversation that has a sub-agent, and the
// transcript that it was imported from.
func storeOf(t *testing.T) (store *MemoryStore, config, path string) {
	t.Helper()
	config = t.TempDir()
	path = putConversation(t, config, "/x", testID(1), 0, prompt("/x", "asked", "")+short(t, "2 < u1 answers b", "3 < 2 says c", "4 < 3 answers d")+`{"type":"custom-title","customTitle":"Titled","sessionId":"`+testID(1)+`"}`+"\n{\"half")
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	putFile(t, filepath.Join(folder, "agent-a1.jsonl"), short(t, "1 < - side task"))
	putFile(t, filepath.Join(folder, "agent-a1.meta.json"), `{"agentType":"general-purpose","toolUseId":"toolu_1"}`)
	store = new(MemoryStore)
	if err := ImportConversation(t.Context(), testID(1), store, &ImportOptions{ConversationOptions: ConversationOptions{ConfigDir: config}, Batch: 2}); err != nil {
		t.Fatal(err)
	}
	return store, config, path
}

func TestImportAndRestore(t *testing.T) {
	store, config, path := storeOf(t)
	if got := stored(t, store, mainKey); got != "u1 2 3 4 " {
		t.Errorf("imported %q", got)
	}
	// What is there already is not added again, but for what has no uuid.
	if err := ImportConversation(t.Context(), testID(1), store, &ImportOptions{ConversationOptions: ConversationOptions{ConfigDir: config, Dir: "/x"}, NoSubagents: true}); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, store, mainKey); got != "u1 2 3 4  " {
		t.Errorf("imported twice: %q", got)
	}
	if err := store.Delete(t.Context(), mainKey); err != nil {
		t.Fatal(err)
	}
	if err := ImportConversation(t.Context(), testID(1), store, &ImportOptions{ConversationOptions: ConversationOptions{ConfigDir: config}}); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	to := &ConversationOptions{ConfigDir: other, Dir: "/x"}
	if err := RestoreConversation(t.Context(), store, testID(1), to); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".jsonl", "/subagents/agent-a1.jsonl", "/subagents/agent-a1.meta.json"} {
		from := strings.TrimSuffix(path, ".jsonl") + filepath.FromSlash(name)
		back := strings.Replace(from, config, other, 1)
		want := strings.TrimSuffix(readText(t, from), "{\"half")
		if got := readText(t, back); got != want {
			t.Errorf("%s is\n%s\nexpected\n%s", back, got, want)
		}
		if info, err := os.Stat(back); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if err := RestoreConversation(t.Context(), store, testID(1), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second time: %v", err)
	}
	if err := RestoreConversation(t.Context(), store, testID(2), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(other, "projects", "*", "*")); err != nil || len(left) != 2 {
		t.Errorf("files %q, %v", left, err)
	}
}

// TestConversationsInAStore calls everything that can be done with a conversation
// on one in a store.
func TestConversationsInAStore(t *testing.T) {
	store, _, _ := storeOf(t)
	o := ConversationOptions{Store: store, Project: "-x"}
	if got := summaries(t, &ListOptions{ConversationOptions: o}); !slices.Equal(got, []string{"Titled"}) {
		t.Errorf("listed %q", got)
	}
	var read []string
	for m, err := range ReadConversation(t.Context(), testID(1), &ReadOptions{ConversationOptions: o, Offset: 1, Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, m.UUID)
	}
	if !slices.Equal(read, []string{"2", "3"}) {
		t.Errorf("read %q", read)
	}
	agents, err := Subagents(t.Context(), testID(1), &o)
	if err != nil || len(agents) != 1 || agents[0].ID != "a1" || agents[0].Type != "general-purpose" {
		t.Errorf("%+v, %v", agents, err)
	}
	for m, err := range ReadSubagent(t.Context(), testID(1), "a1", &ReadOptions{ConversationOptions: o}) {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := m.Message.(*wire.User); !ok || u.ParentToolUseID != "toolu_1" {
			t.Errorf("%+v", m)
		}
	}
	fork, err := ForkConversation(t.Context(), testID(1), &ForkOptions{ConversationOptions: o, UpTo: "2"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := ConversationInfoOf(t.Context(), fork, &o)
	if err != nil || info.Title != "Titled (fork)" || info.FirstPrompt != "asked" || info.Dir != "/x" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := errors.Join(RenameConversation(t.Context(), fork, "Other", &o), TagConversation(t.Context(), fork, "t", &o)); err != nil {
		t.Fatal(err)
	}
	if info, err = ConversationInfoOf(t.Context(), fork, &o); err != nil || info.Title != "Other" || info.Tag != "t" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := ArchiveConversation(t.Context(), fork, &o); err == nil {
		t.Error("archived in a store")
	}
	if err := DeleteConversation(t.Context(), fork, &o); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"rename": RenameConversation(t.Context(), fork, "x", &o), "tag": TagConversation(t.Context(), fork, "x", &o),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of one that is gone: %v", name, err)
		}
	}
	for _, err := range ListConversations(t.Context(), &ListOptions{ConversationOptions: ConversationOptions{Store: struct{ SessionStore }{store}}}) {
		if _, ok := errors.AsType[*OptionError](err); !ok {
			t.Errorf("a store that cannot list: %v", err)
		}
	}
}

func TestStoreKeysAreChecked(t *testing.T) {
	for _, key := range []StoreKey{
		{"", testID(1), ""},
		{"..", testID(1), ""},
		{"a/b", testID(1), ""},
		{`a\b`, testID(1), ""},
		{"-x", "../x", ""},
		{"-x", testID(1), "../x"},
		{"-x", testID(1), "a/../b"},
		{"-x", testID(1), "/a"},
		{"-x", testID(1), "a//b"},
		{"-x", testID(1), ".a"},
		{"-x", testID(1), `a\b`},
	} {
		if key.check() == nil {
			t.Errorf("%+v is allowed", key)
		}
	}
	if err := (StoreKey{"-x", testID(1), "subagents/w_1/agent-a1.b"}).check(); err != nil {
		t.Error(err)
	}
	if key, ok := keyOfPath("/projects/" + testID(2) + "/x/projects/-p/" + testID(1) + "/subagents/agent-a.jsonl"); !ok || key != (StoreKey{"-p", testID(1), "subagents/agent-a"}) {
		t.Errorf("%+v, %t", key, ok)
	}
}

// badSubkeys is a store with a name in it that leads elsewhere.
type badSubkeys struct{ *MemoryStore }

func (badSubkeys) Subkeys(context.Context, string, string) ([]string, error) {
	return []string{"../../../x"}, nil
}

func TestRestoreTrustsNoStore(t *testing.T) {
	store, _, _ := storeOf(t)
	config := t.TempDir()
	if err := RestoreConversation(t.Context(), badSubkeys{store}, testID(1), &ConversationOptions{ConfigDir: config, Dir: "/x"}); err == nil {
		t.Error("a path that leads elsewhere was taken")
	}
	for _, entry := range []string{`[]`, `{`, ``, `"x"`} {
		bad := loads(func(yield func(json.RawMessage, error) bool) { yield(json.RawMessage(entry), nil) })
		if err := RestoreConversation(t.Context(), bad, testID(1), &ConversationOptions{ConfigDir: config, Dir: "/x"}); err == nil {
			t.Errorf("the entry %q was taken", entry)
		}
	}
	var files []string
	err := filepath.WalkDir(config, func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 0 {
		t.Errorf("files %q, %v", files, err)
	}
}

// loads is a store from which something is loaded.
type loads iter.Seq2[json.RawMessage, error]

func (l loads) Append(context.Context, StoreKey, []json.RawMessage) error { return nil }
func (l loads) Load(context.Context, StoreKey) iter.Seq2[json.RawMessage, error] {
	return iter.Seq2[json.RawMessage, error](l)
}

func TestOpenStore(t *testing.T) {
	store, config, _ := storeOf(t)
	temp := t.TempDir()
	begin := Options{Dir: "/x", TempDir: temp, Store: store, ExtraEnv: []string{"A=b"}}
	open := func(change func(*Options)) (*Options, Transport) {
		t.Helper()
		o := begin
		change(&o)
		started, wrap, _, err := openStore(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		if !started.SessionMirror || o.SessionMirror || len(o.ExtraEnv) != 1 {
			t.Errorf("started with %+v", started)
		}
		return started, wrap(newLineFeed())
	}
	closed := func(tr Transport) {
		t.Helper()
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
	started, tr := open(func(*Options) {})
	if started.Resume != "" || len(started.ExtraEnv) != 1 {
		t.Errorf("a new one with %+v", started)
	}
	closed(tr)
	for name, change := range map[string]func(*Options){
		"resume":   func(o *Options) { o.Resume = testID(1) },
		"continue": func(o *Options) { o.Continue = true },
	} {
		started, tr = open(change)
		dir, ok := strings.CutPrefix(started.ExtraEnv[len(started.ExtraEnv)-1], "CLAUDE_CONFIG_DIR=")
		if started.Resume != testID(1) || started.Continue || !ok || !strings.HasPrefix(dir, temp) {
			t.Fatalf("%s with %+v", name, started)
		}
		if info, err := ConversationInfoOf(t.Context(), testID(1), &ConversationOptions{ConfigDir: dir, Dir: "/x"}); err != nil || info.Title != "Titled" {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: beside the transcripts there is %v, %v", name, entries, err)
		}
		closed(tr)
	}
	// In place, what is there is used as it is.
	other := t.TempDir()
	for range 2 {
		started, tr = open(func(o *Options) {
			o.Resume, o.StoreOptions, o.Env = testID(1), &StoreOptions{InPlace: true}, []string{"HOME=/nowhere", "CLAUDE_CONFIG_DIR=" + other}
		})
		if len(started.ExtraEnv) != 1 {
			t.Errorf("in place with %+v", started)
		}
		closed(tr)
		if _, err := ConversationInfoOf(t.Context(), testID(1), &ConversationOptions{ConfigDir: other}); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(*Options){
		"NoSessionPersistence": func(o *Options) { o.NoSessionPersistence = true },
		"FileCheckpointing":    func(o *Options) { o.FileCheckpointing = true },
		"unknown":              func(o *Options) { o.Resume = testID(2) },
		"no id":                func(o *Options) { o.Resume = "../x" },
		"nothing to continue":  func(o *Options) { o.Continue, o.StoreOptions = true, &StoreOptions{Project: "other"} },
		"a store that fails": func(o *Options) {
			o.Resume, o.Store = testID(1), loads(func(yield func(json.RawMessage, error) bool) { yield(nil, errors.New("broken")) })
		},
	} {
		o := begin
		change(&o)
		if _, _, _, err := openStore(t.Context(), &o); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	none := &Options{Dir: config}
	started, wrap, discard, err := openStore(t.Context(), none)
	f := newLineFeed()
	if err != nil || started != none || wrap(f) != Transport(f) || discard() != nil {
		t.Errorf("without a store: %+v, %v", started, err)
	}
}

// TestOpenStoreGivesUp shows that a store that does not answer does not hold up
// the start for ever.
func TestOpenStoreGivesUp(t *testing.T) {
	temp := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hangs := waits{loads: func(func(json.RawMessage, error) bool) {}}
		begin := time.Now()
		_, _, _, err := openStore(ctx, &Options{Dir: "/x", TempDir: temp, Resume: testID(1), Store: hangs})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// waits is a store that answers only when it is told not to wait any longer.
type waits struct{ loads }

func (waits) Load(ctx context.Context, key StoreKey) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		<-ctx.Done()
		yield(nil, fmt.Errorf("waiting for %s: %w", key, ctx.Err()))
	}
}
