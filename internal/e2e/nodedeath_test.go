//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// TestNodeShimKilled kills a shim on a node, with hub and node alive, and with one of
// them dead: what it has left behind must end, the session must say why, and a
// message must start it again, there.
func TestNodeShimKilled(t *testing.T) {
	t.Parallel()
	for _, dead := range []string{"none", "hub", "node"} {
		t.Run("dead: "+dead, func(t *testing.T) {
			t.Parallel()
			l := newNodePair(t, nil)
			l.burdened()
			other := l.bystander() // with a process of its own that is left
			s := l.first.mustCreate(nil)
			s.shot = true
			if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.send(l.ctx(), "second", asking("two")); err != nil {
				t.Fatal(err)
			}
			question, err := s.awaitQuestion(l.ctx(), 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			l.awaitSleepers(2)
			shims := l.first.shims()
			if len(shims) != 1 {
				t.Fatalf("there are %d shims, want 1", len(shims))
			}
			switch dead {
			case "hub":
				l.kill()
			case "node":
				l.first.kill()
			}
			if err := syscall.Kill(shims[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			switch dead {
			case "hub":
				l.start()
			case "node":
				l.first.start()
			}
			begin := time.Now()
			if err := eventually(cleanUpLimit, func() error {
				left := slices.DeleteFunc(l.first.processes(), func(pid int) bool { return pid == l.first.current().pid() })
				if len(left) > 0 {
					return errors.New("alive:\n" + describe(left))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			t.Logf("all gone after %s", time.Since(begin).Round(time.Millisecond))
			snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.Ended == nil || snapshot.Ended.Reason == "" {
				t.Errorf("the session does not say why it ended: %+v", snapshot.Ended)
			}
			var settled api.Question
			if err := l.call(l.ctx(), http.MethodGet, "/v1/questions/"+question.ID, nil, &settled); err != nil || settled.State != api.QuestionCancelled {
				t.Errorf("the question that nobody waits for is %s, %v", settled.State, err)
			}
			if err := s.turn(l.ctx(), "third", saying("three")); err != nil {
				t.Fatal(err)
			}
			if snapshot, err = s.snapshot(l.ctx()); err != nil || snapshot.Run != 2 || snapshot.Node != "one" || len(snapshot.Conversations) != 1 {
				t.Errorf("run %d on %q, conversations %v, %v; a message resumes the conversation as run 2, there", snapshot.Run, snapshot.Node, snapshot.Conversations, err)
			}
			if n := len(l.first.shims()); n != 1 {
				t.Errorf("%d shims run on the node, want 1", n)
			}
			l.verdict(s, other)
		})
	}
}

// TestNodeLostPower ends everything on a machine at once. Nothing is guessed while it
// is away; when it is back its sessions have ended, and a message resumes them. One
// that does not come back is forgotten, and its runs end.
func TestNodeLostPower(t *testing.T) {
	t.Parallel()
	l := newNodePair(t, nil)
	s, lost := l.first.mustCreate(nil), l.second.mustCreate(nil)
	for _, each := range []*session{s, lost} {
		each.shot = true
		if err := each.turn(l.ctx(), "first", saying("one")); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []*machine{l.first, l.second} {
		for _, pid := range m.processes() {
			terminate(pid)
		}
		<-m.current().done
	}
	for _, each := range []*session{s, lost} {
		if _, err := each.awaitState(l.ctx(), api.StateOffline); err != nil {
			t.Fatal(err)
		}
	}
	l.kill()
	l.start()
	for _, m := range []*machine{l.first, l.second} {
		if err := m.awaitState(api.NodeOffline); err != nil {
			t.Fatal(err)
		}
	}
	message, err := s.send(l.ctx(), "second", saying("two"))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*session{s, lost} {
		if snapshot, err := each.snapshot(l.ctx()); err != nil || snapshot.State != api.StateOffline || snapshot.Run != 1 {
			t.Errorf("run %d is %s, %v; nothing is known of it", snapshot.Run, snapshot.State, err)
		}
	}
	l.first.start()
	if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	// What was queued is sent when the session goes on, as on the hub's own machine.
	if err := s.turn(l.ctx(), "third", saying("three")); err != nil {
		t.Fatal(err)
	}
	if err := s.awaitTurn(l.ctx(), 0, message); err != nil {
		t.Fatal(err)
	}
	if err := l.call(l.ctx(), http.MethodDelete, "/v1/nodes/two", nil, nil); err != nil {
		t.Fatal(err)
	}
	snapshot, err := lost.awaitState(l.ctx(), api.StateEnded)
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Ended == nil || !strings.Contains(snapshot.Ended.Reason, "two") || !strings.Contains(snapshot.Ended.Reason, "forgotten") || snapshot.Node != "two" {
		t.Errorf("a session of a forgotten node: %+v on %q", snapshot.Ended, snapshot.Node)
	}
	if err := l.call(l.ctx(), http.MethodGet, "/v1/nodes/two", nil, nil); problemOf(err) == nil || problemOf(err).Status != http.StatusNotFound {
		t.Errorf("a forgotten node: %v", err)
	}
	l.verdict(s, lost)
}

// TestNodeStartOnce kills the hub or the node between a start and its answer, at
// random moments: each run has exactly one process.
func TestNodeStartOnce(t *testing.T) {
	t.Parallel()
	times := 6
	if soak() {
		times = 50
	}
	value := seed(t)
	random := rand.New(rand.NewPCG(value, 0))
	l := newNodePair(t, nil)
	var sessions []*session
	for n := range times {
		// A start takes some tens of milliseconds from the request to the answer, some
		// hundreds with the race detector.
		span := time.Duration(random.Int64N(int64(250 * time.Millisecond)))
		victim := []string{"node", "hub", "both"}[n%3]
		var created *session
		var failed error
		var creating sync.WaitGroup
		creating.Go(func() { created, failed = l.first.create(l.ctx(), nil) })
		timer := time.NewTimer(span)
		<-timer.C
		switch victim {
		case "node":
			l.first.kill()
			l.first.launch()
		case "hub":
			l.kill()
			l.start()
		default:
			l.kill()
			l.first.kill()
			l.first.launch()
			l.start()
		}
		creating.Wait()
		if failed != nil {
			t.Fatalf("start %d, %s killed after %s: %v", n, victim, span, failed)
		}
		if err := created.turn(l.ctx(), "first", saying("one")); err != nil {
			t.Fatalf("start %d, %s killed after %s: %v", n, victim, span, err)
		}
		created.single()
		sessions = append(sessions, created)
		if got := len(l.first.shims()); got != len(sessions) {
			t.Fatalf("start %d, %s killed after %s: %d shims run, want %d\n%s", n, victim, span, got, len(sessions), describe(l.first.processes()))
		}
	}
	l.verdict(sessions...)
}

// TestNodeStartOnceAtPoints kills the node when it has taken a start down and when the
// process is there, and the hub when it has sent a start: each run has exactly one
// process, which the one that is started again finds.
func TestNodeStartOnceAtPoints(t *testing.T) {
	t.Parallel()
	for _, p := range startPoints() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := newNodePair(t, nil)
			env, file := l.armed(p.name)
			done := make(chan error, 1)
			if p.victim == "hub" {
				l.stop()
				l.launch(env...)
				go func() { done <- l.killWhen(file) }()
			} else {
				l.first.kill()
				l.first.launch(env...)
				go func() { done <- l.first.killWhen(file) }()
			}
			s := l.first.mustCreate(nil)
			if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
				t.Error(err)
			}
			killed(t, p.name, file, done)
			if t.Failed() {
				return
			}
			s.single()
			if got := l.first.shims(); len(got) != 1 {
				t.Errorf("%d shims run, want 1\n%s", len(got), describe(l.first.processes()))
			}
			snapshot, err := s.snapshot(l.ctx())
			if err != nil || snapshot.Run != 1 {
				t.Errorf("it is run %d, %v; want 1", snapshot.Run, err)
			}
			l.verdict(s)
		})
	}
}

// startPoints are the places between a start and its answer.
func startPoints() []point {
	return append(nodePoints()[:2], point{name: "nodes.after-start-sent", times: []int{1}, victim: "hub"})
}

// TestNodeDrain holds that a node that is drained takes nothing new and continues
// what it has, and that one that is full takes nothing either.
func TestNodeDrain(t *testing.T) {
	t.Parallel()
	l := newNodeLab(t, nil)
	l.start()
	m := l.newMachine("small")
	invitation := l.invite(api.InviteNode{Name: "small", MaxSessions: 1})
	if output, err := m.join(invitation.URL, invitation.Code, invitation.Pin); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	m.start()
	s := m.mustCreate(nil)
	refused := func(why string) {
		t.Helper()
		dir, record := l.newDirIn(m.work, "")
		_, err := l.createIn(l.ctx(), dir, record, func(in *api.CreateSession) { in.Node = "small" })
		if problem := problemOf(err); problem == nil || problem.Status != http.StatusConflict || problem.Hint == "" && problem.Detail == "" {
			t.Errorf("a node that is %s: %v; want a conflict that says what to do", why, err)
		}
	}
	refused("full")
	if err := l.call(l.ctx(), http.MethodPost, "/v1/nodes/small/drain", api.DrainNode{Draining: true}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.stopAgent(l.ctx()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	refused("drained")
	if err := l.call(l.ctx(), http.MethodPost, "/v1/nodes/small/drain", api.DrainNode{}, nil); err != nil {
		t.Fatal(err)
	}
	again := m.mustCreate(nil)
	if err := again.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	if err := eventually(patience, func() error {
		if n := len(m.shims()); n != 1 {
			return fmt.Errorf("%d shims run, want 1", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	l.verdict(again)
}

// TestNodeOnce holds that a node for one session takes that one and no other, ends in
// good order when it is over, and that the hub then has all of it. A container that was
// restarted in between waits for the same session.
func TestNodeOnce(t *testing.T) {
	t.Parallel()
	l := newNodeLab(t, nil)
	l.start()
	m := l.newMachine("task")
	m.args = []string{"--once", "any"}
	m.enroll(l)
	m.start()
	s := m.mustCreate(nil)
	if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	m.kill()
	m.start()
	dir, record := l.newDirIn(m.work, "")
	_, err := l.createIn(l.ctx(), dir, record, func(in *api.CreateSession) { in.Node = "task" })
	if err == nil || !strings.Contains(err.Error(), s.id) {
		t.Errorf("another session on a node for one: %v; want to be told which one it is for", err)
	}
	if err := s.turn(l.ctx(), "second", saying("two")); err != nil {
		t.Fatal(err)
	}
	if err := s.stopAgent(l.ctx()); err != nil {
		t.Fatal(err)
	}
	s.shot = true // it has ended, as it was told to
	if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.current().done:
	case <-time.After(patience):
		t.Fatal("the node does not end with its session")
	}
	if err := m.current().err; err != nil {
		t.Errorf("the node ended with %v", err)
	}
	if n := len(m.processes()); n > 0 {
		t.Errorf("%d processes are left:\n%s", n, describe(m.processes()))
	}
	record1, err := s.newestRecord()
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	events := slices.Clone(s.events)
	s.mu.Unlock()
	for _, line := range durable(record1) {
		if !slices.ContainsFunc(events, func(e api.Event) bool { return bytes.Equal(e.Line, line) }) {
			t.Errorf("the hub does not have a line of the agent: %s", brief(line))
		}
	}
	l.verdict(s)
}
