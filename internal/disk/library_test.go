//go:build unix

package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/wire"
)

// A shelf is the folder of a CLI with transcripts, as the hub sees it.
type shelf struct {
	*testing.T
	home, config string
	library      Library
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{T: t, home: t.TempDir(), config: filepath.Join(t.TempDir(), "config")}
	s.library = s.open(s.config)
	return s
}

// open returns what is seen of a CLI's folder.
func (s *shelf) open(config string) Library {
	launcher, err := launch.New(launch.Config{
		Program: "/switchboard", DataDir: s.TempDir(), Socket: "/socket", Env: []string{"HOME=" + s.home, "CLAUDE_CONFIG_DIR=" + config},
	})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := launcher.Close(); err != nil {
			s.Error(err)
		}
	})
	return New(launcher)
}

// conversation returns an id by a number.
func conversation(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// path is where the transcript of a conversation is.
func (s *shelf) path(dir string, id int) string {
	project, _ := wire.ProjectDir(s.config, dir)
	return filepath.Join(project, conversation(id)+".jsonl")
}

// changed is when the transcript of a conversation was changed.
func changed(id int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(id) * time.Minute)
}

// put writes a transcript.
func (s *shelf) put(dir string, id int, lines ...string) (bytes int) {
	s.Helper()
	path, text := s.path(dir, id), strings.Join(lines, "\n")+"\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, changed(id)); err != nil {
		s.Fatal(err)
	}
	return len(text)
}

// promptLine is a line of a transcript.
func promptLine(dir, text, more string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s},"cwd":%q,"uuid":"u1","parentUuid":null,"sessionId":"c"%s}`, content, dir, more)
}

// TestLibrary looks at real files through all that is between them and the hub.
func TestLibrary(t *testing.T) {
	s := newShelf(t)
	l, dir := s.library, s.home
	if files, err := l.Transcripts(t.Context(), report.TranscriptQuery{}); err != nil || len(files) != 0 {
		t.Errorf("without a folder there are %+v, %v", files, err)
	}
	size := s.put(dir, 1, promptLine(dir, "Hello", ""))
	if err := os.MkdirAll(filepath.Join(dir, "blog", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	id, modified := conversation(1), changed(1)
	want := report.TranscriptFile{Conversation: id, Dir: dir, Title: "Hello", Modified: modified, Bytes: int64(size)}
	files, err := l.Transcripts(t.Context(), report.TranscriptQuery{Dir: dir, Conversation: id, Limit: 1})
	if err != nil || len(files) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if files[0].Modified = files[0].Modified.UTC(); !reflect.DeepEqual(files[0], want) {
		t.Errorf("the transcript is %+v, expected %+v", files[0], want)
	}
	none := []report.TranscriptQuery{
		{Dir: "/elsewhere"},
		{Conversation: conversation(2)},
		{Conversation: id[:8]},
		{Conversation: "c9"},
		{Prefix: "1"},
		{Before: modified, BeforeAfter: id},
		{Before: modified.Add(-1)},
	}
	for _, q := range none {
		if files, err := l.Transcripts(t.Context(), q); err != nil || len(files) != 0 {
			t.Errorf("%+v selects %+v, %v", q, files, err)
		}
	}
	found, err := l.SearchTranscripts(t.Context(), report.TranscriptQuery{Prefix: id[:8]}, "hELLO")
	want.Snippet, want.Marks = "Hello", []api.Mark{{From: 0, To: 5}}
	if err != nil || len(found.Files) != 1 || !found.Before.IsZero() {
		t.Fatalf("%+v, %v", found, err)
	}
	if found.Files[0].Modified = found.Files[0].Modified.UTC(); !reflect.DeepEqual(found.Files[0], want) {
		t.Errorf("found %+v, expected %+v", found.Files[0], want)
	}
	lines, err := l.ReadTranscript(t.Context(), dir, id)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line, err := range lines {
		if n++; err != nil || !strings.Contains(string(line), "Hello") || !strings.Contains(string(line), `"isReplay":true`) {
			t.Errorf("%s, %v", line, err)
		}
	}
	if n != 1 {
		t.Errorf("the transcript has %d lines", n)
	}
	folders, err := l.Folders(t.Context(), "~/b", 10)
	if err != nil || len(folders) != 1 || folders[0].Path != filepath.Join(dir, "blog") || !folders[0].Git {
		t.Errorf("folders: %+v, %v", folders, err)
	}
	if looked, err := l.Look(t.Context(), []string{dir, "/gone"}); err != nil || len(looked) != 1 || looked[0].Git {
		t.Errorf("Look: %+v, %v", looked, err)
	}
}

// TestLibraryLinks never follows a link out of the CLI's folder.
func TestLibraryLinks(t *testing.T) {
	s := newShelf(t)
	s.put("/a", 1, promptLine("/a", "Mine", ""))
	outside := filepath.Join(t.TempDir(), conversation(3)+".jsonl")
	if err := os.WriteFile(outside, []byte(promptLine("/a", "Secret", "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, s.path("/a", 2))
	link(filepath.Dir(outside), filepath.Join(s.config, "projects", "-linked"))
	files, err := s.library.Transcripts(t.Context(), report.TranscriptQuery{})
	if err != nil || len(files) != 1 || files[0].Title != "Mine" {
		t.Errorf("listed %+v, %v", files, err)
	}
	if found, err := s.library.SearchTranscripts(t.Context(), report.TranscriptQuery{}, "secret"); err != nil || len(found.Files) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	for _, test := range []struct{ dir, conversation string }{{"/a", conversation(2)}, {"", conversation(2)}, {"", conversation(3)}, {"/a", conversation(9)}} {
		if _, err := s.library.ReadTranscript(t.Context(), test.dir, test.conversation); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q in %q: %v", test.conversation, test.dir, err)
		}
	}
	// The CLI's folder itself may be a link, that of the transcripts may not lead out of it.
	linked := filepath.Join(t.TempDir(), "linked")
	link(s.config, linked)
	if files, err := s.open(linked).Transcripts(t.Context(), report.TranscriptQuery{}); err != nil || len(files) != 1 {
		t.Errorf("through a link to the folder: %+v, %v", files, err)
	}
	if _, err := s.open(linked).ReadTranscript(t.Context(), "/a", conversation(1)); err != nil {
		t.Errorf("through a link to the folder: %v", err)
	}
	other := t.TempDir()
	link(filepath.Join(s.config, "projects"), filepath.Join(other, "projects"))
	if files, err := s.open(other).Transcripts(t.Context(), report.TranscriptQuery{}); err == nil || len(files) != 0 {
		t.Errorf("a link out of the folder led to %+v", files)
	}
	if _, err := s.open(other).ReadTranscript(t.Context(), "/a", conversation(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link out of the folder: %v", err)
	}
}

// TestLibraryAgreesWithSDK lists the same conversations with a hub and with the SDK.
func TestLibraryAgreesWithSDK(t *testing.T) {
	s := newShelf(t)
	note := func(kind, name, value string) string {
		return fmt.Sprintf(`{"type":%q,%q:%q,"sessionId":"x"}`, kind, name, value)
	}
	filler := strings.TrimSuffix(strings.Repeat(`{"type":"assistant","uuid":"a","message":{"content":[{"type":"text","text":"`+strings.Repeat("x", 1000)+`"}]}}`+"\n", 300), "\n")
	picture := func(size int) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"image","data":"` + strings.Repeat("x", size) + `"},{"type":"text","text":"with a picture"}]},"cwd":"/a"}`
	}
	titles := []string{}
	put := func(title, dir string, lines ...string) {
		titles = append(titles, title)
		s.put(dir, len(titles), lines...)
	}
	put("a prompt", "/a", promptLine("/a", " a\n prompt ", ""))
	put("by a person", "/a", promptLine("/a", "x", ""), note("ai-title", "aiTitle", "by the CLI"), note("custom-title", "customTitle", "by a person"))
	put("by the CLI", "/b", promptLine("/b", "x", ""), note("last-prompt", "lastPrompt", "last"), note("ai-title", "aiTitle", "by the CLI"))
	// These were called differently before.
	put("the last prompt", "/b", promptLine("/b", "the first", ""), note("last-prompt", "lastPrompt", "the last prompt"))
	put("of an old CLI", "/b", note("summary", "summary", "of an old CLI"), promptLine("/b", "x", ""))
	put("at the end", "/b", promptLine("/b", "x", ""), filler, note("custom-title", "customTitle", "at the end"))
	put("the second", "/b", promptLine("/b", "x", ""), note("custom-title", "customTitle", "the first"), note("custom-title", "customTitle", "the second"), filler)
	put("of a person", "/b", promptLine("/b", "<system-reminder>x</system-reminder>", ""), promptLine("/b", "<bash-input>ls</bash-input>", ""), promptLine("/b", "of a person", ""))
	put(strings.Repeat("long", 49)+"lon…", "/a", promptLine("/a", strings.Repeat("long", 200_000), ""), promptLine("/a", "never seen", ""))
	put("behind the beginning", "/a", strings.Replace(promptLine("/a", strings.Repeat("x", 200<<10), ""), "{", `{"isMeta":true,`, 1), promptLine("/a", "behind the beginning", ""))
	put("with a picture", "/a", picture(300<<10))
	put("", "/a", picture(1<<20))
	put("/init", "/a", promptLine("/a", "<command-message>x</command-message><command-name>/init</command-name>", ""))
	put("red [31m ink", "/a", promptLine("/a", "red \x1b[31m\tink\x07", ""))
	put(strings.Repeat("é", 199)+"…", "/a", promptLine("/a", strings.Repeat("é", 200), ""))
	put(strings.Repeat("é", 199), "/a", promptLine("/a", strings.Repeat("é", 199), ""))
	beside := strings.TrimSuffix(s.path("/a", 1), ".jsonl")
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(beside, "custom-title.json"), []byte(`{"customTitle":"in a file beside"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	titles[0] = "in a file beside"
	// Left out by both: nothing said, a sub-agent's, a name that is no id.
	s.put("/a", 101, `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`)
	s.put("/a", 102, promptLine("/a", "x", `,"isSidechain":true`))
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.path("/a", 1)), "c1.jsonl"), []byte(promptLine("/a", "x", "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Told once by both, as it was used last.
	s.put("/a", 103, promptLine("/a", "an older copy", ""))
	if err := os.Rename(s.path("/a", 103), s.path("/a", 4)); err != nil {
		t.Fatal(err)
	}

	j, err := journal.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	reports := report.New(report.Options{Journal: j, Library: s.library})
	for _, dir := range []string{"", "/a", "/b", "/c"} {
		var fromHub, fromSDK []string
		for f := (api.TranscriptFilter{Dir: dir, Limit: 3}); ; { // several pages
			page, err := reports.Transcripts(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page.Transcripts {
				fromHub = append(fromHub, fmt.Sprintf("%s %q %s %s %d", c.Conversation, c.Title, c.Modified.UTC(), c.Dir, c.Bytes))
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		var got []string
		for c, err := range claude.ListConversations(t.Context(), &claude.ListOptions{ConversationOptions: claude.ConversationOptions{ConfigDir: s.config, Dir: dir}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Summary())
			fromSDK = append(fromSDK, fmt.Sprintf("%s %q %s %s %d", c.ID, c.Summary(), c.Modified.UTC(), c.Dir, c.Bytes))
		}
		if diff := cmp.Diff(fromSDK, fromHub); diff != "" {
			t.Errorf("in %q (-SDK +hub):\n%s", dir, diff)
		}
		if dir == "" {
			if diff := cmp.Diff(titles, got); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		}
	}
}
