//go:build linux || darwin

package access

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A browserLab serves what a browser needs to log in and to be known.
type browserLab struct {
	dir   string
	store *TokenStore
	guard *Guard
	url   string
	log   *bytes.Buffer
	close func()
}

// newBrowserLab serves the token store in a folder, as a hub that was started there.
func newBrowserLab(t *testing.T, dir string) *browserLab {
	t.Helper()
	store, err := OpenTokenStore(dir, Token{}, nil)
	noError(t, err)
	l := &browserLab{dir: dir, store: store, log: &bytes.Buffer{}}
	l.guard = New(&Options{Store: store, Log: slog.New(slog.NewTextHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	m := http.NewServeMux()
	m.Handle("/", mux(l.guard))
	m.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		made, cookie, err := store.Login(r.Context(), api.Login{Code: r.FormValue("code"), Name: "Firefox on Linux", Cookie: r.FormValue("cookie") != ""})
		noError(t, err)
		if cookie != nil {
			http.SetCookie(w, cookie)
		}
		noError(t, json.NewEncoder(w).Encode(made))
	})
	m.Handle("POST /logout", l.guard.Authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, err := store.Logout(r.Context())
		noError(t, err)
		if cookie != nil {
			http.SetCookie(w, cookie)
		}
	})))
	server := httptest.NewUnstartedServer(l.guard.Checked(m))
	server.Config.ConnContext = l.guard.ConnContext
	server.Start()
	l.url = server.URL
	l.close = func() {
		server.Close()
		noError(t, store.Close())
	}
	return l
}

// A login is what a browser keeps.
type login struct {
	made   api.CreatedToken
	cookie *http.Cookie // nil if none was set
}

// login exchanges a new code, with the cookie of an earlier login if there is one.
func (l *browserLab) login(t *testing.T, before *http.Cookie, header ...string) login {
	t.Helper()
	form := "code=" + l.store.ConsoleCode().Code + "&cookie=yes"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url+"/login", strings.NewReader(form))
	noError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if before != nil {
		req.AddCookie(before)
	}
	res, err := http.DefaultClient.Do(req)
	noError(t, err)
	defer func() { _ = res.Body.Close() }()
	var got login
	noError(t, json.NewDecoder(res.Body).Decode(&got.made))
	if set := res.Cookies(); len(set) == 1 {
		got.cookie = set[0]
	}
	return got
}

// status returns that of a request with a login.
func (l *browserLab) status(t *testing.T, path string, who login, header ...string) int {
	t.Helper()
	method := http.MethodGet
	if path != "/who" {
		method = http.MethodPost
	}
	status, _ := get(t, http.DefaultClient, method, l.url+path, func(r *http.Request) {
		if who.made.Text != "" {
			r.Header.Set("Authorization", "Bearer "+who.made.Text)
		}
		if who.cookie != nil {
			r.AddCookie(&http.Cookie{Name: who.cookie.Name, Value: who.cookie.Value})
		}
		for i := 0; i < len(header); i += 2 {
			if header[i] == "Host" {
				r.Host = header[i+1]
				continue
			}
			r.Header.Set(header[i], header[i+1])
		}
	})
	return status
}

func TestBrowserLogin(t *testing.T) {
	dir := privateDir(t)
	l := newBrowserLab(t, dir)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.url, "http://"))
	noError(t, err)
	in := l.login(t, nil)
	c := in.cookie
	if c == nil || !in.made.Cookie || c.Name != "switchboard-"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || c.Domain != "" ||
		c.MaxAge < int(deviceTTL.Seconds())-60 || c.MaxAge > int(deviceTTL.Seconds()) {
		t.Fatalf("the cookie is %v", c)
	}
	// Neither half is worth anything alone, and both only to pages of ours.
	other := l.login(t, nil)
	if want := in.made.Name + " (2)"; other.made.Name != want {
		t.Errorf("a second device is called %q, want %q: what both do would be signed alike", other.made.Name, want)
	}
	for _, test := range []struct {
		name   string
		who    login
		header []string
		want   int
	}{
		{"both halves", in, nil, 200},
		{"as our page sends it", in, []string{"Sec-Fetch-Site", "same-origin", "Origin", l.url}, 200},
		{"typed into the address bar", in, []string{"Sec-Fetch-Site", "none"}, 200},
		{"the cookie alone", login{cookie: c}, nil, 401},
		{"the cookie alone, from our page", login{cookie: c}, []string{"Sec-Fetch-Site", "same-origin", "Origin", l.url}, 401},
		{"the text alone", login{made: in.made}, nil, 401},
		{"the cookie of another login", login{in.made, other.cookie}, nil, 401},
		{"another site", in, []string{"Sec-Fetch-Site", "cross-site"}, 401},
		{"another port of this machine", in, []string{"Sec-Fetch-Site", "same-site"}, 401},
		{"a page of another site", in, []string{"Origin", "https://evil.example"}, 403},
		{"a page of another port", in, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a name that leads here", in, []string{"Host", "evil.example:" + port}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := l.status(t, "/who", test.who, test.header...); got != test.want {
				t.Errorf("reading: %d, want %d", got, test.want)
			}
			want := test.want
			if want == 200 {
				want = http.StatusAccepted
			}
			if got := l.status(t, "/things/1", test.who, test.header...); got != want {
				t.Errorf("writing: %d, want %d", got, want)
			}
		})
	}

	// A cookie that a page of another port has set beside ours does not lock out.
	forged := []string{"Cookie", c.Name + "=" + halfPrefix + "forged; " + c.Name + "=" + c.Value}
	if got := l.status(t, "/who", login{made: in.made}, forged...); got != 200 {
		t.Errorf("with a second cookie: %d", got)
	}

	// It outlives the hub.
	l.close()
	first := l.log.String()
	l = newBrowserLab(t, dir)
	_, port, err = net.SplitHostPort(strings.TrimPrefix(l.url, "http://"))
	noError(t, err)
	in.cookie.Name = "switchboard-" + port
	if got := l.status(t, "/who", in); got != 200 {
		t.Errorf("after a restart: %d", got)
	}

	// Logging in again replaces the token of this browser, and no other's.
	again := l.login(t, in.cookie)
	if got := l.status(t, "/who", login{in.made, again.cookie}); got != 401 {
		t.Errorf("the replaced token: %d", got)
	}
	list, err := l.store.List(boss(t))
	noError(t, err)
	if len(list) != 2 || list[0].ID != other.made.ID || list[1].ID != again.made.ID || list[1].Name != "Firefox on Linux" {
		t.Errorf("the tokens are %+v", list)
	}

	// Logging out ends the token, and takes the cookie back.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url+"/logout", nil)
	noError(t, err)
	req.Header.Set("Authorization", "Bearer "+again.made.Text)
	req.AddCookie(again.cookie)
	res, err := http.DefaultClient.Do(req)
	noError(t, err)
	_ = res.Body.Close() // it is empty
	if set := res.Cookies(); res.StatusCode != 200 || len(set) != 1 || set[0].Name != again.cookie.Name || set[0].MaxAge >= 0 || set[0].Value != "" {
		t.Errorf("logout: %d, %v", res.StatusCode, set)
	}
	if got := l.status(t, "/who", again); got != 401 {
		t.Errorf("after logout: %d", got)
	}
	l.close()
	for _, secret := range []string{in.made.Text, in.cookie.Value, again.cookie.Value, again.made.Text} {
		if strings.Contains(first+l.log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

// A cookie is for browsers that ask for one; programs get the whole token.
func TestLoginOfPrograms(t *testing.T) {
	b := newTokenStore(nil)
	made, cookie, err := b.Login(t.Context(), api.Login{Code: b.ConsoleCode().Code})
	noError(t, err)
	if cookie != nil || made.Cookie {
		t.Errorf("%+v, %v", made, cookie)
	}
	if _, ok := b.match(made.Text, nil); !ok {
		t.Error("the token does not work")
	}
	// One that asks for a cookie where none can be set, too.
	made, cookie, err = b.Login(t.Context(), api.Login{Code: b.ConsoleCode().Code, Cookie: true})
	noError(t, err)
	if _, ok := b.match(made.Text, nil); !ok || cookie != nil || made.Cookie {
		t.Errorf("%+v, %v", made, cookie)
	}
	noError(t, b.Close())
}

func TestWhereCookiesAreSet(t *testing.T) {
	near := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765}
	far := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8765}
	for _, test := range []struct {
		name, url, host, origin string
		peer                    *peer
		tls                     bool
		want                    string // the name, and whether it is secure
	}{
		{"this machine", "", "127.0.0.1:8765", "", &peer{local: near, remote: near}, false, "switchboard-8765"},
		{"by its name", "", "localhost:8765", "", &peer{local: near, remote: near}, false, "switchboard-8765"},
		{"the network, without TLS", "", "192.0.2.1:8765", "", &peer{local: far, remote: far}, false, ""},
		{"the network, without TLS, claiming loopback", "", "127.0.0.1:8765", "", &peer{local: far, remote: far}, false, ""},
		{"the network, with TLS", "", "192.0.2.1:8765", "", &peer{local: far, remote: far}, true, "__Host-switchboard-8765 secure"},
		{"a proxy with TLS", "https://hub.example", "hub.example", "", &peer{local: near, remote: near}, false, "__Host-switchboard-8765 secure"},
		{"a proxy that keeps the host", "https://hub.example", "127.0.0.1:8765", "https://hub.example", &peer{local: near, remote: near}, false, "__Host-switchboard-8765 secure"},
		{"a proxy without TLS", "http://hub.example", "hub.example", "", &peer{local: near, remote: near}, false, ""},
		{"past the proxy", "https://hub.example", "127.0.0.1:8765", "http://127.0.0.1:8765", &peer{local: near, remote: near}, false, "switchboard-8765"},
		{"the socket", "", "switchboard", "", &peer{socket: true}, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8765/v1/login", nil)
			r = r.WithContext(context.WithValue(r.Context(), peerKey{}, test.peer))
			r.Host = test.host
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			c := New(&Options{URL: test.url, Beyond: true}).cookies(r)
			got := c.name
			if c.secure && got != "" {
				got += " secure"
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// One step signs out all other devices, and leaves the tokens of programs alone.
func TestRevokeDevices(t *testing.T) {
	b := newTokenStore(nil)
	program := create(t, b, api.CreateToken{Name: "ci", Scopes: []string{"observe"}})
	var texts []string
	for range 3 {
		made, _, err := b.Login(t.Context(), api.Login{Code: b.ConsoleCode().Code})
		noError(t, err)
		texts = append(texts, made.Text)
	}
	own := bearing(t, b, texts[1])
	list, err := b.List(as(t, own))
	noError(t, err)
	current := 0
	for _, token := range list {
		if !token.Used.IsZero() && token.Used.Before(token.Created) {
			t.Errorf("%s was used before it was made", token.ID)
		}
		if token.Current {
			current++
		}
		if token.Current != (token.ID == own.Token) {
			t.Errorf("%s is marked: %v", token.ID, token.Current)
		}
	}
	if current != 1 {
		t.Errorf("%d are marked as the own one", current)
	}
	code, err := b.Code(as(t, bearing(t, b, texts[0])), api.CreateCode{})
	noError(t, err)
	ids, err := b.RevokeDevices(as(t, own))
	noError(t, err)
	if len(ids) != 2 {
		t.Errorf("revoked were %v", ids)
	}
	for i, text := range append(texts, program.Text) {
		if _, ok := b.match(text, nil); ok != (i == 1 || i == 3) {
			t.Errorf("token %d works: %v", i, ok)
		}
	}
	if b.holds(code.Code) {
		t.Error("the code of a device that was signed out still works")
	}
	limited := own
	limited.Scopes = ScopesOf(wire.ScopeObserve)
	if _, err := b.RevokeDevices(as(t, limited)); refusal(t, err) != "403 forbidden" {
		t.Error(err)
	}
	// Whoever has no device, such as a user on the Unix socket, signs out all.
	if ids, err = b.RevokeDevices(boss(t)); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	noError(t, b.Close())
}
