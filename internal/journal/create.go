package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/trust"
)

// dataFiles are the files of a journal in its folder.
var dataFiles = [...]string{"journal.db", "journal.db-wal", "journal.db-shm", "search.db", "search.db-wal", "search.db-shm"}

// refuseUntrusted refuses files that are not regular files of this user.
func (s *SQLite) refuseUntrusted() error {
	for _, name := range dataFiles {
		if err := asFileError(trust.File(filepath.Join(s.dir, name))); err != nil {
			return err
		}
	}
	return asFileError(trust.Folder(s.blobs.dir))
}

// asFileError makes a *FileError of an error of package trust.
func asFileError(err error) error {
	if e, ok := errors.AsType[*trust.Error](err); ok {
		return &FileError{Path: e.Path, Reason: e.Reason, Hint: e.Fix, Err: err}
	}
	return err
}

// create makes a new journal.db if there is none. It gets its name when it is
// complete: so a crash at any time leaves either none or a whole one, and a file
// that is empty is one that has lost its content.
func (s *SQLite) create(ctx context.Context) error {
	info, err := os.Lstat(s.path)
	if err == nil && info.Size() == 0 {
		return &FileError{Path: s.path, Reason: "it is damaged (it is empty, which a journal never is)", Hint: s.damageHint()}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Going on would remove what still is there of the journal that is missing.
	gone, err := leftovers(s.dir)
	if err != nil {
		return err
	}
	if gone != "" {
		return &FileError{Path: s.path, Reason: gone, Hint: s.damageHint()}
	}
	part := s.path + ".new"
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} { // of one that was killed meanwhile
		if err := os.Remove(part + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// SQLite gives the files beside it the mode of the first one.
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	// Without a write-ahead log all is in the file itself once it is committed.
	w, err := connect(ctx, part, s.options.vfs, setting{"journal_mode", "DELETE"}, setting{"synchronous", "FULL"})
	if err != nil {
		return err
	}
	if err := errors.Join(s.migrate(ctx, w), w.close()); err != nil {
		return err
	}
	killpoint.Reach("journal.before-rename")
	if err := os.Rename(part, s.path); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// leftovers describes what is left in the folder of a journal.db that is missing, ""
// for nothing: then there was none.
func leftovers(dir string) (string, error) {
	var left []string
	for _, name := range []string{"journal.db-wal", "search.db"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err == nil && info.Size() > 0 {
			left = append(left, name)
		}
	}
	blobs := &blobStore{dir: filepath.Join(dir, "blobs")}
	err := blobs.each(func(sum, _ string) error {
		if sum == "" {
			return nil
		}
		left = append(left, "the folder blobs")
		return fs.SkipAll
	})
	if err != nil {
		return "", fmt.Errorf("looking into %s: %w", blobs.dir, err)
	}
	if len(left) == 0 {
		return "", nil
	}
	return "it is missing, although there is " + strings.Join(left, ", ") + " of it", nil
}
