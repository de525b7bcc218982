package history

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden writes one of everything and compares the whole config folder with what was agreed on; the shapes are those that were measured.
func TestGolden(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			w.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
			everything(w)
			got := w.dump()
			path := filepath.Join("testdata", version+".txt")
			if *update {
				w.must(os.WriteFile(path, []byte(got), 0o600))
			}
			want, err := os.ReadFile(path)
			w.must(err)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the files differ from %s (-want +got); run with -update if that is meant:\n%s", path, diff)
			}
		})
	}
}

// everything plays a session with all kinds of lines, and a second process that forks it.
func everything(w *world) {
	s := w.process()
	const prompt, call, call2, done = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002", "aaaaaaaa-0000-4000-8000-000000000003", "aaaaaaaa-0000-4000-8000-000000000004"
	entries := []Entry{
		{Type: User, UUID: prompt, Message: says("user", "Add a <login> page\nplease & thanks"), PermissionMode: "default"},
		{Type: Assistant, UUID: call, Message: calls("msg_1", "toolu_1"), RequestID: "req_1"},
		{Type: Assistant, UUID: call2, Message: calls("msg_1", "toolu_2"), RequestID: "req_1", BlockIndex: 1},
		{Type: User, Message: returns("toolu_1", "one"), ToolUseResult: json.RawMessage(`{"stdout":"one"}`), SourceUUID: call},
		{Type: User, Message: returns("toolu_2", "no"), ToolUseResult: json.RawMessage(`"User rejected tool use"`), SourceUUID: call2, DenialKind: "user-rejected"},
		{Type: Attachment, Body: QueuedCommand("also this", "aaaaaaaa-0000-4000-8000-000000000005")},
		{Type: Assistant, UUID: done, Message: says("assistant", "Half a"), RequestID: "req_2", Aborted: true},
		{Type: User, Message: message("user", []any{map[string]string{"type": "text", "text": "[Request interrupted by user]"}})},
		{Type: Assistant, Message: says("assistant", "API Error: 429"), Error: "rate_limit", Status: 429, ErrorType: "rate_limit_error", RequestID: "req_3"},
		{Type: System, Subtype: "informational", Text: "a note", Level: "warning"},
	}
	w.must(s.Queue(first, Enqueue, prompt, "Add a <login> page"))
	w.must(s.Queue(first, Dequeue, prompt, ""))
	w.must(s.Queue(first, Enqueue, "aaaaaaaa-0000-4000-8000-000000000005", "also this"))
	for _, e := range entries {
		e.Session = first
		if e.Type == Attachment {
			w.must(s.Queue(first, Remove, "aaaaaaaa-0000-4000-8000-000000000005", "also this"))
		}
		w.must(s.Append(e))
		if e.UUID == call2 {
			w.must(s.Checkpoint(Edit{Session: first, User: prompt, Assistant: call, Path: filepath.Join(w.dir, "a.txt"), Insertions: 2, Deletions: 1}))
			w.must(s.Checkpoint(Edit{Session: first, User: prompt, Assistant: call2, Path: filepath.Join(w.dir, "b.txt"), Insertions: 2, Created: true}))
		}
	}
	w.must(s.StartAgent(first, "a1b2c3", AgentInfo{Type: "general-purpose", Description: "look", ToolUseID: "toolu_3"}))
	w.must(s.Append(Entry{Session: first, Agent: "a1b2c3", Type: User, Message: says("user", "sub")}))
	w.must(s.Append(Entry{Session: first, Agent: "a1b2c3", Type: Assistant, Message: says("assistant", "sub done"), RequestID: "req_4"}))
	w.must(s.Rename(first, "A title"))
	w.must(s.WritePlan(s.PlanPath(first, "Make a plan for the login"), "# The plan\n"))
	w.must(s.Append(Entry{Session: first, Type: System, Compact: &Compact{Trigger: "manual", PreTokens: 100, PostTokens: 10, DurationMS: 5}}))
	w.must(s.Append(Entry{Session: first, Type: User, Message: says("user", "In short: …"), CompactSummary: true}))
	w.must(s.Append(Entry{Session: first, Type: User, Message: says("user", "caveat"), Meta: true}))
	w.say(s, first, "Go on", "Done.")
	w.must(s.Finish(first, costs()))

	s = w.process()
	_, err := s.Fork(w.load(s, first), second)
	w.must(err)
	w.say(s, second, "Something else", "Yes.")
	w.must(s.Finish(second, costs()))
}

func costs() Costs {
	return Costs{
		TotalUSD: 0.25, APIDuration: 300 * time.Millisecond, APIDurationSuccess: 200 * time.Millisecond, ToolDuration: 40 * time.Millisecond, Duration: time.Second,
		Start: time.UnixMilli(1794722170570), LinesAdded: 4, LinesRemoved: 1,
		Models: map[string]ModelCosts{"claude-x": {InputTokens: 1000, OutputTokens: 10, CostUSD: 0.25}},
	}
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyHash = regexp.MustCompile(`[0-9a-f]{16}@v`)
)

// dump returns all files below the home folder, with all that is random replaced.
func (w *world) dump() string {
	w.t.Helper()
	var out strings.Builder
	w.must(filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out.WriteString("-- " + filepath.ToSlash(strings.TrimPrefix(path, w.home)) + " --\n" + string(data) + "\n")
		return err
	}))
	text := strings.ReplaceAll(out.String(), filepath.Base(w.process().project), "PROJECT")
	text = strings.ReplaceAll(text, w.dir, "/folder")
	text = anyHash.ReplaceAllString(text, "HASH@v")
	quality, activity, thing := strings.Join(qualities(), "|"), strings.Join(activities(), "|"), strings.Join(things(), "|")
	text = regexp.MustCompile(`\b(`+quality+`)-((`+activity+`)-)?(`+thing+`)\b`).ReplaceAllString(text, "WORDS")
	names := map[string]string{first: first, second: second}
	return anyUUID.ReplaceAllStringFunc(text, func(uuid string) string {
		if strings.HasPrefix(uuid, "aaaaaaaa-") {
			return uuid
		}
		if names[uuid] == "" {
			names[uuid] = "UUID" + strconv.Itoa(len(names)-1)
		}
		return names[uuid]
	})
}
