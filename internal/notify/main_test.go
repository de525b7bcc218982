package notify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testSecret = "a-key-that-nobody-knows"
	testToken  = "tk_that_nobody_knows"
	// secretPath is in the addresses of targets.
	secretPath = "/topic-that-nobody-knows"
)

// private writes a file that only its owner can read.
func private(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A journal collects what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// An arrival is a request as the target got it.
type arrival struct {
	at     time.Duration // since the beginning of the test
	header http.Header
	body   string
}

// A lab is a sender with one target, inside a bubble in which time flies. Their
// connections are pipes.
type lab struct {
	*Sender
	t       *testing.T
	log     journal
	began   time.Time
	conns   chan net.Conn
	refused bool // guarded by mu, as all below
	mu      sync.Mutex
	all     []arrival
}

// inBubble runs a test with a target that is a webhook unless changed, and
// answers as the function says; n counts requests from 1.
func inBubble(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request), change func(*Options), test func(*lab)) {
	t.Helper()
	secret := private(t, testSecret)
	synctest.Test(t, func(t *testing.T) {
		b := &lab{t: t, began: time.Now(), conns: make(chan net.Conn)}
		server := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the sender has given up
			}
			answer(b.arrived(r, string(body)), w, r)
		})}
		served := make(chan error, 1)
		go func() { served <- server.Serve(pipes{b.conns, make(chan struct{})}) }() // ends with the test, below
		o := Options{Targets: []Target{{Kind: Webhook, URL: "http://127.0.0.1" + secretPath, SecretFile: secret}}, Logger: b.log.logger(), dial: b.dial}
		if change != nil {
			change(&o)
		}
		var err error
		if b.Sender, err = New(o); err != nil {
			t.Fatal(err)
		}
		test(b)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = b.Close(ctx) // whatever is left
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		for _, secret := range []string{testSecret, testToken, secretPath} {
			if strings.Contains(b.log.String(), secret) {
				t.Errorf("the log shows %s:\n%s", secret, b.log.String())
			}
		}
	})
}

// dial connects to the target.
func (b *lab) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	b.mu.Lock()
	refused := b.refused
	b.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	ours, theirs := net.Pipe()
	select {
	case b.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refuse has the target refuse connections, or take them again.
func (b *lab) refuse(refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused = refused
}

func (b *lab) arrived(r *http.Request, body string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, arrival{time.Since(b.began), r.Header.Clone(), body})
	return len(b.all)
}

// arrivals returns what has arrived so far.
func (b *lab) arrivals() []arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// pass lets time pass until nothing happens any more.
func (b *lab) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	synctest.Wait()
}

// expect compares the counters.
func (b *lab) expect(want Stats) {
	b.t.Helper()
	got := b.Stats()[0]
	got.Kind, got.Host = "", ""
	if got != want {
		b.t.Errorf("the counters are %+v, expected %+v", got, want)
	}
}

// pipes is a listener for connections that are made without a network.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }
