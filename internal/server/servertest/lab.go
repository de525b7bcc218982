package servertest

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/internal/rulefile"
)

// Patience is how long a test waits for what must happen.
const Patience = 4 * time.Minute

// Admin is the client that makes the lab's sessions.
var Admin = hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}

// Options are the options of [New]. The zero value is valid.
type Options struct {
	// Version is the version of the CLIs. If empty, 2.1.325.
	Version string
	// Rules is the text of the rules file. If empty, the hub has none.
	Rules string
	// Library is what reports find on the disk. It may be nil.
	Library report.Library
	// Hub changes the options of the hub. It may be nil.
	Hub func(*hub.Options)
}

// A Lab is a hub and its agents. Its methods may be called from several goroutines,
// but those that fail a test only from that of the test.
type Lab struct {
	*core

	t testing.TB
}

// In returns the lab for a part of a test.
func (l *Lab) In(t testing.TB) *Lab { return &Lab{l.core, t} }

// A core is what all parts of a test share.
type core struct {
	// Static after construction.
	Hub     *hub.Hub
	Reports *report.Reports
	Journal *journal.SQLite
	Dir     string // everything is in it
	whole   testing.TB
	version string

	running sync.WaitGroup // goroutines of agents

	mu     sync.Mutex
	agents map[string]*Agent // the newest of each session; guarded by mu
	all    []*Agent          // guarded by mu
}

// New opens a hub on an empty journal. Both are closed when the test is over, after
// what the test has registered later. Nil options are the same as zero ones.
func New(t testing.TB, o *Options) *Lab {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	l := &Lab{&core{Dir: t.TempDir(), whole: t, version: o.Version, agents: map[string]*Agent{}}, t}
	if l.version == "" {
		l.version = "2.1.325"
	}
	var err error
	if l.Journal, err = journal.Open(context.Background(), filepath.Join(l.Dir, "journal"), nil); err != nil {
		t.Fatal(err)
	}
	options := hub.Options{Journal: l.Journal, Launcher: launcher{l.core}}
	reports := report.Options{Journal: l.Journal, Library: o.Library, Scratch: l.Dir}
	var rules *rulefile.File
	if o.Rules != "" {
		file := filepath.Join(l.Dir, "rules.toml")
		if err := os.WriteFile(file, []byte(o.Rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if rules, err = rulefile.Open(context.Background(), rulefile.Options{File: file, Store: filepath.Join(l.Dir, "rules.confirmed")}); err != nil {
			t.Fatal(err)
		}
		options.Rules, reports.Rules = rules, rules
	}
	if o.Hub != nil {
		o.Hub(&options)
	}
	if l.Hub, err = hub.New(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	reports.Live = l.Hub.Unknown
	l.Reports = report.New(reports)
	t.Cleanup(func() {
		l.end()
		if err := errors.Join(l.Hub.Close(), l.Journal.Close()); err != nil {
			t.Error(err)
		}
		if rules != nil {
			rules.Close()
		}
	})
	return l
}

// end ends all agents and waits for them.
func (l *core) end() {
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	for _, a := range all {
		a.kill()
	}
	l.running.Wait()
}

// ctx returns a context that outlives no test.
func (l *Lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	l.t.Cleanup(cancel)
	return ctx
}

// Create makes a session and returns its agent. Without a folder it is one of its own.
func (l *Lab) Create(in api.CreateSession) *Agent {
	l.t.Helper()
	if in.Dir == "" {
		in.Dir = l.t.TempDir()
	}
	created, err := l.Hub.Create(l.ctx(), Admin, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.Agent(created.ID)
}

// Dial makes a session with an agent that dialed in: it says and answers only what the
// test has it say and answer.
func (l *Lab) Dial(in api.CreateSession) *Agent {
	l.t.Helper()
	if in.Dir == "" {
		in.Dir = l.t.TempDir()
	}
	in.Transport = "websocket"
	created, err := l.Hub.Create(l.ctx(), Admin, in)
	if err != nil {
		l.t.Fatal(err)
	}
	a := l.newAgent(hub.LaunchSpec{Session: created.ID, Run: 1})
	a.t = l.t
	if a.runLink, _, err = l.Hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, a); err != nil {
		l.t.Fatal(err)
	}
	if err := a.runLink.Connected(l.ctx(), false); err != nil {
		l.t.Fatal(err)
	}
	close(a.ready)
	l.running.Go(a.write)
	return a
}

// Agent returns the newest agent of a session, when it is connected.
func (l *Lab) Agent(session string) *Agent {
	l.t.Helper()
	l.mu.Lock()
	a := l.agents[session]
	l.mu.Unlock()
	if a == nil {
		l.t.Fatalf("the session %s has no agent", session)
	}
	select {
	case <-a.ready:
	case <-l.ctx().Done():
		l.t.Fatal("an agent does not connect")
	}
	a.t = l.t
	return a
}

// Await waits until a session is as ready says, and returns it.
func (l *Lab) Await(session, what string, ready func(*api.Session) bool) *api.Session {
	l.t.Helper()
	ctx := l.ctx()
	c, err := l.Hub.Follow(ctx, session, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for {
		s, err := l.Hub.Snapshot(ctx, session)
		if err != nil {
			l.t.Fatal(err)
		}
		if ready(s) {
			return s
		}
		if _, err := c.Next(ctx); err != nil {
			l.t.Fatalf("waiting until %s: %v; the session: %+v", what, err, s)
		}
	}
}

// AwaitState waits until a session is in a state.
func (l *Lab) AwaitState(session string, state api.State) *api.Session {
	l.t.Helper()
	return l.Await(session, "it is "+string(state), func(s *api.Session) bool { return s.State == state })
}

// A launcher starts the agents of a lab.
type launcher struct{ lab *core }

// Start implements [hub.Launcher].
func (l launcher) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	a := l.lab.newAgent(spec)
	if err := a.start(); err != nil {
		return nil, err
	}
	return &hub.Launched{PID: a.pid, PIDStart: "x", Version: l.lab.version, Simulated: true, ConfigDir: filepath.Join(l.lab.Dir, ".claude")}, nil
}

// Life implements [hub.Launcher].
func (l launcher) Life(_ context.Context, p hub.Process) hub.Life {
	l.lab.mu.Lock()
	defer l.lab.mu.Unlock()
	if p.PID > 0 && p.PID <= len(l.lab.all) && !l.lab.all[p.PID-1].dead.Load() {
		return hub.LifeAlive
	}
	return hub.LifeDead
}

// Resolve implements [hub.Launcher].
func (launcher) Resolve(context.Context, []string) ([]hub.Resolved, error) {
	return nil, errors.ErrUnsupported
}

// Sweep implements [hub.Launcher]: an agent leaves nothing behind.
func (launcher) Sweep(context.Context, string) (int, error) { return 0, nil }

// History implements [hub.Launcher].
func (launcher) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, fs.ErrNotExist
}

// Plan implements [hub.Launcher].
func (launcher) Plan(context.Context, hub.PlanQuery) (*hub.PlanFile, error) {
	return nil, fs.ErrNotExist
}
