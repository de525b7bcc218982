package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNone says that no enforcer works on this machine.
var ErrNone = errors.New("no sandbox works on this machine")

// The names of enforcers.
const (
	Bubblewrap = "bubblewrap"
	Landlock   = "landlock"
	Seatbelt   = "seatbelt"
)

// checkTime bounds [Enforcer].Check: a machine under load takes its time, and one
// whose bubblewrap hangs must not hang with it.
const checkTime = 10 * time.Second

// A noneError is [ErrNone] with its reason.
type noneError struct{ why string }

func (e *noneError) Error() string        { return e.why }
func (e *noneError) Is(target error) bool { return target == ErrNone }

// Find returns the best enforcer that works here. want is auto, or the name of
// one; program is the path of bubblewrap, which is looked for in PATH if it is
// empty. self is the path of the switchboard program, whose verb sandbox-exec
// is the last stage before the CLI. The error says why there is none, in words
// for people, and is [ErrNone].
//
// With auto, Landlock is not taken for [DenyOnly]: it cannot hide a path without
// making its parent folders a snapshot. See docs/sandbox.md.
func Find(ctx context.Context, want, program, self string, mode Mode) (Enforcer, error) {
	names := []string{want}
	if want == "" || want == "auto" {
		names = automatic(mode)
	}
	var why []string
	for _, name := range names {
		enforcer, err := New(name, program, self)
		if err == nil {
			err = enforcer.Check(ctx)
		}
		if err == nil {
			return enforcer, nil
		}
		why = append(why, err.Error())
	}
	if len(why) == 0 {
		why = append(why, "there is none for this system")
	}
	return nil, &noneError{strings.Join(why, "; ")}
}

// New returns an enforcer by its name, without trying whether it works. program
// and self are as in [Find].
func New(name, program, self string) (Enforcer, error) {
	enforcer, err := newEnforcer(name, program, self)
	if err != nil {
		return nil, &noneError{err.Error()}
	}
	if enforcer == nil {
		return nil, &noneError{fmt.Sprintf("there is no sandbox %.40q on this system", name)}
	}
	return enforcer, nil
}
