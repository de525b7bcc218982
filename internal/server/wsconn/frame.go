package wsconn

import (
	"encoding/binary"
	"sync"

	"github.com/coder/websocket"
)

// The first bytes of frames that are not fragmented.
const (
	opText   = 0x81
	opBinary = 0x82
	opClose  = 0x88
	opPing   = 0x89
)

// maxReason is the longest reason that a close frame can hold.
const maxReason = 123

// appendHeader appends the header of a message.
func appendHeader(b []byte, kind websocket.MessageType, length int) []byte {
	op := byte(opText)
	if kind == websocket.MessageBinary {
		op = opBinary
	}
	switch {
	case length < 126:
		return append(b, op, byte(length))
	case length <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, op, 126), uint16(length))
	}
	return binary.BigEndian.AppendUint64(append(b, op, 127), uint64(length))
}

// appendLine appends a text message that holds a line with its end.
func appendLine(b, line []byte) []byte {
	b = appendHeader(b, websocket.MessageText, len(line)+1)
	b = append(b, line...)
	return append(b, '\n')
}

// appendClose appends a close frame.
func appendClose(b []byte, code websocket.StatusCode, reason string) []byte {
	reason = shorten(reason)
	b = append(b, opClose, byte(2+len(reason)))
	b = binary.BigEndian.AppendUint16(b, uint16(code))
	return append(b, reason...)
}

// shorten cuts a text to what fits into a close frame, between two characters.
func shorten(text string) string {
	if len(text) <= maxReason {
		return text
	}
	end := maxReason - len("…")
	for end > 0 && text[end]&0xc0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

const (
	// batchSize is how much is written at once.
	batchSize = 64 << 10
	// largeMessage is one that is written from where it is: copying it would cost more
	// than a write of its own.
	largeMessage = 32 << 10
	// keptBuffer is the largest buffer that is kept for another batch.
	keptBuffer = 256 << 10
)

// buffers holds *[]byte, the memory of batches.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// A Batch is messages that are written with as few writes as they fit into.
type Batch struct {
	conn   *Conn
	buffer *[]byte
	b      []byte
	err    error
}

// Batch begins a batch, which Flush ends.
func (c *Conn) Batch() Batch {
	buffer, _ := buffers.Get().(*[]byte) // nothing else is in there
	return Batch{conn: c, buffer: buffer, b: (*buffer)[:0]}
}

// Line adds a message that is a line; its line end is added.
func (b *Batch) Line(line []byte) { b.add(websocket.MessageText, nil, line, "\n") }

// Text adds a message.
func (b *Batch) Text(message []byte) { b.add(websocket.MessageText, nil, message, "") }

// Around adds a message of three parts.
func (b *Batch) Around(head, body []byte, end string) {
	b.add(websocket.MessageText, head, body, end)
}

func (b *Batch) add(kind websocket.MessageType, head, body []byte, end string) {
	if b.err != nil {
		return
	}
	b.b = append(appendHeader(b.b, kind, len(head)+len(body)+len(end)), head...)
	if len(body) >= largeMessage {
		b.err = b.conn.send(b.b, body, []byte(end))
		b.b = b.b[:0]
		return
	}
	b.b = append(append(b.b, body...), end...)
	if len(b.b) >= batchSize {
		b.err = b.conn.send(b.b)
		b.b = b.b[:0]
	}
}

// Flush writes the rest and gives the memory back. It returns the first error.
func (b *Batch) Flush() error {
	if b.err == nil && len(b.b) > 0 {
		b.err = b.conn.send(b.b)
	}
	if cap(b.b) <= keptBuffer {
		*b.buffer = b.b[:0]
	}
	buffers.Put(b.buffer)
	return b.err
}
