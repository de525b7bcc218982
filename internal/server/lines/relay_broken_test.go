package lines

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// A browser gives up a connection with bytes that are not UTF-8, and would do so
// each time it comes back.
func TestRelayGreetingIsText(t *testing.T) {
	init, question := strings.Replace(initOf("s1"), `"m"`, "\"\xff\"", 1), strings.Replace(ask, `"r1"`, "\"r1\",\"x\":\"\xff\"", 1)
	h := newStage(t, asksFor("s1", init, question))
	h.submit = func(context.Context, submission) ([]byte, error) { return []byte("{\"type\":\"\xff\"}"), nil }
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")[0], strings.ToValidUTF8(init, "\ufffd"), labeled("s1", strings.ToValidUTF8(question, "\ufffd")))
	c.say(hi)
	c.expect("{\"type\":\"\ufffd\"}")
}

// A plan that has outlived its process is no question of the process that is there now.
func TestRelayGreetingWithoutStale(t *testing.T) {
	h := newStage(t, func(h *stage) {
		h.agents["s1"] = h.lab.Create(api.CreateSession{Prompt: `@tool ExitPlanMode {"plan":"Do it."}`, Options: api.SessionOptions{PermissionMode: "plan"}})
	})
	id := h.id("s1")
	h.lab.Await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) > 0 })
	r := newRig(t, h, nil)
	c := r.dial(t, "?session="+id)
	if lines := []string{c.next(), c.next(), c.next()}; !strings.Contains(lines[2], "ExitPlanMode") {
		t.Errorf("before, the greeting is %q", lines)
	}
	if _, err := h.lab.Hub.Stop(t.Context(), servertest.Admin, id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.lab.Hub.Resume(t.Context(), servertest.Admin, id, api.Resume{}); err != nil {
		t.Fatal(err)
	}
	s := h.lab.AwaitState(id, api.StateIdle)
	if len(s.Questions) != 1 || !s.Questions[0].Stale {
		t.Fatalf("the questions are %+v", s.Questions)
	}
	c = r.dial(t, "?session="+id)
	c.expect(string(connection(textIsConnected, s.Conversation)), string(s.Init))
	mark, text := marker("s1")
	h.publish(mark)
	c.expect(text)
}

// A front end that comes while the hub ends is told to come back, not that it is not
// wanted.
func TestRelayComesAtTheEnd(t *testing.T) {
	h := newStage(t, idle("s1"))
	h.follow = func(c Cursor) (Cursor, error) {
		c.Close()
		return nil, hub.ErrClosed
	}
	r := newRig(t, h, nil)
	lines, closed := r.dial(t, "").end()
	if len(lines) != 1 || !strings.Contains(lines[0], `"code":"closing"`) || closed.Code != websocket.StatusServiceRestart {
		t.Errorf("got %q, %v", lines, closed)
	}
}

// A busyCursor always has something more, also when its context has ended.
type busyCursor struct {
	Cursor

	begun bool
}

func (c *busyCursor) Next(ctx context.Context) ([]api.Frame, error) {
	if !c.begun {
		c.begun = true
		return []api.Frame{{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}}}, nil
	}
	<-ctx.Done()
	return []api.Frame{{Type: api.FrameEvent, Event: line("s1", `{"type":"assistant"}`)}}, nil
}

// A connection that is over ends, however much there is still to show: whose token
// was revoked sees nothing more.
func TestRelayEndInTheMiddle(t *testing.T) {
	h := newStage(t, idle("s1"))
	h.follow = func(c Cursor) (Cursor, error) { return &busyCursor{Cursor: c}, nil }
	r := newRig(t, h, nil)
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

// An edgeCursor knows how often it was asked.
type edgeCursor struct {
	Cursor

	asked *atomic.Int32
}

func (c *edgeCursor) Next(ctx context.Context) ([]api.Frame, error) {
	c.asked.Add(1)
	return c.Cursor.Next(ctx)
}

// Who is told that an agent is there may prompt it at once. A cursor that is not at
// the live edge by then, which takes it two calls, would give no deltas of the answer.
func TestRelayEdgeBeforeGreeting(t *testing.T) {
	h := newStage(t, idle("s1"))
	var asked atomic.Int32
	h.follow = func(c Cursor) (Cursor, error) { return &edgeCursor{c, &asked}, nil }
	before := int32(-1)
	h.greeting = func() { before = asked.Load() }
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	if before < 2 {
		t.Errorf("the cursor was asked %d times before", before)
	}
}
