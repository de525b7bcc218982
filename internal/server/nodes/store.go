package nodes

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// File is the name of the file in the data folder that holds the nodes.
const File = "nodes.json"

const (
	// storeVersion is the form of the file that we write, maxStore its size at most.
	storeVersion = 1
	maxStore     = 16 << 20
	// maxNodes is how many nodes there may be.
	maxNodes = 1024
)

// An entry is a node in the store.
type entry struct {
	// Static after construction.
	id, name string
	labels   map[string]string
	key      ed25519.PublicKey
	created  time.Time
	max      int             // how many sessions it may have; 0 for no limit
	ended    context.Context //nolint:containedctx // the node's own right to connect
	end      context.CancelFunc

	turn chan struct{} // has room for one goroutine, which takes in what shims have left

	// Guarded by Nodes.mu.
	draining bool
	revoked  bool
	gone     bool // it was forgotten
	seen     time.Time
	met      bool // facts is what it told last
	facts    node.Facts
	conn     *conn // nil if it is not connected
	lost     string
	lostAt   time.Time // when the connection with the ticket lost was lost
	exits    *time.Timer
}

func newEntry(id, name string, labels map[string]string, key ed25519.PublicKey, created time.Time, limit int) *entry {
	e := &entry{id: id, name: name, labels: labels, key: key, created: created, max: limit, turn: make(chan struct{}, 1)}
	e.ended, e.end = context.WithCancel(context.Background())
	return e
}

// A stored is the file.
type stored struct {
	Version int          `json:"version"`
	Nodes   []storedNode `json:"nodes"`
}

// A storedNode is a node in the file. It holds no secret: the key is the public one.
type storedNode struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Key         string            `json:"key"`
	Created     time.Time         `json:"created"`
	MaxSessions int               `json:"max_sessions,omitempty"`
	Draining    bool              `json:"draining,omitempty"`
	Revoked     bool              `json:"revoked,omitempty"`
	Seen        time.Time         `json:"seen,omitzero"`
	Facts       *node.Facts       `json:"facts,omitempty"`
}

// load reads the nodes of a file; none if there is none.
func load(path string) ([]*entry, error) {
	const remedy = "restore it from a backup, or remove it: then every node has to be invited again"
	text, err := access.ReadPrivate(path, maxStore+1, remedy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the list of nodes: %w", err)
	}
	entries, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the list of nodes: %s is damaged: %w; %s", path, err, remedy)
	}
	return entries, nil
}

// parse reads the text of the file.
func parse(text []byte) ([]*entry, error) {
	if len(text) > maxStore {
		return nil, errors.New("it is too large")
	}
	var file stored
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&file); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	if file.Version != storeVersion {
		return nil, fmt.Errorf("it has version %d, and this program knows %d", file.Version, storeVersion)
	}
	var entries []*entry
	seen := map[string]bool{}
	for i := range file.Nodes {
		s := &file.Nodes[i]
		key, err := node.ParseKey(s.Key)
		switch {
		case err != nil:
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		case !node.IsID(s.ID) || s.MaxSessions < 0:
			return nil, fmt.Errorf("node %d: its id or its limit is none", i+1)
		case node.CheckName(s.Name) != nil:
			return nil, fmt.Errorf("node %d: %w", i+1, node.CheckName(s.Name))
		case seen[s.ID] || seen[s.Name]:
			return nil, fmt.Errorf("node %d: there are two with its id or name", i+1)
		}
		seen[s.ID], seen[s.Name] = true, true
		e := newEntry(s.ID, s.Name, s.Labels, key, s.Created, s.MaxSessions)
		e.draining, e.revoked, e.seen = s.Draining, s.Revoked, s.Seen
		if s.Facts != nil {
			e.facts, e.met = *s.Facts, true
		}
		if e.revoked {
			e.end()
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// save writes the file. saving is held.
func (n *Nodes) save() error {
	n.mu.Lock()
	file := stored{Version: storeVersion, Nodes: []storedNode{}}
	for _, e := range n.entries {
		s := storedNode{
			ID: e.id, Name: e.name, Labels: e.labels, Key: node.KeyText(e.key), Created: e.created, MaxSessions: e.max,
			Draining: e.draining, Revoked: e.revoked, Seen: e.seen,
		}
		if e.met {
			facts := e.facts
			facts.Load, facts.MemoryFree, facts.Runs, facts.Spools = 0, 0, 0, nil // they are of that moment
			s.Facts = &facts
		}
		file.Nodes = append(file.Nodes, s)
	}
	n.mu.Unlock()
	slices.SortFunc(file.Nodes, func(a, b storedNode) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the list of nodes: %w", err)
	}
	if err := access.ReplacePrivate(n.file, append(text, '\n')); err != nil {
		return fmt.Errorf("writing the list of nodes: %w", err)
	}
	return nil
}

// saveSeen writes down when a node was seen and what it told. That it could not be
// written is no reason to keep the node out.
func (n *Nodes) saveSeen() {
	n.saving.Lock()
	defer n.saving.Unlock()
	if err := n.save(); err != nil {
		n.log.Warn("what is known of nodes was not written", "err", err)
	}
}
