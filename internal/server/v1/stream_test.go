package v1

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

func verdict(v string) []api.Frame {
	return []api.Frame{{Type: api.FrameResume, Resume: &api.Verdict{Resume: v}}}
}

func event(seq int64) api.Frame {
	return api.Frame{Type: api.FrameEvent, Event: &api.Event{
		ID: fmt.Sprintf("e:%d", seq), Session: "s1", Seq: seq, Kind: api.KindLine, Line: json.RawMessage(`{"type":"system"}`),
	}}
}

// readEvent reads one server-sent event, with the empty line after it.
func readEvent(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		b.WriteString(line)
		if line == "\n" {
			return b.String()
		}
	}
}

func TestStream(t *testing.T) {
	lab := servertest.New(t, nil)
	r := newRig(t, lab, nil)
	a := lab.Dial(api.CreateSession{})
	res := r.do(t, observeToken, "GET", "/v1/sessions/"+a.Session+"/events?live=false", "", "Accept", "text/html, Text/Event-Stream;q=0.9")
	if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, got)
	}
	in := bufio.NewReader(res.Body)
	if got := readEvent(t, in); !strings.HasPrefix(got, "event: resume\ndata: {\"resume\":\"ok\"") {
		t.Errorf("it begins with %s", got)
	}
	// Nothing is held back until more comes.
	var got []string
	for _, word := range []string{"first", "second"} {
		a.Say(said(a.Session, word))
		for len(got) == 0 || !strings.Contains(got[len(got)-1], word) {
			got = append(got, readEvent(t, in))
		}
	}
	log, err := lab.Hub.Events(t.Context(), a.Session, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range log.Events {
		e := &log.Events[i]
		want = append(want, "event: event\nid: "+e.ID+"\ndata: "+marshalled(t, e)+"\n\n")
	}
	if diff := cmp.Diff(want[:min(len(got), len(want))], got); diff != "" {
		t.Errorf("-log +stream:\n%s", diff)
	}
	r.server.Close("an upgrade")
	for {
		last := readEvent(t, in)
		if last == "event: closing\ndata: {\"reason\":\"an upgrade\"}\n\n" {
			break
		}
		if !strings.HasPrefix(last, "event: event\n") {
			t.Fatalf("before the end comes %s", last)
		}
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v", err)
	}
}

func TestStreamsRefused(t *testing.T) {
	r := newRig(t, nil, nil)
	for _, query := range []string{"?live=perhaps", "?befor=e:1", "?limit=0"} {
		expectProblem(t, r.do(t, observeToken, "GET", "/v1/sessions/s1/events"+query, "", "Accept", "text/event-stream"), 422, api.CodeInvalid)
	}
	expectProblem(t, r.do(t, "", "GET", "/v1/sessions/s1/events", "", "Accept", "text/event-stream"), 401, api.CodeUnauthorized)
	r.server.Close("")
	expectProblem(t, r.do(t, observeToken, "GET", "/v1/sessions/s1/events", "", "Accept", "text/event-stream"), 503, api.CodeClosing)
}

// Who asks for the head alone is shown nothing, and follows nothing.
func TestStreamHead(t *testing.T) {
	r := newRig(t, nil, nil)
	c := newScript(verdict("ok"))
	r.follow(c)
	if got := text(t, r.do(t, observeToken, "HEAD", scripted, "", "Accept", "text/event-stream")); got != "" {
		t.Errorf("got %s", got)
	}
	<-c.closed
}

// The hub may say by itself that it closes.
func TestStreamClosedByHub(t *testing.T) {
	r := newRig(t, nil, nil)
	c := newScript([]api.Frame{{Type: api.FrameClosing, Reason: "enough"}})
	r.follow(c)
	if got := text(t, r.do(t, observeToken, "GET", scripted, "", "Accept", "text/event-stream")); got != "event: closing\ndata: {\"reason\":\"enough\"}\n\n" {
		t.Errorf("stream %q", got)
	}
	<-c.closed
}

func TestStreamEndsWithError(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		err          error
		logged       bool
	}{
		{"hub closed", "the hub is shutting down", hub.ErrClosed, false},
		{"told", "The disk is full", api.Errorf(503, api.CodeStorage, "The disk is full"), false},
		{"fault", "the hub is shutting down", errors.New("secret"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, nil, nil)
			c := newScript(verdict("ok"))
			c.fail <- test.err
			r.follow(c)
			got := text(t, r.do(t, observeToken, "GET", scripted, "", "Accept", "text/event-stream"))
			if want := "event: closing\ndata: {\"reason\":\"" + test.reason + "\"}\n\n"; !strings.HasSuffix(got, want) {
				t.Errorf("stream %q", got)
			}
			if logged := strings.Contains(r.log.String(), "secret"); logged != test.logged {
				t.Errorf("log %s", r.log)
			}
		})
	}
}

func TestStreamEndsWithItsClient(t *testing.T) {
	r := newRig(t, nil, nil)
	c := newScript(verdict("ok"))
	r.follow(c)
	res := r.do(t, observeToken, "GET", scripted, "", "Accept", "text/event-stream")
	if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	<-c.closed
}

// A pipes is a listener whose connections are pipes, which know the time of a
// synctest bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// bubble serves a cursor by a stream in a bubble and returns the client's end,
// with the request sent and the answer's head read.
func bubble(t *testing.T, c Cursor) (net.Conn, *bufio.Reader) {
	t.Helper()
	s := New(nil, nil, guard(t), nil)
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer c.Close()
			s.serveStream(&pacedWriter{ResponseWriter: w, ctl: http.NewResponseController(w), timeout: s.writeTimeout}, r, c, &request{})
		}),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	mine, theirs := net.Pipe()
	t.Cleanup(func() {
		_ = mine.Close()
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
	p.conns <- theirs
	if _, err := io.WriteString(mine, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReaderSize(mine, 16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			return mine, in
		}
	}
}

func TestStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(verdict("ok"))
		_, in := bubble(t, c)
		start := time.Now()
		read := func(want string, after time.Duration) {
			t.Helper()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
				t.Fatalf("read %q, %v", got, err)
			}
			if took := time.Since(start); took != after {
				t.Errorf("read %q after %v, want %v", want, took, after)
			}
		}
		read("event: resume\ndata: {\"resume\":\"ok\"}\n\n", 0)
		read(":\n\n", 15*time.Second)
		read(":\n\n", 30*time.Second)
		// What is said counts as a beat.
		time.Sleep(10 * time.Second)
		c.batches <- []api.Frame{{Type: "x"}}
		read("event: x\ndata: {}\n\n", 40*time.Second)
		read(":\n\n", 55*time.Second)
	})
}

// What a cursor gives at once is written with one call, however long it is.
func TestStreamWritesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(verdict("ok"))
		mine, in := bubble(t, c)
		if _, err := in.Discard(len("event: resume\ndata: {\"resume\":\"ok\"}\n\n")); err != nil {
			t.Fatal(err)
		}
		var frames []api.Frame
		var want []byte
		for i := range int64(200) {
			f := event(i + 1)
			frames = append(frames, f)
			var err error
			if want, err = appendFrame(want, &f, hub.Text{}); err != nil {
				t.Fatal(err)
			}
		}
		c.batches <- frames
		got := make([]byte, 2*len(want))
		n, err := mine.Read(got) // of a pipe: what one call wrote
		if err != nil || string(got[:n]) != string(want) {
			t.Errorf("one write has %d bytes of %d, %v", n, len(want), err)
		}
	})
}

// A client that does not read is cut, whether there is something to say or not.
func TestStreamCutsTheStuck(t *testing.T) {
	long := api.Frame{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Text: strings.Repeat("x", 1<<20)}}
	for _, test := range []struct {
		name   string
		frames []api.Frame
		after  time.Duration
	}{
		{"busy", []api.Frame{long, long, long}, 20 * time.Second},
		{"idle", nil, 15*time.Second + 20*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newScript(verdict("ok"))
				if test.frames != nil {
					c.batches <- test.frames
				}
				_, in := bubble(t, c)
				if _, err := in.Discard(len("event: resume\ndata: {\"resume\":\"ok\"}\n\n")); err != nil {
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
func TestStreamWaitsForTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		c := newScript(verdict("ok"), []api.Frame{
			{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Text: strings.Repeat("x", size)}},
			{Type: api.FrameClosing},
		})
		mine, _ := bubble(t, c)
		start, got := time.Now(), 0
		b := make([]byte, 8<<10)
		for {
			time.Sleep(2 * time.Second) // 4 KiB a second: the whole takes minutes
			n, err := io.ReadFull(mine, b)
			got += n
			if err != nil {
				break
			}
		}
		if got < size || time.Since(start) < time.Minute {
			t.Errorf("read %d bytes in %v", got, time.Since(start))
		}
		<-c.closed
	})
}

// A request that is being worked on outlives the deadline of its body.
func TestBodyDeadlineIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		worked := make(chan error, 1)
		server := &http.Server{
			ReadHeaderTimeout: time.Minute,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := newPacedBody(r.Body, w)
				defer body.over()
				if _, err := io.ReadAll(body); err != nil {
					worked <- err
					return
				}
				select {
				case <-r.Context().Done():
					worked <- r.Context().Err()
				case <-time.After(time.Hour):
					worked <- nil
				}
			}),
		}
		served := make(chan error, 1)
		go func() { served <- server.Serve(p) }()
		serve := func(body string) {
			mine, theirs := net.Pipe()
			p.conns <- theirs
			if _, err := io.WriteString(mine, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"+body); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, mine); _ = mine.Close() }()
		}
		serve("{}")
		if err := <-worked; err != nil {
			t.Errorf("a request of an hour: %v", err)
		}
		start := time.Now()
		serve("{")
		if err := <-worked; err == nil || time.Since(start) != bodyPause {
			t.Errorf("a body that does not come: %v after %v", err, time.Since(start))
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// A request whose body stops half-way does not hold its connection for ever,
// whether anybody reads it or not.
func TestBodyThatStops(t *testing.T) {
	for _, test := range []struct{ name, head, body string }{
		{"nobody reads it", "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "{"},
		{"nobody may", "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "{"},
		{"of unknown length", "POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"},
		{"it is read", "POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", "{"},
		{"of no use", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "{"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
				server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: New(nil, nil, guard(t), nil)}
				served := make(chan error, 1)
				go func() { served <- server.Serve(p) }()
				mine, theirs := net.Pipe()
				p.conns <- theirs
				start := time.Now()
				if _, err := io.WriteString(mine, test.head+test.body); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, mine); err != nil {
					t.Error(err)
				}
				// One pause while it is read, and one while the rest is thrown away.
				if took := time.Since(start); took > 2*bodyPause {
					t.Errorf("the connection was held for %v", took)
				}
				_ = mine.Close()
				if err := server.Close(); err != nil {
					t.Error(err)
				}
				<-served
			})
		})
	}
}

// A body that ends early is the client's fault.
func TestBodyThatEnds(t *testing.T) {
	r := newRig(t, nil, nil)
	c, err := net.Dial("tcp", r.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "POST /v1/sessions/s1/messages HTTP/1.1\r\nHost: "+r.http.Listener.Addr().String()+
		"\r\nAuthorization: Bearer "+promptToken+"\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusBadRequest || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(body), `"status":400`) {
		t.Errorf("%d %v %s, %v", res.StatusCode, res.Header, body, err)
	}
}

// A client that does not read an answer is cut too, and nobody makes a fuss
// about it.
func TestAnswerCutsTheStuck(t *testing.T) {
	long := api.Info{Version: strings.Repeat("x", 16<<20)} // more than any buffer between holds
	g := guard(t)
	server := httptest.NewUnstartedServer(g.Checked(New(nil, nil, g, &Options{
		Info: func(context.Context) api.Info { return long }, WriteTimeout: 50 * time.Millisecond,
	})))
	var fuss strings.Builder
	gone := make(chan struct{})
	server.Config.ConnContext = g.ConnContext
	server.Config.ErrorLog = log.New(&fuss, "", 0)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(gone)
		}
	}
	server.Start()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET /v1/info HTTP/1.1\r\nHost: "+server.Listener.Addr().String()+"\r\nAuthorization: Bearer "+observeToken+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-gone
	server.Close()
	if fuss.Len() > 0 {
		t.Errorf("the log says %s", fuss.String())
	}
}
