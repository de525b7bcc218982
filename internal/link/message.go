package link

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// The versions of the protocol.
const (
	// Version is the newest version that is spoken.
	Version = 1
	// OldestVersion is the oldest.
	OldestVersion = 0
)

// When a silent connection is tried, and when it is given up.
const (
	PingAfter = 10 * time.Second
	DeadAfter = 20 * time.Second
)

// Negotiate returns the version to speak with a peer whose newest one is given,
// or says that there is none.
func Negotiate(theirs int) (int, error) {
	if theirs < OldestVersion {
		return 0, fmt.Errorf("the other side of the link speaks version %d of the protocol, this one %d to %d", theirs, OldestVersion, Version)
	}
	return min(theirs, Version), nil
}

// A Message is the content of a text frame: [*Hello], [*Welcome], [*Ack],
// [*Gone], [*OwnedBy], [*Stop], [*CloseInput], [*Ping], [*Pong], [*Written],
// [*Failed], [*Refused] or [*Unknown].
//
//sumtype:decl
type Message interface{ tag() string }

// Hello is the first message of a shim.
type Hello struct {
	// Version is the newest version that the shim speaks.
	Version int `json:"version"`
	// Session and Run name the run.
	Session string `json:"session"`
	Run     int    `json:"run"`
	// Instance is the shim's own name; the same one replaces its own older link.
	Instance string `json:"instance"`
	// Next is the number that the next durable line will get.
	Next int64 `json:"next"`
	// Oldest is the lowest number that the shim still has; Next if it has none.
	// It is 0 in version 0, where it is not told.
	Oldest int64 `json:"oldest,omitempty"`
	// Written is the highest command that has been written to the CLI.
	Written int64 `json:"written"`
	// Writing is the command that is being written; 0 for none.
	Writing int64 `json:"writing,omitempty"`
	// Failed are the last commands that could not be written, which the hub may
	// not have heard of.
	Failed []Failed `json:"failed,omitempty"`
	// Tee says that another program owns the CLI.
	Tee bool `json:"tee,omitempty"`
	// Steer says that the hub may prompt and interrupt that CLI, too.
	Steer bool `json:"steer,omitempty"`
	// PID and PIDStart are the shim's process and when it was started.
	PID      int    `json:"pid"`
	PIDStart string `json:"pid_start,omitempty"`
}

// Welcome is the hub's answer to a hello.
type Welcome struct {
	// Version is the one to speak from now on.
	Version int `json:"version"`
	// Epoch is that of the session's journal.
	Epoch string `json:"epoch,omitempty"`
	// Have is the highest durable line that is journaled.
	Have int64 `json:"have"`
	// Next is the lowest number that the hub's next new command can have.
	Next int64 `json:"next"`
}

// Ack says that all durable lines up to Have are journaled.
type Ack struct {
	Have int64 `json:"have"`
}

// Gone says that the hub does not know the run or has ended it: the shim ends
// its CLI.
type Gone struct {
	Reason string `json:"reason"`
}

// OwnedBy says that another instance has the run. The shim may try again.
type OwnedBy struct {
	Instance string `json:"instance"`
}

// Stop has the CLI ended: its input is closed, and when it has not ended by
// itself after the grace it is made to.
type Stop struct {
	// GraceMS is in milliseconds.
	GraceMS int64  `json:"grace_ms,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// CloseInput has the CLI's input closed, after the commands sent before.
type CloseInput struct{}

// Ping asks for a sign of life.
type Ping struct{}

// Pong is one, the answer to a ping.
type Pong struct{}

// Written says that all commands up to UpTo that were sent are written, except
// those that have failed.
type Written struct {
	UpTo int64 `json:"up_to"`
}

// Failed says that a command has not been written and will not be.
type Failed struct {
	Number int64  `json:"number"`
	Reason string `json:"reason"`
}

// Refused says that a command was not written because its number is already
// written.
type Refused struct {
	Number int64 `json:"number"`
}

// Unknown is a message that this version does not know. It is to be ignored.
type Unknown struct {
	// Tag is its name.
	Tag string
}

func (*Hello) tag() string      { return "hello" }
func (*Welcome) tag() string    { return "welcome" }
func (*Ack) tag() string        { return "ack" }
func (*Gone) tag() string       { return "gone" }
func (*OwnedBy) tag() string    { return "owned_by" }
func (*Stop) tag() string       { return "stop" }
func (*CloseInput) tag() string { return "close_input" }
func (*Ping) tag() string       { return "ping" }
func (*Pong) tag() string       { return "pong" }
func (*Written) tag() string    { return "written" }
func (*Failed) tag() string     { return "failed" }
func (*Refused) tag() string    { return "refused" }
func (m *Unknown) tag() string  { return m.Tag }

// AppendMessage appends a message as it is said in a version. An [*Unknown]
// has only its name.
func AppendMessage(dst []byte, m Message, version int) []byte {
	if version == 0 {
		m = downgrade(m)
	}
	body, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", m, err)) // strings and numbers cannot fail
	}
	name, err := json.Marshal(m.tag())
	if err != nil {
		panic(fmt.Sprintf("encoding %q: %v", m.tag(), err))
	}
	dst = append(append(dst, `{"t":`...), name...)
	if _, ok := m.(*Unknown); ok || len(body) <= len("{}") {
		return append(dst, '}')
	}
	return append(append(dst, ','), body[1:]...)
}

// written0 is Written in version 0, and also what it says for Refused.
type written0 struct {
	Number int64 `json:"number"`
}

func (*written0) tag() string { return "written" }

func downgrade(m Message) Message {
	switch m := m.(type) {
	case *Hello:
		old := *m
		old.Oldest, old.Writing, old.Failed = 0, 0, nil
		return &old
	case *Written:
		return &written0{m.UpTo}
	case *Refused:
		return &written0{m.Number}
	default:
		return m
	}
}

// ParseMessage reads a text frame, of any version.
func ParseMessage(frame []byte) (Message, error) {
	var head struct {
		T string `json:"t"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(frame, " \t\r\n"), []byte("{")) {
		return nil, fmt.Errorf("%w: a message that is no object", ErrMalformed)
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return nil, fmt.Errorf("%w: reading a message: %v", ErrMalformed, err)
	}
	var m Message
	switch head.T {
	case "hello":
		m = &Hello{}
	case "welcome":
		m = &Welcome{}
	case "ack":
		m = &Ack{}
	case "gone":
		m = &Gone{}
	case "owned_by":
		m = &OwnedBy{}
	case "stop":
		m = &Stop{}
	case "close_input":
		return &CloseInput{}, nil
	case "ping":
		return &Ping{}, nil
	case "pong":
		return &Pong{}, nil
	case "written":
		var w struct {
			Written
			Number int64 `json:"number"` // version 0
		}
		if err := json.Unmarshal(frame, &w); err != nil {
			return nil, fmt.Errorf("%w: reading written: %v", ErrMalformed, err)
		}
		return sane(&Written{max(w.UpTo, w.Number)})
	case "failed":
		m = &Failed{}
	case "refused":
		m = &Refused{}
	default:
		return &Unknown{head.T}, nil
	}
	if err := json.Unmarshal(frame, m); err != nil {
		return nil, fmt.Errorf("%w: reading %s: %v", ErrMalformed, head.T, err)
	}
	return sane(m)
}

// sane refuses numbers that no peer in its senses would send, so that neither side
// has to think about them further up.
func sane(m Message) (Message, error) {
	ok := true
	switch m := m.(type) {
	case *Hello:
		ok = m.Next >= 1 && m.Oldest >= 0 && m.Oldest <= m.Next && m.Written >= 0 && m.Writing >= 0 && m.Run >= 0
		for _, f := range m.Failed {
			ok = ok && f.Number >= 1
		}
	case *Welcome:
		ok = m.Have >= 0 && m.Next >= 0 && m.Version >= 0
	case *Ack:
		ok = m.Have >= 0
	case *Stop:
		ok = m.GraceMS >= 0
	case *Written:
		ok = m.UpTo >= 1
	case *Failed:
		ok = m.Number >= 1
	case *Refused:
		ok = m.Number >= 1
	default:
	}
	if !ok {
		return nil, fmt.Errorf("%w: %s with numbers that make no sense", ErrMalformed, m.tag())
	}
	return m, nil
}
