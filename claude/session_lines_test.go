package claude

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// quietSession is a session that reads nothing by itself.
func quietSession(t *testing.T) *Session {
	t.Helper()
	s := newSession(&Options{})
	if err := s.prepareRouter(t.Context(), wire.Version{}); err != nil {
		t.Fatal(err)
	}
	s.conn = newConn(newFakeTransport(), nil)
	return s
}

// lastTurn is how the newest turn of a session ended, nil if none has.
func (s *Session) lastTurn() *TurnCompleted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns.marks) == 0 {
		return nil
	}
	done, _ := s.turns.marks[len(s.turns.marks)-1].what.(*TurnCompleted)
	return done
}

// The answer of a turn is the last text of the model, whichever line has it, and the
// context is what the newest line tells, also if many lines come with one read.
func TestSessionFoldsLines(t *testing.T) {
	t.Parallel()
	const (
		begin = `{"type":"system","subtype":"init","cwd":"/","tools":[],"model":"m1","session_id":"c1","uuid":"o"}`
		call  = `{"type":"tool_use","id":"t","name":"Bash","input":{}}`
	)
	says := func(n int, block string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m1","content":[%s],"usage":{"input_tokens":%d}},"parent_tool_use_id":null,"session_id":"c1","uuid":"u%d"}`, block, n, n)
	}
	words := func(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }
	s := quietSession(t)
	feed := func(texts ...string) {
		var lines [][]byte
		for _, text := range texts {
			lines = append(lines, []byte(text))
		}
		s.received(s.conn.backlog.segment(lines, nil).lines)
	}

	feed(begin, says(101, words("words")), says(102, words("the answer")), says(103, call), says(104, call))
	feed(`{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"c1","uuid":"r","modelUsage":{"m1":{"contextWindow":1000}}}`)
	if done := s.lastTurn(); done == nil || done.Answer != "the answer" {
		t.Errorf("the turn's end is %+v, want one with the answer", done)
	}
	if got := s.Info().Context; got == nil || got.Tokens != 104 || got.Most != 1000 {
		t.Errorf("the context is %+v, want 104 of 1000", got)
	}

	feed(begin, says(105, words("words")), says(106, words("last words")))
	if got := s.Info().Context; got == nil || got.Tokens != 106 {
		t.Errorf("the context is %+v, want 106 tokens", got)
	}
	s.foldEnd(io.ErrClosedPipe)
	if done := s.lastTurn(); done == nil || done.Answer != "last words" || !errors.Is(done.Err(), io.ErrClosedPipe) {
		t.Errorf("the turn's end is %+v, want the last words and why it ended", done)
	}
}
