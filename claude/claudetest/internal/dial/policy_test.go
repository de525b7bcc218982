package dial

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestPolicyFor(t *testing.T) {
	for _, tt := range []struct {
		version wire.Version
		want    wire.Version
	}{
		{wire.Version{}, v37},
		{v37, v37},
		{wire.Version{Major: 2, Minor: 1, Patch: 119}, v37},
		{v120, v120},
		{wire.Version{Major: 2, Minor: 1, Patch: 325}, v120},
	} {
		if diff := cmp.Diff(PolicyFor(tt.want), PolicyFor(tt.version)); diff != "" {
			t.Errorf("%v is not treated as %v: %s", tt.version, tt.want, diff)
		}
	}
	if cmp.Equal(PolicyFor(v37), PolicyFor(v120)) {
		t.Error("both versions have the same policy")
	}
}

// TestRetries plays losses and failed attempts, each after the pause before it, and compares the pauses.
func TestRetries(t *testing.T) {
	const (
		loss    = false
		failure = true
	)
	failures := func(first bool, n int) []bool { return append([]bool{first}, slices.Repeat([]bool{failure}, n)...) }
	sec := func(list ...float64) []time.Duration {
		var d []time.Duration
		for _, s := range list {
			d = append(d, time.Duration(s*float64(time.Second)))
		}
		return d
	}
	for _, tt := range []struct {
		name   string
		policy wire.Version
		chance float64
		play   []bool
		want   []time.Duration
		ends   bool
	}{
		{"2.1.37 after a loss", v37, 0.9, failures(loss, 2), sec(1, 4), true},
		{"2.1.37 from the beginning", v37, 0.1, failures(failure, 1), sec(2), true},
		{"2.1.120 after a loss", v120, 0.5, failures(loss, 7), sec(1, 2, 4, 8, 16, 30, 30, 30), false},
		{"2.1.120 from the beginning", v120, 0.5, failures(failure, 3), sec(1, 2, 4, 8), false},
		{"2.1.120 in a hurry", v120, 0, failures(loss, 5), sec(0.75, 1.5, 3, 6, 12, 22.5), false},
		{"2.1.120 with patience", v120, 1, failures(loss, 5), sec(1.25, 2.5, 5, 10, 20, 37.5), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := PolicyFor(tt.policy)
			r := retries{policy: &p}
			for round := range 2 { // an open connection makes all forgotten
				now := time.Unix(1000, 0)
				var got []time.Duration
				ended := false
				for _, failed := range tt.play {
					pause, ok := r.lost(now, failed, tt.chance)
					if ended = !ok; ended {
						break
					}
					got = append(got, pause)
					now = now.Add(pause)
				}
				if !slices.Equal(got, tt.want) || ended != tt.ends {
					t.Errorf("round %d: pauses %v, ended %v; want %v, %v", round, got, ended, tt.want, tt.ends)
				}
				r.opened()
			}
		})
	}
}

// 2.1.120 gives up with the first attempt that fails later than ten minutes after the loss.
func TestRetriesGiveUp(t *testing.T) {
	p := PolicyFor(v120)
	r := retries{policy: &p}
	began := time.Unix(1000, 0)
	now := began
	attempts := 0
	for failed := false; ; failed = true {
		pause, ok := r.lost(now, failed, 0.5)
		if !ok {
			break
		}
		attempts++
		now = now.Add(pause)
	}
	// 1+2+4+8+16 and then 30 each: the attempt at 601 s is the last.
	if got, want := now.Sub(began), 601*time.Second; got != want || attempts != 24 {
		t.Errorf("gave up after %v and %d attempts, want %v and 24", got, attempts, want)
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		status      int
		on37, on120 verdict
	}{
		{200, taken, taken},
		{201, taken, taken},
		{202, again, taken},
		{204, again, taken},
		{206, again, taken},
		{302, again, again},
		{304, again, again},
		{400, refused, refused},
		{401, refused, refused},
		{403, refused, refused},
		{404, refused, refused},
		{408, refused, refused},
		{409, refused, refused},
		{413, refused, refused},
		{425, refused, refused},
		{429, again, again},
		{500, again, again},
		{503, again, again},
		{529, again, again},
	} {
		for version, want := range map[wire.Version]verdict{v37: tt.on37, v120: tt.on120} {
			p := PolicyFor(version)
			if got := p.Post.judge(tt.status); got != want {
				t.Errorf("%v: status %d is judged %d, want %d", version, tt.status, got, want)
			}
		}
	}
}

func TestPostPauses(t *testing.T) {
	const ms = time.Millisecond
	on37, on120 := PolicyFor(v37).Post, PolicyFor(v120).Post
	for i, want := range []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 8000 * ms, 8000 * ms} {
		n := i + 1
		if got := on37.pause(n, 0.7); got != want {
			t.Errorf("2.1.37: pause %d is %v, want %v", n, got, want)
		}
		if got := on120.pause(n, 0); got != want {
			t.Errorf("2.1.120: pause %d is at least %v, want %v", n, got, want)
		}
		if got, want := on120.pause(n, 0.25), want+250*ms; got != want {
			t.Errorf("2.1.120: pause %d with some jitter is %v, want %v", n, got, want)
		}
	}
}
