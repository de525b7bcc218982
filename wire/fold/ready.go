package fold

import "github.com/switchboard-dev/switchboard/wire"

// Ready returns the line's message if it has been decoded already, for whoever
// could use it but would not have it decoded for that.
func (l *Line) Ready() (m wire.Message, ok bool) { return l.message, l.message != nil }
