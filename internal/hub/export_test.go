package hub

import (
	"context"
	"encoding/json"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Projections returns what a session's log folds to, from the stored fold on and from
// the beginning, and the row that follows from it.
func (h *Hub) Projections(ctx context.Context, id string) (stored, anew string, row *journal.Session, questions, commands int, err error) {
	first, err := h.rebuild(ctx, id, true)
	if err != nil {
		return "", "", nil, 0, 0, err
	}
	second, err := h.rebuild(ctx, id, false)
	if err != nil {
		return "", "", nil, 0, 0, err
	}
	a, err := json.Marshal(first)
	if err != nil {
		return "", "", nil, 0, 0, err
	}
	b, err := json.Marshal(second)
	return string(a), string(b), second.row(), len(second.Questions), len(second.Commands), err
}

// InUse returns how many sessions are in memory.
func (h *Hub) InUse() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Waiting returns how many operations wait for a session.
func (h *Hub) Waiting(id string) int {
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ops)
}

// TurnRead reports whether the transcript was read since the CLI of a session, whose
// turn is in doubt, was heard last.
func (h *Hub) TurnRead(ctx context.Context, id string) (read bool, err error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return false, err
	}
	defer release()
	err = s.do(ctx, reading, func(*step) error {
		read = !s.doubt.reading && s.doubt.told.since.Equal(s.doubt.since)
		return nil
	})
	return read, err
}

// Identity tells lines of a CLI that dials in apart.
var Identity = identity
