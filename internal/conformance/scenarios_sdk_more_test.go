package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudemcp"
)

// sdkMoreScenarios are about what a session does beside the usual.
func sdkMoreScenarios() []Scenario {
	return []Scenario{
		{
			ID: "sdk.environment", Facts: "Session: variables of a running CLI; seed 002: environment live update",
			Where: both(stdioOnly, realOnly("the simulated CLI runs no commands")),
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, func(o *claude.Options) { o.AllowedTools = []string{"Bash"} }, nil)
				err := k.UpdateEnvironment(s.ctx, map[string]string{"CONFORMANCE": "one"})
				if unsupported, ok := errors.AsType[*claude.UnsupportedError](err); ok {
					s.Note("up to %s", unsupported.Until)
				} else if err != nil {
					s.Fail("changing the environment: %w", err)
				}
				k.ask(`@tool Bash {"command":"echo \"it is $CONFORMANCE\"","description":"Look"}
					@say Done.`)
				s.Note("%s", strings.Join(k.toolTexts(), "; "))
				k.close()
			},
			Want: Per{"2.1.37": {"it is one"}, "2.1.325": {"up to 2.1.173", "it is"}},
		},
		{
			ID: "sdk.permission_tool", Facts: "Session: a permission tool in the program; seed 003: PermissionPromptTool",
			Also:  map[string]string{LastDialing: "it is the first that knows of such a tool"},
			Where: both(stdioOnly, realOnly("the simulated CLI asks its controller alone")),
			Run: func(s *Stage) {
				var mu sync.Mutex
				var asked []string
				k, err := sdkTry(s, nil, func(o *claude.Options) { o.PermissionPromptTool = "mcp__desk__ask" }, func(o *claude.Options) {
					o.MCPServers = map[string]claude.MCPServer{"desk": claudemcp.NewServer("desk", "1.0.0", nil, claudemcp.NewPermissionTool("ask"))}
					o.OnQuestion = func(_ context.Context, q claude.Question) (claude.Reply, error) {
						p, ok := q.(*claude.PermissionQuestion)
						if !ok {
							return nil, errors.New("that is another question")
						}
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, p.Tool)
						if strings.Contains(string(p.Input), "never") {
							return p.Deny("Not that one."), nil
						}
						return p.Allow(), nil
					}
				})
				if unsupported, ok := errors.AsType[*claude.UnsupportedError](err); ok {
					s.Note("since %s", unsupported.Since)
					return
				} else if err != nil {
					s.Fail("starting a session: %w", err)
				}
				k.ask(sdkTouch("never", "Over."))
				k.ask(sdkTouch("now", "Over."))
				texts := k.toolTexts()
				if len(texts) != 2 {
					s.Fail("the tools said %q", texts)
				}
				s.Note("%s; it ran: %t", part(texts[0], "Not that one."), !strings.HasPrefix(texts[1], "error"))
				mu.Lock()
				s.Note("asked: %s", strings.Join(asked, " "))
				mu.Unlock()
				k.close()
			},
			Want: Per{"2.1.37": {"since 2.1.120"}, "2.1.120": {"Not that one.; it ran: true", "asked: Bash Bash"}},
		},
	}
}
