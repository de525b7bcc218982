//go:build linux || darwin

package e2e

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// The attacks on the node door. Each row is refused; afterwards the hub answers, the
// real node is connected, and its session has noticed nothing.

// A nodeAssault is a hub with a node and a session on it, and an attacker at its door.
type nodeAssault struct {
	*nodeLab
	t     *testing.T
	m     *machine
	s     *session
	turns int
}

func newNodeAssault(t *testing.T, o *labOptions) *nodeAssault {
	t.Helper()
	a := &nodeAssault{nodeLab: newNodeLab(t, o), t: t}
	a.start()
	a.m = a.enroll("victim")
	a.s = a.m.mustCreate(nil)
	a.untouched()
	return a
}

// untouched holds that the session of the real node answers, and that its link was
// never lost.
func (a *nodeAssault) untouched() {
	a.t.Helper()
	a.turns++
	if err := a.s.turn(a.ctx(), fmt.Sprintf("untouched-%d", a.turns), saying("nothing")); err != nil {
		a.t.Fatal(err)
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if n := countKind(a.s.events, api.KindLinkLost); n > 0 {
		a.t.Errorf("its link was lost %d times", n)
	}
	select {
	case <-a.current().done:
		a.t.Fatal("the hub has ended")
	default:
	}
}

// TestAttackNodeHello tries to be a node without its key, or with something that was
// said before, elsewhere, or to another.
func TestAttackNodeHello(t *testing.T) {
	t.Parallel()
	a := newNodeAssault(t, nil)
	p := a.newPeer("honest")
	if _, err := p.connect(a.ctx()); err != nil {
		t.Fatalf("an honest hello is refused: %v", err)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, challenge, err := a.control(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	replayed := p.hello(challenge)
	_ = ws.CloseNow() // before it is said
	rows := []struct {
		name string
		make func(*node.Challenge) *node.Hello
	}{
		{"another key", func(c *node.Challenge) *node.Hello {
			h := p.hello(c)
			h.Signature = node.Sign(stranger, p.proof(c))
			return h
		}},
		{"the victim's name with an own key", func(c *node.Challenge) *node.Hello {
			h, proof := p.hello(c), p.proof(c)
			h.Node, proof.Node = a.m.id, a.m.id
			h.Signature = node.Sign(p.key, proof)
			return h
		}},
		{"no signature", func(c *node.Challenge) *node.Hello {
			h := p.hello(c)
			h.Signature = nil
			return h
		}},
		{"a hello that was signed for another challenge", func(*node.Challenge) *node.Hello { return replayed }},
		{"a hello for another address", func(c *node.Challenge) *node.Hello {
			h, proof := p.hello(c), p.proof(c)
			proof.Host = "evil.example:8765"
			h.Signature = node.Sign(p.key, proof)
			return h
		}},
		{"a hello for another hub", func(c *node.Challenge) *node.Hello {
			h, proof := p.hello(c), p.proof(c)
			proof.Hub = "another"
			h.Signature = node.Sign(p.key, proof)
			return h
		}},
		{"a node that there is not", func(c *node.Challenge) *node.Hello {
			h, proof := p.hello(c), p.proof(c)
			h.Node = node.NewID()
			proof.Node = h.Node
			h.Signature = node.Sign(p.key, proof)
			return h
		}},
	}
	var reason string
	for _, row := range rows {
		ws, challenge, err := a.control(a.ctx())
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if err := sendNode(a.ctx(), ws, row.make(challenge)); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		message, err := receiveNode(a.ctx(), ws)
		_ = ws.CloseNow() // it has said what it has to say
		refused, ok := message.(*node.Refused)
		if err != nil || !ok || refused.Code != node.RefusedUnknown {
			t.Errorf("%s: %#v, %v; want to be refused as unknown", row.name, message, err)
			continue
		}
		// What is wrong is not told: else a stranger could find out which nodes there are.
		if reason == "" {
			reason = refused.Reason
		}
		if refused.Reason != reason {
			t.Errorf("%s is refused with %q, others with %q", row.name, refused.Reason, reason)
		}
	}
	a.untouched()
	if node, err := a.m.node(); err != nil || node.State != api.NodeOnline {
		t.Errorf("the victim is %s, %v", node.State, err)
	}
}

// TestAttackNodeDoor says what no node says, before and after a welcome.
func TestAttackNodeDoor(t *testing.T) {
	t.Parallel()
	a := newNodeAssault(t, nil)
	p := a.newPeer("mad")
	frames := []struct {
		kind websocket.MessageType
		text string
	}{
		{websocket.MessageText, "hello"},
		{websocket.MessageText, "{}"},
		{websocket.MessageText, `{"type":"facts"}`},
		{websocket.MessageText, `{"type":"answer","id":1}`},
		{websocket.MessageText, `{"type":"welcome","ticket":"x"}`},
		{websocket.MessageText, `{"type":"hello","version":1,"node":"` + strings.Repeat("n", 1<<16) + `"}`},
		{websocket.MessageText, `{"type":"hello","version":0,"node":"` + p.id + `"}`},
		{websocket.MessageBinary, "\x00\x01\x02"},
		{websocket.MessageText, strings.Repeat("a", node.MaxMessage+1)},
	}
	for _, frame := range frames {
		ws, _, err := a.control(a.ctx())
		if err != nil {
			t.Fatal(err)
		}
		_ = ws.Write(a.ctx(), frame.kind, []byte(frame.text)) // it may be cut off while it writes
		for {
			message, err := receiveNode(a.ctx(), ws)
			if err != nil {
				break // it was cut off
			}
			if _, welcome := message.(*node.Welcome); welcome {
				t.Errorf("%.60q is welcomed", frame.text)
				break
			}
		}
		_ = ws.CloseNow() // it was
	}
	// A node that is welcome may say wrong things about its own runs, and about no others.
	c, err := p.connect(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []node.Message{
		&node.Exited{Session: a.s.id, Run: 1}, &node.Answer{ID: 1 << 40}, &node.Pong{ID: 1 << 40, Time: time.Now().Add(time.Hour)},
		&node.Facts{Runs: 1 << 19, Load: -1, CPUs: -5, Hostname: strings.Repeat("\x1b[31m", 1000)},
	} {
		if err := sendNode(a.ctx(), c.ws, m); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	a.untouched()
	if shown, err := a.call1("/v1/nodes/mad"); err != nil || strings.ContainsRune(shown.Hostname, '\x1b') || shown.CPUs < 0 || shown.Load < 0 {
		t.Errorf("%+v, %v", shown, err)
	}
	// Its ticket and its key are no tokens.
	for _, path := range []string{"/v1/sessions", "/v1/nodes", "/v1/sessions/" + a.s.id + "/events"} {
		request, err := http.NewRequestWithContext(a.ctx(), http.MethodGet, a.url()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.ticket)
		request.Header.Set(node.HeaderNode, p.id)
		request.Header.Set(node.HeaderTicket, c.ticket)
		answer, err := a.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // its status is enough
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: status %d for a node's ticket", path, answer.StatusCode)
		}
	}
	a.untouched()
}

// call1 asks for a node.
func (l *nodeLab) call1(path string) (*api.Node, error) {
	var shown api.Node
	return &shown, l.call(l.ctx(), http.MethodGet, path, nil, &shown)
}

// TestAttackNodeLinks tries to carry the link of a run without its node: with no
// ticket, a wrong one, that of another node, and with that node's own ticket but a
// run that is not its own, whose token was stolen.
func TestAttackNodeLinks(t *testing.T) {
	t.Parallel()
	a := newNodeAssault(t, nil)
	mine, theirs := a.newPeer("mine"), a.newPeer("theirs")
	owner, err := mine.connect(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	thief, err := theirs.connect(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	dir, record := a.newDir("")
	s, err := a.createIn(a.ctx(), dir, record, func(in *api.CreateSession) { in.Node = "mine" })
	if err != nil {
		t.Fatal(err)
	}
	var start node.Start
	select {
	case start = <-owner.starts:
	case <-time.After(patience):
		t.Fatal("the hub starts nothing")
	}
	if start.Session != s.id || start.Token == "" {
		t.Fatalf("the hub wants %s started, with a token of %d bytes", start.Session, len(start.Token))
	}
	rows := []struct{ name, id, ticket, token string }{
		{"no ticket", mine.id, "", start.Token},
		{"no node", "", owner.ticket, start.Token},
		{"nothing", "", "", start.Token},
		{"a wrong ticket", mine.id, node.NewTicket(), start.Token},
		{"another node's ticket", mine.id, thief.ticket, start.Token},
		{"a ticket for the victim", a.m.id, owner.ticket, start.Token},
		{"a token of nobody", mine.id, owner.ticket, "made-up"},
		{"no token", mine.id, owner.ticket, ""},
		{"the run of another node", theirs.id, thief.ticket, start.Token},
	}
	for _, row := range rows {
		ws, status, err := a.dialLink(a.ctx(), row.id, row.ticket, row.token)
		if err != nil {
			if status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%s: status %d, %v", row.name, status, err)
			}
			continue
		}
		message, err := greet(a.ctx(), ws, &start)
		_ = ws.CloseNow() // it has said what it has to say
		if _, welcome := message.(*link.Welcome); welcome || err == nil && message == nil {
			t.Errorf("%s is welcome", row.name)
		}
		// Gone would have an honest shim end its agent: nobody but the run's node is told.
		if _, gone := message.(*link.Gone); gone && row.name != "the run of another node" {
			t.Errorf("%s is told that the run is gone", row.name)
		}
	}
	// It was the node that mattered, not the token.
	ws, _, err := a.dialLink(a.ctx(), mine.id, owner.ticket, start.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }() // the test is over
	if message, err := greet(a.ctx(), ws, &start); err != nil {
		t.Errorf("the run's own node: %v", err)
	} else if _, welcome := message.(*link.Welcome); !welcome {
		t.Errorf("the run's own node is answered with %#v", message)
	}
	a.untouched()
}

// TestAttackNodeCodes tries codes that were used, that have expired, that were
// guessed, and to take the name of a node that there is.
func TestAttackNodeCodes(t *testing.T) {
	t.Parallel()
	a := newNodeAssault(t, nil)
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	brief := a.invite(api.InviteNode{Name: "late", TTL: 1})
	used := a.invite(api.InviteNode{Name: "used"})
	if _, err := a.joinWith(used.Code, public); err != nil {
		t.Fatal(err)
	}
	restarted := a.invite(api.InviteNode{Name: "forgotten"})
	timer := time.NewTimer(time.Until(brief.Expires) + 1010*time.Millisecond) // it is told in whole seconds
	<-timer.C
	var title string
	refused := func(name, code string) {
		t.Helper()
		_, err := a.joinWith(code, public)
		problem := problemOf(err)
		if problem == nil || problem.Status != http.StatusUnauthorized && problem.Status != http.StatusForbidden {
			t.Errorf("%s: %v", name, err)
			return
		}
		if title == "" {
			title = problem.Title
		}
		if problem.Title != title {
			t.Errorf("%s is refused with %q, others with %q", name, problem.Title, title)
		}
	}
	refused("a code that was used", used.Code)
	refused("a code that has expired", brief.Code)
	refused("a guess", node.NewCode())
	refused("no code", "sbn_")
	// Two at once: one wins.
	once := a.invite(api.InviteNode{Name: "once"})
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var won atomic.Int64
	var both sync.WaitGroup
	for range 8 {
		both.Go(func() {
			if _, err := a.joinWith(once.Code, other); err == nil {
				won.Add(1)
			}
		})
	}
	both.Wait()
	if won.Load() != 1 {
		t.Errorf("one code let %d machines in", won.Load())
	}
	var invitation api.NodeInvitation
	err = a.call(a.ctx(), http.MethodPost, "/v1/nodes/invitations", api.InviteNode{Name: "victim"}, &invitation)
	if err == nil {
		_, err = a.joinWith(invitation.Code, public)
	}
	if problem := problemOf(err); problem == nil || problem.Status != http.StatusConflict {
		t.Errorf("the name of a node that there is: %v; want a conflict", err)
	}
	a.untouched()
	// Codes are in memory alone, and so end with the hub.
	a.kill()
	a.start()
	title = ""
	refused("a code of the hub before", restarted.Code)
}

// TestAttackNodeRevoked revokes a node in the middle of a turn: its connections are
// cut at once, it cannot come back, nothing that it says later counts, and nobody
// else notices.
func TestAttackNodeRevoked(t *testing.T) {
	t.Parallel()
	a := newNodeAssault(t, nil)
	m := a.enroll("stolen")
	p := a.newPeer("made-up")
	c, err := p.connect(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	s := m.mustCreate(nil)
	if _, err := s.send(a.ctx(), "first", "@slow 10ms\n@say "+strings.Repeat("word ", 500)); err != nil {
		t.Fatal(err)
	}
	if err := eventually(patience, func() error {
		if s.lives() < 3 {
			return errors.New("it does not stream")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stolen", "made-up"} {
		var shown api.Node
		if err := a.call(a.ctx(), http.MethodPost, "/v1/nodes/"+name+"/revoke", nil, &shown); err != nil || shown.State != api.NodeRevoked {
			t.Fatalf("%s is %s, %v", name, shown.State, err)
		}
	}
	begin := time.Now()
	if _, err := s.awaitState(a.ctx(), api.StateOffline); err != nil {
		t.Fatal(err)
	}
	t.Logf("cut off %s after the revocation", time.Since(begin).Round(time.Millisecond))
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Error("the control connection of a revoked node stays")
	}
	seen := s.mark()
	ws, challenge, err := a.control(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if err := sendNode(a.ctx(), ws, p.hello(challenge)); err != nil {
		t.Fatal(err)
	}
	message, err := receiveNode(a.ctx(), ws)
	_ = ws.CloseNow() // it has said what it has to say
	if refused, ok := message.(*node.Refused); err != nil || !ok || refused.Code != node.RefusedRevoked || refused.Reason == "" {
		t.Errorf("a revoked node is answered with %#v, %v", message, err)
	}
	if ws, status, err := a.dialLink(a.ctx(), p.id, c.ticket, "made-up"); err == nil || status != http.StatusUnauthorized && status != http.StatusForbidden {
		t.Errorf("a link with the ticket of a revoked node: status %d, %v", status, err)
		if ws != nil {
			_ = ws.CloseNow() // the test has failed
		}
	}
	a.untouched()
	if n := s.mark(); n > seen+1 { // a state may have been on its way
		t.Errorf("%d events came from a revoked node", n-seen)
	}
	// Its agent is out of reach and lives, until the node's machine ends it.
	if n := len(m.shims()); n != 1 {
		t.Errorf("%d shims run on the revoked node", n)
	}
	if err := a.call(a.ctx(), http.MethodDelete, "/v1/nodes/stolen", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.awaitState(a.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	a.untouched()
}

// TestAttackNodeStrangers has many strangers at the node door, who say nothing, or
// wrong things: the node and its session go on, a further node can come, and the hub
// keeps to its bounds.
func TestAttackNodeStrangers(t *testing.T) {
	t.Parallel()
	strangers, atOnce := 400, 64
	if soak() {
		strangers, atOnce = 10_000, 512
	}
	a := newNodeAssault(t, nil)
	ctx, cancel := context.WithCancel(a.ctx())
	defer cancel()
	// Not through the proxy, which shares the processors with them and would keep the honest nodes waiting in the hub's place.
	door := &nodeLab{lab: a.lab}
	ws, _, err := door.control(ctx)
	if err != nil {
		t.Fatalf("strangers do not reach the door: %v", err)
	}
	_ = ws.CloseNow() // it has seen the door
	var let atomic.Int64
	numbers := make(chan int)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for n := range numbers {
				if door.stranger(ctx, n) {
					let.Add(1)
				}
			}
		})
	}
	for n := range strangers {
		numbers <- n
		if n == strangers/2 {
			a.untouched()
			a.enroll("late") // an honest one, in the middle of it
		}
	}
	close(numbers)
	a.untouched()
	cancel()
	all.Wait()
	if let.Load() > 0 {
		t.Errorf("%d strangers were let in", let.Load())
	}
	a.untouched()
	if shown, err := a.m.node(); err != nil || shown.State != api.NodeOnline {
		t.Errorf("the victim is %s, %v", shown.State, err)
	}
}

// stranger is one of many at the door, and says whether it was let in. Most stay
// until they are thrown out or ctx ends: those that wait cost the most.
func (l *nodeLab) stranger(ctx context.Context, n int) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if n%4 == 3 {
		ws, _, err := l.dialLink(ctx, node.NewID(), node.NewTicket(), "made-up")
		if err == nil {
			_ = ws.CloseNow() // it was let in
		}
		return err == nil
	}
	ws, _, err := l.control(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = ws.CloseNow() }() // it is tired of waiting
	if n%4 != 0 {
		hello := &node.Hello{Version: node.Version, Node: node.NewID(), Signature: make([]byte, ed25519.SignatureSize)}
		if n%4 == 1 {
			hello.Facts.Hostname = strings.Repeat("x", 100_000)
		}
		_ = sendNode(ctx, ws, hello) // it may have been thrown out
	}
	message, err := receiveNode(ctx, ws)
	_, welcome := message.(*node.Welcome)
	return err == nil && welcome
}
