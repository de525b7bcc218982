package journal_test

import (
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// TestConformance runs the suite, every other test of it with full durability:
// all with both would take twice as long and show no more.
func TestConformance(t *testing.T) {
	durability := journal.DurabilityFull
	journaltest.Run(t, func(t *testing.T) journaltest.Journal {
		durability = journal.DurabilityFull - durability
		j, err := journal.Open(t.Context(), t.TempDir(), &journal.Options{Durability: durability})
		if err != nil {
			t.Fatal(err)
		}
		return j
	})
}
