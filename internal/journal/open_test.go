package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

func open(t *testing.T, dir string, o *journal.Options) *journal.SQLite {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func closed(t *testing.T, j *journal.SQLite) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func commit(t *testing.T, j *journal.SQLite, b *journal.Batch) {
	t.Helper()
	if _, _, err := j.Commit(t.Context(), b); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// sound fails the test unless the journal has nothing to complain about.
func sound(t *testing.T, j *journal.SQLite) {
	t.Helper()
	if wrong, err := j.Check(t.Context()); err != nil || len(wrong) > 0 {
		t.Errorf("Check: %q, %v", wrong, err)
	}
}

// count returns how many entries a session has.
func count(t *testing.T, j *journal.SQLite, session string) int {
	t.Helper()
	list, err := j.Entries(t.Context(), session, 0, 1<<20, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// sqlExec runs SQL on a file behind the journal's back.
func sqlExec(t *testing.T, file, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), text)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c%20#", "data")
	j := open(t, dir, nil)
	commit(t, j, journaltest.NewSession("s", 3))
	closed(t, j)
	j = open(t, dir, nil)
	if n := count(t, j, "s"); n != 3 {
		t.Errorf("after opening it again there are %d entries", n)
	}
	if last, err := j.LastPosition(t.Context()); err != nil || last != 3 {
		t.Errorf("the position is %d (%v)", last, err)
	}
	b := journaltest.NewSession("s", 1)
	b.After = 3
	commit(t, j, b)
	if b.Entries[0].Position != 4 {
		t.Errorf("the next position is %d", b.Entries[0].Position)
	}
	sound(t, j)
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, nil)
	b := journaltest.NewSession("s", 1)
	b.Entries[0].Line = []byte(strings.Repeat("x", 2<<20))
	commit(t, j, b)
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		seen++
		return nil
	})
	if err != nil || seen < 8 {
		t.Errorf("looked at %d files (%v)", seen, err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	_, err := journal.Open(t.Context(), dir, nil)
	var file *journal.FileError
	if !errors.As(err, &file) || !strings.Contains(file.Reason, fmt.Sprintf("process %d", os.Getpid())) || !strings.Contains(file.Hint, "--data-dir") {
		t.Errorf("opening it twice: %v", err)
	}
	if _, err := journal.Open(t.Context(), dir, &journal.Options{New: true}); !errors.As(err, &file) {
		t.Errorf("setting it aside while it is in use: %v", err)
	}
	commit(t, j, journaltest.NewSession("s", 1))
	closed(t, j)
	open(t, dir, nil)
}

func TestNew(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	o := &journal.Options{New: true, Now: func() time.Time { return now }}
	j := open(t, dir, o) // nothing is there yet
	b := journaltest.NewSession("s", 2)
	b.Entries[1].Line = []byte(strings.Repeat("x", 2<<20))
	commit(t, j, b)
	closed(t, j)
	now = now.Add(time.Second)
	j = open(t, dir, o)
	closed(t, j)
	j = open(t, dir, o) // in the same moment
	if _, err := j.Session(t.Context(), "s"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the session in the new journal: %v", err)
	}
	if page, err := j.Search(t.Context(), journal.SearchQuery{Text: "entry"}); err != nil || len(page.Hits) > 0 {
		t.Errorf("a search in the new journal: %+v, %v", page, err)
	}
	closed(t, j)
	// What was set aside is whole: put back, it is as before.
	other := t.TempDir()
	for from, to := range map[string]string{"journal.db.aside-20260504T030202.000": "journal.db", "blobs.aside-20260504T030202.000": "blobs"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(other, to)); err != nil {
			t.Fatal(err)
		}
	}
	j = open(t, other, nil)
	if n := count(t, j, "s"); n != 2 {
		t.Errorf("the journal that was set aside has %d entries", n)
	}
	sound(t, j)
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, file string)
		reason string
	}{
		{"no database", func(t *testing.T, file string) { write(t, file, 0, []byte(strings.Repeat("hello ", 1000))) }, "damaged"},
		{"damaged header", func(t *testing.T, file string) { write(t, file, 0, make([]byte, 40)) }, "damaged"},
		{"damaged page", func(t *testing.T, file string) { write(t, file, 5*4096, []byte(strings.Repeat("\xa5", 4096))) }, "damaged"},
		{"cut off", func(t *testing.T, file string) {
			if err := os.Truncate(file, 8*4096); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		{"empty", func(t *testing.T, file string) {
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
		}, "empty"},
		{"without tables", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			sqlExec(t, file, "PRAGMA journal_mode = WAL; PRAGMA user_version = 3; PRAGMA application_id = 1398227524")
		}, "no tables"},
		{"newer", func(t *testing.T, file string) { sqlExec(t, file, "PRAGMA user_version = 1000") }, "newer"},
		{"somebody else's", func(t *testing.T, file string) { sqlExec(t, file, "PRAGMA application_id = 7") }, "not a journal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir, nil)
			commit(t, j, journaltest.NewSession("s", 200))
			closed(t, j)
			file := filepath.Join(dir, "journal.db")
			test.damage(t, file)
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = journal.Open(t.Context(), dir, nil)
			var refused *journal.FileError
			if !errors.As(err, &refused) || refused.Path != file || !strings.Contains(refused.Reason, test.reason) || !strings.Contains(refused.Hint, "--journal=new") {
				t.Fatalf("Open: %v", err)
			}
			after, err := os.ReadFile(file)
			if err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
			j = open(t, dir, &journal.Options{New: true})
			commit(t, j, journaltest.NewSession("s", 1))
			sound(t, j)
			aside, err := filepath.Glob(file + ".aside-*")
			if err != nil || len(aside) == 0 {
				t.Errorf("nothing was set aside (%v)", err)
			}
		})
	}
}

// TestMissing removes journal.db alone: what is left of the journal is not cleared
// away as if it were of no use.
func TestMissing(t *testing.T) {
	tests := []struct {
		name  string
		left  string
		clear []string
	}{
		{"long lines", "blobs", []string{"search.db"}},
		{"search index", "search.db", []string{"blobs"}},
		{"log", "journal.db-wal", []string{"blobs", "search.db"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, dir, nil)
			b := journaltest.NewSession("s", 2)
			b.Entries[1].Line = []byte(strings.Repeat("x", 2<<20))
			commit(t, j, b)
			closed(t, j)
			if test.left == "journal.db-wal" {
				if err := os.WriteFile(filepath.Join(dir, test.left), []byte("something"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range append(test.clear, "journal.db") {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := journal.Open(t.Context(), dir, nil)
			var refused *journal.FileError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "missing") || !strings.Contains(refused.Reason, test.left) || !strings.Contains(refused.Hint, "--journal=new") {
				t.Errorf("Open: %v", err)
			}
			if in, err := journal.Inspect(t.Context(), dir); err != nil || len(in.Wrong) != 1 || !strings.Contains(in.Wrong[0], test.left) {
				t.Errorf("Inspect: %+v, %v", in, err)
			}
			if files, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*")); err != nil || test.left == "blobs" && len(files) != 1 {
				t.Errorf("the long lines: %q, %v", files, err)
			}
			commit(t, open(t, dir, &journal.Options{New: true}), journaltest.NewSession("s", 1))
		})
	}
}

// TestNewCutShort sets a journal aside, in two steps with a crash in between: its
// log stays with it.
func TestNewCutShort(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	commit(t, j, journaltest.NewSession("s", 2))
	log, err := os.ReadFile(filepath.Join(dir, "journal.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	const aside = "journal.db.aside-20260504T030201.000"
	err = errors.Join(os.WriteFile(filepath.Join(dir, "journal.db-wal"), log, 0o600), os.Rename(filepath.Join(dir, "journal.db"), filepath.Join(dir, aside)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(t.Context(), dir, nil); err == nil {
		t.Error("a log without its file was taken")
	}
	closed(t, open(t, dir, &journal.Options{New: true}))
	if got, err := os.ReadFile(filepath.Join(dir, aside+"-wal")); err != nil || string(got) != string(log) {
		t.Errorf("the log is not with its file: %v", err)
	}
}

// write overwrites a part of a file.
func write(t *testing.T, file string, offset int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(data, offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDamageLater has a page go bad that Open does not look at, as in a large
// file: who meets it is told what to do.
func TestDamageLater(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	b := journaltest.NewSession("s", 200)
	for i := range b.Entries {
		b.Entries[i].Line = []byte(strings.Repeat("x", 3000))
	}
	commit(t, j, b)
	closed(t, j)
	write(t, filepath.Join(dir, "journal.db"), 80*4096, []byte(strings.Repeat("\xa5", 20*4096)))
	j = open(t, dir, journal.WithoutCheck(journal.Options{}))
	_, err := j.Entries(t.Context(), "s", 0, 0, 0)
	var refused *journal.FileError
	if !errors.As(err, &refused) || !strings.Contains(refused.Hint, "--journal=new") {
		t.Errorf("Entries: %v", err)
	}
	wrong, err := j.Check(t.Context())
	if err != nil || len(wrong) == 0 {
		t.Errorf("Check: %q, %v", wrong, err)
	}
	refused = nil
	var u *journal.UnavailableError
	if err := j.Delete(t.Context(), "s"); !errors.As(err, &u) || !errors.As(err, &refused) {
		t.Errorf("Delete: %v", err)
	}
	// The rest goes on.
	commit(t, j, journaltest.NewSession("other", 1))
}

func TestMigration(t *testing.T) {
	t.Run("from version 1", func(t *testing.T) {
		dir := t.TempDir()
		journaltest.WriteOld(t, dir, "old")
		j := open(t, dir, nil)
		journaltest.CheckOld(t, j, "old")
		sound(t, j)
		journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry"}, func(p journal.SearchPage) bool { return len(p.Hits) == journaltest.OldEntries })
		b := journaltest.NewSession("old", 1)
		b.After = journaltest.OldEntries
		commit(t, j, b)
		if n, err := j.Retain(t.Context(), journal.Retention{MaxBytes: 1 << 20}); err != nil || n != 0 {
			t.Errorf("Retain removed %d (%v)", n, err)
		}
		closed(t, j)
		// The copy is a whole journal of the old version.
		other := t.TempDir()
		copied := filepath.Join(dir, fmt.Sprintf("journal.db.before-v%d", journal.Newest()))
		if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the copy: %+v, %v", info, err)
		}
		if err := os.Rename(copied, filepath.Join(other, "journal.db")); err != nil {
			t.Fatal(err)
		}
		journaltest.CheckOld(t, open(t, other, nil), "old")
	})
	t.Run("damaged later", func(t *testing.T) {
		dir := t.TempDir()
		journaltest.WriteOld(t, dir, "old")
		closed(t, open(t, dir, nil))
		write(t, filepath.Join(dir, "journal.db"), 0, make([]byte, 40))
		_, err := journal.Open(t.Context(), dir, nil)
		var refused *journal.FileError
		if !errors.As(err, &refused) || !strings.Contains(refused.Hint, fmt.Sprintf("journal.db.before-v%d", journal.Newest())) {
			t.Errorf("the hint does not name the copy: %v", err)
		}
	})
	t.Run("sizes", func(t *testing.T) {
		dir := t.TempDir()
		journaltest.WriteOld(t, dir, "old")
		j := open(t, dir, nil)
		if n, err := j.Retain(t.Context(), journal.Retention{MaxBytes: 100}); err != nil || n != 1 {
			t.Errorf("a session from before has no size: Retain removed %d (%v)", n, err)
		}
	})
	next := journal.Newest() + 1
	t.Run("fails", func(t *testing.T) {
		dir := t.TempDir()
		journaltest.WriteOld(t, dir, "old")
		bad := journal.WithMigrations(journal.Options{}, journal.Migration{Version: next, Script: "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1)"})
		if j, err := journal.Open(t.Context(), dir, bad); err == nil {
			closed(t, j)
			t.Fatal("a migration that fails was taken")
		}
		// What came before it stays, and nothing of it.
		good := journal.WithMigrations(journal.Options{}, journal.Migration{Version: next, Script: "CREATE TABLE extra (x, y)"})
		journaltest.CheckOld(t, open(t, dir, good), "old")
	})
	t.Run("and back", func(t *testing.T) {
		dir := t.TempDir()
		closed(t, open(t, dir, journal.WithMigrations(journal.Options{}, journal.Migration{Version: next, Script: "CREATE TABLE extra (x)"})))
		_, err := journal.Open(t.Context(), dir, nil)
		var refused *journal.FileError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "newer") {
			t.Errorf("Open: %v", err)
		}
	})
	t.Run("new file", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir, nil)
		if copies, err := filepath.Glob(filepath.Join(dir, "*before*")); err != nil || len(copies) > 0 {
			t.Errorf("copies of an empty file: %v (%v)", copies, err)
		}
	})
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if j, err := journal.Open(ctx, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v, %v", j, err)
	}
	open(t, dir, nil) // the lock was given back
}

func TestDurability(t *testing.T) {
	for _, d := range []journal.Durability{journal.DurabilityNormal, journal.DurabilityFull} {
		if got, err := journal.ParseDurability(d.String()); err != nil || got != d {
			t.Errorf("ParseDurability(%q) = %v, %v", d, got, err)
		}
	}
	if _, err := journal.ParseDurability("total"); err == nil {
		t.Error("durability total is known")
	}
}
