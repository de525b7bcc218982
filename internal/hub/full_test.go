package hub_test

import (
	"context"
	"sync"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A fullJournal is a journal whose disk can be full.
type fullJournal struct {
	*journal.SQLite

	mu      sync.Mutex
	err     error
	refused int // commits since it was set
}

func (f *fullJournal) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.refused = err, 0
}

// refusals returns how many commits were refused.
func (f *fullJournal) refusals() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

func (f *fullJournal) Health() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fullJournal) Commit(ctx context.Context, b *journal.Batch) (first, last int64, err error) {
	if err := f.Health(); err != nil {
		f.mu.Lock()
		f.refused++
		f.mu.Unlock()
		return 0, 0, err
	}
	return f.SQLite.Commit(ctx, b)
}

// openWith opens the lab with a journal that wraps its own.
func (l *lab) openWith(f *fullJournal) {
	l.t.Helper()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	f.SQLite = l.journal
	l.options.Journal = f
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		l.t.Fatal(err)
	}
	l.launcher.connectAll()
}
