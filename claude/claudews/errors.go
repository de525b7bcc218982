package claudews

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"
)

var (
	// ErrServerClosed is returned by [Server.Accept], and by the Read of every
	// [Peer], after [Server.Close].
	ErrServerClosed = errors.New("the server is closed")

	// ErrLost is returned by Write when the connection was lost while the line
	// was on its way: it has arrived as a whole or not at all, and no program can
	// tell which. A prompt with a uuid and an answer may be sent again, the CLI
	// swallows the second one; an interrupt may not, it would stop another turn.
	ErrLost = errors.New("the connection was lost while the line was being written, it may have arrived")

	// ErrReconnected is returned by [Peer.WriteOn] when the connection that the
	// line was meant for is gone. Nothing was sent.
	ErrReconnected = errors.New("the connection that the line was meant for is gone")

	// ErrNoToken is returned by the function that [Tokens] makes for a request
	// without a bearer token.
	ErrNoToken = errors.New("the request has no bearer token")

	// ErrWrongToken is returned by the function that [Tokens] makes for a
	// request with a bearer token that it does not know.
	ErrWrongToken = errors.New("the bearer token is not known")
)

// Close codes that the protocol gives a meaning.
const (
	// CodeRestart makes a CLI of any version come back after about a second.
	CodeRestart = 1012
	// CodeBusy makes it come back, too; it is what a CLI gets that is one too
	// many.
	CodeBusy = 1013
	// CodeEnd makes a CLI end itself with exit code 0. 2.1.37 comes back all
	// the same: its process has to be ended, or its upgrade to be refused.
	CodeEnd = 4001

	// codeAbnormal is RFC 6455's name for a connection that ended without a
	// close frame. It is never sent.
	codeAbnormal = 1006
)

// A CloseError reports how the other side ended a WebSocket connection.
type CloseError struct {
	// Code is the close code; 1006 if the connection ended without one.
	Code int
	// Reason is the text that came with the code. It is the other side's.
	Reason string
	// Err is the error that ended a connection without a close code.
	Err error
}

// Error names the code, and the reason or error.
func (e *CloseError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("the WebSocket connection broke (%d): %v", e.Code, e.Err)
	case e.Reason != "":
		return fmt.Sprintf("the WebSocket connection was closed with %d: %q", e.Code, e.Reason)
	default:
		return fmt.Sprintf("the WebSocket connection was closed with %d", e.Code)
	}
}

// Unwrap returns Err.
func (e *CloseError) Unwrap() error { return e.Err }

// closeError turns what the WebSocket library returns into a CloseError. The
// library's own error stays out of the API.
func closeError(err error) *CloseError {
	if ce, ok := errors.AsType[websocket.CloseError](err); ok {
		return &CloseError{Code: int(ce.Code), Reason: ce.Reason}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &CloseError{Code: codeAbnormal, Err: err}
}

// A GoneError reports a CLI that did not come back. It is what [Peer.Read]
// returns after the last line.
type GoneError struct {
	// Key is the peer's key.
	Key string
	// Waited is how long it was waited for.
	Waited time.Duration
	// Err is how its last connection ended; nil if it never had one.
	Err error
}

// Error names the CLI and says how its last connection ended.
func (e *GoneError) Error() string {
	s := fmt.Sprintf("the CLI %q did not come back within %v", e.Key, e.Waited)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *GoneError) Unwrap() error { return e.Err }
