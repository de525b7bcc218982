package hub

import (
	"context"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// notOurs says that the session's process belongs to a program and lives: it is
// not the hub's to end or to replace.
func (st *step) notOurs() error {
	s, b := st.s, st.s.book
	if b.Ended != nil || b.Transport != transportTee || s.link == nil && !st.alive() {
		return nil
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "the agent belongs to another program, which must end it",
		Hint: "end that program, then resume the session here",
	}
}

// foreign says that the session's process belongs to a program which does not let
// others do what is asked for, nil if it does. steering are prompts and interrupts.
// As long as there is no link it is not known what the program allows, and nothing is
// kept for then: a prompt might come to lie in a queue that nobody ever takes it from.
func (s *session) foreign(steering bool) error {
	b := s.book
	if b.Ended != nil || b.Transport != transportTee {
		return nil
	}
	if s.link == nil {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeOffline, Title: "the agent belongs to another program and can't be reached now",
			Hint: "try again when it is connected",
		}
	}
	if s.link.steer && steering {
		return nil
	}
	if !steering {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "only another program, which owns the agent, can send this",
			Hint: "you can answer questions here",
		}
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "another program owns the agent and doesn't let others prompt or interrupt it",
		Hint: "you can answer questions here; start the agent with switchboard wrap --steer to do more",
	}
}

// teeWait is how long a program's CLI is waited for that was announced and has never
// come: who announces one connects it at once, and announces another if that is refused.
const teeWait = time.Minute

// neverCame ends the run of a program's CLI that was announced and has not come. It
// reports whether it did.
func (st *step) neverCame() bool {
	s := st.s
	if s.book.Transport != transportTee || s.run.Instance != "" || s.link != nil || st.now.Sub(s.run.Started) <= teeWait {
		return false
	}
	st.endRun(api.Ended{Reason: "the program that it belongs to has ended before it could be shown"}, false)
	return true
}

// leftTime bounds how long what a dead process has left may keep its run from being
// ended. The rest is taken in when that has happened.
const leftTime = 15 * time.Second

// takeLeft has what the dead process of a run has left taken in: it may tell how the
// process has ended, which nobody else knows.
func (h *Hub) takeLeft(ctx context.Context, session string, run int) {
	if h.options.Left == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leftTime)
	defer cancel()
	if err := h.options.Left(ctx, h, session, run); err != nil {
		h.log.Warn("what a process has left is not taken in yet", "session", session, "run", run, "err", err)
	}
}
