package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// dialWait is how long a CLI that dials in is waited for after the hub was
// restarted: 2.1.120 tries for about ten minutes.
const dialWait = 11 * time.Minute

// reap ends the run of a session whose process is known to be dead, and sweeps
// up what it left.
func (h *Hub) reap(id string) {
	s, release, err := h.acquire(h.ctx, id)
	if err != nil {
		if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code == api.CodeNotFound {
			h.mu.Lock()
			delete(h.offline, id)
			h.mu.Unlock()
		}
		return
	}
	defer release()
	var run journal.Run
	settled := false
	err = s.do(h.ctx, patient, func(st *step) error {
		run = s.run
		if s.link == nil && s.projection.Linked && s.projection.Ended == nil {
			st.down("the link was lost") // with what was in memory
		}
		defer func() {
			if settled { // here, so that a link which is lost in the next step counts
				h.mu.Lock()
				delete(h.offline, id)
				h.mu.Unlock()
			}
		}()
		settled = s.projection.Ended != nil || s.link != nil || s.process.starts > 0
		switch {
		case settled:
		case s.projection.Transport == transportWebSocket || s.projection.Transport == transportHybrid || run.PID == 0 && run.Node == "":
			run.Run = 0 // this hub cannot look for its process
			if settled = st.neverCame(); settled {
				return nil
			}
			lost := s.projection.Lost
			if s.projection.Updated.After(lost) {
				lost = s.projection.Updated // the fold is from before it had Lost
			}
			if s.projection.phase() == fold.PhaseOffline && st.now.Sub(lost) > dialWait {
				st.endRun(api.Ended{Reason: ErrGone.Error()}, false)
			}
		}
		return nil
	})
	switch {
	case err != nil, settled:
	case run.Run == 0 || h.launcherOf(run.Node) == nil:
	case run.Node == "":
		h.reapRun(s, &run)
	default:
		h.find(s, &run)
	}
}

// reapRun ends a run whose process is known to be dead. It waits for the machine that the
// process is on.
func (h *Hub) reapRun(s *session, run *journal.Run) {
	if h.life(h.ctx, shimProcess{processOf(run), run.Node}) != LifeDead {
		return
	}
	unborn := run.PID == 0
	if !unborn {
		h.importSpool(h.ctx, run)
	}
	ctx, cancel := context.WithTimeout(h.ctx, 15*time.Second)
	defer cancel()
	swept, err := h.launcherOf(run.Node).Sweep(ctx, run.Marker)
	if _, unreachable := errors.AsType[*UnreachableError](err); unreachable {
		return // it is tried again when the machine is there
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		h.log.Warn("sweeping up after a dead shim", "session", s.id, "run", run.Run, "err", err)
	}
	_ = s.do(h.ctx, patient, func(st *step) error {
		if s.projection.Run != run.Run || s.link != nil {
			return nil
		}
		if unborn {
			if s.run.PID == 0 && s.process.starts == 0 {
				st.unborn("the connection to the machine was lost before the process was started")
			}
			return nil
		}
		reason := "its shim process died"
		if s.projection.Transport == transportTee {
			reason = "the program that it belongs to, or switchboard wrap, died"
		}
		if swept > 0 {
			reason += fmt.Sprintf("; %d processes that it left were ended", swept)
		}
		st.endRun(api.Ended{Reason: reason}, false)
		return nil
	})
}

// unborn ends a run whose process was never started, and starts another if there is
// something to do.
func (st *step) unborn(reason string) {
	p := st.s.projection
	if p.Ended != nil {
		return
	}
	st.endRun(api.Ended{Reason: reason}, true)
	if _, waiting := p.nextPrompt(); waiting && p.Ended != nil {
		st.startRun(runSpec{fresh: p.Resume == "", resume: p.Resume, fork: p.Fork, at: p.At})
	}
}
