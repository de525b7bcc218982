package claudews

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// historyLength is how many lines are remembered. 2.1.120 sends the last
	// 1000 lines that have a uuid again after a reconnect, so this is more than
	// enough to know them all.
	historyLength = 4096
	// replayLength is how many lines a CLI sends again at most.
	replayLength = 1000
)

// A mark is what of a line is remembered.
type mark struct {
	uuid string // "" if it has none
	key  string // tells it from others, or from most
}

// named reports whether two lines with such a header are the same one. Those
// with neither uuid nor request id are not, and neither are two answers: the
// controller may ask twice under one id, as it does with initialize after a
// reconnect, and must have both.
func named(h *wire.Header) bool {
	return len(h.UUID) > 0 || len(h.RequestID) > 0 && !h.Is("control_response", "")
}

// longestKey is how much of an id is remembered: the CLI's own are short.
const longestKey = 128

// markOf returns the mark of a line with such a header, nil if it is malformed, and
// false for one that is never taken for a repetition.
func markOf(h *wire.Header) (mark, bool) {
	if h == nil || !named(h) {
		return mark{}, false
	}
	// Not by its bytes: 2.1.120 encodes a line anew when it sends it again, and a
	// result then has the model usage of that moment. Lines that share type and
	// uuid are told apart by their number: they come again in their order.
	what, id := byte('l'), h.UUID
	if len(id) == 0 {
		what, id = 'r', h.RequestID
	}
	if len(h.Type)+len(id) > longestKey {
		sum := sha256.Sum256(slices.Concat([]byte{what}, h.Type, []byte{0}, id))
		return mark{uuid: string(h.UUID), key: string(sum[:])}, true
	}
	var buf [longestKey + 2]byte
	key := string(append(append(append(append(buf[:0], what), h.Type...), 0), id...))
	return mark{uuid: key[len(key)-len(h.UUID):], key: key}, true
}

// A verdict says what follows from what a CLI says it wrote last.
type verdict int

const (
	whole   verdict = iota // nothing is missing, or nothing is claimed
	pending                // the next line, or a while without one, will show it
	unknown                // the memory does not reach back far enough
)

// A history remembers which lines were received, to find what a reconnecting
// CLI sends again and what was lost. It is safe for concurrent use.
type history struct {
	mu sync.Mutex

	marks []mark // a ring once it is full
	next  int
	last  string // the uuid received last

	// Of the current connection.
	again    map[string]int // what may come again, by key; nil when the replay is over
	missing  string         // the uuid that the CLI wrote last and we do not have; "" if none
	empty    bool           // nothing had been received when it began
	reported string         // the last one that was reported
	foreigns int            // how many lines may still come of a replay that the memory does not cover
}

// knows reports whether a line with that uuid was received lately.
func (h *history) knows(uuid string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.has(uuid)
}

// has is knows for callers that hold mu.
func (h *history) has(uuid string) bool {
	return uuid != "" && slices.ContainsFunc(h.marks, func(m mark) bool { return m.uuid == uuid })
}

// latest returns the uuid that was received last.
func (h *history) latest() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// begin prepares for the lines of a new connection. wrote is the uuid of the
// line that the CLI says it wrote last, first tells that there was no
// connection before this one, and received is what the owner remembers.
func (h *history) begin(wrote string, first bool, received []string) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again, h.missing, h.foreigns = nil, "", 0
	h.empty = h.last == ""
	if first {
		if wrote == "" {
			return whole
		}
		// The CLI was connected to someone before us. What it sends again is
		// for the owner's record to know.
		h.foreigns = replayLength
		if slices.Contains(received, wrote) {
			return whole
		}
		return unknown
	}
	if len(h.marks) > 0 {
		h.again = make(map[string]int, len(h.marks))
		for _, m := range h.marks {
			h.again[m.key]++
		}
	}
	if wrote == "" || h.has(wrote) {
		return whole
	}
	h.missing = wrote
	return pending
}

// admit judges a line before it is handed on. dup says that it has been
// received before; hole is the uuid of the line up to which lines are missing
// before this one, if there are any; repeat says that only the owner can know
// whether it had this one before.
func (h *history) admit(m mark) (dup bool, hole string, repeat bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.again[m.key] > 0 {
		if h.again[m.key]--; m.uuid != "" {
			// What a CLI sends again has no holes and ends with the line that
			// it wrote last: what is missing is on its way.
			h.missing = ""
		}
		return true, "", false
	}
	if m.uuid == "" {
		return false, "", h.foreigns > 0
	}
	h.again = nil // the first new line ends the replay
	switch {
	case h.missing == "":
	case h.missing == m.uuid:
		h.missing = ""
	case h.empty:
		// This may be the beginning of everything: what is missing can still
		// come.
	default:
		hole = h.giveUp()
	}
	if h.foreigns > 0 {
		// The line that the CLI wrote last does not end it: a prompt that was sent
		// twice is echoed twice, under one uuid.
		repeat = true
		h.foreigns--
	}
	return false, hole, repeat
}

// lost gives up the line that is missing and returns its uuid, or "" if there
// is none, or if it has been returned before.
func (h *history) lost() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.giveUp()
}

// giveUp is lost for callers that hold mu.
func (h *history) giveUp() string {
	missing := h.missing
	h.missing = ""
	if missing == "" || missing == h.reported {
		return ""
	}
	h.reported = missing
	return missing
}

// add remembers lines that were handed on.
func (h *history) add(marks ...mark) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range marks {
		if m.uuid != "" {
			h.last = m.uuid
		}
		if len(h.marks) < historyLength {
			h.marks = append(h.marks, m)
			continue
		}
		h.marks[h.next] = m
		h.next = (h.next + 1) % historyLength
	}
}
