package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// sweepGrace is how long processes have to end after SIGTERM.
	sweepGrace = 2 * time.Second
	// sweepPoll is how often it is looked whether they have.
	sweepPoll = 20 * time.Millisecond
	// sweepRounds bounds the hunt for processes that start others while they
	// are being ended.
	sweepRounds = 10
)

// A procID is a process: its number alone may be given to another one as soon
// as it has ended.
type procID struct {
	pid   int
	start string // when it was started, in the system's own form
}

// A procInfo is a process and its parent.
type procInfo struct {
	procID
	parent int
}

// Sweep ends every process that carries a marker in its environment, and what
// descends from it: SIGTERM, at most 2 s, SIGKILL. The process that calls it
// is spared. It returns how many processes have ended because of it.
//
// It is meant for runs whose owner is dead, see [Process.Marker];
// [Process.Close] sweeps by itself. When ctx ends, what is left is killed
// without waiting any longer.
//
// Only on Linux can the environment of another process be read. Elsewhere
// Sweep does nothing and returns an error that is [errors.ErrUnsupported].
func Sweep(ctx context.Context, marker string) (killed int, err error) {
	if err := checkMarker(marker); err != nil {
		return 0, err
	}
	killed, err = endProcesses(ctx, func(ctx context.Context) ([]procID, error) { return marked(ctx, marker) })
	if err != nil {
		return killed, fmt.Errorf("sweeping %s: %w", marker, err)
	}
	return killed, nil
}

// endProcesses ends the processes that find returns until it returns none.
func endProcesses(ctx context.Context, find func(context.Context) ([]procID, error)) (killed int, err error) {
	for round := range sweepRounds {
		targets, err := find(context.WithoutCancel(ctx))
		if err != nil || len(targets) == 0 {
			return killed, err
		}
		// Those that were born meanwhile had their warning.
		force := round > 0 || ctx.Err() != nil
		for _, id := range targets {
			sendSignal(id, force)
		}
		left := await(ctx, targets)
		for _, id := range left {
			sendSignal(id, true)
		}
		left = await(context.WithoutCancel(ctx), left)
		killed += len(targets) - len(left)
		if len(left) > 0 {
			return killed, fmt.Errorf("process %d did not end within %s of SIGKILL", left[0].pid, sweepGrace)
		}
	}
	return killed, errors.New("new processes kept appearing")
}

// await waits until the processes have ended and returns those that have not
// when the time is up or ctx ends.
func await(ctx context.Context, ids []procID) []procID {
	deadline := time.NewTimer(sweepGrace)
	defer deadline.Stop()
	poll := time.NewTicker(sweepPoll)
	defer poll.Stop()
	left := running(ids)
	for len(left) > 0 {
		select {
		case <-poll.C:
			left = running(left)
		case <-deadline.C:
			return left
		case <-ctx.Done():
			return left
		}
	}
	return nil
}

// descendants returns the processes of a table that descend from one of the
// roots, without the roots themselves.
func descendants(table []procInfo, roots ...int) []procID {
	children := make(map[int][]procInfo)
	for _, info := range table {
		children[info.parent] = append(children[info.parent], info)
	}
	seen := make(map[int]bool)
	for _, root := range roots {
		seen[root] = true
	}
	var found []procID
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		for _, child := range children[queue[0]] {
			if !seen[child.pid] {
				seen[child.pid] = true
				found = append(found, child.procID)
				queue = append(queue, child.pid)
			}
		}
	}
	return found
}

// A family is what has been seen to descend from a process.
type family struct {
	root    int
	members []procID
}

// update adds the processes that descend from the root, or from a member, right now.
func (f *family) update() {
	ctx, cancel := context.WithTimeout(context.Background(), sweepGrace)
	defer cancel()
	table, err := processes(ctx)
	if err != nil {
		return // the marker finds them where it can be read
	}
	roots := []int{f.root}
	for _, id := range f.alive() {
		roots = append(roots, id.pid)
	}
	for _, id := range descendants(table, roots...) {
		if !slices.Contains(f.members, id) {
			f.members = append(f.members, id)
		}
	}
}

// alive returns the members that still run.
func (f *family) alive() []procID {
	if len(f.members) == 0 {
		return nil
	}
	return running(f.members)
}
