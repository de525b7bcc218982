package fold

import "github.com/switchboard-dev/switchboard/wire"

// PeekedLine is [NewLine] for a line of the CLI whose header is known already:
// header and malformed are what [wire.Peek] returned.
func PeekedLine(raw []byte, header wire.Header, malformed error) *Line {
	if malformed != nil {
		return &Line{Raw: raw, err: malformed}
	}
	return &Line{Raw: raw, Header: header}
}
