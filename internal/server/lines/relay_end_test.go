package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func TestRelayClose(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	c := r.dial(t, "")
	c.expect(connected("s1")...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.close(t, "the server is being replaced")
	}()
	lines, closed := c.end()
	if len(lines) != 1 || lines[0] != `{"type":"status","subtype":"closing","text":"the server is being replaced","code":"closing"}` {
		t.Errorf("got %q", lines)
	}
	if closed.Code != websocket.StatusServiceRestart || closed.Reason != "the server is being replaced" {
		t.Errorf("closed with %v", closed)
	}
	<-done
}

// TestRelayCloseOfTheDeaf closes although a front end reads nothing.
func TestRelayCloseOfTheDeaf(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	r.dialNarrow(t, "").expect(connected("s1")...)
	big := json.RawMessage(`{"type":"assistant","x":"` + strings.Repeat("x", 1<<20) + `"}`)
	for range 16 { // more than sockets take
		h.publish(&api.Event{Session: "s1", Kind: api.KindLine, Line: big})
	}
	r.close(t, "the end")
	if n := r.relay.Open(); n != 0 {
		t.Errorf("%d front ends are left", n)
	}
}

// TestRelayStall has a front end read nothing for long: others do not wait, and it
// gets everything in the end.
func TestRelayStall(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	slow := r.dialNarrow(t, "")
	slow.expect(connected("s1")...)
	quick := r.dial(t, "")
	quick.expect(connected("s1")...)
	text := func(i int) string {
		return `{"type":"assistant","n":` + asJSON(i) + `,"x":"` + strings.Repeat("x", 512<<10) + `"}`
	}
	const n = 30 // 15 MB: more than sockets take
	for i := range n {
		h.publish(line("s1", text(i)))
		quick.expect(text(i))
	}
	h.mu.Lock()
	if at := h.all[0].at; at >= n {
		t.Errorf("all of the %d lines went into the connection", at)
	}
	h.mu.Unlock()
	for i := range n {
		slow.expect(text(i))
	}
}

func TestRelayPing(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, &Options{Ping: time.Millisecond})
	pings := make(chan struct{}, 1000)
	ctx := t.Context()
	ws, _, err := r.open(ctx, "", &websocket.DialOptions{
		HTTPHeader: bearer(adminToken),
		OnPingReceived: func(_ context.Context, _ []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}
			return false // no answer: it is not cut off for that
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	c := &client{t: t, ws: ws, ctx: ctx}
	c.expect(connected("s1")...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.expect(`{"type":"result"}`)
	}()
	for range 3 {
		<-pings
	}
	h.publish(line("s1", `{"type":"result"}`))
	<-done
	// And the other way.
	var reads sync.WaitGroup
	reads.Go(func() { _, _, _ = ws.Read(ctx) })
	if err := ws.Ping(ctx); err != nil {
		t.Error(err)
	}
	_ = ws.CloseNow()
	reads.Wait()
}

// TestRelayMemory measures what idle front ends cost, after each has been shown
// something. The other end is as small as it can be, and counted with it.
func TestRelayMemory(t *testing.T) {
	fronts := 400
	if raceEnabled { // memory means nothing then
		fronts = 10
	}
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	conns := make([]net.Conn, fronts)
	connect := func() net.Conn {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: "+r.addr+"\r\nAuthorization: Bearer "+adminToken+
			"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		readUntil(t, conn, `"tools":[]}`)
		return conn
	}
	defer func() { _ = connect().Close() }()
	warm := connect()
	defer func() { _ = warm.Close() }()
	before := inUse()
	for i := range conns {
		conns[i] = connect()
		defer func() { _ = conns[i].Close() }()
	}
	text := `{"type":"assistant","x":"` + strings.Repeat("x", 20<<10) + `"}`
	h.publish(line("s1", text))
	for _, c := range conns {
		readUntil(t, c, text[len(text)-100:])
		// Something is said, too: {"type":"keep_alive"}, masked with zeros.
		if _, err := io.WriteString(c, "\x81\x95\x00\x00\x00\x00"+`{"type":"keep_alive"}`); err != nil {
			t.Fatal(err)
		}
	}
	used := inUse() - before
	t.Logf("a front end takes %d bytes", used/int64(fronts))
	if per := used / int64(fronts); per > 40<<10 && !raceEnabled { // the rest is the hub's
		t.Errorf("a front end takes %d bytes", per)
	}
}

// readUntil reads from a connection until it has read a text.
func readUntil(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	var all []byte
	b := make([]byte, 4096)
	for !bytes.Contains(all, []byte(text)) {
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all[max(0, len(all)-200):], b[:n]...)
	}
}

// inUse returns the memory in use, stacks included.
func inUse() int64 {
	debug.FreeOSMemory()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
