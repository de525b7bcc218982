//go:build !unix

package launch

import (
	"errors"
	"os"
)

// startDetached cannot work: there are no sessions and no descriptors to
// inherit.
func startDetached(string, []string, []string, *os.File, *os.File) (int, error) {
	return 0, errors.ErrUnsupported
}

// processStat knows no process.
func processStat(int) (start string, ended, ok bool) { return "", false, false }

// A reaper has nothing to do, since nothing is ever started.
type reaper struct{}

func newReaper(func(Exit)) *reaper { return &reaper{} }

func (*reaper) close() {}

func (*reaper) start(_ Exit, start func() (int, error)) (int, error) { return start() }

func (*reaper) announce(int) {}

func (*reaper) abandon(int) {}
