package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// removeEntries is how many entries are removed in one transaction, so that
// batches do not wait for long.
const removeEntries = 2000

// Delete removes a session with all that belongs to it. It is gone for every reader
// in one transaction; its entries are then cleared away in several, which the next
// process that opens the journal finishes if need be.
func (s *SQLite) Delete(ctx context.Context, session string) error {
	if err := s.remove(ctx, session); err != nil {
		return fmt.Errorf("removing session %s: %w", session, err)
	}
	return s.sweep(ctx, false)
}

func (s *SQLite) remove(ctx context.Context, session string) error {
	var n int64
	err := s.queue.do(ctx, &request{job: func(w *conn) error {
		return w.transaction(func() error {
			of, err := s.lookUpSession(w, session)
			if err != nil {
				return err
			}
			if of == nil {
				return ErrNotFound
			}
			n = of.n
			delete(s.known, session)
			if err := w.exec("INSERT INTO removed (session) VALUES (?)", n); err != nil {
				return err
			}
			if err := w.exec("DELETE FROM sessions WHERE n = ?", n); err != nil {
				return err
			}
			// The entries are many, and removed apart.
			for _, table := range []string{"runs", "commands", "questions", "turns", "conversations", "client_ids", "leases", "folds", "files"} {
				if err := w.exec("DELETE FROM "+table+" WHERE session = ?", n); err != nil {
					return err
				}
			}
			return w.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('position', ?)", s.position)
		})
	}})
	if err != nil {
		return err
	}
	s.index.wake()
	return s.clearEntries(ctx, n)
}

// clearEntries removes the entries of a session that was removed.
func (s *SQLite) clearEntries(ctx context.Context, n int64) error {
	for more := true; more; {
		err := s.queue.do(ctx, &request{job: func(w *conn) error {
			return w.transaction(func() (err error) {
				if err = w.exec("DELETE FROM entries WHERE pos IN (SELECT pos FROM entries WHERE session = ? LIMIT ?)", n, removeEntries); err == nil {
					_, more, err = w.first("SELECT 1 FROM entries WHERE session = ? LIMIT 1", n)
				}
				return err
			})
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeTraces finishes what Delete began: what is left of the entries, and
// the texts in the search index.
func (s *SQLite) removeTraces(ctx context.Context) error {
	x := s.index
	var list []int64
	err := s.readers.with(ctx, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			list = append(list, r.int(0))
			return nil
		}, "SELECT session FROM removed")
	})
	if err != nil {
		return hideLogError(err)
	}
	for _, n := range list {
		if err := s.clearEntries(ctx, n); err != nil {
			return hideLogError(err)
		}
		err := x.w.transaction(func() error {
			return x.w.exec("DELETE FROM messages WHERE rowid IN (SELECT rowid FROM messages WHERE messages MATCH ?)", `session : "`+sessionWord(n)+`"`)
		})
		if err != nil {
			return err
		}
		// Only now: what is not yet indexed never will be, its entries are gone.
		err = s.queue.do(ctx, &request{job: func(w *conn) error { return w.exec("DELETE FROM removed WHERE session = ?", n) }})
		if err != nil {
			return hideLogError(err)
		}
	}
	return nil
}

// Retain removes ended sessions until what is left keeps to the limits.
func (s *SQLite) Retain(ctx context.Context, r Retention) (int, error) {
	now := r.Now
	if now.IsZero() {
		now = s.options.Now()
	}
	type candidate struct {
		id    string
		ended int64
		bytes int64
	}
	list, err := all(ctx, s, "ended sessions", func(r row) (candidate, error) {
		return candidate{r.text(0), r.int(1), r.int(2)}, nil
	}, "SELECT id, ended, bytes FROM sessions WHERE ended > 0 ORDER BY ended, n")
	if err != nil {
		return 0, err
	}
	var total int64
	err = s.read(ctx, "the size of all sessions", func(c *conn) (err error) {
		total, _, err = c.first("SELECT sum(bytes) FROM sessions")
		return err
	})
	if err != nil {
		return 0, err
	}
	count := 0
	for _, c := range list {
		tooOld := r.MaxAge > 0 && c.ended < now.Add(-r.MaxAge).UnixNano()
		tooMuch := r.MaxBytes > 0 && total > r.MaxBytes
		if !tooOld && !tooMuch {
			break // the next ones are younger
		}
		release := func() {}
		if r.Guard != nil {
			var ok bool
			if release, ok = r.Guard(c.id); !ok {
				continue
			}
		}
		err := s.remove(ctx, c.id)
		release()
		total -= c.bytes
		switch {
		case err == nil:
			count++
		case !errors.Is(err, ErrNotFound): // else another call was faster
			return count, fmt.Errorf("removing session %s: %w", c.id, err)
		}
	}
	return count, s.sweep(ctx, false)
}

// Backup writes a copy of the journal to a new file: the long lines are in it
// too, and the search index is not. Put in the place of journal.db it is a journal
// again.
func (s *SQLite) Backup(ctx context.Context, file string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the backup %s: %w", file, err)
		}
	}()
	// No file may be removed between the copy and its own.
	s.blobs.mu.RLock()
	defer s.blobs.mu.RUnlock()
	file, err = filepath.Abs(file)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return &FileError{Path: file, Reason: "it is there already", Hint: "name a file that does not exist", Err: os.ErrExist}
	}
	part := file + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := s.copyTo(ctx, part); err != nil {
		return err
	}
	if err := s.pack(ctx, part); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	// A link does not replace what was put there meanwhile.
	if err := os.Link(part, file); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return errors.Join(os.Remove(part), syncDir(filepath.Dir(file)))
}

// copyTo copies the database to a new file, as it is at one moment.
func (s *SQLite) copyTo(ctx context.Context, file string) error {
	// Borrowed so that Close waits for it; but it may not write, not even to
	// another file.
	return s.readers.with(ctx, func(*conn) error {
		c, err := connect(ctx, s.path, s.options.vfs)
		if err != nil {
			return err
		}
		return errors.Join(vacuumInto(ctx, c, file), c.close())
	})
}

// pack puts the long lines into a backup.
func (s *SQLite) pack(ctx context.Context, file string) error {
	c, err := connect(ctx, file, "", setting{"journal_mode", "DELETE"}, setting{"synchronous", "FULL"})
	if err != nil {
		return err
	}
	var sums []string
	err = c.query(ctx, func(r row) error {
		sums = append(sums, r.text(0))
		return nil
	}, "SELECT DISTINCT sum FROM files")
	for _, sum := range sums {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		var body []byte
		if body, err = os.ReadFile(s.blobs.path(sum)); err == nil {
			err = c.exec("INSERT INTO carried (sum, body) VALUES (?, ?)", sum, body)
		}
	}
	return errors.Join(err, c.close())
}

// Check verifies the storage: the structure of the file, the numbering of every
// session, the long lines.
func (s *SQLite) Check(ctx context.Context) ([]string, error) {
	var wrong []string
	err := s.read(ctx, "the journal", func(c *conn) (err error) {
		wrong, err = checkTables(ctx, c)
		return err
	})
	if damaged(err) {
		return append(wrong, err.Error()), nil
	}
	if err != nil {
		return wrong, err
	}
	missing, err := s.checkFiles(ctx)
	return append(wrong, missing...), s.explain(err)
}

// checkTables verifies the structure of the file and the numbering of every
// session.
func checkTables(ctx context.Context, c *conn) ([]string, error) {
	wrong, err := runCheck(ctx, c, "PRAGMA integrity_check(100)")
	if err != nil {
		return wrong, err
	}
	err = c.query(ctx, func(r row) error {
		wrong = append(wrong, fmt.Sprintf("session %s should have the entries 1 to %d, but has %d, from %d to %d", r.text(0), r.int(1), r.int(2), r.int(3), r.int(4)))
		return nil
	}, `SELECT s.id, s.seq, count(e.seq), ifnull(min(e.seq), 0), ifnull(max(e.seq), 0) FROM sessions s LEFT JOIN entries e ON e.session = s.n
GROUP BY s.n HAVING count(e.seq) <> s.seq OR s.seq > 0 AND (min(e.seq) <> 1 OR max(e.seq) <> s.seq)`)
	if err != nil {
		return wrong, err
	}
	err = c.query(ctx, func(r row) error {
		wrong = append(wrong, fmt.Sprintf("%d entries belong to a session that does not exist (%d)", r.int(1), r.int(0)))
		return nil
	}, `SELECT session, count(*) FROM entries WHERE session NOT IN (SELECT n FROM sessions) AND session NOT IN (SELECT session FROM removed)
GROUP BY session`)
	return wrong, err
}

// checkFiles says which of the long lines are missing or damaged.
func (s *SQLite) checkFiles(ctx context.Context) ([]string, error) {
	sums, err := all(ctx, s, "long lines", func(r row) (string, error) { return r.text(0), nil }, "SELECT DISTINCT sum FROM files")
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, sum := range sums {
		if err := ctx.Err(); err != nil {
			return wrong, err
		}
		info, err := os.Stat(s.blobs.path(sum))
		if err == nil {
			_, err = s.blobs.get(fmt.Sprintf("sha256:%s:%d", sum, info.Size()))
		}
		switch {
		case errors.Is(err, errDamaged), errors.Is(err, os.ErrNotExist):
			wrong = append(wrong, fmt.Sprintf("a long line cannot be read: %v", err))
		case err != nil:
			return wrong, fmt.Errorf("reading a long line of the journal: %w", err)
		}
	}
	return wrong, nil
}

// runCheck runs one of SQLite's own checks and returns what it found.
func runCheck(ctx context.Context, c *conn, pragma string) ([]string, error) {
	var wrong []string
	err := c.query(ctx, func(r row) error {
		if text := r.text(0); text != "ok" {
			wrong = append(wrong, text)
		}
		return nil
	}, pragma)
	return wrong, err
}
