package ingress

import (
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/queue"
)

// errStopped says that a connection is ending and takes nothing more.
var errStopped = errors.New("the connection is ending")

// A sender is the way from the hub to a shim. It implements the hub's side of
// the contract: nothing in it waits for the connection, it only queues, and the
// queue's worker writes frames.
//
// The queue needs no bound of its own: the hub has only so many commands that
// are not written yet, acknowledgements replace each other, and of all other
// messages there is one per connection or a few.
type sender struct {
	// Static after construction.
	frame func(kind websocket.MessageType, frame []byte) error
	cut   func(cause error) // ends the connection; it does not wait
	queue *queue.Queue[outgoing]

	version int // set by welcome, before the worker begins

	mu  sync.Mutex
	ack int64 // 0 for none that waits; guarded by mu
}

// newSender makes a sender, whose worker begins with the welcome.
func newSender(frame func(kind websocket.MessageType, frame []byte) error, cut func(cause error)) *sender {
	s := &sender{frame: frame, cut: cut}
	s.queue = queue.New(0, s.work)
	s.queue.Hold()
	return s
}

// outgoing is a command, a message or a mark.
type outgoing struct {
	command link.Order
	message link.Message  // nil for a command
	sent    chan struct{} // a mark: closed when all before it is sent
	ack     bool          // a mark: an acknowledgement waits
}

// isCommand reports whether it is neither a message nor a mark.
func (o *outgoing) isCommand() bool { return o.message == nil && o.sent == nil && !o.ack }

var _ hub.LinkSender = (*sender)(nil)

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
	waits := s.ack > 0
	s.ack = max(s.ack, have)
	s.mu.Unlock()
	if !waits && have > 0 {
		s.add(outgoing{ack: true})
	}
}

// Close implements the hub's contract.
func (s *sender) Close(reason string) { s.cut(&closedError{reason}) }

// A closedError says that the hub wanted a connection closed.
type closedError struct{ reason string }

// Error says why.
func (e *closedError) Error() string { return "closed by the hub: " + e.reason }

// say queues a message.
func (s *sender) say(m link.Message) { s.add(outgoing{message: m}) }

func (s *sender) add(out ...outgoing) { s.queue.Add(out...) } // false: nothing is sent any more

// welcome queues the welcome before all that waits, and lets that go.
func (s *sender) welcome(m *link.Welcome) {
	s.version = m.Version
	s.queue.Release(outgoing{message: m})
}

// takeAck returns the acknowledgement that waits, 0 for none.
func (s *sender) takeAck() (have int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, s.ack = s.ack, 0
	return have
}

// work sends what waits. A welcome comes first. An acknowledgement frees the shim's
// memory, and is no part of any other order.
func (s *sender) work(batch []outgoing) {
	if m, ok := batch[0].message.(*link.Welcome); ok {
		if !s.text(m) {
			return
		}
		batch = batch[1:]
	}
	if have := s.takeAck(); have > 0 {
		killpoint.Reach("link.after-commit")
		if !s.text(&link.Ack{Have: have}) {
			return
		}
	}
	s.write(batch)
}

// write sends commands and messages in their order, commands that follow each
// other in as few frames as they fit into.
func (s *sender) write(batch []outgoing) {
	for len(batch) > 0 {
		first := &batch[0]
		switch {
		case first.message != nil:
			if !s.text(first.message) {
				return
			}
		case first.sent != nil:
			close(first.sent)
		}
		if !first.isCommand() {
			batch = batch[1:]
			continue
		}
		n := 0
		for n < len(batch) && batch[n].isCommand() {
			n++
		}
		killpoint.Reach("link.before-send")
		for frame := range link.Frames(records(batch[:n])) {
			if !s.send(websocket.MessageBinary, frame) {
				return
			}
		}
		killpoint.Reach("link.after-send")
		batch = batch[n:]
	}
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

// send writes a frame. After an error the connection is over: nothing more is taken,
// and what is left of the batch is not sent.
func (s *sender) send(kind websocket.MessageType, frame []byte) bool {
	if err := s.frame(kind, frame); err != nil {
		s.queue.Stop()
		s.cut(err)
		return false
	}
	return true
}

// stop takes nothing more and waits for the frame that is being written; the
// connection must have been cut before.
func (s *sender) stop() {
	s.queue.Stop()
	s.queue.Wait()
}
