package claudews

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

const testToken = "sb_1_verysecret"

// direct is a Direct Connect server that does what a test tells it.
type direct struct {
	t      *testing.T
	server *httptest.Server
	answer string // to POST /sessions; %s is the server's ws address
	status int    // of that answer
	moved  string // its Location header
	talk   func(ws *websocket.Conn)

	mu   sync.Mutex
	seen []string
}

func newDirect(t *testing.T, secure bool) *direct {
	d := &direct{
		t: t, status: http.StatusCreated,
		answer: `{"session_id":"s1","ws_url":"%s/sessions/s1/ws","work_dir":"/w","session_key":"k"}`,
		talk:   func(ws *websocket.Conn) { _ = ws.CloseRead(context.Background()) },
	}
	d.server = httptest.NewUnstartedServer(d)
	d.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		d.server.StartTLS()
	} else {
		d.server.Start()
	}
	t.Cleanup(d.server.Close)
	return d
}

func (d *direct) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.seen = append(d.seen, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
	d.mu.Unlock()
	switch {
	case r.Header.Get("Upgrade") != "":
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
		if err != nil {
			d.t.Errorf("accepting: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		d.talk(ws)
	case r.Method == http.MethodPost:
		if d.moved != "" {
			w.Header().Set("Location", d.moved)
		}
		w.WriteHeader(d.status)
		answer := d.answer
		if strings.Contains(answer, "%s") {
			answer = fmt.Sprintf(answer, strings.Replace(d.server.URL, "http", "ws", 1))
		}
		_, _ = io.WriteString(w, answer)
	}
}

// requests returns what came, and forgets it.
func (d *direct) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen
	d.seen = nil
	return seen
}

func (d *direct) host() string { return d.server.Listener.Addr().String() }

// echo sends every frame back.
func echo(ws *websocket.Conn) {
	ws.SetReadLimit(-1)
	for {
		kind, frame, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		if err := ws.Write(context.Background(), kind, frame); err != nil {
			return
		}
	}
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func TestConnect(t *testing.T) {
	d := newDirect(t, false)
	d.talk = echo
	c, err := Connect(t.Context(), "cc://"+d.host()+"/"+testToken, &DialOptions{
		Session:       SessionRequest{Cwd: "/w", Key: "old", PermissionMode: "plan"},
		Header:        http.Header{"X-Extra": {"1"}},
		DeleteOnClose: true,
		Compression:   true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Session(), (Session{ID: "s1", WorkDir: "/w", Key: "k"}); got != want {
		t.Errorf("session %+v, want %+v", got, want)
	}
	if state, _ := c.State(); state != claude.StateConnected {
		t.Errorf("state %s", state)
	}
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, s := range []string{`{"a":1}`, large} {
		if err := c.Write(t.Context(), []byte(s)); err != nil {
			t.Fatal(err)
		}
		reads(t, c, s)
	}
	if err := c.Write(t.Context(), []byte("a\nb")); !errors.Is(err, claude.ErrBadLine) {
		t.Errorf("Write of two lines: %v", err)
	}
	if err := c.CloseInput(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("CloseInput: %v", err)
	}
	closed(t, c)
	closed(t, c)
	await(t, c, claude.StateClosed)
	if _, err := c.Read(t.Context()); !errors.Is(err, claude.ErrClosed) {
		t.Errorf("Read after Close: %v", err)
	}
	if err := c.Write(t.Context(), []byte("{}")); !errors.Is(err, claude.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	want := []string{
		`POST /sessions Bearer ` + testToken + ` {"cwd":"/w","session_key":"old","permission_mode":"plan"}`,
		`GET /sessions/s1/ws Bearer ` + testToken + ` `,
		`DELETE /sessions/s1 Bearer ` + testToken + ` `,
	}
	if got := d.requests(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestConnectTLS(t *testing.T) {
	d := newDirect(t, true)
	d.talk = echo
	if _, err := Connect(t.Context(), d.server.URL, &DialOptions{Token: testToken}); err == nil {
		t.Fatal("a certificate that nobody vouches for was trusted")
	}
	if got := d.requests(); len(got) != 0 {
		t.Fatalf("it was asked all the same: %q", got)
	}
	roots := x509.NewCertPool()
	roots.AddCert(d.server.Certificate())
	c, err := Connect(t.Context(), d.server.URL, &DialOptions{Token: testToken, TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, c)
	if err := c.Write(t.Context(), []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	reads(t, c, `{"a":1}`)
}

func TestConnectFailures(t *testing.T) {
	elsewhere := newDirect(t, false)
	for _, tt := range []struct {
		name   string
		setup  func(d *direct)
		opts   DialOptions
		want   string // in the error; "" for none
		status int    // of a *StatusError
	}{
		{"refused", func(d *direct) { d.status, d.answer = 401, "no, "+testToken+" is wrong" }, DialOptions{}, `401 Unauthorized: "no, [redacted] is wrong"`, 401},
		{"redirect", func(d *direct) { d.status, d.moved = 307, elsewhere.server.URL }, DialOptions{}, "307", 307},
		{"not JSON", func(d *direct) { d.answer = "hello" }, DialOptions{}, "expected a JSON object", 0},
		{"no session", func(d *direct) { d.answer = `{"ws_url":"%s/x"}` }, DialOptions{}, "no session_id", 0},
		{"no address", func(d *direct) { d.answer = `{"session_id":"s1"}` }, DialOptions{}, "no ws_url", 0},
		{"another scheme", func(d *direct) { d.answer = `{"session_id":"s1","ws_url":"file:///etc"}` }, DialOptions{}, `scheme "file"`, 0},
		{"another host", func(d *direct) {
			d.answer = `{"session_id":"s1","ws_url":"ws://` + elsewhere.host() + `/ws?t=` + testToken + `"}`
		}, DialOptions{}, "the token is for", 0},
		{"another host, allowed", func(d *direct) { d.answer = `{"session_id":"s1","ws_url":"ws://` + elsewhere.host() + `/ws"}` }, DialOptions{AllowOtherHost: true}, "", 0},
		{"a relative address", func(d *direct) { d.answer = `{"session_id":"s1","ws_url":"/there"}` }, DialOptions{}, "", 0},
		{"no WebSocket there", func(d *direct) {
			d.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") != "" {
					http.Error(w, "gone "+testToken, http.StatusGone)
					return
				}
				d.ServeHTTP(w, r)
			})
		}, DialOptions{DeleteOnClose: true}, `410 Gone: "gone [redacted]"`, 410},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDirect(t, false)
			tt.setup(d)
			elsewhere.requests()
			c, err := Connect(t.Context(), "cc://"+d.host()+"/"+testToken, &tt.opts)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				closed(t, c)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), testToken) {
				t.Errorf("the error tells the token: %v", err)
			}
			var status *StatusError
			if errors.As(err, &status) != (tt.status != 0) || status != nil && status.Status != tt.status {
				t.Errorf("status %v, want %d", status, tt.status)
			}
			if got := elsewhere.requests(); len(got) != 0 {
				t.Errorf("another host was sent %q", got)
			}
			if tt.opts.DeleteOnClose {
				if got := d.requests(); !strings.HasPrefix(got[len(got)-1], "DELETE /sessions/s1 ") {
					t.Errorf("requests %q, want the unused session to be deleted", got)
				}
			}
		})
	}
}

// A downgrade to an address without encryption would show the token.
func TestConnectDowngrade(t *testing.T) {
	d := newDirect(t, true)
	d.answer = `{"session_id":"s1","ws_url":"ws://` + d.host() + `/x"}`
	roots := x509.NewCertPool()
	roots.AddCert(d.server.Certificate())
	_, err := Connect(t.Context(), d.server.URL, &DialOptions{Token: testToken, TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	if err == nil || !strings.Contains(err.Error(), "the token is for") {
		t.Errorf("error %v, want a refusal", err)
	}
}

func TestConnectTimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it takes connections and says nothing
	for _, dial := range []func() (*Client, error){
		func() (*Client, error) {
			return Connect(t.Context(), "cc://"+silent.Addr().String()+"/"+testToken, &DialOptions{ConnectTimeout: 50 * time.Millisecond})
		},
		func() (*Client, error) {
			return Dial(t.Context(), "ws://"+silent.Addr().String()+"/?t="+testToken, &DialOptions{ConnectTimeout: 50 * time.Millisecond})
		},
	} {
		if _, err := dial(); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), testToken) {
			t.Errorf("error %v, want a time-out, without the token", err)
		}
	}
	if got := (*DialOptions)(nil).withDefaults().ConnectTimeout; got != 15*time.Second {
		t.Errorf("the default time-out is %v, want 15s", got)
	}
}

// How a connection ended is told by its close code.
func TestCloseCodes(t *testing.T) {
	for _, tt := range []struct {
		code   int
		reason string
		want   error // nil: a *CloseError with that code
	}{
		{1000, "", io.EOF},
		{1001, "bye", io.EOF},
		{1008, "policy", nil},
		{1011, "", nil},
		{1012, "restart", nil},
		{4001, "ended", nil},
		{0, "", nil}, // cut
	} {
		t.Run(fmt.Sprint(tt.code), func(t *testing.T) {
			d := newDirect(t, false)
			d.talk = func(ws *websocket.Conn) {
				if err := ws.Write(context.Background(), websocket.MessageText, []byte("{\"a\":1}\n{\"half\"")); err != nil {
					t.Error(err)
				}
				if tt.code == 0 {
					_ = ws.CloseNow()
					return
				}
				_ = ws.Close(websocket.StatusCode(tt.code), tt.reason)
			}
			c, err := Dial(t.Context(), "ws://"+d.host()+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, c)
			await(t, c, claude.StateClosed)
			reads(t, c, `{"a":1}`) // what came before is still there; half a line is none
			_, err = c.Read(t.Context())
			if tt.want != nil {
				if !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				return
			}
			want := tt.code
			if want == 0 {
				want = codeAbnormal
			}
			var ce *CloseError
			if !errors.As(err, &ce) || ce.Code != want || ce.Reason != tt.reason || ce.Error() == "" {
				t.Errorf("error %#v, want a CloseError with %d %q", err, want, tt.reason)
			}
			if err := c.Write(t.Context(), []byte("{}")); !errors.Is(err, claude.ErrClosed) {
				t.Errorf("Write = %v, want ErrClosed", err)
			}
		})
	}
}

func TestDial(t *testing.T) {
	d := newDirect(t, false)
	d.talk = func(ws *websocket.Conn) {
		if err := ws.Write(context.Background(), websocket.MessageText, []byte("short\n"+strings.Repeat("x", 1000)+"\nnext\n")); err != nil {
			t.Error(err)
		}
		echo(ws)
	}
	c, err := Dial(t.Context(), d.server.URL+"/path", &DialOptions{Token: testToken, MaxLine: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, c)
	reads(t, c, "short")
	var tooLong *wire.LineTooLongError
	if _, err := c.Read(t.Context()); !errors.As(err, &tooLong) {
		t.Errorf("error %v, want a LineTooLongError", err)
	}
	reads(t, c, "next")
	if got, want := d.requests(), "GET /path Bearer "+testToken+" "; len(got) != 1 || got[0] != want {
		t.Errorf("requests %q, want %q", got, want)
	}
	if c.Session() != (Session{}) {
		t.Errorf("a plain connection has a session: %+v", c.Session())
	}
	for _, bad := range []string{"", "://", "/path", "ftp://" + d.host(), "ws://%zz/" + testToken} {
		if _, err := Dial(t.Context(), bad, nil); err == nil || strings.Contains(err.Error(), testToken) {
			t.Errorf("Dial(%q) = %v", bad, err)
		}
	}
}

// A Client of ours and a Server of ours understand each other.
func TestDialServer(t *testing.T) {
	s, err := NewServer(&ServerOptions{Authorize: Tokens(map[string]string{testToken: "run"})})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := s.HTTPServer()
	var serving sync.WaitGroup
	serving.Go(func() { _ = h.Serve(listener) })
	defer serving.Wait()
	defer h.Close()
	defer closed(t, s)
	address := "ws://" + listener.Addr().String() + "/ws/x"
	var status *StatusError
	if _, err := Dial(t.Context(), address, nil); !errors.As(err, &status) || status.Status != http.StatusForbidden {
		t.Fatalf("without a token: %v", err)
	}
	c, err := Dial(t.Context(), address, &DialOptions{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, c)
	p, err := s.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there, _ := json.Marshal(map[string]string{"to": "server"})
	if err := c.Write(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	reads(t, p, string(there))
	if err := p.Write(t.Context(), []byte(`{"to":"client"}`)); err != nil {
		t.Fatal(err)
	}
	reads(t, c, `{"to":"client"}`)
	closed(t, p)
	_, err = c.Read(t.Context())
	var ce *CloseError
	if !errors.As(err, &ce) || ce.Code != CodeEnd {
		t.Errorf("Read = %v, want close code %d", err, CodeEnd)
	}
}
