package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 90 * time.Second

var person = hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}

// A lab is a hub with simulated CLIs behind shims that live in the test.
type lab struct {
	t        *testing.T
	dir      string
	journal  *journal.SQLite
	hub      *hub.Hub
	reports  *report.Reports
	launcher *launcher
	options  hub.Options
	// Of the reports alone.
	library report.Library
	scratch string
}

// newLab opens a hub on an empty journal.
func newLab(t *testing.T, change ...func(*hub.Options)) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir()}
	l.launcher = &launcher{lab: l, shims: map[string]*shim{}}
	l.options = hub.Options{Launcher: l.launcher, Watch: 50 * time.Millisecond}
	for _, c := range change {
		c(&l.options)
	}
	for _, m := range l.launchers() {
		m.lab = l
	}
	l.open()
	t.Cleanup(func() {
		l.close()
		for _, m := range l.launchers() {
			m.killAll()
		}
	})
	return l
}

// launchers returns those of all of the lab's machines.
func (l *lab) launchers() []*launcher {
	list := []*launcher{l.launcher}
	if ns, ok := l.options.Nodes.(*nodes); ok {
		for _, n := range ns.all {
			list = append(list, n.launcher)
		}
	}
	return list
}

func (l *lab) open() {
	l.t.Helper()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	l.options.Journal = l.journal
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		l.t.Fatal(err)
	}
	l.report(l.library, l.scratch)
	for _, m := range l.launchers() {
		m.connectAll()
	}
}

// report has the lab's reports use a library and a scratch folder.
func (l *lab) report(library report.Library, scratch string) {
	l.library, l.scratch = library, scratch
	l.reports = report.New(report.Options{
		Journal: l.journal, Now: l.options.Now, Library: library, Rules: l.options.Rules, Live: l.hub.Unknown, Scratch: scratch,
		Libraries: l.libraries,
	})
}

// shimOf returns the shim of a session's newest run, on whatever machine.
func (l *lab) shimOf(id string) *shim {
	for _, m := range l.launchers() {
		if s := m.of(id); s != nil {
			return s
		}
	}
	return nil
}

// libraries returns the library of one of the lab's nodes.
func (l *lab) libraries(ctx context.Context, name string) (report.Library, string, string, error) {
	ns, ok := l.options.Nodes.(*nodes)
	if !ok {
		return nil, "", "", api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no machine %q", name)
	}
	id, display, err := ns.Choose(ctx, name, nil)
	if err != nil {
		return nil, "", "", err
	}
	return ns.byID(id).library, id, display, nil
}

// adopt makes a session of a conversation on disk.
func (l *lab) adopt(conversation string, in api.Adopt) (*api.Created, error) {
	session, err := l.reports.Adopt(l.ctx(), conversation, in)
	if err != nil {
		return nil, err
	}
	return l.hub.Create(l.ctx(), person, session)
}

func (l *lab) close() {
	for _, m := range l.launchers() {
		m.listen(false)
		m.cutAll()
	}
	if err := l.hub.Close(); err != nil {
		l.t.Error(err)
	}
	if err := l.journal.Close(); err != nil {
		l.t.Error(err)
	}
}

// restart ends the hub and opens another on the same journal.
func (l *lab) restart() {
	l.t.Helper()
	l.close()
	l.open()
}

// ctx returns a context that ends before the test's own limit.
func (l *lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.t.Cleanup(cancel)
	return ctx
}

// create makes a session.
func (l *lab) create(in api.CreateSession) *api.Session {
	l.t.Helper()
	if in.Dir == "" {
		in.Dir = l.t.TempDir()
	}
	created, err := l.hub.Create(l.ctx(), person, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return &created.Session
}

// snapshot returns a session as it is.
func (l *lab) snapshot(id string) *api.Session {
	l.t.Helper()
	s, err := l.hub.Snapshot(l.ctx(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// await follows a session until it is as ready says.
func (l *lab) await(id string, what string, ready func(*api.Session) bool) *api.Session {
	l.t.Helper()
	ctx := l.ctx()
	c, err := l.hub.Follow(ctx, id, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for {
		s := l.snapshot(id)
		if ready(s) {
			return s
		}
		if _, err := c.Next(ctx); err != nil {
			l.t.Fatalf("waiting until %s: %v; the session: %s", what, err, encode(s))
		}
	}
}

func (l *lab) awaitState(id string, state api.State) *api.Session {
	l.t.Helper()
	return l.await(id, "it is "+string(state), func(s *api.Session) bool { return s.State == state })
}

// awaitDone waits until everything that was sent has been worked on.
func (l *lab) awaitDone(id string, turns int64) *api.Session {
	l.t.Helper()
	return l.await(id, fmt.Sprintf("%d turns are over", turns), func(s *api.Session) bool {
		return s.State == api.StateIdle && s.Cost.Turns >= turns && len(s.Messages) == 0
	})
}

// send sends a message.
func (l *lab) send(id, text string) *api.Message {
	l.t.Helper()
	m, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: text})
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// events returns the whole log of a session.
func (l *lab) events(id string) []api.Event {
	l.t.Helper()
	var all []api.Event
	after := ""
	for {
		page, err := l.hub.Events(l.ctx(), id, after, 0)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, page.Events...)
		if !page.More {
			return all
		}
		after = page.Next
	}
}

// kinds returns the kinds of a log's events.
func kinds(events []api.Event) string {
	var list []string
	for _, e := range events {
		kind := e.Kind
		if kind == api.KindLine || kind == api.KindSent {
			h, err := wire.Peek(e.Line)
			if err == nil {
				kind += ":" + string(h.Type)
			}
		}
		list = append(list, kind)
	}
	return strings.Join(list, " ")
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// code returns the code of an error of the interface.
func code(err error) string {
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem.Code
	}
	return fmt.Sprint(err)
}
