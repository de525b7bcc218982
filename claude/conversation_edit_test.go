package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEditConversation(t *testing.T) {
	config := t.TempDir()
	begin := prompt("/x", "p", "")
	path := putConversation(t, config, "/x", testID(1), 0, begin)
	o := &ConversationOptions{ConfigDir: config, Dir: "/x"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	info := func() *ConversationInfo {
		t.Helper()
		info, err := ConversationInfoOf(t.Context(), testID(1), o)
		must(err)
		return info
	}
	must(RenameConversation(t.Context(), testID(1), ` A "title" `, o))
	must(TagConversation(t.Context(), testID(1), "tägg", o))
	if got := info(); got.Title != `A "title"` || got.Tag != "tägg" {
		t.Errorf("%+v", got)
	}
	must(TagConversation(t.Context(), testID(1), "", o))
	// These are the very lines that the official SDK writes.
	want := begin +
		`{"type":"custom-title","customTitle":"A \"title\"","sessionId":"` + testID(1) + `"}` + "\n" +
		`{"type":"tag","tag":"tägg","sessionId":"` + testID(1) + `"}` + "\n" +
		`{"type":"tag","tag":"","sessionId":"` + testID(1) + `"}` + "\n"
	if got := readText(t, path); got != want {
		t.Errorf("the transcript is\n%s\nexpected\n%s", got, want)
	}
	must(ArchiveConversation(t.Context(), testID(1), o))
	mark := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "archived.json")
	if got := info(); !got.Archived {
		t.Errorf("%+v", got)
	}
	if got := readText(t, mark); !strings.HasPrefix(got, `{"archived":true,"at":"20`) || !strings.HasSuffix(got, `Z","by":"sdk"}`) {
		t.Errorf("the mark is %s", got)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]fs.FileMode{mark: 0o600, filepath.Dir(mark): 0o700 | fs.ModeDir} {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
			}
		}
	}
	must(UnarchiveConversation(t.Context(), testID(1), o))
	if got := info(); got.Archived {
		t.Errorf("%+v", got)
	}
	if entries, err := os.ReadDir(filepath.Dir(mark)); err != nil || len(entries) != 1 {
		t.Errorf("beside the mark: %v, %v", entries, err)
	}
	for _, title := range []string{"", "  ", "\xff", strings.Repeat("x", 5000)} {
		if err := RenameConversation(t.Context(), testID(1), title, o); err == nil {
			t.Errorf("the title %.10q was taken", title)
		}
	}
}

// TestEditAfterAKilledCLI shows that a line is not added to half of another.
func TestEditAfterAKilledCLI(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", "")+`{"type":"assi`)
	if err := RenameConversation(t.Context(), testID(1), "t", &ConversationOptions{ConfigDir: config}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(readText(t, path), "\n")
	if len(lines) != 4 || lines[1] != `{"type":"assi` || !json.Valid([]byte(lines[2])) {
		t.Errorf("%q", lines)
	}
}

// TestEditBesideARunningCLI adds lines while others are written to the same file.
func TestEditBesideARunningCLI(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", ""))
	const each = 200
	var all sync.WaitGroup
	for writer := range 2 {
		all.Go(func() {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = f.Close() }()
			for i := range each {
				if _, err := fmt.Fprintf(f, `{"type":"cli","writer":%d,"n":%d,"x":%q}`+"\n", writer, i, strings.Repeat("x", i*10)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for i := range each {
				if err := TagConversation(t.Context(), testID(1), fmt.Sprint(writer, i), &ConversationOptions{ConfigDir: config}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSuffix(readText(t, path), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("%q", line)
		}
	}
	if len(lines) != 1+4*each {
		t.Errorf("%d lines", len(lines))
	}
}

func TestEditFollowsNoLinks(t *testing.T) {
	config, outside := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "x.jsonl")
	putFile(t, target, prompt("/x", "p", ""))
	folder := filepath.Join(config, "projects", "-x")
	putFile(t, filepath.Join(folder, testID(2)+".jsonl"), prompt("/x", "q", ""))
	if err := os.Symlink(target, filepath.Join(folder, testID(1)+".jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, testID(2))); err != nil {
		t.Fatal(err)
	}
	o := &ConversationOptions{ConfigDir: config}
	for name, err := range map[string]error{
		"rename": RenameConversation(t.Context(), testID(1), "t", o),
		"delete": DeleteConversation(t.Context(), testID(1), o),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ArchiveConversation(t.Context(), testID(2), o); err == nil {
		t.Error("a mark was written through a link")
	}
	if err := DeleteConversation(t.Context(), testID(2), o); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 || readText(t, target) != prompt("/x", "p", "") {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

func TestDeleteConversation(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", ""))
	other := putConversation(t, config, "/x", testID(2), 0, prompt("/x", "other", ""))
	putFile(t, filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a1.jsonl"), "{}\n")
	putFile(t, filepath.Join(strings.TrimSuffix(other, ".jsonl"), "subagents", "agent-a1.jsonl"), "{}\n")
	o := &ConversationOptions{ConfigDir: config}
	if err := DeleteConversation(t.Context(), testID(1), o); err != nil {
		t.Fatal(err)
	}
	if err := DeleteConversation(t.Context(), testID(1), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second time: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(config, "projects", "*", "*"))
	if want := []string{strings.TrimSuffix(other, ".jsonl"), other}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %q, %v", left, err)
	}
}

// reads returns the uuids of what is read.
func reads(t testing.TB, id string, o *ReadOptions) string {
	t.Helper()
	var all []string
	for m, err := range ReadConversation(t.Context(), id, o) {
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(m.Raw) || m.Message == nil || m.Time.IsZero() || m.TooLong != nil {
			t.Errorf("%+v", m)
		}
		all = append(all, m.UUID)
	}
	return strings.Join(all, " ")
}

func TestReadConversation(t *testing.T) {
	config := t.TempDir()
	putConversation(t, config, "/x", testID(1), 0, short(t,
		"1 < - says a", "2 < 1 answers gone", "3 < 1 answers b", "4 < 3 system note", "5 < 4 compacted", "6 < 5 summary s", "7 < 6 says c", "8 < 7 queued also", "9 < 8 answers d"))
	at := func(o ReadOptions) *ReadOptions {
		o.ConfigDir = config
		return &o
	}
	for _, test := range []struct {
		name string
		o    *ReadOptions
		want string
	}{
		{"all", at(ReadOptions{}), "1 3 6 7 q8 9"},
		{"notices too", at(ReadOptions{System: true}), "1 3 4 5 6 7 q8 9"},
		{"the first", at(ReadOptions{Limit: 2}), "1 3"},
		{"a page", at(ReadOptions{Offset: 2, Limit: 2}), "6 7"},
		{"the end", at(ReadOptions{Offset: 5, Limit: 5}), "9"},
		{"beyond", at(ReadOptions{Offset: 6}), ""},
	} {
		if got := reads(t, testID(1), test.o); got != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
	kinds := ""
	for m, err := range ReadConversation(t.Context(), testID(1), at(ReadOptions{System: true})) {
		if err != nil {
			t.Fatal(err)
		}
		typ, subtype := m.Message.MessageType()
		kinds += strings.TrimSuffix(typ+"/"+subtype, "/") + " "
		if u, ok := m.Message.(*wire.User); ok && u.SessionID != testID(1) {
			t.Errorf("%+v", u)
		}
	}
	if want := "user assistant system/informational system/compact_boundary user user user assistant "; kinds != want {
		t.Errorf("kinds %q, expected %q", kinds, want)
	}
	for range ReadConversation(t.Context(), testID(1), at(ReadOptions{})) {
		break
	}
	for _, err := range ReadConversation(t.Context(), testID(1), at(ReadOptions{Offset: -1})) {
		if _, ok := errors.AsType[*OptionError](err); !ok {
			t.Errorf("error %v", err)
		}
	}
}

// TestReadKeepsNoContents counts what is allocated for the last message of a
// conversation, which must not depend on how long the conversation is.
func TestReadKeepsNoContents(t *testing.T) {
	allocated := func(messages int) uint64 {
		config, parent := t.TempDir(), "-"
		var text strings.Builder
		for i := range messages {
			text.WriteString(short(t, fmt.Sprintf("m%d < %s answers %s", i, parent, strings.Repeat("x", 1<<20))))
			parent = fmt.Sprint("m", i)
		}
		putConversation(t, config, "/x", testID(1), 0, text.String())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := reads(t, testID(1), &ReadOptions{ConversationOptions: ConversationOptions{ConfigDir: config}, Offset: messages - 1}); got != parent {
			t.Errorf("read %q", got)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(4), allocated(24); many > few+2<<20 {
		t.Errorf("%d bytes allocated for one message of 4 MiB, %d for one of 24 MiB", few, many)
	}
}

func TestSubagents(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, prompt("/x", "p", ""))
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	putFile(t, filepath.Join(folder, "agent-b2.jsonl"), short(t, "1 < - side task", "2 < 1 side more", "3 < 1 answers not-aside"))
	putFile(t, filepath.Join(folder, "agent-a1.jsonl"), short(t, "1 < - side task"))
	putFile(t, filepath.Join(folder, "agent-a1.meta.json"), `{"agentType":"general-purpose","description":"look","toolUseId":"toolu_1","parentAgentId":"b2","spawnDepth":1}`)
	putFile(t, filepath.Join(folder, "workflows", "w1", "agent-c3.jsonl"), short(t, "1 < - side task"))
	putFile(t, filepath.Join(folder, "other.jsonl"), "{}\n")
	if err := os.Symlink(path, filepath.Join(folder, "agent-d4.jsonl")); err != nil {
		t.Fatal(err)
	}
	o := ConversationOptions{ConfigDir: config}
	all, err := Subagents(t.Context(), testID(1), &o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s %q %q %q %q %t", s.ID, s.Type, s.Description, s.ToolUseID, s.Parent, s.Path != "" && !s.Modified.IsZero()))
	}
	want := []string{`a1 "general-purpose" "look" "toolu_1" "b2" true`, `b2 "" "" "" "" true`, `c3 "" "" "" "" true`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	said := func(agent string) string {
		t.Helper()
		var all []string
		for m, err := range ReadSubagent(t.Context(), testID(1), agent, &ReadOptions{ConversationOptions: o}) {
			if err != nil {
				t.Fatal(err)
			}
			u := m.Message.(*wire.User)
			all = append(all, m.UUID+" "+u.Message.Content.String()+" "+u.ParentToolUseID)
		}
		return strings.Join(all, "|")
	}
	if got := said("a1") + "; " + said("b2") + "; " + said("c3"); got != "1 task toolu_1; 1 task |2 more ; 1 task " {
		t.Errorf("said %q", got)
	}
	for agent, missing := range map[string]bool{"e5": true, "../a1": false, "": false} {
		for _, err := range ReadSubagent(t.Context(), testID(1), agent, &ReadOptions{ConversationOptions: o}) {
			if err == nil || errors.Is(err, fs.ErrNotExist) != missing {
				t.Errorf("sub-agent %q: %v", agent, err)
			}
		}
	}
	putConversation(t, config, "/x", testID(2), 0, prompt("/x", "p", ""))
	if all, err := Subagents(t.Context(), testID(2), &o); err != nil || len(all) != 0 {
		t.Errorf("none: %v, %v", all, err)
	}
}
