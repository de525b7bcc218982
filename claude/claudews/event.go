package claudews

// An EventKind says what an [Event] reports. More kinds may come.
type EventKind string

// The kinds of events.
const (
	// EventConnected reports a peer's first WebSocket connection.
	EventConnected EventKind = "connected"
	// EventDisconnected reports that a connection was lost. Lines written
	// shortly before may not have arrived.
	EventDisconnected EventKind = "disconnected"
	// EventReconnected reports another connection of the same CLI. Requests
	// that the CLI made meanwhile may be lost: send initialize again, its answer
	// lists the questions that are open.
	EventReconnected EventKind = "reconnected"
	// EventGap reports that lines are missing at this place.
	EventGap EventKind = "gap"
	// EventUnknown reports a CLI that was connected before to a server that is
	// gone, and that wrote a line of which neither this server nor its owner
	// knows. Lines may be missing or not; the CLI's transcript can tell.
	EventUnknown EventKind = "unknown"
)

// An Event is something other than a line that happened to a peer, at its place
// between the lines.
type Event struct {
	// Kind says what happened.
	Kind EventKind
	// Conn is the number of the connection that it happened to, from 1; 0 for a
	// gap in what was POSTed.
	Conn int
	// Err is why the connection was lost, a *CloseError if the CLI closed it or
	// it broke. For a gap it is the cause, where one is known.
	Err error
	// Wrote is the uuid of the line that the CLI says it wrote last, for
	// EventGap and EventUnknown. A line that it names twice is missed once.
	Wrote string
	// Received is the uuid of the line that was received last, "" if none was.
	Received string
}
