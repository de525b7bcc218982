package access

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

const (
	testToken  = "sb_tester_0123456789012345678901234567890123456789"
	testOrigin = "http://localhost:5173"
)

// newGuard makes a guard that knows testToken.
func newGuard(t *testing.T, o Options) *Guard {
	t.Helper()
	token, err := ParseToken(testToken, "tester", ScopesOf(wire.ScopeObserve, wire.ScopePrompt))
	if err != nil {
		t.Fatal(err)
	}
	o.Tokens = []Token{token}
	return New(&o)
}

// upgrade returns a WebSocket upgrade, as it comes over loopback.
func upgrade(t *testing.T, path string, header ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8765"+path, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return overLoopback(r)
}

func overLoopback(r *http.Request) *http.Request {
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765}
	return r.WithContext(context.WithValue(r.Context(), peerKey{}, &peer{local: local, remote: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}}))
}

func TestWebSocketTokens(t *testing.T) {
	const protocol = "Sec-Websocket-Protocol"
	g := newGuard(t, Options{})
	for _, test := range []struct {
		name      string
		header    []string
		late      bool // with Admitted
		status    int
		who, left string // of the sub-protocols
	}{
		{"header", []string{"Authorization", "Bearer " + testToken}, false, 200, "tester", ""},
		{"sub-protocol", []string{protocol, "switchboard.v1, sb.token." + testToken}, false, 200, "tester", "switchboard.v1"},
		{"in two headers", []string{protocol, "sb.token." + testToken, protocol, "other,switchboard.v1"}, false, 200, "tester", "other, switchboard.v1"},
		{"header before sub-protocol", []string{"Authorization", "Bearer " + testToken, protocol, "switchboard.v1, sb.token.x"}, false, 200, "tester", "switchboard.v1"},
		{"wrong one", []string{protocol, "switchboard.v1, sb.token." + testToken + "x"}, false, 401, "", ""},
		{"without ours", []string{protocol, "sb.token." + testToken}, false, 401, "", ""},
		{"two", []string{protocol, "switchboard.v1, sb.token." + testToken + ", sb.token." + testToken}, false, 401, "", ""},
		{"empty", []string{protocol, "switchboard.v1, sb.token."}, false, 401, "", ""},
		{"none", []string{protocol, "switchboard.v1"}, false, 401, "", ""},
		{"none, late", []string{protocol, "switchboard.v1"}, true, 200, "", "switchboard.v1"},
		{"nothing, late", nil, true, 200, "", ""},
		{"wrong one, late", []string{protocol, "switchboard.v1, sb.token.x"}, true, 401, "", ""},
		{"wrong header, late", []string{"Authorization", "Bearer sb_a_b"}, true, 401, "", ""},
		{"right, late", []string{protocol, "switchboard.v1, sb.token." + testToken}, true, 200, "tester", "switchboard.v1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // wrong ones are held back
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					id, _ := From(r.Context())
					fmt.Fprintf(w, "%s|%s", id.Name, strings.Join(r.Header.Values(protocol), ";"))
				})
				inner := g.Authenticated(handler)
				if test.late {
					inner = g.Admitted(handler)
				}
				w := httptest.NewRecorder()
				g.Checked(inner).ServeHTTP(w, upgrade(t, "/ws", test.header...))
				if w.Code != test.status || w.Code == 200 && w.Body.String() != test.who+"|"+test.left {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				if strings.Contains(w.Body.String(), "sb_") {
					t.Errorf("the answer holds the token: %s", w.Body)
				}
			})
		})
	}
	// What is no upgrade has no sub-protocols, and needs a token at once.
	r := overLoopback(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8765/ws", nil))
	r.Header.Set(protocol, "switchboard.v1, sb.token."+testToken)
	w := httptest.NewRecorder()
	g.Checked(g.Admitted(http.NotFoundHandler())).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("without an upgrade: %d", w.Code)
	}
}

func TestFirstLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"auth","token":"sb_a_b"}`:                                       "sb_a_b true",
		`{"type":"auth","credential":{"type":"oauth","token":"sb_a_b"},"x":[1]}`: "sb_a_b true",
		`{"type":"auth","token":"sb_a_b","credential":{"token":"other"}}`:        "sb_a_b true",
		`{"type":"auth"}`:                  " true",
		`{"type":"user","token":"sb_a_b"}`: " false",
		`{"type":"auth","token":7}`:        " false",
		`sb_a_b`:                           " false",
		``:                                 " false",
	} {
		token, ok := FirstLine([]byte(line))
		if got := fmt.Sprint(token, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestIdentify(t *testing.T) {
	g := newGuard(t, Options{})
	synctest.Test(t, func(t *testing.T) {
		handler := g.Admitted(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			start := time.Now()
			if _, e := g.Identify(r.Context(), testToken+"x"); e == nil || e.Status != 401 || time.Since(start) != brakeShortest {
				t.Errorf("a wrong one: %v after %v", e, time.Since(start))
			}
			if _, known := From(r.Context()); known {
				t.Error("somebody is known")
			}
			if id, e := g.Identify(r.Context(), testToken); e != nil || id.Name != "tester" || id.Token != "tester" {
				t.Errorf("the right one: %+v, %v", id, e)
			}
			if id, known := From(r.Context()); !known || id.Name != "tester" {
				t.Errorf("From = %+v, %v", id, known)
			}
			for range brakeSlots {
				g.store.brake.slots <- struct{}{}
			}
			if _, e := g.Identify(r.Context(), ""); e == nil || e.Status != 429 {
				t.Errorf("one too many: %v", e)
			}
		}))
		g.Checked(handler).ServeHTTP(httptest.NewRecorder(), upgrade(t, "/ws"))
	})
	if _, e := g.Identify(t.Context(), testToken); e == nil {
		t.Error("a connection that nobody knows")
	}
	// On the socket the kernel says who it is, whatever token a run has found.
	ours := &peer{socket: true, cred: credentials{uid: os.Geteuid()}, run: func() bool { return true }}
	if id, e := g.Identify(context.WithValue(t.Context(), peerKey{}, ours), testToken); e != nil || id.Limited == "" || id.Token != "" {
		t.Errorf("a process of a run: %+v, %v", id, e)
	}
}

func TestSecretsInAddresses(t *testing.T) {
	secret := strings.TrimPrefix(testToken, "sb_")
	for target, want := range map[string]bool{
		"/ws?session=s5k2m7q3zr4t6w8xabcdy":                                false,
		"/v1/sessions/s5k2m7q3zr4t6w8xabcdy/events":                        false,
		"/v1/sessions?q=sb_":                                               false,
		"/v1/sessions?q=usb_stick_and_more":                                false,
		"/?token=" + testToken:                                             true,
		"/?a=1&x=" + testToken + "&b=2":                                    true,
		"/" + testToken + "/ws":                                            true,
		"/?token=sb%5F" + strings.ReplaceAll(secret, "_", "%5f"):           true,
		"/%73b_" + secret:                                                  true,
		"/?token=SB_" + strings.ToUpper(secret):                            true,
		"/?" + testToken:                                                   true,
		"/?t=sbr_s5k2m7q3zr4t6w8xabcdy_1_abcdefghijklmnopqrstuvwxyz234567": true,
		"/?code=" + newTokenStore(nil).ConsoleCode().Code:                  true,
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := secretInURL(u); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	l := newLab(t)
	status, body := get(t, l.server.Client(), "GET", l.server.URL+"/who?token="+l.token, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+l.token) })
	if status != http.StatusBadRequest || strings.Contains(body, l.token) {
		t.Errorf("%d %s", status, body)
	}
	l.server.Close() // after which all has been logged
	if strings.Contains(l.log.String(), l.token[3:]) {
		t.Errorf("the log has %s", l.log)
	}
}

func TestPublicAddress(t *testing.T) {
	for _, test := range []struct {
		url    string
		tls    bool
		host   string
		origin string
		ok     bool
	}{
		{"https://hub.example", false, "hub.example", "https://hub.example", true},
		{"https://hub.example", false, "HUB.example:443", "https://hub.example", true},
		{"https://hub.example:443", false, "hub.example", "https://hub.example", true},
		{"https://hub.example", false, "hub.example:80", "", false},
		{"https://hub.example", false, "hub.example", "http://hub.example", false},
		{"https://hub.example", false, "hub.example", "https://hub.example.evil", false},
		{"https://hub.example", false, "hub.example", "https://evil.example", false},
		{"https://hub.example", false, "evil.example", "", false},
		{"https://hub.example", false, "127.0.0.1:8765", "http://127.0.0.1:8765", true},
		{"https://hub.example", false, "127.0.0.1:8765", "https://hub.example", true}, // a proxy that does not pass the host on
		{"https://hub.example:8443", true, "hub.example:8443", "https://hub.example:8443", true},
		{"https://hub.example:8443", true, "hub.example", "", false},
		{"https://hub.example:8443", true, "127.0.0.1:8765", "https://127.0.0.1:8765", true},
		{"https://hub.example:8443", true, "127.0.0.1:8765", "http://127.0.0.1:8765", false},
		{"", false, "hub.example", "", false},
		{"", false, "", "", false},
		{"hub.example", false, "hub.example", "", false},
		{"https://hub.example/path", false, "hub.example", "", false},
	} {
		g := newGuard(t, Options{URL: test.url, TLS: test.tls})
		r := overLoopback(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8765/", nil))
		r.Host = test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		if e := g.check(r); (e == nil) != test.ok {
			t.Errorf("%+v: %v", test, e)
		}
	}
}

// openLab serves a relay that is open for testOrigin.
func openLab(t *testing.T, approve bool) *httptest.Server {
	t.Helper()
	g := newGuard(t, Options{OpenRelay: OpenRelay{Origins: []string{testOrigin}, Path: "/ws", Approve: approve}})
	m := http.NewServeMux()
	m.Handle("/", g.Admitted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, known := From(r.Context())
		if !known {
			if id, known = g.Open(r); !known {
				fmt.Fprint(w, "unknown")
				return
			}
			if again, known := From(r.Context()); !known || again != id {
				t.Error("From does not know")
			}
		}
		fmt.Fprintf(w, "%s|%s|%v", id.Name, id.Scopes, id.OpenRelay)
	})))
	server := httptest.NewUnstartedServer(g.Checked(m))
	server.Config.ConnContext = g.ConnContext
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func TestOpenRelay(t *testing.T) {
	for _, approve := range []bool{false, true} {
		server := openLab(t, approve)
		guest := "200 open relay|observe,prompt|true"
		if approve {
			guest = "200 open relay|observe,prompt,approve|true"
		}
		for _, test := range []struct {
			name, path, origin, token string
			plain                     bool // no upgrade
			want                      string
		}{
			{"the page", "/ws", testOrigin, "", false, guest},
			{"with a token", "/ws", testOrigin, testToken, false, "200 tester|observe,prompt|false"},
			{"no origin", "/ws", "", "", false, "200 unknown"},
			{"our own origin", "/ws", server.URL, "", false, "200 unknown"},
			{"another page", "/ws", "http://localhost:5174", "", false, "403"},
			{"capitals", "/ws", "http://LOCALHOST:5173", "", false, "403"},
			{"a file", "/ws", "null", "", false, "403"},
			{"another path", "/v1/events", testOrigin, "", false, "403"},
			{"a longer path", "/ws/", testOrigin, "", false, "403"},
			{"no upgrade", "/ws", testOrigin, "", true, "403"},
		} {
			t.Run(test.name, func(t *testing.T) {
				status, body := get(t, server.Client(), http.MethodGet, server.URL+test.path, func(r *http.Request) {
					if !test.plain {
						r.Header.Set("Connection", "Upgrade")
						r.Header.Set("Upgrade", "websocket")
					}
					if test.origin != "" {
						r.Header.Set("Origin", test.origin)
					}
					if test.token != "" {
						r.Header.Set("Authorization", "Bearer "+test.token)
					}
				})
				if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, test.want) {
					t.Errorf("%s, want %s", got, test.want)
				}
			})
		}
	}
	g := newGuard(t, Options{Beyond: true, OpenRelay: OpenRelay{Origins: []string{testOrigin}, Path: "/ws"}})
	far := &peer{local: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 8765}, remote: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	for name, p := range map[string]*peer{"elsewhere": far, "nobody": nil, "the socket": {socket: true, cred: credentials{uid: os.Geteuid()}}} {
		r := upgrade(t, "/ws", "Origin", testOrigin)
		if _, ok := g.Open(r.WithContext(context.WithValue(r.Context(), peerKey{}, p))); ok {
			t.Errorf("open for %s", name)
		}
	}
}

// dial connects to a listener.
func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// limited returns a listener with limits, and a function that connects to it.
func limited(t *testing.T, limits Limits) (*limitedListener, func() (client net.Conn, server *limitedConn)) {
	t.Helper()
	g := New(&Options{Limits: limits, Log: slog.New(slog.DiscardHandler)})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	l, _ := g.Limit(inner).(*limitedListener)
	return l, func() (net.Conn, *limitedConn) {
		t.Helper()
		client := dial(t, inner)
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		return client, server.(*limitedConn)
	}
}

func TestLimits(t *testing.T) {
	for name, limits := range map[string]Limits{"in all": {Connections: 2}, "per address": {PerAddress: 2}} {
		t.Run(name, func(t *testing.T) {
			l, connect := limited(t, limits)
			_, first := connect()
			connect()
			crowd := dial(t, l)
			accepted := make(chan net.Conn)
			go func() {
				c, err := l.Accept()
				if err != nil {
					t.Error(err)
				}
				accepted <- c
			}()
			res, err := http.ReadResponse(bufio.NewReader(crowd), nil)
			if err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Content-Type") != ProblemType {
				t.Fatalf("%v, %v", res, err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || !strings.HasSuffix(string(body), "}") {
				t.Errorf("%s, %v", body, err)
			}
			_ = res.Body.Close()
			for range 2 { // a second time does nothing
				_ = first.Close()
			}
			dial(t, l)
			_ = (<-accepted).Close()
			if l.limiter.total != 1 || l.limiter.unknown.Len() != 1 || len(l.limiter.from) != 1 {
				t.Errorf("%d are counted, %d of them unknown, from %v", l.limiter.total, l.limiter.unknown.Len(), l.limiter.from)
			}
		})
	}
	if l := newLimiter(Limits{}, nil, nil).limits; l.Connections <= 500 || l.PerAddress <= 500 || l.Unknown <= 0 {
		t.Errorf("the defaults are %+v", l)
	}
	_, connect := limited(t, Limits{Connections: -1, PerAddress: -1, Unknown: -1})
	for range 5 {
		connect()
	}
}

// Whoever has shown a token is not pushed out by those who have not.
func TestUnknownArePushedOut(t *testing.T) {
	_, connect := limited(t, Limits{Unknown: 2})
	known, first := connect()
	newPeer(tls.Server(first, nil), nil).known() // TLS hides it
	oldest, _ := connect()
	second, third := connect()
	connect()
	if _, err := oldest.Read(make([]byte, 1)); err == nil {
		t.Error("the oldest is still there")
	}
	for name, pair := range map[string][2]net.Conn{"known": {known, first}, "second": {second, third}} {
		if _, err := pair[1].Write([]byte("x")); err != nil {
			t.Errorf("the %s one: %v", name, err)
			continue
		}
		if _, err := pair[0].Read(make([]byte, 1)); err != nil {
			t.Errorf("the %s one: %v", name, err)
		}
	}
}

// Requests that are served make a connection known.
func TestKnownConnections(t *testing.T) {
	l := newLab(t)
	for _, test := range []struct {
		name    string
		handler http.Handler
		header  string
		unknown int
	}{
		{"open", mux(l.guard), "", 1},
		{"wrong", l.guard.Authenticated(http.NotFoundHandler()), "Bearer sb_a_b", 1},
		{"right", l.guard.Authenticated(http.NotFoundHandler()), "Bearer " + l.token, 0},
		{"vouched", l.guard.Vouched(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })), "", 0},
		{"refused by a handler", l.guard.Vouched(http.NotFoundHandler()), "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := New(&Options{Store: l.guard.store})
			server := httptest.NewUnstartedServer(l.guard.Checked(test.handler))
			server.Listener = g.Limit(server.Listener)
			server.Config.ConnContext = g.ConnContext
			server.Start()
			defer server.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/open", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", test.header)
			res, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			// A body that is not read to its end costs the connection, which then is
			// not there to be counted.
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close() // it was read
			g.limiter.mu.Lock()
			defer g.limiter.mu.Unlock()
			if got := g.limiter.unknown.Len(); got != test.unknown {
				t.Errorf("%d are unknown, want %d", got, test.unknown)
			}
		})
	}
}

func TestOriginOfConnections(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "::1": "::1/128",
	} {
		if got := origin(&net.TCPAddr{IP: net.ParseIP(from), Port: 7}); got.String() != want {
			t.Errorf("%s comes from %s, want %s", from, got, want)
		}
	}
	if got := origin(&net.UnixAddr{}); got.IsValid() {
		t.Errorf("a socket comes from %s", got)
	}
}
