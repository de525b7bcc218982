package lines

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A browser gives up a connection with bytes that are not UTF-8, and would do so
// each time it comes back.
func TestRelayGreetingIsText(t *testing.T) {
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
func TestRelayComesAtTheEnd(t *testing.T) {
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
func TestRelayEndInTheMiddle(t *testing.T) {
	r := newRig(t, busyHub{newFakeHub(idle("s1"))}, nil)
	c := r.dial(t, "")
	c.expect(append(connected("s1"), `{"type":"assistant"}`)...)
	var end sync.WaitGroup
	end.Go(func() { r.close(t, "an upgrade") })
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
func TestRelayEdgeBeforeGreeting(t *testing.T) {
	h := &edgeHub{fakeHub: newFakeHub(idle("s1"))}
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	if n := h.before.Load(); n < 2 {
		t.Errorf("the cursor was asked %d times before", n)
	}
}
