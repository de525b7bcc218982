package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// pinned returns a client that trusts the certificate with this fingerprint alone.
func pinned(t *testing.T, fingerprint string) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // the certificate is signed by itself, and pinned below
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf := state.PeerCertificates[0]
			if got := fmt.Sprintf("%X", sha256.Sum256(leaf.Raw)); got != strings.ReplaceAll(fingerprint, ":", "") {
				return fmt.Errorf("another certificate: %s", got)
			}
			return leaf.VerifyHostname("127.0.0.1")
		},
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// An answer is what the hub said.
type answer struct {
	status  int
	body    []byte
	cookies []*http.Cookie
}

// dialer connects to the host of an address, whatever name is asked for.
func dialer(base string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, strings.TrimPrefix(base, "https://"))
	}
}

// TestPhone lets a phone in: over TLS with the certificate whose fingerprint was printed, once per link, until it is switched off.
func TestPhone(t *testing.T) {
	dir := filepath.Join(shortDir(t), "d")
	s := serve(t, dir, environment(t), "--agent", "sim", "--log-level", "debug")
	env := environment(t, "SWITCHBOARD_DATA_DIR="+dir)
	open := func(flags ...string) (base, code, fingerprint string) {
		t.Helper()
		exit, out, stderr := verb(t, env, "", append([]string{"console", "--phone"}, flags...)...)
		base, code, found := strings.Cut(strings.TrimSpace(out), "/#code=")
		_, fingerprint, printed := strings.Cut(stderr, "SHA-256 ")
		if exit != codeDone || !found || !printed || !strings.HasPrefix(base, "https://127.0.0.1:") {
			t.Fatalf("%d %s %s", exit, out, stderr)
		}
		return base, code, strings.TrimSpace(fingerprint)
	}
	base, code, fingerprint := open("--listen", "127.0.0.1:0")
	phone := pinned(t, fingerprint)
	ask := func(method, url, body string, header ...string) (answer, error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := phone.Do(req)
		if err != nil {
			return answer{}, err
		}
		defer func() { _ = res.Body.Close() }() // it was read
		text, err := io.ReadAll(res.Body)
		return answer{res.StatusCode, text, res.Cookies()}, err
	}
	login := fmt.Sprintf(`{"code":%q,"name":"Safari on iPhone","cookie":true}`, code)
	got, err := ask(http.MethodPost, base+"/v1/login", login, "Origin", base)
	if err != nil || got.status != http.StatusCreated {
		t.Fatalf("login: %d %s, %v", got.status, got.body, err)
	}
	var made api.CreatedToken
	if err := json.Unmarshal(got.body, &made); err != nil || !made.Cookie || strings.Join(made.Scopes, ",") != "observe,prompt,approve" {
		t.Fatalf("the token is %s, %v", got.body, err)
	}
	cookies := got.cookies
	if len(cookies) != 1 || !strings.HasPrefix(cookies[0].Name, "__Host-switchboard-") || !cookies[0].Secure || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("the cookies are %v", cookies)
	}
	if got, err := ask(http.MethodPost, base+"/v1/login", login); err != nil || got.status != http.StatusUnauthorized {
		t.Errorf("the code a second time: %d, %v", got.status, err)
	}
	halves := []string{"Authorization", "Bearer " + made.Text, "Cookie", cookies[0].Name + "=" + cookies[0].Value}
	for _, test := range []struct {
		name, path string
		header     []string
		status     int
	}{
		{"both halves", "/v1/info", halves, http.StatusOK},
		{"the cookie alone", "/v1/info", halves[2:], http.StatusUnauthorized},
		{"a page of another site", "/v1/info", append([]string{"Origin", "https://evil.example"}, halves...), http.StatusForbidden},
		{"what is not for browsers", "/metrics", halves, http.StatusNotFound},
		{"nor the raw relay", "/ws", halves, http.StatusNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := ask(http.MethodGet, base+test.path, "", test.header...); err != nil || got.status != test.status {
				t.Errorf("%d %s, %v", got.status, got.body, err)
			}
		})
	}

	rebound := pinned(t, fingerprint)
	rebound.Transport.(*http.Transport).DialContext = dialer(base)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(base, "127.0.0.1", "evil.example", 1)+"/v1/info", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := rebound.Do(req); err != nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a name that leads here: %v, %v", res, err)
	} else {
		_ = res.Body.Close() // only the status counts
	}

	// A stream of events, as a page opens it.
	if req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/events", nil); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(halves); i += 2 {
		req.Header.Set(halves[i], halves[i+1])
	}
	req.Header.Set("Accept", "text/event-stream")
	stream, err := phone.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }() // it ends below
	lines := bufio.NewScanner(stream.Body)
	if !lines.Scan() || stream.StatusCode != http.StatusOK {
		t.Errorf("the stream: %d %s, %v", stream.StatusCode, lines.Text(), lines.Err())
	}

	// Asked again it is the same listener and certificate, with another code.
	again, second, same := open("--listen", strings.TrimPrefix(base, "https://"))
	if again != base || same != fingerprint || second == code {
		t.Errorf("%s %s %s", again, second, same)
	}

	// Switched off, its connections are cut.
	if exit, _, stderr := verb(t, env, "", "console", "--phone=off"); exit != codeDone {
		t.Errorf("off: %d %s", exit, stderr)
	}
	for lines.Scan() {
	}
	if got, err := ask(http.MethodGet, base+"/v1/info", "", halves...); err == nil {
		t.Errorf("it still listens: %d", got.status)
	}
	s.end()
	for _, secret := range []string{code, second, made.Text, cookies[0].Value} {
		if strings.Contains(s.stderr.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}
