package claudemcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
)

// The permission tool makes a question of what it is called with.
func TestPermissionTool(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			var asked []string
			session := start(t, version, NewServer("calc", "1.0.0", nil, NewPermissionTool("ask")), func(o *claude.Options) {
				o.OnQuestion = func(_ context.Context, q claude.Question) (claude.Reply, error) {
					p, ok := q.(*claude.PermissionQuestion)
					if !ok {
						return q.Decline("Another question."), nil
					}
					asked = append(asked, p.Tool+" "+string(p.Input)) // one after the other
					switch p.Tool {
					case "Bash":
						return p.Deny("Not that."), nil
					case "Write":
						return p.AllowWith(json.RawMessage(`{"file_path":"other"}`)), nil
					}
					return p.Allow(), nil
				}
			})
			texts := turn(t, session, `@tool mcp__calc__ask {"tool_name":"Bash","input":{"command":"make"},"tool_use_id":"toolu_9"}
@next
@tool mcp__calc__ask {"tool_name":"Write","input":{"file_path":"one"}}
@next
@tool mcp__calc__ask {"tool_name":"Write","input":"no object"}
@say Over.`)
			if len(texts) != 3 || !strings.Contains(texts[0], `{"behavior":"deny","message":"Not that.","toolUseID":"toolu_9"}`) ||
				!strings.Contains(texts[1], `{"behavior":"allow","updatedInput":{"file_path":"other"}`) || strings.Contains(texts[2], "allow") {
				t.Errorf("the tool said %q", texts)
			}
			if got := strings.Join(asked, "\n"); !strings.Contains(got, `Bash {"command":"make"}`) || !strings.Contains(got, `Write {"file_path":"one"}`) || strings.Contains(got, "no object") && strings.Contains(got, "Write no object") {
				t.Errorf("asked about\n%s", got)
			}
		})
	}
}
