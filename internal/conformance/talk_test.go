package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// pipe is a transport to a CLI that is a function: it gets every line sent and returns the lines that the CLI writes upon it.
type pipe struct {
	claude.Transport // nil: what is not below is not called

	cli  func(line string) []string
	sent []string
	read chan string
}

func newPipe(cli func(line string) []string) *pipe {
	return &pipe{cli: cli, read: make(chan string, 100)}
}

func (p *pipe) Write(_ context.Context, line []byte) error {
	p.sent = append(p.sent, string(line))
	for _, answer := range p.cli(string(line)) {
		p.read <- answer
	}
	return nil
}

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	select {
	case line := <-p.read:
		if line == "" {
			return nil, io.EOF
		}
		return []byte(line), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// What the CLI in these tests writes.
const (
	question   = `{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}}`
	toolResult = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}`
	result     = `{"type":"result","subtype":"success","is_error":false,"result":"done"}`
)

// listing is an answer to a second initialize request with these open questions.
func listing(id string, open ...string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"Already initialized","pending_permission_requests":[%s]}}`, id, strings.Join(open, ","))
}

// idOf returns the id of a request.
func idOf(t *testing.T, line string) string {
	t.Helper()
	header, err := wire.Peek([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return string(header.RequestID)
}

func TestTalkAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(func(line string) []string {
			switch {
			case strings.Contains(line, `"type":"user"`):
				return []string{`{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback","callback_id":"c","input":{}}}`, question}
			case strings.Contains(line, `"request_id":"q"`):
				return []string{toolResult, result}
			}
			return nil
		})
		var saw int
		talk := &Talk{Transport: p, Saw: func(bool, []byte) { saw++ }}
		turn, err := talk.Turn(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		if len(turn.Asked) != 1 || turn.Result.Result != "done" || len(turn.Messages) != 4 || saw != 7 {
			t.Errorf("asked %d times, result %q, %d messages, saw %d lines", len(turn.Asked), turn.Result.Result, len(turn.Messages), saw)
		}
		if len(p.sent) != 3 || !strings.Contains(p.sent[1], wire.ErrorCodeUnsupported) || !strings.Contains(p.sent[2], `"behavior":"deny"`) {
			t.Errorf("sent %q, want an error for what cannot be answered and a refusal where nobody decides", p.sent)
		}
	})
}

func TestTalkInsists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := 2 // this many answers are lost
		p := newPipe(nil)
		p.cli = func(line string) []string {
			switch {
			case strings.Contains(line, `"type":"user"`):
				// The late line must not be taken for a sign that the answer has arrived.
				return []string{question, `{"type":"assistant","message":{"role":"assistant","content":[]}}`}
			case strings.Contains(line, `"subtype":"initialize"`):
				return []string{listing(idOf(t, line), question)}
			case strings.Contains(line, `"request_id":"q"`) && lost > 0:
				lost--
				return nil
			case strings.Contains(line, `"request_id":"q"`):
				return []string{toolResult, result}
			}
			return nil
		}
		begin := time.Now()
		turn, err := (&Talk{Transport: p, Insist: time.Second, Permit: allow}).Turn(t.Context(), "go")
		if err != nil {
			t.Fatalf("%v after sending %q", err, p.sent)
		}
		if len(turn.Asked) != 1 {
			t.Errorf("asked %d times, want the same question once", len(turn.Asked))
		}
		if waited := time.Since(begin); waited != 2*time.Second {
			t.Errorf("took %s, want one second per lost answer", waited)
		}
	})
}

func TestTalkDoesNotAnswerTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(nil)
		p.cli = func(line string) []string {
			switch {
			case strings.Contains(line, `"type":"user"`):
				return []string{question}
			case strings.Contains(line, `"subtype":"initialize"`):
				// The answer was taken, the tool just takes long.
				go func() {
					time.Sleep(time.Minute) // in the test's own time
					p.read <- toolResult
					p.read <- result
				}()
				return []string{listing(idOf(t, line))}
			}
			return nil
		}
		if _, err := (&Talk{Transport: p, Insist: time.Second, Permit: allow}).Turn(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		answers := slices.DeleteFunc(slices.Clone(p.sent), func(line string) bool { return !strings.Contains(line, `"request_id":"q"`) })
		if len(answers) != 1 || len(p.sent) != 3 {
			t.Errorf("sent %q, want one answer and one inquiry", p.sent)
		}
	})
}

func TestTalkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := newPipe(func(string) []string { return []string{question, ""} })
		turn, err := (&Talk{Transport: gone}).Turn(t.Context(), "go")
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(turn.Messages) != 1 {
			t.Errorf("a CLI that ends in a turn: %v with %d messages, want io.ErrUnexpectedEOF and what has come", err, len(turn.Messages))
		}
		mute := newPipe(func(string) []string { return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := (&Talk{Transport: mute}).Initialize(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a CLI that says nothing: %v", err)
		}
	})
}

func allow(*wire.CanUseToolRequest) wire.PermissionResult { return &wire.Allow{} }
