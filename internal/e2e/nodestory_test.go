//go:build linux || darwin

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// nodePair is a hub with two nodes: the story is told on the first, and on the
// second client only looks on, to which nothing may happen.
type nodePair struct {
	*nodeLab
	first, second *machine
}

// newNodePair makes a lab with two machines that have joined, and starts hub and
// nodes. o may be nil.
func newNodePair(t testing.TB, o *labOptions) *nodePair {
	t.Helper()
	l := &nodePair{nodeLab: newNodeLab(t, o)}
	l.start()
	l.first, l.second = l.enroll("one"), l.enroll("two")
	return l
}

// bystander creates a session on the second node that has had a turn.
func (l *nodePair) bystander() *session {
	l.t.Helper()
	s := l.second.mustCreate(nil)
	if err := s.turn(l.ctx(), "before", saying("before")); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// finish judges, starts the hub again, lets the story come to its end and judges
// again.
func (l *nodePair) finish(story, bystander *session) {
	l.t.Helper()
	if l.t.Failed() {
		return
	}
	l.verdict(story, bystander)
	l.start()
	if err := story.conclude(l.ctx()); err != nil {
		l.t.Fatal(err)
	}
	if err := bystander.turn(l.ctx(), "after", saying("after")); err != nil {
		l.t.Fatal(err)
	}
	l.verdict(story, bystander)
}

// TestNodeStory holds that the story comes to its end on a node, beside sessions on
// another node and on the hub's own machine.
func TestNodeStory(t *testing.T) {
	t.Parallel()
	l := newNodePair(t, &labOptions{raced: true})
	other, local := l.bystander(), l.mustCreate(nil)
	s := l.first.mustCreate(nil)
	if err := local.turn(l.ctx(), "local", saying("home")); err != nil {
		t.Fatal(err)
	}
	if err := s.tell(l.ctx()); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		*session
		node string
	}{{s, "one"}, {other, "two"}, {local, ""}} {
		if snapshot, err := each.snapshot(l.ctx()); err != nil || snapshot.Node != each.node {
			t.Errorf("the session is on %q, %v; want %q", snapshot.Node, err, each.node)
		}
	}
	for m, want := range map[*machine]int{l.first: 1, l.second: 1} {
		if got := m.shims(); len(got) != want {
			t.Errorf("%d shims run on %s, want %d", len(got), m.name, want)
		}
	}
	l.finish(s, other)
}

// nodePoints are the places at which a node stops and is killed. The visits of a
// place that is passed for each link and each start are few.
func nodePoints() []point {
	return []point{
		{name: "node.after-start-received", times: []int{1}, victim: "node"},
		{name: "node.after-launch", times: []int{1}, victim: "node"},
		{name: "node.before-link", times: []int{1}, victim: "node"},
		{name: "node.after-link", times: []int{1}, victim: "node"},
	}
}

// TestNodeKillPoints kills the hub, the node and the shim at each place while the
// story is told on a node: nothing is lost, nothing is done twice, and no agent
// dies but that of a killed shim. A place is tried at its first visit, and in a soak
// at all of them: between the visits only the story differs, and TestKillPoints tries
// those.
func TestNodeKillPoints(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "place\tkilled\tvisits")
	for _, p := range slices.Concat(points(), nodePoints()) {
		if p.shim != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\tnot: %s\n", p.name, p.victim, p.shim)
			continue
		}
		visits := p.times
		if !soak() {
			visits = visits[len(visits)/2 : len(visits)/2+1]
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%v\n", p.name, p.victim, visits)
		for _, visit := range visits {
			place := fmt.Sprintf("%s:%d", p.name, visit)
			t.Run(fmt.Sprintf("%s/%d", p.name, visit), func(t *testing.T) {
				t.Parallel()
				switch p.victim {
				case "hub":
					killHubOfNode(t, place)
				case "node":
					killNode(t, place)
				default:
					killShimOfNode(t, place)
				}
			})
		}
	}
	_ = table.Flush() // a builder does not fail
	t.Log("\n" + text.String())
}

// killHubOfNode tells the story on a node of a hub that is killed at a place.
func killHubOfNode(t *testing.T, place string) {
	l := newNodePair(t, nil)
	other := l.bystander()
	// What a killed hub has left in the journal's log is merged by the next one.
	if strings.HasPrefix(place, "journal.in-checkpoint") {
		l.kill()
	} else {
		l.stop()
	}
	env, file := l.armed(place)
	l.launch(env...)
	done := make(chan error, 1)
	go func() { done <- l.killWhen(file) }()
	s := l.first.mustCreate(nil)
	if err := s.tell(l.ctx()); err != nil {
		t.Error(err)
	}
	killed(t, place, file, done)
	l.finish(s, other)
}

// killNode tells the story on a node that is killed at a place.
func killNode(t *testing.T, place string) {
	l := newNodePair(t, nil)
	other := l.bystander()
	env, file := l.armed(place)
	l.first.kill()
	l.first.launch(env...)
	done := make(chan error, 1)
	go func() { done <- l.first.killWhen(file) }()
	s := l.first.mustCreate(nil)
	if err := s.tell(l.ctx()); err != nil {
		t.Error(err)
	}
	killed(t, place, file, done)
	s.single()
	l.finish(s, other)
}

// killShimOfNode kills a shim on a node just before or after it has written a
// command: the session ends, says so, and begins again.
func killShimOfNode(t *testing.T, place string) {
	l := newNodePair(t, nil)
	other := l.bystander()
	env, file := l.armed(place)
	l.first.kill()
	l.first.start(env...)
	s := l.first.mustCreate(nil)
	s.shot = true
	if _, err := s.send(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	if err := eventually(patience, exists(file)); err != nil {
		t.Fatalf("the shim never came to %s: %v", place, err)
	}
	l.first.kill()
	l.first.start() // without the point, so that the next shim goes on
	for _, pid := range l.first.shims() {
		terminate(pid)
	}
	if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	if err := s.turn(l.ctx(), "second", saying("two")); err != nil {
		t.Fatal(err)
	}
	if err := other.turn(l.ctx(), "after", saying("after")); err != nil {
		t.Fatal(err)
	}
	l.verdict(s, other)
}

// single holds that a session has had one process.
func (s *session) single() {
	s.lab.t.Helper()
	records, err := readRecord(s.record)
	if err != nil || len(records) != 1 {
		s.lab.t.Errorf("session %s has had %d processes, %v; want 1", s.id, len(records), err)
	}
}

// TestNodeRandomKills kills hub and nodes at random moments while sessions on both
// nodes are used.
func TestNodeRandomKills(t *testing.T) {
	t.Parallel()
	kills := 9
	if soak() {
		kills = 400
	}
	value := seed(t)
	l := newNodePair(t, &labOptions{raced: true})
	sessions := []*session{l.first.mustCreate(nil), l.second.mustCreate(nil)}
	over := make(chan struct{})
	var drivers sync.WaitGroup
	for i, s := range sessions {
		random := rand.New(rand.NewPCG(value, uint64(i)+1))
		drivers.Go(func() {
			if err := s.drive(t.Context(), random, over); err != nil {
				t.Errorf("session %s: %v", s.id, err)
			}
		})
	}
	random := rand.New(rand.NewPCG(value, 0))
	begin := time.Now()
	for i := range kills {
		span := time.Duration(random.Int64N(int64(700 * time.Millisecond)))
		var err error
		switch random.IntN(3) {
		case 0:
			err = l.killAfter(span, false)
		case 1:
			err = l.first.killAfter(span)
		default:
			err = l.second.killAfter(span)
		}
		if err != nil {
			t.Errorf("kill %d of %d: %v", i+1, kills, err)
			break
		}
	}
	close(over)
	drivers.Wait()
	t.Logf("%d kills in %s", kills, time.Since(begin).Round(time.Second))
	if t.Failed() {
		return
	}
	for _, s := range sessions {
		s.single()
	}
	l.verdict(sessions...)
	t.Logf("%s", tally(sessions))
}

// killAfter lets the node live for a while, kills it and starts it again.
func (m *machine) killAfter(span time.Duration) error {
	s := m.current()
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
		return fmt.Errorf("the node %s died by itself: %s", m.name, exitText(s))
	}
	m.kill()
	return m.tryLaunch()
}

// TestNodeRestartKeepsAgents restarts a node as systemd does with KillMode=process,
// in the middle of turns, and with no hub at all for a part of the time.
func TestNodeRestartKeepsAgents(t *testing.T) {
	t.Parallel()
	l := newNodePair(t, nil)
	asks, streams := l.first.mustCreate(nil), l.first.mustCreate(nil)
	if _, err := asks.send(l.ctx(), "asks", asking("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := asks.awaitQuestion(l.ctx(), 0, 1); err != nil {
		t.Fatal(err)
	}
	streaming, err := streams.send(l.ctx(), "streams", "@slow 20ms\n@say "+strings.Repeat("word ", 300))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.awaitState(l.ctx(), api.StateRunning); err != nil {
		t.Fatal(err)
	}
	before := slices.Sorted(slices.Values(l.first.shims()))
	if len(before) != 2 {
		t.Fatalf("%d shims run, want 2", len(before))
	}
	l.kill()
	l.first.stop()
	l.first.launch()
	l.start()
	if err := l.first.awaitOnline(); err != nil {
		t.Fatal(err)
	}
	if after := slices.Sorted(slices.Values(l.first.shims())); !slices.Equal(before, after) {
		t.Errorf("the shims are %v, and were %v", after, before)
	}
	if err := asks.allow(l.ctx(), 1); err != nil {
		t.Fatal(err)
	}
	if err := streams.awaitTurn(l.ctx(), 0, streaming); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(l.first.root + "/node.log"); err != nil || !strings.Contains(string(log), "running") {
		t.Errorf("a node that ends does not say that agents keep running: %v\n%s", err, log)
	}
	for _, s := range []*session{asks, streams} {
		s.single()
	}
	l.verdict(asks, streams)
}
