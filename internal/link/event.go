package link

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/switchboard-dev/switchboard/wire"
)

// The names of an [Event].
const (
	// EventStarted says that the CLI runs. It is the first record of a run,
	// unless the CLI could not be started.
	EventStarted = "started"
	// EventStopping says that the shim has begun to end the CLI.
	EventStopping = "stopping"
	// EventExited says that the CLI has ended and all that it left behind is
	// gone. It is the last record of a run.
	EventExited = "exited"
	// EventGap says that lines are missing here.
	EventGap = "gap"
	// EventRefused says that the sandbox refused something.
	EventRefused = "refused"
)

// An Event is something that happened to a shim. Which members it has depends
// on its name.
type Event struct {
	Event string `json:"event"`

	// PID and PIDStart are the shim's process (started).
	PID      int    `json:"pid,omitempty"`
	PIDStart string `json:"pid_start,omitempty"`
	// CLIPID is the CLI's process (started).
	CLIPID int `json:"cli_pid,omitempty"`
	// Version is the version of the CLI, if it is known (started, exited).
	Version string `json:"version,omitempty"`

	// Code is the exit code; nil if a signal ended the CLI, if it never ran, or
	// if it ended because the shim made it (exited).
	Code *int `json:"code,omitempty"`
	// Signal is the name of the signal that ended the CLI (exited).
	Signal string `json:"signal,omitempty"`
	// Reason says why in one sentence (stopping, exited, gap).
	Reason string `json:"reason,omitempty"`
	// Stderr is the end of what the CLI wrote to standard error, without its
	// secrets (exited).
	Stderr string `json:"stderr,omitempty"`
	// Silent says that the CLI never wrote a line, which mostly means that it
	// could not start (exited).
	Silent bool `json:"silent,omitempty"`
	// Swept counts processes that the CLI left behind (exited).
	Swept int `json:"swept,omitempty"`
	// Requested says that the CLI was told to end (exited).
	Requested bool `json:"requested,omitempty"`

	// Lines and Bytes say how much is missing (gap).
	Lines int64 `json:"lines,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`

	// Refusal is what the sandbox refused, an api.SandboxRefusal as JSON
	// (refused).
	Refusal json.RawMessage `json:"refusal,omitempty"`
}

// Encode returns the event as JSON.
func (e *Event) Encode() []byte { return mustEncode(e) }

// ParseEvent reads the bytes of a record of the kind [Happened].
func ParseEvent(data []byte) (*Event, error) {
	e := &Event{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("%w: reading an event: %v", ErrMalformed, err)
	}
	return e, nil
}

// An Oversize stands for a line that was too long to be carried.
type Oversize struct {
	// Length is the line's length in bytes.
	Length int64 `json:"length"`
	// SHA256 is the hash of the whole line, in hexadecimal.
	SHA256 string `json:"sha256"`
	// Head is the beginning of the line.
	Head []byte `json:"head"`
}

// NewOversize describes a line that a reader refused.
func NewOversize(e *wire.LineTooLongError) *Oversize {
	return &Oversize{Length: e.Length, SHA256: hex.EncodeToString(e.Sum[:]), Head: e.Head}
}

// Encode returns it as JSON, the head in base64.
func (o *Oversize) Encode() []byte { return mustEncode(o) }

func mustEncode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err)) // strings and numbers cannot fail
	}
	return data
}
