package ingress

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

const (
	wait     = time.Second
	question = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t1"}}`
	answer   = `{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{}}}}`
	inquiry  = `{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`
)

// listing returns the answer to an inquiry.
func listing(open string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":"i1","error":"Already initialized","pending_permission_requests":[%s]}}`, open)
}

func TestDoubt(t *testing.T) {
	other := `{"type":"control_request","request_id":"q2","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t2"}}`
	result := func(tool string) string {
		return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]},"uuid":"u"}`, tool)
	}
	tests := []struct {
		name string
		// what is read (<) and sent (>)
		steps []string
		want  bool // the CLI is asked
	}{
		{"nothing was asked", []string{">" + answer}, false},
		{"nothing was answered", []string{"<" + question}, false},
		{"silence after an answer", []string{"<" + question, ">" + answer}, true},
		{"the tool's result", []string{"<" + question, ">" + answer, "<" + result("t1")}, false},
		{"another tool's result", []string{"<" + question, ">" + answer, "<" + result("t2")}, true},
		{"a withdrawal", []string{"<" + question, ">" + answer, `<{"type":"control_cancel_request","request_id":"q1"}`}, false},
		{"the end of the turn", []string{"<" + question, ">" + answer, `<{"type":"result","subtype":"success"}`}, false},
		{"a list with it", []string{"<" + question, ">" + answer, ">" + inquiry, "<" + listing(question)}, true},
		{"a list without it", []string{"<" + question, ">" + answer, ">" + inquiry, "<" + listing(other)}, false},
		{"an empty list", []string{"<" + question, ">" + answer, ">" + inquiry, "<" + listing("")}, false},
		{"the answer to something else", []string{"<" + question, ">" + answer, "<" + listing("")}, true},
		{"not JSON", []string{"<" + question, ">" + answer, "<x", ">x"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				d := newDoubt(wait, func() { asked.Add(1) })
				defer d.stop()
				for _, step := range tt.steps {
					line := []byte(step[1:])
					d.line(fold.NewLine(line, step[0] == '>'))
				}
				time.Sleep(wait / 2) // of the bubble's clock
				if asked.Load() != 0 {
					t.Error("asked too early")
				}
				time.Sleep(wait)
				synctest.Wait()
				if n := asked.Load(); (n > 0) != tt.want {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// TestDialInsists holds that the hub is told to ask a CLI that POSTs and is silent
// after an answer.
func TestDialInsists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newDialLab(t, &DialOptions{Insist: wait})
		c := lab.come("/ws/cli/s1", "own", "")
		if got := lab.post("/session/cli/s1/events", "own", question); got != http.StatusOK {
			t.Fatalf("the POST was answered with %d", got)
		}
		// What is sent before that is for no connection.
		lab.hub.await(t, "the connection", func() bool { return slices.Contains(lab.hub.calls, "connected false") })
		lab.hub.last().sender.Send([]link.Order{{Number: 1, Line: []byte(answer)}})
		_ = c.read()
		lab.hub.await(t, "the inquiry", func() bool { return slices.Contains(lab.hub.calls, "recover") })
		_ = lab.dial.Close()
	})
}
