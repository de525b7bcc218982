package ingress

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// errStopped says that a connection is ending and takes nothing more.
var errStopped = errors.New("the connection is ending")

// A sender is the way from the hub to a shim. It implements the hub's side of
// the contract: nothing in it waits for the connection, it only queues, and a
// worker that exists only while there is work writes frames.
//
// The queue needs no bound of its own: the hub has only so many commands that
// are not written yet, acknowledgements replace each other, and of all other
// messages there is one per connection or a few.
type sender struct {
	// Static after construction.
	ctx   context.Context // the connection's
	frame func(kind websocket.MessageType, frame []byte) error
	cut   func(cause error) // ends the connection; it does not wait

	worker sync.WaitGroup

	// Guarded by mu.
	mu      sync.Mutex
	version int
	queue   []outgoing
	ack     int64 // 0 for none that waits
	open    bool  // the welcome is in the queue: what waits may go
	working bool
	stopped bool
}

// outgoing is a command, a message or a mark.
type outgoing struct {
	command link.Order
	message link.Message  // nil for a command
	sent    chan struct{} // a mark: closed when all before it is sent
}

// isCommand reports whether it is neither a message nor a mark.
func (o *outgoing) isCommand() bool { return o.message == nil && o.sent == nil }

var _ hub.Wire = (*sender)(nil)

// Send implements the hub's contract.
func (s *sender) Send(commands []link.Order) {
	out := make([]outgoing, len(commands))
	for i, c := range commands {
		out[i].command = c
	}
	s.add(out...)
}

// Stop implements the hub's contract.
func (s *sender) Stop(grace time.Duration, reason string) {
	s.say(&link.Stop{GraceMS: grace.Milliseconds(), Reason: reason})
}

// CloseInput implements the hub's contract.
func (s *sender) CloseInput() { s.say(&link.CloseInput{}) }

// Ack implements the hub's contract. Only the newest is sent.
func (s *sender) Ack(have int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ack = max(s.ack, have)
	s.work()
}

// Close implements the hub's contract.
func (s *sender) Close(reason string) { s.cut(&closedError{reason}) }

// A closedError says that the hub wanted a connection closed.
type closedError struct{ reason string }

// Error says why.
func (e *closedError) Error() string { return "closed by the hub: " + e.reason }

// say queues a message.
func (s *sender) say(m link.Message) { s.add(outgoing{message: m}) }

func (s *sender) add(out ...outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.queue = append(s.queue, out...)
	s.work()
}

// welcome queues the welcome before all that waits, and lets that go.
func (s *sender) welcome(m *link.Welcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = m.Version
	s.queue = append([]outgoing{{message: m}}, s.queue...)
	s.open = true
	s.work()
}

// work starts the worker if there is none. mu is held.
func (s *sender) work() {
	if s.open && !s.working && !s.stopped {
		s.working = true
		s.worker.Go(s.run) // joined by stop
	}
}

// take returns all that waits. With nothing left the worker is over.
func (s *sender) take() (ack int64, queue []outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ack, queue = s.ack, s.queue
	s.ack, s.queue = 0, nil
	s.working = !s.stopped && (ack > 0 || len(queue) > 0)
	if !s.working {
		return 0, nil
	}
	return ack, queue
}

func (s *sender) run() {
	for {
		ack, queue := s.take()
		if ack == 0 && len(queue) == 0 {
			return
		}
		// A welcome comes first. An acknowledgement frees the shim's memory, and
		// is no part of any other order.
		if len(queue) > 0 {
			if m, ok := queue[0].message.(*link.Welcome); ok {
				if !s.text(m) {
					return
				}
				queue = queue[1:]
			}
		}
		if ack > 0 {
			killpoint.Reach("link.after-commit")
			if !s.text(&link.Ack{Have: ack}) {
				return
			}
		}
		if !s.write(queue) {
			return
		}
	}
}

// write sends commands and messages in their order, commands that follow each
// other in as few frames as they fit into.
func (s *sender) write(queue []outgoing) bool {
	for len(queue) > 0 {
		if m := queue[0].message; m != nil {
			if !s.text(m) {
				return false
			}
			queue = queue[1:]
			continue
		}
		if sent := queue[0].sent; sent != nil {
			close(sent)
			queue = queue[1:]
			continue
		}
		n := 0
		for n < len(queue) && queue[n].isCommand() {
			n++
		}
		killpoint.Reach("link.before-send")
		for frame := range link.Frames(records(queue[:n])) {
			if !s.send(websocket.MessageBinary, frame) {
				return false
			}
		}
		killpoint.Reach("link.after-send")
		queue = queue[n:]
	}
	return true
}

func records(commands []outgoing) func(func(link.Record) bool) {
	return func(yield func(link.Record) bool) {
		for i := range commands {
			c := &commands[i].command
			if !yield(link.Record{Kind: link.Outbox, Number: c.Number, Bytes: c.Line}) {
				return
			}
		}
	}
}

func (s *sender) text(m link.Message) bool {
	return s.send(websocket.MessageText, link.AppendMessage(nil, m, s.version))
}

// send writes a frame. After an error the connection is over, and so is the
// worker; nothing more is taken.
func (s *sender) send(kind websocket.MessageType, frame []byte) bool {
	if err := s.frame(kind, frame); err != nil {
		s.mu.Lock()
		s.stopped, s.working, s.queue = true, false, nil
		s.mu.Unlock()
		s.cut(err)
		return false
	}
	return true
}

// stop takes nothing more and waits for the frame that is being written; the
// connection must have been cut before.
func (s *sender) stop() {
	s.mu.Lock()
	s.stopped, s.queue = true, nil
	s.mu.Unlock()
	s.worker.Wait()
}
