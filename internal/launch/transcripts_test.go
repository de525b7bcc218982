//go:build unix

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// A shelf is the folder of a CLI with transcripts.
type shelf struct {
	*testing.T
	config string
	l      *Launcher
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{T: t, config: filepath.Join(t.TempDir(), "config")}
	s.l = &Launcher{config: Config{Env: []string{"HOME=" + t.TempDir(), "CLAUDE_CONFIG_DIR=" + s.config}}}
	return s
}

// path is where the transcript of a conversation is.
func (s *shelf) path(dir, id string) string {
	project, _ := wire.ProjectDir(s.config, dir)
	return filepath.Join(project, id+".jsonl")
}

// put writes a transcript that was changed so many minutes ago.
func (s *shelf) put(dir, id string, ago int, lines ...string) string {
	s.Helper()
	path := s.path(dir, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		s.Fatal(err)
	}
	s.touch(path, ago)
	return path
}

func (s *shelf) touch(path string, ago int) {
	s.Helper()
	if err := os.Chtimes(path, time.Time{}, began.Add(-time.Duration(ago)*time.Minute)); err != nil {
		s.Fatal(err)
	}
}

// said is a line of a transcript.
func said(dir, text, more string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q},"cwd":%q,"uuid":"u-%d","parentUuid":null,"sessionId":"c"%s}`, text, dir, len(text), more)
}

func (s *shelf) list(q TranscriptQuery) []string {
	s.Helper()
	found, err := s.l.Transcripts(s.Context(), q)
	if err != nil {
		s.Fatal(err)
	}
	list := []string{}
	for _, t := range found {
		if t.Bytes == 0 || t.Modified.IsZero() {
			s.Errorf("%+v", t)
		}
		list = append(list, t.Conversation+" "+t.Dir+" "+t.Title)
	}
	return list
}

func TestTranscripts(t *testing.T) {
	s := newShelf(t)
	if got := s.list(TranscriptQuery{}); len(got) != 0 {
		t.Errorf("without a folder there are %q", got)
	}
	snapshot := `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`
	s.put("/a", "c1", 1, snapshot, said("/a", "Make it so", ""))
	s.put("/b", "c2", 2, said("/b", "Caveat: not this", `,"isMeta":true`), said("/b", "<command-name>/clear</command-name>", ""), said("/b", "A prompt", ""), `{"type":"custom-title","customTitle":"Given","sessionId":"c2"}`)
	s.put("/b", "c3", 3, said("/b", "<command-message>x</command-message><command-name>/init</command-name>", ""), said("/b", "<local-command-stdout>done</local-command-stdout>", ""))
	s.put("/b", "c4", 3, `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{}},{"type":"text","text":"With a picture"}]},"cwd":"/b"}`)
	s.put("/b", "c5", 5, "{not JSON", said("/b", "After a broken line", ""))
	s.put("/long", "c6", 6, said("/long", strings.Repeat("x", maxHead), ""), said("/long", "never seen", ""))
	// What is left out: nothing said, sub-agents, other names, what is no file.
	s.put("/a", "empty", 1, snapshot)
	s.put("/a", "side", 1, said("/a", "Sub-agent", `,"isSidechain":true`))
	s.put("/a", "agent-7", 1, said("/a", "Sub-agent", ""))
	s.put("/a", "bad name", 1, said("/a", "x", ""))
	if err := os.Mkdir(s.path("/a", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.path("/a", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"c1 /a Make it so", "c2 /b Given", "c3 /b /init", "c4 /b With a picture", "c5 /b After a broken line", "c6  "}
	for _, test := range []struct {
		name string
		q    TranscriptQuery
		want []string
	}{
		{"all", TranscriptQuery{}, all},
		{"some", TranscriptQuery{Limit: 2}, all[:2]},
		{"before a time", TranscriptQuery{Before: began.Add(-2 * time.Minute), BeforeAfter: "c2"}, all[2:]},
		{"at the same time", TranscriptQuery{Before: began.Add(-3 * time.Minute), BeforeAfter: "c3"}, all[3:]},
		{"of a folder", TranscriptQuery{Dir: "/b"}, all[1:5]},
		{"of a folder that is spelt otherwise", TranscriptQuery{Dir: "/a/../b/"}, all[1:5]},
		{"of a folder without any", TranscriptQuery{Dir: "/nowhere"}, []string{}},
		{"of a conversation", TranscriptQuery{Conversation: "c4"}, all[3:4]},
		{"of one that is not there", TranscriptQuery{Conversation: "c9"}, []string{}},
	} {
		if diff := cmp.Diff(test.want, s.list(test.q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := s.l.Transcripts(t.Context(), TranscriptQuery{Conversation: "../../c1"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a way out: %v", err)
	}
	// One conversation in two folders is told once, as it was used last.
	s.put("/z", "c1", 0, said("/z", "Elsewhere", ""))
	if got := s.list(TranscriptQuery{Limit: 2}); got[0] != "c1 /z Elsewhere" || got[1] != all[1] {
		t.Errorf("the list begins with %q", got)
	}
}

// TestTranscriptFolderNames tells folders apart whose names look the same to the
// CLI.
func TestTranscriptFolderNames(t *testing.T) {
	s := newShelf(t)
	s.put("/a-b", "c1", 1, said("/a-b", "One", ""))
	s.put("/a/b", "c2", 2, said("/a/b", "Two", ""))
	if diff := cmp.Diff([]string{"c2 /a/b Two"}, s.list(TranscriptQuery{Dir: "/a/b"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := "/" + strings.Repeat("long", 60)
	project, exact := wire.ProjectDir(s.config, long)
	if exact {
		t.Fatal("this name is not too long")
	}
	path := filepath.Join(project+"h4sh", "c3.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(said(long, "Three", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c3 " + long + " Three"}, s.list(TranscriptQuery{Dir: long})); diff != "" {
		t.Errorf("a long name (-want +got):\n%s", diff)
	}
}

// TestTranscriptLinks never follows a link out of the CLI's folder.
func TestTranscriptLinks(t *testing.T) {
	s := newShelf(t)
	s.put("/a", "c1", 1, said("/a", "Mine", ""))
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.jsonl")
	if err := os.WriteFile(secret, []byte(said("/a", "Secret", "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	link(secret, s.path("/a", "c2"))
	link(outside, filepath.Join(s.config, "projects", "-linked"))
	if diff := cmp.Diff([]string{"c1 /a Mine"}, s.list(TranscriptQuery{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, test := range []struct{ dir, conversation string }{{"/a", "c2"}, {"", "c2"}, {"", "secret"}, {"/a", "../c1"}, {"/a", "c9"}, {"", ""}} {
		if _, err := s.l.ReadTranscript(t.Context(), test.dir, test.conversation); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q in %q: %v", test.conversation, test.dir, err)
		}
	}
	read := func() (lines []string) {
		t.Helper()
		all, err := s.l.ReadTranscript(t.Context(), "/a", "c1")
		if err != nil {
			t.Fatal(err)
		}
		for line, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		return lines
	}
	if lines := read(); len(lines) != 1 || !strings.Contains(lines[0], `"Mine"`) || !strings.Contains(lines[0], `"isReplay":true`) {
		t.Errorf("the transcript is %q", lines)
	}
	// The CLI's folder itself may be a link.
	other := filepath.Join(t.TempDir(), "linked")
	link(s.config, other)
	s.l.config.Env = []string{"CLAUDE_CONFIG_DIR=" + other}
	if lines := read(); len(lines) != 1 {
		t.Errorf("through a link to the folder it is %q", lines)
	}
	// As the history of a session, without a word about the folder.
	history, err := s.l.History(t.Context(), "", "/a", "c1")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range history {
		n++
	}
	if n != 1 {
		t.Errorf("the history has %d lines", n)
	}
}

func TestFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"src/blog/.git", "src/Books", "src/bin", "src/.hidden", "src/closed", "music"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "src", "b.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "music"), filepath.Join(home, "src", "beats")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(home, "src", "broken")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{config: Config{Env: []string{"HOME=" + home}}}
	for _, test := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{home + "/src/b", 10, "src/beats src/bin src/blog(git) src/Books"},
		{home + "/src/B", 10, "src/Books src/beats src/bin src/blog(git)"},
		{home + "/src/b", 2, "src/beats src/bin"},
		{home + "/src/", 10, "src/Books src/beats src/bin src/blog(git) src/closed"},
		{home + "/src/.", 10, "src/.hidden"},
		{home + "/music/../src/bl", 10, "src/blog(git)"},
		{"~/mu", 10, "music"},
		{"~", 10, "music src"},
		{"~/", 10, "music src"},
		{"~other/", 10, ""},
		{"src", 10, ""},
		{home + "/nothing/x", 10, ""},
		{home + "/src/b.txt/", 10, ""},
		{home + "/pipe/", 10, ""},
	} {
		found, err := l.Folders(t.Context(), test.prefix, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range found {
			text := strings.TrimPrefix(f.Path, home+"/")
			if f.Git {
				text += "(git)"
			}
			list = append(list, text)
		}
		if got := strings.Join(list, " "); got != test.want {
			t.Errorf("%s: %s, expected %s", strings.TrimPrefix(test.prefix, home), got, test.want)
		}
	}
	looked, err := l.Look(t.Context(), []string{home + "/src/blog", home + "/gone", "relative", home + "/src/b.txt", home + "/music"})
	if err != nil || len(looked) != 2 || !looked[0].Git || looked[1].Path != home+"/music" {
		t.Errorf("Look: %+v, %v", looked, err)
	}
}
