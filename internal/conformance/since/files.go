package since

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A State is what was found so far. It is kept in a file between versions, so that a search can be interrupted.
type State struct {
	Tried Tried
	// Fetched are versions that were installed to be tried, and are to be removed.
	Fetched []string

	path string
}

// stateFile is how a state is stored.
type stateFile struct {
	Tried   map[string]Findings `json:"tried"`
	Fetched []string            `json:"fetched,omitempty"`
}

// Load reads a state; a file that does not exist is an empty one.
func Load(path string) (*State, error) {
	s := &State{Tried: Tried{}, path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var stored stateFile
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was found so far: %w", err)
	}
	for name, findings := range stored.Tried {
		v, err := wire.ParseVersion(name)
		if err != nil {
			return nil, fmt.Errorf("reading what was found so far: %w", err)
		}
		s.Tried[v] = findings
	}
	s.Fetched = stored.Fetched
	return s, nil
}

// Save writes the state; a crash leaves the old one or the new one.
func (s *State) Save() error {
	stored := stateFile{Tried: map[string]Findings{}, Fetched: s.Fetched}
	for v, findings := range s.Tried {
		stored.Tried[v.String()] = findings
	}
	data, err := json.MarshalIndent(stored, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(s.path+".new", append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(s.path+".new", s.path)
	}
	if err != nil {
		return fmt.Errorf("keeping what was found: %w", err)
	}
	return nil
}

// tableHeader explains the table to its readers.
const tableHeader = `# Which versions of Claude Code have what, found by "make since": the last version without it, the first with it, the last with it, the first
# after that, and how it was tried (internal/conformance/since). A dash stands for none. If two versions are not neighbors in the npm registry,
# those between them were not tried.
`

// Table returns the table that package wire is generated from.
func Table(oldest, newest wire.Version, rows []Row) []byte {
	var b bytes.Buffer
	b.WriteString(tableHeader)
	fmt.Fprintf(&b, "tried\t%s\t%s\n", oldest, newest)
	for _, r := range rows {
		fields := []string{string(r.Kind), r.Name}
		for _, v := range []wire.Version{r.Without, r.Since, r.Until, r.Gone} {
			text := "-"
			if !v.IsZero() {
				text = v.String()
			}
			fields = append(fields, text)
		}
		fmt.Fprintln(&b, strings.Join(append(fields, string(r.Way)), "\t"))
	}
	return b.Bytes()
}
