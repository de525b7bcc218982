package nodes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// How long answers are waited for, beside the caller's own patience.
const (
	lifeTime    = 5 * time.Second
	resolveTime = 5 * time.Second
)

// A launcher is the launcher of a node.
type launcher struct {
	nodes *Nodes
	id    string
}

var _ hub.Launcher = launcher{}

// Launcher returns the launcher of a node, by its id.
func (n *Nodes) Launcher(id string) hub.Launcher { return launcher{n, id} }

// now returns the connection of the node, nil if there is none, and a channel that is
// closed at the next change. display is the name for people.
func (l launcher) now() (c *conn, changed <-chan struct{}, display string) {
	n := l.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	display = l.id
	if e := n.entries[l.id]; e != nil {
		c, display = e.conn, e.name
	}
	return c, n.changed.Changed(), display
}

// call asks the node once.
func (l launcher) call(ctx context.Context, method string, body, out any) error {
	c, _, display := l.now()
	if c == nil {
		return &hub.UnreachableError{Node: display}
	}
	return reached(display, c.call(ctx, method, body, out))
}

// reached returns the error of a call in the words of the hub.
func reached(display string, err error) error {
	var lost *lostError
	var failed *node.Failure
	switch {
	case errors.As(err, &lost):
		return &hub.UnreachableError{Node: display, Err: err}
	case errors.As(err, &failed) && failed.Code == node.NotExist:
		return fmt.Errorf("%w: %w", failed, fs.ErrNotExist)
	}
	return err
}

// Start has the node start a run. It is asked again over every new connection until there
// is an answer: the node starts the same run once.
func (l launcher) Start(ctx context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	ctx, cancel := context.WithTimeout(ctx, l.nodes.times.start)
	defer cancel()
	body := node.Start(spec)
	asked := false
	for {
		c, changed, display := l.now()
		if c == nil {
			if !asked {
				return nil, &hub.UnreachableError{Node: display}
			}
			select {
			case <-changed:
				continue
			case <-l.nodes.ctx.Done():
				return nil, &hub.UnreachableError{Node: display, Err: errUnanswered}
			case <-ctx.Done():
				return nil, &hub.UnreachableError{Node: display, Err: errUnanswered}
			}
		}
		asked = true
		var launched node.Launched
		err := c.call(ctx, node.MethodStart, &body, &launched)
		var lost *lostError
		var failed *node.Failure
		switch {
		case err == nil:
			out := hub.Launched(launched)
			return &out, nil
		case errors.As(err, &lost):
			continue
		case errors.As(err, &failed):
			return nil, failed.StartProblem()
		case errors.Is(err, node.ErrTooLong):
			return nil, &api.Error{
				Status: http.StatusRequestEntityTooLarge, Code: api.CodeTooLarge, Title: "The session's options are too large for another machine",
				Detail: fmt.Sprintf("The maximum is %d KiB.", node.MaxMessage>>10), Hint: "Put long texts into files on that machine.",
			}
		case ctx.Err() != nil:
			return nil, &hub.UnreachableError{Node: display, Err: errUnanswered}
		default:
			return nil, err
		}
	}
}

// errUnanswered is why a start may or may not have happened.
var errUnanswered = errors.New("it did not answer in time, so it is not known whether the agent was started")

// Life asks the node what became of a process.
func (l launcher) Life(ctx context.Context, p hub.Process) hub.Life {
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	var answer node.LifeAnswer
	switch err := l.call(ctx, node.MethodLife, node.Process(p), &answer); {
	case err != nil:
		return hub.LifeUnknown
	case answer.Alive:
		return hub.LifeAlive
	}
	return hub.LifeDead
}

// Sweep has the node end what carries a marker.
func (l launcher) Sweep(ctx context.Context, marker string) (int, error) {
	var answer node.Swept
	err := l.call(ctx, node.MethodSweep, node.Sweep{Marker: marker}, &answer)
	return max(answer.Processes, 0), err
}

// History returns the lines of a conversation on the node.
func (l launcher) History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	return l.lines(ctx, node.MethodHistory, node.History{ConfigDir: configDir, Dir: dir, Conversation: conversation})
}

// Plan returns the plan of an agent on the node.
func (l launcher) Plan(ctx context.Context, q hub.PlanQuery) (*hub.PlanFile, error) {
	c, _, display := l.now()
	if c == nil {
		return nil, &hub.UnreachableError{Node: display}
	}
	if !q.Since.IsZero() {
		q.Since = q.Since.Add(c.skew()) // files there bear times of that clock
	}
	var found node.PlanFile
	if err := reached(display, c.call(ctx, node.MethodPlan, node.PlanQuery(q), &found)); err != nil {
		return nil, err
	}
	out := hub.PlanFile(found)
	return &out, nil
}

// Resolve follows the links in paths as the node does.
func (l launcher) Resolve(ctx context.Context, paths []string) ([]hub.Resolved, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	list := make([]hub.Resolved, 0, len(paths))
	for len(paths) > 0 {
		part := paths[:min(len(paths), node.MaxPaths)]
		paths = paths[len(part):]
		var answer node.Resolutions
		if err := l.call(ctx, node.MethodResolve, node.Paths{Paths: part}, &answer); err != nil {
			return nil, err
		}
		if len(answer.Resolved) != len(part) {
			return nil, errors.New("following links on a node: it has answered about another number of paths")
		}
		for _, r := range answer.Resolved {
			list = append(list, hub.Resolved(r))
		}
	}
	return list, nil
}
