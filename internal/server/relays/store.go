package relays

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// storeVersion is the form of the file that is written, maxStore its size at most.
const (
	storeVersion = 1
	maxStore     = 1 << 20
)

// A stored is the file of attached relays.
type stored struct {
	Version int     `json:"version"`
	Relays  []entry `json:"relays"`
}

// An entry is what is kept of a relay.
type entry struct {
	ID       string    `json:"id"`
	URL      string    `json:"url,omitempty"`
	Discover bool      `json:"discover,omitempty"`
	Rules    bool      `json:"rules,omitempty"`
	Insecure bool      `json:"insecure,omitempty"`
	Created  time.Time `json:"created"`
}

// load reads the entries of a file; none if there is none.
func load(path string) ([]entry, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file stored
	if err == nil {
		switch {
		case len(text) > maxStore:
			err = errors.New("it is too large")
		default:
			err = json.Unmarshal(text, &file)
		}
	}
	if err == nil && file.Version != storeVersion {
		err = fmt.Errorf("it has version %d, and this program knows %d", file.Version, storeVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the attached relays: %s: %w; remove it and attach them again", path, err)
	}
	var list []entry
	for _, e := range file.Relays {
		// What this program would not attach it does not connect to either.
		if !e.Discover {
			if e.URL, err = checkURL(e.URL, e.Insecure); err != nil {
				return nil, fmt.Errorf("reading the attached relays: %s: %w", path, err)
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// save writes the entries to a file, at once: after a crash there is the old file or the
// new one.
func save(path string, list []entry) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(stored{Version: storeVersion, Relays: list}, "", "  ")
	if err != nil {
		return fmt.Errorf("storing the attached relays: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".relays-*")
	if err != nil {
		return fmt.Errorf("storing the attached relays: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // it is of no use
		return fmt.Errorf("storing the attached relays: %w", err)
	}
	return nil
}
