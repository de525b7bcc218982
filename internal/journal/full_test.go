package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// fails has a batch refused by the storage, and looks that nothing of it is
// there and that reading goes on.
func fails(t *testing.T, j *journal.SQLite, b *journal.Batch, reason string) {
	t.Helper()
	_, _, err := j.Commit(t.Context(), b)
	var u *journal.UnavailableError
	if !errors.As(err, &u) || !strings.Contains(u.Reason, reason) || u.Err == nil {
		t.Fatalf("Commit: %v, expected that the journal is unavailable: %s", err, reason)
	}
	if !errors.As(j.Health(), &u) || !strings.Contains(u.Reason, reason) {
		t.Errorf("Health: %v", j.Health())
	}
	if n := count(t, j, b.SessionID); int64(n) != b.After {
		t.Errorf("session %s has %d entries, not %d", b.SessionID, n, b.After)
	}
}

// works has the same batch written after all.
func works(t *testing.T, j *journal.SQLite, b *journal.Batch) {
	t.Helper()
	commit(t, j, b)
	if err := j.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if n := count(t, j, b.SessionID); int64(n) != b.After+int64(len(b.Entries)) {
		t.Errorf("session %s has %d entries, not %d", b.SessionID, n, b.After+int64(len(b.Entries)))
	}
}

// TestFull fills a database that may have a certain size only.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, &journal.Options{MaxPageCount: 200})
	next := func() *journal.Batch {
		b := journaltest.NewSession("s", 3)
		b.After = int64(count(t, j, "s"))
		for i := range b.Entries {
			b.Entries[i].Line = bytes.Repeat([]byte("x"), 30_000)
		}
		return b
	}
	old := journaltest.NewSession("old", 1)
	old.Entries[0].Line = bytes.Repeat([]byte("x"), 200_000)
	old.Session.Ended = old.Session.Updated
	commit(t, j, old)
	var b *journal.Batch
	for {
		b = next()
		if _, _, err := j.Commit(t.Context(), b); err != nil {
			break
		}
	}
	fails(t, j, b, "no space left")
	fails(t, j, b, "no space left")
	// A refused batch says nothing about the disk.
	if _, _, err := j.Commit(t.Context(), &journal.Batch{SessionID: "s", After: 1}); !errors.Is(err, journal.ErrConflict) || j.Health() == nil {
		t.Errorf("a batch that is refused: %v, Health: %v", err, j.Health())
	}
	// Others go on as long as they find room.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := b
			if i > 0 {
				b = journaltest.NewSession(fmt.Sprintf("small%d", i), 1)
			}
			_, _, err := j.Commit(t.Context(), b)
			if full := errors.As(err, new(*journal.UnavailableError)); full != (i == 0) {
				t.Errorf("batch %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	// Room is made.
	if err := j.Delete(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	works(t, j, b)
	sound(t, j)
	closed(t, j)
	j = open(t, dir, nil)
	works(t, j, next())
	sound(t, j)
}

// TestLimited runs into the limit of a process for the size of its files; so it
// needs a process of its own.
func TestLimited(t *testing.T) {
	dir := t.TempDir()
	if out, err := child(t, "limited", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := open(t, dir, nil)
	sound(t, j)
	if n := count(t, j, "s"); n < 10 {
		t.Errorf("there are %d entries", n)
	}
}
