package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// CacheDir returns a folder beside those of the CLIs in the user's cache folder, whether or not it exists.
func CacheDir(name string) (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// Published asks the npm registry which versions of the CLI there are, from the oldest to the newest pinned one, oldest first.
func Published(ctx context.Context) ([]wire.Version, error) {
	cmd := exec.CommandContext(ctx, "npm", "view", npmPackage, "versions", "--json")
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking npm for the versions: %w", err)
	}
	all, err := parsePublished(output)
	if err != nil {
		return nil, fmt.Errorf("asking npm for the versions: %w", err)
	}
	return all, nil
}

// parsePublished reads the list that npm prints. Versions with a suffix are left out.
func parsePublished(list []byte) ([]wire.Version, error) {
	var names []string
	if err := json.Unmarshal(list, &names); err != nil {
		return nil, err
	}
	var ends [2]wire.Version
	for i, name := range []string{Oldest, Newest} {
		v, err := wire.ParseVersion(name)
		if err != nil {
			return nil, err
		}
		ends[i] = v
	}
	var all []wire.Version
	for _, name := range names {
		if v, err := wire.ParseVersion(name); err == nil && v.String() == name && v.Compare(ends[0]) >= 0 && v.Compare(ends[1]) <= 0 {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, wire.Version.Compare)
	return all, nil
}
