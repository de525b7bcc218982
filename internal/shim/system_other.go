//go:build !linux && !darwin

package shim

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
)

// A shim cannot see here which user's process listens on a socket, so it sends
// no token and has no hub. The rest is what the package needs to be compiled.

func checkSocket(string) error {
	return fmt.Errorf("checking who owns a socket: %w", errors.ErrUnsupported)
}

func checkPeer(net.Conn) error {
	return fmt.Errorf("seeing who listens on a socket: %w", errors.ErrUnsupported)
}

// An adopter does nothing: only on Linux can a process be made the parent of
// orphans.
type adopter struct{}

func adopt(*slog.Logger) *adopter { return &adopter{} }

func (*adopter) started(int) {}

func (*adopter) stop() {}

// programPages returns none: only Linux says which pages of a program a process has.
func programPages() []pages { return nil }

func dropPages([]pages) {}

// closeInherited does nothing: children inherit only what they are given here.
func closeInherited() {}

// startTime is not known.
func startTime(int) string { return "" }

// A WrapSpec says what Wrap wraps, where it can.
type WrapSpec struct {
	Tee                   TeeSpec
	Args, Env             []string
	Stdin, Stdout, Stderr *os.File
	Log                   string
}

// An Exit is how a CLI has ended.
type Exit struct{ Code int }

// Leave ends this process as the CLI has ended.
func (e Exit) Leave() { os.Exit(e.Code) }

// errNoWrap says what to do instead.
var errNoWrap = fmt.Errorf("switchboard wrap needs Linux or macOS: start claude itself: %w", errors.ErrUnsupported)

// Wrap is not supported here.
func Wrap(*WrapSpec) (Exit, error) { return Exit{}, errNoWrap }

// Become is not supported here.
func Become([]string, []string) error { return errNoWrap }
