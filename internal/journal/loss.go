package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lossShown is for how long a loss is spoken of. Its record stays.
const lossShown = 30 * 24 * time.Hour

// lossPrefix begins the keys of the records in the table meta.
const lossPrefix = "loss:"

// A Loss is a time at which entries that had been committed were found to be
// missing. A power cut does that with [DurabilityNormal]; a damaged disk does it
// with either.
type Loss struct {
	// Time is when it was noticed.
	Time time.Time
	// What says what is missing, and what was kept of it.
	What string
}

// String returns a sentence for people.
func (l Loss) String() string {
	return fmt.Sprintf("the journal has lost entries, as was noticed at %s: %s", l.Time.UTC().Format("2006-01-02 15:04 MST"), l.What)
}

// Losses returns the losses that were noticed in the last 30 days, the oldest
// first.
func (s *SQLite) Losses() []Loss { return s.losses }

// examineLog looks for losses in the write-ahead log before SQLite reads it. If
// there is one, and the rest of the journal is sound, the damaged log is copied and
// then cut where SQLite would stop to read it: what follows would be found again by
// the next process, beside the transactions that had been written over it. It
// returns what was lost, "" for nothing, and a *FileError if the rest is not sound
// either.
func (s *SQLite) examineLog(ctx context.Context) (string, error) {
	log := s.path + "-wal"
	scan, err := scanLog(log)
	if err != nil {
		return "", err
	}
	s.logLeft = scan.size > 0
	var index *logIndex
	if s.lock.sameBoot {
		if index, err = readLogIndex(s.path + "-shm"); err != nil {
			return "", err
		}
	}
	lost := lostFrom(scan, index)
	if lost == "" {
		return "", nil
	}
	s.options.Logger.Error("the journal has lost entries", "file", s.path, "reason", lost)
	// A checkpoint may have copied a part of what is lost into the file already. A
	// part of a transaction is worse than none.
	wrong, err := s.checkAll(ctx, scan.size == 0)
	if err != nil && !damaged(err) {
		return "", err
	}
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if len(wrong) > 0 {
		return "", &FileError{Path: s.path, Reason: "it is damaged (" + lost + "; " + strings.Join(wrong, "; ") + ")", Hint: s.damageHint()}
	}
	if scan.size == 0 {
		return lost, nil
	}
	kept := s.path + ".lost-" + s.options.Now().UTC().Format("20060102T150405.000") + "-wal"
	if err := copyFile(log, kept); err != nil {
		return "", fmt.Errorf("copying the damaged write-ahead log to %s: %w", kept, err)
	}
	keep := int64(0)
	if scan.valid {
		keep = scan.committedBytes()
	}
	if err := truncateFile(log, keep); err != nil {
		return "", fmt.Errorf("cutting the damaged write-ahead log: %w", err)
	}
	return lost + "; the log as it was found is " + kept, nil
}

// checkAll checks the journal as SQLite sees it, without changing anything.
func (s *SQLite) checkAll(ctx context.Context, alone bool) (wrong []string, err error) {
	c, err := connectReadOnly(ctx, s.path, s.options.vfs, alone)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	return checkTables(ctx, c)
}

// copyFile copies a file to a new one that only its owner can read, whole or not at
// all.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-") // mode 0600
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return syncDir(filepath.Dir(to))
}

// truncateFile cuts a file off at a size and waits for the disk.
func truncateFile(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = file.Truncate(size)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// recordLosses records what was lost, if anything, and reads all records.
// indexed is the position up to which the search index knows the log: it is a file
// of its own, so it may remember what the log has lost.
func (s *SQLite) recordLosses(ctx context.Context, lost string, indexed int64) error {
	if missing := indexed - s.position; missing > 0 {
		what := fmt.Sprintf("the search index knows at least %d entries more; unless an older copy was put in place of the journal, they are lost", missing)
		if lost == "" {
			s.options.Logger.Error("the journal has lost entries", "file", s.path, "reason", what)
		} else {
			what = lost + "; " + what
		}
		lost = what
	}
	now := s.options.Now()
	if lost != "" {
		if err := s.writer.exec("INSERT INTO meta (key, value) VALUES (?, ?)", fmt.Sprintf("%s%020d", lossPrefix, now.UnixNano()), lost); err != nil {
			return err
		}
	}
	var err error
	s.losses, err = readLosses(ctx, s.writer, now.Add(-lossShown))
	return err
}

// readLosses reads the losses that were noticed since a time.
func readLosses(ctx context.Context, c *conn, since time.Time) ([]Loss, error) {
	var losses []Loss
	err := c.query(ctx, func(r row) error {
		at := time.Unix(0, r.int(0)).UTC()
		if !at.Before(since) {
			losses = append(losses, Loss{Time: at, What: r.text(1)})
		}
		return nil
	}, "SELECT CAST(substr(key, ?1 + 1) AS INTEGER), value FROM meta WHERE substr(key, 1, ?1) = ?2 ORDER BY key", len(lossPrefix), lossPrefix)
	return losses, err
}
