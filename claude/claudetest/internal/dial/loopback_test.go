package dial

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// echo sends every frame back, and closes with 4001 after the word bye.
func echo(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
		if err != nil {
			t.Errorf("accepting: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(-1)
		for {
			kind, frame, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			if string(frame) == "bye\n" {
				_ = ws.Close(4001, "")
				return
			}
			if err := ws.Write(r.Context(), kind, frame); err != nil {
				t.Errorf("sending %d bytes: %v", len(frame), err)
				return
			}
		}
	}
}

// Over real sockets, with and without TLS: small and big lines both ways, and the end.
func TestLoopback(t *testing.T) {
	for _, secure := range []bool{false, true} {
		name, start := "ws", httptest.NewServer
		if secure {
			name, start = "wss", httptest.NewTLSServer
		}
		t.Run(name, func(t *testing.T) {
			server := start(echo(t))
			defer server.Close()
			vars := map[string]string{}
			if secure {
				file := filepath.Join(t.TempDir(), "extra.pem")
				certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
				if err := os.WriteFile(file, certificate, 0o600); err != nil {
					t.Fatal(err)
				}
				vars["NODE_EXTRA_CA_CERTS"] = file
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			connected := make(chan struct{}, 1)
			posted := make(chan Event, 1)
			o := Options{
				URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/ws/x", Policy: PolicyFor(v120), TLS: TLSFrom(env(vars)),
				OnEvent: func(e Event) {
					switch e.Kind {
					case Connected:
						connected <- struct{}{}
					case Posted:
						posted <- e
					default:
					}
				},
			}
			k, err := Dial(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			<-connected
			for _, want := range []string{"{}", strings.Repeat("big ", 5<<18), "after it"} {
				if err := k.Write([]byte(want), ""); err != nil {
					t.Fatal(err)
				}
				got, err := k.Read(ctx)
				if err != nil || string(got) != want+"\n" {
					t.Fatalf("read %.50q, %v; want %.50q", got, err, want)
				}
			}
			if err := k.Write([]byte("bye"), ""); err != nil {
				t.Fatal(err)
			}
			if got, err := k.Read(ctx); !errors.Is(err, io.EOF) {
				t.Errorf("read %.50q, %v; want io.EOF", got, err)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}

			o.Post = true
			if k, err = Dial(ctx, o); err != nil {
				t.Fatal(err)
			}
			<-connected
			if err := k.Write([]byte(`{"type":"result"}`), ""); err != nil {
				t.Fatal(err)
			}
			if e := <-posted; e.Status != http.StatusOK || e.Lines != 1 {
				t.Errorf("posted: %+v", e)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A certificate that nobody vouches for is a failed attempt like any other.
func TestUnknownCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(echo(t))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains, which is right
	server.StartTLS()
	defer server.Close()
	lost := make(chan Event, 1)
	k, err := Dial(t.Context(), Options{
		URL: "wss" + strings.TrimPrefix(server.URL, "https"), Policy: PolicyFor(v120), TLS: TLSFrom(env(nil)),
		OnEvent: func(e Event) {
			if e.Kind == Lost {
				lost <- e
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := <-lost; e.Err == nil || !strings.Contains(e.Err.Error(), "certificate") {
		t.Errorf("lost for %v, want the certificate as the cause", e.Err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// Many goroutines write, the connection is cut again and again, and on a 2.1.120 every line arrives, in the order of its writer.
func TestManyWritersAndCuts(t *testing.T) {
	const writers, each = 4, 100
	var mu sync.Mutex
	seen := map[string]bool{}
	last := map[byte]string{}
	done := make(chan struct{})
	var once sync.Once
	frames := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Errorf("accepting: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for {
			_, frame, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			line := string(frame)
			mu.Lock()
			if !seen[line] {
				seen[line] = true
				if line < last[line[0]] {
					t.Errorf("%q came first after %q", line, last[line[0]])
				}
				last[line[0]] = line
			}
			frames++
			cut := frames == 60 || frames == 150 || frames == 300
			if len(seen) == writers*each {
				once.Do(func() { close(done) })
			}
			mu.Unlock()
			if cut {
				return
			}
		}
	}))
	defer server.Close()
	policy := PolicyFor(v120)
	policy.FirstDelay, policy.MaxDelay = time.Millisecond, time.Millisecond
	k, err := Dial(t.Context(), Options{URL: "ws" + strings.TrimPrefix(server.URL, "http"), Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				text := string(rune('a'+w)) + string(rune('0'+i/10)) + string(rune('0'+i%10))
				if err := k.Write([]byte(text), text); err != nil {
					t.Errorf("writing %s: %v", text, err)
				}
			}
		})
	}
	writing.Wait()
	select {
	case <-done:
	case <-time.After(time.Minute):
		mu.Lock()
		t.Errorf("only %d of %d lines arrived", len(seen), writers*each)
		mu.Unlock()
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
