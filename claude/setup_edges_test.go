package claude

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// A hook that the version does not have is refused before a process is started, as
// the error says.
func TestHooksAreCheckedBeforeTheStart(t *testing.T) {
	o := &Options{
		CLI: &CLI{Path: filepath.Join(t.TempDir(), "none"), Version: wire.Version{Major: 2, Minor: 1, Patch: 37}},
		Env: []string{"PATH=/nowhere"}, Logger: quietly(),
		Hooks: Hooks{PostCompact: On("", func(context.Context, *wire.PostCompactInput) (*HookAnswer[NoOutput], error) { return nil, nil })},
	}
	s, err := Start(t.Context(), o)
	if err == nil {
		_ = s.Close() // it is wrong that there is one
	}
	if _, ok := errors.AsType[*UnsupportedError](err); !ok {
		t.Fatalf("got %v, want an UnsupportedError", err)
	}
}
