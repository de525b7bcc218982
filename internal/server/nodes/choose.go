package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// Choose returns the node for a new session: the one with a name or id, or the least
// loaded of those that have all labels.
func (n *Nodes) Choose(_ context.Context, name string, labels map[string]string) (id, display string, err error) {
	runs := n.runs()
	n.mu.Lock()
	defer n.mu.Unlock()
	if name != "" && name != api.AnyNode {
		e := n.find(name)
		if e == nil {
			return "", "", noNode(name)
		}
		if problem := e.unfit(labels, runs[e.id]); problem != nil {
			return "", "", problem
		}
		return e.id, e.name, nil
	}
	var best *entry
	var problems []*api.Error
	for _, e := range slices.SortedFunc(maps.Values(n.entries), func(a, b *entry) int { return strings.Compare(a.name, b.name) }) {
		if problem := e.unfit(labels, runs[e.id]); problem != nil {
			problems = append(problems, problem)
			continue
		}
		if best == nil || e.burden(runs[e.id]) < best.burden(runs[best.id]) {
			best = e
		}
	}
	if best != nil {
		return best.id, best.name, nil
	}
	return "", "", none(problems)
}

// burden says how much a node has to do: what its system says, and the sessions that it
// has been given since. mu is held.
func (e *entry) burden(runs int) float64 {
	return e.facts.Load + float64(runs)/float64(max(e.facts.CPUs, 1))
}

// unfit says why a node cannot take a new session, or nil. mu is held.
func (e *entry) unfit(labels map[string]string, runs int) *api.Error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, found := e.labels[key]; !found || value != labels[key] {
			return &api.Error{
				Status: http.StatusNotFound, Code: api.CodeNotFound, Title: fmt.Sprintf("The machine %q does not have the label %s=%s", e.name, key, labels[key]),
				Hint: "See the labels of all machines: switchboard node ls",
			}
		}
	}
	conflict := func(title, hint string) *api.Error {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: title, Hint: hint}
	}
	switch {
	case e.revoked:
		return conflict(fmt.Sprintf("The machine %q was revoked", e.name), "Choose another: switchboard node ls")
	case e.draining:
		return conflict(fmt.Sprintf("The machine %q takes no new sessions", e.name), "Choose another, or have it take sessions again: switchboard node undrain "+e.name)
	case e.conn == nil:
		return &api.Error{
			Status: http.StatusServiceUnavailable, Code: api.CodeOffline, Title: fmt.Sprintf("The machine %q is not connected", e.name),
			Hint: "Start switchboard node run there, or choose another machine: switchboard node ls",
		}
	case e.max > 0 && runs >= e.max:
		return conflict(fmt.Sprintf("The machine %q has as many sessions as it may: %d", e.name, e.max), "Stop one of them, or choose another machine: switchboard node ls")
	}
	return nil
}

// none says why no node can take a new session: the reason that is closest to one that
// could.
func none(problems []*api.Error) *api.Error {
	rank := func(e *api.Error) int {
		return slices.Index([]int{http.StatusConflict, http.StatusServiceUnavailable}, e.Status)
	}
	if len(problems) == 0 {
		return &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "This hub has no other machines",
			Hint: "Invite one: switchboard node invite",
		}
	}
	best := slices.MaxFunc(problems, func(a, b *api.Error) int { return cmp.Compare(rank(a), rank(b)) })
	if len(problems) == 1 {
		return best
	}
	out := &api.Error{Status: best.Status, Code: best.Code, Title: "No machine can take the session", Hint: "See why: switchboard node ls"}
	var reasons []string
	for _, p := range problems[:min(len(problems), 8)] {
		reasons = append(reasons, p.Title)
	}
	out.Detail = strings.Join(reasons, ". ") + "."
	return out
}
