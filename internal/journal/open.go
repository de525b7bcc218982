package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// readerCount is how many can read at the same time.
const readerCount = 4

// SQLite is a journal in a folder: journal.db with its write-ahead log, blobs
// with the long lines, and search.db, which is made anew whenever it is missing.
// It is their only writer, and holds the lock of the folder.
type SQLite struct {
	// Static after Open.
	dir, path  string
	id         string
	options    Options
	lock       *dirLock
	blobs      *blobStore
	readers    *pool
	index      *index
	queue      *queue
	stop       context.CancelFunc // ends the background goroutines
	background sync.WaitGroup
	kick       chan struct{} // wakes the checkpointer
	logLeft    bool          // there was a write-ahead log of a process that did not end cleanly
	losses     []Loss

	// Owned by the queue's leader.
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
// goroutines checkpoints and keepIndex; Close ends them.
//
// It fails with a *[FileError] if another process uses the folder, if another user
// could change what is in it, or if the file is damaged, empty or newer than this
// program. A write-ahead log that has lost transactions is no such failure as long
// as the rest is sound: see [SQLite.Losses]. ctx ends the opening only.
func Open(ctx context.Context, dir string, o *Options) (_ *SQLite, err error) {
	dir, err = dataFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	s := &SQLite{
		dir:     dir,
		path:    filepath.Join(dir, "journal.db"),
		options: o.withDefaults(),
		blobs:   &blobStore{dir: filepath.Join(dir, "blobs")},
		kick:    make(chan struct{}, 1),
		known:   map[string]*session{},
	}
	s.queue = newQueue(s.write)
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
	lost, err := s.prepare(ctx)
	if err != nil {
		return nil, s.openError(err)
	}
	if err := s.index.open(ctx, s.id, s.position); err != nil {
		// The journal is of use without it; the goroutine below tries again.
		s.options.Logger.Warn("the search index cannot be opened", "error", s.explain(err))
	}
	if err := s.recordLosses(ctx, lost, s.index.ahead); err != nil {
		return nil, s.openError(err)
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.checkpoints(running) })
	s.background.Go(func() { s.keepIndex(running) })
	return s, nil
}

// dataFolder returns the data folder without symbolic links in its path. It is made
// if need be, and refused if another user could change what is in it.
func dataFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := asFileError(trust.Folder(dir)); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700) //nolint:gosec // a folder is entered, not read
}

// prepare opens the file, which it makes if need be, looks whether it is sound, and
// brings it up to date. It returns what the write-ahead log has lost.
func (s *SQLite) prepare(ctx context.Context) (lost string, err error) {
	if err := s.refuseUntrusted(); err != nil {
		return "", err
	}
	if err := s.create(ctx); err != nil {
		return "", err
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		return "", err
	}
	if lost, err = s.examineLog(ctx); err != nil {
		return "", err
	}
	if s.writer, err = s.openWriter(ctx); err != nil {
		return "", err
	}
	w := s.writer
	if err := s.checkFormat(ctx, w, info.Size()); err != nil {
		return "", err
	}
	if err := s.migrate(ctx, w); err != nil {
		return "", err
	}
	if s.position, err = lastPosition(w); err != nil {
		return "", err
	}
	s.last.Store(s.position)
	err = w.query(ctx, func(r row) error {
		s.id = r.text(0)
		return nil
	}, "SELECT value FROM meta WHERE key = 'id'")
	if err != nil {
		return "", err
	}
	if err := s.unpack(ctx, w); err != nil {
		return "", err
	}
	return lost, s.sweep(ctx, true)
}

// checkFormat refuses a file that is not a journal, or is damaged.
func (s *SQLite) checkFormat(ctx context.Context, w *conn, size int64) error {
	tables, _, err := w.first("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	if tables == 0 {
		return &FileError{Path: s.path, Reason: "it is damaged (it has no tables, which a journal never is without)", Hint: s.damageHint()}
	}
	id, _, err := w.first("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		return &FileError{Path: s.path, Reason: "it is not a journal of Switchboard", Hint: s.damageHint()}
	}
	// Reading every page of a large file would keep agents waiting, and a
	// process that is killed does not damage it.
	if size > s.options.checkBelow {
		return nil
	}
	wrong, err := runCheck(ctx, w, "PRAGMA quick_check(3)")
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &FileError{Path: s.path, Reason: "it is damaged (" + strings.Join(wrong, "; ") + ")", Hint: s.damageHint()}
	}
	return nil
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
		// A log that has grown, because a reader had a snapshot open for long, shrinks again.
		{"journal_size_limit", strconv.Itoa(64 << 20)},
		// The cache stays at SQLite's 2 MB: appending does not return to old
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
	names, err := s.filesLike("journal.db.aside-")
	if err != nil {
		return err
	}
	suffix := s.asideSuffix(names)
	// First the file, without which the others are of no use: if this is cut short,
	// opening refuses what is left and says to do it again.
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
	// The index of what was set aside is made anew if that is put back.
	if err := s.index.discard(); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// asideSuffix is what is added to the names of files that are set aside, beside
// those with the names that are given.
func (s *SQLite) asideSuffix(names []string) string {
	suffix := ".aside-" + s.options.Now().UTC().Format("20060102T150405.000")
	if missing(s.path) {
		// Setting aside was cut short: what is left belongs to the last file.
		for _, name := range slices.Backward(names) {
			if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
				if !slices.Contains(names, name+"-wal") {
					suffix = strings.TrimPrefix(name, s.path)
				}
				break
			}
		}
		return suffix
	}
	for slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, s.path+suffix) }) {
		suffix += "x" // what was set aside is never overwritten
	}
	return suffix
}

// damageHint says what to do about a damaged file.
func (s *SQLite) damageHint() string {
	hint := "start with --journal=new, which sets it aside and begins a new one, or put a backup in its place"
	if copies, err := s.filesLike("journal.db.before-v"); err == nil && len(copies) > 0 { // that it cannot be listed is a smaller worry
		hint += " (there is " + strings.Join(copies, ", ") + ")"
	}
	return hint
}

// filesLike lists the files in the folder whose names begin so, in order.
func (s *SQLite) filesLike(prefix string) ([]string, error) {
	var list []string
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) && !strings.HasSuffix(entry.Name(), ".part") {
			list = append(list, filepath.Join(s.dir, entry.Name()))
		}
	}
	return list, nil
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
			// If that fails, the next process that opens it does so.
			_ = s.writer.query(context.Background(), func(row) error { return nil }, "PRAGMA wal_checkpoint(TRUNCATE)")
			s.err = errors.Join(s.err, s.writer.close())
		}
		s.err = errors.Join(s.err, s.index.close(), s.lock.unlock())
	})
	return s.err
}
