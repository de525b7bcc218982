package dial

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// maxQueued is how many bytes wait in either direction before a caller with more has to wait. The real programs have no such bound.
const maxQueued = 256 << 20

// drainFor is how long Close lets a server that reads slowly, or not at all, take what was written to its WebSocket.
const drainFor = 5 * time.Second

// Options are the options of [Dial].
type Options struct {
	// URL is the value of --sdk-url. Only ws and wss are supported.
	URL string

	// Token returns the bearer token; it is asked before each attempt and each POST, by several goroutines. If nil, or if it returns "", no
	// Authorization header is sent. See [TokenFrom].
	Token func() string

	// Header holds further headers of the upgrade. See [HeaderFrom].
	Header http.Header

	// Post sends lines by HTTP POST: CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2.
	Post bool

	// Policy is how the connection is treated. See [PolicyFor].
	Policy Policy

	// TLS is used for wss. If nil, the system's certificates are trusted. See [TLSFrom].
	TLS *tls.Config

	// DialContext opens network connections. If nil, a [net.Dialer] does.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// OnEvent is told what happens to the link, if it is not nil. It is called by the link's goroutines, one at a time, which wait for it; it
	// must not call the link.
	OnEvent func(Event)
}

// A Link is a CLI's connection to its server, over any number of WebSockets one after the other. Its methods are safe for concurrent use.
type Link struct {
	// Static after construction.
	opts    Options
	url     *url.URL
	client  *http.Client
	ctx     context.Context // the link's own life
	cut     context.CancelFunc
	wanted  context.Context // ends before ctx does when the link is closed: no further attempt
	retire  context.CancelFunc
	inbox   *queue  // what came in
	poster  *poster // nil: lines go by WebSocket
	running sync.WaitGroup

	reporting sync.Mutex // serialises OnEvent

	writing sync.Mutex // held by a Write from beginning to end, so that lines keep their order

	mu       sync.Mutex
	out      *queue // of the WebSocket that stands, nil while there is none; guarded by mu
	ring     ring   // guarded by mu
	lastUUID string // of the last line written; guarded by mu
	closed   bool   // guarded by mu
}

// Dial starts to dial a server and returns at once: whether there is one shows later, by [Link.Read]. It fails only for a URL that cannot be
// dialled, with an [*UnsupportedError] if it is the scheme's fault. The end of ctx ends the link at once, as the end of its process would;
// [Link.Close] must be called all the same.
func Dial(ctx context.Context, o Options) (*Link, error) {
	u, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	ctx, cut := context.WithCancel(ctx)
	var protocols http.Protocols
	protocols.SetHTTP1(true) // a WebSocket needs a connection of its own
	wanted, retire := context.WithCancel(ctx)
	l := &Link{
		opts: o,
		url:  u,
		client: &http.Client{
			Transport: &http.Transport{
				DialContext:        o.DialContext,
				TLSClientConfig:    o.TLS.Clone(),
				DisableCompression: true, // or it would ask for it by itself
				Protocols:          &protocols,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		ctx:    ctx,
		cut:    cut,
		wanted: wanted,
		retire: retire,
		inbox:  newQueue(maxQueued),
		ring:   ring{size: o.Policy.Ring},
	}
	if l.opts.Token == nil {
		l.opts.Token = func() string { return "" }
	}
	if o.Post {
		l.poster = newPoster(l)
		l.running.Go(func() { l.poster.run(ctx) })
	}
	l.running.Go(l.dialAndServe)
	return l, nil
}

// Read returns bytes as they came, frame by frame: where a line ends is for the caller to find out. An empty frame is an empty slice; it is the
// end of a 2.1.37, so a test has to see it. Read returns io.EOF when the link has ended for good, which makes a real CLI exit with code 0. A
// ctx that ends makes it return ctx's error and loses nothing.
func (l *Link) Read(ctx context.Context) ([]byte, error) {
	p, err := l.inbox.pop(ctx)
	return p.data, err
}

// Write sends a line, given without its line end, as [Link.Send] does, and does not ask what becomes of it.
func (l *Link) Write(line []byte, uuid string) error { return l.send(line, uuid, nil) }

// Send sends a line, given without its line end, with its uuid, or "" if it has none. The line is copied. It does not wait for the line to
// leave, unless very much is waiting already; gone is closed when it has left: when it was written to the WebSocket, or its POST was answered.
// It is closed as well when the line is lost, which is no error: a CLI never hears of it. After Close it fails with [net.ErrClosed].
func (l *Link) Send(line []byte, uuid string) (gone <-chan struct{}, err error) {
	done := make(chan struct{})
	if err := l.send(line, uuid, done); err != nil {
		return nil, err
	}
	return done, nil
}

func (l *Link) send(line []byte, uuid string, gone chan struct{}) error {
	p := parcel{data: append(append(make([]byte, 0, len(line)+1), line...), '\n'), gone: gone}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return fmt.Errorf("writing to the link: %w", net.ErrClosed)
	}
	if l.poster == nil && uuid != "" {
		l.lastUUID = uuid
		p.kept = l.ring.put(p.data)
	}
	out := l.out
	l.mu.Unlock()
	if l.poster != nil {
		l.poster.add(l.ctx, p)
		return nil
	}
	if out == nil || out.push(l.ctx, p) != nil {
		p.left()
		if !p.kept {
			l.report(Event{Kind: Dropped, Lines: 1})
		}
	}
	return nil
}

// Close ends the link in good order: what was written is sent, then the WebSocket is closed, within five seconds. Lines to be POSTed are tried
// before that, as long as ever the policy says, which may be for ever, as with the real programs; the end of the context that Dial was given
// ends that. Close returns when every goroutine of the link has ended. Reads get what has come, then io.EOF.
func (l *Link) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		if l.poster != nil {
			l.poster.finish()
		}
		l.mu.Lock()
		l.retire()
		out := l.out
		l.mu.Unlock()
		if out != nil {
			out.close() // its writer sends what is left, and the close frame
		}
		enough := time.AfterFunc(drainFor, l.cut)
		l.running.Wait()
		enough.Stop()
		l.cut()
		l.client.CloseIdleConnections()
	}
	l.running.Wait()
	return nil
}

// report tells OnEvent.
func (l *Link) report(e Event) {
	if l.opts.OnEvent == nil {
		return
	}
	l.reporting.Lock()
	defer l.reporting.Unlock()
	l.opts.OnEvent(e)
}

// dialAndServe is the life of the link's WebSockets. It runs in a goroutine of its own.
func (l *Link) dialAndServe() {
	defer l.inbox.close()
	tries := retries{policy: &l.opts.Policy}
	token := l.opts.Token()
	for n := 1; ; n++ {
		if n > 1 && !l.opts.Policy.KeepsFirstToken {
			token = l.opts.Token()
		}
		if pause, ok := l.attempt(n, token, &tries); !ok || !l.sleep(pause) {
			l.report(Event{Kind: Ended, Conn: n})
			return
		}
	}
}

// attempt makes the n-th attempt to connect, and serves the connection if there is one until it is lost. It returns the pause before the next
// attempt; ok is false if there shall be none.
func (l *Link) attempt(n int, token string, tries *retries) (pause time.Duration, ok bool) {
	ws, status, err := l.connect(token)
	failed := err != nil
	if !failed {
		tries.opened()
		err = l.serve(ws, n)
	}
	if l.wanted.Err() != nil {
		return 0, false
	}
	code := max(int(websocket.CloseStatus(err)), 0)
	l.report(Event{Kind: Lost, Conn: n, Status: status, Code: code, Err: err})
	if status != 0 && l.opts.Policy.RefusalEnds || slices.Contains(l.opts.Policy.FinalCodes, code) {
		return 0, false
	}
	if pause, ok = tries.lost(time.Now(), failed, rand.Float64()); ok { //nolint:gosec // a pause guards nothing
		l.report(Event{Kind: Waiting, Conn: n, Pause: pause})
	}
	return pause, ok
}

// sleep waits and says whether the link is still wanted then.
func (l *Link) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.wanted.Done():
		return false
	}
}

// errNoPong is why a WebSocket was given up that does not answer.
var errNoPong = errors.New("no pong came before the next ping was due")

// An UnsupportedError reports a URL whose scheme is neither ws nor wss. Its text is the CLI's own.
type UnsupportedError struct {
	// Scheme is the scheme, without a colon.
	Scheme string
}

// Error says it in the CLI's words.
func (e *UnsupportedError) Error() string { return "Unsupported protocol: " + e.Scheme + ":" }

// parse reads the value of --sdk-url.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		// The parser's own words would quote the address, which may hold a secret.
		return nil, errors.New("reading the address to dial: not a URL")
	}
	if u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, &UnsupportedError{Scheme: u.Scheme}
	}
	if u.Host == "" {
		return nil, errors.New("reading the address to dial: it names no host")
	}
	return u, nil
}

// eventsURL returns where the lines of a CLI that dials u are POSTed: http for ws, the first /ws/ of the path is /session/, and the path ends
// in /events.
func eventsURL(u *url.URL) *url.URL {
	e := *u
	e.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	path := strings.Replace(u.EscapedPath(), "/ws/", "/session/", 1)
	path = strings.TrimSuffix(path, "/") + "/events"
	if plain, err := url.PathUnescape(path); err == nil {
		e.Path, e.RawPath = plain, path
	}
	return &e
}

// A Kind names what an [Event] is about.
type Kind string

// The kinds of events.
const (
	// Connected: a WebSocket stands.
	Connected Kind = "connected"
	// Replayed: after a reconnect the lines of the ring go out again. Lines is how many.
	Replayed Kind = "replayed"
	// Lost: the WebSocket broke or was closed, or an attempt failed.
	Lost Kind = "lost"
	// Waiting: the next attempt follows after Pause.
	Waiting Kind = "waiting"
	// Ended: no further attempt follows; the link is over.
	Ended Kind = "ended"
	// Posted: a POST was taken by the server.
	Posted Kind = "posted"
	// Retrying: a POST failed and will be tried again after Pause.
	Retrying Kind = "retrying"
	// Dropped: lines that no server will ever get. A real CLI does not report them.
	Dropped Kind = "dropped"
)

// An Event is something that happened to a link, for a record that tests compare.
type Event struct {
	// Kind says what happened.
	Kind Kind
	// Conn is the number of the attempt to connect that it belongs to, from 1; 0 for POSTs.
	Conn int
	// Lines is how many lines it is about.
	Lines int
	// Status is the HTTP status of a refused upgrade or a POST, 0 if there was none.
	Status int
	// Code is the close code that the server sent, 0 if there was none.
	Code int
	// Pause is the time until the next attempt.
	Pause time.Duration
	// Err is the cause, if there is one.
	Err error
}
