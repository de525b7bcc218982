package storetest

import (
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
)

func TestMemoryStore(t *testing.T) {
	Run(t, func(*testing.T) claude.SessionStore { return new(claude.MemoryStore) })
}

// TestSmallStore runs a store that has nothing but what it must.
func TestSmallStore(t *testing.T) {
	Run(t, func(*testing.T) claude.SessionStore {
		return struct{ claude.SessionStore }{new(claude.MemoryStore)}
	})
}
