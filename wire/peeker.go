package wire

import "math"

// A Peeker is [Peek] for line after line of one CLI. While an agent writes, each
// line differs from the one before in nothing but its piece of text and its id, and
// comparing them takes a fraction of the time of reading. The zero value is ready to
// use. A Peeker is not safe for concurrent use.
type Peeker struct {
	shape  shape
	misses int // how many deltas in a row were not of the shape
}

// maxMisses is after how many deltas in a row that were not of the shape, which is
// learnt each time, not every one is learnt from: they may come from several agents
// in turns.
const maxMisses = 8

// Peek returns what [Peek] returns for the line. The header's Delta is quicker.
func (p *Peeker) Peek(line []byte) (Header, error) {
	var places Places
	if p.Delta(line, &places) {
		return places.Header(line), nil
	}
	return p.learn(line)
}

// Delta sets the places of a line that is like a delta before it. It reports false for
// every other, which is one for Peek.
func (p *Peeker) Delta(line []byte, places *Places) bool {
	more, escaped, ok := p.shape.fits(line)
	if !ok || len(line) > math.MaxUint16 {
		return false
	}
	p.misses = 0
	*places = p.shape.places
	places.escaped = escaped
	for i := range places.starts {
		switch start := int(places.starts[i]); {
		case start >= p.shape.end:
			places.starts[i] += uint32(more)
		case start+int(places.lengths[i]) >= p.shape.end:
			places.lengths[i] += uint16(more)
		}
	}
	return true
}

// learn is Peek for a line that is not like the last one.
func (p *Peeker) learn(line []byte) (Header, error) {
	h, err := Peek(line)
	if err == nil && string(h.EventType) == "content_block_delta" {
		if p.misses++; p.misses <= maxMisses || p.misses%maxMisses == 0 {
			p.shape.learn(line, &h)
		}
	}
	return h, err
}

// A shape is a line of a delta. What has the same bytes except for the inside of two
// strings, the text and the id, is read like it.
type shape struct {
	line       []byte // nil if there is none
	start, end int    // the text, without its quotes
	id, rest   int    // the id, which is behind it
	places     Places
}

// learn takes a line that Peek has read, unless there is something unusual in it.
func (s *shape) learn(line []byte, h *Header) {
	*s = shape{}
	known := *h
	var ok bool
	if known.piece, ok = h.peekPiece(); !ok {
		return
	}
	text, end, ok := placeOf(line, known.piece.text)
	if !ok {
		return
	}
	id, rest, ok := placeOf(line, h.UUID)
	if !ok || id <= end {
		return
	}
	of := shape{start: text, end: end, id: id, rest: rest}
	if !of.places.Set(line, &known) {
		return
	}
	of.line = append([]byte(nil), line...)
	*s = of
}

// placeOf returns where a part of a line is in it. It reports false if it is not, or
// is empty: an empty one could be anywhere.
func placeOf(line, part []byte) (start, end int, ok bool) {
	start = cap(line) - cap(part)
	end = start + len(part)
	if len(part) == 0 || start <= 0 || end >= len(line) || &line[start] != &part[0] {
		return 0, 0, false
	}
	return start, end, true
}

// fits reports whether a line is of the shape, by how much its text is longer, and
// whether there is an escape in that.
func (s *shape) fits(line []byte) (more int, escaped, ok bool) {
	more = len(line) - len(s.line)
	if s.line == nil || s.end+more < s.start || string(line[:s.start]) != string(s.line[:s.start]) {
		return 0, false, false
	}
	end, id, rest := s.end+more, s.id+more, s.rest+more
	if string(line[end:id]) != string(s.line[s.end:s.id]) || string(line[rest:]) != string(s.line[s.rest:]) {
		return 0, false, false
	}
	// The strings must end where those of the shape do.
	behind, escaped := scanString(line, s.start-1)
	if behind != end+1 {
		return 0, false, false
	}
	if behind, bad := scanString(line, id-1); behind != rest+1 || bad {
		return 0, false, false
	}
	return more, escaped, true
}

// Places are a [Header] without pointers, for who keeps those of very many lines.
// The zero value is an empty header.
type Places struct {
	starts  [10]uint32 // of the parts, in the order in which each has them
	lengths [10]uint16
	index   uint16 // of a piece
	escaped bool
	context bool
	seen    uint16 // a bit for each part that there is
}

// Agent reports whether the line is from a sub-agent.
func (p *Places) Agent() bool { return p.lengths[4] > 0 }

// Set takes over a line's header. It reports false if it cannot: of a control request,
// and where a part is not one of the line, because an escape had to be resolved, or
// is very long.
func (p *Places) Set(line []byte, h *Header) bool {
	*p = Places{escaped: h.piece.escaped, context: h.ContextUsage, index: uint16(h.piece.index)}
	if h.RequestSubtype != nil || h.piece.text != nil && h.piece.index != int64(p.index) {
		return false
	}
	return p.set(0, line, h.Type) && p.set(1, line, h.Subtype) && p.set(2, line, h.UUID) && p.set(3, line, h.SessionID) &&
		p.set(4, line, h.ParentToolUseID) && p.set(5, line, h.Event) && p.set(6, line, h.EventType) && p.set(7, line, h.Error) &&
		p.set(8, line, h.piece.text) && p.set(9, line, h.RequestID)
}

func (p *Places) set(i int, line, of []byte) bool {
	if of == nil {
		return true
	}
	start := cap(line) - cap(of)
	if start < 0 || start+len(of) > len(line) || len(of) > math.MaxUint16 || uint64(len(line)) > math.MaxUint32 || len(of) > 0 && &line[start] != &of[0] {
		return false
	}
	p.starts[i], p.lengths[i] = uint32(start), uint16(len(of))
	p.seen |= 1 << i
	return true
}

// Header returns the header of the line that was given to Set.
func (p *Places) Header(line []byte) Header {
	return Header{
		Type: p.part(0, line), Subtype: p.part(1, line), UUID: p.part(2, line), SessionID: p.part(3, line),
		ParentToolUseID: p.part(4, line), Event: p.part(5, line), EventType: p.part(6, line), Error: p.part(7, line),
		RequestID: p.part(9, line), ContextUsage: p.context,
		piece: piece{text: p.part(8, line), index: int64(p.index), escaped: p.escaped},
	}
}

func (p *Places) part(i int, line []byte) []byte {
	if p.seen&(1<<i) == 0 {
		return nil
	}
	start := p.starts[i]
	return line[start : start+uint32(p.lengths[i])]
}
