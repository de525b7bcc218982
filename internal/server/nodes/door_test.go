//go:build linux || darwin

package nodes

import (
	"crypto/ed25519"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// TestHandshake: only the owner of the key gets in, and only with the answer to this very
// challenge.
func TestHandshake(t *testing.T) {
	t.Parallel() // wrong credentials are answered after a while
	l := newLab(t, labSetup{})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	other := l.enroll(api.InviteNode{Name: "gpu-2"})
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var earlier *node.Hello // of another connection
	sign := func(key ed25519.PrivateKey, change func(*node.Proof)) func(*node.Challenge) *node.Hello {
		return func(c *node.Challenge) *node.Hello {
			hello := m.hello(c)
			p := node.Proof{Nonce: c.Nonce, Hub: c.Hub, Host: l.host, Node: m.id}
			change(&p)
			hello.Signature = node.Sign(key, p)
			return hello
		}
	}
	for _, test := range []struct {
		name  string
		hello func(*node.Challenge) *node.Hello
		code  string // "" if it is let in
	}{
		{"itself", m.hello, ""},
		{"itself again", func(c *node.Challenge) *node.Hello { earlier = m.hello(c); return earlier }, ""},
		{"a replayed hello", func(*node.Challenge) *node.Hello { return earlier }, node.RefusedUnknown},
		{"a replayed signature", func(c *node.Challenge) *node.Hello {
			hello := m.hello(c)
			hello.Signature = earlier.Signature
			return hello
		}, node.RefusedUnknown},
		{"a wrong key", sign(stranger, func(*node.Proof) {}), node.RefusedUnknown},
		{"another node's key", sign(other.key, func(*node.Proof) {}), node.RefusedUnknown},
		{"another host", sign(m.key, func(p *node.Proof) { p.Host = "evil.example" }), node.RefusedUnknown},
		{"another hub", sign(m.key, func(p *node.Proof) { p.Hub = "hub2" }), node.RefusedUnknown},
		{"another node", sign(m.key, func(p *node.Proof) { p.Node = other.id }), node.RefusedUnknown},
		{"an id that there is not", func(c *node.Challenge) *node.Hello {
			hello := m.hello(c)
			hello.Node = node.NewID()
			hello.Signature = node.Sign(m.key, node.Proof{Nonce: c.Nonce, Hub: c.Hub, Host: l.host, Node: hello.Node})
			return hello
		}, node.RefusedUnknown},
		{"no signature", func(c *node.Challenge) *node.Hello { hello := m.hello(c); hello.Signature = nil; return hello }, node.RefusedUnknown},
		{"the next version", func(c *node.Challenge) *node.Hello { hello := m.hello(c); hello.Version++; return hello }, node.RefusedVersion},
	} {
		t.Run(test.name, func(t *testing.T) {
			m.write(test.hello(m.dial()))
			switch answer := m.read().(type) {
			case *node.Welcome:
				if test.code != "" {
					t.Error("it was let in")
				}
			case *node.Refused:
				if answer.Code != test.code || answer.Reason == "" {
					t.Errorf("refused: %+v", answer)
				}
				if after := m.read(); after != nil {
					t.Errorf("then came %+v", after)
				}
			default:
				t.Errorf("the answer is %+v", answer)
			}
			_ = m.ws.CloseNow()
		})
	}
	l.await("the node to be gone", func() bool { return l.state("gpu-1") == api.NodeOffline })
	if _, err := l.nodes.Revoke(t.Context(), "gpu-1"); err != nil {
		t.Fatal(err)
	}
	m.write(m.hello(m.dial()))
	if answer, ok := m.read().(*node.Refused); !ok || answer.Code != node.RefusedRevoked || !strings.Contains(answer.Reason, "invite") {
		t.Errorf("a revoked node is told %+v", answer)
	}
}

// TestNoHello: a stranger that says something else, or nothing, is sent away.
func TestNoHello(t *testing.T) {
	l := newLab(t, labSetup{times: times{handshake: 300 * time.Millisecond, ping: time.Hour, dead: time.Hour, start: time.Hour}})
	for name, say := range map[string]func(*machine){
		"nothing":         func(*machine) {},
		"another message": func(m *machine) { m.write(&node.Facts{}) },
		"a frame of bytes": func(m *machine) {
			_ = m.ws.Write(t.Context(), websocket.MessageBinary, []byte("x"))
		},
		"no JSON": func(m *machine) { _ = m.ws.Write(t.Context(), websocket.MessageText, []byte("{")) },
		"a long text": func(m *machine) {
			_ = m.ws.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", maxHello+1)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machine{lab: l}
			m.dial()
			say(m)
			if answer := m.read(); answer != nil {
				t.Errorf("the hub says %+v", answer)
			}
		})
	}
	// Without the subprotocol there is not even a challenge.
	ws, _, err := websocket.Dial(t.Context(), "ws://"+l.host+node.ControlPath, nil) //nolint:bodyclose // the library does that
	if err != nil {
		t.Fatal(err)
	}
	if said := rest(ws); !strings.HasPrefix(said, "end:") {
		t.Errorf("the hub says %q", said)
	}
}

// TestTickets: a link needs the ticket of its node's connection.
func TestTickets(t *testing.T) {
	t.Parallel() // wrong credentials are answered after a while
	l := newLab(t, labSetup{})
	a, b := l.enroll(api.InviteNode{Name: "gpu-1"}), l.enroll(api.InviteNode{Name: "gpu-2"})
	a.connect()
	b.connect()
	for name, test := range map[string]struct {
		id, ticket string
		status     int
	}{
		"its own":          {a.id, a.ticket, http.StatusSwitchingProtocols},
		"another's":        {a.id, b.ticket, http.StatusForbidden},
		"another's id":     {b.id, a.ticket, http.StatusForbidden},
		"none":             {a.id, "", http.StatusForbidden},
		"a part":           {a.id, a.ticket[:20], http.StatusForbidden},
		"no node":          {"", a.ticket, http.StatusForbidden},
		"an unknown node":  {node.NewID(), "", http.StatusForbidden},
		"the node by name": {"gpu-1", a.ticket, http.StatusForbidden},
	} {
		if _, status := l.openLink(test.id, test.ticket, "x"); status != test.status {
			t.Errorf("%s: %d", name, status)
		}
	}
	old := a.ticket
	_ = a.ws.CloseNow()
	l.await("the node to be gone", func() bool { return l.state("gpu-1") == api.NodeOffline })
	if _, status := l.openLink(a.id, old, "x"); status != http.StatusSwitchingProtocols {
		t.Errorf("just after the connection was lost: %d", status)
	}
	l.nodes.mu.Lock()
	l.nodes.entries[a.id].lostAt = time.Now().Add(-node.TicketGrace)
	l.nodes.mu.Unlock()
	if _, status := l.openLink(a.id, old, "x"); status != http.StatusForbidden {
		t.Errorf("long after the connection was lost: %d", status)
	}
	a.connect()
	if _, status := l.openLink(a.id, old, "x"); status != http.StatusForbidden {
		t.Errorf("with the ticket of an old connection: %d", status)
	}
	if _, err := l.nodes.Revoke(t.Context(), "gpu-1"); err != nil {
		t.Fatal(err)
	}
	if _, status := l.openLink(a.id, a.ticket, "x"); status != http.StatusForbidden {
		t.Errorf("of a node that was revoked: %d", status)
	}
	if a.read() != nil {
		t.Error("the control connection of a node that was revoked goes on")
	}
}

// session starts a session on a node of the tests, and returns what the node was asked to
// start.
func (l *lab) session(m *machine, name string) (id string, start node.Start) {
	l.t.Helper()
	got := make(chan node.Start, 1)
	m.serve(func(c *node.Call) (any, *node.Failure) {
		switch c.Method {
		case node.MethodStart:
			var s node.Start
			if err := decodeBody(c, &s); err != nil {
				return nil, &node.Failure{Code: node.Invalid, Reason: err.Error()}
			}
			got <- s
			return node.Launched{PID: 4711, PIDStart: "x", Version: "2.1.325", Simulated: true}, nil
		case node.MethodLife:
			return node.LifeAnswer{Alive: true}, nil
		}
		return nil, &node.Failure{Code: node.NotExist, Reason: "there is nothing"}
	})
	created, err := l.hub.Hub.Create(l.t.Context(), servertest.Admin, api.CreateSession{Dir: "/work", Node: name})
	if err != nil {
		l.t.Fatal(err)
	}
	start = <-got
	l.secrets = append(l.secrets, start.Token)
	return created.ID, start
}

// greet says hello on a link, and returns what the hub answers.
func greet(t *testing.T, ws *websocket.Conn, s *node.Start) string {
	t.Helper()
	hello := link.AppendMessage(nil, &link.Hello{Version: link.Version, Session: s.Session, Run: s.Run, Instance: "i1", Next: 1, Oldest: 1, PID: 4711}, link.Version)
	if err := ws.Write(t.Context(), websocket.MessageText, hello); err != nil {
		t.Fatal(err)
	}
	_, text, err := ws.Read(t.Context())
	if err != nil {
		return "end"
	}
	return string(text)
}

// TestLinksAreBound: a run's token is worth nothing on the connection of another node, or
// on that of none.
func TestLinksAreBound(t *testing.T) {
	l := newLab(t, labSetup{})
	a, b := l.enroll(api.InviteNode{Name: "gpu-1"}), l.enroll(api.InviteNode{Name: "gpu-2"})
	a.connect()
	b.connect()
	_, start := l.session(a, "gpu-1")
	ws, _ := l.openLink(b.id, b.ticket, start.Token)
	if said := greet(t, ws, &start); strings.Contains(said, "welcome") {
		t.Errorf("another node's link: %s", said)
	}
	if ws, _ = l.openLink(a.id, a.ticket, start.Token+"x"); strings.Contains(greet(t, ws, &start), "welcome") {
		t.Error("a wrong token")
	}
	ws, _ = l.openLink(a.id, a.ticket, start.Token)
	if said := greet(t, ws, &start); !strings.Contains(said, "welcome") {
		t.Fatalf("its own link: %s", said)
	}
	// The link outlives the control connection, and ends at once when the node is revoked.
	_ = a.ws.CloseNow()
	l.await("the node to be gone", func() bool { return l.state("gpu-1") == api.NodeOffline })
	if err := ws.Ping(pinging(t, ws)); err != nil {
		t.Errorf("the link was lost with the control connection: %v", err)
	}
	if _, err := l.nodes.Revoke(t.Context(), "gpu-1"); err != nil {
		t.Fatal(err)
	}
	l.await("the link to be cut", func() bool { return l.link.Open() == 0 })
}

// TestStrangers: many that connect and say nothing keep neither a node out nor one from its
// work, and cost no more than there may be of them.
func TestStrangers(t *testing.T) {
	many := 400
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		many = 10_000
	}
	const unknown = 32
	l := newLab(t, labSetup{limits: access.Limits{Unknown: unknown, PerAddress: -1}})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	before := runtime.NumGoroutine()
	request := "GET " + node.ControlPath + " HTTP/1.1\r\nHost: " + l.host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + node.Subprotocol + "\r\n\r\n"
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range many {
		c, err := net.Dial("tcp", l.host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		if open = append(open, c); len(open) == 2*unknown { // the process has only so many descriptors
			_ = open[0].Close()
			open = open[1:]
		}
		if i%100 == 99 {
			if n := runtime.NumGoroutine() - before; n > 8*unknown {
				t.Fatalf("%d strangers cost %d goroutines", i+1, n)
			}
		}
	}
	// The one that was there is still there, and another node gets in.
	m.serve(func(*node.Call) (any, *node.Failure) { return node.LifeAnswer{Alive: true}, nil })
	if life := l.nodes.Launcher(m.id).Life(t.Context(), hub.Process{Session: "s", Run: 1}); life != hub.LifeAlive {
		t.Errorf("the node says %s", life)
	}
	other := l.enroll(api.InviteNode{Name: "gpu-2"})
	other.connect()
	if _, status := l.openLink(other.id, other.ticket, "x"); status != http.StatusSwitchingProtocols {
		t.Errorf("a link: %s", strconv.Itoa(status))
	}
}

// TestHalfOpen: a node that is silent counts as gone; its processes are not dead.
func TestHalfOpen(t *testing.T) {
	l := newLab(t, labSetup{times: times{handshake: time.Minute, ping: 20 * time.Millisecond, dead: 200 * time.Millisecond, start: time.Minute}})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	changed := l.nodes.Changed()
	if life := l.nodes.Launcher(m.id).Life(t.Context(), hub.Process{PID: 1}); life != hub.LifeUnknown {
		t.Errorf("the process is %s", life)
	}
	l.await("the node to be given up", func() bool { return l.state("gpu-1") == api.NodeOffline })
	select {
	case <-changed:
	default:
		t.Error("nothing was told")
	}
	// One that answers stays, however long it takes.
	m.connect()
	m.serve(func(*node.Call) (any, *node.Failure) { return node.LifeAnswer{}, nil })
	start := time.Now()
	l.await("some time", func() bool { return time.Since(start) > 600*time.Millisecond })
	if s := l.state("gpu-1"); s != api.NodeOnline {
		t.Errorf("the node is %s", s)
	}
	if n, err := l.nodes.Get(t.Context(), "gpu-1"); err != nil || n.SkewMillis < -1000 || n.SkewMillis > 1000 {
		t.Errorf("%+v, %v", n, err)
	}
	if fmt.Sprint(l.nodes.Count()) != "map[online:1]" {
		t.Errorf("%v", l.nodes.Count())
	}
}
