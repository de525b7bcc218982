//go:build !unix

package shim

import (
	"errors"
	"fmt"
	"os"
)

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
