package fold

import (
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// A question of the sandbox belongs to no turn: it stays when a turn ends or is
// interrupted, or when the CLI lists what it waits for.
func TestSandboxQuestions(t *testing.T) {
	const (
		request   = `{"type":"control_request","request_id":"sandbox-x-1","request":{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","input":{"host":"example.com","port":443},"tool_use_id":"sandbox-x-1"}}`
		usual     = `{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t-1"}}`
		interrupt = `{"type":"control_request","request_id":"i-1","request":{"subtype":"interrupt"}}`
		initial   = `{"type":"control_request","request_id":"n-1","request":{"subtype":"initialize"}}`
	)
	settlers := map[string][]*Line{
		"result":     {foldLine(t, `{"type":"result","subtype":"success"}`, false)},
		"interrupt":  {foldLine(t, interrupt, true), foldLine(t, `{"type":"control_response","response":{"subtype":"success","request_id":"i-1"}}`, false)},
		"initialize": {foldLine(t, initial, true), foldLine(t, `{"type":"control_response","response":{"subtype":"success","request_id":"n-1","response":{},"pending_permission_requests":[]}}`, false)},
	}
	for name, lines := range settlers {
		var q Questions
		q.Apply(foldLine(t, request, false))
		q.Apply(foldLine(t, usual, false))
		for _, l := range lines {
			q.Apply(l)
		}
		if q.Find("r-1") != nil {
			t.Errorf("%s: the usual question is open", name)
		}
		if q.Find("sandbox-x-1") == nil {
			t.Errorf("%s: the question of the sandbox is settled", name)
		}
	}
	for name, settle := range map[string]func(*Questions){
		"withdrawn": func(q *Questions) {
			q.Apply(foldLine(t, `{"type":"control_cancel_request","request_id":"sandbox-x-1"}`, false))
		},
		"answered": func(q *Questions) {
			q.Apply(foldLine(t, `{"type":"control_response","response":{"subtype":"success","request_id":"sandbox-x-1","response":{"behavior":"allow","updatedInput":{}}}}`, true))
		},
		"ended": func(q *Questions) { q.Happened(Event{Kind: EventEnded}) },
	} {
		var q Questions
		q.Apply(foldLine(t, request, false))
		settle(&q)
		if len(q.Open) != 0 {
			t.Errorf("%s: it is open", name)
		}
	}
}

func foldLine(t *testing.T, text string, sent bool) *Line {
	t.Helper()
	header, err := wire.Peek([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &Line{Raw: []byte(text), Header: header, Sent: sent}
}
