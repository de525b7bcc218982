package hub_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// nodes are the other machines of a lab.
type nodes struct {
	mu      sync.Mutex
	all     []*node
	changed chan struct{}
	chosen  []string // what Choose was asked for
}

// A node is a machine of a test, with a disk that has links on it. It can be cut off.
type node struct {
	*launcher
	id, name string
	machine  hub.Machine
	nodes    *nodes
	library  report.Library

	// Guarded by nodes.mu.
	links    map[string]string // on its disk: where paths lead
	away     bool              // it is not connected
	vague    bool              // it does not say whether a process lives
	lose     bool              // the answer of the next start is lost
	drop     bool              // the next start is lost on its way there
	registry map[string]*hub.Launched
	asked    []string       // paths that it was asked about
	lives    map[string]int // how often it was asked whether the process of a session lives
	refused  int            // how often it was to do something while it was away
	// slow is called before paths are followed, if it is not nil.
	slow func(context.Context) error
	// started is called when a process runs and Start has not returned, if it is not nil;
	// its error is Start's.
	started func(context.Context) error
	noticed chan struct{}
}

// newNodes returns machines with these names. Their ids are the names with n- in front.
func newNodes(names ...string) *nodes {
	ns := &nodes{changed: make(chan struct{})}
	for _, name := range names {
		n := &node{
			id: "n-" + name, name: name, nodes: ns, links: map[string]string{}, registry: map[string]*hub.Launched{}, noticed: make(chan struct{}), lives: map[string]int{},
			machine: hub.Machine{Name: name, Home: "/home/agent", Own: []string{"/home/agent/.switchboard-node"}},
		}
		n.launcher = &launcher{shims: map[string]*shim{}, node: n.id, pid: 1000 * (len(ns.all) + 1)}
		ns.all = append(ns.all, n)
	}
	return ns
}

// nodesLab is a lab with rules and a machine gpu-1 beside the hub's own.
func nodesLab(t *testing.T, text string, change ...func(*hub.Options)) (*lab, *node, *rules) {
	t.Helper()
	ns, r := newNodes("gpu-1", "gpu-2"), newRules(t, text)
	l := newLab(t, append(change, func(o *hub.Options) { o.Rules, o.Nodes = r, ns })...)
	return l, ns.all[0], r
}

func (ns *nodes) byID(id string) *node {
	i := slices.IndexFunc(ns.all, func(n *node) bool { return n.id == id })
	if i < 0 {
		return nil
	}
	return ns.all[i]
}

func (ns *nodes) Launcher(id string) hub.Launcher {
	if n := ns.byID(id); n != nil {
		return n
	}
	return &node{launcher: &launcher{}, name: id, nodes: ns, away: true, noticed: make(chan struct{}), lives: map[string]int{}}
}

func (ns *nodes) Choose(_ context.Context, name string, labels map[string]string) (id, display string, err error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.chosen = append(ns.chosen, fmt.Sprint(name, " ", labels))
	for _, n := range ns.all {
		if name == "any" || name == n.name || name == n.id {
			if n.away {
				return "", "", api.Errorf(http.StatusServiceUnavailable, api.CodeOffline, "the machine %q is not connected", n.name)
			}
			return n.id, n.name, nil
		}
	}
	return "", "", api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no machine %q", name)
}

func (ns *nodes) Machine(id string) (hub.Machine, bool) {
	if n := ns.byID(id); n != nil {
		return n.machine, true
	}
	return hub.Machine{}, false
}

func (ns *nodes) Changed() <-chan struct{} {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.changed
}

// set changes a node, and tells of that.
func (n *node) set(change func(*node)) {
	n.nodes.mu.Lock()
	defer n.nodes.mu.Unlock()
	change(n)
	close(n.nodes.changed)
	n.nodes.changed = make(chan struct{})
}

// leave takes the node's control connection away, back brings it back. Links stay as they are.
func (n *node) leave() { n.set(func(n *node) { n.away = true }) }
func (n *node) back()  { n.set(func(n *node) { n.away = false }) }

// vanish takes the node away together with its links.
func (n *node) vanish() {
	n.leave()
	n.listen(false)
	n.cutAll()
}

// there says what a call to the node comes to before it arrives.
func (n *node) there() error {
	n.nodes.mu.Lock()
	defer n.nodes.mu.Unlock()
	if n.away {
		n.refused++
		n.note()
		return &hub.UnreachableError{Node: n.name}
	}
	return nil
}

func (n *node) Start(ctx context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	if err := n.there(); err != nil {
		return nil, err
	}
	n.nodes.mu.Lock()
	key := fmt.Sprint(spec.Session, " ", spec.Run)
	started, lose, drop := n.registry[key], n.lose, n.drop
	n.lose, n.drop = false, false
	n.nodes.mu.Unlock()
	if drop {
		return nil, &hub.UnreachableError{Node: n.name}
	}
	if started == nil {
		var err error
		if started, err = n.launcher.Start(ctx, spec); err != nil {
			return nil, err
		}
		n.nodes.mu.Lock()
		n.registry[key] = started
		hook := n.started
		n.nodes.mu.Unlock()
		if hook != nil {
			return nil, hook(ctx)
		}
	}
	if lose {
		return nil, &hub.UnreachableError{Node: n.name}
	}
	return started, nil
}

func (n *node) Life(ctx context.Context, p hub.Process) hub.Life {
	n.nodes.mu.Lock()
	n.lives[p.Session]++
	n.note()
	started, away, vague := n.registry[fmt.Sprint(p.Session, " ", p.Run)], n.away, n.vague
	n.nodes.mu.Unlock()
	switch {
	case away || vague:
		return hub.LifeUnknown
	case p.PID == 0 && started == nil:
		return hub.LifeDead
	case p.PID == 0:
		p.PID = started.PID
	}
	return n.launcher.Life(ctx, p)
}

// note wakes what waits for the node to be asked something. nodes.mu is held.
func (n *node) note() {
	close(n.noticed)
	n.noticed = make(chan struct{})
}

// until waits until the node was asked so much that ready says so.
func (n *node) until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		n.nodes.mu.Lock()
		ok, noticed := ready(), n.noticed
		n.nodes.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-noticed:
		case <-ctx.Done():
			t.Fatalf("waiting until %s", what)
		}
	}
}

// looked waits until the node was asked for a while what became of a process.
func (n *node) looked(t *testing.T) {
	t.Helper()
	all := func() (sum int) {
		for _, times := range n.lives {
			sum += times
		}
		return sum
	}
	n.nodes.mu.Lock()
	from := all()
	n.nodes.mu.Unlock()
	n.until(t, "the hub has looked after a process several times", func() bool { return all() >= from+4 })
}

func (n *node) Sweep(ctx context.Context, marker string) (int, error) {
	if err := n.there(); err != nil {
		return 0, err
	}
	return n.launcher.Sweep(ctx, marker)
}

func (n *node) History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	if err := n.there(); err != nil {
		return nil, err
	}
	return n.launcher.History(ctx, configDir, dir, conversation)
}

func (n *node) Plan(ctx context.Context, q hub.PlanQuery) (*hub.PlanFile, error) {
	if err := n.there(); err != nil {
		return nil, err
	}
	return n.launcher.Plan(ctx, q)
}

func (n *node) Resolve(ctx context.Context, paths []string) ([]hub.Resolved, error) {
	if err := n.there(); err != nil {
		return nil, err
	}
	n.nodes.mu.Lock()
	slow := n.slow
	n.nodes.mu.Unlock()
	if slow != nil {
		if err := slow(ctx); err != nil {
			return nil, &hub.UnreachableError{Node: n.name, Err: err}
		}
	}
	n.nodes.mu.Lock()
	defer n.nodes.mu.Unlock()
	n.asked = append(n.asked, paths...)
	n.note()
	list := make([]hub.Resolved, len(paths))
	for i, path := range paths {
		list[i].Path = n.leads(path)
	}
	return list, nil
}

// leads follows the links on the node's disk. nodes.mu is held.
func (n *node) leads(path string) string {
	for range 10 {
		from := ""
		for link := range maps.Keys(n.links) {
			if path == link || strings.HasPrefix(path, link+"/") {
				from = link
			}
		}
		if from == "" {
			break
		}
		path = n.links[from] + strings.TrimPrefix(path, from)
	}
	return path
}

// starts returns how often a process was started on the node.
func (n *node) starts() int {
	n.launcher.mu.Lock()
	defer n.launcher.mu.Unlock()
	return len(n.specs)
}
