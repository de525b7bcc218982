package claudews

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// A client that was dialled sends keep_alive lines to its server, beside the lines of
// its user, unless it is told not to.
func TestDialKeepAlive(t *testing.T) {
	got := make(chan string, 100)
	d := newDirect(t, false)
	d.talk = func(ws *websocket.Conn) {
		for {
			_, frame, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			got <- string(frame)
		}
	}
	for _, interval := range []time.Duration{time.Millisecond, -1} {
		c, err := Dial(t.Context(), d.server.URL, &DialOptions{KeepAlive: interval})
		if err != nil {
			t.Fatal(err)
		}
		if interval > 0 {
			for range 3 {
				if line := <-got; line != `{"type":"keep_alive"}`+"\n" {
					t.Fatalf("the server got %q", line)
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for len(got) > 0 {
			if line := <-got; interval < 0 {
				t.Errorf("without keep_alive the server got %q", line)
			}
		}
	}
	if o := (*DialOptions)(nil).withDefaults(); o.KeepAlive != 50*time.Second {
		t.Errorf("by default it sends one every %v", o.KeepAlive)
	}
	if o := (&DialOptions{KeepAlive: -1}).withDefaults(); o.KeepAlive >= 0 {
		t.Errorf("switched off, it sends one every %v", o.KeepAlive)
	}
}

// A CLI that dialled in needs none: it pings, and is pinged. It gets the lines that it
// is sent and nothing else, however long that takes.
func TestPeerSendsNoKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		time.Sleep(20 * time.Minute)
		if err := p.Write(t.Context(), []byte(line("a"))); err != nil {
			t.Fatal(err)
		}
		c.expect(line("a"))
		if p.Conn() != 1 {
			t.Errorf("it is connection %d", p.Conn())
		}
	})
}
