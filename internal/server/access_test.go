//go:build unix

package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// start starts a server that ends with the test.
func start(t *testing.T, change func(*Options)) *Server {
	t.Helper()
	o := options(t, shortDir(t))
	if change != nil {
		change(&o)
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.Close(context.WithoutCancel(t.Context()), true); err != nil {
			t.Error(err)
		}
	})
	return s
}

// connect opens a WebSocket.
func connect(ctx context.Context, s *Server, path string, o *websocket.DialOptions) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, webSocket(s.URL())+path, o) //nolint:bodyclose // the connection owns it
	return ws, err
}

// bearerOf returns the header with a token that has all rights.
func bearerOf(t *testing.T, s *Server) http.Header {
	t.Helper()
	c, err := client.New(&client.Options{Socket: s.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	made, err := c.CreateToken(t.Context(), api.CreateToken{Name: "test", Scopes: []string{"observe", "prompt", "approve", "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + made.Text}}
}

// writeCertificate writes a certificate for 127.0.0.1 with its key, and returns what it is.
func writeCertificate(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	pool := x509.NewCertPool()
	pool.AddCert(writeCertificate(t, dir, 1))
	s := start(t, func(o *Options) {
		o.TLSCert, o.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		o.Addr, o.URL = "0.0.0.0:0", "https://hub.example"
	})
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") || s.PublicURL() != "https://hub.example" || !strings.HasPrefix(s.ConsoleURL(), "https://hub.example/#code=") || len(s.Warnings()) != 0 {
		t.Errorf("%s, %s, %v", s.URL(), s.PublicURL(), s.Warnings())
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, test := range []struct {
		host, origin string
		status       int
	}{
		{"", "", 200},
		{"hub.example", "https://hub.example", 200},
		{"", "http://hub.example", 403},
		{"evil.example", "", 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v1/info", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header, r.Host = bearerOf(t, s), test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != test.status || res.ProtoMajor != 1 {
			t.Errorf("%+v: %s over %s", test, res.Status, res.Proto)
		}
	}
	// Without TLS there is nothing.
	plain := &http.Transport{}
	defer plain.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http"+strings.TrimPrefix(s.URL(), "https")+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := plain.RoundTrip(r); err == nil {
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %s", res.Status)
		}
	}
	ws, err := connect(t.Context(), s, "/ws", &websocket.DialOptions{HTTPClient: client, HTTPHeader: bearerOf(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	_ = ws.CloseNow()
}

// A certificate that was renewed is used without a restart; one that cannot be read changes nothing.
func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	first := writeCertificate(t, dir, 1)
	synctest.Test(t, func(t *testing.T) {
		c := &certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
		serial := func() int64 {
			t.Helper()
			got, err := c.get(nil)
			if err != nil {
				t.Fatal(err)
			}
			return got.Leaf.SerialNumber.Int64()
		}
		touch := func(at time.Time) {
			t.Helper()
			for _, name := range []string{c.cert, c.key} {
				if err := os.Chtimes(name, at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		touch(time.Unix(1, 0))
		if serial() != first.SerialNumber.Int64() {
			t.Error("another certificate")
		}
		writeCertificate(t, dir, 2)
		touch(time.Unix(2, 0))
		if serial() != 1 {
			t.Error("it is read with each connection")
		}
		time.Sleep(certificateCheck)
		if serial() != 2 {
			t.Error("the new one is not used")
		}
		if err := os.WriteFile(c.key, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(certificateCheck)
		if serial() != 2 {
			t.Error("a broken one is used")
		}
		if err := os.Chmod(c.key, 0o604); err != nil {
			t.Fatal(err)
		}
		if _, err := (&certificate{cert: c.cert, key: c.key}).get(nil); err == nil || !strings.Contains(err.Error(), "chmod o=") {
			t.Errorf("a key for all: %v", err)
		}
	})
}

func TestWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"loopback": {func(*Options) {}, ""},
		"relay":    {func(o *Options) { o.OpenRelay = []string{"http://localhost:5173"} }, "http://localhost:5173, and every program of this user that says it was one, look and prompt"},
		"approve":  {func(o *Options) { o.OpenRelay, o.OpenRelayApprove = []string{"http://localhost:5173"}, true }, "answer questions without a token"},
		"dial-in":  {func(o *Options) { o.OpenDial = true }, "dial-in is open: every program of this user"},
		"allowed":  {func(o *Options) { o.Rules.AutoApprove = []string{"Bash", "read-only"} }, "may use Bash, read-only without a question"},
		"network":  {func(o *Options) { o.Addr, o.InsecureLAN = "0.0.0.0:0", true }, "can read tokens"},
		"proxy":    {func(o *Options) { o.Addr, o.BehindProxy, o.URL = "0.0.0.0:0", true, "https://h" }, "only the proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, test.change)
			status, body := get(t, s, "/v1/info")
			var info api.Info
			if err := json.Unmarshal([]byte(body), &info); status != 200 || err != nil {
				t.Fatalf("%d %s", status, body)
			}
			if got := strings.Join(info.Warnings, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("the warnings are %q, want %q", got, test.want)
			}
		})
	}
}

// A page that is named gets in by the relay, and nowhere else.
func TestOpenRelay(t *testing.T) {
	const page = "http://localhost:5173"
	s := start(t, func(o *Options) { o.OpenRelay = []string{page} })
	for _, test := range []struct {
		path, origin string
		ok           bool
	}{
		{"/ws", page, true},
		{"/ws", "http://localhost:5174", false},
		{"/v1/events", page, false},
	} {
		ws, err := connect(t.Context(), s, test.path, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {test.origin}}})
		if (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
		if err == nil {
			_ = ws.CloseNow()
		}
	}
}

// Everybody who is connected is told that the server goes, and why.
func TestCloseTellsEverybody(t *testing.T) {
	s := start(t, nil)
	header := bearerOf(t, s)
	header.Set("Accept", "text/event-stream")
	paths := []string{"/ws", "/v1/events?after=now"}
	ended := make(chan error, len(paths))
	var open []*websocket.Conn
	for _, path := range paths {
		ws, err := connect(t.Context(), s, path, &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		open = append(open, ws)
	}
	for _, ws := range open {
		go func() {
			for {
				if _, _, err := ws.Read(t.Context()); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	if _, err := s.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
	for range paths {
		err := <-ended
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != websocket.StatusServiceRestart && closed.Code != websocket.StatusGoingAway || !strings.Contains(closed.Reason, "shutting down") {
			t.Errorf("ended with %v", err)
		}
	}
}

// What a revoked token has opened ends.
func TestRevokedTokensLeave(t *testing.T) {
	s := start(t, nil)
	ctx := context.Background()
	for _, path := range []string{"/ws", "/v1/events?after=now"} {
		t.Run(path, func(t *testing.T) {
			status, body := send(t, s, http.MethodPost, "/v1/tokens", `{"name":"n","scopes":["observe"]}`)
			var made api.CreatedToken
			if err := json.Unmarshal([]byte(body), &made); status != http.StatusCreated || err != nil {
				t.Fatalf("%d %s", status, body)
			}
			ws, err := connect(ctx, s, path, &websocket.DialOptions{Subprotocols: []string{access.Subprotocol, "sb.token." + made.Text}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = ws.CloseNow() }()
			if ws.Subprotocol() != access.Subprotocol {
				t.Errorf("the sub-protocol is %q", ws.Subprotocol())
			}
			if status, body := send(t, s, http.MethodDelete, "/v1/tokens/"+made.ID, ""); status != http.StatusNoContent {
				t.Fatalf("%d %s", status, body)
			}
			for err == nil {
				_, _, err = ws.Read(ctx)
			}
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// A token that is revoked while the body of its request is on its way gets nothing any more: least of all another token.
func TestRevokedWhileSending(t *testing.T) {
	s := start(t, nil)
	for path, wish := range map[string]string{
		"/v1/tokens": `{"name":"more","scopes":["observe"]}`, "/v1/codes": `{}`, "/v1/policy/explain": `{"tool":"Read"}`, "/sessions": `{"cwd":"/"}`,
	} {
		t.Run(path, func(t *testing.T) {
			status, body := send(t, s, http.MethodPost, "/v1/tokens", `{"name":"n","scopes":["observe","admin"]}`)
			var made api.CreatedToken
			if err := json.Unmarshal([]byte(body), &made); status != http.StatusCreated || err != nil {
				t.Fatalf("%d %s", status, body)
			}
			c, err := net.Dial("tcp", s.tcp[0].Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			// Who waits for "100 Continue" knows that the server has seen the token and waits for the body.
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
				path, s.tcp[0].Addr(), made.Text, len(wish))
			answers := textproto.NewReader(bufio.NewReader(c))
			if line, err := answers.ReadLine(); err != nil || !strings.Contains(line, " 100 ") {
				t.Fatalf("%q, %v", line, err)
			}
			if status, body := send(t, s, http.MethodDelete, "/v1/tokens/"+made.ID, ""); status != http.StatusNoContent {
				t.Fatalf("%d %s", status, body)
			}
			if _, err := io.WriteString(c, wish); err != nil {
				t.Fatal(err)
			}
			if _, err := answers.ReadLine(); err != nil { // the empty one that ends the first answer
				t.Fatal(err)
			}
			if line, err := answers.ReadLine(); err != nil || !strings.Contains(line, " 401 ") {
				t.Errorf("the answer is %q, %v", line, err)
			}
		})
	}
}

// send makes a request by the socket.
func send(t *testing.T, s *Server, method, path, body string) (int, string) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", s.Socket())
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://switchboard"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
