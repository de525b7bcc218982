//go:build unix

package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// limited is the part of a process whose files may not grow, and then may again.
func limited(dir string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limit := func(size uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max})
	}
	next := func(size int) (*journal.Batch, error) {
		b := journaltest.NewSession("s", 2)
		b.Entries[1].Line = bytes.Repeat([]byte("y"), size)
		list, err := j.Entries(ctx, "s", 0, 1<<20, 1<<40)
		b.After = int64(len(list))
		return b, err
	}
	b, err := next(10)
	if err != nil {
		return err
	}
	if _, _, err := j.Commit(ctx, b); err != nil {
		return err
	}
	// Lines in the database, then long ones in files of their own.
	for _, size := range []int{20_000, 2 << 20} {
		// Too little for a transaction, wherever in the log it is written.
		if err := limit(16 << 10); err != nil {
			return err
		}
		if b, err = next(size); err != nil {
			return err
		}
		for range 3 {
			_, _, failed := j.Commit(ctx, b)
			if u, ok := errors.AsType[*journal.UnavailableError](failed); !ok || !strings.Contains(u.Reason, "may not grow") || j.Health() == nil {
				return fmt.Errorf("at the limit with lines of %d bytes: %w; Health: %w", size, failed, j.Health())
			}
			if again, err := next(size); err != nil || again.After != b.After {
				return fmt.Errorf("something of the batch was written: %d, %d, %w", again.After, b.After, err)
			}
		}
		if err := limit(before.Cur); err != nil {
			return err
		}
		if _, _, err := j.Commit(ctx, b); err != nil || j.Health() != nil {
			return fmt.Errorf("when the limit was raised: %w; Health: %w", err, j.Health())
		}
		for range 5 {
			if b, err = next(size); err != nil {
				return err
			}
			if _, _, err := j.Commit(ctx, b); err != nil {
				return err
			}
		}
	}
	return j.Close()
}

// descriptors is the part of a process that has no file descriptors left.
func descriptors(dir string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	b := journaltest.NewSession("s", 7)
	b.Entries[3].Line = bytes.Repeat([]byte("y"), 2<<20)
	if _, _, err := j.Commit(ctx, b); err != nil {
		return err
	}
	if list, err := j.Entries(ctx, "s", 0, 0, 1<<30); err != nil || len(list) != 7 {
		return fmt.Errorf("%d entries: %w", len(list), err)
	}
	for { // the index has a word of the last entry
		page, err := j.Search(ctx, journal.SearchQuery{Text: "entry"})
		if err != nil && !errors.As(err, new(*journal.UnavailableError)) {
			return err
		}
		if len(page.Hits) == 6 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err
	}
	var taken []*os.File
	take := func() {
		for {
			file, err := os.Open(os.DevNull)
			if err != nil {
				return
			}
			taken = append(taken, file)
		}
	}
	give := func() error {
		var errs []error
		for _, file := range taken {
			errs = append(errs, file.Close())
		}
		taken = nil
		return errors.Join(errs...)
	}
	// clear says why an error is not what it should be.
	clear := func(what string, err error) error {
		var damaged *journal.FileError
		if err == nil || errors.As(err, &damaged) || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "raise the limit") {
			return fmt.Errorf("%s without descriptors: %w", what, err)
		}
		return nil
	}
	take()
	_, err = j.Entries(ctx, "s", 0, 0, 1<<30)
	if err := clear("a long line", err); err != nil {
		return err
	}
	take() // a connection that met an error was closed
	if wrong, err := j.Check(ctx); len(wrong) > 0 || clear("Check", err) != nil {
		return fmt.Errorf("Check without descriptors: %q, %w", wrong, err)
	}
	if err := give(); err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	index, err := os.Stat(filepath.Join(dir, "search.db"))
	if err != nil {
		return err
	}
	// It is opened with fewer and fewer descriptors less than it needs.
	take()
	failed := 0
	for j, err = journal.Open(ctx, dir, nil); err != nil; j, err = journal.Open(ctx, dir, nil) {
		if err := clear("Open", err); err != nil {
			return err
		}
		failed++
		if err := errors.Join(taken[len(taken)-1].Close()); err != nil {
			return err
		}
		taken = taken[:len(taken)-1]
	}
	if failed < 3 {
		return fmt.Errorf("Open failed %d times only", failed)
	}
	if err := errors.Join(give(), j.Close()); err != nil {
		return err
	}
	if now, err := os.Stat(filepath.Join(dir, "search.db")); err != nil || !os.SameFile(index, now) {
		return fmt.Errorf("the search index was thrown away (%w)", err)
	}
	return nil
}

// TestDescriptors has a process run out of file descriptors: it says so, and takes
// nothing for damaged or missing.
func TestDescriptors(t *testing.T) {
	dir := t.TempDir()
	if out, err := child(t, "descriptors", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := open(t, dir, nil)
	if n := count(t, j, "s"); n != 7 {
		t.Errorf("there are %d entries", n)
	}
	sound(t, j)
}

// TestLinks has files of the data folder that are links: no hub of ours makes them.
func TestLinks(t *testing.T) {
	for _, name := range []string{"lock", "journal.db", "journal.db-wal", "journal.db-shm", "search.db", "search.db-wal"} {
		t.Run(name, func(t *testing.T) {
			dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
			closed(t, open(t, dir, nil))
			path := filepath.Join(dir, name)
			err := os.Rename(path, other)
			if errors.Is(err, fs.ErrNotExist) {
				err = os.WriteFile(other, nil, 0o600)
			}
			if err := errors.Join(err, os.Symlink(other, path)); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(other)
			if err != nil {
				t.Fatal(err)
			}
			_, err = journal.Open(t.Context(), dir, nil)
			var refused *journal.FileError
			if !errors.As(err, &refused) || refused.Path != path || !strings.Contains(refused.Reason, "symbolic link") || !strings.Contains(refused.Hint, "cp -pL") {
				t.Errorf("Open: %v", err)
			}
			if after, err := os.ReadFile(other); err != nil || string(after) != string(before) {
				t.Errorf("what it leads to was changed (%v)", err)
			}
		})
	}
	t.Run("pipe", func(t *testing.T) {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, "lock"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Open(t.Context(), dir, nil)
		if refused, ok := errors.AsType[*journal.FileError](err); !ok || !strings.Contains(refused.Reason, "regular") {
			t.Errorf("Open: %v", err)
		}
	})
}

// TestOpenFolders opens journals below folders that others can write to, and by way
// of links.
func TestOpenFolders(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "shared", "data")
	closed(t, open(t, dir, nil))
	shared := filepath.Dir(dir)
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, link} {
		_, err := journal.Open(t.Context(), name, nil)
		var refused *journal.FileError
		if !errors.As(err, &refused) || refused.Path != shared || !strings.Contains(refused.Hint, "chmod go-w "+shared) {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	closed(t, open(t, dir, nil))
	if err := os.Chmod(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	j := open(t, link, nil)
	commit(t, j, journaltest.NewSession("s", 1))
	closed(t, j)
	if n := count(t, open(t, dir, nil), "s"); n != 1 {
		t.Errorf("there are %d entries", n)
	}
}
