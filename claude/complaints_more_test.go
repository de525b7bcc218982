package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// What was said cannot be had: there is no list of conversations, no way to read
// one, and nothing but the CLI's own disk to keep them on.
func TestComplaint11History(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		home, dir := t.TempDir(), t.TempDir()
		s := simSession(t, version, claudetest.SimOptions{Dir: dir, Env: []string{"HOME=" + home}}, nil)
		asks(t, s, "@say The answer.")
		id := s.Info().Conversation
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		where := ConversationOptions{ConfigDir: filepath.Join(home, ".claude"), Dir: dir}
		var found []string
		for c, err := range ListConversations(t.Context(), &ListOptions{ConversationOptions: where}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, c.ID+" "+c.Summary())
		}
		if !slices.Equal(found, []string{id + " @say The answer."}) {
			t.Errorf("listed: %q, want %s", found, id)
		}
		var said []string
		for m, err := range ReadConversation(t.Context(), id, &ReadOptions{ConversationOptions: where}) {
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(m.Raw))
		}
		if len(said) != 2 || !strings.Contains(said[0], "@say The answer.") || !strings.Contains(said[1], `"The answer."`) {
			t.Errorf("read: %q", said)
		}
		if version == "2.1.37" {
			return // it has no mirror
		}
		store := &MemoryStore{}
		if err := ImportConversation(t.Context(), id, store, &ImportOptions{ConversationOptions: where}); err != nil {
			t.Fatal(err)
		}
		said = nil
		for m, err := range ReadConversation(t.Context(), id, &ReadOptions{ConversationOptions: ConversationOptions{Store: store, Dir: dir}}) {
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, m.UUID)
		}
		if len(said) != 2 {
			t.Errorf("from the store: %q", said)
		}
	})
}

const colourPrompt = `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":false}]}` + "\n@say Over."

// A question to the user answers itself with nothing, and it is not said how it
// could be answered.
func TestComplaint12ChoiceIsAnswered(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			c, ok := q.(*ChoiceQuestion)
			if !ok {
				return nil, errors.New("that is another question")
			}
			return c.Pick("Blue"), nil
		}}))
		asks(t, s, colourPrompt)
		if got := toolResults(t, s); len(got) != 1 || !strings.Contains(got[0], "Blue") || strings.Contains(got[0], "Red") {
			t.Errorf("the model is told %q", got)
		}
		// Without anybody, the model learns that nobody has answered.
		s = simSession(t, version, claudetest.SimOptions{}, withVersion(t, version, Options{}))
		asks(t, s, colourPrompt)
		if got := toolResults(t, s); len(got) != 1 || strings.Contains(got[0], "answered your questions") || strings.TrimSpace(got[0]) == "" {
			t.Errorf("the model is told %q", got)
		}
	})
}

// It is not clear which figures are of a turn and which are of the session, and what
// is told with every part of a message is counted as often.
func TestComplaint13CostsAddUp(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		sum, input := 0.0, int64(0)
		for i := range 3 {
			// Three blocks are three lines of one message, each with its usage.
			c := asks(t, s, fmt.Sprintf("@usage in=%d out=10\n@think Hm.\n@say One.\n@say Two.", 1000*(i+1)))
			if c.Costs.CostUSD <= 0 {
				t.Errorf("turn %d cost %v", i, c.Costs)
			}
			turn := int64(0)
			for _, m := range c.Costs.Models {
				turn += m.Input
			}
			if turn != int64(1000*(i+1)) {
				t.Errorf("turn %d used %d tokens", i, turn)
			}
			sum, input = sum+c.Costs.CostUSD, input+turn
			if total := c.Result.Cost(); math.Abs(total-sum) > 1e-6 {
				t.Errorf("the turns cost %f, the CLI says %f", sum, total)
			}
		}
		total := int64(0)
		for _, m := range s.Costs().Models {
			total += m.Input
		}
		if total != input || math.Abs(s.Costs().CostUSD-sum) > 1e-6 {
			t.Errorf("the session: %+v, the turns: %f, %d", s.Costs(), sum, input)
		}
	})
}

// Hooks are missing or never called, and nobody is told.
func TestComplaint14HooksFire(t *testing.T) {
	events := []wire.HookEvent{
		"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "SessionStart", "PermissionRequest",
	}
	onEach(t, func(t *testing.T, version string) {
		var mu sync.Mutex
		fired := map[wire.HookEvent]int{}
		hooks := map[wire.HookEvent][]AnyHook{}
		for _, event := range events {
			hooks[event] = []AnyHook{{Run: func(_ context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error) {
				mu.Lock()
				defer mu.Unlock()
				fired[wire.HookEvent(in.HookEventName())]++
				return nil, nil
			}}}
		}
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{Hooks: Hooks{Any: hooks}, OnQuestion: allowing(new(atomic.Int32))}))
		asks(t, s, touchOne)
		asks(t, s, `@tool Task {"description":"look","prompt":"@say Found it.","subagent_type":"general-purpose","run_in_background":false}`+"\n@say Over.")
		asks(t, s, "/compact")
		mu.Lock()
		defer mu.Unlock()
		for _, event := range events {
			if fired[event] == 0 {
				t.Errorf("%s was never called; called were %v", event, fired)
			}
		}
	})
	// What would never be called is refused.
	_, err := NewSession(t.Context(), newFakeTransport(), withVersion(t, "2.1.37", Options{Hooks: Hooks{
		MessageDisplay: On("", func(context.Context, *wire.MessageDisplayInput) (*HookAnswer[wire.MessageDisplayOutput], error) {
			return nil, nil
		}),
	}}))
	if _, ok := errors.AsType[*UnsupportedError](err); !ok {
		t.Errorf("a hook that 2.1.37 does not have: %v", err)
	}
}

// A netTransport carries lines over any connection.
type netTransport struct {
	StateVar
	net.Conn
	lines *wire.LineReader
	mu    sync.Mutex
}

func (n *netTransport) Read(context.Context) ([]byte, error) {
	line, err := n.lines.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, ErrClosed
	}
	return bytes.Clone(line), err
}

func (n *netTransport) Write(_ context.Context, line []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := n.Conn.Write(append(bytes.Clone(line), '\n'))
	return err
}

func (n *netTransport) CloseInput() error                { return n.Conn.(*net.TCPConn).CloseWrite() }
func (n *netTransport) State() (string, <-chan struct{}) { return n.Get() }

// The SDK starts a process on this machine and can do nothing else: there is no
// way to put a network between it and the CLI.
func TestComplaint15AnyTransport(t *testing.T) {
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan int, 1)
			quirks, err := claudetest.QuirksFor(version)
			if err != nil {
				t.Fatal(err)
			}
			home, dir := t.TempDir(), t.TempDir()
			go func() { // joined by the end of ended
				conn, err := listener.Accept()
				if err != nil {
					ended <- -1
					return
				}
				code := claudetest.RunSim(context.Background(), &claudetest.SimOptions{Quirks: &quirks, Args: askingArgs(), Env: []string{"HOME=" + home}, Dir: dir}, conn, conn)
				_ = conn.Close()
				ended <- code
			}()
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			n := &netTransport{Conn: conn, lines: wire.NewLineReader(conn, 0)}
			n.Set(StateConnected)
			s, err := NewSession(soon(t), n, withVersion(t, version, Options{OnQuestion: allowing(&asked)}))
			if err != nil {
				t.Fatal(err)
			}
			if c, err := s.Ask(soon(t), Prompt{Text: touchOne}); err != nil || c.Answer != "Over." || asked.Load() != 1 {
				t.Errorf("%+v, %v, asked %d times", c, err, asked.Load())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
			<-ended
		})
	}
}

// What is long is an argument, and the operating system does not start a process
// with it: 32 KiB for all of them on Windows, 128 KiB for one on Linux.
func TestComplaint16ArgumentsStayShort(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	settings, err := json.Marshal(map[string]any{"env": map[string]string{"LONG": long}})
	if err != nil {
		t.Fatal(err)
	}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"x": map[string]any{"command": "x", "args": []string{long}}}})
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{
		SystemPrompt: long, AppendSystemPrompt: long, Settings: settings, MCPConfig: servers, TempDir: t.TempDir(),
		Agents:     map[string]wire.AgentDefinition{"a": {Description: long, Prompt: long}},
		JSONSchema: json.RawMessage(`{"type":"object","description":"` + long + `"}`), MaxTurns: 3,
	}
	for _, v := range []int{37, 120, 325} {
		copied := *o
		if v == 37 {
			copied.MaxBudgetUSD = 1
		}
		what := tellSession(t, &copied, version(v))
		all := 0
		for _, arg := range what.Args {
			all += len(arg) + 1
		}
		if all > 8<<10 {
			t.Errorf("%d: %d bytes of arguments", v, all)
		}
		first, err := copied.initializeRequest(version(v), nil)
		if err != nil {
			t.Fatal(err)
		}
		line, err := wire.NewRequest("1", first)
		if err != nil || bytes.Count(line, []byte(long)) < 4 {
			t.Errorf("%d: the first request has %d bytes, %v", v, len(line), err)
		}
	}
	// A prompt is none either.
	s := roughSession(t, "2.1.325", nil)
	if c, err := s.Ask(soon(t), Prompt{Text: long + "\n@say Read."}); err != nil || c.Answer != "Read." {
		t.Errorf("%+v, %v", c, err)
	}
}

// A program that a CLI has started cannot start one itself: it inherits the
// variable that says that it runs inside of one.
func TestComplaint17NestedSessions(t *testing.T) {
	for _, kv := range [][2]string{{"CLAUDECODE", "1"}, {"CLAUDE_CODE_ENTRYPOINT", "cli"}, {"CLAUDE_CODE_SSE_PORT", "1"}} {
		t.Setenv(kv[0], kv[1])
	}
	t.Setenv("MINE", "kept")
	cli, env := fakeCLI(t, "tell", "", version(325))
	p, err := (&Options{CLI: cli, ExtraEnv: env}).startProcess(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	var what told
	if err := json.Unmarshal([]byte(readLine(t, p)), &what); err != nil {
		t.Fatal(err)
	}
	for _, kv := range what.Env {
		if strings.HasPrefix(kv, "CLAUDECODE=") || strings.HasPrefix(kv, "CLAUDE_CODE_SSE_PORT=") || kv == "CLAUDE_CODE_ENTRYPOINT=cli" {
			t.Errorf("the CLI inherits %s", kv)
		}
	}
	if !slices.Contains(what.Env, "MINE=kept") {
		t.Error("the CLI does not inherit the rest")
	}
}

// Tools inside the program run one after the other, and are given up after a
// minute whatever is set.
func TestComplaint18ToolsTakeTheirTime(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var inside sync.WaitGroup
		inside.Add(2)
		server := &mcpFake{receive: func(ctx context.Context, m *wire.JSONRPC) (json.RawMessage, error) {
			if m.Method != "tools/call" {
				return shakeHands(m)
			}
			inside.Done()
			inside.Wait() // for the other one
			select {
			case <-time.After(2 * time.Hour):
				return shakeHands(m)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}
		f, _, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"calc": server}})
		begin := time.Now()
		f.says("r1", "calc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}`)
		f.says("r2", "calc", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add"}}`)
		synctest.Wait()
		<-time.After(2*time.Hour + time.Second)
		for range 2 {
			if line := f.next(t); !strings.Contains(line, "It is 3.") {
				t.Errorf("after %s: %s", time.Since(begin), line)
			}
		}
	})
}

// What a sub-agent says and asks cannot be told from what the conversation does, or
// is not there at all.
func TestComplaint19SubagentsAreVisible(t *testing.T) {
	prompt := `@tool Task {"description":"look","prompt":"@say I look.\n@tool Bash {\"command\":\"touch two\"}\n@say Found it.","subagent_type":"general-purpose","run_in_background":false}` + "\n@say Over."
	onEach(t, func(t *testing.T, version string) {
		var agents []string
		o := withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			agents = append(agents, q.AgentID())
			return q.(*PermissionQuestion).Allow(), nil
		}})
		args, forwards := askingArgs(), version == "2.1.325"
		if forwards {
			args = append(args, "--forward-subagent-text")
		}
		s := simSession(t, version, claudetest.SimOptions{Args: args}, o)
		if c := asks(t, s, prompt); c.Answer != "Over." {
			t.Errorf("the answer is %q", c.Answer)
		}
		if len(agents) != 1 || agents[0] == "" {
			t.Errorf("asked by %q, want one sub-agent", agents)
		}
		call, said, calls := "", false, false
		for _, l := range soFar(t, s, 0) {
			if !l.Header.Is("assistant", "") {
				continue
			}
			m, err := l.Message()
			if err != nil {
				t.Fatal(err)
			}
			of := string(l.Header.ParentToolUseID)
			for _, b := range m.(*wire.Assistant).Message.Content {
				switch b := b.(type) { //nolint:gochecksumtype // the others are of no interest
				case *wire.ToolUseBlock:
					if of == "" {
						call = b.ID
					}
					calls = calls || b.Name == "Bash" && of == call && call != ""
				case *wire.TextBlock:
					said = said || b.Text == "I look." && of == call && call != ""
				}
			}
		}
		if !calls || said != forwards {
			t.Errorf("the agent's calls are seen: %v, its words: %v", calls, said)
		}
	})
}

// Structured output comes or does not come: a model that answers in plain text is
// asked for ever, what does not fit is taken for success.
func TestComplaint20StructuredOutput(t *testing.T) {
	type answer struct {
		N int `json:"n"`
	}
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := &Options{CLI: simProgram(t, version), Env: simEnviron(t), MaxTurns: 4, MaxBudgetUSD: 100}
			got, c, err := QueryAs[answer](soon(t), "@tool StructuredOutput {\"n\":\"five\"}\n@next\n@tool StructuredOutput {\"n\":6}\n@say That is all.", o)
			if err != nil || got.N != 6 || c == nil || c.Err() != nil {
				t.Errorf("%+v, %+v, %v", got, c, err)
			}
			_, _, err = QueryAs[answer](soon(t), "@say Plain.", o)
			_, mismatch := errors.AsType[*MismatchError](err)
			_, limit := errors.AsType[*ResultError](err)
			if !mismatch && !limit {
				t.Errorf("plain text: %v", err)
			}
		})
	}
}
