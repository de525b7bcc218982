package hub

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
)

// How much a chunk holds: as long as one of its events is in memory, all are.
const (
	chunkEvents = 64
	chunkBytes  = 64 << 10
	// jsonCost is about how much longer the JSON of an event is than what it says.
	jsonCost = 192
)

// A chunk is some events that were shown one after the other.
type chunk struct {
	events []api.Event // static once followers see it
	size   int

	// The events as JSON, for all followers.
	encoded sync.Once
	json    []byte
	ends    []int // where each event ends in json
	plain   bool  // json is UTF-8, on one line
}

// newChunk returns a chunk for events of which there are about n.
func newChunk(n int) *chunk { return &chunk{events: make([]api.Event, 0, min(n, chunkEvents))} }

// full reports whether no more events should be added.
func (c *chunk) full() bool { return len(c.events) == cap(c.events) || c.size >= chunkBytes }

// add adds an event, if there is room for it, and returns where it is.
func (c *chunk) add(e api.Event) (*api.Event, Text) {
	c.events = append(c.events, e)
	c.size += sizeOf(&e)
	i := len(c.events) - 1
	return &c.events[i], Text{chunk: c, at: i}
}

// An Encoder appends events as JSON, each behind the one before, and appends to ends how
// long b is behind each.
type Encoder func(b []byte, ends []int, events []api.Event) ([]byte, []int)

// encode makes json.
func (c *chunk) encode(with Encoder) {
	size := c.size - len(c.events)*(eventCost-jsonCost)
	c.json, c.ends = with(make([]byte, 0, size), make([]int, 0, len(c.events)), c.events)
	c.plain = bytes.IndexByte(c.json, '\n') < 0 && bytes.IndexByte(c.json, '\r') < 0 && utf8.Valid(c.json)
}

// A Text is an event as JSON, for all followers: the first that needs it has it encoded,
// with those around it. It is in memory as long as the event. The zero value is that of
// an event that followers do not share.
type Text struct {
	chunk *chunk
	at    int
}

// JSON returns the event as encode appends it; nil if it is not shared. If plain, it is
// UTF-8 and has no line break; else it may be so. It must not be changed. All callers give
// functions that append the same. It is safe for concurrent use.
func (t Text) JSON(encode Encoder) (json []byte, plain bool) {
	c := t.chunk
	if c == nil {
		return nil, false
	}
	c.encoded.Do(func() { c.encode(encode) })
	start, end := 0, c.ends[t.at]
	if t.at > 0 {
		start = c.ends[t.at-1]
	}
	return c.json[start:end:end], c.plain
}
