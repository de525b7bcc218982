package history

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// resume loads a session in a new process and continues it.
func (w *world) resume(session string) (*Store, *Conversation) {
	w.t.Helper()
	s := w.process()
	c := w.load(s, session)
	w.must(s.Continue(c))
	return s, c
}

func TestResume(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			w.say(s, first, "one", "1")
			s, c := w.resume(first)
			if diff := cmp.Diff([]string{"u: one", "a: 1"}, dialogue(c)); diff != "" {
				t.Error(diff)
			}
			if string(c.Messages[0].Content) != `"one"` {
				t.Errorf("a string became %s", c.Messages[0].Content)
			}
			w.say(s, first, "two", "2")
			w.say(s, first, "three", "3")
			_, c = w.resume(first)
			if diff := cmp.Diff([]string{"u: one", "a: 1", "u: two", "a: 2", "u: three", "a: 3"}, dialogue(c)); diff != "" {
				t.Error(diff)
			}
			if c.Prompts() != 3 || c.Damaged != 0 || c.ID != first || c.Dir != w.dir {
				t.Errorf("got %d prompts, %d damaged lines, id %s, folder %s", c.Prompts(), c.Damaged, c.ID, c.Dir)
			}
			for _, m := range c.Messages {
				for _, uuid := range m.UUIDs {
					if !c.Has(uuid) {
						t.Errorf("line %s is missing", uuid)
					}
				}
			}
			if c.Has(first) {
				t.Error("it has a line that nobody wrote")
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			answer := w.say(s, first, "one", "1")
			w.say(s, first, "two", "2")
			s = w.process()
			c := w.load(s, first)
			var missing *NoMessageError
			if err := c.Cut(second); !errors.As(err, &missing) || err.Error() != "No message found with message.uuid of: "+second {
				t.Errorf("got %v", err)
			}
			if len(c.Messages) != 4 {
				t.Errorf("a cut that failed left %d messages", len(c.Messages))
			}
			w.must(c.Cut(answer))
			if diff := cmp.Diff([]string{"u: one", "a: 1"}, dialogue(c)); diff != "" {
				t.Error(diff)
			}
			w.must(s.Continue(c))
			w.say(s, first, "three", "3")
			if diff := cmp.Diff([]string{"u: one", "a: 1", "u: three", "a: 3"}, dialogue(w.load(w.process(), first))); diff != "" {
				t.Error("the branch that was left is back", diff)
			}
		})
	}
}

func TestFork(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			answer := w.say(s, first, "one", "1")
			w.say(s, first, "two", "2")
			before := w.read(s, first)

			s = w.process()
			c := w.load(s, first)
			w.must(c.Cut(answer))
			fork, err := s.Fork(c, second)
			w.must(err)
			if fork.ID != second {
				t.Errorf("the fork is %s", fork.ID)
			}
			if s.Exists(second) {
				t.Error("the fork is on disk before anything was said")
			}
			w.say(s, second, "three", "3")
			if diff := cmp.Diff([]string{"u: one", "a: 1", "u: three", "a: 3"}, dialogue(w.load(w.process(), second))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, w.read(s, first)); diff != "" {
				t.Error("the origin changed", diff)
			}
			if got, want := strings.Contains(w.read(s, second), `"sessionId":"`+first), version == "2.1.37"; got != want {
				t.Errorf("the copies carry the old id: %v, want %v", got, want)
			}
			if _, err := s.Fork(c, "../x"); err == nil {
				t.Error("a fork outside of the folder")
			}
		})
	}
}

// TestOtherFolder: the session stays where it is, and its lines say where they come from.
func TestOtherFolder(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	w.say(s, first, "one", "1")
	path, err := s.Path(first)
	w.must(err)
	w.dir = filepath.Join(w.dir, "sub")
	w.mkdir(w.dir)
	s, _ = w.resume(first)
	w.say(s, first, "two", "2")
	if got, err := s.Path(first); got != path || err != nil {
		t.Errorf("got %s %v, want %s", got, err, path)
	}
	w.must(s.Append(Entry{Session: first, Agent: "a1", Type: User, Message: says("user", "x")}))
	if _, err := os.Stat(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a1.jsonl")); err != nil {
		t.Error(err)
	}
	c := w.load(w.process(), first)
	if diff := cmp.Diff([]string{"u: one", "a: 1", "u: two", "a: 2"}, dialogue(c)); diff != "" || c.Dir != w.dir {
		t.Error(c.Dir, diff)
	}
}

// TestCosts: only the newest version keeps them, and a process that is killed adds nothing.
func TestCosts(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			w.say(s, first, "one", "1")
			if got := w.load(w.process(), first).Costs; !cmp.Equal(got, Costs{}) {
				t.Errorf("a killed process left %+v", got)
			}
			w.must(s.Finish(first, costs()))
			s, c := w.resume(first)
			want := Costs{}
			if version == "2.1.325" {
				want = costs()
			}
			if diff := cmp.Diff(want, c.Costs); diff != "" {
				t.Error(diff)
			}
			w.say(s, first, "two", "2") // and then it is killed
			if diff := cmp.Diff(want, w.load(w.process(), first).Costs); diff != "" {
				t.Error(diff)
			}
			fork, err := s.Fork(c, second)
			w.must(err)
			if diff := cmp.Diff(want, fork.Costs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A turn that is cut off by a kill is mended in the way of the version.
func TestInterruptedTurn(t *testing.T) {
	prompt := Entry{Type: User, Message: says("user", "go"), PermissionMode: "default"}
	call := Entry{Type: Assistant, UUID: "aaaaaaaa-0000-4000-8000-000000000001", Message: calls("msg_1", "t1")}
	call2 := Entry{Type: Assistant, UUID: "aaaaaaaa-0000-4000-8000-000000000002", Message: calls("msg_1", "t2")}
	result := Entry{Type: User, Message: returns("t1", "ok"), SourceUUID: call.UUID, ToolUseResult: json.RawMessage(`"ok"`)}
	text := Entry{Type: Assistant, Message: json.RawMessage(`{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"wait"}]}`)}
	failed := Entry{Type: Assistant, Message: says("assistant", "API Error"), Error: "unknown"}
	tests := []struct {
		name     string
		entries  []Entry
		old, new []string // after the next prompt; new is for 2.1.325, and the same if nil
	}{
		{"no answer", []Entry{prompt}, []string{"u: go", "a: " + noResponse, "u: next"}, nil},
		{"an error", []Entry{prompt, failed}, []string{"u: go", "a: " + noResponse, "u: next"}, nil},
		{"a text", []Entry{prompt, text}, []string{"u: go", "a: wait", "u: next"}, nil},
		{
			"an open call",
			[]Entry{prompt, text, call},
			[]string{"u: go", "a: wait", "u: next"},
			[]string{"u: go", "a: wait call t1", "u: result t1", "a: " + noResponse, "u: next"},
		},
		{
			"one of two calls",
			[]Entry{prompt, call, call2, result},
			[]string{"u: go", "a: call t1", "u: result t1", "a: " + noResponse, "u: next"},
			[]string{"u: go", "a: call t1 call t2", "u: result t1 result t2", "a: " + noResponse, "u: next"},
		},
		{"only a call", []Entry{prompt, call}, []string{"u: go", "a: " + noResponse, "u: next"}, []string{"u: go", "a: call t1", "u: result t1", "a: " + noResponse, "u: next"}},
	}
	for _, version := range versions() {
		for _, tt := range tests {
			t.Run(version+" "+tt.name, func(t *testing.T) {
				w := newWorld(t, version)
				s := w.process()
				for _, e := range tt.entries {
					e.Session = first
					w.must(s.Append(e))
				}
				s, c := w.resume(first)
				want := tt.old
				if version == "2.1.325" && tt.new != nil {
					want = tt.new
				}
				if diff := cmp.Diff(want[:len(want)-1], dialogue(c)); diff != "" {
					t.Error("when it is loaded", diff)
				}
				w.must(s.Append(Entry{Session: first, Type: User, Message: says("user", "next"), PermissionMode: "default"}))
				w.must(s.Append(Entry{Session: first, Type: Assistant, Message: says("assistant", "done")}))
				if diff := cmp.Diff(append(slices.Clip(want), "a: done"), dialogue(w.load(w.process(), first))); diff != "" {
					t.Error("when it is loaded again", diff)
				}
			})
		}
	}
}

func TestParallelCalls(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			a, b := wire.NewUUID(), wire.NewUUID()
			for _, e := range []Entry{
				{Type: User, Message: says("user", "go"), PermissionMode: "default"},
				{Type: Assistant, UUID: a, Message: calls("msg_1", "t1")},
				{Type: Assistant, UUID: b, Message: calls("msg_1", "t2")},
				{Type: User, Message: returns("t2", "2"), SourceUUID: b},
				{Type: User, Message: returns("t1", "1"), SourceUUID: a},
				{Type: Attachment, Body: QueuedCommand("quick", wire.NewUUID())},
				{Type: Attachment, Body: json.RawMessage(`{"type":"date","date":"2026-01-02"}`)},
				{Type: Assistant, Message: says("assistant", "done")},
			} {
				e.Session = first
				w.must(s.Append(e))
			}
			want := []string{"u: go", "a: call t1 call t2", "u: result t2 result t1 quick", "a: done"}
			if version == "2.1.37" {
				want = []string{"u: go", "a: call t1", "u: result t1", "a: done"} // it forgets other results and what came in the middle of a turn
			}
			if diff := cmp.Diff(want, dialogue(w.load(w.process(), first))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompaction(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			w.say(s, first, "one", "1")
			w.must(s.Append(Entry{Session: first, Type: System, Compact: &Compact{Trigger: "auto", PreTokens: 9}}))
			w.must(s.Append(Entry{Session: first, Type: User, Message: says("user", "in short"), CompactSummary: true}))
			w.say(s, first, "two", "2")
			c := w.load(w.process(), first)
			if diff := cmp.Diff([]string{"u: in short two", "a: 2"}, dialogue(c)); diff != "" {
				t.Error(diff)
			}
			if strings.Count(c.Slug, "-") != 2 {
				t.Errorf("the plan's name is %q", c.Slug)
			}
		})
	}
}

func TestDamagedLines(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			w.say(s, first, "one", "1")
			w.say(s, first, "two", "2")
			w.say(s, first, "three", "3")
			path, err := s.Path(first)
			w.must(err)
			lines := strings.SplitAfter(w.read(s, first), "\n")
			for i, line := range lines {
				if strings.Contains(line, `"text":"2"`) {
					lines[i] = line[:50] + "\n"
				}
			}
			bad := "null\n5\n\"x\"\n[]\n{}\n{\"type\":5}\n\x00\n{\"type\":\"user\",\"uuid\":\"x\",\"message\":5}\n{\"type\":\"unknown\"}\n"
			w.must(os.WriteFile(path, []byte(bad+strings.Join(lines, "")+`{"type":"user","uu`), 0o600))
			s, c := w.resume(first)
			want := []string{"u: one", "a: 1", "u: two three", "a: 3"}
			if version == "2.1.37" {
				want = []string{"u: three", "a: 3"} // the chain is broken
			}
			if diff := cmp.Diff(want, dialogue(c)); diff != "" {
				t.Error(diff)
			}
			if c.Damaged != 8 {
				t.Errorf("%d lines are damaged", c.Damaged)
			}
			// The half line at the end must not swallow the next one.
			w.say(s, first, "four", "4")
			if diff := cmp.Diff(append(want, "u: four", "a: 4"), dialogue(w.load(w.process(), first))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingSaid(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	w.must(s.Queue(first, Enqueue, "", "x"))
	w.must(s.Rename(first, "title"))
	w.must(s.Finish(first, costs()))
	if strings.Contains(w.read(s, first), "cost-state") {
		t.Error("costs of nothing")
	}
	if c, err := w.process().Load(first); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("got %v %v", c, err)
	}
}

func TestHugeLine(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	text := strings.Repeat("<é\u2028&>", 1<<17)
	w.must(s.Append(Entry{Session: first, Type: User, Message: json.RawMessage(`{"role":"user","content":"` + text + `"}`), PermissionMode: "default"}))
	w.must(s.Append(Entry{Session: first, Type: Assistant, Message: json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}`)}))
	w.must(s.Finish(first, Costs{}))
	if strings.Contains(w.read(s, first), `\u003c`) {
		t.Error("the line is escaped in a way that the CLI's are not")
	}
	c := w.load(w.process(), first)
	if len(c.Messages) != 2 {
		t.Fatalf("there are %d messages", len(c.Messages))
	}
	for _, m := range c.Messages {
		if blocksOf(m.Content)[0].Text != text {
			t.Errorf("the text of the %s changed", m.Role)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	for _, e := range []Entry{
		{},
		{Type: "result"},
		{Type: User},
		{Type: User, Message: json.RawMessage(`{"role":"assistant"}`)},
		{Type: User, Message: json.RawMessage(`{"role":"user"`)},
		{Type: Assistant, Message: says("user", "x")},
		{Type: User, Message: says("user", "x"), ToolUseResult: json.RawMessage(`{`)},
		{Type: System},
		{Type: Attachment},
		{Type: Attachment, Body: json.RawMessage(`[]`)},
	} {
		e.Session = first
		if err := s.Append(e); err == nil {
			t.Errorf("it was written: %+v", e)
		}
	}
	if s.Exists(first) {
		t.Error("there is a transcript")
	}
}

// TestOneLine: raw JSON over several lines must not become several lines.
func TestOneLine(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	w.must(s.Append(Entry{Session: first, Type: User, Message: json.RawMessage("{\n \"role\": \"user\",\r\n \"content\": \"x\"\n}"), PermissionMode: "default"}))
	if got := w.read(s, first); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"message":{"role":"user","content":"x"}`) {
		t.Error(got)
	}
}

func TestLastPrompt(t *testing.T) {
	tests := []struct{ content, want string }{
		{`"one\ntwo "`, "one two"},
		{`[{"type":"image"},{"type":"text","text":"three"}]`, "three"},
		{`[]`, ""},
		{`"` + strings.Repeat("é", 300) + `"`, strings.Repeat("é", 200) + "…"},
	}
	for _, tt := range tests {
		if got := promptText(json.RawMessage(`{"content":` + tt.content + `}`)); got != tt.want {
			t.Errorf("%.40s: got %q, want %q", tt.content, got, tt.want)
		}
	}
}

// TestConcurrentProcesses: nobody locks a session, and no line gets lost or mixed.
func TestConcurrentProcesses(t *testing.T) {
	const processes, lines = 4, 50
	w := newWorld(t, "2.1.325")
	exe, err := os.Executable()
	w.must(err)
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Env = []string{"HOME=" + w.home, writerEnv + "=50", "HISTORY_TEST_DIR=" + w.dir}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := w.process()
	text := w.read(s, first)
	if got := strings.Count(text, "\n"); got != processes*lines {
		t.Errorf("there are %d lines", got)
	}
	if c := w.load(s, first); c.Damaged != 0 || c.Prompts() != lines {
		t.Errorf("%d lines are damaged, the last chain has %d prompts", c.Damaged, c.Prompts())
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t, "2.1.325")
	w.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
	s := w.process()
	var wg sync.WaitGroup
	for _, id := range []string{first, second, first, second} {
		wg.Go(func() {
			for range 10 {
				uuid := w.say(s, id, "hello", "world")
				if c := w.load(s, id); !c.Has(uuid) {
					t.Error("a line is missing")
				}
				s.PlanPath(id, "x")
				s.Latest()
				if _, _, err := s.Rewind(id, uuid, true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
