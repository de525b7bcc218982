package hub

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// FollowOptions say where a follower begins and what it wants.
type FollowOptions struct {
	// After is the id of the last event that the follower has. Empty means from
	// the beginning, "now" only what comes from now on.
	After string
	// NoLive leaves out live lines and partial messages.
	NoLive bool
}

// A Cursor follows a session. It holds no queue: a slow follower reads the
// journal. It is not safe for concurrent use.
type Cursor struct {
	hub     *Hub
	session *session
	release func()
	noLive  bool

	begun   bool
	verdict api.Verdict
	seq     int64 // of the last event given
	live    int64 // number of the next live line
	edge    bool  // partials were given since the cursor last lagged
}

// maxFrames is how many frames Next returns at once.
const maxFrames = 256

// Follow returns a cursor on a session's events. It must be closed.
func (h *Hub) Follow(ctx context.Context, id string, o FollowOptions) (*Cursor, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	s.followers.Add(1)
	c := &Cursor{hub: h, session: s, noLive: o.NoLive, release: sync.OnceFunc(func() {
		s.followers.Add(-1)
		release()
	})}
	s.feed.mu.Lock()
	epoch, last := s.feed.epoch, s.feed.seq
	s.feed.mu.Unlock()
	c.verdict = api.Verdict{Resume: record.ResumeOK, LastEventID: record.EventID(epoch, last)}
	c.seq, c.verdict.Resume = record.Place(o.After, epoch, last)
	return c, nil
}

// Close lets go of the session.
func (c *Cursor) Close() { c.release() }

// Next returns the next frames. It blocks until there are some, and fails with
// ctx's error, or with [ErrClosed] when the hub closes.
func (c *Cursor) Next(ctx context.Context) ([]api.Frame, error) {
	if !c.begun {
		c.begun = true
		return []api.Frame{{Type: api.FrameResume, Resume: &c.verdict}}, nil
	}
	f := c.session.feed
	for {
		f.mu.Lock()
		frames, behind := c.collect(f)
		if len(frames) > 0 {
			f.mu.Unlock()
			return frames, nil
		}
		if behind {
			f.mu.Unlock()
			return c.read(ctx)
		}
		if f.closed {
			f.mu.Unlock()
			return nil, ErrClosed
		}
		changed := f.change()
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// collect returns what is in memory for the cursor; behind says that it has to
// read the journal first. The feed's mu is held.
func (c *Cursor) collect(f *feed) (frames []api.Frame, behind bool) {
	if c.seq < f.seq {
		if len(f.entries) == 0 || f.entries[0].Seq > c.seq+1 {
			c.edge = false
			return nil, true
		}
	}
	if n := c.ahead(f); n > 0 {
		frames = make([]api.Frame, 0, min(n, maxFrames)+1) // and perhaps the partial message
	}
	for len(frames) < maxFrames {
		if live := c.nextLive(f); live != nil {
			frames = append(frames, api.Frame{Type: api.FrameLive, Event: live})
			continue
		}
		if c.seq >= f.seq {
			break
		}
		event := f.entries[c.seq+1-f.entries[0].Seq]
		c.seq = event.Seq
		frames = append(frames, api.Frame{Type: api.FrameEvent, Event: event})
	}
	if c.seq == f.seq && !c.edge && !c.noLive {
		// At the live edge, for the first time or again: what is being written
		// replaces what the follower may have.
		c.edge, c.live = true, f.liveAt+int64(len(f.live))
		frames = append(frames, api.Frame{Type: api.FramePartial, Partial: f.partials()})
	}
	return frames, false
}

// ahead returns how many entries and live lines the cursor has not given, at most. The
// feed's mu is held.
func (c *Cursor) ahead(f *feed) int {
	n := f.seq - c.seq
	if c.edge {
		n += f.liveAt + int64(len(f.live)) - max(c.live, f.liveAt)
	}
	return int(n)
}

// nextLive returns the live line that comes before the next entry, if the
// cursor has seen all before it. The feed's mu is held.
func (c *Cursor) nextLive(f *feed) *api.Event {
	if c.noLive || !c.edge {
		return nil
	}
	if c.live < f.liveAt {
		c.edge = false // some are gone: the whole is given at the edge
		return nil
	}
	for i := c.live - f.liveAt; i < int64(len(f.live)); i++ {
		line := f.live[i]
		if line.after > c.seq {
			return nil
		}
		c.live++
		if line.after == c.seq {
			return line.event
		}
	}
	return nil
}

// read returns events from the journal.
func (c *Cursor) read(ctx context.Context) ([]api.Frame, error) {
	entries, err := c.hub.journal.Entries(ctx, c.session.id, c.seq, maxFrames, 1<<20)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("reading session %s after %d: %w", c.session.id, c.seq, err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("session %s has no entry after %d", c.session.id, c.seq)
	}
	frames := make([]api.Frame, 0, len(entries))
	c.hub.meter.Behind(entries[len(entries)-1].Seq - c.seq)
	for i := range entries {
		c.seq = entries[i].Seq
		frames = append(frames, api.Frame{Type: api.FrameEvent, Event: record.Event(&entries[i], c.epoch())})
	}
	return frames, nil
}

func (c *Cursor) epoch() string {
	c.session.feed.mu.Lock()
	defer c.session.feed.mu.Unlock()
	return c.session.feed.epoch
}

// Events returns a page of a session's log.
func (h *Hub) Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	row, err := h.journal.Session(ctx, id)
	if err != nil {
		return nil, h.problem(err, id)
	}
	page := &api.EventPage{Events: []api.Event{}}
	seq, verdict := record.Place(after, row.Epoch, row.Seq)
	page.Resume = verdict
	entries, err := h.journal.Entries(ctx, id, seq, limit, 8<<20)
	if err != nil {
		return nil, h.problem(err, id)
	}
	for i := range entries {
		page.Events = append(page.Events, *record.Event(&entries[i], row.Epoch))
		seq = entries[i].Seq
	}
	page.Next, page.More = record.EventID(row.Epoch, seq), seq < row.Seq
	return page, nil
}
