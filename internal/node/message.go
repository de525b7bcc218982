package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Version is the version of the protocol. There is one.
const Version = 1

// Where the hub serves nodes, and what is spoken there. TeePath is for the links of tees
// on machines that are no nodes, see [HeaderToken].
const (
	ControlPath = "/node"
	LinkPath    = "/node/link"
	TeePath     = "/node/tee"
	Subprotocol = "switchboard-node.v1"
)

// The headers of a request at [LinkPath], beside the shim's own.
const (
	HeaderNode   = "Switchboard-Node"
	HeaderTicket = "Switchboard-Node-Ticket"
)

// HeaderToken is the header of a request at [TeePath], beside the shim's own: the token of
// a person with the scope admin.
const HeaderToken = "Switchboard-Token"

const (
	// MaxMessage is how long a message may be.
	MaxMessage = 1 << 20
	// MaxPiece is how much of a stream one answer carries: with base64 and its envelope
	// it stays below MaxMessage.
	MaxPiece = 512 << 10
	// MaxCalls is how many calls may be without an answer on one connection.
	MaxCalls = 128
	// MaxStreams is how many handles may be open on one connection.
	MaxStreams = 16
)

const (
	// HandshakeTime is how long the handshake may take.
	HandshakeTime = 10 * time.Second
	// PingEvery is how often the hub pings.
	PingEvery = 5 * time.Second
	// DeadAfter is when a connection on which nothing was heard is given up: three pings
	// were missed.
	DeadAfter = 3*PingEvery + PingEvery/2
	// TicketGrace is how long a ticket is valid after its connection was lost.
	TicketGrace = 30 * time.Second
	// FactsEvery is how often a node sends its facts.
	FactsEvery = 10 * time.Second
	// StartTime is how long a start is repeated that was not answered.
	StartTime = time.Minute
)

// A Message is what a text frame holds: [*Challenge], [*Hello], [*Welcome], [*Refused],
// [*Call], [*Cancel], [*Answer], [*Facts], [*Exited], [*Ping], [*Pong] or [*Unknown].
//
//sumtype:decl
type Message interface{ tag() string }

// Challenge is the first message of the hub.
type Challenge struct {
	// Version is the newest version that the hub speaks.
	Version int `json:"version"`
	// Hub is the hub's id, which the node compares with the one that it has joined.
	Hub string `json:"hub"`
	// Nonce is what the node signs; [NonceSize] random bytes.
	Nonce []byte `json:"nonce"`
}

// Hello is the first message of a node.
type Hello struct {
	// Version is the version that the node speaks.
	Version int `json:"version"`
	// Node is its id.
	Node string `json:"node"`
	// Signature is that of [Sign].
	Signature []byte `json:"signature"`
	// Facts are what the node says of itself.
	Facts Facts `json:"facts"`
}

// Welcome tells a node that it is connected.
type Welcome struct {
	// Ticket is what requests at [LinkPath] show. It is a secret.
	Ticket string `json:"ticket"`
	// Time is the hub's clock.
	Time time.Time `json:"time"`
	// MaxSessions is how many runs may live there; 0 for no limit.
	MaxSessions int `json:"max_sessions,omitempty"`
}

// The codes of [Refused].
const (
	// RefusedVersion means that the two speak no common version.
	RefusedVersion = "version"
	// RefusedUnknown means that the node is not known or could not prove to be itself.
	// The hub does not tell which.
	RefusedUnknown = "unknown"
	// RefusedRevoked means that the node's right to connect was taken.
	RefusedRevoked = "revoked"
	// RefusedBusy means that the hub cannot say now.
	RefusedBusy = "busy"
)

// Refused tells a node that it is not connected, or not any more.
type Refused struct {
	Code string `json:"code"`
	// Reason says it in words, with what to do.
	Reason string `json:"reason"`
}

// Call is a question of the hub.
type Call struct {
	// ID is the hub's number of the call.
	ID uint64 `json:"id"`
	// Method says what is asked, Body with what.
	Method string          `json:"method"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// Cancel tells that the answer to a call is not waited for any more.
type Cancel struct {
	ID uint64 `json:"id"`
}

// Answer is the answer to a call: Body, or Failure.
type Answer struct {
	ID      uint64          `json:"id"`
	Body    json.RawMessage `json:"body,omitempty"`
	Failure *Failure        `json:"failure,omitempty"`
}

// Exited tells that the shim of a run has ended.
type Exited struct {
	Session string `json:"session"`
	Run     int    `json:"run"`
}

// Ping asks for a pong. Time is the hub's clock.
type Ping struct {
	ID   uint64    `json:"id"`
	Time time.Time `json:"time"`
}

// Pong answers a ping. Time is the node's clock.
type Pong struct {
	ID   uint64    `json:"id"`
	Time time.Time `json:"time"`
}

// Unknown is a message that this version does not know. It is to be ignored.
type Unknown struct{ Type string }

func (*Challenge) tag() string { return "challenge" }
func (*Hello) tag() string     { return "hello" }
func (*Welcome) tag() string   { return "welcome" }
func (*Refused) tag() string   { return "refused" }
func (*Call) tag() string      { return "call" }
func (*Cancel) tag() string    { return "cancel" }
func (*Answer) tag() string    { return "answer" }
func (*Facts) tag() string     { return "facts" }
func (*Exited) tag() string    { return "exited" }
func (*Ping) tag() string      { return "ping" }
func (*Pong) tag() string      { return "pong" }
func (*Unknown) tag() string   { return "" }

// blank returns an empty message of a type; nil if the type is not known.
func blank(tag string) Message {
	for _, m := range []Message{
		&Challenge{}, &Hello{}, &Welcome{}, &Refused{}, &Call{}, &Cancel{}, &Answer{}, &Facts{}, &Exited{}, &Ping{}, &Pong{},
	} {
		if m.tag() == tag {
			return m
		}
	}
	return nil
}

// ErrTooLong says that a message is longer than [MaxMessage].
var ErrTooLong = fmt.Errorf("the message is longer than %d bytes", MaxMessage)

// errMalformed says that a message is none of this protocol. It does not quote the
// message, which may hold secrets.
var errMalformed = errors.New("the message is not one of this protocol")

// Encode returns the text of a message. The error is [ErrTooLong], or says that a part of
// the message is not JSON.
func Encode(m Message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, errors.New("writing a message: a part of it cannot be written as JSON")
	}
	text := make([]byte, 0, len(body)+len(m.tag())+12)
	text = append(text, `{"type":"`...)
	text = append(text, m.tag()...)
	text = append(text, '"')
	if len(body) > len("{}") {
		text = append(append(text, ','), body[1:]...)
	} else {
		text = append(text, '}')
	}
	if len(text) > MaxMessage {
		return nil, ErrTooLong
	}
	return text, nil
}

// Decode returns the message of a text. Errors do not quote it. Every message that it
// returns is within the bounds of this package.
func Decode(text []byte) (Message, error) {
	if len(text) > MaxMessage {
		return nil, ErrTooLong
	}
	var head struct {
		Type string `json:"type"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) || json.Unmarshal(text, &head) != nil {
		return nil, errMalformed
	}
	m := blank(head.Type)
	if m == nil {
		return &Unknown{Type: clip(head.Type, maxWord)}, nil
	}
	if json.Unmarshal(text, m) != nil {
		return nil, errMalformed
	}
	if b, ok := m.(interface{ bound() error }); ok {
		if err := b.bound(); err != nil {
			return nil, err
		}
	}
	return m, nil
}
