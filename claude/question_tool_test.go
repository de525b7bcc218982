package claude

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/wire"
)

// permissionTool is an MCP server whose one tool asks for permission.
func permissionTool() *mcpFake {
	return &mcpFake{receive: func(ctx context.Context, m *wire.JSONRPC) (json.RawMessage, error) {
		if m.Method != "tools/call" {
			return shakeHands(m)
		}
		var params struct {
			Arguments PermissionCall `json:"arguments"`
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			return nil, err
		}
		answer, err := AskPermission(ctx, params.Arguments)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(string(answer))
		if err != nil {
			return nil, err
		}
		return rpc(m, `{"content":[{"type":"text","text":`+string(text)+`}]}`), nil
	}}
}

const callForBash = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"tool_name":"Bash","input":{"command":"touch one","n":12345678901234567890},"tool_use_id":"toolu_1"}}}`

// A call of the permission tool is a question like any other, and its answer is the
// tool's result.
func TestAskPermission(t *testing.T) {
	for name, tt := range map[string]struct {
		reply func(*PermissionQuestion) Reply
		want  string
	}{
		"allow":       {(*PermissionQuestion).Allow, `{"behavior":"allow","updatedInput":{"command":"touch one","n":12345678901234567890},"toolUseID":"toolu_1"}`},
		"other input": {func(q *PermissionQuestion) Reply { return q.AllowWith(json.RawMessage(`{"command":"ls"}`)) }, `{"behavior":"allow","updatedInput":{"command":"ls"},"toolUseID":"toolu_1"}`},
		"deny":        {func(q *PermissionQuestion) Reply { return q.Deny("Not that.") }, `{"behavior":"deny","message":"Not that.","toolUseID":"toolu_1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s, _ := askingSession(t, "2.1.120", &Options{Pull: true, MCPServers: map[string]MCPServer{"desk": permissionTool()}})
				f.says("m1", "desk", callForBash)
				synctest.Wait()
				pending := s.Pending()
				if len(pending) != 1 {
					t.Fatalf("%d questions are open", len(pending))
				}
				q, ok := pending[0].(*PermissionQuestion)
				if !ok || q.Tool != "Bash" || q.ToolUseID() != "toolu_1" || q.Recovered() {
					t.Fatalf("the question is %+v", pending[0])
				}
				if err := s.Answer(t.Context(), q.ID(), tt.reply(q)); err != nil {
					t.Fatal(err)
				}
				var answer struct {
					Response struct {
						Result struct{ Content []struct{ Text string } }
					} `json:"mcp_response"`
				}
				if err := json.Unmarshal([]byte(answerBody(t, f.next(t), "m1")), &answer); err != nil {
					t.Fatal(err)
				}
				if got := answer.Response.Result.Content[0].Text; got != tt.want {
					t.Errorf("the tool answers\n%s, want\n%s", got, tt.want)
				}
				if err := s.Answer(t.Context(), q.ID(), q.Allow()); !errors.Is(err, ErrSettled) {
					t.Errorf("a second answer: %v", err)
				}
			})
		})
	}
}

// Without consent there is none: no handler, a call that is taken back, the end of the
// session, a call that cannot be read.
func TestAskPermissionWithoutConsent(t *testing.T) {
	t.Run("no handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, _, _ := askingSession(t, "2.1.120", &Options{MCPServers: map[string]MCPServer{"desk": permissionTool()}})
			f.says("m1", "desk", callForBash)
			if body := answerBody(t, f.next(t), "m1"); !strings.Contains(body, `\"behavior\":\"deny\"`) {
				t.Errorf("answered %s", body)
			}
		})
	})
	t.Run("taken back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true, MCPServers: map[string]MCPServer{"desk": permissionTool()}})
			f.says("m1", "desk", callForBash)
			synctest.Wait()
			q := s.Pending()[0]
			f.says("m2", "desk", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
			<-q.Done()
			if !errors.Is(q.Err(), ErrWithdrawn) || len(s.Pending()) != 0 {
				t.Errorf("the question: %v", q.Err())
			}
			var bodies string
			for range 2 {
				bodies += f.next(t)
			}
			if strings.Contains(bodies, "allow") {
				t.Errorf("answered %s", bodies)
			}
		})
	})
	t.Run("closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true, MCPServers: map[string]MCPServer{"desk": permissionTool()}})
			f.says("m1", "desk", callForBash)
			synctest.Wait()
			q := s.Pending()[0]
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := q.Err(); !errors.Is(err, ErrWithdrawn) {
				t.Errorf("the question: %v", err)
			}
		})
	})
	if _, err := AskPermission(t.Context(), PermissionCall{Tool: "Bash", Input: json.RawMessage(`{}`)}); !errors.Is(err, ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
	ctx := context.WithValue(t.Context(), routerKey{}, &requestRouter{})
	for _, call := range []PermissionCall{{}, {Tool: "Bash"}, {Tool: "Bash", Input: json.RawMessage(`[]`)}, {Tool: "Bash", Input: json.RawMessage(`{"a":`)}, {Input: json.RawMessage(`{}`)}} {
		if _, err := AskPermission(ctx, call); err == nil || errors.Is(err, ErrNoSession) {
			t.Errorf("%+v: %v", call, err)
		}
	}
}

// A session whose permissions an own tool asks about is not warned.
func TestWarningsOfOwnTool(t *testing.T) {
	o := &Options{Pull: true, PermissionPromptTool: "mcp__desk__ask", MCPServers: map[string]MCPServer{"desk": permissionTool()}}
	if w := o.Warnings(); len(w) != 0 {
		t.Errorf("warned %q", w)
	}
	o.PermissionPromptTool = "mcp__other__ask"
	if w := o.Warnings(); len(w) != 1 {
		t.Errorf("warned %q", w)
	}
}
