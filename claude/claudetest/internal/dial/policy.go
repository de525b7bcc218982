package dial

import (
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Policy is how a version of the CLI treats its connection. Each field is one fact, measured with the real program, so that a test can
// change one of them or make a delay short. Zero values mean that the version has no such habit.
type Policy struct {
	// MaxAttempts is how many attempts a lost connection is worth before the CLI gives up: 3 on 2.1.37.
	MaxAttempts int

	// FailureCostsTwo makes an attempt that fails use up two of MaxAttempts, with the pause of the second. So 2.1.37 tries 1 s and 5 s after a
	// loss, and once more, after 2 s, if the very first attempt failed.
	FailureCostsTwo bool

	// GiveUpAfter is how long after the loss an attempt may fail and still be followed by another: 10 minutes on 2.1.120. The last pause is not
	// cut short, so the end comes a little later.
	GiveUpAfter time.Duration

	// FirstDelay is the pause before the first attempt. Each further one is twice as long, up to MaxDelay.
	FirstDelay, MaxDelay time.Duration

	// Jitter is how much a pause may be longer or shorter, as a part of it: 0.25 on 2.1.120, whose pauses of 30 s were 24 to 36 s long.
	Jitter float64

	// RefusalEnds makes any HTTP answer to an attempt but 101 the end, as 2.1.120 does. On 2.1.37 it is a failed attempt.
	RefusalEnds bool

	// FinalCodes are the close codes that end the link at once: 1002, 4001 and 4003 on 2.1.120, none on 2.1.37.
	FinalCodes []int

	// KeepsFirstToken makes every attempt use the token of the first one, as 2.1.37 does. POSTs always use the current one.
	KeepsFirstToken bool

	// Ring is how many of the last lines with a uuid are sent again after every reconnect, whether they arrived or not: 1000 on 2.1.120. On
	// 2.1.37 it is 0: what is written while the link is down is lost. Lines without a uuid (control requests) are lost on both.
	Ring int

	// PingEvery is the time between two pings: 10 s. A ping that is not answered before the next is due means that the connection is lost.
	PingEvery time.Duration

	// KeepAliveEvery is the time between two keep_alive lines: 300 s on 2.1.120, never on 2.1.37.
	KeepAliveEvery time.Duration

	// CloseCode is the code that the CLI closes the WebSocket with: 1000 on 2.1.120. On 2.1.37 it is 0, a close frame without a code.
	CloseCode int

	// CloseWait bounds how long the server's part of the closing handshake is waited for. The real programs do not wait at all; a moment makes
	// sure that the close frame has left.
	CloseWait time.Duration

	// Post is how lines are POSTed, where they are.
	Post PostPolicy
}

// A PostPolicy is how a version of the CLI sends lines by POST. See docs/hybrid-post.md.
type PostPolicy struct {
	// UserAgent is the User-Agent of a POST. (Upgrades have none.)
	UserAgent string

	// MaxBatch is how many lines go into one POST: 1 on 2.1.37, 500 on 2.1.120. A batch ends behind the first line that is not a delta, since
	// the CLI writes its next line only when that one has been taken.
	MaxBatch int

	// Hold is how long a delta (stream_event) waits for company: 100 ms on 2.1.120. Any other line takes those before it along at once.
	Hold time.Duration

	// RequestsOvertake makes a control_request leave at once, beside the lines that wait for their turn: 2.1.37.
	RequestsOvertake bool

	// Takes are the statuses that mean a POST was taken: 200 and 201 on 2.1.37. Empty means all of 200 to 299.
	Takes []int

	// Tries is how often a POST is tried before its lines are dropped in silence: 10 on 2.1.37. 0 means without end.
	Tries int

	// FirstDelay is the pause before the second try. Each further one is twice as long, up to MaxDelay.
	FirstDelay, MaxDelay time.Duration

	// Jitter is how much is added to a pause at most: 1 s on 2.1.120, nothing on 2.1.37.
	Jitter time.Duration

	// Timeout is how long an answer is waited for: 15 s on 2.1.120, for ever on 2.1.37.
	Timeout time.Duration

	// ResendsOnCut makes a POST whose kept-alive connection breaks go out again at once, once, before the pauses begin: 2.1.120.
	ResendsOnCut bool
}

// PolicyFor returns the policy of a version of the CLI: that of 2.1.120 from there on, and that of 2.1.37 for all before it, an unknown version
// included. (2.1.62 is in between: it retries like 2.1.120 and loses lines like 2.1.37.)
func PolicyFor(v wire.Version) Policy {
	if v.AtLeast(2, 1, 120) {
		return Policy{
			GiveUpAfter:    10 * time.Minute,
			FirstDelay:     time.Second,
			MaxDelay:       30 * time.Second,
			Jitter:         0.25,
			RefusalEnds:    true,
			FinalCodes:     []int{1002, 4001, 4003},
			Ring:           1000,
			PingEvery:      10 * time.Second,
			KeepAliveEvery: 5 * time.Minute,
			CloseCode:      1000,
			CloseWait:      100 * time.Millisecond,
			Post: PostPolicy{
				UserAgent:    "axios/1.13.6",
				MaxBatch:     500,
				Hold:         100 * time.Millisecond,
				FirstDelay:   500 * time.Millisecond,
				MaxDelay:     8 * time.Second,
				Jitter:       time.Second,
				Timeout:      15 * time.Second,
				ResendsOnCut: true,
			},
		}
	}
	return Policy{
		MaxAttempts:     3,
		FailureCostsTwo: true,
		FirstDelay:      time.Second,
		MaxDelay:        30 * time.Second,
		KeepsFirstToken: true,
		PingEvery:       10 * time.Second,
		CloseWait:       100 * time.Millisecond,
		Post: PostPolicy{
			UserAgent:        "axios/1.8.4",
			MaxBatch:         1,
			RequestsOvertake: true,
			Takes:            []int{http.StatusOK, http.StatusCreated},
			Tries:            10,
			FirstDelay:       500 * time.Millisecond,
			MaxDelay:         8 * time.Second,
		},
	}
}

// doubling returns the n-th pause (from 1) of a sequence that begins with first and doubles up to limit.
func doubling(first, limit time.Duration, n int) time.Duration {
	d := first
	for ; n > 1 && d < limit; n-- {
		d *= 2
	}
	return min(d, limit)
}

// retries counts what a lost connection has cost so far. It is a value without a clock: the caller says what time it is.
type retries struct {
	policy *Policy
	count  int       // attempts used up since the connection last stood
	since  time.Time // when the first of them was counted
}

// opened forgets everything: the connection stands.
func (r *retries) opened() { r.count, r.since = 0, time.Time{} }

// lost counts a lost connection, or an attempt that failed, and returns the pause before the next attempt; ok is false if there shall be none.
// chance, in [0, 1), decides where in the range of the jitter the pause lies.
func (r *retries) lost(now time.Time, failed bool, chance float64) (pause time.Duration, ok bool) {
	p := r.policy
	if r.count == 0 {
		r.since = now
	}
	r.count++
	if failed && p.FailureCostsTwo {
		r.count++
	}
	if p.MaxAttempts > 0 && r.count > p.MaxAttempts || p.GiveUpAfter > 0 && now.Sub(r.since) >= p.GiveUpAfter {
		return 0, false
	}
	pause = doubling(p.FirstDelay, p.MaxDelay, r.count)
	return pause + time.Duration(p.Jitter*float64(pause)*(2*chance-1)), true
}

// verdict is what an answer to a POST means.
type verdict int

const (
	taken   verdict = iota // the lines have arrived
	refused                // they never will: dropped in silence
	again                  // try again
)

// judge says what a status means.
func (p *PostPolicy) judge(status int) verdict {
	switch {
	case slices.Contains(p.Takes, status), len(p.Takes) == 0 && status >= 200 && status <= 299:
		return taken
	case status >= 400 && status <= 499 && status != http.StatusTooManyRequests:
		return refused
	default:
		return again
	}
}

// pause returns the pause after the n-th try.
func (p *PostPolicy) pause(n int, chance float64) time.Duration {
	return doubling(p.FirstDelay, p.MaxDelay, n) + time.Duration(chance*float64(p.Jitter))
}
