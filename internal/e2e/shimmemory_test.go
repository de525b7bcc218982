//go:build linux

package e2e

import (
	"fmt"
	"testing"
)

// The bounds of memory for a shim that has nothing to do, in MiB: resident, and what of
// it no other process shares.
const (
	shimResident  = 12
	shimAnonymous = 10
)

// TestShimMemory has a shim start, and carry much, and looks whether it gives back what
// it needed for that. It is without the race detector, whose memory is not the
// program's.
func TestShimMemory(t *testing.T) {
	t.Parallel()
	l := newLab(t, &labOptions{plain: true})
	l.start()
	s := l.mustCreate(nil)
	if err := s.turn(l.ctx(), "first", saying("hello")); err != nil {
		t.Fatal(err)
	}
	shims := l.shims()
	if len(shims) != 1 {
		t.Fatalf("there are %d shims, want 1", len(shims))
	}
	rests := func(when string) {
		t.Helper()
		highest := 0.0
		if err := eventually(patience, func() error {
			rss, pss, anonymous, err := footprint(shims[0])
			if err != nil {
				return err
			}
			highest = max(highest, rss)
			if rss > shimResident || anonymous > shimAnonymous {
				return fmt.Errorf("%.1f MiB are resident, %.1f MiB of that anonymous; want at most %d and %d", rss, anonymous, shimResident, shimAnonymous)
			}
			t.Logf("a shim %s: %.1f MiB resident, at first %.1f; %.1f MiB with shared pages divided, %.1f MiB anonymous", when, rss, highest, pss, anonymous)
			return nil
		}); err != nil {
			t.Fatalf("a shim %s: %v", when, err)
		}
	}
	rests("that is idle")
	if err := s.turn(l.ctx(), "flood", "@huge 5000000\n"+saying("that was much")); err != nil {
		t.Fatal(err)
	}
	rests("after a flood")
}
