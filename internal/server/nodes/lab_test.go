//go:build linux || darwin

package nodes

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testHub  = "hub1"
	patience = 60 * time.Second
)

// A logbook is a log that several goroutines write to.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A lab is a door for nodes before a hub.
type lab struct {
	t       *testing.T
	nodes   *Nodes
	hub     *servertest.Lab
	link    *ingress.Link
	host    string
	log     logbook
	secrets []string // which must be in no log
}

// A labSetup changes a lab before it is opened.
type labSetup struct {
	limits access.Limits
	times  times
}

func newLab(t *testing.T, setup labSetup) *lab {
	t.Helper()
	l := &lab{t: t}
	log := slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	guard := access.New(&access.Options{Limits: setup.limits, Log: log})
	var err error
	l.nodes, err = Open(Options{File: filepath.Join(t.TempDir(), File), Hub: testHub, Guard: guard, URL: func() string { return "http://" + l.host }, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if setup.times != (times{}) {
		l.nodes.times = setup.times
	}
	l.hub = servertest.New(t, &servertest.Options{Hub: func(o *hub.Options) { o.Nodes = l.nodes }})
	l.nodes.Use(l.hub.Hub)
	l.link = ingress.NewLink(l.hub.Hub, &ingress.LinkOptions{Logger: log})
	mux := http.NewServeMux()
	mux.Handle("GET "+node.ControlPath, l.nodes.Control())
	mux.Handle("GET "+node.LinkPath, l.nodes.Links(l.link))
	mux.Handle("GET "+node.TeePath, l.nodes.Tees(l.link))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.host = listener.Addr().String()
	server := &http.Server{Handler: guard.Checked(mux), ConnContext: guard.ConnContext, ReadHeaderTimeout: patience}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(guard.Limit(listener)) })
	t.Cleanup(func() {
		l.nodes.Close()
		if err := l.link.Close(); err != nil {
			t.Error(err)
		}
		_ = server.Close()
		serving.Wait()
		for _, secret := range l.secrets {
			if strings.Contains(l.log.String(), secret) {
				t.Errorf("the secret %.6s… is in the log", secret)
			}
		}
	})
	return l
}

// await waits until a condition holds.
func (l *lab) await(what string, condition func() bool) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("waited too long for %s; the log:\n%s", what, l.log.String())
		}
	}
}

// state returns the state of a node.
func (l *lab) state(name string) api.NodeState {
	l.t.Helper()
	n, err := l.nodes.Get(l.t.Context(), name)
	if err != nil {
		l.t.Fatal(err)
	}
	return n.State
}

// A machine is a node of the tests: it does what a test has it do.
type machine struct {
	lab    *lab
	id     string
	key    ed25519.PrivateKey
	ws     *websocket.Conn
	ticket string
}

// enroll makes a node.
func (l *lab) enroll(in api.InviteNode) *machine {
	l.t.Helper()
	invited, err := l.nodes.Invite(l.t.Context(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	l.secrets = append(l.secrets, invited.Code)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	joined, err := l.nodes.Join(l.t.Context(), api.JoinNode{Code: invited.Code, Key: node.KeyText(public)})
	if err != nil || joined.Hub != testHub || joined.Name != in.Name {
		l.t.Fatal(joined, err)
	}
	return &machine{lab: l, id: joined.ID, key: private}
}

// dial opens a connection and reads the challenge.
func (m *machine) dial() *node.Challenge {
	m.lab.t.Helper()
	ws, response, err := websocket.Dial(m.lab.t.Context(), "ws://"+m.lab.host+node.ControlPath, &websocket.DialOptions{Subprotocols: []string{node.Subprotocol}}) //nolint:bodyclose // the library does that
	if err != nil {
		m.lab.t.Fatal(response, err)
	}
	ws.SetReadLimit(node.MaxMessage)
	m.ws = ws
	m.lab.t.Cleanup(func() { _ = ws.CloseNow() })
	challenge, ok := m.read().(*node.Challenge)
	if !ok || challenge.Hub != testHub || challenge.Version != node.Version {
		m.lab.t.Fatalf("the challenge is %+v", challenge)
	}
	return challenge
}

// read reads a message; nil if the connection has ended.
func (m *machine) read() node.Message {
	m.lab.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, text, err := m.ws.Read(ctx)
	if ctx.Err() != nil {
		m.lab.t.Fatalf("the hub says nothing; its log:\n%s", m.lab.log.String())
	}
	if err != nil {
		return nil
	}
	message, err := node.Decode(text)
	if err != nil {
		m.lab.t.Fatal(err)
	}
	return message
}

// write writes a message.
func (m *machine) write(message node.Message) {
	m.lab.t.Helper()
	text, err := node.Encode(message)
	if err != nil {
		m.lab.t.Fatal(err)
	}
	if err := m.ws.Write(m.lab.t.Context(), websocket.MessageText, text); err != nil {
		m.lab.t.Logf("writing: %v", err) // the hub may have closed
	}
}

// hello returns the answer to a challenge.
func (m *machine) hello(c *node.Challenge) *node.Hello {
	return &node.Hello{
		Version: node.Version, Node: m.id, Facts: node.Facts{Version: "1", Home: "/home/ann", Own: []string{"/home/ann/.node"}, CPUs: 2},
		Signature: node.Sign(m.key, node.Proof{Nonce: c.Nonce, Hub: c.Hub, Host: m.lab.host, Node: m.id}),
	}
}

// connect connects the node, and waits until the hub knows.
func (m *machine) connect() {
	m.lab.t.Helper()
	m.write(m.hello(m.dial()))
	welcome, ok := m.read().(*node.Welcome)
	if !ok {
		m.lab.t.Fatalf("the node is not welcome; the log:\n%s", m.lab.log.String())
	}
	m.ticket = welcome.Ticket
	m.lab.secrets = append(m.lab.secrets, welcome.Ticket)
	if s := m.lab.state(m.id); s != api.NodeOnline && s != api.NodeDraining {
		m.lab.t.Errorf("the node is %s", s)
	}
}

// call reads until a call of a method comes. Pings are answered.
func (m *machine) call(method string) *node.Call {
	m.lab.t.Helper()
	for {
		message := m.read()
		if message == nil {
			m.lab.t.Fatalf("the connection ended before a call of %s; the log:\n%s", method, m.lab.log.String())
		}
		if ping, ok := message.(*node.Ping); ok {
			m.write(&node.Pong{ID: ping.ID, Time: time.Now()})
		}
		if call, ok := message.(*node.Call); ok && call.Method == method {
			return call
		}
	}
}

// answer answers a call.
func (m *machine) answer(c *node.Call, body any) {
	m.lab.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		m.lab.t.Fatal(err)
	}
	m.write(&node.Answer{ID: c.ID, Body: raw})
}

// serve answers calls in a goroutine until the connection ends.
func (m *machine) serve(answers func(*node.Call) (any, *node.Failure)) {
	ws := m.ws
	done := make(chan struct{})
	m.lab.t.Cleanup(func() {
		_ = ws.CloseNow()
		<-done
	})
	go func() {
		defer close(done)
		for {
			_, text, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			message, err := node.Decode(text)
			if err != nil {
				return
			}
			var out node.Message
			switch message := message.(type) {
			case *node.Ping:
				out = &node.Pong{ID: message.ID, Time: time.Now()}
			case *node.Call:
				body, failure := answers(message)
				raw, err := json.Marshal(body)
				if err != nil {
					return
				}
				out = &node.Answer{ID: message.ID, Body: raw, Failure: failure}
			default:
				continue
			}
			if text, err := node.Encode(out); err == nil {
				_ = ws.Write(context.Background(), websocket.MessageText, text) // the hub may have closed
			}
		}
	}()
}

// openLink asks for a link with a ticket, and returns the status, and the connection if it
// is open.
func (l *lab) openLink(id, ticket, token string) (*websocket.Conn, int) {
	l.t.Helper()
	ws, response, err := websocket.Dial(l.t.Context(), "ws://"+l.host+node.LinkPath, &websocket.DialOptions{ //nolint:bodyclose // the library does that
		Subprotocols: []string{link.Subprotocol},
		HTTPHeader:   http.Header{node.HeaderNode: {id}, node.HeaderTicket: {ticket}, "Authorization": {"Bearer " + token}},
	})
	if err != nil {
		if response == nil {
			l.t.Fatal(err)
		}
		return nil, response.StatusCode
	}
	l.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws, http.StatusSwitchingProtocols
}

// rest reads what a connection still says, until it ends.
func rest(ws *websocket.Conn) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var text strings.Builder
	for {
		_, r, err := ws.Reader(ctx)
		if err != nil {
			fmt.Fprintf(&text, "end: %v", err)
			return text.String()
		}
		_, _ = io.Copy(&text, r)
		text.WriteByte('\n')
	}
}

// decodeBody reads the body of a call.
func decodeBody(c *node.Call, into any) error { return json.Unmarshal(c.Body, into) }

// pinging returns a context for a ping of a connection that is read meanwhile.
func pinging(t *testing.T, ws *websocket.Conn) context.Context {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-done
	})
	go func() {
		defer close(done)
		rest(ws)
	}()
	return t.Context()
}
