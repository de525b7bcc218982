package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// logAge is how long the log of a run is kept.
const logAge = 30 * 24 * time.Hour

// Swept says what was found of one run.
type Swept struct {
	Session string
	Run     int
	Marker  string
	PID     int
	// Alive says that its shim lives: it was left in peace.
	Alive bool
	// Killed is how many processes had survived their shim and were ended.
	Killed int
}

// Sweep ends everything that carries a run's marker, its shim included, removes
// the folder of the run and returns how many processes that were. Where
// processes cannot be found by their environment, which is everywhere but on
// Linux, it ends none.
func (l *Launcher) Sweep(ctx context.Context, marker string) (int, error) {
	killed, err := claude.Sweep(ctx, marker)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return killed, err
	}
	return killed, l.forgetFolder(marker)
}

// forgetFolder removes the folder of the run that has a marker, if its shim is
// dead. A marker that does not begin with session and run is found by SweepAll.
func (l *Launcher) forgetFolder(marker string) error {
	parts := strings.Split(marker, ".")
	if len(parts) < 2 || !safeName().MatchString(parts[0]) || !safeName().MatchString(parts[1]) {
		return nil
	}
	folder := filepath.Join(l.folders(), parts[0]+"-"+parts[1])
	r, started, err := readRecord(folder)
	if err != nil || !started || r.Marker != marker || l.Alive(r.PID, r.Start) {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("removing what run %s has left: %w", filepath.Base(folder), err)
	}
	return nil
}

// SweepAll is for the start of a hub: it looks at every run that was not
// cleared away, leaves those whose shims live, and ends what is left of the
// others. It also forgets old logs. It goes on after an error and returns all
// of them.
func (l *Launcher) SweepAll(ctx context.Context) ([]Swept, error) {
	entries, err := os.ReadDir(l.folders())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for what earlier runs have left: %w", err)
	}
	var found []Swept
	var errs []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			return found, errors.Join(append(errs, context.Cause(ctx))...)
		}
		done, err := l.begin(entry.Name())
		if errors.Is(err, ErrClosed) {
			return found, ErrClosed
		}
		if err != nil {
			continue // it is being started
		}
		swept, err := l.sweepFolder(ctx, filepath.Join(l.folders(), entry.Name()))
		done()
		if err != nil {
			errs = append(errs, err)
		} else if swept.Session != "" {
			found = append(found, swept)
		}
	}
	l.forgetLogs(time.Now().Add(-logAge))
	return found, errors.Join(errs...)
}

// sweepFolder clears the run of a folder away, unless its shim lives.
func (l *Launcher) sweepFolder(ctx context.Context, folder string) (Swept, error) {
	r, started, err := readRecord(folder)
	if err != nil {
		return Swept{}, err
	}
	swept := Swept{Session: r.Session, Run: r.Run, Marker: r.Marker, PID: r.PID}
	if started {
		if l.Alive(r.PID, r.Start) {
			swept.Alive = true
			return swept, nil
		}
		if swept.Killed, err = l.Sweep(ctx, r.Marker); err != nil {
			return Swept{}, err
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return Swept{}, fmt.Errorf("removing what run %s has left: %w", filepath.Base(folder), err)
	}
	return swept, nil
}

// forgetLogs removes the logs that no process has written to since.
func (l *Launcher) forgetLogs(since time.Time) {
	dir := filepath.Join(l.config.DataDir, "shims")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there are none
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(since) {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				l.log.Debug("an old log remains", "error", err)
			}
		}
	}
}
