package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// scratchPrefix is how the names of folders begin in which backups are made.
const scratchPrefix = ".backup-"

// Backup writes a copy of the journal as it is at one moment to w, while
// everything goes on: see journal.Journal. It is made as a file first, of which
// nothing is left. One is made at a time. An error of w is returned as it is.
func (p *Reports) Backup(ctx context.Context, w io.Writer) (err error) {
	select {
	case p.backups <- struct{}{}:
		defer func() { <-p.backups }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := p.sweepScratch(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(p.scratchDir(), scratchPrefix+"*")
	if err != nil {
		return p.noBackup(ctx, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	name := filepath.Join(folder, "journal.db")
	if err := p.journal.Backup(ctx, name); err != nil {
		return p.noBackup(ctx, err)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("reading the backup: %w", err)
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}

// sweepScratch removes what a backup has left that was killed on the way. In a
// folder that others use, too, what is called so may be theirs.
func (p *Reports) sweepScratch() error {
	if p.scratch == "" {
		return nil
	}
	entries, err := os.ReadDir(p.scratch)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for what is left of backups: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), scratchPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.scratch, entry.Name())); err != nil {
			return fmt.Errorf("removing what is left of a backup: %w", err)
		}
	}
	return nil
}

// scratch returns the folder for files that are read once.
func (p *Reports) scratchDir() string {
	if p.scratch != "" {
		return p.scratch
	}
	return os.TempDir()
}

// noBackup says that a backup could not be made, in words that tell what to do. The
// error itself has paths of the server's machine in it: it belongs to the log.
func (p *Reports) noBackup(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, journal.ErrClosed):
		return p.problem(err, "")
	}
	p.log.Error("a backup could not be made", "err", err)
	return &api.Error{
		Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "the backup could not be made",
		Hint: "it needs as much free space in the hub's data folder as the journal; see the hub's log",
	}
}
