package shim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// A testHub is the other end of a link: it keeps what it is sent as a journal
// would.
type testHub struct {
	t      testing.TB
	socket string
	server *http.Server

	mu       sync.Mutex
	news     chan struct{} // closed and replaced at each change
	have     int64
	incoming *link.Incoming
	records  []link.Record // durable, fresh
	live     []link.Record // fresh
	repeated int           // records that had come before
	gaps     []link.Gap
	hellos   []*link.Hello
	texts    []link.Message // others than hello
	raw      []string       // text frames
	tokens   []string
	conn     *websocket.Conn // the one that was welcomed
	conns    []*websocket.Conn
	stopped  bool
	counting bool // counts only
	counts   map[link.Kind]int

	// What the hub does.
	version int
	hold    bool // journals nothing more: neither takes nor acknowledges
	noAck   bool // journals, and does not acknowledge
	deaf    bool // does not answer pings
	next    int64
	prelude []link.Message                 // said before the answer to a hello
	reply   func(*link.Hello) link.Message // nil: a welcome
}

func newHub(t testing.TB) *testHub {
	t.Helper()
	h := &testHub{t: t, socket: filepath.Join(shortDir(t), "hub.sock"), news: make(chan struct{}), version: link.Version, next: 1}
	h.incoming, h.counts = link.NewIncoming(0), map[link.Kind]int{}
	h.listen()
	t.Cleanup(h.stop)
	return h
}

// listen starts the hub, again after stop.
func (h *testHub) listen() {
	h.t.Helper()
	listener, err := net.Listen("unix", h.socket)
	if err != nil {
		h.t.Fatal(err)
	}
	h.update(func() { h.stopped = false })
	mux := http.NewServeMux()
	mux.HandleFunc(link.Path, h.accept)
	h.server = &http.Server{Handler: mux}
	server := h.server
	go func() { _ = server.Serve(listener) }() // ends with stop
}

// stop is a hub that is gone without a word.
func (h *testHub) stop() {
	h.update(func() { h.stopped = true })
	_ = h.server.Close()
	h.cut() // what is hijacked is not the server's any more
	h.wait("the connections are over", func() bool { return len(h.conns) == 0 })
}

// cut breaks all connections.
func (h *testHub) cut() {
	h.mu.Lock()
	conns := slices.Clone(h.conns)
	h.mu.Unlock()
	for _, conn := range conns {
		_ = conn.CloseNow()
	}
}

func (h *testHub) update(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	close(h.news)
	h.news = make(chan struct{})
}

// wait waits until a condition holds, which is looked at with mu held.
func (h *testHub) wait(what string, condition func() bool) {
	h.t.Helper()
	ctx := soon(h.t)
	for {
		h.mu.Lock()
		ok, news := condition(), h.news
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			h.t.Fatalf("waited too long: %s", what)
		}
	}
}

func (h *testHub) accept(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{link.Subprotocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	stopped := false
	h.update(func() {
		if stopped = h.stopped; !stopped {
			h.tokens = append(h.tokens, r.Header.Get("Authorization"))
			h.conns = append(h.conns, ws)
		}
	})
	if stopped {
		_ = ws.CloseNow()
		return
	}
	defer h.update(func() {
		h.conns = slices.DeleteFunc(h.conns, func(c *websocket.Conn) bool { return c == ws })
		if h.conn == ws {
			h.conn = nil
		}
	})
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(link.MaxFrame)
	ctx := context.Background()
	var lines link.Decoder
	var frame []byte
	for {
		kind, reader, err := ws.Reader(ctx)
		if err != nil {
			return
		}
		if !h.counting {
			frame = nil // what is kept is part of it
		}
		if frame, err = link.ReadFrame(reader, frame); err != nil {
			return
		}
		if kind == websocket.MessageText {
			err = h.text(ctx, ws, frame)
		} else {
			err = h.binary(ctx, ws, &lines, frame)
		}
		if err != nil {
			return
		}
	}
}

func (h *testHub) say(ctx context.Context, ws *websocket.Conn, m link.Message) error {
	return ws.Write(ctx, websocket.MessageText, link.AppendMessage(nil, m, h.version))
}

func (h *testHub) text(ctx context.Context, ws *websocket.Conn, frame []byte) error {
	m, err := link.ParseMessage(frame)
	if err != nil {
		h.t.Errorf("the shim sent %q: %v", frame, err)
		return err
	}
	var answer link.Message
	h.update(func() {
		h.raw = append(h.raw, string(frame))
		switch m := m.(type) {
		case *link.Hello:
			h.hellos = append(h.hellos, m)
			if h.reply != nil {
				answer = h.reply(m)
			}
			if answer != nil {
				return
			}
			gap, err := h.incoming.Hello(m.Next, m.Oldest)
			if err != nil {
				answer = &link.Gone{Reason: err.Error()}
				return
			}
			if gap.Missing() {
				h.gaps = append(h.gaps, gap)
			}
			h.have = h.incoming.Have()
			h.next = max(h.next, m.Written+1)
			answer = &link.Welcome{Version: min(h.version, m.Version), Epoch: "e", Have: h.have, Next: h.next}
		case *link.Ping:
			if !h.deaf {
				answer = &link.Pong{}
			}
		default:
			h.texts = append(h.texts, m)
		}
	})
	if answer == nil {
		return nil
	}
	if _, ok := m.(*link.Hello); ok {
		for _, m := range h.prelude {
			if err := h.say(ctx, ws, m); err != nil {
				return err
			}
		}
	}
	if err := h.say(ctx, ws, answer); err != nil {
		return err
	}
	switch answer.(type) {
	case *link.Gone, *link.OwnedBy:
		return errors.New("refused")
	case *link.Welcome:
		h.update(func() { h.conn = ws }) // nothing may be said before that
		return nil
	default:
		return nil
	}
}

func (h *testHub) binary(ctx context.Context, ws *websocket.Conn, lines *link.Decoder, frame []byte) error {
	h.wait("the hub takes lines again", func() bool { return !h.hold })
	lines.Push(frame)
	ack := int64(0)
	var err error
	h.update(func() {
		for {
			var r link.Record
			var ok bool
			if r, ok, err = lines.Next(); err != nil || !ok {
				return
			}
			v := h.incoming.Accept(&r)
			if v.Gap.Missing() {
				h.gaps = append(h.gaps, v.Gap)
			}
			switch {
			case !v.Fresh:
				h.repeated++
			case h.counting:
				h.counts[r.Kind]++
				if r.Kind.Durable() {
					h.have, ack = r.Number, r.Number
				}
			case r.Kind == link.Live:
				h.live = append(h.live, r)
			default:
				h.records = append(h.records, r)
				h.have = r.Number
				if !h.noAck {
					ack = r.Number
				}
			}
		}
	})
	if err != nil {
		h.t.Errorf("the shim sent a frame that is wrong: %v", err)
		return err
	}
	if ack > 0 {
		return h.say(ctx, ws, &link.Ack{Have: ack})
	}
	return nil
}

// tell sends a message over the present connection.
func (h *testHub) tell(m link.Message) {
	h.t.Helper()
	h.wait("the shim is connected", func() bool { return h.conn != nil })
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	if conn == nil {
		return
	}
	if err := h.say(soon(h.t), conn, m); err != nil {
		h.t.Fatalf("telling %T: %v", m, err)
	}
}

// command sends a command over the present connection.
func (h *testHub) command(number int64, line string) {
	h.t.Helper()
	h.wait("the shim is connected", func() bool { return h.conn != nil })
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	records := slices.Values([]link.Record{{Kind: link.Outbox, Number: number, Bytes: []byte(line)}})
	for frame := range link.Frames(records) {
		if err := conn.Write(soon(h.t), websocket.MessageBinary, frame); err != nil {
			h.t.Fatalf("sending command %d: %v", number, err)
		}
	}
}

// lines returns the durable lines of the CLI.
func (h *testHub) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.linesLocked()
}

func (h *testHub) linesLocked() []string {
	var lines []string
	for _, r := range h.records {
		if r.Kind == link.Line {
			lines = append(lines, string(r.Bytes))
		}
	}
	return lines
}

// event waits for an event of a name and returns it.
func (h *testHub) event(name string) *link.Event {
	h.t.Helper()
	var found *link.Event
	h.wait("the event "+name, func() bool {
		for _, r := range h.records {
			if r.Kind != link.Happened {
				continue
			}
			if e, err := link.ParseEvent(r.Bytes); err == nil && e.Event == name {
				found = e
			}
		}
		return found != nil
	})
	return found
}

// written waits until a command is reported as written.
func (h *testHub) written(number int64) {
	h.t.Helper()
	h.wait("a command is written", func() bool {
		return slices.ContainsFunc(h.texts, func(m link.Message) bool {
			w, ok := m.(*link.Written)
			return ok && w.UpTo >= number
		})
	})
}

// check looks at the numbers: from 1 on, each once.
func (h *testHub) check() {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range h.records {
		if r.Number != int64(i)+1 {
			h.t.Fatalf("record %d has number %d", i+1, r.Number)
		}
	}
	if len(h.gaps) > 0 {
		h.t.Errorf("there are gaps: %v", h.gaps)
	}
}

// restart is a hub that comes back with what it had.
func (h *testHub) restart(pause time.Duration) {
	h.t.Helper()
	h.stop()
	if pause > 0 {
		<-time.After(pause)
	}
	h.mu.Lock()
	h.incoming = link.NewIncoming(h.have)
	h.mu.Unlock()
	h.listen()
}
