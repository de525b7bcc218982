//go:build linux || darwin

package e2e

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// A peer is a node that the test itself plays: it has a key, and says at the node
// door whatever it likes.
type peer struct {
	lab  *nodeLab
	key  ed25519.PrivateKey
	id   string
	name string
	hub  string // the id of the hub that it has joined
}

// newPeer lets a made-up machine join.
func (l *nodeLab) newPeer(name string) *peer {
	l.t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	invitation := l.invite(api.InviteNode{Name: name})
	joined, err := l.joinWith(invitation.Code, public)
	if err != nil {
		l.t.Fatal(err)
	}
	return &peer{lab: l, key: private, id: joined.ID, name: name, hub: joined.Hub}
}

// joinWith asks to join with a code, without a token.
func (l *nodeLab) joinWith(code string, key ed25519.PublicKey) (*api.JoinedNode, error) {
	l.t.Helper()
	body, err := json.Marshal(api.JoinNode{Code: code, Key: node.KeyText(key), Version: "test", OS: "linux", Arch: "amd64", Hostname: "made-up"})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx := l.ctx()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.dialed()+"/v1/nodes/join", strings.NewReader(string(body)))
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := l.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode >= http.StatusBadRequest {
		refusal := &api.Error{}
		if err := json.NewDecoder(answer.Body).Decode(refusal); err != nil || refusal.Code == "" {
			return nil, fmt.Errorf("joining: %s", answer.Status)
		}
		return nil, refusal
	}
	var joined api.JoinedNode
	return &joined, json.NewDecoder(answer.Body).Decode(&joined)
}

// wsClient speaks TLS to the hub, through the proxy, and checks nothing: the
// attacker does not care.
func wsClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// control opens a control connection and returns the challenge.
func (l *nodeLab) control(ctx context.Context) (*websocket.Conn, *node.Challenge, error) {
	ws, response, err := websocket.Dial(ctx, l.dialed()+node.ControlPath, &websocket.DialOptions{HTTPClient: wsClient(), Subprotocols: []string{node.Subprotocol}})
	if response != nil && response.Body != nil {
		_ = response.Body.Close() // the library has read what there was
	}
	if err != nil {
		return nil, nil, err
	}
	ws.SetReadLimit(node.MaxMessage)
	message, err := receiveNode(ctx, ws)
	challenge, ok := message.(*node.Challenge)
	if err != nil || !ok {
		_ = ws.CloseNow() // it says nothing that is wanted
		return nil, nil, errors.Join(err, fmt.Errorf("the hub begins with %T", message))
	}
	return ws, challenge, nil
}

func receiveNode(ctx context.Context, ws *websocket.Conn) (node.Message, error) {
	_, text, err := ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	return node.Decode(text)
}

func sendNode(ctx context.Context, ws *websocket.Conn, m node.Message) error {
	text, err := node.Encode(m)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, text)
}

// proof is what the peer signs for a challenge when it is honest.
func (p *peer) proof(c *node.Challenge) node.Proof {
	return node.Proof{Nonce: c.Nonce, Hub: p.hub, Host: node.Host(p.lab.front.listener.Addr().String()), Node: p.id}
}

// hello is an honest hello.
func (p *peer) hello(c *node.Challenge) *node.Hello {
	return &node.Hello{Version: node.Version, Node: p.id, Signature: node.Sign(p.key, p.proof(c)), Facts: node.Facts{
		Version: "test", OS: "linux", Arch: "amd64", Home: "/home/made-up", CLIs: []node.CLI{{Path: "/usr/bin/claude", Version: "2.1.325", Simulated: true}},
	}}
}

// A peerConn is a control connection of a peer that the hub has welcomed.
type peerConn struct {
	*peer
	ws     *websocket.Conn
	ticket string
	starts chan node.Start // what the hub wants started
	done   chan struct{}   // closed when the connection has ended
	refuse *node.Refused   // with what it ended, if it was told; read after done
	wait   sync.WaitGroup
}

// connect connects as the peer and answers what the hub asks until the test ends:
// it starts nothing, says that it has, and keeps the order.
func (p *peer) connect(ctx context.Context) (*peerConn, error) {
	ws, challenge, err := p.lab.control(ctx)
	if err != nil {
		return nil, err
	}
	if err := sendNode(ctx, ws, p.hello(challenge)); err != nil {
		_ = ws.CloseNow() // there is nothing to say
		return nil, err
	}
	message, err := receiveNode(ctx, ws)
	if err != nil {
		_ = ws.CloseNow() // likewise
		return nil, err
	}
	welcome, ok := message.(*node.Welcome)
	if !ok {
		_ = ws.CloseNow() // likewise
		return nil, fmt.Errorf("the hub answers hello with %#v", message)
	}
	c := &peerConn{peer: p, ws: ws, ticket: welcome.Ticket, starts: make(chan node.Start, 16), done: make(chan struct{})}
	c.wait.Go(func() { c.serve(context.WithoutCancel(ctx)) })
	p.lab.t.Cleanup(c.close)
	return c, nil
}

func (c *peerConn) close() {
	_ = c.ws.CloseNow() // the reader sees it
	c.wait.Wait()
}

// serve answers until the connection ends.
func (c *peerConn) serve(ctx context.Context) {
	defer close(c.done)
	for {
		message, err := receiveNode(ctx, c.ws)
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *node.Ping:
			err = sendNode(ctx, c.ws, &node.Pong{ID: m.ID, Time: m.Time})
		case *node.Refused:
			c.refuse = m
		case *node.Call:
			err = sendNode(ctx, c.ws, c.answer(m))
		default: // nothing that a peer has to know
		}
		if err != nil {
			return
		}
	}
}

// madeUpPID is a process that there is not.
const madeUpPID = 1 << 30

func (c *peerConn) answer(call *node.Call) *node.Answer {
	answer := &node.Answer{ID: call.ID}
	var body any
	switch call.Method {
	case node.MethodStart:
		var start node.Start
		if err := json.Unmarshal(call.Body, &start); err != nil {
			answer.Failure = &node.Failure{Reason: err.Error()}
			return answer
		}
		select {
		case c.starts <- start:
		default:
		}
		body = node.Launched{PID: madeUpPID, PIDStart: "1", Version: "2.1.325", Simulated: true}
	case node.MethodLife:
		body = node.LifeAnswer{Alive: true}
	default:
		answer.Failure = &node.Failure{Reason: "this machine is made up"}
		return answer
	}
	answer.Body, _ = json.Marshal(body) // these can be written
	return answer
}

// dialLink asks for a link with headers as they are given.
func (l *nodeLab) dialLink(ctx context.Context, id, ticket, token string) (*websocket.Conn, int, error) {
	header := http.Header{}
	for name, value := range map[string]string{node.HeaderNode: id, node.HeaderTicket: ticket} {
		if value != "" {
			header.Set(name, value)
		}
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ws, response, err := websocket.Dial(ctx, l.dialed()+node.LinkPath, &websocket.DialOptions{HTTPClient: wsClient(), HTTPHeader: header, Subprotocols: []string{link.Subprotocol}})
	status := 0
	if response != nil {
		status = response.StatusCode
		if response.Body != nil {
			_ = response.Body.Close() // the library has read what there was
		}
	}
	return ws, status, err
}

// greet says hello on a link as the shim of a run, and returns what the hub
// answers.
func greet(ctx context.Context, ws *websocket.Conn, start *node.Start) (link.Message, error) {
	hello := &link.Hello{Version: link.Version, Session: start.Session, Run: start.Run, Instance: "i-" + start.Session, PID: madeUpPID, PIDStart: "1", Next: 1, Oldest: 1}
	if err := ws.Write(ctx, websocket.MessageText, link.AppendMessage(nil, hello, link.Version)); err != nil {
		return nil, err
	}
	_, frame, err := ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	return link.ParseMessage(frame)
}
