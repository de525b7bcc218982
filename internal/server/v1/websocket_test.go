package v1

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// dial opens a WebSocket as the bearer of a token.
func (r *rig) dial(t *testing.T, token, path string, protocols ...string) *websocket.Conn {
	t.Helper()
	return r.dialWith(t, token, path, nil, protocols...)
}

// dialWith does so with further headers: names and values.
func (r *rig) dialWith(t *testing.T, token, path string, header []string, protocols ...string) *websocket.Conn {
	t.Helper()
	all := http.Header{"Authorization": {"Bearer " + token}}
	for i := 0; i < len(header); i += 2 {
		all.Set(header[i], header[i+1])
	}
	ws, res, err := websocket.Dial(t.Context(), r.http.URL+path, &websocket.DialOptions{HTTPHeader: all, Subprotocols: protocols})
	if err != nil {
		t.Fatal(err)
	}
	if res.Body != nil {
		_ = res.Body.Close()
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(64 << 20)
	return ws
}

// message reads a message, which must be text.
func message(t *testing.T, ws *websocket.Conn) string {
	t.Helper()
	kind, b, err := ws.Read(t.Context())
	if err != nil || kind != websocket.MessageText {
		t.Fatalf("read %v %q, %v", kind, b, err)
	}
	return string(b)
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSocket(t *testing.T) {
	r := newRig(t, nil, nil)
	global := event(2)
	global.Position = "g:9"
	long := event(3)
	long.Event.Line = json.RawMessage(`{"type":"assistant","text":"` + strings.Repeat("x", 3<<20) + `"}`)
	partial := api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1", Messages: []api.Partial{}, After: 2}}
	live := api.Frame{Type: api.FrameLive, Event: &api.Event{Session: "s1", Kind: api.KindLive, Line: json.RawMessage(`{"type":"stream_event"}`), After: 2}}
	frames := append(verdict("ok"), event(1), global, long, partial, live)
	c := newScript(frames[:1], frames[1:])
	r.follow(c)
	ws := r.dial(t, observeToken, scripted, "sb.token.x", subprotocol)
	if got := ws.Subprotocol(); got != subprotocol {
		t.Errorf("the sub-protocol is %q", got)
	}
	for _, f := range frames {
		if got, want := message(t, ws), marshalled(t, f); got != want {
			t.Fatalf("got  %.200s\nwant %.200s", got, want)
		}
	}
	// Nothing is held back until more comes, and what the client says is nothing.
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("hello?")); err != nil {
		t.Fatal(err)
	}
	c.batches <- []api.Frame{event(4)}
	if got, want := message(t, ws), marshalled(t, event(4)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.server.Close("an upgrade")
	if got, want := message(t, ws), `{"type":"closing","reason":"an upgrade"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, _, err := ws.Read(t.Context())
	if status := websocket.CloseStatus(err); status != websocket.StatusServiceRestart || !strings.Contains(err.Error(), "an upgrade") {
		t.Errorf("closed with %v", err)
	}
	<-c.closed
	r.server.Wait(t.Context())
}

// The place in the log of all sessions stands in the frame.
func TestSocketOfAll(t *testing.T) {
	r := newRig(t, nil, nil)
	f := event(1)
	f.Position = "g:8"
	c := newScript(verdict("ok"), []api.Frame{f})
	r.follow(c)
	ws := r.dial(t, observeToken, scripted)
	_ = message(t, ws)
	if got := message(t, ws); !strings.HasSuffix(got, `,"position":"g:8"}`) {
		t.Errorf("got %s", got)
	}
	// The client leaves, and everything with it.
	if err := ws.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("closing: %v", err)
	}
	<-c.closed
}

// Before a WebSocket is one, errors are those of HTTP.
func TestSocketRefused(t *testing.T) {
	r := newRig(t, nil, nil)
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	for _, test := range []struct {
		path   string
		status int
		code   string
	}{
		{"/v1/sessions/s1/events?kinds=line,riddle", 422, api.CodeInvalid},
		{"/v1/sessions/s1/events?types=a%20b", 422, api.CodeInvalid},
		{"/v1/sessions/s1/events?heartbeat=0", 422, api.CodeInvalid},
		{"/v1/sessions/s1/events?heartbeat=301", 422, api.CodeInvalid},
		{"/v1/sessions/s1/events?after=" + strings.Repeat("x", 129), 422, api.CodeInvalid},
		{"/v1/sessions/s.1/events", 422, api.CodeInvalid},
		{"/v1/sessions/" + strings.Repeat("s", 65) + "/events", 422, api.CodeInvalid},
		{"/v1/events?befor=g:1", 422, api.CodeInvalid},
	} {
		expectProblem(t, r.do(t, observeToken, "GET", test.path, "", upgrade...), test.status, test.code)
	}
	expectProblem(t, r.do(t, "", "GET", "/v1/events", "", upgrade...), 401, api.CodeUnauthorized)
	c := newScript(verdict("ok"))
	r.follow(c)
	expectProblem(t, r.do(t, observeToken, "GET", scripted, "", "Connection", "Upgrade", "Upgrade", "websocket"), 400, api.CodeInvalid) // no version, no key
	<-c.closed
	none := newRig(t, servertest.New(t, nil), nil)
	expectProblem(t, none.do(t, observeToken, "GET", "/v1/sessions/s1/events", "", upgrade...), 404, api.CodeNotFound)
	r.server.Close("")
	expectProblem(t, r.do(t, observeToken, "GET", "/v1/events", "", upgrade...), 503, api.CodeClosing)
}

// A message that is too long ends the connection: there is nothing to be said
// that is.
func TestSocketReadsLittle(t *testing.T) {
	r := newRig(t, nil, nil)
	c := newScript(verdict("ok"))
	r.follow(c)
	ws := r.dial(t, observeToken, scripted)
	_ = message(t, ws)
	if err := ws.Write(t.Context(), websocket.MessageBinary, make([]byte, maxIncoming+1)); err != nil {
		t.Fatal(err)
	}
	_, _, err := ws.Read(t.Context())
	if status := websocket.CloseStatus(err); status != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", err)
	}
	<-c.closed
}

// A line may hold bytes that are no text. A WebSocket must not.
func TestSocketIsText(t *testing.T) {
	r := newRig(t, nil, nil)
	broken := event(1)
	broken.Event.Line = json.RawMessage("{\"type\":\"user\",\"text\":\"a\xff\xfeb\"}")
	c := newScript([]api.Frame{broken})
	r.follow(c)
	ws := r.dial(t, observeToken, scripted)
	if got := message(t, ws); !strings.Contains(got, "\"a\uFFFDb\"") {
		t.Errorf("got %q", got)
	}
}

func TestSocketEndsWithError(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		err          error
		status       websocket.StatusCode
	}{
		{"hub closed", "the hub is shutting down", hub.ErrClosed, websocket.StatusGoingAway},
		{"told", "The disk is full", api.Errorf(503, api.CodeStorage, "The disk is full"), websocket.StatusInternalError},
		{"fault", "the hub is shutting down", errors.New("secret"), websocket.StatusInternalError},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, nil, nil)
			c := newScript(verdict("ok"))
			c.fail <- test.err
			r.follow(c)
			ws := r.dial(t, observeToken, scripted)
			_ = message(t, ws)
			if got, want := message(t, ws), marshalled(t, api.Frame{Type: api.FrameClosing, Reason: test.reason}); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			_, _, err := ws.Read(t.Context())
			if status := websocket.CloseStatus(err); status != test.status || strings.Contains(err.Error(), "secret") {
				t.Errorf("closed with %v", err)
			}
		})
	}
}

// The reason of a close has to be short.
func TestSocketReasonIsCut(t *testing.T) {
	r := newRig(t, nil, nil)
	r.follow(newScript(verdict("ok")))
	ws := r.dial(t, observeToken, scripted)
	_ = message(t, ws)
	r.server.Close(strings.Repeat("ä", 100))
	_ = message(t, ws)
	_, _, err := ws.Read(t.Context())
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Reason != strings.Repeat("ä", 60)+"…" {
		t.Errorf("closed with %v", err)
	}
}

// A token that is revoked ends what was opened with it, and nothing else.
func TestStreamsEndWithTheirToken(t *testing.T) {
	admin, err := access.ParseToken(adminToken, "tester", access.AllScopes())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	book, err := access.OpenTokenStore(dir, admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	lab := servertest.New(t, nil)
	agent := lab.Dial(api.CreateSession{})
	g := access.New(&access.Options{Store: book})
	r := &rig{log: &bytes.Buffer{}, server: New(lab.Hub, lab.Reports, g, &Options{Tokens: book})}
	r.serve(t, g)
	var created api.CreatedToken
	res := r.do(t, adminToken, "POST", "/v1/tokens", `{"name":"phone","scopes":["observe"]}`)
	if err := json.NewDecoder(res.Body).Decode(&created); err != nil || res.StatusCode != 201 || created.Text == "" {
		t.Fatalf("%d %+v, %v", res.StatusCode, created, err)
	}
	ws := r.dial(t, created.Text, "/v1/events?after=now&kinds=gap,line")
	_ = message(t, ws)
	other := r.dial(t, adminToken, "/v1/events?after=now&kinds=line")
	_ = message(t, other)
	events := r.do(t, created.Text, "GET", "/v1/events?after=now&kinds=line", "", "Accept", "text/event-stream")
	in := bufio.NewReader(events.Body)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if res := r.do(t, adminToken, "DELETE", "/v1/tokens/"+created.ID, ""); res.StatusCode != 204 {
		t.Fatalf("revoking: %d %s", res.StatusCode, text(t, res))
	}
	if got := message(t, ws); !strings.Contains(got, "revoked") {
		t.Errorf("the last frame is %s", got)
	}
	_, _, err = ws.Read(t.Context())
	if status := websocket.CloseStatus(err); status != websocket.StatusPolicyViolation {
		t.Errorf("closed with %v", err)
	}
	rest, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(rest), "event: closing\ndata: {\"reason\":\"the token was revoked") {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
	expectProblem(t, r.do(t, created.Text, "GET", "/v1/events", "", "Accept", "text/event-stream"), 401, api.CodeUnauthorized)
	agent.Say(said(agent.Session, "seven"))
	if got := message(t, other); !strings.Contains(got, "seven") {
		t.Errorf("the other got %s", got)
	}
}

// A busyCursor always has something more, also when its context has ended.
type busyCursor struct{ begun bool }

func (*busyCursor) Texts() []hub.Text { return nil }

func (c *busyCursor) Next(ctx context.Context) ([]api.Frame, error) {
	if !c.begun {
		c.begun = true
		return verdict("ok"), nil
	}
	<-ctx.Done()
	return []api.Frame{event(1)}, nil
}

func (*busyCursor) Close() {}

// A stream that is over ends, however much there is still to show: whose token was
// revoked sees nothing more.
func TestStreamsEndInTheMiddle(t *testing.T) {
	for _, socket := range []bool{false, true} {
		r := newRig(t, nil, nil)
		r.follow(&busyCursor{})
		var rest string
		if socket {
			ws := r.dial(t, observeToken, scripted)
			_ = message(t, ws)
			r.server.Close("an upgrade")
			rest = message(t, ws)
		} else {
			in := bufio.NewReader(r.do(t, observeToken, "GET", scripted, "", "Accept", "text/event-stream").Body)
			for line := ""; line != "\n"; {
				var err error
				if line, err = in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			r.server.Close("an upgrade")
			for range 2 {
				line, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				rest += line
			}
		}
		if !strings.Contains(rest, "closing") || !strings.Contains(rest, "an upgrade") {
			t.Errorf("socket %v: what came next was %s", socket, rest)
		}
	}
}

// socketBubble serves a cursor by a WebSocket in a bubble and returns the client's
// end, upgraded.
func socketBubble(t *testing.T, c Cursor, req *request) (*Server, net.Conn, *bufio.Reader) {
	t.Helper()
	s := New(nil, nil, guard(t), nil)
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.acceptSocket(w, r, c, req) }),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	mine, theirs := net.Pipe()
	t.Cleanup(func() {
		_ = mine.Close()
		s.Close("")
		s.Wait(context.Background())
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
	p.conns <- theirs
	if _, err := io.WriteString(mine, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReaderSize(mine, 16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			return s, mine, in
		}
	}
}

// short is a text message of less than 126 bytes, or a ping, as it is sent.
func short(opcode byte, text string) string {
	return string([]byte{0x80 | opcode, byte(len(text))}) + text
}

func TestSocketBeats(t *testing.T) {
	for _, test := range []struct {
		name  string
		req   *request
		every time.Duration
		beat  string
	}{
		{"by itself", &request{}, 15 * time.Second, short(9, "")},
		{"asked for", &request{heartbeat: 4 * time.Second}, 4 * time.Second, short(1, `{"type":"heartbeat"}`) + short(9, "")},
		{"nothing but what is left out", &request{filter: filter{kinds: []string{api.KindState}}}, 15 * time.Second, short(9, "")},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newScript(verdict("ok"))
				_, _, in := socketBubble(t, c, test.req)
				start := time.Now()
				read := func(want string, after time.Duration) {
					t.Helper()
					got := make([]byte, len(want))
					if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
						t.Fatalf("read %q, %v; want %q", got, err, want)
					}
					if took := time.Since(start); took != after {
						t.Errorf("read %q after %v, want %v", want, took, after)
					}
				}
				read(short(1, `{"type":"resume","resume":{"resume":"ok"}}`), 0)
				time.Sleep(time.Second)
				c.batches <- []api.Frame{{Type: api.FrameLive, Event: &api.Event{Session: "s", Kind: api.KindLive}}}
				begin := time.Second
				if test.req.filter.all() {
					read(short(1, `{"type":"live","event":{"session":"s","kind":"live"}}`), begin)
				} else {
					begin = 0 // what nobody sees is no beat
				}
				read(test.beat, begin+test.every)
				read(test.beat, begin+2*test.every)
			})
		})
	}
}

// A client that does not read is cut, whether there is something to say or not.
func TestSocketCutsTheStuck(t *testing.T) {
	long := api.Frame{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Text: strings.Repeat("x", 1<<20)}}
	for _, test := range []struct {
		name   string
		frames []api.Frame
		after  time.Duration
	}{
		{"busy", []api.Frame{long, long, long}, 20 * time.Second},
		{"small", []api.Frame{event(1), event(2)}, 20 * time.Second},
		{"idle", nil, 15*time.Second + 20*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newScript(verdict("ok"))
				if test.frames != nil {
					c.batches <- test.frames
				}
				_, _, in := socketBubble(t, c, &request{})
				if _, err := in.Discard(len(short(1, `{"type":"resume","resume":{"resume":"ok"}}`))); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				<-c.closed
				if took := time.Since(start); took != test.after {
					t.Errorf("cut after %v, want %v", took, test.after)
				}
			})
		})
	}
}

// A slow client is not cut as long as it gets on.
func TestSocketWaitsForTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		c := newScript(verdict("ok"), []api.Frame{
			{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Text: strings.Repeat("x", size)}},
			{Type: api.FrameClosing},
		})
		_, mine, _ := socketBubble(t, c, &request{})
		start, got := time.Now(), 0
		b := make([]byte, 8<<10)
		for got < size {
			time.Sleep(2 * time.Second) // 4 KiB a second: the whole takes minutes
			n, err := io.ReadFull(mine, b)
			got += n
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
		}
		if time.Since(start) < time.Minute {
			t.Errorf("read %d bytes in %v", got, time.Since(start))
		}
		_ = mine.Close()
		<-c.closed
	})
}

// Whoever waits for WebSockets to end does not wait for those that are stuck.
func TestSocketsAreCutInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(verdict("ok"))
		s, _, _ := socketBubble(t, c, &request{})
		start := time.Now()
		s.Close("")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s.Wait(ctx)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("waited for %v", took)
		}
		<-c.closed
	})
}

// An idle WebSocket costs little. Both ends are in this process, but the client's
// is a connection and no more.
func TestSocketMemory(t *testing.T) {
	sockets := 1000
	if raceEnabled { // memory means nothing then
		sockets = 20
	}
	agent, addr := crowd(t)
	open := func() (net.Conn, *bufio.Reader) {
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "GET /v1/sessions/%s/events?after=now&kinds=line HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer %s\r\n\r\n", agent.Session, addr, observeToken); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReaderSize(conn, 512)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == "\r\n" {
				break
			}
		}
		if got := textFrame(t, in); !strings.Contains(got, `"type":"resume"`) {
			t.Fatalf("it begins with %s", got)
		}
		return conn, in
	}
	before := heap()
	conns := make([]*bufio.Reader, sockets)
	for i := range conns {
		_, conns[i] = open()
	}
	per := (int64(heap()) - int64(before)) / int64(sockets) // below zero if garbage of other tests went
	t.Logf("%.1f KiB of heap and stacks per WebSocket, with the client's own part", float64(per)/1024)
	if per > 40<<10 && !raceEnabled {
		t.Errorf("an idle WebSocket takes %d bytes", per)
	}
	agent.Say(said(agent.Session, "last"))
	for _, in := range conns {
		if got := textFrame(t, in); !strings.Contains(got, "last") {
			t.Fatalf("read %s", got)
		}
	}
}

// textFrame reads a text message as it is sent.
func textFrame(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(in, head[:2]); err != nil {
		t.Fatal(err)
	}
	size := int(head[1])
	if size == 126 {
		if _, err := io.ReadFull(in, head[2:]); err != nil {
			t.Fatal(err)
		}
		size = int(head[2])<<8 | int(head[3])
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil || head[0] != 0x81 {
		t.Fatalf("read %x %q, %v", head, body, err)
	}
	return string(body)
}
