//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// acpFacts is what an editor gets to see of a real CLI without us.
const acpFacts = "testdata/acp-facts.jsonl"

var updateACP = flag.Bool("update-acp", false, "write what an editor sees of a real CLI without wrap into testdata")

// TestWrapACP holds a conversation as an editor does, through the adapter for the
// Agent Client Protocol with the wrapper as its executable, while the hub is killed
// and started again. The editor sees what it would see without us, and the hub has
// all of it.
func TestWrapACP(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{simAgent, conformance.Newest} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			l := newWrapLab(t, agent)
			if *updateACP && agent != simAgent {
				dir, _ := l.realDir()
				e := l.editor(t, dir, l.environment("CLAUDE_CODE_EXECUTABLE="+l.options.agent))
				e.talk(func(int) {})
				if err := os.WriteFile(acpFacts, []byte(strings.Join(e.facts, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l.start()
			dir, record := l.realDir()
			e := l.editor(t, dir, l.wrapEnv("CLAUDE_CODE_EXECUTABLE="+l.wrapper()))
			var s *session
			turns := e.talk(func(turns int) {
				switch turns {
				case 1:
					s = l.wrapped(t, dir, record)
				case 2, 6:
					l.kill()
				case 3, 7:
					l.start()
				case 4:
					l.kill()
					l.start()
				}
			})
			sameFacts(t, acpFacts, e.facts)
			l.kill()
			l.start()
			if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
				t.Fatal(err)
			}
			judgeWrapped(t, s, agent == simAgent, turns)
		})
	}
}

// An editor speaks the Agent Client Protocol to the adapter: one JSON object per
// line each way.
type editor struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   *bufio.Scanner
	stderr  bytes.Buffer
	dir     string
	session string
	last    int // id of a request
	facts   []string

	// Of the turn that goes on.
	seen    *acpTurn
	onText  func()
	onAsked func(acpAsked) any
}

// An acpTurn is what an editor shows of a turn, without what differs from run to
// run.
type acpTurn struct {
	Turn  string     `json:"turn"`
	Said  string     `json:"said,omitempty"`
	Tools []acpTool  `json:"tools,omitempty"`
	Asked []acpAsked `json:"asked,omitempty"`
	Mode  string     `json:"mode,omitempty"`
	Stop  string     `json:"stop"`
}

type acpTool struct {
	ID     string `json:"-"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
}

type acpAsked struct {
	Method  string            `json:"method"`
	Title   string            `json:"title,omitempty"`
	Options []string          `json:"options,omitempty"`
	ids     map[string]string // of the options by their kind
	first   string            // the first field of a form
}

// An acpMessage is any line of the protocol.
type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// editor starts the adapter for a folder.
func (l *lab) editor(t *testing.T, dir string, env []string) *editor {
	t.Helper()
	script, err := conformance.ACP()
	script = installed(t, script, err)
	node, err := conformance.Node()
	node = installed(t, node, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	e := &editor{t: t, dir: dir, cmd: exec.CommandContext(ctx, node, script)}
	e.cmd.Dir, e.cmd.Env, e.cmd.Stderr, e.cmd.WaitDelay = dir, env, &e.stderr, 5*time.Second
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.lines = bufio.NewScanner(output)
	e.lines.Buffer(nil, 16<<20)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = e.cmd.Wait() // it may have been waited for
		if t.Failed() {
			t.Logf("what the adapter said on standard error:\n%.5000s\nwhat wrap said:\n%s", &e.stderr, tail(filepath.Join(l.root, "wrap.log"), 50))
		}
	})
	return e
}

// talk holds the conversation and ends the adapter. between is called after each
// turn; it returns how many there were.
func (e *editor) talk(between func(turns int)) int {
	e.t.Helper()
	turns := 0
	turn := func(name string, lines ...string) {
		e.t.Helper()
		e.turn(name, lines...)
		turns++
		between(turns)
	}
	var hello struct {
		Version int `json:"protocolVersion"`
	}
	e.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}}, &hello)
	var made struct {
		Session string `json:"sessionId"`
		Modes   struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
	}
	e.call("session/new", map[string]any{"cwd": e.dir, "mcpServers": []any{}}, &made)
	e.session = made.Session
	e.tell(map[string]any{"protocol": hello.Version, "mode": made.Modes.Current})

	turn("hello", "@say Hello, editor.")
	e.choose("allow_once")
	turn("permission granted", "@say I write it.", `@tool Write {"file_path":"notes.txt","content":"one"}`, "@say Written.")
	e.choose("reject_once")
	turn("permission denied", `@tool Bash {"command":"touch denied.txt","description":"Make a file"}`, "@say Then not.")
	e.onAsked = func(asked acpAsked) any {
		return map[string]any{"action": "accept", "content": map[string]any{asked.first: "Green"}}
	}
	turn("question", `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Green","description":"calm"}],"multiSelect":false}]}`, "@say Thank you.")
	e.onAsked = nil
	e.mode("acceptEdits")
	turn("edits accepted", `@tool Write {"file_path":"more.txt","content":"two"}`, "@say Unasked.")
	e.mode("default")
	e.onText = func() {
		e.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": e.session}})
	}
	turn("cancelled in mid-stream", "@slow 500ms", "@say "+strings.Repeat("word ", 40))
	turn("goes on", "@say Still here.")
	e.mode("plan")
	e.choose("allow_once")
	turn("plan approved", "@tool ExitPlanMode {}", "@say Now I do it.")
	turn("the end", "@say Bye.")

	_ = e.in.Close() // that ends it
	for e.lines.Scan() {
		e.take(e.lines.Bytes())
	}
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("the adapter ended with %v", err)
	}
	e.tell(map[string]any{"ended": true})
	return turns
}

func (e *editor) tell(fact any) {
	line, err := json.Marshal(fact)
	if err != nil {
		e.t.Fatal(err)
	}
	e.facts = append(e.facts, strings.ReplaceAll(string(line), e.dir, "$PROJECT"))
}

func (e *editor) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.in.Write(append(line, '\n')); err != nil {
		e.t.Fatalf("writing to the adapter: %v", err)
	}
}

// call makes a request and deals with what comes before its answer.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	e.last++
	e.send(map[string]any{"id": e.last, "method": method, "params": params})
	for e.lines.Scan() {
		m := e.take(e.lines.Bytes())
		if m.Method != "" || string(m.ID) != fmt.Sprint(e.last) {
			continue
		}
		if m.Error != nil {
			e.t.Fatalf("%s: %s", method, m.Error)
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			e.t.Fatalf("%s was answered with %s: %v", method, m.Result, err)
		}
		return
	}
	e.t.Fatalf("the adapter ended before it answered %s: %v", method, e.lines.Err())
}

// mode changes the mode.
func (e *editor) mode(mode string) {
	e.t.Helper()
	e.call("session/set_mode", map[string]any{"sessionId": e.session, "modeId": mode}, new(struct{}))
}

// choose answers what is asked from now on with an option of a kind.
func (e *editor) choose(kind string) {
	e.onAsked = func(asked acpAsked) any {
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": asked.ids[kind]}}
	}
}

// turn says a prompt and tells what came of it.
func (e *editor) turn(name string, lines ...string) {
	e.t.Helper()
	e.seen = &acpTurn{Turn: name}
	interrupted := e.onText != nil
	var done struct {
		Stop string `json:"stopReason"`
	}
	e.call("session/prompt", map[string]any{"sessionId": e.session, "prompt": []any{map[string]any{"type": "text", "text": strings.Join(lines, "\n")}}}, &done)
	e.seen.Stop = done.Stop
	if interrupted {
		e.seen.Said = "" // more or less of it
	}
	e.tell(e.seen)
	e.seen, e.onText = nil, nil
}

// take takes in a line of the adapter's.
func (e *editor) take(line []byte) acpMessage {
	var m acpMessage
	if err := json.Unmarshal(line, &m); err != nil {
		e.t.Fatalf("the adapter said %q: %v", line, err)
	}
	switch {
	case m.Method == "session/update" && e.seen != nil:
		e.update(m.Params)
	case m.Method != "" && m.ID != nil:
		e.asked(m)
	}
	return m
}

// update notes what happens in the turn.
func (e *editor) update(params json.RawMessage) {
	var p struct {
		Update struct {
			Kind    string          `json:"sessionUpdate"`
			Content json.RawMessage `json:"content"`
			ID      string          `json:"toolCallId"`
			Name    string          `json:"name"`
			Tool    string          `json:"kind"`
			Status  string          `json:"status"`
			Mode    string          `json:"currentModeId"`
		} `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		e.t.Fatal(err)
	}
	u := p.Update
	switch u.Kind {
	case "agent_message_chunk":
		var content struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(u.Content, &content); err != nil {
			e.t.Fatal(err)
		}
		e.seen.Said += content.Text
		if e.onText != nil {
			e.onText()
			e.onText = nil
		}
	case "tool_call":
		e.seen.Tools = append(e.seen.Tools, acpTool{ID: u.ID, Name: u.Name, Kind: u.Tool, Status: u.Status})
	case "tool_call_update":
		for i := range e.seen.Tools {
			if e.seen.Tools[i].ID == u.ID && u.Status != "" {
				e.seen.Tools[i].Status = u.Status
			}
		}
	case "current_mode_update":
		e.seen.Mode = u.Mode
	}
}

// asked answers what the adapter asks.
func (e *editor) asked(m acpMessage) {
	var p struct {
		Message  string `json:"message"`
		ToolCall struct {
			Title string `json:"title"`
		} `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
		Schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		e.t.Fatal(err)
	}
	asked := acpAsked{Method: m.Method, Title: p.ToolCall.Title + p.Message, ids: map[string]string{}}
	for _, o := range p.Options {
		asked.Options = append(asked.Options, o.Kind)
		asked.ids[o.Kind] = o.ID
	}
	var fields []string
	for name := range p.Schema.Properties {
		fields = append(fields, name)
	}
	if len(fields) > 0 {
		asked.first = slices.Min(fields)
	}
	if e.seen == nil || e.onAsked == nil {
		e.t.Errorf("the adapter asks when nobody expects it: %s", m.Params)
		e.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32000, "message": "not now"}})
		return
	}
	e.seen.Asked = append(e.seen.Asked, asked)
	e.send(map[string]any{"id": m.ID, "result": e.onAsked(asked)})
}
