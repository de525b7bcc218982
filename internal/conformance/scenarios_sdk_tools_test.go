package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudemcp"
	"github.com/switchboard-dev/switchboard/wire"
)

// toolTexts returns what the tools of a session have said so far, shortened.
func (k *sdkSession) toolTexts() []string {
	var all []string
	left := k.Info().Turns
	for e, err := range k.Events(k.stage.ctx, 0) {
		if err != nil {
			k.stage.Fail("reading: %w", err)
		}
		m, err := e.Message()
		if err != nil {
			continue
		}
		if u, ok := m.(*wire.User); ok {
			for _, b := range u.Message.Content.Blocks {
				if r, ok := b.(*wire.ToolResultBlock); ok {
					text := r.Content.Text
					for _, inner := range r.Content.Blocks {
						if t, ok := inner.(*wire.TextBlock); ok {
							text += t.Text
						}
					}
					if r.IsError {
						text = "error: " + text
					}
					all = append(all, text)
				}
			}
		}
		if e.Header.Is("result", "") {
			if left--; left == 0 {
				break
			}
		}
	}
	return all
}

// part returns a text if another begins with it or contains it, else the other's beginning.
func part(text, want string) string {
	if strings.Contains(text, want) {
		return want
	}
	return text[:min(len(text), 200)]
}

// fresh returns a new value of a type that need not be named.
func fresh[T any](*T) *T { return new(T) }

func sdkToolScenarios() []Scenario {
	type numbers struct{ A, B int }
	const (
		choice = `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":false}]}
			@say Chosen.`
		// One after the other: which of two calls of one message is asked about first is not told.
		plan = `@tool ExitPlanMode {"plan":"1. Do it."}
			@next
			@tool ExitPlanMode {"plan":"1. Do it well."}
			@say Planned.`
	)
	return []Scenario{
		{
			ID: "sdk.questions", Facts: "Session: deny, other input, always, a choice, a plan",
			Also: map[string]string{Oldest: hidesVersions}, Where: stdioOnly,
			Run: func(s *Stage) {
				var mu sync.Mutex
				var answers []func(claude.Question) claude.Reply
				k := sdkOpen(s, nil, nil, func(o *claude.Options) {
					o.OnQuestion = func(_ context.Context, q claude.Question) (claude.Reply, error) {
						mu.Lock()
						defer mu.Unlock()
						if len(answers) == 0 {
							return nil, errors.New("nobody expected that")
						}
						answer := answers[0]
						answers = answers[1:]
						return answer(q), nil
					}
				})
				permission := func(f func(*claude.PermissionQuestion) claude.Reply) func(claude.Question) claude.Reply {
					return func(q claude.Question) claude.Reply {
						if p, ok := q.(*claude.PermissionQuestion); ok {
							return f(p)
						}
						return nil
					}
				}
				answers = append(answers,
					permission(func(p *claude.PermissionQuestion) claude.Reply { return p.Deny("Not that one.") }),
					permission(func(p *claude.PermissionQuestion) claude.Reply {
						return p.AllowWith(json.RawMessage(`{"command":"echo otherwise","description":"Say"}`))
					}),
					permission((*claude.PermissionQuestion).AllowAlways),
					// The next of its kind is not asked about.
					func(q claude.Question) claude.Reply { return q.(*claude.ChoiceQuestion).Pick("Blue") },
					func(q claude.Question) claude.Reply { return q.(*claude.PlanQuestion).KeepPlanning("Better, please.") },
					func(q claude.Question) claude.Reply {
						return q.(*claude.PlanQuestion).Approve(wire.PermissionModeAcceptEdits)
					},
				)
				for range 4 {
					k.ask(sdkTouch("five", "Over."))
				}
				k.ask(choice)
				if err := k.SetPermissionMode(s.ctx, wire.PermissionModePlan); err != nil {
					s.Fail("setting the mode: %w", err)
				}
				k.ask(plan)
				texts := k.toolTexts()
				if len(texts) != 7 {
					s.Fail("the tools said %q", texts)
				}
				s.Note("%s", part(texts[0], "Not that one."))
				if s.Real() {
					s.Note("%s", part(texts[1], "otherwise"))
				} else {
					s.Note("otherwise") // it runs nothing
				}
				s.Note("always: %t %t", strings.HasPrefix(texts[2], "error"), strings.HasPrefix(texts[3], "error"))
				s.Note("%s", part(texts[4], "Blue"))
				s.Note("%s %t", part(texts[5], "Better, please."), strings.HasPrefix(texts[6], "error"))
				mu.Lock()
				s.Note("not asked: %d, mode %s", len(answers), k.Info().Mode)
				mu.Unlock()
				k.close()
			},
			Want: Same("Not that one.", "otherwise", "always: false false", "Blue", "Better, please. false", "not asked: 0, mode acceptEdits"),
		},
		{
			ID: "sdk.form", Facts: "Session: a form of an MCP server", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not hand on forms")),
			Run: func(s *Stage) {
				server := httptest.NewServer(&formServer{answers: make(chan string, 1)})
				defer func() {
					server.CloseClientConnections()
					server.Close()
				}()
				k := sdkOpen(s, nil, nil, func(o *claude.Options) {
					o.OnQuestion = func(_ context.Context, q claude.Question) (claude.Reply, error) {
						switch q := q.(type) {
						case *claude.PermissionQuestion:
							return q.Allow(), nil
						case *claude.FormQuestion:
							s.Note("%s asks %s", q.Server, q.Message)
							return q.Accept(map[string]string{"name": "Ada"}), nil
						}
						return nil, errors.New("that is another question")
					}
				})
				if _, err := k.SetMCPServers(s.ctx, map[string]wire.MCPServerConfig{"forms": {Type: "http", URL: server.URL}}, nil); err != nil {
					s.Fail("setting the servers: %w", err)
				}
				k.ask(`@tool mcp__forms__ask {}
					@form {"message":"Your name?","requested_schema":` + formSchema + `}
					@say Over.`)
				texts := k.toolTexts()
				s.Note("the tool has the name: %t", len(texts) == 1 && strings.Contains(texts[0], "Ada"))
				k.close()
			},
			Want: Same("forms asks Your name?", "the tool has the name: true"),
		},
		{
			ID: "sdk.hooks", Facts: "Session: hooks that change the input, block, fail and panic",
			Also: map[string]string{Oldest: hidesVersions}, Where: stdioOnly,
			Run: func(s *Stage) {
				var mu sync.Mutex
				var events []string
				k := sdkOpen(s, nil, nil, func(o *claude.Options) {
					sdkAllow(s)(o)
					o.Hooks.PreToolUse = claude.On("Bash", func(_ context.Context, in *wire.PreToolUseInput) (*claude.HookAnswer[wire.PreToolUseOutput], error) {
						switch input := string(in.ToolInput); {
						case strings.Contains(input, "edit"):
							return claude.Output(&wire.PreToolUseOutput{PermissionDecision: wire.HookPermissionDecisionAllow, UpdatedInput: json.RawMessage(`{"command":"echo edited","description":"Say"}`)}), nil
						case strings.Contains(input, "block"):
							return claude.Block[wire.PreToolUseOutput]("It is blocked."), nil
						case strings.Contains(input, "panic"):
							panic("oh no")
						}
						return nil, errors.New("the hook is broken")
					})
					o.Hooks.Any = map[wire.HookEvent][]claude.AnyHook{}
					for _, event := range []wire.HookEvent{wire.HookEventUserPromptSubmit, wire.HookEventPostToolUse, wire.HookEventStop} {
						o.Hooks.Any[event] = []claude.AnyHook{{Run: func(_ context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error) {
							mu.Lock()
							defer mu.Unlock()
							events = append(events, in.HookEventName())
							return nil, nil
						}}}
					}
				})
				for _, name := range []string{"edit", "block", "panic", "fail"} {
					k.ask(sdkTouch(name, "Over."))
				}
				texts := k.toolTexts()
				if len(texts) != 4 {
					s.Fail("the tools said %q", texts)
				}
				if s.Real() {
					s.Note("%s", part(texts[0], "edited"))
				} else {
					s.Note("edited") // it runs nothing
				}
				s.Note("%s", part(texts[1], "It is blocked."))
				s.Note("after a panic and an error it runs: %t %t", !strings.HasPrefix(texts[2], "error"), !strings.HasPrefix(texts[3], "error"))
				mu.Lock()
				count := map[string]int{}
				for _, event := range events {
					count[event]++
				}
				s.Note("%d prompts, %d tools, %d ends", count["UserPromptSubmit"], count["PostToolUse"], count["Stop"])
				mu.Unlock()
				k.close()
			},
			Want: Same("asked: permission", "asked: permission", "edited", "It is blocked.", "after a panic and an error it runs: true true", "4 prompts, 3 tools, 4 ends"),
		},
		{
			ID: "sdk.mcp", Facts: "Session: an MCP server in the program, failures, an interrupt",
			Also: map[string]string{Oldest + "/stdio": hidesVersions, Oldest + "/hybrid": "an answer to a server's message is lost there if it comes too early"},
			Run: func(s *Stage) {
				entered := make(chan string, 10)
				stopped := make(chan error, 1)
				server := claudemcp.NewServer("calc", "1.0.0", &claudemcp.Options{Logger: slog.New(slog.DiscardHandler)},
					claudemcp.NewTool("add", "Adds.", func(ctx context.Context, in numbers) (struct {
						Sum int `json:"sum"`
					}, error,
					) {
						entered <- claudemcp.ToolUseID(ctx)
						return struct {
							Sum int `json:"sum"`
						}{in.A + in.B}, nil
					}),
					claudemcp.NewTool("fail", "Fails.", func(context.Context, numbers) (string, error) { return "", errors.New("it is broken") }),
					claudemcp.NewTool("panic", "Panics.", func(context.Context, numbers) (string, error) { panic("oh no") }),
					claudemcp.NewTool("hang", "Hangs.", func(ctx context.Context, _ numbers) (string, error) {
						entered <- "hang"
						<-ctx.Done()
						stopped <- context.Cause(ctx)
						return "", context.Cause(ctx)
					}),
				)
				k := sdkOpen(s, nil, func(o *claude.Options) { o.AllowedTools = []string{"mcp__calc"} }, func(o *claude.Options) {
					o.MCPServers = map[string]claude.MCPServer{"calc": server}
				})
				k.ask(`@tool mcp__calc__add {"A":1,"B":2}
					@say Over.`)
				id := <-entered
				k.ask(`@tool mcp__calc__fail {"A":1,"B":2}
					@say Over.`)
				k.ask(`@tool mcp__calc__panic {"A":1,"B":2}
					@say Over.`)
				texts := k.toolTexts()
				if len(texts) != 3 {
					s.Fail("the tools said %q", texts)
				}
				s.Note("%s, its call is known: %t", texts[0], id != "")
				s.Note("%s; %s", part(texts[1], "it is broken"), part(texts[2], "panic: oh no"))
				if _, err := k.Send(s.ctx, claude.TextPrompt(`@tool mcp__calc__hang {"A":1,"B":2}
					@say Never.`)); err != nil {
					s.Fail("sending: %w", err)
				}
				<-entered
				_, err := k.Interrupt(s.ctx)
				<-stopped
				s.Note("interrupted: %v", err)
				c, _ := k.ask("@say Still here.")
				s.Note("%s", c.Answer)
				k.close()
			},
			Want: Same(`{"sum":3}, its call is known: true`, "it is broken; panic: oh no", "interrupted: <nil>", "Still here."),
		},
		{
			ID: "sdk.mcp-together", Facts: "Session: two calls of tools in the program at the same time", Where: both(stdioOnly, realOnly("the simulated CLI calls one tool after the other")),
			Run: func(s *Stage) {
				both := make(chan struct{})
				meet := claudemcp.NewTool("meet", "Waits for another call.", func(ctx context.Context, in numbers) (string, error) {
					select { // whoever comes first waits for the other
					case both <- struct{}{}:
						return "met", nil
					case <-both:
						return "met", nil
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				})
				meet.Annotations = fresh(meet.Annotations)
				meet.Annotations.ReadOnlyHint = true // else it waits for the other call to end
				k := sdkOpen(s, nil, func(o *claude.Options) { o.AllowedTools = []string{"mcp__calc"} }, func(o *claude.Options) {
					o.MCPServers = map[string]claude.MCPServer{"calc": claudemcp.NewServer("calc", "1.0.0", nil, meet)}
				})
				k.ask(`@tool mcp__calc__meet {"A":1,"B":2}
					@tool mcp__calc__meet {"A":3,"B":4}
					@say Over.`)
				s.Note("%s", strings.Join(k.toolTexts(), " "))
				k.close()
			},
			Want: Same("met met"),
		},
	}
}
