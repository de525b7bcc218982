package nodes

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// Options say which hub the nodes are of. File, Hub and Guard are required.
type Options struct {
	// File is the path of the file that holds the nodes.
	File string
	// Hub is the hub's id.
	Hub string
	// Guard tells strangers from clients that are known.
	Guard *access.Guard
	// URL returns the hub's address for other machines. If nil, invitations have none.
	URL func() string
	// Pin returns the fingerprint of the hub's certificate, "" if it has none of its own,
	// and whether machines need it to trust the hub. If nil, there is none.
	Pin func() (pin string, needed bool)
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
}

// Nodes are the machines on which the hub's agents run, beside its own. Its methods are
// safe for concurrent use. It owns two goroutines for each connection of a node beside
// that of its request, which Close joins.
type Nodes struct {
	// Static after construction.
	file  string
	hubID string
	guard *access.Guard
	url   func() string
	pin   func() (string, bool)
	log   *slog.Logger
	times times
	decoy ed25519.PublicKey // of no node; nothing is signed with it

	ctx     context.Context //nolint:containedctx // the life of the door
	cancel  context.CancelCauseFunc
	serving sync.WaitGroup // requests of nodes

	// saving is held while the file is written. It is taken before mu.
	saving sync.Mutex

	// Guarded by mu.
	mu      sync.Mutex
	hub     Runs // nil until Use
	closed  bool
	entries map[string]*entry // by id
	invites []*invitation     // the oldest first
	changed broadcast.Broadcast
}

// times are how long things may take. Tests have less of it.
type times struct{ handshake, ping, dead, start time.Duration }

// Runs are the hub's runs; *[hub.Hub] has them.
type Runs interface {
	// NodeRuns counts the runs that have not ended, by the id of their node.
	NodeRuns() map[string]int
	// ForgetNode ends the runs of a node.
	ForgetNode(ctx context.Context, id string) (int, error)
}

var (
	_ hub.Nodes = (*Nodes)(nil)
	_ Runs      = (*hub.Hub)(nil)
)

// Open reads the nodes from their file. A file that is damaged or that others can read is
// an error that says what to do.
func Open(o Options) (*Nodes, error) {
	entries, err := load(o.File)
	if err != nil {
		return nil, err
	}
	decoy, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	n := &Nodes{decoy: decoy, file: o.File, hubID: o.Hub, guard: o.Guard, url: o.URL, pin: o.Pin, log: o.Logger, entries: map[string]*entry{}}
	n.times = times{handshake: node.HandshakeTime, ping: node.PingEvery, dead: node.DeadAfter, start: node.StartTime}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	if n.url == nil {
		n.url = func() string { return "" }
	}
	if n.pin == nil {
		n.pin = func() (string, bool) { return "", false }
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	for _, e := range entries {
		n.entries[e.id] = e
	}
	return n, nil
}

// Use tells which hub's runs are on the nodes. It is to be called once, before a node can
// connect; the hub itself needs the nodes first.
func (n *Nodes) Use(runs Runs) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hub = runs
}

// Close ends the control connections of all nodes and waits for them. Their agents go on.
// Nodes that come later are refused.
func (n *Nodes) Close() {
	n.mu.Lock()
	n.closed = true
	for _, e := range n.entries {
		if e.exits != nil {
			e.exits.Stop()
		}
	}
	n.mu.Unlock()
	n.cancel(errClosing)
	n.serving.Wait()
}

// runs counts the runs of each node.
func (n *Nodes) runs() map[string]int {
	n.mu.Lock()
	h := n.hub
	n.mu.Unlock()
	if h == nil {
		return nil
	}
	return h.NodeRuns() // not under mu: the hub asks for nodes, too
}

// find returns the node with a name or id; nil if there is none. mu is held.
func (n *Nodes) find(name string) *entry {
	if e := n.entries[name]; e != nil {
		return e
	}
	for _, e := range n.entries {
		if e.name == name {
			return e
		}
	}
	return nil
}

// noNode says that there is no such node.
func noNode(name string) *api.Error {
	return &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: fmt.Sprintf("There is no machine %q", name),
		Hint: "List them: switchboard node ls. Invite another: switchboard node invite",
	}
}

// state returns what a node can be used for. mu is held.
func (e *entry) state() api.NodeState {
	switch {
	case e.revoked:
		return api.NodeRevoked
	case e.conn == nil:
		return api.NodeOffline
	case e.draining:
		return api.NodeDraining
	}
	return api.NodeOnline
}

// public returns what clients are told about a node. mu is held.
func (e *entry) public(runs int) api.Node {
	f := &e.facts
	out := api.Node{
		ID: e.id, Name: e.name, Labels: maps.Clone(e.labels), State: e.state(), Draining: e.draining, Created: e.created, LastSeen: e.seen,
		Version: f.Version, OS: f.OS, Arch: f.Arch, Hostname: f.Hostname, CLIs: []api.NodeCLI{}, Sandbox: f.Sandbox,
		CPUs: f.CPUs, MemoryBytes: f.MemoryBytes, Sessions: runs, MaxSessions: e.max, Fingerprint: node.Fingerprint(e.key),
	}
	for _, cli := range f.CLIs {
		out.CLIs = append(out.CLIs, api.NodeCLI(cli))
	}
	if e.conn != nil {
		out.LastSeen = nowStored()
		out.Address, out.Load, out.MemoryFree = e.conn.address, f.Load, f.MemoryFree
		out.SkewMillis = e.conn.skew().Milliseconds()
	}
	return out
}

// nowStored returns the time, as exact as it is stored.
func nowStored() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// List returns all nodes, in the order of their names.
func (n *Nodes) List(context.Context) ([]api.Node, error) {
	runs := n.runs()
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []api.Node
	for _, e := range n.entries {
		list = append(list, e.public(runs[e.id]))
	}
	slices.SortFunc(list, func(a, b api.Node) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Get returns the node with a name or id.
func (n *Nodes) Get(_ context.Context, name string) (*api.Node, error) {
	runs := n.runs()
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.find(name)
	if e == nil {
		return nil, noNode(name)
	}
	out := e.public(runs[e.id])
	return &out, nil
}

// Count returns how many nodes are enrolled, by their states.
func (n *Nodes) Count() map[api.NodeState]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	counts := map[api.NodeState]int{}
	for _, e := range n.entries {
		counts[e.state()]++
	}
	return counts
}

// unwritten says that the file could not be written.
func unwritten(title string, err error) *api.Error {
	return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: title, Detail: err.Error(), Hint: "Free some disk space, and try again."}
}

// Drain says whether a node takes new sessions.
func (n *Nodes) Drain(ctx context.Context, name string, draining bool) (*api.Node, error) {
	n.saving.Lock()
	defer n.saving.Unlock()
	n.mu.Lock()
	e := n.find(name)
	if e == nil {
		n.mu.Unlock()
		return nil, noNode(name)
	}
	if e.revoked {
		n.mu.Unlock()
		return nil, &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: fmt.Sprintf("The machine %q was revoked", e.name),
			Hint: "It takes no sessions. Remove it: switchboard node forget " + e.name,
		}
	}
	before := e.draining
	e.draining = draining
	n.mu.Unlock()
	if err := n.save(); err != nil {
		n.mu.Lock()
		e.draining = before
		n.mu.Unlock()
		return nil, unwritten("Nothing was changed", err)
	}
	n.notify()
	return n.Get(ctx, e.id)
}

// Revoke takes a node's right to connect, and cuts its connections at once.
func (n *Nodes) Revoke(ctx context.Context, name string) (*api.Node, error) {
	n.saving.Lock()
	defer n.saving.Unlock()
	e, err := n.revoke(name)
	if err != nil {
		return nil, err
	}
	if err := n.save(); err != nil {
		return nil, unwritten("The machine is cut off, but could connect again after a restart of the hub", err)
	}
	return n.Get(ctx, e.id)
}

// revoke ends the right of a node. saving is held.
func (n *Nodes) revoke(name string) (*entry, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.find(name)
	if e == nil {
		return nil, noNode(name)
	}
	e.revoked, e.lost = true, ""
	e.end() // its connections follow
	return e, nil
}

// Forget revokes a node, ends its runs and removes it.
func (n *Nodes) Forget(ctx context.Context, name string) error {
	n.saving.Lock()
	defer n.saving.Unlock()
	e, err := n.revoke(name)
	if err != nil {
		return err
	}
	// It must not come back with its runs ended.
	if err := n.save(); err != nil {
		return unwritten("The machine is cut off, but could connect again after a restart of the hub", err)
	}
	n.mu.Lock()
	h := n.hub
	n.mu.Unlock()
	ended := 0
	if h != nil {
		if ended, err = h.ForgetNode(ctx, e.id); err != nil {
			return err
		}
	}
	n.mu.Lock()
	delete(n.entries, e.id)
	e.gone = true
	n.mu.Unlock()
	if err := n.save(); err != nil {
		n.mu.Lock()
		n.entries[e.id], e.gone = e, false
		n.mu.Unlock()
		return unwritten("The machine is cut off and its runs are ended, but it is still listed", err)
	}
	n.log.Info("a node was forgotten", "node", e.name, "runs", ended)
	n.notify()
	return nil
}

// notify wakes those that wait for a change.
func (n *Nodes) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed.Notify()
}

// Changed returns a channel that is closed when a node has connected, gone or been
// forgotten, and when one tells that a run has ended.
func (n *Nodes) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed.Changed()
}

// Machine returns what is known of a node, from its last connection.
func (n *Nodes) Machine(id string) (hub.Machine, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[id]
	if e == nil || !e.met {
		return hub.Machine{}, false
	}
	return hub.Machine{Name: e.name, Home: e.facts.Home, Own: slices.Clone(e.facts.Own), FoldCase: e.facts.FoldCase}, true
}
