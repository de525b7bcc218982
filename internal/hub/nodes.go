package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Nodes are the other machines on which a hub's agents run. Its methods are safe
// for concurrent use. A node is named by its id; "" is the hub's own machine, which
// is not among them.
type Nodes interface {
	// Launcher returns the launcher of a node. It is never nil: that of a node which
	// is not connected or not known says so.
	Launcher(node string) Launcher
	// Choose returns the node for a new session: the one with a name or an id, or
	// with the name "any" the least loaded of those that have all labels. With no
	// name, labels alone choose. Errors that callers can do something about are of
	// type *api.Error.
	Choose(ctx context.Context, name string, labels map[string]string) (id, display string, err error)
	// Machine returns what is known of a node: what it told when it was connected
	// last. It returns false if it was never connected, or is not known.
	Machine(node string) (Machine, bool)
	// Changed returns a channel that is closed when a node has connected, gone or
	// been forgotten.
	Changed() <-chan struct{}
}

// A Machine is what rules need to know of the machine that an agent runs on.
type Machine struct {
	// Name is what people call it.
	Name string
	// Home is the home folder of the user that agents run as there.
	Home string
	// Own are the folders there that no agent may touch.
	Own []string
	// FoldCase says that the machine's file system does not tell cases apart.
	FoldCase bool
}

// A place is the machine of a session: its id and its name, both "" for the hub's own.
type place struct{ id, name string }

// nodeAny is the name that leaves the choice of a node to the hub.
const nodeAny = "any"

// placeFor returns the machine for a new session.
func (h *Hub) placeFor(ctx context.Context, in api.CreateSession, spec runSpec) (place, error) {
	if at := spec.place; at != nil {
		// The machine of the session that it is a fork of, if that takes new ones.
		in.Node, in.NodeLabels = at.id, nil
	}
	switch {
	case in.Node == "" && len(in.NodeLabels) == 0:
		return place{}, nil
	case h.options.Nodes == nil:
		return place{}, &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "this hub has no other machines",
			Hint: "invite one with switchboard node invite, or leave out node and node_labels",
		}
	}
	id, name, err := h.options.Nodes.Choose(ctx, cmp.Or(in.Node, nodeAny), in.NodeLabels)
	if err != nil {
		return place{}, h.problem(err, "")
	}
	return place{id, name}, nil
}

// nodeName returns what people call a node; its id if that is not known.
func (h *Hub) nodeName(node string) string {
	if h.options.Nodes != nil {
		if m, known := h.options.Nodes.Machine(node); known && m.Name != "" {
			return m.Name
		}
	}
	return node
}

// maxFinds bounds how many sessions' nodes are asked at the same time what became of a
// process.
const maxFinds = 32

// launcherOf returns the launcher of a machine; nil if the hub's own has none.
func (h *Hub) launcherOf(node string) Launcher {
	switch {
	case node == "":
		return h.launcher
	case h.options.Nodes == nil:
		return noNode{node}
	}
	return h.options.Nodes.Launcher(node)
}

// noteRun notes where a session's run is; on the hub's own machine, or nowhere, if node
// is "".
func (h *Hub) noteRun(session, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if node == "" {
		delete(h.places, session)
		return
	}
	h.places[session] = node
}

// find has a task find out what became of a session's process on another machine, which
// may take long to answer: neither this session nor others wait for it.
func (h *Hub) find(s *session, run *journal.Run) {
	h.mu.Lock()
	_, busy := h.finds[s.id]
	h.finds[s.id] = busy // once more when this one is over: what it hears may be older than what is known now
	if !busy {
		s.users++
	}
	h.mu.Unlock()
	if busy {
		return
	}
	release := h.releaser(s)
	h.tasks.Go(func() {
		defer release()
		defer func() {
			h.mu.Lock()
			again := h.finds[s.id]
			delete(h.finds, s.id)
			h.mu.Unlock()
			if again {
				h.lookSoon(s.id)
			}
		}()
		select {
		case h.finding <- struct{}{}:
		case <-h.ctx.Done():
			return
		}
		defer func() { <-h.finding }()
		h.reapRun(s, run)
	})
}

// ProcessEnded has a session looked after at once: its node has told that the process of
// its run ended. What another node says about it does not count.
func (h *Hub) ProcessEnded(node, session string) {
	h.mu.Lock()
	theirs := node != "" && h.places[session] == node
	h.mu.Unlock()
	if theirs {
		h.checkSoon(session)
	}
}

// NodeRuns counts the runs that have not ended, by the id of their node.
func (h *Hub) NodeRuns() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	runs := map[string]int{}
	for _, node := range h.places {
		runs[node]++
	}
	return runs
}

// ForgetNode ends all runs of a node that have not ended: it is not known what became
// of them, and it will not be. It returns how many they were. The node's links must be
// refused from now on; those that there are are closed.
func (h *Hub) ForgetNode(ctx context.Context, id string) (runs int, err error) {
	if id == "" {
		return 0, errors.New("forgetting a machine: it has no id")
	}
	live, err := h.journal.LiveRuns(ctx)
	if err != nil {
		return 0, h.problem(fmt.Errorf("finding the runs of a machine: %w", err), "")
	}
	h.elsewhere.forget(id)
	var errs []error
	for i := range live {
		if live[i].Node != id {
			continue
		}
		ended, err := h.abandonRun(ctx, &live[i])
		if ended {
			runs++
		}
		errs = append(errs, err)
	}
	return runs, errors.Join(errs...)
}

// abandonRun ends a run on a machine that was forgotten.
func (h *Hub) abandonRun(ctx context.Context, run *journal.Run) (ended bool, err error) {
	s, release, err := h.acquire(ctx, run.Session)
	if err != nil {
		return false, err
	}
	defer release()
	err = s.do(ctx, patient, func(st *step) error {
		p := s.projection
		if p.Run != run.Run || p.Ended != nil {
			return nil
		}
		reason := fmt.Sprintf("the machine %q was forgotten", p.NodeName)
		if s.link != nil {
			s.link.replace(reason)
		}
		st.endRun(api.Ended{Reason: reason}, false)
		ended = true
		return nil
	})
	return ended, h.problem(err, run.Session)
}

// A noNode is the launcher of a node that this hub does not have, by its name.
type noNode struct{ name string }

func (n noNode) unreachable() error { return &UnreachableError{Node: n.name} }

// Start implements [Launcher].
func (n noNode) Start(context.Context, LaunchSpec) (*Launched, error) { return nil, n.unreachable() }

// Life implements [Launcher].
func (n noNode) Life(context.Context, Process) Life { return LifeUnknown }

// Sweep implements [Launcher].
func (n noNode) Sweep(context.Context, string) (int, error) { return 0, n.unreachable() }

// History implements [Launcher].
func (n noNode) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, n.unreachable()
}

// Plan implements [Launcher].
func (n noNode) Plan(context.Context, PlanQuery) (*PlanFile, error) { return nil, n.unreachable() }

// Resolve implements [Launcher].
func (n noNode) Resolve(context.Context, []string) ([]Resolved, error) { return nil, n.unreachable() }
