package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// globalBytes is how much of all sessions is kept in memory for cursors that follow
// all of them, at least; up to twice as much is. A cursor that lags behind it reads the
// journal.
const globalBytes = 1 << 20

// A globalFeed is what followers of all sessions read: what the sessions show, in the
// order in which the journal has it.
//
// While it has followers, its lock is held while a session shows a step to the
// session's own followers, so that what a session is writing at a moment (its partial
// message) fits to what was shown to the followers of all sessions at that moment.
// Without followers, sessions do not take the lock, and only epoch is in use. Locks
// are taken in the order global feed, hub, feed.
type globalFeed struct {
	// Static after construction.
	epoch string

	// followers counts cursors. It is changed with mu held, see publish.
	followers atomic.Int64

	mu       sync.Mutex
	position int64 // up to which everything was shown
	ring     ring
	// pending are steps that were committed after one that has not been shown yet,
	// by the position of their first entry.
	pending map[int64]*globalStep
	stuck   bool                // pending was there at the last look
	busy    bool                // something was shown since forgetIdle was called
	changed broadcast.Broadcast // there is more, or closed was set
	closed  bool
}

// A globalItem is an event that was shown: an entry with its position, or a live line.
type globalItem struct {
	event    *api.Event
	text     Text
	position int64 // 0 for a live line
}

// A globalStep is what a session showed at once.
type globalStep struct {
	session *session
	items   []globalItem
	last    int64
}

// newGlobalFeed returns the feed of all sessions of a journal.
func newGlobalFeed(j journal.Journal) *globalFeed {
	return &globalFeed{epoch: "g" + j.ID(), pending: map[int64]*globalStep{}}
}

// join counts a follower in and returns the position at which it joins. The first
// one begins at the end of the journal: a step that found no followers was committed
// before that, and what it showed is in its session's partial message, which a cursor
// reads later.
func (g *globalFeed) join(ctx context.Context, j journal.Journal) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.followers.Add(1) > 1 {
		return g.position, nil
	}
	last, err := j.LastPosition(ctx)
	if err != nil {
		g.followers.Add(-1)
		return 0, fmt.Errorf("finding the end of the journal: %w", err)
	}
	g.position = last
	return last, nil
}

// leave counts a follower out. With the last one everything is forgotten.
func (g *globalFeed) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.followers.Add(-1) == 0 {
		g.restart()
		clear(g.pending)
		g.stuck = false
	}
}

// publish shows a step that was committed, to the session's followers and to those
// of all sessions.
func (g *globalFeed) publish(st *step) {
	if len(st.shown) == 0 {
		return
	}
	// Looking for followers and showing the step to the session's are one critical
	// section of the session's feed. A cursor that joins afterwards finds the step in
	// the journal and, because it locks the feed to read it, in the partial message.
	f := st.s.feed
	f.mu.Lock()
	alone := g.followers.Load() == 0
	if alone {
		f.show(st, nil)
	}
	f.mu.Unlock()
	if !alone {
		g.publishAll(st)
	}
}

// publishAll is publish while there are followers of all sessions.
func (g *globalFeed) publishAll(st *step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	items := make([]globalItem, 0, len(st.shown))
	st.s.feed.publish(st, &items)
	if len(items) == 0 || g.followers.Load() == 0 { // the last one may have left meanwhile
		return
	}
	v := &globalStep{session: st.s, items: items}
	var from int64
	for _, item := range items {
		if item.position > 0 {
			if from == 0 {
				from = item.position
			}
			v.last = item.position
		}
	}
	switch {
	case v.last == 0:
		// Live lines follow what their session has shown before.
		var newest *globalStep
		for _, p := range g.pending {
			if p.session == st.s && (newest == nil || p.last > newest.last) {
				newest = p
			}
		}
		if newest != nil {
			newest.items = append(newest.items, items...)
			return
		}
		g.show(v)
	case from > g.position+1:
		g.pending[from] = v
		return
	case from <= g.position:
		// unstick gave it up, or it was committed before the first follower joined:
		// cursors have its entries from the journal, or begin after them. They do not
		// have its live lines, and are given the partial messages anew.
		if !slices.ContainsFunc(items, func(i globalItem) bool { return i.position == 0 }) {
			return
		}
		g.restart()
	default:
		g.show(v)
		for next := g.pending[g.position+1]; next != nil; next = g.pending[g.position+1] {
			delete(g.pending, g.position+1)
			g.show(next)
		}
	}
	g.ring.trim(globalBytes)
	g.changed.Notify()
}

// show appends a step whose turn it is. mu is held.
func (g *globalFeed) show(v *globalStep) {
	before := g.position
	g.position, g.busy = max(g.position, v.last), true
	for _, item := range v.items {
		frame := api.Frame{Type: api.FrameLive, Event: item.event}
		if item.position > 0 {
			frame.Type, frame.Position = api.FrameEvent, record.EventID(g.epoch, item.position)
			before = max(before, item.position)
		}
		g.ring.add(frame, item.text, before)
	}
}

// forgetIdle forgets what followers are not likely to want any more, if nothing was shown since it
// was called last.
func (g *globalFeed) forgetIdle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.busy {
		g.ring.forget()
	}
	g.busy = false
}

// skipStuck gives up waiting for a step that was committed and will never be shown,
// because its session was lost in between: every follower reads the journal instead. It
// is called from time to time.
func (g *globalFeed) skipStuck() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) == 0 || !g.stuck {
		g.stuck = len(g.pending) > 0
		return
	}
	for _, p := range g.pending {
		g.position = max(g.position, p.last)
	}
	clear(g.pending)
	g.stuck = false
	g.restart()
	g.changed.Notify()
}

// restart has all cursors look for their places anew. mu is held.
func (g *globalFeed) restart() {
	g.ring.forget()
	g.ring.first++ // so that no cursor takes what comes next for what follows
}

// close ends all cursors.
func (g *globalFeed) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.changed.Notify()
}

// A GlobalCursor follows all sessions. It holds no queue. It is not safe for
// concurrent use.
type GlobalCursor struct {
	hub    *Hub
	noLive bool
	leave  func()

	begun    bool
	verdict  api.Verdict
	position int64 // of the last event given
	next     int64 // number of the next frame, if edge
	edge     bool  // everything up to next was given
	told     bool  // partials were given since edge
	texts    []Text
	epochs   map[string]string
}

// FollowAll returns a cursor on the events of all sessions, in the order in which
// they were committed. It must be closed. [FollowOptions.After] is a position, see
// [api.Frame].
func (h *Hub) FollowAll(ctx context.Context, o FollowOptions) (*GlobalCursor, error) {
	g := h.globalFeed
	last, err := g.join(ctx, h.journal)
	if err != nil {
		return nil, err
	}
	c := &GlobalCursor{hub: h, noLive: o.NoLive, leave: sync.OnceFunc(g.leave)}
	c.verdict = api.Verdict{LastEventID: record.EventID(g.epoch, last)}
	c.position, c.verdict.Resume = record.Place(o.After, g.epoch, last)
	return c, nil
}

// Close lets go of the sessions.
func (c *GlobalCursor) Close() { c.leave() }

// Next returns the next frames, which must not be changed. It blocks until there
// are some, and fails with ctx's error, or with [ErrClosed] when the hub closes.
func (c *GlobalCursor) Next(ctx context.Context) ([]api.Frame, error) {
	if !c.begun {
		c.begun = true
		return []api.Frame{{Type: api.FrameResume, Resume: &c.verdict}}, nil
	}
	g := c.hub.globalFeed
	for {
		g.mu.Lock()
		frames, behind := c.collect(g)
		upTo := g.position
		if len(frames) == 0 && !behind {
			if g.closed {
				g.mu.Unlock()
				return nil, ErrClosed
			}
			changed := g.changed.Changed()
			g.mu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			continue
		}
		g.mu.Unlock()
		if behind {
			var err error
			if frames, err = c.read(ctx, upTo); err != nil {
				return nil, err
			}
		}
		if len(frames) > 0 {
			return frames, nil
		}
	}
}

// Texts returns the texts of the frames that Next returned last, if they are shared;
// there may be fewer than frames.
func (c *GlobalCursor) Texts() []Text { return c.texts }

// collect returns what is in memory for the cursor; behind says that it has to
// read the journal first. g.mu is held.
func (c *GlobalCursor) collect(g *globalFeed) (frames []api.Frame, behind bool) {
	c.texts = nil
	if c.edge && c.next < g.ring.first {
		c.edge, c.told = false, false
	}
	if !c.edge {
		if c.next = g.ring.end(); c.position < g.position {
			var ok bool
			if c.next, ok = g.ring.after(c.position); !ok {
				return nil, true // what comes next is in the journal alone
			}
		}
		c.edge = true
	}
	if c.told {
		// It has been at the end before, so all that follows is new to it.
		var position int64
		if frames, c.texts, position = g.ring.from(c.next); len(frames) > 0 {
			c.next, c.position = c.next+int64(len(frames)), max(c.position, position)
		}
		return frames, false
	}
	for ; c.next < g.ring.end() && len(frames) < maxFrames; c.next++ {
		i := c.next - g.ring.first
		if g.ring.frames[i].Type == api.FrameLive || g.ring.upTo[i] <= c.position {
			continue
		}
		c.position = g.ring.upTo[i]
		frames, c.texts = append(frames, g.ring.frames[i]), append(c.texts, g.ring.texts[i])
	}
	if c.next == g.ring.end() && !c.noLive && len(g.pending) == 0 {
		c.told = true
		frames = append(frames, c.hub.allPartials()...)
	}
	return frames, false
}

// allPartials returns what the sessions are writing. The mu of the global feed is held.
func (h *Hub) allPartials() []api.Frame {
	h.mu.Lock()
	feeds := make([]*feed, 0, len(h.sessions))
	for _, s := range h.sessions {
		feeds = append(feeds, s.feed)
	}
	h.mu.Unlock()
	var frames []api.Frame
	for _, f := range feeds {
		f.mu.Lock()
		p := f.partials()
		f.mu.Unlock()
		if len(p.Messages) > 0 {
			frames = append(frames, api.Frame{Type: api.FramePartial, Partial: p})
		}
	}
	return frames
}

// read returns events from the journal, up to a position.
func (c *GlobalCursor) read(ctx context.Context, upTo int64) ([]api.Frame, error) {
	entries, err := c.hub.journal.EntriesByPosition(ctx, c.position, maxFrames, 1<<20)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("reading the journal after %d: %w", c.position, err)
	}
	frames := make([]api.Frame, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.Position > upTo {
			break
		}
		epoch, err := c.epochOf(ctx, e)
		if err != nil {
			return nil, err
		}
		c.position = e.Position
		frames = append(frames, api.Frame{Type: api.FrameEvent, Event: record.Event(e, epoch), Position: record.EventID(c.hub.globalFeed.epoch, e.Position)})
	}
	if len(frames) == 0 {
		c.position = max(c.position, upTo) // the rest belonged to sessions that were removed
	}
	return frames, nil
}

// maxEpochs is how many sessions' epochs a cursor remembers.
const maxEpochs = 1024

// epochOf returns the epoch of an entry's session.
func (c *GlobalCursor) epochOf(ctx context.Context, e *journal.Entry) (string, error) {
	if epoch, ok := c.epochs[e.Session]; ok && e.Kind != api.KindGap {
		return epoch, nil
	}
	row, err := c.hub.journal.Session(ctx, e.Session)
	if errors.Is(err, journal.ErrNotFound) {
		return "", nil // removed just now
	}
	if err != nil {
		return "", fmt.Errorf("finding the session of an entry: %w", err)
	}
	if len(c.epochs) >= maxEpochs || c.epochs == nil {
		c.epochs = map[string]string{}
	}
	c.epochs[e.Session] = row.Epoch
	return row.Epoch, nil
}

// AllEvents returns a page of the log of all sessions. The ids of the page are
// positions.
func (h *Hub) AllEvents(ctx context.Context, after string, limit int) (*api.EventPage, error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	last, err := h.journal.LastPosition(ctx)
	if err != nil {
		return nil, h.problem(err, "")
	}
	page := &api.EventPage{Events: []api.Event{}}
	c := &GlobalCursor{hub: h}
	c.position, page.Resume = record.Place(after, h.globalFeed.epoch, last)
	for c.position < last && len(page.Events) == 0 {
		frames, err := c.read(ctx, last)
		if err != nil {
			return nil, h.problem(err, "")
		}
		for _, f := range frames {
			if len(page.Events) == limit {
				break
			}
			page.Events = append(page.Events, *f.Event)
			_, c.position, _ = record.ParseEventID(f.Position)
		}
	}
	page.Next, page.More = record.EventID(h.globalFeed.epoch, c.position), c.position < last
	return page, nil
}
