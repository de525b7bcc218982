package nodeagent

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// onceFile is the file in the data folder with the session that the node is for.
const onceFile = "once"

// settleTime is how long a node whose session has ended stays connected for the hub to
// ask what became of its process.
const settleTime = time.Minute

// openOnce finds out which session the node is for, if it is for one.
func (a *Agent) openOnce() error {
	if a.options.Once != api.AnyNode {
		a.once = a.options.Once
		return nil
	}
	text, err := access.ReadPrivate(filepath.Join(a.options.DataDir, onceFile), 1<<10, "remove it")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading which session the node is for: %w", err)
	}
	a.once = strings.TrimSpace(string(text))
	return nil
}

// onlyFor refuses a start of another session than the one that the node is for. The first
// one is it, if that was left open.
func (a *Agent) onlyFor(session string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.options.Once {
	case "":
		return nil
	case api.AnyNode:
		if a.once == "" {
			if err := access.ReplacePrivate(filepath.Join(a.options.DataDir, onceFile), []byte(session+"\n")); err != nil {
				return fmt.Errorf("noting which session the node is for: %w", err)
			}
			a.once = session
		}
	}
	if session != a.once {
		return fmt.Errorf("this machine is for the session %s alone", a.once)
	}
	return nil
}

// endOnce ends the node when the session that it is for is over, and the hub has all that
// its agent wrote.
func (a *Agent) endOnce() {
	a.mu.Lock()
	session, connected := a.once, a.connected
	online := a.control != nil
	a.mu.Unlock()
	if session == "" || a.options.Once == "" {
		return
	}
	began, ended, known := a.runs.of(session)
	if !began || !ended {
		return
	}
	// A shim ends when the hub has everything, or when it has put that into a file.
	if slices.ContainsFunc(a.spools(), func(name string) bool { return strings.HasPrefix(name, session+"-") }) {
		return
	}
	if known || online && time.Since(connected) > settleTime {
		a.log.Info("the session has ended, and with it this node", "session", session)
		a.cancel(errOnce)
	}
}
