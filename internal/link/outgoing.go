package link

import (
	"errors"
	"fmt"
	"iter"
)

// The defaults of an [Outgoing].
const (
	DefaultBuffer     = 64 << 20
	DefaultLiveBuffer = 8 << 20
)

// recordCost is what a record takes in memory besides its bytes, about.
const recordCost = 96

// An Outgoing is the shim's record of what goes to the hub: the durable lines
// that are not acknowledged, and the live ones that are still to be sent or may
// have to be sent again.
type Outgoing struct {
	buffer, liveBuffer int64

	durable queue[Record]
	bytes   int64
	next    int64 // number of the next durable line

	live      queue[liveLine]
	liveBytes int64
	k         int64 // of the last live line
	sent      int   // how many at the front of live have been sent
	garbage   int64 // bytes of those that were sent and are not kept
	hole      bool  // live lines were left out after all that is in live

	// The state of the connection.
	connected bool
	cursor    int64  // number of the next durable line to send
	current   Record // is being sent, if offset is not negative
	offset    int    // -1 if none is
}

type liveLine struct {
	Record
	stream string
	kept   bool // it belongs to a message that is still being written
}

// NewOutgoing returns one that holds about as many bytes of durable and of live
// lines as given; zero means [DefaultBuffer] and [DefaultLiveBuffer].
func NewOutgoing(buffer, liveBuffer int64) *Outgoing {
	if buffer <= 0 {
		buffer = DefaultBuffer
	}
	if liveBuffer <= 0 {
		liveBuffer = DefaultLiveBuffer
	}
	return &Outgoing{buffer: buffer, liveBuffer: liveBuffer, next: 1, cursor: 1, offset: -1}
}

// Add appends a durable record and returns its number. The bytes are the
// Outgoing's from now on. It always succeeds: a caller that can wait looks at Full
// before it comes by a line.
func (o *Outgoing) Add(kind Kind, line []byte) int64 {
	n := o.next
	o.durable.push(Record{Kind: kind, Number: n, Bytes: line})
	o.bytes += int64(len(line)) + recordCost
	o.next++
	o.k = 0
	return n
}

// AddLive appends a live line, whose bytes are the Outgoing's from now on.
// stream is the tool call of the sub-agent that the line is from, empty for the
// main conversation. With keep set the line belongs to the message that is being
// written in that stream and is sent again after a reconnect until [Settle] is
// called; any other is only sent if there is a connection now.
func (o *Outgoing) AddLive(line []byte, stream string, keep bool) {
	o.k++
	if !keep && !o.connected {
		return
	}
	o.live.push(liveLine{Record{Kind: Live, Number: o.next - 1, K: o.k, Hole: o.hole, Bytes: line}, stream, keep})
	o.hole = false
	o.liveBytes += int64(len(line)) + recordCost
	// Not for a little: it looks at every line.
	if o.liveBytes > o.liveBuffer && o.garbage > o.liveBuffer/4 {
		o.compact()
	}
	for o.liveBytes > o.liveBuffer {
		o.dropLive()
	}
}

// dropLive leaves out the oldest live line.
func (o *Outgoing) dropLive() {
	l := o.live.pop()
	o.liveBytes -= int64(len(l.Bytes)) + recordCost
	hole := l.Hole || l.kept || o.sent == 0
	if o.sent > 0 {
		o.sent--
		if !l.kept {
			o.garbage -= int64(len(l.Bytes)) + recordCost
		}
	}
	switch {
	case !hole:
	case o.live.len() > 0:
		o.live.at(0).Hole = true
	default:
		o.hole = true
	}
}

// Settle says that the message which is being written in a stream is complete:
// its live lines need not be sent again.
func (o *Outgoing) Settle(stream string) {
	for i := range o.live.len() {
		if l := o.live.at(i); l.stream == stream {
			l.kept = false
		}
	}
	o.compact()
}

// SettleAll is Settle for all streams.
func (o *Outgoing) SettleAll() {
	for i := range o.live.len() {
		o.live.at(i).kept = false
	}
	o.compact()
}

// compact removes live lines that are of no more use: those that were sent, or
// cannot be sent now, and are not kept for later.
func (o *Outgoing) compact() {
	sent := 0
	o.live.filter(func(i int, l *liveLine) bool {
		use := l.kept || o.connected && i >= o.sent
		if !use {
			o.liveBytes -= int64(len(l.Bytes)) + recordCost
			return false
		}
		if i < o.sent {
			sent++
		}
		return true
	})
	o.sent, o.garbage = sent, 0
}

// Full reports whether no more durable lines should be added until some are
// acknowledged.
func (o *Outgoing) Full() bool { return o.bytes >= o.buffer }

// Bytes returns how much the durable lines take.
func (o *Outgoing) Bytes() int64 { return o.bytes }

// Next returns the number that the next durable line will get.
func (o *Outgoing) Next() int64 { return o.next }

// Oldest returns the lowest number that is held; Next if there is none.
func (o *Outgoing) Oldest() int64 { return o.next - int64(o.durable.len()) }

// Drained reports whether all durable lines are acknowledged.
func (o *Outgoing) Drained() bool { return o.durable.len() == 0 }

// ErrAhead says that the hub has acknowledged, or says that it has, lines which
// were never sent.
var ErrAhead = errors.New("the hub has lines that this shim never sent")

// Connect begins a connection with what the hub's welcome says it has. Sending
// begins after that, or with the oldest line that is left.
func (o *Outgoing) Connect(have int64) error {
	if have >= o.next {
		return fmt.Errorf("%w: it has %d, the next one is %d", ErrAhead, have, o.next)
	}
	o.Disconnect()
	o.release(have)
	o.cursor = o.Oldest()
	o.connected, o.sent, o.offset, o.current = true, 0, -1, Record{}
	return nil
}

// Disconnect ends a connection. What was not kept is forgotten.
func (o *Outgoing) Disconnect() {
	o.connected, o.offset, o.current = false, -1, Record{}
	o.compact()
}

// Ack releases the durable lines that the hub has journaled.
func (o *Outgoing) Ack(have int64) error {
	if have >= o.cursor {
		return fmt.Errorf("%w: it acknowledges %d, the next one to be sent is %d", ErrAhead, have, o.cursor)
	}
	o.release(have)
	return nil
}

func (o *Outgoing) release(have int64) {
	for o.durable.len() > 0 && o.durable.at(0).Number <= have {
		o.bytes -= int64(len(o.durable.pop().Bytes)) + recordCost
	}
}

// Pending reports whether there is something to send.
func (o *Outgoing) Pending() bool {
	return o.connected && (o.offset >= 0 || o.cursor < o.next || o.sent < o.live.len())
}

// AppendFrame appends the records that are next to a frame, and counts them as
// sent: about [Batch] bytes, and up to [MaxFrame] if a line is longer. With
// nothing to send, or without a connection, it appends nothing.
func (o *Outgoing) AppendFrame(frame []byte) []byte {
	for len(frame) < Batch && (o.offset >= 0 || o.pick()) {
		var done bool
		frame, o.offset, done = AppendRecord(frame, &o.current, o.offset, MaxFrame)
		if !done {
			break
		}
		if o.current.Kind.Durable() {
			o.cursor++
		}
		o.current, o.offset = Record{}, -1
	}
	return frame
}

// pick chooses what is sent next: live lines come right after the durable one
// that they followed.
func (o *Outgoing) pick() bool {
	switch {
	case !o.connected:
		return false
	case o.sent < o.live.len() && o.live.at(o.sent).Number < o.cursor:
		l := o.live.at(o.sent)
		o.current = l.Record
		o.sent++
		cost := int64(len(l.Bytes)) + recordCost
		switch {
		case l.kept:
		case o.sent == 1:
			o.live.pop()
			o.liveBytes -= cost
			o.sent = 0
		default:
			o.garbage += cost
		}
	case o.cursor < o.next:
		o.current = *o.durable.at(int(o.cursor - o.Oldest()))
	default:
		return false
	}
	o.offset = 0
	return true
}

// Unacked returns the durable records that are held, in order.
func (o *Outgoing) Unacked() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range o.durable.len() {
			if !yield(*o.durable.at(i)) {
				return
			}
		}
	}
}
