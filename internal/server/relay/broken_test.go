package relay

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A halfPipe is a connection of which a write ends in the middle.
type halfPipe struct {
	net.Conn

	fails  bool
	closed bool
	times  int // how often a write was given time
	writes []int
}

func (p *halfPipe) Write(b []byte) (int, error) {
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case p.fails:
		return len(b) / 2, errors.New("too slow")
	}
	p.writes = append(p.writes, len(b))
	return len(b), nil
}

func (p *halfPipe) Close() error {
	p.closed = true
	return nil
}

func (p *halfPipe) SetWriteDeadline(time.Time) error {
	p.times++
	return nil
}

// What comes after half a frame would be taken for its rest.
func TestNothingFollowsHalfAFrame(t *testing.T) {
	for name, write := range map[string]func(*socket) error{
		"message":  func(s *socket) error { return s.send([]byte("one")) },
		"long one": func(s *socket) error { return s.send([]byte("one"), []byte("two")) },
		"ping":     (*socket).ping,
	} {
		p := &halfPipe{fails: true}
		s := &socket{Conn: p, out: p}
		if write(s) == nil {
			t.Errorf("%s: half of it is all of it", name)
		}
		p.fails = false
		if s.send([]byte("more")) == nil {
			t.Errorf("%s: more was written", name)
		}
	}
}

// Each part of a long line has time of its own.
func TestLongLineHasTime(t *testing.T) {
	p := &halfPipe{}
	s := &socket{Conn: p, out: p}
	line := make([]byte, 5*piece/2)
	if err := s.send([]byte("head"), line, []byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, n := range p.writes {
		written += n
	}
	if written != len("head")+len(line)+1 || p.times < 3 {
		t.Errorf("%d bytes were written, with time given %d times", written, p.times)
	}
}

// A browser gives up a connection with bytes that are not UTF-8, and would do so
// each time it comes back.
func TestGreetingIsText(t *testing.T) {
	session := asking()
	session.Init = json.RawMessage("{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"\xff\"}")
	session.Questions[0].Request = json.RawMessage(strings.Replace(ask, `"r1"`, "\"r1\",\"x\":\"\xff\"", 1))
	h := newFakeHub(session)
	h.submit = func(context.Context, submission) ([]byte, error) { return []byte("{\"type\":\"\xff\"}"), nil }
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected(session.ID)[0], "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"\ufffd\"}", strings.Replace(ask, `"r1"`, "\"r1\",\"x\":\"\ufffd\"", 1))
	c.say(hi)
	c.expect("{\"type\":\"\ufffd\"}")
}

// A busyHub has cursors that always have something more, also when their context
// has ended.
type busyHub struct{ *fakeHub }

func (busyHub) FollowAll(context.Context, hub.FollowOptions) (Cursor, error) {
	return &busyCursor{}, nil
}

// A closedHub has ended by the time a front end wants to follow it.
type closedHub struct{ *fakeHub }

func (closedHub) FollowAll(context.Context, hub.FollowOptions) (Cursor, error) {
	return nil, hub.ErrClosed
}

// A front end that comes while the hub ends is told to come back, not that it is not
// wanted.
func TestComesAtTheEnd(t *testing.T) {
	r := newRig(t, closedHub{newFakeHub(idle("s1"))}, nil)
	lines, closed := r.dial(t, "").end()
	if len(lines) != 1 || !strings.Contains(lines[0], `"code":"closing"`) || closed.Code != websocket.StatusServiceRestart {
		t.Errorf("got %q, %v", lines, closed)
	}
}

type busyCursor struct{ begun bool }

func (c *busyCursor) Next(ctx context.Context) ([]api.Frame, error) {
	if !c.begun {
		c.begun = true
		return []api.Frame{{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}}}, nil
	}
	<-ctx.Done()
	return []api.Frame{{Type: api.FrameEvent, Event: line("s1", `{"type":"assistant"}`)}}, nil
}

func (*busyCursor) Close() {}

// A connection that is over ends, however much there is still to show: whose token
// was revoked sees nothing more.
func TestEndInTheMiddle(t *testing.T) {
	r := newRig(t, busyHub{newFakeHub(idle("s1"))}, nil)
	c := r.dial(t, "")
	c.expect(append(connected("s1"), `{"type":"assistant"}`)...)
	var end sync.WaitGroup
	end.Go(func() { r.relay.Close("an upgrade") })
	defer end.Wait()
	lines, closed := c.end()
	if len(lines) != 1 || !strings.Contains(lines[0], `"code":"closing"`) || closed.Code != websocket.StatusServiceRestart {
		t.Errorf("got %q, %v", lines, closed)
	}
}

// An edgeHub has one cursor, of which it knows how often it was asked.
type edgeHub struct {
	*fakeHub

	asked, before atomic.Int32 // before a session was looked at
}

func (h *edgeHub) FollowAll(ctx context.Context, o hub.FollowOptions) (Cursor, error) {
	c, err := h.fakeHub.FollowAll(ctx, o)
	return &edgeCursor{c, h}, err
}

func (h *edgeHub) Snapshot(ctx context.Context, id string) (*api.Session, error) {
	h.before.Store(h.asked.Load())
	return h.fakeHub.Snapshot(ctx, id)
}

type edgeCursor struct {
	Cursor

	hub *edgeHub
}

func (c *edgeCursor) Next(ctx context.Context) ([]api.Frame, error) {
	c.hub.asked.Add(1)
	return c.Cursor.Next(ctx)
}

// Who is told that an agent is there may prompt it at once. A cursor that is not at
// the live edge by then, which takes it two calls, would give no deltas of the answer.
func TestEdgeBeforeGreeting(t *testing.T) {
	h := &edgeHub{fakeHub: newFakeHub(idle("s1"))}
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	if n := h.before.Load(); n < 2 {
		t.Errorf("the cursor was asked %d times before", n)
	}
}
