package ingress

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/internal/hub"
)

// openLab is a dialLab that lets in CLIs without a credential, and counts those that it
// refuses.
func openLab(t *testing.T, o *DialOptions) (*dialLab, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var refused []string
	if o.Open == nil {
		o.Open = func(*http.Request) bool { return true }
	}
	o.Refused = func(reason string) {
		mu.Lock()
		defer mu.Unlock()
		refused = append(refused, reason)
	}
	lab := newDialLab(t, o)
	others := lab.hub.grant
	lab.hub.grant = func(r hub.DialRequest) (hub.DialGrant, error) {
		if r.Unauthenticated && r.Name != "s1" { // which is another's
			return hub.DialGrant{}, nil
		}
		return others(r)
	}
	return lab, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(refused)
	}
}

// lineCount returns how many lines the hub has. mu is held.
func (h *fakeHub) lineCount() (n int) {
	for i := range h.items {
		if h.items[i].Gap == nil {
			n++
		}
	}
	return n
}

// awaitDials returns how CLIs were introduced to the hub, when there are so many.
func (lab *dialLab) awaitDials(n int) []hub.DialHello {
	lab.t.Helper()
	lab.hub.await(lab.t, fmt.Sprintf("%d CLIs", n), func() bool { return len(lab.hub.dials) >= n })
	lab.hub.mu.Lock()
	defer lab.hub.mu.Unlock()
	return slices.Clone(lab.hub.dials)
}

func TestOpenDial(t *testing.T) {
	lab, refused := openLab(t, &DialOptions{})
	c := lab.come("/", "", "")
	c.send(said("1"))
	lab.hub.awaitLines(t, said("1"))
	lab.come("/ws/cli/name", "", "")
	for _, d := range lab.awaitDials(2) {
		if !d.Unauthenticated || d.Session != "" {
			t.Errorf("the hub was told %+v", d)
		}
	}
	// It finds its place again, and nothing but that.
	_ = c.ws.CloseNow()
	lab.hub.await(t, "the loss", func() bool { return slices.Contains(lab.hub.calls, "disconnected") })
	c = lab.come("/", "", "1")
	c.send(said("2"))
	lab.hub.awaitLines(t, said("1"), said("2"))
	if n := len(lab.awaitDials(2)); n != 2 {
		t.Errorf("coming back made it CLI %d", n)
	}
	// The name of a session of another, and a wrong token, are refused.
	if _, err := lab.upgrade("/ws/cli/s1", "", ""); err == nil {
		t.Error("a stranger came in by the name of another's session")
	}
	if _, err := lab.upgrade("/", "wrong", ""); err == nil {
		t.Error("a wrong token is as good as none")
	}
	if got := refused(); !slices.Equal(got, []string{RefusedOpen}) {
		t.Errorf("refused were %q", got)
	}
}

// TestOpenDialNames holds that names of CLIs without a credential are their own: one with a
// token, and the same name, is another CLI, also when it comes second.
func TestOpenDialNames(t *testing.T) {
	lab, _ := openLab(t, &DialOptions{})
	lab.come("/ws/cli/work", "shared", "")
	lab.come("/ws/cli/work", "", "")
	mine := lab.come("/ws/cli/mine", "", "")
	mine.ws.CloseRead(t.Context()) // it answers pings
	lab.come("/ws/cli/mine", "shared", "")
	dials := lab.awaitDials(4)
	open := 0
	for _, d := range dials {
		if d.Unauthenticated {
			open++
		}
	}
	if len(dials) != 4 || open != 2 {
		t.Errorf("there are %d CLIs, %d of them without a token; want 4 and 2", len(dials), open)
	}
	// While one lives, no other has its name.
	if _, err := lab.upgrade("/ws/cli/mine", "", ""); err == nil {
		t.Error("a second CLI has taken the place of one that lives")
	}
}

// TestOpenDialTakesNoLine holds that to know a line of another CLI does not help a CLI
// without a credential, nor one with a token to get the session of one without.
func TestOpenDialTakesNoLine(t *testing.T) {
	lab, _ := openLab(t, &DialOptions{})
	theirs := lab.come("/", "shared", "")
	theirs.send(said("theirs"))
	open := lab.come("/", "", "")
	open.send(said("open"))
	lab.hub.await(t, "both lines", func() bool { return lab.hub.lineCount() == 2 })
	lab.come("/", "", "theirs").send(said("a"))
	lab.come("/", "shared", "open").send(said("b"))
	lab.hub.await(t, "all lines", func() bool { return lab.hub.lineCount() == 4 })
	if n := len(lab.awaitDials(4)); n != 4 {
		t.Errorf("there are %d CLIs, want 4", n)
	}
}

func TestOpenDialRefused(t *testing.T) {
	lab, refused := openLab(t, &DialOptions{Open: func(*http.Request) bool { return false }})
	if _, err := lab.upgrade("/", "", ""); err == nil {
		t.Error("a stranger came in")
	}
	if status := lab.post("/events", "", said("1")); status != http.StatusForbidden {
		t.Errorf("a POST is answered with %d", status)
	}
	lab.come("/", "shared", "")
	if got := refused(); !slices.Equal(got, []string{RefusedOpen, RefusedOpen}) {
		t.Errorf("refused were %q", got)
	}
}

// TestOpenDialRunner holds that what a CLI says of its environment reaches the hub.
func TestOpenDialRunner(t *testing.T) {
	lab, _ := openLab(t, &DialOptions{})
	lab.header = http.Header{runnerHeader: {"env-runner 7"}}
	lab.come("/", "", "")
	lab.come("/", "shared", "")
	for _, d := range lab.awaitDials(2) {
		if d.Runner != "env-runner 7" {
			t.Errorf("the hub was told %+v", d)
		}
	}
}

// TestOpenDialTotal holds how many may be there, that one that is gone makes room, and that
// CLIs with a token do not count.
func TestOpenDialTotal(t *testing.T) {
	lab, refused := openLab(t, &DialOptions{MaxOpen: 2})
	first := lab.come("/", "", "")
	lab.come("/", "shared", "")
	lab.come("/", "", "")
	lab.awaitDials(3)
	if _, err := lab.upgrade("/", "", ""); err == nil {
		t.Error("a third one came in")
	}
	if got := refused(); !slices.Equal(got, []string{RefusedOpenTotal}) {
		t.Errorf("refused were %q", got)
	}
	lab.come("/", "shared", "")
	_ = first.ws.CloseNow()
	lab.hub.await(t, "the loss", func() bool { return slices.Contains(lab.hub.calls, "disconnected") })
	lab.come("/", "", "")
	lab.awaitDials(5)
	lab.hub.await(t, "the end of the first", func() bool {
		return slices.ContainsFunc(lab.hub.links, func(l *fakeRunLink) bool { return l.over && errors.Is(l.lost, hub.ErrGone) })
	})
	if _, err := lab.upgrade("/", "", ""); err == nil {
		t.Error("there is room for more than two")
	}
}

// TestOpenDialFlood has a stranger begin session after session.
func TestOpenDialFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab, refused := openLab(t, &DialOptions{MaxOpen: 4})
		in := 0
		for range 3 * openBurst {
			c, err := lab.upgrade("/", "", "")
			if err == nil {
				in++
				_ = c.ws.CloseNow()
			}
			synctest.Wait()
		}
		if in != openBurst {
			t.Errorf("%d came in, want %d", in, openBurst)
		}
		got := refused()
		if len(got) != 2*openBurst || slices.ContainsFunc(got, func(reason string) bool { return reason != RefusedOpenRate }) {
			t.Errorf("%d were refused, with %q first", len(got), got[0])
		}
		lab.dial.mu.Lock()
		n := len(lab.dial.callers)
		lab.dial.mu.Unlock()
		if n > 4 {
			t.Errorf("%d are remembered", n)
		}
		lab.come("/", "shared", "") // others come in all the same
		time.Sleep(2 * openEvery)
		lab.come("/", "", "")
	})
}

func TestBucket(t *testing.T) {
	var b bucket
	now := time.Now()
	for range openBurst {
		if !b.take(now) {
			t.Fatal("the first ones are refused")
		}
	}
	if b.take(now) || b.take(now.Add(openEvery-1)) {
		t.Error("there is no bound")
	}
	if !b.take(now.Add(openEvery)) || b.take(now.Add(openEvery)) {
		t.Error("a moment later there is room for one")
	}
	later := now.Add(time.Hour)
	n := 0
	for b.take(later) {
		n++
	}
	if n != openBurst {
		t.Errorf("after an hour there is room for %d", n)
	}
}
