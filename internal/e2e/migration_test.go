//go:build linux || darwin

package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// TestKillInMigration kills the hub while it brings a journal to its present
// form: at its very first start, and over the journal of an older version with an
// agent waiting. It is whole either way, and a copy of the older one is kept.
func TestKillInMigration(t *testing.T) {
	t.Parallel()
	t.Run("first start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.killStarting("journal.in-migration:1")
		l.killStarting("journal.before-rename:1")
		l.start()
		s := l.mustCreate(nil)
		if err := s.tell(l.ctx()); err != nil {
			t.Fatal(err)
		}
		l.verdict(s)
	})
	t.Run("old journal", func(t *testing.T) {
		t.Parallel()
		const old = "sabcdefghijklmnopqrst"
		l := newLab(t, nil)
		journaltest.WriteOld(t, l.data, old)
		l.killStarting("journal.in-migration:1")
		l.start()
		s := l.mustCreate(nil)
		if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
			t.Fatal(err)
		}
		l.verdict(s)
		j := l.openJournal()
		journaltest.CheckOld(t, j, old)
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("upgrade under an agent", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.start()
		s := l.mustCreate(nil)
		if err := s.tell(l.ctx()); err != nil {
			t.Fatal(err)
		}
		l.verdict(s)
		l.downgrade()
		l.killStarting("journal.in-migration:1")
		l.start()
		if err := s.conclude(l.ctx()); err != nil {
			t.Fatal(err)
		}
		l.verdict(s)
		copies, err := filepath.Glob(filepath.Join(l.data, "journal.db.before-*"))
		if err != nil || len(copies) != 1 {
			t.Errorf("the copies from before the upgrade are %v, %v; want one", copies, err)
		}
	})
}

// killStarting starts the hub and kills it at a place that it comes to before it
// listens.
func (l *lab) killStarting(place string) {
	l.t.Helper()
	env, file := l.armed(place)
	l.launch(env...)
	if err := eventually(patience, exists(file)); err != nil {
		l.t.Fatalf("the hub never came to %s: %v", place, err)
	}
	l.kill()
	if err := os.Remove(file); err != nil { // it may be killed at another place, too
		l.t.Fatal(err)
	}
}

// downgrade takes back the journal's last changes of form.
func (l *lab) downgrade() {
	l.t.Helper()
	// The journal brings the driver.
	db, err := sql.Open("sqlite", filepath.Join(l.data, "journal.db"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			l.t.Error(err)
		}
	}()
	for _, statement := range []string{
		"DROP INDEX sessions_elsewhere", "ALTER TABLE sessions DROP COLUMN node", "ALTER TABLE runs DROP COLUMN node",
		"DROP TABLE preferences", "DROP INDEX entries_decided", "DROP INDEX entries_decided_in", "ALTER TABLE sessions DROP COLUMN bytes", "PRAGMA user_version = 1",
	} {
		if _, err := db.ExecContext(l.t.Context(), statement); err != nil {
			l.t.Fatalf("%s: %v", statement, err)
		}
	}
}
