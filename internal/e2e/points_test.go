//go:build linux || darwin

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// A point is a place at which the hub, or a shim, stops and is killed.
type point struct {
	name string
	// times says at which visit: the story passes most places often.
	times []int
	// shim and dialled say why the place is not tried with a transport; empty
	// means that it is.
	shim, dialled string
	// victim is who is stopped there.
	victim string
}

// points are all places. Those of a shim stop the shim, not the hub.
func points() []point {
	const (
		hub, shim = "hub", "shim"
		noShim    = "a CLI that dials in has no shim"
		ownTest   = "happens when the hub starts; see TestKillInMigration"
		planTest  = "happens when a plan is approved; see TestPlanKills"
	)
	return []point{
		{name: "journal.before-commit", times: []int{1, 2, 3, 5, 9, 14, 20}, victim: hub},
		{name: "journal.after-commit", times: []int{1, 2, 3, 5, 9, 14, 20}, victim: hub},
		{name: "journal.in-checkpoint", times: []int{1}, victim: hub},
		{name: "journal.in-migration", shim: ownTest, dialled: ownTest, victim: hub},
		{name: "journal.before-rename", shim: ownTest, dialled: ownTest, victim: hub},
		{name: "link.after-receive", times: []int{1, 2, 5}, victim: hub},
		{name: "link.after-commit", times: []int{1, 2, 5}, victim: hub},
		{name: "link.before-send", times: []int{1, 3}, victim: hub},
		{name: "link.after-send", times: []int{1, 3}, victim: hub},
		{name: "link.after-written", times: []int{1, 3}, victim: hub},
		{name: "hub.after-settle", times: []int{1}, victim: hub},
		{name: "hub.plan-denied", times: []int{1}, shim: planTest, dialled: planTest, victim: hub},
		{name: "hub.plan-ended", times: []int{1}, shim: planTest, dialled: planTest, victim: hub},
		{name: "hub.plan-started", times: []int{1}, shim: planTest, dialled: planTest, victim: hub},
		{name: "shim.after-receive", times: []int{1, 2}, dialled: noShim, victim: shim},
		{name: "shim.after-write", times: []int{1, 2}, dialled: noShim, victim: shim},
	}
}

// why says why the point is not tried with a transport.
func (p point) why(transport string) string {
	if transport == "shim" {
		return p.shim
	}
	return p.dialled
}

// visits are the visits at which the hub is killed with a transport. They are
// moments of the story, which the journal and the session pass alike with each
// transport: every second is tried, with a CLI that dials in every third, and all in
// a soak. TestRandomKills kills in between.
func (p point) visits(transport string) []int {
	every := 2
	switch {
	case soak():
		every = 1
	case transport != "shim":
		every = 3
	}
	var some []int
	for i := 0; i < len(p.times); i += every {
		some = append(some, p.times[i])
	}
	return some
}

// TestKillPoints kills the hub at each place, with each transport, and holds that
// nothing is lost and nothing is done twice.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	t.Run("table", func(t *testing.T) {
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "place\tkilled\tshim\tdialled in")
		for _, p := range points() {
			cell := func(transport, reason string) string {
				if reason != "" {
					return "not: " + reason
				}
				return fmt.Sprintf("at visit %v", p.visits(transport))
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.name, p.victim, cell("shim", p.shim), cell("websocket", p.dialled))
		}
		_ = table.Flush() // a builder does not fail
		t.Log("\n" + text.String())
	})
	for _, p := range points() {
		for _, transport := range []string{"shim", "websocket"} {
			if p.why(transport) != "" || p.victim != "hub" {
				continue
			}
			for _, visit := range p.visits(transport) {
				t.Run(fmt.Sprintf("%s/%s/%d", p.name, transport, visit), func(t *testing.T) {
					t.Parallel()
					killAt(t, fmt.Sprintf("%s:%d", p.name, visit), transport)
				})
			}
		}
	}
}

// armed returns the environment that makes a process stop at a place, and the
// file that it creates when it is there.
func (l *lab) armed(place string) (env []string, file string) {
	file = filepath.Join(l.root, "reached")
	return []string{"SWITCHBOARD_KILLPOINT=" + place, "SWITCHBOARD_KILLPOINT_FILE=" + file}, file
}

// killAt tells the story with a hub that is killed at a place.
func killAt(t *testing.T, place, transport string) {
	l := newLab(t, nil)
	env, file := l.armed(place)
	var s *session
	checkpoint := strings.HasPrefix(place, "journal.in-checkpoint")
	if transport != "shim" || checkpoint {
		// The credential of a CLI that dials in is shown once, so whoever loses
		// that answer creates another session. And what a killed hub has left in
		// the journal's log is merged by the next one.
		l.start()
		s = l.session(transport)
		if err := s.turn(l.ctx(), "zeroth", saying("nothing")); err != nil {
			t.Fatal(err)
		}
		if checkpoint {
			l.kill()
		} else {
			l.stop()
		}
	}
	l.launch(env...)
	done := make(chan error, 1)
	go func() { done <- l.killWhen(file) }()
	if s == nil {
		s = l.mustCreate(nil)
	}
	if err := s.tell(l.ctx()); err != nil {
		t.Error(err)
	}
	killed(t, place, file, done)
	if t.Failed() {
		return
	}
	l.verdict(s)
	l.start()
	if err := s.conclude(l.ctx()); err != nil {
		t.Fatal(err)
	}
	l.verdict(s)
}

// killed waits for the end of killWhen, and holds that the hub came to the place:
// otherwise the test has tested nothing. That the file is there decides, not that
// killWhen has ended: the hub that it has started may have answered before it said
// so.
func killed(t *testing.T, place, file string, done <-chan error) {
	t.Helper()
	if exists(file)() != nil {
		t.Errorf("the hub never came to %s", place)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// killWhen waits for a file, kills the hub and starts it again.
func (l *lab) killWhen(file string) error {
	if err := eventually(2*patience, exists(file)); err != nil {
		return err
	}
	l.kill()
	s, err := l.tryLaunch()
	if err != nil {
		return err
	}
	return s.awaitReady()
}
