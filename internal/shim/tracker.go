package shim

import (
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// mostOpen bounds how many requests of the CLI are remembered.
const mostOpen = 1024

// A tracker knows, in the simplest way, whether a CLI is at rest: when it wrote
// last, and whether it waits for an answer.
type tracker struct {
	last time.Time
	open map[string]struct{} // ids of requests
}

// line notes that the CLI wrote something.
func (t *tracker) line(now time.Time) { t.last = now }

// wrote notes what it wrote.
func (t *tracker) wrote(h wire.Header) {
	switch string(h.Type) {
	case "control_request":
		if t.open == nil {
			t.open = make(map[string]struct{})
		}
		if len(t.open) < mostOpen {
			t.open[string(h.RequestID)] = struct{}{}
		}
	case "control_cancel_request":
		delete(t.open, string(h.RequestID))
	}
}

// answered notes what was written to the CLI.
func (t *tracker) answered(h wire.Header) {
	if string(h.Type) == "control_response" {
		delete(t.open, string(h.RequestID))
	}
}

// ended notes that the CLI is no more.
func (t *tracker) ended(now time.Time) { t.last, t.open = now, nil }

// idle reports whether the CLI waits for nothing, and when it wrote last.
func (t *tracker) idle() (bool, time.Time) { return len(t.open) == 0, t.last }
