//go:build linux || darwin

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A fakeLauncher starts nothing: it remembers who would have been started, so
// that somebody else can take that part.
type fakeLauncher struct {
	dead bool // what it starts has ended at once

	mu   sync.Mutex
	runs []expected
}

// Start remembers the run. Its process is this one.
func (f *fakeLauncher) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, start := os.Getpid(), startOf(os.Getpid())
	if f.dead {
		start = "1" // nothing of ours is as old as that
	}
	f.runs = append(f.runs, expected{
		Session: spec.Session, Run: spec.Run, Token: spec.Token, PID: pid, PIDStart: start, Record: filepath.Join(spec.Dir, spec.Session+".jsonl"),
	})
	return &hub.Launched{PID: pid, PIDStart: start, Version: "2.1.325", Simulated: true}, nil
}

// Life says that what it has started is alive, or not.
func (f *fakeLauncher) Life(context.Context, hub.Process) hub.Life {
	if f.dead {
		return hub.LifeDead
	}
	return hub.LifeAlive
}

// Resolve is not asked: its agents are on this machine.
func (*fakeLauncher) Resolve(context.Context, []string) ([]hub.Resolved, error) {
	return nil, errors.ErrUnsupported
}

// Sweep finds nothing.
func (f *fakeLauncher) Sweep(context.Context, string) (int, error) { return 0, nil }

// History has none.
func (f *fakeLauncher) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, fs.ErrNotExist
}

// Plan has none.
func (f *fakeLauncher) Plan(context.Context, hub.PlanQuery) (*hub.PlanFile, error) {
	return nil, fs.ErrNotExist
}

// startOf returns when a process was started, in the system's own form.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const begun = 19 // behind the name, which is in parentheses
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= begun {
		return ""
	}
	return string(fields[begun])
}

// prepare creates sessions in a journal without a server: their processes are
// still to come, or, if dead, have ended.
func (l *lab) prepare(count int, dead bool) []expected {
	l.t.Helper()
	return l.prepareWith(count, &fakeLauncher{dead: dead}, nil)
}

// prepareOn is prepare for sessions on a node, which are still to come; nil is the
// hub's own machine.
func (l *lab) prepareOn(count int, at *fakeNodes) []expected {
	l.t.Helper()
	launcher := &fakeLauncher{}
	if at == nil {
		return l.prepareWith(count, launcher, nil)
	}
	return l.prepareWith(count, launcher, &fakeNodes{id: at.id, name: at.name, launcher: launcher})
}

func (l *lab) prepareWith(count int, launcher *fakeLauncher, at *fakeNodes) []expected {
	l.t.Helper()
	dir := filepath.Join(l.root, "w")
	j, err := journal.Open(l.t.Context(), l.data, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	options, in := hub.Options{Journal: j, Launcher: launcher, Watch: 50 * time.Millisecond, Rest: 50 * time.Millisecond}, api.CreateSession{Dir: dir}
	if at != nil {
		options.Nodes, in.Node = at, at.name
	}
	h, err := hub.New(l.t.Context(), options)
	if err != nil {
		l.t.Fatal(errors.Join(err, j.Close()))
	}
	defer func() {
		if err := errors.Join(h.Close(), j.Close()); err != nil {
			l.t.Error(err)
		}
	}()
	const atOnce = 64
	numbers := make(chan int)
	var creators sync.WaitGroup
	for range atOnce {
		creators.Go(func() {
			for n := range numbers {
				in := in
				in.Title = fmt.Sprintf("session %d", n)
				if _, err := h.Create(l.t.Context(), hub.Actor{Source: journal.SourceProgram, Name: "e2e", Admin: true}, in); err != nil {
					l.t.Errorf("creating a session: %v", err)
				}
			}
		})
	}
	for n := range count {
		numbers <- n
	}
	close(numbers)
	creators.Wait()
	if launcher.dead {
		l.awaitEnded(j)
	}
	return launcher.runs
}

// awaitEnded waits until a hub has noticed that the processes of all runs have
// ended. It asks less often than eventually does: the list is long at first.
func (l *lab) awaitEnded(j journal.Journal) {
	l.t.Helper()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(5 * patience)
	for {
		runs, err := j.LiveRuns(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		if len(runs) == 0 {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			l.t.Fatalf("%d runs have not ended", len(runs))
		}
	}
}

// fakeNodes is a node on which nothing is started, see fakeLauncher.
type fakeNodes struct {
	id, name string
	launcher hub.Launcher
}

// Launcher returns the one that starts nothing.
func (f *fakeNodes) Launcher(string) hub.Launcher { return f.launcher }

// Choose chooses the node.
func (f *fakeNodes) Choose(context.Context, string, map[string]string) (id, display string, err error) {
	return f.id, f.name, nil
}

// Machine knows nothing of it.
func (f *fakeNodes) Machine(string) (hub.Machine, bool) { return hub.Machine{Name: f.name}, true }

// Changed never happens.
func (f *fakeNodes) Changed() <-chan struct{} { return nil }
