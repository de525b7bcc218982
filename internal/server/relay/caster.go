package relay

import (
	"context"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// maxCast is how many bytes a caster writes to a front end at once, about. More is
// left to the front ends' own goroutines: that they have to be woken matters little
// then, and several of them write at the same time.
const maxCast = 8 << 10

// A caster shows what happens to all the front ends that look at the same thing and
// keep up, instead of a goroutine for each that would have to be woken for each line:
// who gives the hub a line shows it, too, or, if that has no time, the caster's own
// goroutine. It never waits for a front end. One that does not take everything at once, or
// for which more has to be done than to show lines, is given back to its own
// goroutine.
type caster struct {
	// Static after construction.
	server *Server
	key    string
	news   chan struct{} // has room for one: run has to look
	hook   *hub.Hook     // of all seats' cursors

	mu    sync.Mutex // held while something is shown
	begun bool       // somebody has been there
	over  bool       // nobody is taken any more
	seats []*seat
}

// A seat is a front end that a caster shows things to. As long as it has the seat,
// view and cursor are the caster's.
type seat struct {
	front  *front
	view   *view
	cursor Cursor
	ctx    context.Context
	back   chan given // gets what is given back; has room for it
}

// given is what a front end gets back from a caster.
type given struct {
	// frames are to be shown.
	frames []api.Frame
	// left has to be written to the socket before, even if it is nothing where locked
	// says that the socket is.
	left   []byte
	locked bool
}

// cast has a front end shown what happens until there is something that it has to do
// itself, or ctx ends. What is given counts even with an error.
func (s *Server) cast(ctx context.Context, f *front, v *view, c Cursor) (given, error) {
	p := &seat{front: f, view: v, cursor: c, ctx: ctx, back: make(chan given, 1)}
	caster := s.seat(f.session, p)
	select {
	case g := <-p.back:
		return g, nil
	case <-ctx.Done():
	}
	caster.leave(p)
	select {
	case g := <-p.back:
		return g, ctx.Err()
	default:
		return given{}, ctx.Err()
	}
}

// seat gives a front end to the caster for what it looks at.
func (s *Server) seat(key string, p *seat) *caster {
	for {
		s.mu.Lock()
		c := s.casters[key]
		if c == nil {
			c = &caster{server: s, key: key, news: make(chan struct{}, 1)}
			c.hook = &hub.Hook{Show: c.happened, Wake: c.look}
			s.casters[key] = c
			s.fronts.Go(c.run) // joined by Close; the front end that brings it here is counted
		}
		s.mu.Unlock()
		if c.add(p) {
			return c
		}
	}
}

// add takes a front end, unless the caster is over.
func (c *caster) add(p *seat) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.begun = true
	c.seats = append(c.seats, p)
	p.cursor.SetHook(c.hook)
	c.look() // something may have happened before
	return true
}

// look has run look around.
func (c *caster) look() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// leave takes a front end back.
func (c *caster) leave(p *seat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seats = slices.DeleteFunc(c.seats, func(other *seat) bool { return other == p })
	p.cursor.SetHook(nil)
	if len(c.seats) == 0 {
		c.look() // it is over, unless somebody comes
	}
}

// run shows what happens until nobody looks any more.
func (c *caster) run() {
	for {
		c.mu.Lock()
		more := c.show()
		alone := len(c.seats) == 0
		c.mu.Unlock()
		switch {
		case more:
		case alone && c.end():
			return
		default:
			<-c.news
		}
	}
}

// happened shows what has happened, in place of run. It waits for nobody.
func (c *caster) happened() {
	if !c.mu.TryLock() {
		c.look()
		return
	}
	more := c.show()
	if more || len(c.seats) == 0 {
		c.look()
	}
	c.mu.Unlock()
}

// end removes the caster if nobody is there.
func (c *caster) end() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seats) > 0 || !c.begun {
		return false
	}
	c.over = true
	delete(c.server.casters, c.key)
	return true
}

// show shows everybody what there is for them. It reports whether there may be more
// already that nobody else shows: not all that there is comes at once. mu is held.
func (c *caster) show() (more bool) {
	c.seats = slices.DeleteFunc(c.seats, func(p *seat) bool {
		full, back := c.serve(p)
		more = more || full
		if back == nil {
			return false
		}
		p.cursor.SetHook(nil) // it is the front end's own again
		p.back <- *back
		return true
	})
	return more
}

// serve shows a front end what there is for it, and says what it is given back if it
// does not stay, and otherwise whether there was as much as comes at once. mu is held.
func (c *caster) serve(p *seat) (full bool, back *given) {
	if p.ctx.Err() != nil {
		return false, &given{} // what it may see is not known any more
	}
	frames, ok := p.cursor.Ready()
	switch {
	case !ok:
		return false, &given{}
	case len(frames) == 0:
		return false, nil
	case !simple(frames):
		return false, &given{frames: frames}
	}
	b := c.server.batch(p.front)
	defer b.putBack()
	b.whole = true
	for i := range frames {
		p.view.frame(&frames[i], b)
	}
	left, locked := p.front.socket.offer(b.b, len(c.seats) == 1)
	if len(left) > 0 || locked {
		return false, &given{left: slices.Clone(left), locked: locked}
	}
	return len(frames) >= manyFrames, nil
}

// manyFrames is how many frames may be all that a cursor gives at once, although there
// are more. What happens after fewer were given is told by the hook.
const manyFrames = 64

// simple reports whether frames are nothing but lines of agents, which are shown
// without asking anybody, and not too long.
func simple(frames []api.Frame) bool {
	size := 0
	for i := range frames {
		e := frames[i].Event
		if e == nil || e.Kind != api.KindLive && e.Kind != api.KindLine {
			return false
		}
		if size += len(e.Line) + len(e.Text) + len(e.Base64); size > maxCast {
			return false
		}
	}
	return true
}
