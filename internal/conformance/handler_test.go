package conformance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// Verbatim is the body of an answer that is sent as it is, past all checks: for answers that package wire would not make.
type Verbatim string

// allow is for OnAsk: everything is allowed.
func allow(*wire.CanUseToolRequest) any { return &wire.Allow{} }

// deny is for OnAsk: everything is refused with this text.
func deny(message string) func(*wire.CanUseToolRequest) any {
	return func(*wire.CanUseToolRequest) any { return &wire.Deny{Message: message} }
}

// OnAsk says how questions for permission are answered: with a wire.PermissionResult, a [Verbatim] body, an error, or, if nil, not at all (see
// Answer). Without it they are refused. The function runs in a goroutine of its own.
func (s *Stage) OnAsk(f func(*wire.CanUseToolRequest) any) {
	s.On("can_use_tool", func(q *wire.ControlRequest) any { return f(q.Request.(*wire.CanUseToolRequest)) })
}

// OnHook says how hooks are answered: with anything that encodes to the answer's body, a [Verbatim] body, an error, or, if nil, not at all.
// Without it they get an empty body.
func (s *Stage) OnHook(f func(*wire.HookCallbackRequest) any) {
	s.On("hook_callback", func(q *wire.ControlRequest) any { return f(q.Request.(*wire.HookCallbackRequest)) })
}

// OnMCP says what MCP servers in this process answer: with the result of the JSON-RPC request, a *wire.JSONRPCError, a [Verbatim] body of the
// whole answer, an error for a control error, or, if nil, not at all. Notifications are answered without asking.
func (s *Stage) OnMCP(f func(server string, message *wire.JSONRPC) any) {
	s.On("mcp_message", func(q *wire.ControlRequest) any {
		r := q.Request.(*wire.MCPMessageRequest)
		reply := &wire.JSONRPC{Version: "2.0", ID: r.Message.ID}
		if r.Message.ID == nil {
			f(r.ServerName, &r.Message)
			reply.ID, reply.Result = json.RawMessage("0"), json.RawMessage("{}")
			return &wire.MCPMessageAnswer{MCPResponse: reply}
		}
		switch result := f(r.ServerName, &r.Message).(type) {
		case nil:
			return nil
		case error:
			return result
		case Verbatim:
			return result
		case *wire.JSONRPCError:
			reply.Error = result
		default:
			raw, err := json.Marshal(result)
			if err != nil {
				return err
			}
			reply.Result = raw
		}
		return &wire.MCPMessageAnswer{MCPResponse: reply}
	})
}

// On says how requests of a subtype are answered: with the answer's body, a [Verbatim] one, an error, or, if nil, not at all.
func (s *Stage) On(subtype string, f func(*wire.ControlRequest) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers == nil {
		s.handlers = map[string]func(*wire.ControlRequest) any{}
	}
	s.handlers[subtype] = f
}

// handlerFor returns a handler that answers the requests of a host's CLI as the scenario says.
func (s *Stage) handlerFor(h *host) claude.Handler {
	return func(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
		s.mu.Lock()
		f := s.handlers[q.Request.RequestSubtype()]
		s.mu.Unlock()
		if f == nil {
			if q.Request.RequestSubtype() == "hook_callback" {
				return wire.NewAnswer(q.RequestID, &wire.HookCallbackAnswer{})
			}
			return claude.Decline(ctx, q)
		}
		line, verbatim, err := answerLine(q, f(q))
		if err != nil || !verbatim {
			return line, err
		}
		return nil, h.transport.Write(ctx, line)
	}
}

// Answer answers a request of the CLI that was left open, with what handlers may return.
func (s *Stage) Answer(q *wire.ControlRequest, body any) {
	line, verbatim, err := answerLine(q, body)
	switch {
	case err != nil:
		line, err = wire.NewError(q.RequestID, err.Error(), "")
		if err == nil {
			err = s.Conn.Send(s.ctx, line)
		}
	case verbatim:
		err = s.Conn.Transport().Write(s.ctx, line)
	default:
		err = s.Conn.Send(s.ctx, line)
	}
	if err != nil {
		s.Fail("answering %s: %w", q.Request.RequestSubtype(), err)
	}
}

// answerLine makes an answer; verbatim tells that it must not be fitted.
func answerLine(q *wire.ControlRequest, body any) (line []byte, verbatim bool, err error) {
	switch body := body.(type) {
	case nil:
		return nil, false, nil
	case error:
		return nil, false, body
	case Verbatim:
		return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, q.RequestID, string(body)), true, nil
	case wire.PermissionResult:
		line, err = wire.NewPermission(q, body)
		return line, false, err
	case wire.Answer:
		line, err = wire.NewAnswer(q.RequestID, body)
		return line, false, err
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, false, err
		}
		return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, q.RequestID, raw), false, nil
	}
}
