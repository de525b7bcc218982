package claude

import (
	"context"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
)

// The states of a [Transport]. A transport that cannot reconnect goes from
// [StateIdle] through [StateConnecting] and [StateConnected] to [StateClosed];
// [StateClosed] is final.
const (
	// StateIdle is the state of a transport that has not been used yet.
	StateIdle = "idle"
	// StateConnecting is the state while a process is started, or while a
	// connection is awaited or dialled for the first time.
	StateConnecting = "connecting"
	// StateConnected is the state in which lines go both ways.
	StateConnected = "connected"
	// StateReconnecting is the state after a connection was lost that may
	// come back.
	StateReconnecting = "reconnecting"
	// StateClosing is the state from the call of Close until everything that
	// belongs to the transport is gone.
	StateClosing = "closing"
	// StateClosed is the final state: the CLI, or the connection to it, is
	// gone for good. Lines that came before may still be there to be read.
	StateClosed = "closed"
)

// A Transport carries lines between a controller and one CLI. It consists of
// standard types only, so that anyone can implement it.
//
// A line is what lies between two line ends. What it means is not its
// business here: bytes go through unchanged.
type Transport interface {
	// Read returns the next line that the CLI wrote, without its line end.
	// The slice is the caller's. After the last line it returns [io.EOF] if
	// the transport ended in good order, else the cause.
	//
	// There is one reader at a time. Read may be called while Write,
	// CloseInput and Close run; Close unblocks it. A *wire.LineTooLongError
	// leaves the transport usable: the next Read gives the next line. A ctx
	// that ends makes Read return ctx.Err() and loses nothing: the line comes
	// with the next Read.
	Read(ctx context.Context) ([]byte, error)

	// Write sends one line, given without its line end: the transport adds
	// "\n". It is safe for concurrent use, and lines are never mixed. Blank
	// lines and lines with "\n" inside are refused, since both can end a CLI.
	Write(ctx context.Context, line []byte) error

	// CloseInput tells the CLI that no more input comes. A CLI then finishes
	// its turn and ends. It does not wait for that.
	CloseInput() error

	// Close ends the connection and what belongs to it, a process and its
	// tree included, and waits until all of it is gone. It is idempotent and
	// may be called while Read and Write run.
	Close() error

	// State returns the present state, one of the State constants, and a
	// channel that is closed at the next change.
	State() (state string, changed <-chan struct{})
}

// A StateVar holds the state of a transport and wakes every goroutine that waits for
// a change. Its zero value holds [StateIdle] and is ready to use. It must not
// be copied after its first use, and all methods are safe for concurrent use.
type StateVar struct {
	mu      sync.Mutex
	state   string // "" is StateIdle
	changed broadcast.Broadcast
}

// Set changes the state. Setting the state that is already there is no
// change, and nothing follows [StateClosed].
func (v *StateVar) Set(state string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.get(); old == state || old == StateClosed {
		return
	}
	v.state = state
	v.changed.Notify()
}

// Get returns the state and a channel that is closed at its next change.
// After [StateClosed] the channel is never closed.
func (v *StateVar) Get() (state string, changed <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.get(), v.changed.Changed()
}

// Await waits until the state is one of states and returns it. If
// [StateClosed] is reached first, which nothing can follow, it returns
// [ErrClosed]; if ctx ends first, the cause of that. The state returned with
// an error is the one that was seen last.
func (v *StateVar) Await(ctx context.Context, states ...string) (string, error) {
	for {
		state, changed := v.Get()
		if slices.Contains(states, state) {
			return state, nil
		}
		if state == StateClosed {
			return state, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state, context.Cause(ctx)
		}
	}
}

func (v *StateVar) get() string {
	if v.state == "" {
		return StateIdle
	}
	return v.state
}
