package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
