package relay

import (
	"context"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
)

// maxCast is how many bytes a caster writes to a front end at once, about. More is
// left to the front ends' own goroutines: that they have to be woken matters little
// then, and several of them write at the same time.
const maxCast = 8 << 10

// A caster shows what happens to all the front ends that look at the same thing and
// keep up: one goroutine instead of one for each that would have to be woken for each
// line. It never waits for a front end. One that does not take everything at once, or
// for which more has to be done than to show lines, is given back to its own
// goroutine.
type caster struct {
	// Static after construction.
	server *Server
	key    string
	news   chan struct{} // has room for one: a front end was added

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
	c.look()
	return true
}

// look has run look around. mu is held.
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
	if len(c.seats) == 0 {
		c.look() // it is over, unless somebody comes
	}
}

// run shows what happens until nobody looks any more.
func (c *caster) run() {
	for {
		changed, again := c.show()
		if again {
			continue
		}
		if changed == nil && c.end() {
			return
		}
		select {
		case <-changed:
		case <-c.news:
		}
	}
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

// show shows everybody what there is for them. again says that there may be more
// already; otherwise changed is closed when there is, nil if nobody is there.
func (c *caster) show() (changed <-chan struct{}, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seats = slices.DeleteFunc(c.seats, func(p *seat) bool {
		next, stays := c.serve(p)
		switch {
		case !stays:
			return true
		case next == nil:
			again = true
		case changed == nil:
			// The first is the oldest: whatever has happened since, it tells.
			changed = next
		}
		return false
	})
	return changed, again
}

// serve shows a front end what there is for it, and reports whether it stays. If there
// was nothing, changed is closed when there is. mu is held.
func (c *caster) serve(p *seat) (changed <-chan struct{}, stays bool) {
	if p.ctx.Err() != nil {
		p.back <- given{} // what it may see is not known any more
		return nil, false
	}
	frames, changed, ok := p.cursor.Ready()
	switch {
	case !ok:
		p.back <- given{}
		return nil, false
	case len(frames) == 0:
		return changed, true
	case !simple(frames):
		p.back <- given{frames: frames}
		return nil, false
	}
	b := c.server.batch(p.front)
	defer b.putBack()
	b.whole = true
	for i := range frames {
		p.view.frame(&frames[i], b)
	}
	left, locked := p.front.socket.offer(b.b)
	if len(left) > 0 || locked {
		p.back <- given{left: slices.Clone(left), locked: locked}
		return nil, false
	}
	return nil, true
}

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
