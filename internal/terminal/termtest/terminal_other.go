//go:build !unix

package termtest

import (
	"os"
	"testing"
)

// A Terminal is a program that runs on a pseudo-terminal, which this system does not have in a form known here.
type Terminal struct {
	tb testing.TB
}

// Start ends the test: there are no pseudo-terminals here.
func Start(tb testing.TB, _ Options) *Terminal {
	tb.Helper()
	tb.Fatal("termtest: there are no pseudo-terminals on this system")
	return nil
}

// Type does nothing here.
func (t *Terminal) Type(...string) {}

// Mark does nothing here.
func (t *Terminal) Mark(string) {}

// Screen returns an empty screen here.
func (t *Terminal) Screen() *Screen { return NewEmulator(80, 24, nil).Screen() }

// Resize does nothing here.
func (t *Terminal) Resize(int, int) {}

// Pid returns 0 here.
func (t *Terminal) Pid() int { return 0 }

// Signal does nothing here.
func (t *Terminal) Signal(os.Signal) {}

// Exit returns -1 here.
func (t *Terminal) Exit() int { return -1 }

// wait does nothing here.
func (t *Terminal) wait(func(*Screen) bool, string) {}
