package netproxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var names = map[string][]string{
	"example.com": {"93.184.216.34"}, "www.example.com": {"93.184.216.34"}, "evil.test": {"93.184.216.35"},
	"rebound.test": {"127.0.0.1"}, "meta.test": {"169.254.169.254"}, "router.test": {"192.168.1.1"},
	"both.test": {"127.0.0.1", "10.0.0.1", "93.184.216.36"}, "mine.test": {"203.0.113.7"},
}

func TestConnect(t *testing.T) {
	l := newLab(t, Config{AllowHosts: []string{"example.com", "*.example.com"}, DenyHosts: []string{"evil.test"}}, names, echo)
	conn, r, code, _ := l.connect("Example.COM.:443")
	if code != 200 {
		t.Fatalf("code %d", code)
	}
	l.roundTrip(conn, r)
	for host, want := range map[string]string{
		"evil.test:443":      "Switchboard's sandbox refused the connection to evil.test:443: a rule denies this host.\n",
		"other.test:443":     "Switchboard's sandbox refused the connection to other.test:443: no rule allows this host.\n",
		"0x7f.1:80":          "Switchboard's sandbox refused the connection to 0x7f.1:80: this is not a valid host name.\n",
		"www.example.com:44": "Switchboard's sandbox could not connect to www.example.com:44: no such host.\n",
	} {
		if strings.HasPrefix(host, "www") {
			l.mu.Lock()
			l.names = nil
			l.mu.Unlock()
		}
		_, _, code, body := l.connect(host)
		wantCode := 403
		if strings.Contains(want, "could not") {
			wantCode = 502
		}
		if code != wantCode && body != "" || body != want {
			t.Errorf("%s: %d %q", host, code, body)
		}
		l.mu.Lock()
		l.names = names
		l.mu.Unlock()
	}
	if got := l.seen(&l.dials); !cmp.Equal(got, []string{"93.184.216.34:443"}) {
		t.Errorf("dialed %v", got)
	}
	// Nothing tells a name that was not allowed to a resolver.
	if got := l.seen(&l.lookups); slices.Contains(got, "evil.test") || slices.Contains(got, "other.test") {
		t.Errorf("looked up %v", got)
	}
	if got := l.seen(&l.refused); len(got) != 3 || !slices.Contains(got, "evil.test:443 7 curl: a rule denies this host") {
		t.Errorf("told of %q", got)
	}
}

// What a client sends before it has the answer to its CONNECT belongs to the
// tunnel.
func TestEarlyData(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{Decide: j.decide}, names, echo)
	conn := l.dial()
	_, _ = io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\n\r\nearly ")
	a := j.next(t)
	_, _ = io.WriteString(conn, "bird")
	_ = conn.CloseWrite()
	a.answer <- Allow
	r := bufio.NewReader(conn)
	if code, _ := l.answer(r, http.MethodConnect); code != 200 {
		t.Fatalf("code %d", code)
	}
	if got, _ := io.ReadAll(r); string(got) != "early bird" {
		t.Errorf("got %q", got)
	}
}

func TestPlainHTTP(t *testing.T) {
	headers := make(chan http.Header, 10)
	l := newLab(t, Config{AllowHosts: []string{"example.com"}, Credential: "s3cret"}, names, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		r.Header["Seen"] = []string{r.Host + " " + r.RequestURI}
		headers <- r.Header
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: 5\r\n\r\nhello")
	})
	conn := l.dial()
	r := bufio.NewReader(conn)
	secret := "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("switchboard:s3cret")) + "\r\n"
	send := func(url string, more ...string) (int, string) {
		t.Helper()
		_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: wrong.test\r\n%s\r\n", url, strings.Join(more, ""))
		if err != nil {
			t.Fatal(err)
		}
		return l.answer(r, http.MethodGet)
	}
	if code, _ := send("http://example.com/a"); code != 407 {
		t.Errorf("without a credential: %d", code)
	}
	code, body := send("http://example.com/a?b", secret, "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nProxy-Connection: keep-alive\r\nTE: gzip\r\nX-Forwarded-For: me\r\nX-Other: 2\r\n")
	if code != 200 || body != "hello" {
		t.Fatalf("%d %q", code, body)
	}
	got := receive(t, headers)
	want := http.Header{"Seen": {"example.com /a?b"}, "X-Other": {"2"}, "X-Forwarded-For": {"me"}, "Connection": {"close"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server saw (-want +got):\n%s", diff)
	}
	// The same connection, another host: a decision of its own.
	if code, body := send("http://evil.test/", secret); code != 403 || !strings.Contains(body, "refused the connection to evil.test:80") {
		t.Errorf("%d %q", code, body)
	}
	if code, _ := send("http://example.com:8080/", secret); code != 200 {
		t.Errorf("code %d", code)
	}
	for _, url := range []string{"/", "https://example.com/", "ftp://example.com/", "*"} {
		if code, _ := send(url, secret); code != 400 {
			t.Errorf("%s: %d", url, code)
		}
	}
	if got := l.seen(&l.dials); !cmp.Equal(got, []string{"93.184.216.34:80", "93.184.216.34:8080"}) {
		t.Errorf("dialed %v", got)
	}
}

func TestUpgrade(t *testing.T) {
	l := newLab(t, Config{AllowHosts: []string{"example.com"}}, names, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(conn, r)
	})
	conn := l.dial()
	_, _ = io.WriteString(conn, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("code %d", response.StatusCode)
	}
	_, _ = io.WriteString(conn, "ping")
	buf := make([]byte, 4)
	if _, err := io.ReadFull(r, buf); err != nil || string(buf) != "ping" {
		t.Fatalf("%q %v", buf, err)
	}
}

// socks speaks SOCKS5 up to the reply, and returns its code.
func (l *lab) socks(conn net.Conn, command byte, user, password string, address []byte) (byte, error) {
	l.t.Helper()
	method := byte(0)
	if user != "" {
		method = 2
	}
	_, _ = conn.Write([]byte{5, 1, method})
	reply := make([]byte, 2)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return 0, err
	}
	if reply[1] != method {
		return 0, fmt.Errorf("method %d", reply[1])
	}
	if user != "" {
		_, _ = conn.Write(slices.Concat([]byte{1, byte(len(user))}, []byte(user), []byte{byte(len(password))}, []byte(password)))
		if _, err := io.ReadFull(conn, reply); err != nil {
			return 0, err
		}
		if reply[1] != 0 {
			return 0, errors.New("wrong password")
		}
	}
	_, _ = conn.Write(append([]byte{5, command, 0}, address...))
	answer := make([]byte, 10)
	_, err := io.ReadFull(conn, answer)
	return answer[1], err
}

func domain(name string, port int) []byte {
	return append(append([]byte{3, byte(len(name))}, name...), byte(port>>8), byte(port))
}

func TestSOCKS(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{AllowHosts: []string{"example.com"}, DenyHosts: []string{"10.0.0.1"}, Decide: j.decide}, names, echo)
	conn := l.dial()
	if code, err := l.socks(conn, 1, "", "", domain("example.com", 443)); code != 0 || err != nil {
		t.Fatalf("%d %v", code, err)
	}
	l.roundTrip(conn, conn)
	for _, c := range []struct {
		what    string
		command byte
		address []byte
		want    byte
	}{
		{"denied, as an address", 1, []byte{1, 10, 0, 0, 1, 0, 80}, 2},
		{"denied, in a spelling", 1, domain("::ffff:10.0.0.1", 80), 2},
		{"loopback", 1, []byte{1, 127, 0, 0, 1, 0, 80}, 2},
		{"loopback of IPv6", 1, []byte{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80}, 2},
		{"no name", 1, domain("", 80), 2},
		{"bind", 2, domain("example.com", 80), 7},
		{"UDP", 3, domain("example.com", 80), 7},
		{"an unknown kind of address", 1, []byte{9, 0, 0}, 8},
	} {
		if code, err := l.socks(l.dial(), c.command, "", "", c.address); code != c.want || err != nil {
			t.Errorf("%s: %d %v, want %d", c.what, code, err, c.want)
		}
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if code, err := l.socks(l.dial(), 1, "", "", domain("other.test", 22)); code != 2 || err != nil {
			t.Errorf("refused by a person: %d %v", code, err)
		}
	}()
	a := j.next(t)
	if want := (Request{Host: "other.test", Port: 22, PID: 7, Command: "curl"}); a.Request != want {
		t.Errorf("asked %v", a.Request)
	}
	a.answer <- Refuse
	<-asked
}

func TestSOCKSCredential(t *testing.T) {
	l := newLab(t, Config{AllowHosts: []string{"example.com"}, Credential: "s3cret"}, names, echo)
	for _, c := range []struct {
		user, password string
		ok             bool
	}{{"switchboard", "s3cret", true}, {"switchboard", "s3cre", false}, {"other", "s3cret", false}, {"", "", false}} {
		code, err := l.socks(l.dial(), 1, c.user, c.password, domain("example.com", 443))
		if (err == nil && code == 0) != c.ok {
			t.Errorf("%q %q: %d %v", c.user, c.password, code, err)
		}
	}
}

// Which addresses can be reached by which names.
func TestAddresses(t *testing.T) {
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.IPv4(203, 0, 113, 7), Mask: net.CIDRMask(24, 32)}}, nil
	}
	for _, c := range []struct {
		what        string
		allow, deny []string
		otherwise   Verdict
		host        string
		dialed      string // empty: refused
	}{
		{"localhost", []string{"*"}, nil, Allow, "localhost:80", ""},
		{"a name below localhost", []string{"*"}, nil, Allow, "a.localhost:80", ""},
		{"loopback", []string{"*"}, nil, Allow, "127.0.0.1:80", ""},
		{"unspecified", []string{"*"}, nil, Allow, "0.0.0.0:80", ""},
		{"mapped", []string{"*"}, nil, Allow, "[::ffff:127.0.0.1]:80", ""},
		{"an address of this machine", []string{"*"}, nil, Allow, "203.0.113.7:80", ""},
		{"a name with an address of this machine", []string{"mine.test"}, nil, Allow, "mine.test:80", ""},
		{"a name that leads to loopback", []string{"rebound.test"}, nil, Allow, "rebound.test:80", ""},
		{"metadata of a cloud", []string{"*"}, nil, Allow, "169.254.169.254:80", ""},
		{"metadata by a name", []string{"meta.test"}, nil, Allow, "meta.test:80", ""},
		{"a rule for localhost", []string{"localhost"}, nil, Refuse, "localhost:80", "127.0.0.1:80"},
		{"a rule for one port", []string{"localhost:80"}, nil, Refuse, "localhost:80", "127.0.0.1:80"},
		{"a rule for another port", []string{"localhost:81"}, nil, Allow, "localhost:80", ""},
		{"a rule for localhost is none for the address", []string{"localhost"}, nil, Allow, "127.0.0.1:80", ""},
		{"a rule for the address", []string{"127.0.0.1:80"}, nil, Refuse, "127.0.0.1:80", "127.0.0.1:80"},
		{"a rule for a name and port", []string{"rebound.test:80"}, nil, Refuse, "rebound.test:80", "127.0.0.1:80"},
		{"denial wins", []string{"localhost:80"}, []string{"127.0.0.1", "::1"}, Allow, "localhost:80", ""},
		{"a rule for the metadata", []string{"169.254.169.254"}, nil, Refuse, "169.254.169.254:80", "169.254.169.254:80"},
		{"a private address", nil, nil, Allow, "10.0.0.1:80", "10.0.0.1:80"},
		{"a private address in no list", nil, nil, Refuse, "10.0.0.1:80", ""},
		{"a private address by a listed name", []string{"router.test"}, nil, Refuse, "router.test:80", "192.168.1.1:80"},
		{"a denied address by a name", []string{"router.test"}, []string{"192.168.1.1"}, Allow, "router.test:80", ""},
		{"public addresses first", nil, nil, Allow, "both.test:80", "93.184.216.36:80"},
		{"a name whose one address is denied", nil, []string{"93.184.216.36"}, Allow, "both.test:80", "10.0.0.1:80"},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := newLab(t, Config{AllowHosts: c.allow, DenyHosts: c.deny, Otherwise: c.otherwise, own: own}, names, echo)
			_, _, code, body := l.connect(c.host)
			got := strings.Join(l.seen(&l.dials), " ")
			if got != c.dialed || (code == 200) != (c.dialed != "") {
				t.Errorf("%d %q, dialed %q, want %q", code, body, got, c.dialed)
			}
		})
	}
}

// A private address behind a name that a person has allowed is asked about as
// well; loopback and link-local addresses are not asked about at all.
func TestPrivateIsAsked(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{Decide: j.decide}, names, echo)
	codes := make(chan int, 1)
	go func() {
		_, _, code, _ := l.connect("router.test:80")
		codes <- code
	}()
	for _, want := range []string{"router.test", "192.168.1.1"} {
		a := j.next(t)
		if a.Host != want {
			t.Errorf("asked about %s, want %s", a.Host, want)
		}
		a.answer <- Allow
	}
	if code := receive(t, codes); code != 200 {
		t.Errorf("code %d", code)
	}
	for _, host := range []string{"localhost:80", "127.0.0.1:80", "169.254.169.254:80"} {
		if _, _, code, _ := l.connect(host); code != 403 {
			t.Errorf("%s: %d", host, code)
		}
	}
	for _, host := range []string{"rebound.test:80", "meta.test:80"} {
		go func() {
			_, _, code, _ := l.connect(host)
			codes <- code
		}()
		j.next(t).answer <- Allow
		if code := receive(t, codes); code != 403 {
			t.Errorf("%s: %d", host, code)
		}
	}
	if len(j.asked) != 0 {
		t.Errorf("asked about %v", (<-j.asked).Request)
	}
}

// A name is resolved once, and its address is the one that is used.
func TestRebinding(t *testing.T) {
	l := newLab(t, Config{AllowHosts: []string{"example.com"}}, map[string][]string{"example.com": {"93.184.216.34"}}, echo)
	if _, _, code, _ := l.connect("example.com:443"); code != 200 {
		t.Fatal(code)
	}
	if got := l.seen(&l.lookups); len(got) != 1 {
		t.Errorf("looked up %v", got)
	}
	if got := l.seen(&l.dials); !cmp.Equal(got, []string{"93.184.216.34:443"}) {
		t.Errorf("dialed %v", got)
	}
}

func TestUnreachable(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, 502, "could not connect to example.com:443: connection refused"},
		{context.DeadlineExceeded, 504, "could not connect to example.com:443"},
	} {
		listener := listen(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		p := New(Config{
			AllowHosts: []string{"93.184.216.34", "example.com"}, own: func() ([]net.Addr, error) { return nil, nil },
			Dial:   func(context.Context, string, string) (net.Conn, error) { return nil, c.err },
			Lookup: newLab(t, Config{}, names, echo).lookup,
		})
		go func() {
			defer close(done)
			p.Serve(ctx, listener)
		}()
		l := &lab{t: t, address: listener.Addr().String()}
		_, _, code, body := l.connect("example.com:443")
		if code != c.code || !strings.Contains(body, c.text) {
			t.Errorf("%d %q", code, body)
		}
		if code, err := l.socks(l.dial(), 1, "", "", domain("example.com", 443)); code != 4 || err != nil {
			t.Errorf("SOCKS: %d %v", code, err)
		}
		cancel()
		<-done
	}
}

func TestForward(t *testing.T) {
	outside := listen(t)
	go func() {
		conn, err := outside.Accept()
		if err == nil {
			echo(conn)
			_ = conn.Close()
		}
	}()
	inside := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Forward(ctx, inside, outside.Addr().String(), nil)
	}()
	l := &lab{t: t, address: inside.Addr().String()}
	conn := l.dial()
	l.roundTrip(conn, conn)
	_ = outside.Close()
	if n, err := l.dial().Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("a port without a listener answers: %d %v", n, err)
	}
	cancel()
	receive(t, ended)
}

// What no proxy could know must still come to an end.
func TestServeEnds(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{AllowHosts: []string{"example.com"}, Decide: j.decide}, names, echo)
	open, r, code, _ := l.connect("example.com:443")
	if code != 200 {
		t.Fatal(code)
	}
	waiting := l.dial()
	_, _ = io.WriteString(waiting, "CONNECT other.test:443 HTTP/1.1\r\n\r\n")
	j.next(t)
	silent, half := l.dial(), l.dial()
	_, _ = half.Write([]byte{5})
	l.stop()
	receive(t, l.ended)
	receive(t, j.cancel)
	for _, c := range []io.Reader{r, waiting, silent, half} {
		if _, err := io.Copy(io.Discard, c); errors.Is(err, context.DeadlineExceeded) {
			t.Error("a connection lives on")
		}
	}
	_ = open.Close()
	if got := l.seen(&l.refused); len(got) > 0 {
		t.Errorf("told of refusals at the end: %q", got)
	}
}

func TestIdle(t *testing.T) {
	l := newLab(t, Config{AllowHosts: []string{"example.com"}, idle: 50 * time.Millisecond}, names, echo)
	_, r, code, _ := l.connect("example.com:443")
	if code != 200 {
		t.Fatal(code)
	}
	if _, err := io.ReadAll(r); errors.Is(err, context.DeadlineExceeded) {
		t.Error("a connection that carries nothing is kept")
	}
}
