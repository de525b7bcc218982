package fold

import "github.com/switchboard-dev/switchboard/wire"

// PeekedLine is [NewLine] for a line of the CLI whose header is known already:
// header and malformed are what [wire.Peek] returned.
func PeekedLine(raw []byte, header *wire.Header, malformed error) *Line {
	if malformed != nil {
		return &Line{Raw: raw, err: malformed}
	}
	return &Line{Raw: raw, Header: *header}
}

// Prepare does ahead what reducers will want done with the line: it is decoded or
// checked. Without it, the first reducer that needs it does so.
func (l *Line) Prepare() {
	switch {
	case l.err != nil:
	case !l.durable():
		l.Valid()
	default:
		_, _ = l.Message() // the line keeps it, or why there is none
	}
}
