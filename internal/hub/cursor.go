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
	seq     int64 // of the last entry given
	next    int64 // number of the next frame, if edge
	edge    bool  // partials were given since the cursor last lagged
	texts   []Text
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

// Next returns the next frames, which must not be changed. It blocks until there are
// some, and fails with ctx's error, or with [ErrClosed] when the hub closes.
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
		changed := f.changed.Changed()
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Texts returns the texts of the frames that Next returned last, if they are shared;
// there may be fewer than frames.
func (c *Cursor) Texts() []Text { return c.texts }

// collect returns what is in memory for the cursor; behind says that it has to
// read the journal first. The feed's mu is held.
func (c *Cursor) collect(f *feed) (frames []api.Frame, behind bool) {
	if c.edge && c.next >= f.ring.first {
		var seq int64
		if frames, c.texts, seq = f.ring.from(c.next); len(frames) > 0 {
			c.next, c.seq = c.next+int64(len(frames)), seq
		}
		return frames, false
	}
	c.edge, c.texts = false, nil // if live lines are gone, the whole is given at the edge
	if c.seq < f.seq {
		number, ok := f.ring.after(c.seq)
		if !ok {
			return nil, true
		}
		for i := number - f.ring.first; i < int64(len(f.ring.frames)) && len(frames) < maxFrames; i++ {
			if f.ring.frames[i].Type == api.FrameLive {
				continue
			}
			c.seq = f.ring.upTo[i]
			frames, c.texts = append(frames, f.ring.frames[i]), append(c.texts, f.ring.texts[i])
		}
	}
	if c.seq == f.seq && !c.noLive {
		// At the live edge, for the first time or again: what is being written
		// replaces what the follower may have.
		c.edge, c.next = true, f.ring.end()
		frames = append(frames, api.Frame{Type: api.FramePartial, Partial: f.partials()})
	}
	return frames, false
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
	c.hub.metrics.Behind(entries[len(entries)-1].Seq - c.seq)
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
