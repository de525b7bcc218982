package nodes

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
)

const (
	// spoolTime bounds the taking in of one file.
	spoolTime = time.Minute
	// spoolPause and maxSpoolPause are after what time a file that was not taken in is
	// tried again.
	spoolPause    = 2 * time.Second
	maxSpoolPause = time.Minute
)

// spools wakes the goroutine that takes in what shims have left, if there is something.
// nodes.mu is held.
func (c *conn) spools() {
	if len(c.entry.facts.Spools) == 0 {
		return
	}
	select {
	case c.take <- struct{}{}:
	default: // it is awake
	}
}

// takeSpools takes in what shims on the node have left, until the connection ends.
func (c *conn) takeSpools() {
	pause := spoolPause
	for {
		select {
		case <-c.take:
		case <-c.ctx.Done():
			return
		}
		n := c.nodes
		n.mu.Lock()
		names := slices.Clone(c.entry.facts.Spools)
		h, _ := n.hub.(*hub.Hub)
		n.mu.Unlock()
		if h == nil {
			continue
		}
		failed := false
		for _, name := range names {
			if err := c.entry.takeSpool(c.ctx, n, h, name); err != nil && c.ctx.Err() == nil {
				failed = true
				if owned := (*hub.OwnedError)(nil); errors.As(err, &owned) {
					continue // as a rule the shim that wrote it is about to end
				}
				c.log.Warn("what an agent kept for the hub was not taken in; it is kept on its machine, and tried again", "file", name, "err", err)
			}
		}
		if !failed {
			pause = spoolPause
			continue // the node tells when there is more
		}
		select {
		case <-time.After(pause):
		case <-c.ctx.Done():
			return
		}
		pause = min(2*pause, maxSpoolPause)
	}
}

// Left takes in what a run has left on its node, at once. It is no error if that is
// nothing.
func (n *Nodes) Left(ctx context.Context, h *hub.Hub, id, session string, run int) error {
	n.mu.Lock()
	e := n.entries[id]
	n.mu.Unlock()
	if e == nil {
		return nil // it is forgotten, and will not tell
	}
	return e.takeSpool(ctx, n, h, link.SpoolName(session, run))
}

// takeSpool takes in one file, and has the node remove it.
func (e *entry) takeSpool(ctx context.Context, n *Nodes, h *hub.Hub, name string) error {
	select {
	case e.turn <- struct{}{}: // else two goroutines would give the hub the same lines
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, spoolTime)
	defer cancel()
	l := launcher{n, e.id}
	s, err := l.open(ctx, node.MethodSpool, node.Spool{Name: name})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // as a rule
	}
	if err != nil {
		return err
	}
	damaged, err := ingress.ReadSpool(ctx, h, e.id, s)
	s.close()
	if s.err != nil { // the file is not damaged: the rest of it did not arrive
		return s.err
	}
	if err != nil {
		return err
	}
	if err := l.call(ctx, node.MethodTaken, node.Taken{Name: name, Damaged: damaged}, nil); err != nil {
		return err
	}
	n.log.Info("what an agent kept for the hub is taken in", "node", e.name, "file", name)
	return nil
}
