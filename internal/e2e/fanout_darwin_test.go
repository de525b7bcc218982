package e2e

import "errors"

// The roles of the relay's benchmark, which is only there on Linux, where a
// process tells what it uses.
const (
	roleFanout = "fanout"
	roleBlast  = "blast"
)

func runFanout() error { return errors.ErrUnsupported }

func runBlast() error { return errors.ErrUnsupported }
