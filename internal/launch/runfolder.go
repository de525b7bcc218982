package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// recordName is the file in a run's folder that says which process its shim
// is.
const recordName = "shim.json"

// A record is what is kept of a run's shim on disk.
type record struct {
	Session string `json:"session"`
	Run     int    `json:"run"`
	Marker  string `json:"marker"`
	PID     int    `json:"pid"`
	Start   string `json:"start"`
}

// folder is the name of the run's folder and of its log.
func (s *Spec) folder() string { return s.Session + "-" + strconv.Itoa(s.Run) }

// folders is where the folders of all runs are.
func (l *Launcher) folders() string { return filepath.Join(l.config.DataDir, "run", "cli") }

// makeFolder makes the folder of a run. One that is left of an earlier attempt
// is swept first.
func (l *Launcher) makeFolder(ctx context.Context, spec *Spec) (string, error) {
	path := filepath.Join(l.folders(), spec.folder())
	if _, err := os.Lstat(path); err == nil {
		if swept, err := l.sweepFolder(ctx, path); err != nil {
			return "", failure("clearing away what is left of this run", err)
		} else if swept.Alive {
			return "", &StartError{Code: Running, Reason: fmt.Sprintf("this run has been started before and still lives, as process %d", swept.PID)}
		}
	}
	if err := os.MkdirAll(l.folders(), 0o700); err != nil {
		return "", failure("making a folder for the run", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", failure("making a folder for the run", err)
	}
	return path, nil
}

// writeRecord puts a record into a run's folder, as a whole or not at all.
func writeRecord(folder string, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("noting the shim's process: %w", err)
	}
	path := filepath.Join(folder, recordName)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("noting the shim's process: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("noting the shim's process: %w", err)
	}
	return nil
}

// readRecord reads the record of a folder. That there is none, or only a part of
// one, means that the shim never got its orders.
func readRecord(folder string) (r record, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(folder, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	if err != nil {
		return record{}, false, fmt.Errorf("reading which process a shim is: %w", err)
	}
	if !json.Valid(data) {
		return record{}, false, nil
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, false, fmt.Errorf("reading which process a shim is: %w", err)
	}
	return r, r.PID > 0 && r.Marker != "", nil
}

// A RunFolder is what is on disk of a run that was not cleared away.
type RunFolder struct {
	// Name is the folder's, session and run.
	Name string
	// PID is the shim's process; 0 if it never got its orders.
	PID int
	// Alive says that it lives.
	Alive bool
}

// Runs lists the runs of a data folder that were not cleared away, in the order of their names. It changes nothing.
func Runs(dataDir string) ([]RunFolder, error) {
	folder := filepath.Join(dataDir, "run", "cli")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for what runs have left: %w", err)
	}
	var runs []RunFolder
	for _, entry := range entries {
		r, _, err := readRecord(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		runs = append(runs, RunFolder{Name: entry.Name(), PID: r.PID, Alive: alive(r.PID, r.Start)})
	}
	return runs, nil
}
