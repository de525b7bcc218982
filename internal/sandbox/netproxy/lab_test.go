package netproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A lab is a proxy whose outside is made up: names have the addresses that the
// test gives, and every connection leads to one server of the test.
type lab struct {
	t       testing.TB
	address string // of the proxy
	stop    context.CancelFunc
	ended   chan struct{}

	server *server

	mu      sync.Mutex
	names   map[string][]string
	lookups []string
	dials   []string
	refused []string
}

// serve is what the server outside does with a connection.
func newLab(t testing.TB, c Config, names map[string][]string, serve func(net.Conn)) *lab {
	t.Helper()
	outside := listen(t)
	var workers sync.WaitGroup
	workers.Go(func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			workers.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	l := &lab{t: t, names: names, ended: make(chan struct{})}
	c.Lookup = l.lookup
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		l.mu.Lock()
		l.dials = append(l.dials, address)
		l.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, outside.Addr().String())
	}
	if c.own == nil {
		c.own = func() ([]net.Addr, error) { return nil, nil }
	}
	c.Refused = func(r Request, reason string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused = append(l.refused, fmt.Sprintf("%s:%d %d %s: %s", r.Host, r.Port, r.PID, r.Command, reason))
	}
	if c.Peer == nil {
		c.Peer = func(net.Conn) (int, string) { return 7, "curl" }
	}
	listener := listen(t)
	l.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	served := make(chan *server, 1)
	go func() {
		defer close(l.ended)
		New(c).serveOn(ctx, listener, func(s *server) { served <- s })
	}()
	l.server = <-served
	t.Cleanup(func() {
		cancel()
		<-l.ended
		_ = outside.Close()
		workers.Wait()
	})
	return l
}

func (l *lab) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookups = append(l.lookups, name)
	var found []netip.Addr
	for _, text := range l.names[name] {
		found = append(found, netip.MustParseAddr(text))
	}
	if found == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return found, nil
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// echo sends everything back, and ends when the client has.
func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

func (l *lab) dial() *net.TCPConn {
	l.t.Helper()
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	l.t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

// connect sends a CONNECT and returns the answer.
func (l *lab) connect(host string, header ...string) (*net.TCPConn, *bufio.Reader, int, string) {
	l.t.Helper()
	conn := l.dial()
	_, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", host, host, strings.Join(header, ""))
	if err != nil {
		l.t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	code, body := l.answer(r, http.MethodConnect)
	return conn, r, code, body
}

func (l *lab) answer(r *bufio.Reader, method string) (int, string) {
	l.t.Helper()
	response, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		l.t.Fatalf("there is no answer: %v", err)
	}
	body := []byte{}
	if response.StatusCode != http.StatusOK || method != http.MethodConnect {
		if body, err = io.ReadAll(response.Body); err != nil {
			l.t.Fatal(err)
		}
	}
	_ = response.Body.Close()
	return response.StatusCode, string(body)
}

// roundTrip checks that a tunnel carries bytes both ways to their end.
func (l *lab) roundTrip(conn *net.TCPConn, r io.Reader) {
	l.t.Helper()
	text := strings.Repeat("over and back ", 10000)
	go func() { // ends with the connection
		_, _ = io.WriteString(conn, text)
		_ = conn.CloseWrite()
	}()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != text {
		l.t.Fatalf("%d bytes of %d came back: %v", len(got), len(text), err)
	}
}

func (l *lab) seen(what *[]string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(*what)
}

// waiting waits until as many connections wait for the question about a host.
func (l *lab) waiting(host string, n int) {
	l.t.Helper()
	d := &l.server.decisions
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		d.mu.Lock()
		got := 0
		if q := d.open[host]; q != nil {
			got = q.waiters
		}
		d.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%d connections wait for %s, not %d", got, host, n)
		}
	}
}

// A judge is a Decide whose answers the test gives.
type judge struct {
	asked  chan asked
	cancel chan Request // was withdrawn
}

type asked struct {
	Request
	answer chan Verdict
}

func newJudge() *judge { return &judge{make(chan asked, 100), make(chan Request, 100)} }

func (j *judge) decide(ctx context.Context, r Request) (Verdict, string, error) {
	a := asked{r, make(chan Verdict, 1)}
	j.asked <- a
	select {
	case v := <-a.answer:
		return v, "a person has said no", nil
	case <-ctx.Done():
		j.cancel <- r
		return Refuse, "", errors.New("withdrawn")
	}
}

func (j *judge) next(t testing.TB) asked {
	t.Helper()
	return receive(t, j.asked)
}

func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("waited too long")
		panic("unreachable")
	}
}
