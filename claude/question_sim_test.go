package claude

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// quietly is a logger that says nothing, for tests in which functions fail.
func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }

// onEach runs a test on a simulated CLI of each version, inside a bubble.
func onEach(t *testing.T, f func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range claudetest.SimVersions() {
		bubble(t, version, func(t *testing.T) { f(t, version) })
	}
}

// withVersion returns options for a simulated CLI of a version.
func withVersion(t *testing.T, version string, o Options) *Options {
	t.Helper()
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	o.CLI = &CLI{Version: v}
	return &o
}

// complete sends a prompt and returns its turn and the results of its tools.
func complete(t *testing.T, s *Session, prompt string) (*Completion, []string) {
	t.Helper()
	c, err := s.Ask(t.Context(), Prompt{Text: prompt})
	if err != nil {
		t.Fatalf("asking: %v", err)
	}
	var results []string
	turn := int64(1)
	for e, err := range s.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Message()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) { //nolint:gochecksumtype // the others are of no interest
		case *wire.User:
			for _, b := range m.Message.Content.Blocks {
				if r, ok := b.(*wire.ToolResultBlock); ok && turn == c.Turn {
					results = append(results, resultText(r))
				}
			}
		case *wire.Result:
			if turn == c.Turn {
				return c, results
			}
			turn++
		}
	}
	t.Fatal("the session has ended")
	return nil, nil
}

// resultText returns what a tool returned.
func resultText(r *wire.ToolResultBlock) string {
	text := r.Content.Text
	for _, b := range r.Content.Blocks {
		if inner, ok := b.(*wire.TextBlock); ok {
			text += inner.Text
		}
	}
	if r.IsError {
		text = "error: " + text
	}
	return text
}

const touchOne = "@tool Bash {\"command\":\"touch one\"}\n@say Over."

func TestSimPermissions(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		var answer atomic.Value
		var asked atomic.Int32
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{Logger: quietly(), OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			asked.Add(1)
			return answer.Load().(func(*PermissionQuestion) (Reply, error))(q.(*PermissionQuestion))
		}}))
		for _, c := range []struct {
			name        string
			answer      func(*PermissionQuestion) (Reply, error)
			want        string
			interrupted bool
		}{
			{"allow", func(q *PermissionQuestion) (Reply, error) { return q.Allow(), nil }, "", false},
			{"deny", func(q *PermissionQuestion) (Reply, error) { return q.Deny("Not that."), nil }, "error: Not that.", false},
			{"panic", func(*PermissionQuestion) (Reply, error) { panic("oh no") }, "error: The question could not be answered: the question handler panicked: oh no", false},
			{"stop", func(q *PermissionQuestion) (Reply, error) { return q.DenyAndStop("Not that."), nil }, "error: ", true},
			{"always", func(q *PermissionQuestion) (Reply, error) { return q.AllowAlways(), nil }, "", false},
		} {
			answer.Store(c.answer)
			before := asked.Load()
			turn, results := complete(t, s, touchOne)
			if asked.Load() != before+1 {
				t.Errorf("%s: it was asked %d times", c.name, asked.Load()-before)
			}
			if len(results) != 1 || !strings.HasPrefix(results[0], c.want) || (c.want == "") == strings.HasPrefix(results[0], "error: ") {
				t.Errorf("%s: the tool's results are %q, want %q", c.name, results, c.want)
			}
			if over := turn.Answer == "Over."; over == c.interrupted {
				t.Errorf("%s: the turn ended with %q", c.name, turn.Answer)
			}
		}
		// The rule of the last answer holds.
		answer.Store(func(*PermissionQuestion) (Reply, error) { return nil, errors.New("it was asked again") })
		before := asked.Load()
		if _, results := complete(t, s, touchOne); len(results) != 1 || strings.HasPrefix(results[0], "error: ") || asked.Load() != before {
			t.Errorf("after AllowAlways: %q, asked %d times", results, asked.Load()-before)
		}
	})
}

func TestSimChoice(t *testing.T) {
	const prompt = `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":false}]}` + "\n@say Over."
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			c := q.(*ChoiceQuestion)
			if len(c.Questions) != 1 || c.Title() != "Which colour?" {
				return nil, errors.New("that is another question")
			}
			return c.Pick("Blue"), nil
		}}))
		turn, results := complete(t, s, prompt)
		if len(results) != 1 || !strings.Contains(results[0], "Blue") || turn.Answer != "Over." {
			t.Errorf("results %q, answer %q", results, turn.Answer)
		}
	})
}

func TestSimPlan(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		plans := make(chan *PlanQuestion, 2)
		var revised atomic.Bool
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			plan := q.(*PlanQuestion)
			plans <- plan
			if !revised.Swap(true) {
				return plan.KeepPlanning("Shorter, please."), nil
			}
			return plan.Approve(wire.PermissionModeAcceptEdits), nil
		}}))
		if err := s.SetPermissionMode(t.Context(), wire.PermissionModePlan); err != nil {
			t.Fatal(err)
		}
		_, results := complete(t, s, "@tool ExitPlanMode {}\n@next\n@tool ExitPlanMode {}\n@say Over.")
		if len(results) != 2 || results[0] != "error: Shorter, please." || strings.HasPrefix(results[1], "error: ") {
			t.Errorf("results %q", results)
		}
		if mode := s.Info().Mode; mode != wire.PermissionModeAcceptEdits {
			t.Errorf("the mode is %s", mode)
		}
		if len(plans) != 2 {
			t.Errorf("%d plans were asked about", len(plans))
		}
	})
}

func TestSimForm(t *testing.T) {
	const prompt = "@tool mcp__forms__ask {}\n" + `@form {"message":"Your name?","requested_schema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}` + "\n@say Over."
	onEach(t, func(t *testing.T, version string) {
		if version == "2.1.37" {
			return // it does not hand on forms
		}
		var forms []string
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			switch q := q.(type) {
			case *PermissionQuestion:
				return q.Allow(), nil
			case *FormQuestion:
				forms = append(forms, q.Title())
				return q.Accept(map[string]string{"name": "Ada"}), nil
			}
			return nil, errors.New("that is another question")
		}}))
		_, results := complete(t, s, prompt)
		if len(results) != 1 || !strings.Contains(results[0], "Ada") || len(forms) != 1 {
			t.Errorf("results %q, forms %q", results, forms)
		}
	})
}

// An interrupt takes the question back, and the session goes on.
func TestSimQuestionInterrupted(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{Pull: true}))
		turn := make(chan *Completion, 1)
		go func() {
			c, _ := s.Ask(t.Context(), Prompt{Text: touchOne})
			turn <- c
		}()
		var q Question
		for next, err := range s.Questions(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			q = next
			break
		}
		if phase, _ := s.State(); phase != fold.PhaseRequiresAction {
			t.Errorf("the session is %s", phase)
		}
		if _, err := s.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-q.Done()
		if err := s.Answer(t.Context(), q.ID(), q.(*PermissionQuestion).Allow()); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("a late answer: %v", err)
		}
		if c := <-turn; c == nil || !c.Interrupted {
			t.Errorf("the turn: %+v", c)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for q, err := range s.Questions(t.Context()) {
				if err == nil {
					err = s.Answer(t.Context(), q.ID(), q.(*PermissionQuestion).Allow())
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		}()
		if c, results := complete(t, s, touchOne); c.Answer != "Over." || len(results) != 1 {
			t.Errorf("the next turn: %q, %q", c.Answer, results)
		}
		<-done
	})
}

func TestSimHooks(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		var mu sync.Mutex
		var events []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, s)
		}
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{
			OnQuestion: func(_ context.Context, q Question) (Reply, error) {
				note("question")
				return q.(*PermissionQuestion).Allow(), nil
			},
			Hooks: Hooks{
				PreToolUse: On("Bash", func(_ context.Context, in *wire.PreToolUseInput) (*HookAnswer[wire.PreToolUseOutput], error) {
					note("PreToolUse " + in.ToolName)
					if strings.Contains(string(in.ToolInput), "forbidden") {
						return Output(&wire.PreToolUseOutput{PermissionDecision: wire.HookPermissionDecisionDeny, PermissionDecisionReason: "It is forbidden."}), nil
					}
					return Output(&wire.PreToolUseOutput{PermissionDecision: wire.HookPermissionDecisionAllow}), nil
				}),
				UserPromptSubmit: On("", func(context.Context, *wire.UserPromptSubmitInput) (*HookAnswer[wire.UserPromptSubmitOutput], error) {
					note("UserPromptSubmit")
					return nil, nil
				}),
				Any: map[wire.HookEvent][]AnyHook{wire.HookEventStop: {{Run: func(_ context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error) {
					note(in.HookEventName())
					return nil, nil
				}}}},
			},
		}))
		_, results := complete(t, s, touchOne)
		if len(results) != 1 || strings.HasPrefix(results[0], "error: ") {
			t.Errorf("results %q", results)
		}
		_, results = complete(t, s, "@tool Bash {\"command\":\"forbidden\"}\n@say Over.")
		if len(results) != 1 || !strings.HasPrefix(results[0], "error: ") || !strings.Contains(results[0], "It is forbidden.") {
			t.Errorf("results %q", results)
		}
		mu.Lock()
		defer mu.Unlock()
		const want = "UserPromptSubmit PreToolUse Bash Stop"
		if got := strings.Join(events, " "); got != want+" "+want {
			t.Errorf("events: %s", got)
		}
	})
}

// A PermissionRequest hook and the handler are asked the same; the first decides.
func TestSimPermissionRequestHook(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{
			OnQuestion: func(ctx context.Context, _ Question) (Reply, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			Hooks: Hooks{PermissionRequest: On("", func(context.Context, *wire.PermissionRequestInput) (*HookAnswer[wire.PermissionRequestOutput], error) {
				return Output(&wire.PermissionRequestOutput{Decision: &wire.Allow{UpdatedInput: json.RawMessage(`{"command":"touch one"}`)}}), nil
			})},
		}))
		c, results := complete(t, s, touchOne)
		if len(results) != 1 || strings.HasPrefix(results[0], "error: ") || c.Answer != "Over." {
			t.Errorf("results %q, answer %q", results, c.Answer)
		}
		synctest.Wait()
		if open := s.Pending(); len(open) != 0 {
			t.Errorf("%d questions are open", len(open))
		}
	})
}

func TestSimMCP(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		server := &mcpFake{}
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{
			MCPServers: map[string]MCPServer{"calc": server},
			OnQuestion: func(_ context.Context, q Question) (Reply, error) { return q.(*PermissionQuestion).Allow(), nil },
		}))
		_, results := complete(t, s, "@tool mcp__calc__add {}\n@say Over.")
		if len(results) != 1 || results[0] != "It is 3." {
			t.Errorf("results %q", results)
		}
		status, err := s.MCPStatus(t.Context())
		if err != nil || len(status) != 1 || status[0].Status != "connected" {
			t.Errorf("status: %v, %v", status, err)
		}
		other := &mcpFake{}
		answer, err := s.SetMCPServers(t.Context(), nil, map[string]MCPServer{"more": other})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Added) != 1 || len(answer.Errors) != 0 {
			t.Errorf("answer: %+v", answer)
		}
		_, results = complete(t, s, "@tool mcp__more__add {}\n@say Over.")
		if len(results) != 1 || results[0] != "It is 3." {
			t.Errorf("results %q", results)
		}
		if _, _, heard := other.counts(); strings.Count(heard, "tools/call") != 1 {
			t.Errorf("the server heard %s", heard) // the handshake more than once on older versions
		}
	})
}

// The control requests of a version are answered by it.
func TestSimControl(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{}))
		if err := s.SetModel(t.Context(), "claude-opus-4-1"); err != nil {
			t.Error(err)
		}
		if err := s.SetPermissionMode(t.Context(), wire.PermissionModeAcceptEdits); err != nil {
			t.Error(err)
		}
		complete(t, s, "@say Over.")
		if mode := s.Info().Mode; mode != wire.PermissionModeAcceptEdits {
			t.Errorf("the mode is %s", mode)
		}
		_, err := s.Settings(t.Context())
		if _, old := errors.AsType[*UnsupportedError](err); (version == "2.1.37") != old || !old && err != nil {
			t.Errorf("settings: %v", err)
		}
		_, err = s.RawRequest(t.Context(), json.RawMessage(`{"subtype":"invented"}`))
		switch version {
		case "2.1.37":
			if _, old := errors.AsType[*UnsupportedError](err); !old {
				t.Errorf("an unknown request: %v", err)
			}
		default:
			if _, refused := errors.AsType[*ControlError](err); !refused {
				t.Errorf("an unknown request: %v", err)
			}
		}
		if _, err := s.Reinitialize(t.Context()); err != nil {
			t.Errorf("initializing again: %v", err)
		}
	})
}
