package dial

import "time"

// A Kind names what an [Event] is about.
type Kind string

// The kinds of events.
const (
	// Connected: a WebSocket stands.
	Connected Kind = "connected"
	// Replayed: after a reconnect the lines of the ring go out again. Lines is how many.
	Replayed Kind = "replayed"
	// Lost: the WebSocket broke or was closed, or an attempt failed.
	Lost Kind = "lost"
	// Waiting: the next attempt follows after Pause.
	Waiting Kind = "waiting"
	// Ended: no further attempt follows; the link is over.
	Ended Kind = "ended"
	// Posted: a POST was taken by the server.
	Posted Kind = "posted"
	// Retrying: a POST failed and will be tried again after Pause.
	Retrying Kind = "retrying"
	// Dropped: lines that no server will ever get. A real CLI does not report them.
	Dropped Kind = "dropped"
)

// An Event is something that happened to a link, for a record that tests compare.
type Event struct {
	// Kind says what happened.
	Kind Kind
	// Conn is the number of the attempt to connect that it belongs to, from 1; 0 for POSTs.
	Conn int
	// Lines is how many lines it is about.
	Lines int
	// Status is the HTTP status of a refused upgrade or a POST, 0 if there was none.
	Status int
	// Code is the close code that the server sent, 0 if there was none.
	Code int
	// Pause is the time until the next attempt.
	Pause time.Duration
	// Err is the cause, if there is one.
	Err error
}
