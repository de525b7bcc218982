package nodes

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxHello is how long the first message of a stranger may be.
const maxHello = 64 << 10

// errClosing is why connections end when the server does.
var errClosing = errors.New("the hub is closing")

// Control serves [node.ControlPath]: the control connections of nodes. It belongs inside
// [access.Guard.Checked], where nothing else asks for a token.
func (n *Nodes) Control() http.Handler { return http.HandlerFunc(n.serveControl) }

// enter counts a request in, unless the door is closed.
func (n *Nodes) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.serving.Add(1)
	return true
}

func (n *Nodes) serveControl(w http.ResponseWriter, r *http.Request) {
	if !n.enter() {
		access.WriteProblem(w, &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeClosing, Title: "The hub is shutting down"})
		return
	}
	defer n.serving.Done()
	ws, err := wsconn.Accept(w, r, &wsconn.Options{Subprotocols: []string{node.Subprotocol}, Stall: n.times.dead, ReadBuffer: 4 << 10})
	if err != nil {
		n.log.Debug("a node's connection was not opened", "err", err) // answered
		return
	}
	defer ws.CloseNow()
	defer context.AfterFunc(n.ctx, ws.CloseNow)()
	if ws.Subprotocol() != node.Subprotocol {
		ws.Close(websocket.StatusPolicyViolation, "this is for the subprotocol "+node.Subprotocol)
		return
	}
	e, hello := n.handshake(r, ws)
	if e == nil {
		return
	}
	n.guard.Known(r.Context())
	n.serve(e, ws, hello, access.Remote(r.Context()))
}

// handshake asks a stranger to prove which node it is. It returns nil if it does not; it
// was told why then.
func (n *Nodes) handshake(r *http.Request, ws *wsconn.Conn) (*entry, *node.Hello) {
	ws.SetReadLimit(maxHello)
	_ = ws.SetReadDeadline(time.Now().Add(n.times.handshake)) // fails if it is closed, and then reading does too
	nonce := node.NewNonce()
	if err := write(ws, &node.Challenge{Version: node.Version, Hub: n.hubID, Nonce: nonce}); err != nil {
		return nil, nil
	}
	m, err := read(ws)
	if err != nil {
		n.log.Debug("a stranger at the door for nodes said nothing of use", "err", err)
		return nil, nil
	}
	hello, ok := m.(*node.Hello)
	if !ok {
		return nil, nil
	}
	_ = ws.SetReadDeadline(time.Time{})
	if hello.Version != node.Version {
		refuse(ws, node.RefusedVersion, fmt.Sprintf("the hub speaks version %d of the protocol for nodes, and the node version %d; install the same version of switchboard on both", node.Version, hello.Version))
		return nil, nil
	}
	e, proved := n.proved(r, nonce, hello)
	switch {
	case !proved:
		n.log.Info("a connection to the door for nodes was refused", "address", access.Remote(r.Context()), "reason", node.RefusedUnknown)
		n.guard.Delay(n.ctx) // if too many wait, the answer is the same
		refuse(ws, node.RefusedUnknown, "the hub does not know this node, or its key is another one; "+
			"if the hub was set up anew or has forgotten it, remove the node's data folder and join again with a new invitation: switchboard node invite")
		return nil, nil
	case e.ended.Err() != nil:
		refuse(ws, node.RefusedRevoked, "this node was revoked; if it is to come back, remove its data folder and join again with a new invitation: switchboard node invite")
		return nil, nil
	}
	return e, hello
}

// proved returns the node that a hello is from, and whether that is proved. For an
// unknown one the same is computed.
func (n *Nodes) proved(r *http.Request, nonce []byte, hello *node.Hello) (*entry, bool) {
	n.mu.Lock()
	e := n.entries[hello.Node]
	n.mu.Unlock()
	key := n.decoy
	if e != nil {
		key = e.key
	}
	hosts := []string{node.Host(r.Host)}
	// A proxy may ask for the hub by another name than its clients do.
	if u, err := url.Parse(n.url()); err == nil && u.Host != "" && node.Host(u.Host) != hosts[0] {
		hosts = append(hosts, node.Host(u.Host))
	}
	ok := false
	for _, host := range hosts {
		ok = node.Verify(key, node.Proof{Nonce: nonce, Hub: n.hubID, Host: host, Node: hello.Node}, hello.Signature) || ok
	}
	return e, ok && e != nil
}

// refuse tells a node why it is not connected, and closes.
func refuse(ws *wsconn.Conn, code, reason string) {
	if write(ws, &node.Refused{Code: code, Reason: reason}) == nil {
		ws.Close(websocket.StatusPolicyViolation, code)
	}
}

// write writes a message.
func write(ws *wsconn.Conn, m node.Message) error {
	text, err := node.Encode(m)
	if err != nil {
		return err
	}
	return ws.Write(websocket.MessageText, text)
}

// read reads a message.
func read(ws *wsconn.Conn) (node.Message, error) {
	kind, r, err := ws.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	return decode(kind, r)
}

// decode reads the message of a frame.
func decode(kind websocket.MessageType, r io.Reader) (node.Message, error) {
	if kind != websocket.MessageText {
		return nil, errors.New("a frame came that is no text")
	}
	text, err := io.ReadAll(io.LimitReader(r, node.MaxMessage+1))
	if err != nil {
		return nil, err
	}
	return node.Decode(text)
}

// Links serves [node.LinkPath]: the links of shims on nodes. It belongs inside
// [access.Guard.Checked].
func (n *Nodes) Links(l *ingress.Link) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := n.holder(r.Header.Get(node.HeaderNode), r.Header.Get(node.HeaderTicket))
		if e == nil {
			n.guard.Delay(r.Context()) // if too many wait, the answer is the same
			access.WriteProblem(w, &api.Error{
				Status: http.StatusForbidden, Code: api.CodeForbidden, Title: "This is for nodes only",
				Detail: "The request has no valid ticket of a node's connection.",
			})
			return
		}
		n.guard.Known(r.Context())
		l.Serve(w, r, ingress.Origin{Node: e.id, Ended: e.ended})
	})
}

// holder returns the node that a ticket was given to; nil if it is not valid.
func (n *Nodes) holder(id, ticket string) *entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[id]
	valid := "" // which no ticket is
	switch {
	case e == nil || e.revoked:
	case e.conn != nil:
		valid = e.conn.ticket
	case time.Since(e.lostAt) < node.TicketGrace:
		valid = e.lost
	}
	if subtle.ConstantTimeCompare([]byte(valid), []byte(ticket)) != 1 || valid == "" {
		return nil
	}
	return e
}

// Tees serves [node.TeePath]: the links of tees on machines that are no nodes, whose
// owner shows a token with the scope admin. It belongs inside [access.Guard.Checked].
func (n *Nodes) Tees(l *ingress.Link) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithoutCancel(r.Context()) // the link outlives the request
		id, problem := n.guard.Identify(ctx, r.Header.Get(node.HeaderToken))
		if problem == nil {
			_, problem = access.Require(ctx, wire.ScopeAdmin)
		}
		if problem != nil {
			access.WriteProblem(w, problem)
			return
		}
		ended, done := access.Watch(ctx, id)
		l.Serve(w, r, ingress.Origin{RemoteTee: true, Ended: ended, Done: done})
	})
}
