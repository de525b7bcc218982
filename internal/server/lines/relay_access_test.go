package lines

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

func TestRelayWhoMayCome(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	t.Run("header", func(t *testing.T) {
		r.dialAs(t, "", bearer(observeToken)).expect(connected("s1")...)
	})
	t.Run("sub-protocol", func(t *testing.T) {
		c := r.dialAs(t, "", nil, access.Subprotocol, "sb.token."+observeToken)
		c.expect(connected("s1")...)
		if got := c.header.Get("Sec-WebSocket-Protocol"); got != access.Subprotocol {
			t.Errorf("the protocol is %q", got)
		}
	})
	for name, first := range map[string]string{
		"first line":              `{"type":"auth","token":"` + observeToken + `"}`,
		"first line of the SDK":   `{"type":"auth","credential":{"type":"oauth","token":"` + observeToken + `"}}` + "\n",
		"first line, more follow": `{"type":"auth","token":"` + promptToken + `"}` + "\n" + hi,
	} {
		t.Run(name, func(t *testing.T) {
			c := r.dialAs(t, "", nil)
			c.say(first)
			c.expect(connected("s1")...)
			if strings.Contains(first, "hi") {
				if got := h.took(t, 1); got.line != hi || got.by.Admin {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	for name, first := range map[string]string{
		"wrong token":      `{"type":"auth","token":"` + wrongToken + `"}`,
		"no token":         hi,
		"not JSON":         "hello",
		"too long":         `{"type":"auth","token":"` + strings.Repeat("x", maxFirstLine) + `"}`,
		"too long, slowly": strings.Repeat("[", maxFirstLine/2),
		"may not look":     `{"type":"auth","token":"` + blindToken + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := r.dialAs(t, "", nil)
			for range 3 {
				if name != "too long, slowly" {
					c.say(first)
					break
				}
				c.say(first)
			}
			lines, closed := c.end()
			if len(lines) > 0 {
				t.Errorf("it was shown %q", lines)
			}
			// What is too long for the library is closed by it.
			if closed.Code != websocket.StatusPolicyViolation && (name != "too long" || closed.Code != websocket.StatusMessageTooBig) {
				t.Errorf("closed with %v", closed)
			}
			if strings.Contains(closed.Reason, wrongToken) {
				t.Error("the reason holds the token")
			}
		})
	}
	for name, token := range map[string]string{"wrong": wrongToken, "may not look": blindToken} {
		t.Run(name+", in the header", func(t *testing.T) {
			_, answer, err := r.open(t.Context(), "", &websocket.DialOptions{HTTPHeader: bearer(token)})
			if err == nil || answer.status != http.StatusUnauthorized && answer.status != http.StatusForbidden {
				t.Errorf("got %v, %v", answer, err)
			}
		})
	}
	t.Run("no upgrade", func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.addr+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = bearer(adminToken)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if answer.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("got %v", answer.Status)
		}
	})
}

// TestRelayNobody connects and says nothing, as those do who look for servers.
func TestRelayNobody(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, &Options{FirstLine: 50 * time.Millisecond})
	c := r.dialAs(t, "", nil)
	h.publish(line("s1", `{"type":"assistant"}`))
	lines, closed := c.end()
	if len(lines) != 0 || closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "token") {
		t.Errorf("got %q, %v", lines, closed)
	}
	if len(h.all) > 0 {
		t.Error("the hub was asked for somebody who is not known")
	}
}

// TestRelayNobodyIsNotWaitedFor closes a relay that waits for a first line.
func TestRelayNobodyIsNotWaitedFor(t *testing.T) {
	r := newRig(t, newStage(t), &Options{FirstLine: time.Hour})
	c := r.dialAs(t, "", nil)
	r.relay.Close("the end")
	if _, closed := c.end(); closed.Code != websocket.StatusServiceRestart {
		t.Errorf("got %v", closed)
	}
	_, answer, err := r.open(t.Context(), "", &websocket.DialOptions{HTTPHeader: bearer(adminToken)})
	if err == nil || answer.status != http.StatusServiceUnavailable {
		t.Errorf("somebody comes after the end: %v", err)
	}
}

func TestOpenRelay(t *testing.T) {
	h := newStage(t, idle("s1"))
	const page = "http://localhost:5173"
	guard := newGuard(t, access.OpenRelay{Origins: []string{page}, Path: "/ws"})
	r := newRig(t, h, nil, func(o *rigOptions) { o.guard = guard })
	c := r.dialAs(t, "", http.Header{"Origin": {page}})
	c.expect(connected("s1")...)
	c.say(hi)
	if got := h.took(t, 1); got.by.Admin || got.by.Name == "" {
		t.Errorf("got %+v", got)
	}
	if _, _, err := r.open(t.Context(), "", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}); err == nil {
		t.Error("another page was let in")
	}
}

func TestRelayRevoked(t *testing.T) {
	h := newStage(t, idle("s1"))
	admin, err := access.ParseToken(adminToken, "ada", access.AllScopes())
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
	defer func() { _ = book.Close() }()
	guard := access.New(&access.Options{Store: book})
	r := newRig(t, h, nil, func(o *rigOptions) { o.guard = guard })
	// The book asks who makes a token, so it is made in a request.
	var token *api.CreatedToken
	inRequest(t, guard, func(r *http.Request) error {
		token, err = book.Create(r.Context(), api.CreateToken{Name: "phone", Scopes: []string{"observe", "prompt"}})
		return err
	})
	c := r.dialAs(t, "", bearer(token.Text))
	c.expect(connected("s1")...)
	late := r.dialAs(t, "", nil)
	late.say(`{"type":"auth","token":"` + token.Text + `"}`)
	late.expect(connected("s1")...)
	other := r.dial(t, "")
	other.expect(connected("s1")...)
	inRequest(t, guard, func(r *http.Request) error { return book.Revoke(r.Context(), token.ID) })
	for _, c := range []*client{c, late} {
		lines, closed := c.end()
		if len(lines) != 1 || !strings.Contains(lines[0], `"code":"unauthorized"`) || closed.Code != websocket.StatusPolicyViolation {
			t.Errorf("got %q, %v", lines, closed)
		}
	}
	mark, text := marker("s1")
	h.publish(mark)
	other.expect(text)
}

// inRequest calls a function in a request of the admin's.
func inRequest(t *testing.T, guard *access.Guard, do func(*http.Request) error) {
	t.Helper()
	listener := listen(t)
	var err error
	server := &http.Server{
		Handler:     guard.Checked(guard.Authenticated(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { err = do(r) }))),
		ConnContext: guard.ConnContext, ReadHeaderTimeout: time.Minute,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	defer func() { <-done }()
	defer func() { _ = server.Close() }()
	request, e := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/", nil)
	if e != nil {
		t.Fatal(e)
	}
	request.Header = bearer(adminToken)
	answer, e := http.DefaultClient.Do(request)
	if e != nil {
		t.Fatal(e)
	}
	_ = answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer.Status, err)
	}
}
