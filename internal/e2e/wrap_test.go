//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// newWrapLab makes a lab for CLIs that belong to programs: the simulated one, or a
// real one with a simulated model. Its hub is not started.
func newWrapLab(t *testing.T, agent string) *lab {
	t.Helper()
	if agent == simAgent {
		return newLab(t, nil)
	}
	program, err := conformance.Program(agent)
	program = installed(t, program, err)
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	l := newLab(t, &labOptions{agent: program, real: true})
	l.options.env = claudetest.Env(l.home, model.URL())
	return l
}

// wrapper returns a path that a program can take for its Claude Code.
func (l *lab) wrapper() string {
	l.t.Helper()
	link := filepath.Join(l.root, "claude-switchboard")
	build := suite.build
	if l.options.plain {
		build = suite.plain
	}
	path, err := build()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil && !errors.Is(err, os.ErrExist) {
		l.t.Fatal(err)
	}
	return link
}

// wrapEnv is the environment of a program whose Claude Code is the wrapper.
func (l *lab) wrapEnv(more ...string) []string {
	return l.environment(append([]string{"SWITCHBOARD_DATA_DIR=" + l.data, "SWITCHBOARD_WRAP_CLAUDE=" + l.options.agent, "SWITCHBOARD_WRAP_LOG=" + filepath.Join(l.root, "wrap.log")}, more...)...)
}

// realDir is newDir by its real path, by which a CLI names it.
func (l *lab) realDir() (dir, record string) {
	l.t.Helper()
	dir, record = l.newDir("")
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	return dir, record
}

// script starts a script for node in a folder.
func (l *lab) script(t *testing.T, node, dir string, env []string, args ...string) *sdkProgram {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	p := &sdkProgram{t: t, dir: dir, cmd: exec.CommandContext(ctx, node, args...), cancel: cancel}
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, 5*time.Second
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(output)
	p.lines.Buffer(nil, 1<<20)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// wrapped waits until the hub has the session of a program in a folder and can speak
// to its CLI, or knows that it has ended.
func (l *lab) wrapped(t *testing.T, dir, record string) *session {
	t.Helper()
	c := l.client()
	var id string
	if err := eventually(patience, func() error {
		list, err := c.List(t.Context(), api.SessionFilter{Dir: dir})
		if err != nil {
			return err
		}
		if len(list.Sessions) != 1 {
			return fmt.Errorf("the hub has %d sessions in %s", len(list.Sessions), dir)
		}
		id = list.Sessions[0].ID
		found, err := c.Session(t.Context(), id)
		if err != nil {
			return err
		}
		// It is announced before it is connected.
		if !found.Linked && found.State != api.StateEnded {
			return fmt.Errorf("session %s in %s is not connected", id, dir)
		}
		return nil
	}); err != nil {
		t.Fatalf("%v\nwhat wrap said:\n%s", err, tail(filepath.Join(l.root, "wrap.log"), 50))
	}
	return &session{lab: l, id: id, dir: dir, record: record, follower: l.follow(id)}
}

// sameFacts compares facts with those of a file.
func sameFacts(t *testing.T, file string, got []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wanted, found := parseFacts(t, strings.Split(strings.TrimSpace(string(content)), "\n")), parseFacts(t, got)
	for i := range max(len(wanted), len(found)) {
		switch {
		case i >= len(found):
			t.Errorf("missing: %v", wanted[i])
		case i >= len(wanted):
			t.Errorf("too much: %v", found[i])
		default:
			if diff := cmp.Diff(wanted[i], found[i]); diff != "" {
				t.Errorf("fact %d, turn %v (-want +got):\n%s", i+1, wanted[i]["turn"], diff)
			}
		}
	}
}

// talkFacts is what the conversation of the conformance suite gives without us.
const talkFacts = "../conformance/sdk/testdata/facts.jsonl"

// TestWrapSDK holds the conversation of the conformance suite through the official
// SDK, with the wrapper as its executable, while the hub is killed and started
// again. The SDK's user sees what it would see without us, and the hub has all of
// it.
func TestWrapSDK(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{simAgent, conformance.Newest} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			l := newWrapLab(t, agent)
			l.start()
			modules, err := conformance.SDK()
			modules = installed(t, modules, err)
			driver, err := filepath.Abs("../conformance/sdk/driver.mjs")
			if err != nil {
				t.Fatal(err)
			}
			dir, record := l.realDir()
			p := l.script(t, "node", dir, l.wrapEnv(), driver, modules, l.wrapper())
			var s *session
			var facts []string
			for p.lines.Scan() {
				facts = append(facts, p.lines.Text())
				switch len(facts) {
				case 2: // after the first turn
					s = l.wrapped(t, dir, record)
				case 3, 12:
					l.kill()
				case 5, 14:
					l.start()
				case 8:
					l.kill()
					l.start()
				}
			}
			rest, err := p.all()
			if err != nil {
				t.Errorf("the conversation failed: %v", err)
			}
			sameFacts(t, talkFacts, append(facts, rest...))
			// What had no time to be told is in a file, which the next hub reads.
			l.kill()
			l.start()
			snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.Transport != "tee" || snapshot.Dir != dir || snapshot.Run != 1 {
				t.Errorf("the session is over as %s in %s, run %d", snapshot.Transport, snapshot.Dir, snapshot.Run)
			}
			if !strings.HasPrefix(snapshot.Model, "another-model") && !strings.HasPrefix(snapshot.Model, "claude-sonnet") {
				t.Errorf("its model is %q", snapshot.Model)
			}
			judgeWrapped(t, s, agent == simAgent, strings.Count(strings.Join(facts, "\n"), `"turn":`))
		})
	}
}

// judgeWrapped holds that the journal has what passed, all of it and once.
func judgeWrapped(t *testing.T, s *session, recorded bool, turns int) {
	t.Helper()
	s.follower.close()
	s.lab.kill()
	j := s.lab.openJournal()
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	e, err := gather(t.Context(), j, s)
	if err != nil {
		t.Fatal(err)
	}
	results, prompts := 0, 0
	for _, entry := range e.entries {
		switch {
		case entry.Kind == api.KindGap:
			t.Errorf("there is a gap: %s", entry.Data)
		case entry.Kind == api.KindLine && bytes.Contains(entry.Line, []byte(`"type":"result"`)):
			results++
		case entry.Kind == api.KindSent && bytes.Contains(entry.Line, []byte(`"type":"user"`)):
			prompts++
		}
	}
	if results != turns || prompts != turns {
		t.Errorf("the journal has %d prompts and %d results; there were %d turns", prompts, results, turns)
	}
	if !recorded {
		return
	}
	if len(e.records) != 1 {
		t.Fatalf("there are %d records", len(e.records))
	}
	for _, wrong := range judgeLines(1, durable(e.records[0]), e.entries, false) {
		t.Error(wrong)
	}
	// And what the program wrote, though the CLI does not number that.
	var sent [][]byte
	for _, entry := range e.entries {
		if entry.Kind == api.KindSent && entry.Source == journal.SourceProgram {
			sent = append(sent, entry.Line)
		}
	}
	// A program that ends interrupts its CLI and kills it without waiting: the CLI may
	// be gone before it has read that.
	got := read(e.records[0])
	if n := len(sent); n == len(got)+1 && bytes.Contains(sent[n-1], []byte(`"subtype":"interrupt"`)) {
		sent = sent[:n-1]
	}
	if diff := cmp.Diff(got, sent); diff != "" {
		t.Errorf("what the CLI read (-) and what the journal has of the program (+):\n%s", diff)
	}
}

// TestWrapQuestions has the official SDK's program and the hub answer questions:
// one that the program would never answer, and one that it answers before the hub.
func TestWrapQuestions(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{simAgent, conformance.Newest} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			l := newWrapLab(t, agent)
			l.start()
			modules, err := conformance.SDK()
			modules = installed(t, modules, err)
			script, err := filepath.Abs(filepath.Join("testdata", "wrap.mjs"))
			if err != nil {
				t.Fatal(err)
			}
			dir, record := l.realDir()
			p := l.script(t, "node", dir, l.wrapEnv("SWITCHBOARD_WRAP_TITLE=my program"), script, modules, l.wrapper())
			p.until("asked")
			s := l.wrapped(t, dir, record)
			k := &talk{session: s, t: t, c: l.client(), name: "the hub is first"}
			k.settle(k.question(1), api.Answer{Decision: "allow"})
			if fact := p.until("turn"); fact != `{"turn":1,"withdrawn":true,"failed":false,"said":["Done."]}` {
				t.Errorf("the program saw %s", fact)
			}
			if title := k.shot().Title; title != "my program" {
				t.Errorf("its title is %q", title)
			}
			k.step("the program is first")
			k.from = s.mark()
			if fact := p.until("turn"); fact != `{"turn":2,"withdrawn":false,"failed":false,"said":["Done again."]}` {
				t.Errorf("the program saw %s", fact)
			}
			if _, err := s.await(l.ctx(), "both are settled", func(events []api.Event) bool { return countKind(events, api.KindQuestionSettled) == 2 }); err != nil {
				k.fail("%v", err)
			}
			list, err := k.c.Questions(t.Context(), api.QuestionFilter{Session: s.id, State: api.QuestionAnswered})
			k.check(err)
			if len(list.Questions) != 2 {
				k.fail("there were %d questions", len(list.Questions))
			}
			for i, q := range list.Questions {
				if q.State != api.QuestionAnswered {
					t.Errorf("question %d is %s", i, q.State)
				}
			}
			last := list.Questions[slices.IndexFunc(list.Questions, func(q api.Question) bool { return bytes.Contains(q.Request, []byte("second")) })]
			_, err = k.c.Answer(t.Context(), last.ID, api.Answer{ClientID: k.next(), Decision: "deny", Message: "too late"})
			if problem := problemOf(err); problem == nil || problem.Code != api.CodeAlreadySettled {
				t.Errorf("an answer after the program's: %v", err)
			}
			if rest, err := p.all(); err != nil {
				t.Errorf("the program ended with %v after %v", err, rest)
			}
		})
	}
}

// A caller is a program that talks to its CLI, played by the test.
type caller struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	pipe   io.Closer // what out reads
	out    *bufio.Reader
	stderr bytes.Buffer
	// sent and got are all bytes that it wrote and read.
	sent, got bytes.Buffer
}

// streamFlags have a CLI talk to a program.
func streamFlags() []string {
	return []string{"--print", "--verbose", "--input-format", "stream-json", "--output-format=stream-json", "--permission-prompt-tool", "stdio"}
}

// callCLI starts a program's CLI. Whatever happens it is gone when the test ends.
func (l *lab) callCLI(t testing.TB, dir string, env []string, program string, args ...string) *caller {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	c := &caller{t: t, cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr, c.cmd.WaitDelay = dir, env, &c.stderr, 5*time.Second
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.pipe, c.out = in, out, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.cmd.Wait() // it may have been waited for
		if t.Failed() {
			t.Logf("what the CLI said on standard error:\n%s\nwhat wrap said:\n%s", &c.stderr, tail(filepath.Join(l.root, "wrap.log"), 50))
		}
	})
	return c
}

// write says a line.
func (c *caller) write(line string) {
	c.t.Helper()
	c.sent.WriteString(line + "\n")
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// prompt says a prompt.
func (c *caller) prompt(lines ...string) {
	c.t.Helper()
	c.write(`{"type":"user","message":{"role":"user","content":` + quoted(strings.Join(lines, "\n")) + `},"parent_tool_use_id":null,"session_id":""}`)
}

// until reads to the first line with all of some texts in it.
func (c *caller) until(texts ...string) []byte {
	c.t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		c.got.Write(line)
		if err != nil {
			c.t.Fatalf("the CLI said no %q but ended: %v", texts, err)
		}
		if holds(string(line), texts...) {
			return line
		}
	}
}

// result reads to the end of a turn.
func (c *caller) result() []byte {
	c.t.Helper()
	return c.until(`"type":"result"`)
}

// grant answers the next question.
func (c *caller) grant() {
	c.t.Helper()
	line := c.until(`"control_request"`, `"can_use_tool"`)
	var m struct {
		ID      string `json:"request_id"`
		Request struct {
			Input json.RawMessage `json:"input"`
		} `json:"request"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatal(err)
	}
	c.write(`{"type":"control_response","response":{"subtype":"success","request_id":` + quoted(m.ID) + `,"response":{"behavior":"allow","updatedInput":` + string(m.Request.Input) + `}}}`)
}

// end closes the input, reads to the end and returns how the CLI ended.
func (c *caller) end() error {
	c.t.Helper()
	_ = c.in.Close() // it may be gone
	if _, err := io.Copy(&c.got, c.out); err != nil {
		c.t.Error(err)
	}
	return c.cmd.Wait()
}
