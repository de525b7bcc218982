//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Inner is the verb sandbox-exec, which exists on Linux alone.
func Inner(_ []string, stderr io.Writer) int {
	_, _ = fmt.Fprintln(stderr, "switchboard: the last stage of a sandbox is made for Linux")
	return 1
}

// Pair returns the two ends of a connection for [Receive], on Linux.
func Pair() (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }

// Receive takes the listeners that [Inner] sends, on Linux.
func Receive(*os.File) (*Listeners, error) { return nil, errors.ErrUnsupported }
