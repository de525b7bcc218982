package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/wire"
)

// Each request has a goroutine of its own, and yet the order is that of the lines.
func TestPendingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		const many = 200
		for i := range many {
			f.asks(fmt.Sprintf("q%03d", i), askBash)
		}
		synctest.Wait()
		open := s.Pending()
		if len(open) != many {
			t.Fatalf("%d questions are open, want %d", len(open), many)
		}
		for i, q := range open {
			if want := fmt.Sprintf("q%03d", i); q.ID() != want {
				t.Fatalf("the question in place %d is %s, want %s", i, q.ID(), want)
			}
		}
	})
}

// A handler that ends its goroutine, as t.FailNow does, refuses.
func TestQuestionHandlerExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, _ := askingSession(t, "2.1.325", &Options{OnQuestion: func(context.Context, Question) (Reply, error) {
			runtime.Goexit()
			return nil, nil
		}})
		f.asks("bash", askBash)
		wantPart(t, answerBody(t, f.next(t), "bash"), `"behavior":"deny"`)
	})
}

// So does a hook fail, and an MCP server.
func TestCallbacksExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &mcpFake{receive: func(context.Context, *wire.JSONRPC) (json.RawMessage, error) {
			runtime.Goexit()
			return nil, nil
		}}
		f, _, _ := askingSession(t, "2.1.325", &Options{
			MCPServers: map[string]MCPServer{"a": server},
			Hooks: Hooks{Stop: On("", func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
				runtime.Goexit()
				return nil, nil
			})},
		})
		f.callsHook("hook", "Stop-0", "Stop")
		wantPart(t, answerBody(t, f.next(t), "hook"), "error: hook Stop-0")
		f.says("call", "a", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`)
		wantPart(t, f.next(t), `"error":{"code":-32603`)
	})
}

// An answer that was sent past the session settles the question as well: there
// must not be a second.
func TestQuestionAnsweredOnConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, asked := handed()
		f, s, _ := askingSession(t, "2.1.325", &Options{OnQuestion: handler})
		f.asks("bash", askBash)
		h := <-asked
		line, err := wire.NewPermission(h.q.Ask(), &wire.Deny{Message: "No."})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Conn().Send(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "bash", bashDenied)
		synctest.Wait()
		if open := s.Pending(); len(open) != 0 {
			t.Errorf("%d questions are open", len(open))
		}
		if err := s.Answer(t.Context(), "bash", h.q.(*PermissionQuestion).Allow()); !errors.Is(err, ErrSettled) {
			t.Errorf("a second answer: %v, want ErrSettled", err)
		}
		if h.ctx.Err() == nil {
			t.Error("the handler's context has not ended")
		}
		f.quiet(t)
	})
}

// Updates that are nothing, or that would hide a mode, are refused and break
// nothing.
func TestUpdatesThatAreNone(t *testing.T) {
	hidden := new(wire.UnknownUpdate)
	if err := json.Unmarshal([]byte(`{"type":"setMode","mode":"bypassPermissions","destination":"session"}`), hidden); err != nil {
		t.Fatal(err)
	}
	for name, update := range map[string]wire.PermissionUpdate{
		"nil": nil, "no mode": (*wire.SetMode)(nil), "no rules": (*wire.AddRules)(nil), "hidden": hidden,
	} {
		bubble(t, name, func(t *testing.T) {
			f, _, _ := askingSession(t, "2.1.325", &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
				return q.(*PermissionQuestion).AllowUpdating(update), nil
			}})
			f.asks("bash", askBash)
			if got := answerBody(t, f.next(t), "bash"); !strings.Contains(got, `"behavior":"deny"`) {
				t.Errorf("answered %s", got)
			}
		})
	}
}
