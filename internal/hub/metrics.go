package hub

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// Metrics count what a hub does. The methods are called in the way of lines: they
// must not block. They are safe for concurrent use.
type Metrics interface {
	// Lines counts entries of a kind that were journaled, or live lines that were
	// shown, with their bytes.
	Lines(kind string, n, bytes int)
	// Commit measures one commit.
	Commit(entries int, took time.Duration)
	// Shown measures the time from the arrival of lines to their being shown.
	Shown(lag time.Duration)
	// Question counts a question that was settled, with how long it was open.
	Question(kind, outcome string, waited time.Duration)
	// Behind says that a follower had to read the journal, and how far it was
	// behind.
	Behind(entries int64)
	// Evaluated counts judgements of calls that a client asked for: how many
	// rules were held against how many calls.
	Evaluated(evaluations int)
	// SandboxRefused counts what a sandbox has refused, by its kind.
	SandboxRefused(kind string, n int)
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) Lines(string, int, int)                 {}
func (noMetrics) Commit(int, time.Duration)              {}
func (noMetrics) Shown(time.Duration)                    {}
func (noMetrics) Question(string, string, time.Duration) {}
func (noMetrics) Behind(int64)                           {}
func (noMetrics) Evaluated(int)                          {}
func (noMetrics) SandboxRefused(string, int)             {}

// measure counts what a step wrote and showed.
func (st *step) measure() {
	metrics := st.s.hub.metrics
	if _, none := metrics.(noMetrics); none {
		return
	}
	// What follows each other is mostly of one kind.
	kind, n, bytes := "", 0, 0
	for _, v := range st.shown {
		is, size := api.KindLive, 0
		if v.live != nil {
			size = len(v.live.Bytes)
		} else {
			e := &st.entries[v.entry]
			is, size = e.Kind, len(e.Line)+len(e.Data)
		}
		if is != kind && n > 0 {
			metrics.Lines(kind, n, bytes)
			n, bytes = 0, 0
		}
		kind, n, bytes = is, n+1, bytes+size
	}
	if n > 0 {
		metrics.Lines(kind, n, bytes)
	}
}

// settled counts a question that was settled.
func (st *step) settled(row *journal.Question, state api.QuestionState) {
	st.s.hub.metrics.Question(row.Kind, string(state), max(st.now.Sub(row.OpenedAt), 0))
}

// Stats are figures of a hub at a moment.
type Stats struct {
	// Sessions counts all sessions by their state, OpenQuestions what is asked by
	// its kind.
	Sessions      map[api.State]int
	OpenQuestions map[api.QuestionKind]int
	// Followers is how many follow sessions, Loaded how many sessions are in
	// memory.
	Followers, Loaded int
	// Sandboxes counts the processes that run and that the hub started, by what holds
	// them back: a mode, or none if it could not be enforced.
	Sandboxes map[string]int
}

// Stats returns figures of the hub.
func (h *Hub) Stats(ctx context.Context) (Stats, error) {
	counts, err := h.journal.Count(ctx)
	if err != nil {
		return Stats{}, h.problem(err, "")
	}
	v := Stats{Sessions: map[api.State]int{}, OpenQuestions: map[api.QuestionKind]int{}, Followers: int(h.globalFeed.followers.Load()), Sandboxes: map[string]int{}}
	for state, n := range counts.Sessions {
		v.Sessions[api.State(state)] = n
	}
	for kind, n := range counts.OpenQuestions {
		v.OpenQuestions[api.QuestionKind(kind)] = n
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	v.Loaded = len(h.sessions)
	for _, s := range h.sessions {
		v.Followers += int(s.followers.Load())
		if name := s.boxed.Load(); name != nil && *name != "" {
			v.Sandboxes[*name]++
		}
	}
	return v, nil
}

// Unknown returns what a session in memory has counted in the lines of its CLI
// that is not known; nil if the session is not in memory.
func (h *Hub) Unknown(ctx context.Context, id string) (*record.Unknown, error) {
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil {
		return nil, nil
	}
	d := new(record.Unknown)
	err := s.do(ctx, reading, func(*step) error {
		p := s.projection
		d.Version, d.State.Version, d.State.Drift = p.Version, p.State.Version, p.State.Drift
		for _, counters := range []*map[string]int64{&d.State.Drift.Types, &d.State.Drift.Parts, &d.State.Drift.Fields} {
			*counters = maps.Clone(*counters)
		}
		return nil
	})
	switch {
	case errors.Is(err, errEvicted): // it is stored by now
		return nil, nil
	case err != nil:
		return nil, h.problem(err, id)
	}
	return d, nil
}
