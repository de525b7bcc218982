package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// code returns SQLite's primary error code, 0 if the error is not one of its.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// damaged says that the file itself is broken.
func damaged(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// storageError says that the error is one of the storage, upon which a
// connection is better opened anew.
func storageError(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	_, system := errors.AsType[syscall.Errno](err)
	_, file := errors.AsType[*fs.PathError](err)
	return system || file
}

// unavailable makes an *UnavailableError of an error of the storage; other
// errors it returns as they are.
func (s *SQLite) unavailable(err error) error {
	if _, known := errors.AsType[*UnavailableError](err); known || !storageError(err) {
		return err
	}
	err = s.explain(err)
	u := &UnavailableError{Err: err}
	switch c := code(err); {
	case damaged(err):
		u.Err = &FileError{Path: s.path, Reason: "it is damaged", Hint: s.damageHint(), Err: err}
		u.Reason = u.Err.Error()
	case c == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		u.Reason = fmt.Sprintf("no space left in %s; free some space, and the hub continues automatically", s.dir)
	case outOfFiles(err):
		u.Reason = err.Error()
	case errors.Is(err, syscall.EFBIG), c == sqlite3.SQLITE_IOERR && s.lock.atSizeLimit(s.path):
		u.Reason = fmt.Sprintf("a file in %s may not grow any more; raise the limit (ulimit -f), or free some space", s.dir)
	case c == sqlite3.SQLITE_READONLY, c == sqlite3.SQLITE_PERM, errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		u.Reason = fmt.Sprintf("%s may not be written to; make it writable, and the hub continues automatically", s.dir)
	case c == sqlite3.SQLITE_BUSY, c == sqlite3.SQLITE_LOCKED:
		u.Reason = fmt.Sprintf("another program holds %s; stop it, and the hub continues automatically", s.path)
	default:
		u.Reason = fmt.Sprintf("writing to %s failed (%v); check the disk", s.dir, err)
	}
	return u
}

// outOfFiles says that the process, or the whole system, may not open more files.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// connectionFiles is how many files a connection opens at most: the database, its
// log, the index of that, and a journal or a temporary file.
const connectionFiles = 4

// explain says what is behind an error of the storage if SQLite did not: it tells
// only that some file could not be opened, and then as many are opened here as a
// connection needs. A process that has run out of file descriptors is told so.
func (s *SQLite) explain(err error) error {
	if code(err) == sqlite3.SQLITE_CANTOPEN && !outOfFiles(err) {
		for range connectionFiles {
			file, failed := os.Open(s.path)
			if failed != nil {
				err = fmt.Errorf("%w (%w)", failed, err)
				break
			}
			defer file.Close()
		}
	}
	if _, explained := errors.AsType[*descriptorError](err); outOfFiles(err) && !explained {
		return &descriptorError{err}
	}
	return err
}

// A descriptorError says what to do about too many open files.
type descriptorError struct{ error }

// Error adds the remedy.
func (e *descriptorError) Error() string {
	return e.error.Error() + "; raise the limit of open files (ulimit -n, or LimitNOFILE= of a systemd unit) and start the hub again"
}

// Unwrap returns the cause.
func (e *descriptorError) Unwrap() error { return e.error }

// openError says why the journal could not be opened.
func (s *SQLite) openError(err error) error {
	if _, ok := errors.AsType[*FileError](err); ok {
		return err
	}
	if err = s.explain(err); outOfFiles(err) {
		return fmt.Errorf("opening the journal: %w", err)
	}
	if damaged(err) {
		return &FileError{Path: s.path, Reason: fmt.Sprintf("it is damaged (%v)", err), Hint: s.damageHint(), Err: err}
	}
	return fmt.Errorf("opening the journal: %w", s.unavailable(err))
}
