package fold

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Line is one line of a session's traffic, on its way through the reducers.
// It is decoded when the first of them wants to know more than its header, and
// then only once.
type Line struct {
	// Raw is the line without its line end. It must not change as long as the
	// Line or its message is in use; reducers keep copies.
	Raw []byte
	// Header is the line's header; the zero value if the line is not a JSON
	// object.
	Header wire.Header
	// Sent says that the line was written to the CLI. Otherwise the CLI wrote it.
	Sent bool
	// Seq is the caller's number of the line, which questions and others refer
	// to. It may be zero.
	Seq int64
	// Time is when the line was read or written. It may be zero.
	Time time.Time

	message wire.Message
	err     error
	checked bool // valid tells something
	valid   bool
}

// NewLine returns a line to fold. It never fails: a line that is not a JSON
// object has no header, and reducers pass over it or count it.
func NewLine(raw []byte, sent bool) *Line {
	l := new(Line)
	l.Reset(raw, sent)
	return l
}

// Reset makes the line what [NewLine] returns, for a caller that uses its memory again.
func (l *Line) Reset(raw []byte, sent bool) {
	*l = Line{Raw: raw, Sent: sent}
	if l.Header, l.err = wire.Peek(raw); l.err != nil {
		l.Header = wire.Header{}
	}
}

// Message returns what the line says. The error tells why the line is not a
// message.
func (l *Line) Message() (wire.Message, error) {
	if l.message == nil && l.err == nil {
		l.message, l.err = wire.DecodeShared(l.Raw)
	}
	return l.message, l.err
}

// Valid reports whether the line is a JSON object. It is checked once.
func (l *Line) Valid() bool {
	if l.message != nil || l.err != nil {
		return l.err == nil
	}
	if !l.checked {
		l.checked, l.valid = true, wire.Valid(l.Raw)
	}
	return l.valid
}

// decoded returns what the line says, nil if it is not a message.
func (l *Line) decoded() wire.Message {
	m, err := l.Message()
	if err != nil {
		return nil
	}
	return m
}

// durable reports whether the line is one that a log keeps.
func (l *Line) durable() bool { return l.Sent || wire.ClassOf(l.Header) == wire.Durable }

// An EventKind names something that happens to a session without a line.
type EventKind string

// The events.
const (
	// EventStarted is the start of a process: a new run begins.
	EventStarted EventKind = "started"
	// EventLinkLost is the loss of the connection to a process that may live on.
	EventLinkLost EventKind = "link_lost"
	// EventLinkBack is the return of that connection.
	EventLinkBack EventKind = "link_back"
	// EventEnded is the end of the process.
	EventEnded EventKind = "ended"
	// EventTurnLost says that the turn counts as over although its result never
	// came: the CLI lost it together with a connection, and is silent since.
	EventTurnLost EventKind = "turn_lost"
	// EventTurnFound says that such a turn is under way after all.
	EventTurnFound EventKind = "turn_found"
)

// An Event is something that happens to a session without a line.
type Event struct {
	// Kind is what happened.
	Kind EventKind `json:"kind"`
	// Run is the number of the run that starts.
	Run int `json:"run,omitempty"`
	// Resumed says that the run that starts continues an earlier conversation,
	// forked or not.
	Resumed bool `json:"resumed,omitempty"`
	// Baseline holds the figures that the run's costs are counted from, where the
	// caller knows them. If nil, [Costs] finds out.
	Baseline *Figures `json:"baseline,omitempty"`
	// Reason is why the process ended, in the caller's words.
	Reason string `json:"reason,omitempty"`
	// Seq is the caller's number of the event.
	Seq int64 `json:"seq,omitempty"`
	// Time is when it happened.
	Time time.Time `json:"time,omitzero"`
}

// instant returns a time in the one form that goes through JSON unchanged.
func instant(t time.Time) time.Time { return t.Round(0).UTC() }

// clip returns s, cut to at most limit bytes at the end of a character. A cut
// text ends in "…". What is not text is replaced, as JSON would do it: a value
// must come back from there as it went.
func clip(s string, limit int) string {
	long := len(s) > limit
	if long {
		s = s[:limit] // the rest is not looked at
	}
	if !utf8.ValidString(s) { // nearly all are, and checking is quicker
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if !long && len(s) <= limit {
		return s
	}
	end := min(limit-len(ellipsis), len(s))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}

// ellipsis is what a cut text ends in.
const ellipsis = "…"

// longest is how much of a name or an id is kept. Real ones are far shorter.
const longest = 256

// name returns a name or an id as it is kept.
func name(s string) string { return clip(s, longest) }

// last returns the newest limit elements of a list and how many were left out.
func last[T any](list []T, limit int) (kept []T, left int64) {
	over := len(list) - limit
	if over <= 0 {
		return list, 0
	}
	copy(list, list[over:])
	clear(list[limit:])
	return list[:limit], int64(over)
}

// Ready returns the line's message if it has been decoded already. It is for
// callers that can use the message but do not need it.
func (l *Line) Ready() (m wire.Message, ok bool) { return l.message, l.message != nil }

// PeekedLine is [NewLine] for a line of the CLI whose header is known already:
// header and malformed are what [wire.Peek] returned.
func PeekedLine(raw []byte, header *wire.Header, malformed error) *Line {
	if malformed != nil {
		return &Line{Raw: raw, err: malformed}
	}
	return &Line{Raw: raw, Header: *header}
}
