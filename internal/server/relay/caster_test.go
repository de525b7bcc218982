package relay

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// Lines that come one by one are shown by a caster. A front end that does not read is
// left behind, does not hold up the others, and misses nothing.
func TestCasterStall(t *testing.T) {
	h := newFakeHub(idle("s1"))
	r := newRig(t, h, nil)
	slow := r.dialNarrow(t, "")
	slow.expect(connected("s1")...)
	quick := r.dial(t, "")
	quick.expect(connected("s1")...)
	fill := strings.Repeat("x", 4<<10)
	text := func(i int) string { return fmt.Sprintf(`{"type":"assistant","n":%d,"x":"%s"}`, i, fill) }
	left := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.all[0].at < len(h.frames)-10
	}
	n := 0
	for ; n < 8000 && (n < 100 || !left()); n++ { // sockets take a few megabytes
		h.publish(line("s1", text(n)))
		quick.expect(text(n))
	}
	if !left() {
		t.Fatalf("all of %d lines went into a connection that nobody reads", n)
	}
	for i := range n {
		slow.expect(text(i))
	}
	// It keeps up again.
	h.publish(line("s1", text(n)))
	quick.expect(text(n))
	slow.expect(text(n))
}

// A caster ends when nobody looks any more, and there is another when somebody does.
func TestCasterEnds(t *testing.T) {
	h := newFakeHub(idle("s1"))
	r := newRig(t, h, nil)
	for range 3 {
		c := r.dial(t, "?session=s1")
		c.expect(connected("s1")...)
		h.publish(liveLine("s1", `{"type":"stream_event"}`))
		c.expect(`{"type":"stream_event"}`)
		if err := c.ws.CloseNow(); err != nil {
			t.Fatal(err)
		}
		h.await(t, "the cursor to be closed", func() bool { return h.open == 0 })
	}
	r.relay.Close("the end")
	r.relay.mu.Lock()
	defer r.relay.mu.Unlock()
	if n := len(r.relay.casters); n > 0 {
		t.Errorf("%d casters are left", n)
	}
}

// Who is not only shown lines of an agent does that itself: others' prompts, for one,
// are looked up.
func TestCasterSimple(t *testing.T) {
	short, long := line("s1", `{"type":"assistant"}`), line("s1", `{"x":"`+strings.Repeat("x", maxCast)+`"}`)
	tests := map[string]struct {
		frames []api.Frame
		want   bool
	}{
		"a line":             {[]api.Frame{{Type: api.FrameEvent, Event: short}}, true},
		"a live one":         {[]api.Frame{{Type: api.FrameLive, Event: liveLine("s1", `{"type":"stream_event"}`)}}, true},
		"too much":           {[]api.Frame{{Type: api.FrameEvent, Event: long}}, false},
		"a prompt":           {[]api.Frame{{Type: api.FrameEvent, Event: short}, {Type: api.FrameEvent, Event: &api.Event{Kind: api.KindSent, Session: "s1"}}}, false},
		"what is written":    {[]api.Frame{{Type: api.FramePartial, Partial: &api.Partials{}}}, false},
		"the end of a story": {[]api.Frame{{Type: api.FrameClosing}}, false},
	}
	for name, tt := range tests {
		if got := simple(tt.frames); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A connection that takes a part of what it is offered stays locked until the rest is
// written: a ping that comes meanwhile is not in the middle of a frame.
func TestOffer(t *testing.T) {
	t.Run("many", func(t *testing.T) { testOffer(t, false) })
	t.Run("alone", func(t *testing.T) { testOffer(t, true) })
}

func testOffer(t *testing.T, alone bool) {
	listener := listen(t)
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s := &socket{Conn: server, out: server, raw: rawOf(server)}
	if s.raw == nil {
		t.Fatal("there is no way to write to a TCP connection without waiting")
	}
	message := appendMessage(nil, bytes.Repeat([]byte("x"), 1<<20))
	var want []byte
	var left []byte
	locked := false
	for range 100 {
		want = append(want, message...)
		if left, locked = s.offer(message, alone); len(left) > 0 {
			break
		}
	}
	if len(left) == 0 {
		t.Fatal("100 MB went into a connection that nobody reads")
	}
	if err := s.ping(); err != nil { // it does not wait
		t.Fatal(err)
	}
	want = append(want, opPing, 0)
	got := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(client, int64(len(want)))) // what is missing is seen
		got <- b
	}()
	if locked {
		err = s.complete(left)
	} else {
		err = s.send(left)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("%d bytes arrived, want %d and in that order", len(b), len(want))
	}
	// A control frame that somebody has left for who writes is not forgotten, even if
	// there is nothing to be written.
	s.control = []byte{opPing, 0}
	if left, locked = s.offer(nil, alone); len(left) > 0 || !locked {
		t.Fatalf("beside a ping that waits: %q, %t", left, locked)
	}
	if err := s.complete(left); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(io.LimitReader(client, 2)); err != nil || !bytes.Equal(b, []byte{opPing, 0}) {
		t.Fatalf("a ping that waited came as %q, %v", b, err)
	}
	// While somebody writes nothing is begun.
	s.mu.Lock()
	if left, locked := s.offer([]byte("frame"), alone); string(left) != "frame" || locked {
		t.Errorf("beside somebody who writes: %q, %t", left, locked)
	}
	s.mu.Unlock()
	s.finish(nil, 1000, "")
	if left, locked := s.offer([]byte("frame"), alone); string(left) != "frame" || locked {
		t.Errorf("after the end: %q, %t", left, locked)
	}
}
