package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestOpenRefuses(t *testing.T) {
	env := func(string) string { return "" }
	home := func(name string) string { return map[string]string{"HOME": t.TempDir()}[name] }
	tests := []struct {
		name string
		o    Options
	}{
		{"no environment", Options{Dir: t.TempDir()}},
		{"no home", Options{Dir: t.TempDir(), Env: env}},
		{"relative folder", Options{Dir: "x", Env: home}},
		{"missing folder", Options{Dir: filepath.Join(t.TempDir(), "x"), Env: home}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if s, err := Open(tt.o); err == nil {
				t.Errorf("it was opened: %+v", s)
			}
		})
	}
}

func TestOpenWritesNothing(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	s.PlanPath(first, "x")
	if _, ok := s.Latest(); ok {
		t.Error("there is a latest session")
	}
	if err := s.Finish(first, Costs{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the home folder was made: %v", err)
	}
}

// TestLongFolder compares with names that real CLIs gave to folders.
func TestLongFolder(t *testing.T) {
	long := func(base string, n int) string {
		return base + "/" + strings.Repeat("d", 100) + "/" + strings.Repeat("e", n-100-len(base)-2)
	}
	tests := []struct {
		version, dir, name string
		written            bool
	}{
		{"2.1.37", long("/tmp/hl37", 205), strings.ReplaceAll(long("/tmp/hl37", 205), "/", "-"), true},
		{"2.1.37", long("/tmp/hl37", 255), strings.ReplaceAll(long("/tmp/hl37", 255), "/", "-"), true},
		{"2.1.37", long("/tmp/hl37", 256), strings.ReplaceAll(long("/tmp/hl37", 256), "/", "-"), false},
		{"2.1.120", long("/tmp/hl120", 205), strings.ReplaceAll(long("/tmp/hl120", 205), "/", "-")[:200] + "-htjjq7", true},
		{"2.1.120", long("/tmp/hl120", 240), strings.ReplaceAll(long("/tmp/hl120", 240), "/", "-")[:200] + "-wgvq2s", true},
		{"2.1.325", long("/tmp/hl325", 240), strings.ReplaceAll(long("/tmp/hl325", 240), "/", "-")[:200] + "-3uy87f", true},
		{"2.1.325", long("/tmp/hl325", 300), strings.ReplaceAll(long("/tmp/hl325", 300), "/", "-")[:200] + "-fsggj9", true},
	}
	for _, tt := range tests {
		version, err := wire.ParseVersion(tt.version)
		if err != nil {
			t.Fatal(err)
		}
		s := &Store{config: "/c", dir: tt.dir, at120: version.AtLeast(2, 1, 120)}
		got := filepath.Base(s.projectDir())
		if got != tt.name {
			t.Errorf("%s %d: got %s, want %s", tt.version, len(tt.dir), got, tt.name)
		}
		if len(got) <= maxName != tt.written {
			t.Errorf("%s %d: written: %v, want %v", tt.version, len(tt.dir), len(got) <= maxName, tt.written)
		}
	}
}

// TestLongFolderWrites does it for real where the name is too long for the oldest version.
func TestLongFolderWrites(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			w.dir = filepath.Join(w.dir, strings.Repeat("a", 150), strings.Repeat("b", 150))
			w.mkdir(w.dir)
			s := w.process()
			w.say(s, first, "hello", "world")
			if got, want := s.Exists(first), version != "2.1.37"; got != want {
				t.Errorf("written: %v, want %v", got, want)
			}
		})
	}
}

func TestSymbolicLink(t *testing.T) {
	w := newWorld(t, "2.1.325")
	real := w.dir
	w.dir = filepath.Join(filepath.Dir(real), "link")
	if err := os.Symlink(real, w.dir); err != nil {
		t.Fatal(err)
	}
	s := w.process()
	if s.Dir() != real {
		t.Errorf("got %s, want %s", s.Dir(), real)
	}
	w.say(s, first, "hello", "world")
	w.dir = real
	if c := w.load(w.process(), first); c.Dir != real {
		t.Errorf("got %s, want %s", c.Dir, real)
	}
}

func TestPaths(t *testing.T) {
	w := newWorld(t, "2.1.325")
	w.env["CLAUDE_CONFIG_DIR"] = filepath.Join(w.home, "elsewhere")
	s := w.process()
	path, err := s.Path(first)
	w.must(err)
	project, _ := wire.ProjectDir(w.env["CLAUDE_CONFIG_DIR"], w.dir)
	if want := filepath.Join(project, first+".jsonl"); path != want {
		t.Errorf("got %s, want %s", path, want)
	}
	path, err = s.AgentPath(first, "a1")
	w.must(err)
	if want := filepath.Join(project, first, "subagents", "agent-a1.jsonl"); path != want {
		t.Errorf("got %s, want %s", path, want)
	}
	if s.ConfigDir() != w.env["CLAUDE_CONFIG_DIR"] {
		t.Error(s.ConfigDir())
	}
	for _, id := range []string{"", "..", "a/b", "../../x"} {
		if _, err := s.Path(id); err == nil {
			t.Errorf("id %q was taken", id)
		}
		if err := s.Append(Entry{Session: id, Type: User, Message: says("user", "x")}); err == nil {
			t.Errorf("id %q was written", id)
		}
		if err := s.Append(Entry{Session: first, Agent: id + "/", Type: User, Message: says("user", "x")}); err == nil {
			t.Errorf("agent %q was written", id)
		}
		for _, err := range []error{s.Queue(id, Dequeue, "", ""), s.Rename(id, "x"), s.StartAgent(id, "a", AgentInfo{})} {
			if err == nil {
				t.Errorf("id %q was taken", id)
			}
		}
		if s.Exists(id) {
			t.Errorf("id %q exists", id)
		}
		if _, err := s.Load(id); !errors.As(err, new(*NotFoundError)) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestModes(t *testing.T) {
	w := newWorld(t, "2.1.325")
	w.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
	everything(w)
	w.must(filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	}))
}

func TestNoPersistence(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	s.persist = false
	w.say(s, first, "hello", "world")
	w.must(s.Append(Entry{Session: first, Agent: "a1", Type: User, Message: says("user", "x")}))
	w.must(s.StartAgent(first, "a1", AgentInfo{Type: "x"}))
	w.must(s.Rename(first, "title"))
	w.must(s.Finish(first, costs()))
	if _, err := os.Stat(w.home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	if s.Title(first) != "title" {
		t.Error("the title is lost")
	}
	plan := s.PlanPath(first, "")
	w.must(s.WritePlan(plan, "the plan"))
	if text, ok, err := s.ReadPlan(plan); text != "the plan" || !ok || err != nil {
		t.Errorf("got %q %v %v", text, ok, err)
	}
}

func TestLatest(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			a, b := w.process(), w.process()
			w.say(a, first, "one", "1")
			w.say(b, second, "two", "2")
			expect := func(want string) {
				t.Helper()
				if got, ok := w.process().Latest(); got != want || !ok {
					t.Errorf("got %s %v, want %s", got, ok, want)
				}
			}
			expect(second)
			w.say(a, first, "three", "3")
			expect(first)
			// A fork counts once something was said in it.
			s := w.process()
			_, err := s.Fork(w.load(s, first), third)
			w.must(err)
			w.must(s.Queue(third, Dequeue, "", ""))
			expect(first)
			w.say(s, third, "four", "4")
			expect(third)
			// Other folders do not.
			other := *w
			other.dir = filepath.Join(w.dir, "sub")
			other.mkdir(other.dir)
			if got, ok := other.process().Latest(); ok {
				t.Errorf("found %s of another folder", got)
			}
		})
	}
}

func TestFind(t *testing.T) {
	const none = "No conversation found with session ID: " + third
	tests := []struct {
		name, ref string
		elsewhere bool
		want      map[string]string // by version: an id, or the beginning of an error
	}{
		{"id", first, false, map[string]string{"2.1.37": first, "2.1.120": first, "2.1.325": first}},
		{"unknown id", third, false, map[string]string{"2.1.37": none, "2.1.120": none, "2.1.325": none}},
		{"id of another folder", first, true, map[string]string{
			"2.1.37": "No conversation found with session ID: " + first, "2.1.120": "No conversation found with session ID: " + first, "2.1.325": first,
		}},
		{"title", "blue MOON", false, map[string]string{
			"2.1.37":  `Error: --resume requires a valid session ID when used with --print.`,
			"2.1.120": first, "2.1.325": first,
		}},
		{"title of another folder", "Blue Moon", true, map[string]string{
			"2.1.37":  `Error: --resume requires a valid session ID when used with --print.`,
			"2.1.120": `Error: --resume requires a valid session ID or session title`, "2.1.325": `Error: --resume requires a valid session ID or session title`,
		}},
		{"unknown title", `a "b"`, false, map[string]string{
			"2.1.37": `Error: --resume requires a valid session ID when used with --print. Usage: claude -p --resume <session-id>. Session IDs must be in UUID format ` +
				`(e.g., 550e8400-e29b-41d4-a716-446655440000). Provided value "a "b"" is not a valid UUID`,
			"2.1.120": `Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. ` +
				`Provided value "a "b"" is not a UUID and does not match any session title.`,
			"2.1.325": `Error: --resume requires a valid session ID or session title when used with --print.`,
		}},
	}
	for _, version := range versions() {
		w := newWorld(t, version)
		s := w.process()
		w.must(s.Rename(first, "Old"))
		w.say(s, first, "one", "1")
		w.must(s.Rename(first, "Blue Moon"))
		w.say(s, second, "two", "2")
		for _, tt := range tests {
			t.Run(version+" "+tt.name, func(t *testing.T) {
				here := *w
				if tt.elsewhere {
					here.dir = filepath.Join(w.dir, "sub")
					here.mkdir(here.dir)
				}
				got, err := here.process().Find(tt.ref)
				if err != nil {
					got = err.Error()
					if !errors.As(err, new(*NotFoundError)) {
						t.Errorf("the error is a %T", err)
					}
				}
				if !strings.HasPrefix(got, tt.want[version]) {
					t.Errorf("got %s, want %s", got, tt.want[version])
				}
			})
		}
	}
}

func TestFindAmbiguous(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	w.must(s.Rename(first, "Blue Moon"))
	w.say(s, first, "one", "1")
	w.must(s.Finish(first, costs()))
	s = w.process()
	_, err := s.Fork(w.load(s, first), second)
	w.must(err)
	w.say(s, second, "two", "2")
	_, err = w.process().Find("blue moon")
	var ambiguous *AmbiguousError
	if !errors.As(err, &ambiguous) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{second, first}, ambiguous.Sessions); diff != "" {
		t.Error(diff)
	}
	want := "Error: --resume \"blue moon\" matches 2 sessions. Pass one of these session IDs to disambiguate:\n" +
		"  " + second + "  (modified 2026-01-02T03:04:05.008Z)\n  " + first + "  (modified 2026-01-02T03:04:05.004Z)"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}
