package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// readerCount is how many can read at the same time.
const readerCount = 4

// SQLite is a journal in a folder: journal.db with its write-ahead log, blobs
// with the long lines, and search.db, which is made anew whenever it is missing.
// It is the only one who writes to them, and holds the lock of the folder.
type SQLite struct {
	// Static after Open.
	dir, path  string
	id         string
	options    Options
	lock       *dirLock
	files      *store
	readers    *pool
	index      *index
	queue      *queue
	stop       context.CancelFunc // ends the background goroutines
	background sync.WaitGroup
	kick       chan struct{} // wakes the checkpointer

	// Owned by who holds the queue's turn.
	writer   *conn
	position int64               // of the last entry
	known    map[string]*session // what was looked up before
	pages    int64               // about how many the write-ahead log holds

	last   atomic.Int64 // position, once it is committed
	health atomic.Pointer[UnavailableError]
	closed sync.Once
	err    error // of closing
}

var _ Journal = (*SQLite)(nil)

// Open opens the journal in a folder, which is made if need be, and starts the
// goroutines that look after the write-ahead log and that keep the search index;
// Close ends them.
//
// It fails with a *[FileError] if another process uses the folder, or the file is
// damaged or newer than this program. ctx ends the opening only.
func Open(ctx context.Context, dir string, o *Options) (_ *SQLite, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	s := &SQLite{
		dir:     dir,
		path:    filepath.Join(dir, "journal.db"),
		options: o.withDefaults(),
		files:   &store{dir: filepath.Join(dir, "blobs")},
		kick:    make(chan struct{}, 1),
		known:   map[string]*session{},
	}
	s.queue = newQueue(s.write)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, s.openError(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder is entered, not read
		return nil, s.openError(err)
	}
	if s.lock, err = lockDir(dir); err != nil {
		return nil, s.openError(err)
	}
	s.readers = newPool(readerCount, s.openReader)
	s.index = newIndex(filepath.Join(dir, "search.db"), s.options.Logger)
	defer func() {
		if err != nil {
			if s.writer != nil {
				err = errors.Join(err, s.writer.close())
			}
			err = errors.Join(err, s.readers.close(), s.index.close(), s.lock.unlock())
		}
	}()
	if s.options.New {
		if err := s.setAside(); err != nil {
			return nil, s.openError(err)
		}
	}
	if err := s.prepare(ctx); err != nil {
		return nil, s.openError(err)
	}
	if err := s.index.open(ctx, s.id, s.position); err != nil {
		// The journal is of use without it; the goroutine below tries again.
		s.options.Logger.Warn("the search index cannot be opened", "error", err)
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.checkpoints(running) })
	s.background.Go(func() { s.keepIndex(running) })
	return s, nil
}

// prepare opens the file, looks whether it is sound, and brings it up to date.
func (s *SQLite) prepare(ctx context.Context) error {
	// SQLite gives the files beside it the mode of the first one.
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		return err
	}
	if s.writer, err = s.openWriter(ctx); err != nil {
		return err
	}
	w := s.writer
	tables, _, err := w.first("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	id, _, err := w.first("PRAGMA application_id")
	if err != nil {
		return err
	}
	if tables > 0 && id != applicationID {
		return &FileError{Path: s.path, Reason: "it is not a journal of Switchboard", Hint: s.damageHint()}
	}
	// Reading every page of a large file would keep agents waiting, and a
	// process that is killed does not damage it.
	if tables > 0 && info.Size() <= s.options.checkBelow {
		wrong, err := check(ctx, w, "PRAGMA quick_check(3)")
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			return &FileError{Path: s.path, Reason: "it is damaged (" + strings.Join(wrong, "; ") + ")", Hint: s.damageHint()}
		}
	}
	if err := s.migrate(ctx, w); err != nil {
		return err
	}
	if s.position, err = lastPosition(w); err != nil {
		return err
	}
	s.last.Store(s.position)
	err = w.query(ctx, func(r row) error {
		s.id = r.text(0)
		return nil
	}, "SELECT value FROM meta WHERE key = 'id'")
	if err != nil {
		return err
	}
	if err := s.unpack(ctx, w); err != nil {
		return err
	}
	return s.sweep(ctx, true)
}

// lastPosition is the highest position that was ever given out. Those of
// removed sessions are not given out again.
func lastPosition(c *conn) (int64, error) {
	last, _, err := c.first("SELECT max(ifnull((SELECT max(pos) FROM entries), 0), ifnull((SELECT value FROM meta WHERE key = 'position'), 0))")
	return last, err
}

// openWriter opens the connection that writes.
func (s *SQLite) openWriter(ctx context.Context) (*conn, error) {
	synchronous := "NORMAL"
	if s.options.Durability == DurabilityFull {
		synchronous = "FULL"
	}
	settings := []setting{
		{"journal_mode", "WAL"},
		{"synchronous", synchronous},
		// Checkpoints are made in checkpoint.go.
		{"wal_autocheckpoint", "0"},
		// A log that has grown, because somebody read for long, shrinks again.
		{"journal_size_limit", strconv.Itoa(64 << 20)},
		// The cache stays at SQLite's 2 MB: who appends does not come back to old
		// pages, and a cache of 8 MB made batches a quarter slower.
		{"secure_delete", "FAST"},
	}
	if s.options.MaxPageCount > 0 {
		settings = append(settings, setting{"max_page_count", strconv.FormatInt(s.options.MaxPageCount, 10)})
	}
	return connect(ctx, s.path, s.options.vfs, settings...)
}

// openReader opens a connection that only reads.
func (s *SQLite) openReader() (*conn, error) {
	return connect(context.Background(), s.path, s.options.vfs, setting{"query_only", "1"})
}

// setAside renames what is there, so that it can be looked at or put back.
func (s *SQLite) setAside() error {
	suffix := ".aside-" + s.options.Now().UTC().Format("20060102T150405.000")
	for len(s.filesLike("journal.db"+suffix)) > 0 {
		suffix += "x" // what was set aside is never overwritten
	}
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.db-shm", "blobs"} {
		to := name + suffix
		if rest, ok := strings.CutPrefix(name, "journal.db-"); ok {
			// SQLite looks for the log under this name when the file is opened.
			to = "journal.db" + suffix + "-" + rest
		}
		err := os.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, to))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err == nil && name == "journal.db" {
			s.options.Logger.Warn("the journal was set aside", "file", filepath.Join(s.dir, to))
		}
	}
	return syncDir(s.dir)
}

// damageHint says what to do about a damaged file.
func (s *SQLite) damageHint() string {
	hint := "start with --journal=new, which sets it aside and begins a new one, or put a backup in its place"
	if copies := s.filesLike("journal.db.before-v"); len(copies) > 0 {
		hint += " (there is " + strings.Join(copies, ", ") + ")"
	}
	return hint
}

// filesLike lists the files in the folder whose names begin so.
func (s *SQLite) filesLike(prefix string) []string {
	var list []string
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil // what cannot be listed is not there, as far as this goes
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) && !strings.HasSuffix(entry.Name(), ".part") {
			list = append(list, filepath.Join(s.dir, entry.Name()))
		}
	}
	return list
}

// Health says whether the last write worked.
func (s *SQLite) Health() error {
	if u := s.health.Load(); u != nil {
		return u
	}
	return nil
}

// LastPosition is the position of the newest entry.
func (s *SQLite) LastPosition(ctx context.Context) (int64, error) {
	return s.last.Load(), ctx.Err()
}

// ID names the journal.
func (s *SQLite) ID() string { return s.id }

// Close writes what is waiting, ends the goroutines and closes the files. Calls
// that come later get ErrClosed.
func (s *SQLite) Close() error {
	s.closed.Do(func() {
		s.stop()
		s.background.Wait()
		s.queue.close()
		s.err = s.readers.close()
		if s.writer != nil {
			// The log is merged into the file, so that the file alone is the journal.
			// If that fails, the next one who opens it does so.
			_ = s.writer.query(context.Background(), func(row) error { return nil }, "PRAGMA wal_checkpoint(TRUNCATE)")
			s.err = errors.Join(s.err, s.writer.close())
		}
		s.err = errors.Join(s.err, s.index.close(), s.lock.unlock())
	})
	return s.err
}
