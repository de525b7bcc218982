package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// inspectBelow is the size up to which [Inspect] reads every page.
const inspectBelow = 1 << 30

// An Inspection is what can be seen of a journal without opening it.
type Inspection struct {
	// Size is that of the journal with what is not yet in its place, Search that of the index for searching, Blobs that of long lines.
	Size, Search, Blobs int64
	// Sessions and Entries are how many there are.
	Sessions, Entries int64
	// Checked says that every page was read; Wrong is what was found to be wrong then.
	Checked bool
	Wrong   []string
	// Unchecked says why not, if Checked is false.
	Unchecked string
	// Lost says what the journal has lost in the last 30 days, and what the next hub
	// will find to be lost.
	Lost []string
}

// Inspect looks at the journal in a folder without changing anything, also while a hub has it open: it reads as any reader does, does not wait, and
// makes no other process wait. It reads until ctx ends, and then says how far it got. The error is [fs.ErrNotExist] if there is no journal.
func Inspect(ctx context.Context, dir string) (*Inspection, error) {
	path := filepath.Join(dir, "journal.db")
	if err := trust.File(path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		gone, looking := leftovers(dir)
		if looking != nil {
			return nil, looking
		}
		if gone != "" {
			return &Inspection{Checked: true, Wrong: []string{"journal.db: " + gone}}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	in := &Inspection{Size: info.Size() + size(path+"-wal"), Search: size(filepath.Join(dir, "search.db"))}
	_ = filepath.WalkDir(filepath.Join(dir, "blobs"), func(_ string, entry fs.DirEntry, err error) error { // what cannot be read has no size
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				in.Blobs += info.Size()
			}
		}
		return ctx.Err()
	})
	if info.Size() == 0 {
		in.Checked, in.Wrong = true, []string{"it is empty, which a journal never is"}
		return in, nil
	}
	if err := in.readLog(dir, path); err != nil {
		return nil, err
	}
	alone := missing(path + "-wal")
	err = in.read(ctx, path, alone)
	if alone && (err != nil || len(in.Wrong) > 0) && changed(path, info) {
		// A hub has begun to write to what was read as if none did: what looks damaged need not be.
		in.Checked, in.Wrong, in.Unchecked = false, nil, "a hub has begun to write to it"
		return in, nil
	}
	if err != nil {
		switch {
		case ctx.Err() != nil:
			in.Unchecked = "reading all of it takes too long"
		case damaged(err):
			in.Checked, in.Wrong = true, append(in.Wrong, err.Error())
		default:
			in.Unchecked = err.Error()
		}
	}
	return in, nil
}

// readLog looks at the write-ahead log that a hub has left which was killed. While one runs, the log changes, and the hub itself has looked at it.
func (in *Inspection) readLog(dir, path string) error {
	used, sameBoot, err := inUse(dir)
	if err != nil || used {
		return err
	}
	scan, err := scanLog(path + "-wal")
	if err != nil {
		return err
	}
	var index *logIndex
	if sameBoot {
		if index, err = readLogIndex(path + "-shm"); err != nil {
			return err
		}
	}
	lost := lostFrom(scan, index)
	if used, _, err = inUse(dir); err != nil || used || lost == "" {
		return err // a hub that has begun meanwhile looks at it, too
	}
	in.Lost = append(in.Lost, "the journal has lost entries: "+lost)
	return nil
}

// missing reports whether there is no such file.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// changed reports whether a process has written to a journal since, or is about to.
func changed(path string, before fs.FileInfo) bool {
	now, err := os.Stat(path)
	return err != nil || !missing(path+"-wal") || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())
}

// size returns the size of a file, 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// read reads what there is to know from the file itself. alone says that no other process has it open.
func (in *Inspection) read(ctx context.Context, path string, alone bool) (err error) {
	c, err := connectReadOnly(ctx, path, "", alone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	id, _, err := c.first("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		in.Checked, in.Wrong = true, []string{"it is not a journal of Switchboard"}
		return nil
	}
	if in.Sessions, _, err = c.first("SELECT count(*) FROM sessions"); err != nil {
		return err
	}
	if in.Entries, _, err = c.first("SELECT ifnull(sum(seq), 0) FROM sessions"); err != nil {
		return err
	}
	losses, err := readLosses(ctx, c, time.Now().Add(-lossShown))
	if err != nil {
		return err
	}
	for _, loss := range losses {
		in.Lost = append(in.Lost, loss.String())
	}
	if in.Size > inspectBelow {
		in.Unchecked = "it is too large to read all of it now"
		return nil
	}
	wrong, err := runCheck(ctx, c, "PRAGMA quick_check(3)")
	if err != nil {
		return err
	}
	in.Checked, in.Wrong = true, wrong
	return nil
}
