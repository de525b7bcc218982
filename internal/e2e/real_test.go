//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// newRealLab makes a lab whose agents are a real CLI, with a simulated model
// that takes its orders from the prompts. If the version is not installed, the
// test fails under make and is reported as skipped under plain go test.
func newRealLab(t *testing.T, version string) *lab {
	t.Helper()
	l, _ := newRealLabWith(t, version, "", claudetest.Directives(nil))
	return l
}

// newRealLabWith is newRealLab with more lines for the configuration and another
// script of the model.
func newRealLabWith(t *testing.T, version, config string, script func(claudetest.Request) claudetest.Reply) (*lab, *claudetest.Model) {
	t.Helper()
	return newRealLabOf(t, version, script, labOptions{config: config})
}

// newRealLabOf is newRealLabWith with other options. Its configuration begins in
// the table claude.
func newRealLabOf(t *testing.T, version string, script func(claudetest.Request) claudetest.Reply, o labOptions) (*lab, *claudetest.Model) {
	t.Helper()
	program, err := conformance.Program(version)
	if err != nil {
		if os.Getenv(conformance.RequireEnv) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: script})
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	// The made-up key has to reach the CLI.
	o.agent, o.real, o.config = program, true, "[claude]\nuse_api_billing = true\n"+o.config
	l := newLab(t, &o)
	l.options.env = claudetest.Env(l.home, model.URL())
	return l, model
}

// TestRealCLIs kills the hub of each real CLI in a turn with a question open, and
// again while it streams, and compares the journal with the CLI's transcript.
func TestRealCLIs(t *testing.T) {
	t.Parallel()
	tests := []struct{ version, transport string }{
		{conformance.Oldest, "shim"},
		{conformance.LastDialing, "shim"},
		{conformance.Newest, "shim"},
		{conformance.Oldest, "websocket"},
		{conformance.LastDialing, "websocket"},
		{conformance.LastDialing, "hybrid"},
	}
	for _, test := range tests {
		t.Run(test.version+"/"+test.transport, func(t *testing.T) {
			t.Parallel()
			l := newRealLab(t, test.version)
			l.start()
			s := l.session(test.transport)
			if err := s.turn(l.ctx(), "first", "@say One."); err != nil {
				t.Fatal(err)
			}
			second, err := s.send(l.ctx(), "second", asking("two"))
			if err != nil {
				t.Fatal(err)
			}
			question, err := s.awaitQuestion(l.ctx(), 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			l.kill()
			l.start()
			var found api.Question
			if err := l.call(l.ctx(), "GET", "/v1/questions/"+question.ID, nil, &found); err != nil || found.State != api.QuestionOpen {
				t.Fatalf("the question is %s after the restart, %v", found.State, err)
			}
			if err := s.allow(l.ctx(), 1); err != nil {
				t.Fatal(err)
			}
			if err := s.awaitTurn(l.ctx(), 0, second); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "two")); err != nil {
				t.Errorf("the tool that was allowed did not run: %v", err)
			}
			before := s.lives()
			third, err := s.send(l.ctx(), "third", "@slow 20ms\n@say "+strings.Repeat("word ", 100))
			if err != nil {
				t.Fatal(err)
			}
			if err := eventually(patience, func() error {
				if s.lives() < before+3 {
					return fmt.Errorf("%d live lines", s.lives()-before)
				}
				return nil
			}); err != nil {
				t.Fatalf("it does not stream: %v", err)
			}
			l.kill()
			l.start()
			if err := s.realEnd(l.ctx(), third); err != nil {
				t.Fatal(err)
			}
			if err := s.turn(l.ctx(), "fourth", "@say Four."); err != nil {
				t.Fatal(err)
			}
			l.realVerdict(s)
		})
	}
}

// realEnd waits for the end of a turn during which the hub was killed. The end
// of the oldest CLI's may be lost, if it dialled in; then a gap says so, or that
// there may be one.
func (s *session) realEnd(ctx context.Context, message *api.Message) error {
	_, err := s.await(ctx, "the end of the turn, or a gap", func(events []api.Event) bool {
		return turnEnded(events, message.UUID) || s.dialled && slices.ContainsFunc(events, func(e api.Event) bool { return e.Kind == api.KindGap })
	})
	return err
}

// realVerdict compares the journal of a real CLI's session with its transcript.
func (l *lab) realVerdict(s *session) {
	l.t.Helper()
	l.realVerdictAt(s, l.home)
}

// realVerdictAt is realVerdict for a CLI that has another home.
func (l *lab) realVerdictAt(s *session, home string) {
	l.t.Helper()
	if _, err := s.awaitState(l.ctx(), api.StateIdle); err != nil {
		l.t.Fatal(err)
	}
	l.stop()
	j := l.openJournal()
	defer func() {
		if err := j.Close(); err != nil {
			l.t.Error(err)
		}
	}()
	e, err := gather(l.t.Context(), j, s)
	if err != nil {
		l.t.Fatal(err)
	}
	kept := l.transcripts(home)
	if len(kept) == 0 {
		l.t.Fatal("the CLI has kept no transcript")
	}
	wrong := slices.Concat(s.faults(), s.compare(e.entries), compareTranscript(e.entries, kept, s.dialled))
	for _, command := range e.commands {
		if state := api.MessageState(command.State); state != api.MessageWritten && state != api.MessagePickedUp {
			wrong = append(wrong, fmt.Sprintf("%s %s is %s: %s", command.Kind, command.ID, state, brief(command.Line)))
		}
	}
	for _, complaint := range wrong {
		l.t.Errorf("session %s: %s", s.id, complaint)
	}
}

// A keptLine is a line of a transcript, as far as it matters here.
type keptLine struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	Sidechain bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"`
}

// transcripts reads all transcripts of a home.
func (l *lab) transcripts(home string) []keptLine {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	var lines []keptLine
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			l.t.Fatal(err)
		}
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			var line keptLine
			if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
				l.t.Errorf("%s: %v", path, err)
			}
			lines = append(lines, line)
		}
		if err := scanner.Err(); err != nil {
			l.t.Error(err)
		}
		_ = file.Close() // it was only read
	}
	return lines
}

// compareTranscript holds that each message that the CLI has kept is in the
// journal exactly once, and that no uuid is there twice, but for echoes. Messages of
// a CLI that dialled in may be missing if a gap is reported.
func compareTranscript(entries []journal.Entry, kept []keptLine, dialled bool) []string {
	var wrong []string
	times := map[string]int{}
	gap := dialled && slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Kind == api.KindGap })
	for _, entry := range entries {
		if entry.Kind != api.KindLine {
			continue
		}
		header, err := wire.Peek(entry.Line)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("entry %d is no line of a CLI: %s", entry.Seq, brief(entry.Line)))
			continue
		}
		if echo := dialled && string(header.Type) == "user" && bytes.Contains(entry.Line, []byte(`"isReplay":true`)); echo && times[string(header.UUID)] > 0 {
			continue // of a prompt that was sent again after a reconnect: it is echoed each time
		}
		if uuid := string(header.UUID); uuid != "" {
			if times[uuid]++; times[uuid] > 1 {
				wrong = append(wrong, fmt.Sprintf("entry %d has a uuid a second time: %s", entry.Seq, brief(entry.Line)))
			}
		}
	}
	found := 0
	for _, line := range kept {
		if line.Type != "assistant" && line.Type != "user" || line.Sidechain || line.Meta {
			continue
		}
		if times[line.UUID] == 0 {
			if gap {
				continue
			}
			wrong = append(wrong, fmt.Sprintf("the %s message %s of the transcript is not in the journal", line.Type, line.UUID))
			continue
		}
		found++
	}
	if found == 0 {
		wrong = append(wrong, "no message of the transcript is in the journal")
	}
	return wrong
}

// TestRealShimKilled kills the shim of a real CLI whose tool runs a process that
// does not end by itself.
func TestRealShimKilled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, version string
		dead          bool // the hub too
		sandbox       string
	}{
		{"newest", conformance.Newest, false, ""},
		{"newest, hub dead", conformance.Newest, true, sandboxDeny},
		{"newest, sandbox", conformance.Newest, false, sandboxStrict},
		{"oldest", conformance.Oldest, false, ""},
		{"oldest, sandbox, hub dead", conformance.Oldest, true, sandboxAuto},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newRealLab(t, test.version)
			l.sandboxed(test.sandbox)
			l.start()
			s := l.mustCreate(nil)
			if _, err := s.send(l.ctx(), "first", `@tool Bash {"command":"echo begun > begun && sleep 600","description":"Wait","timeout":600000}`+"\n@say Done."); err != nil {
				t.Fatal(err)
			}
			if err := s.allow(l.ctx(), 1); err != nil {
				t.Fatal(err)
			}
			if err := eventually(patience, func() error {
				if len(l.sleepers()) == 0 {
					return errors.New("no process sleeps")
				}
				return nil
			}); err != nil {
				t.Fatalf("the tool does not run: %v\n%s", err, describe(l.processes()))
			}
			if test.dead {
				l.kill()
			}
			for _, pid := range l.shims() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			if test.dead {
				l.start()
			}
			begin := time.Now()
			if err := eventually(cleanUpLimit, func() error { return l.gone(l.current().pid()) }); err != nil {
				t.Error(err)
			}
			t.Logf("all gone after %s", time.Since(begin).Round(time.Millisecond))
			snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.Ended == nil || snapshot.Ended.Reason == "" {
				t.Errorf("the session does not say why it ended: %+v", snapshot.Ended)
			}
			if err := s.turn(l.ctx(), "second", "@say Back again."); err != nil {
				t.Fatal(err)
			}
			if snapshot, err = s.snapshot(l.ctx()); err != nil || snapshot.Run != 2 || len(snapshot.Conversations) != 1 {
				t.Errorf("run %d, conversations %v, %v; want run 2 of the one conversation", snapshot.Run, snapshot.Conversations, err)
			}
		})
	}
}
