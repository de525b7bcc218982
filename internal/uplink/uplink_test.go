package uplink

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://hub.example": true, "https://hub.example:8765/": true, "http://127.0.0.1:8765": true, "http://localhost:1": true, "http://[::1]:1": true,
		"http://hub.example": false, "http://192.168.1.20:8765": false, "hub.example": false, "": false, "ftp://hub.example": false,
		"https://ann:secret@hub.example": false, "https://hub.example/path": false, "https://hub.example?a=b": false,
	} {
		_, err := New(Options{URL: address})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: a secret is in %v", address, err)
		}
	}
	for _, pin := range []string{"x", "sha256:short"} {
		if _, err := New(Options{URL: "https://hub.example", Pin: pin}); err == nil {
			t.Errorf("the pin %q is accepted", pin)
		}
	}
	if _, err := New(Options{URL: "http://127.0.0.1:1", Pin: "sha256:" + strings.Repeat("A", 43)}); err == nil {
		t.Error("a pin without TLS is accepted")
	}
}

// echo answers a WebSocket with what it says, and other requests with a refusal.
func echo(t *testing.T, seen chan<- http.Header) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		if r.URL.Path != "/there" || r.Header.Get("X-Ticket") != "secret" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"echo"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for {
			kind, text, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			if err := ws.Write(context.Background(), kind, text); err != nil {
				return
			}
		}
	})
}

// TestLinks: a WebSocket passes through the proxy over a pinned connection; nothing of the
// client's but what the hub needs passes with it.
func TestLinks(t *testing.T) {
	seen := make(chan http.Header, 8)
	hub := httptest.NewTLSServer(echo(t, seen))
	defer hub.Close()
	up, err := New(Options{URL: hub.URL, Pin: client.Fingerprint(hub.Certificate())})
	if err != nil {
		t.Fatal(err)
	}
	there := true
	local := httptest.NewServer(up.Links("/there", func(h http.Header) bool {
		h.Set("X-Ticket", "secret")
		return there
	}))
	defer local.Close()
	down, err := New(Options{URL: local.URL})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := down.Dial(t.Context(), "/link", "echo", http.Header{"Authorization": {"Bearer run"}, "X-Ticket": {"forged"}, "Cookie": {"a=b"}})
	if err != nil {
		t.Fatal(err)
	}
	header := <-seen
	if header.Get("Authorization") != "Bearer run" || header.Get("X-Ticket") != "secret" || len(header.Values("X-Ticket")) != 1 || header.Get("Cookie") != "" || header.Get("X-Forwarded-For") != "" {
		t.Errorf("the hub sees %v", header)
	}
	for _, text := range []string{"a", strings.Repeat("b", 20_000)} {
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := ws.Read(t.Context()); err != nil || string(got) != text {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
	}
	_ = ws.CloseNow()

	// What the hub refuses is refused, and without a hub the caller is to come again.
	var refused *RefusedError
	if _, err := up.Dial(t.Context(), "/elsewhere", "echo", nil); !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("%v", err)
	}
	there = false
	if _, err := down.Dial(t.Context(), "/link", "echo", nil); !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		t.Errorf("without a ticket: %v", err)
	}
	there = true
	hub.Close()
	if _, err := down.Dial(t.Context(), "/link", "echo", nil); !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		t.Errorf("without a hub: %v", err)
	}
}

// TestPin: nothing is sent to a server with another key, not even a request.
func TestPin(t *testing.T) {
	seen := make(chan http.Header, 8)
	hub := httptest.NewUnstartedServer(echo(t, seen))
	hub.Config.ErrorLog = discard()
	hub.StartTLS()
	defer hub.Close()
	wrong := "sha256:" + strings.Repeat("A", 43)
	up, err := New(Options{URL: hub.URL, Pin: wrong})
	if err != nil {
		t.Fatal(err)
	}
	var pin *client.PinError
	if _, err := up.Dial(t.Context(), "/there", "echo", nil); !errors.As(err, &pin) || pin.Want != wrong || pin.Got != client.Fingerprint(hub.Certificate()) {
		t.Errorf("%v", err)
	}
	if up, err = New(Options{URL: hub.URL}); err != nil {
		t.Fatal(err)
	}
	if _, err := up.Dial(t.Context(), "/there", "echo", nil); err == nil || errors.As(err, &pin) {
		t.Errorf("without a pin: %v", err)
	}
	select {
	case header := <-seen:
		t.Errorf("the server was sent %v", header)
	default:
	}
}

// discard drops what a server says about connections that a client gives up.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
