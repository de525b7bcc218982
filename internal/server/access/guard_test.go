package access

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A lab serves a guarded mux on loopback.
type lab struct {
	guard  *Guard
	server *httptest.Server
	token  string
	log    *bytes.Buffer
}

// mux has a route for whoever passes the checks, one for whoever is known, and
// one for the socket.
func mux(g *Guard) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /open", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "open") })
	m.Handle("GET /who", g.Authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := From(r.Context())
		fmt.Fprintf(w, "%s|%s|%s", id.Source, id.Name, id.Scopes)
	})))
	m.Handle("POST /things/{id}", g.Authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, e := Require(r.Context(), wire.ScopeAdmin); e != nil {
			WriteProblem(w, e)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})))
	m.Handle("GET /socket", g.SocketOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "socket") })))
	m.HandleFunc("GET /admin", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, g.Admin(r)) })
	return m
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{log: &bytes.Buffer{}}
	var token Token
	l.token, token = newToken("admin", AllScopes())
	l.guard = New(&Options{
		Tokens: []Token{token},
		Log:    slog.New(slog.NewTextHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	l.server = httptest.NewUnstartedServer(l.guard.Checked(mux(l.guard)))
	l.server.Config.ConnContext = l.guard.ConnContext
	l.server.Start()
	t.Cleanup(l.server.Close)
	return l
}

func get(t *testing.T, c *http.Client, method, target string, change func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 400 {
		var e api.Error
		if err := json.Unmarshal(body, &e); err != nil || e.Status != res.StatusCode || e.Code == "" || e.Title == "" || res.Header.Get("Content-Type") != ProblemType {
			t.Errorf("the error is %s", body)
		}
	}
	return res.StatusCode, string(body)
}

func TestHostAndOrigin(t *testing.T) {
	l := newLab(t)
	_, port, err := net.SplitHostPort(l.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host   string
		origin []string
		status int
	}{
		{"127.0.0.1:" + port, nil, 200},
		{"localhost:" + port, nil, 200},
		{"LocalHost:" + port, nil, 200},
		{"[::1]:" + port, nil, 200},
		{"127.0.0.1", nil, 403},
		{"127.0.0.1:1", nil, 403},
		{"localhost.:" + port, nil, 403},
		{"evil.example:" + port, nil, 403},
		{"127.0.0.1.evil.example:" + port, nil, 403},
		{"", nil, 403},
		{"127.0.0.1:" + port, []string{"http://127.0.0.1:" + port}, 200},
		{"127.0.0.1:" + port, []string{"http://localhost:" + port}, 200},
		{"127.0.0.1:" + port, []string{"http://[::1]:" + port}, 200},
		{"127.0.0.1:" + port, []string{"https://127.0.0.1:" + port}, 403},
		{"127.0.0.1:" + port, []string{"http://127.0.0.1"}, 403},
		{"127.0.0.1:" + port, []string{"http://127.0.0.1:1"}, 403},
		{"127.0.0.1:" + port, []string{"http://user@127.0.0.1:" + port}, 403},
		{"127.0.0.1:" + port, []string{"http://127.0.0.1:" + port + "/"}, 403},
		{"127.0.0.1:" + port, []string{"http://evil.example"}, 403},
		{"127.0.0.1:" + port, []string{"null"}, 403},
		{"127.0.0.1:" + port, []string{""}, 403},
		{"127.0.0.1:" + port, []string{"http://127.0.0.1:" + port, "http://evil.example"}, 403},
	} {
		t.Run(fmt.Sprintf("%s from %s", test.host, test.origin), func(t *testing.T) {
			// By hand: a client would not send them all.
			var d net.Dialer
			c, err := d.DialContext(t.Context(), "tcp", l.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			text := "GET /open HTTP/1.1\r\nConnection: close\r\nHost: " + test.host + "\r\n"
			for _, o := range test.origin {
				text += "Origin: " + o + "\r\n"
			}
			if _, err := io.WriteString(c, text+"\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(c)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("HTTP/1.1 %d ", test.status); !strings.HasPrefix(string(answer), want) {
				t.Errorf("answer %q, want %q", answer, want)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	for _, test := range []struct {
		port int
		tls  bool
		want string
	}{
		{80, false, "127.0.0.2:80 127.0.0.2 127.0.0.1:80 127.0.0.1 localhost:80 localhost [::1]:80 [::1]"},
		{80, true, "127.0.0.2:80 127.0.0.1:80 localhost:80 [::1]:80"},
		{443, true, "127.0.0.2:443 127.0.0.2 127.0.0.1:443 127.0.0.1 localhost:443 localhost [::1]:443 [::1]"},
	} {
		got := hosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: test.port}, test.tls)
		if strings.Join(got, " ") != test.want {
			t.Errorf("hosts = %q, want %q", got, test.want)
		}
	}
}

// Ways that a test cannot come by itself.
func TestCheckPeer(t *testing.T) {
	us := os.Geteuid()
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765}
	for name, test := range map[string]struct {
		peer   *peer
		origin string
		beyond bool
		ok     bool
	}{
		"unknown":                {nil, "", false, false},
		"neither":                {&peer{err: errNoSocket}, "", false, false},
		"our socket":             {&peer{socket: true, cred: credentials{uid: us}}, "", false, true},
		"a page on the socket":   {&peer{socket: true, cred: credentials{uid: us}}, "http://127.0.0.1:8765", false, false},
		"another user":           {&peer{socket: true, cred: credentials{uid: us + 1}}, "", false, false},
		"the kernel is silent":   {&peer{socket: true, cred: credentials{uid: us}, err: errNoSocket}, "", false, false},
		"loopback":               {&peer{local: local, remote: &net.TCPAddr{IP: net.IPv6loopback}}, "", false, true},
		"from elsewhere":         {&peer{local: local, remote: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, "", false, false},
		"to elsewhere":           {&peer{local: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 8765}, remote: local}, "", false, false},
		"beyond, from elsewhere": {&peer{local: local, remote: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, "", true, true},
		"beyond, neither":        {&peer{err: errNoSocket}, "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8765/open", nil)
			if test.peer != nil {
				test.peer.run = func() bool { return false }
				r = r.WithContext(context.WithValue(r.Context(), peerKey{}, test.peer))
			}
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			g := New(&Options{Beyond: test.beyond})
			if e := g.check(r); (e == nil) != test.ok {
				t.Errorf("check = %v", e)
			}
			if _, ok, _ := g.identify(r); ok && !test.ok && test.origin == "" {
				t.Error("somebody is known")
			}
		})
	}
}

func TestAuthenticated(t *testing.T) {
	l := newLab(t)
	bear := func(header string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", header) }
	}
	all := "person|admin|observe,prompt,approve,admin"
	for _, test := range []struct {
		name, header string
		status       int
		want         string
	}{
		{"right", "Bearer " + l.token, 200, all},
		{"other case", "bearer  " + l.token, 200, all},
		{"none", "", 401, ""},
		{"wrong", "Bearer " + l.token + "x", 401, ""},
		{"another scheme", "Basic " + l.token, 401, ""},
		{"no scheme", l.token, 401, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, body := get(t, l.server.Client(), "GET", l.server.URL+"/who", bear(test.header))
			if status != test.status || test.want != "" && body != test.want {
				t.Errorf("%d %s", status, body)
			}
			if _, admin := get(t, l.server.Client(), "GET", l.server.URL+"/admin", bear(test.header)); admin != fmt.Sprint(test.status == 200) {
				t.Errorf("Admin = %s", admin)
			}
		})
	}
	if status, _ := get(t, l.server.Client(), "GET", l.server.URL+"/socket", bear("Bearer "+l.token)); status != 403 {
		t.Errorf("what is for the socket: %d", status)
	}
}

// Somebody who tries tokens does not keep out who has one.
func TestNeverALockOut(t *testing.T) {
	l := newLab(t)
	for range brakeSlots {
		l.guard.store.brake.slots <- struct{}{}
	}
	status, _ := get(t, l.server.Client(), "GET", l.server.URL+"/who", func(r *http.Request) { r.Header.Set("Authorization", "Bearer sb_a_b") })
	if status != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", status)
	}
	if status, _ := get(t, l.server.Client(), "GET", l.server.URL+"/who", nil); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	if status, _ := get(t, l.server.Client(), "GET", l.server.URL+"/who", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+l.token) }); status != http.StatusOK {
		t.Errorf("with the right token: %d", status)
	}
}

func TestUnchecked(t *testing.T) {
	g := New(nil)
	for _, path := range []string{"/who", "/socket"} {
		w := httptest.NewRecorder()
		mux(g).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusForbidden {
			t.Errorf("%s without Checked: %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	g.Checked(mux(g)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("without ConnContext: %d", w.Code)
	}
}

func TestLog(t *testing.T) {
	l := newLab(t)
	with := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+l.token) }
	secret := "hidden-" + l.token[len(l.token)-8:]
	get(t, l.server.Client(), "POST", l.server.URL+"/things/"+secret+"?q="+secret, with)
	get(t, l.server.Client(), "GET", l.server.URL+"/who", with)
	get(t, l.server.Client(), "GET", l.server.URL+"/"+secret, func(r *http.Request) { r.Header.Set("Origin", "http://"+secret) })
	l.server.Close() // after which all has been logged
	got := l.log.String()
	for _, want := range []string{
		`level=INFO msg=request method=POST route="POST /things/{id}" status=202 duration=`,
		`level=DEBUG msg=request method=GET route="GET /who" status=200`,
		`level=INFO msg=request method=GET route=none status=403`,
		"actor=admin\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "hidden") || strings.Contains(got, l.token) {
		t.Errorf("the log holds what it must not:\n%s", got)
	}
}

// A deadline that one answer leaves on a connection does not end the next.
func TestDeadlinesDoNotLast(t *testing.T) {
	g := New(nil)
	m := http.NewServeMux()
	m.HandleFunc("GET /first", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "first")
		c := http.NewResponseController(w)
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
		if err := c.SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewUnstartedServer(g.Checked(m))
	deadlines := make(chan time.Time, 8)
	server.Listener = noting{server.Listener, deadlines}
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return g.ConnContext(ctx, c.(notingConn).Conn)
	}
	server.Start()
	defer server.Close()
	for range 2 {
		if status, body := get(t, server.Client(), "GET", server.URL+"/first", nil); status != 200 || body != "first" {
			t.Errorf("%d %s", status, body)
		}
	}
	for range 2 {
		if first := <-deadlines; !first.IsZero() {
			t.Errorf("a request began with the deadline %v", first)
		}
		<-deadlines
	}
}

// A body that nobody has read and that does not end holds its connection no longer
// than others.
func TestRestOfBody(t *testing.T) {
	g := New(nil)
	inner, server := net.Pipe()
	defer func() { _ = inner.Close() }()
	deadlines := make(chan time.Time, 64)
	h := &http.Server{
		Handler: g.Checked(http.NotFoundHandler()), ReadHeaderTimeout: time.Hour,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, &peer{socket: true, cred: credentials{uid: os.Geteuid()}})
		},
	}
	l := &oneListener{conn: readNoting{server, deadlines}, done: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	defer func() {
		_ = h.Close()
		<-served
	}()
	if _, err := io.WriteString(inner, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12345"); err != nil {
		t.Fatal(err)
	}
	for late := time.After(time.Minute); ; {
		select {
		case at := <-deadlines:
			if left := time.Until(at); left > 0 && left <= restTime {
				return
			}
		case <-late:
			t.Fatal("there is no deadline")
		}
	}
}

// readNoting tells of the read deadlines of a connection.
type readNoting struct {
	net.Conn
	deadlines chan time.Time
}

func (n readNoting) SetReadDeadline(at time.Time) error {
	n.deadlines <- at
	return n.Conn.SetReadDeadline(at)
}

// A oneListener has one connection.
type oneListener struct {
	conn net.Conn // nil once it was accepted; owned by Accept
	done chan struct{}
	once sync.Once
}

func (l *oneListener) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *oneListener) Addr() net.Addr { return &net.UnixAddr{Name: "one"} }

// noting tells of the write deadlines of its connections.
type noting struct {
	net.Listener
	deadlines chan time.Time
}

func (n noting) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	return notingConn{c, n.deadlines}, err
}

type notingConn struct {
	net.Conn
	deadlines chan time.Time
}

func (n notingConn) SetWriteDeadline(at time.Time) error {
	n.deadlines <- at
	return n.Conn.SetWriteDeadline(at)
}
