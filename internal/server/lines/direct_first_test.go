package lines

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

// TestDirectFirstLineInPieces cuts somebody unknown whose first line does not end, before
// it fills memory.
func TestDirectFirstLineInPieces(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1")
	c := r.dial("s1", "")
	for _, piece := range []string{`{"type":"auth","token":"` + strings.Repeat("x", maxFirstLine/2), strings.Repeat("x", maxFirstLine/2)} {
		if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if code, reason := c.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("it is closed with %d %q", code, reason)
	}
}

// TestDirectNoText shows lines with bytes that are not UTF-8, on which a client would
// give up the connection.
func TestDirectNoText(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	c := r.dial("s1", adminToken)
	s.happen(wrote("{\"type\":\"assistant\",\"text\":\"a\xffb\"}"))
	if got, want := c.next(), "{\"type\":\"assistant\",\"text\":\"a\ufffdb\"}"; got != want {
		t.Errorf("it is shown %q; want %q", got, want)
	}
}

// A busyDirectCursor always has something more, also when its context has ended.
type busyDirectCursor struct{}

func (busyDirectCursor) Next(ctx context.Context) ([]api.Frame, error) {
	<-ctx.Done()
	return []api.Frame{{Type: api.FrameEvent, Event: &api.Event{Kind: api.KindLine, Line: json.RawMessage(says)}}}, nil
}

func (busyDirectCursor) Close() {}

// TestDirectEndInTheMiddle ends a connection however much there is still to show.
func TestDirectEndInTheMiddle(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1").cursor = busyDirectCursor{}
	c := r.dial("s1", adminToken)
	for range 2 { // what is shown first of all
		if got := c.next(); got != says {
			t.Fatalf("it is shown %q", got)
		}
	}
	r.server.Close("an upgrade")
	line, err := c.read()
	if websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("it is shown %q, %v", line, err)
	}
}
