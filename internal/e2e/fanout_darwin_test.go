package e2e

import "errors"

// The roles of the benchmarks of whole programs, which are only there on Linux, where a
// process tells what it uses.
const (
	roleFanout = "fanout"
	roleBlast  = "blast"
	roleWriter = "writer"
	roleBare   = "bare"
)

func runFanout() error { return errors.ErrUnsupported }

func runBlast() error { return errors.ErrUnsupported }

func runWriter() error { return errors.ErrUnsupported }

func runBare() error { return errors.ErrUnsupported }
