package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// limitLine is what a CLI tells of one of its account's limits. No real CLI can be
// made to say it without a subscription; the simulated one says what it is told to.
func limitLine(status string, until time.Time, more string) string {
	return fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":%q,"resetsAt":%d,"rateLimitType":"five_hour"%s},"uuid":"u-%d-%s","session_id":"c"}`,
		status, until.Unix(), more, until.Unix(), status)
}

// TestRateLimit holds the queue while the account's limit is reached.
func TestRateLimit(t *testing.T) {
	until := noon.Add(3 * time.Hour)
	tests := []struct {
		name    string
		option  bool
		session bool
		release bool
	}{
		{"nobody said so", false, false, false},
		{"the hub's option", true, false, false},
		{"the session's option", false, true, false},
		{"somebody said so", false, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLimited(t, nil, func(o *hub.Options) { o.ResumeAtReset = test.option })
			s := l.create(api.CreateSession{Prompt: "@line " + limitLine("rejected", until, ""), Options: api.SessionOptions{ResumeAtReset: test.session}})
			held := l.awaitHeld(s.ID, 1)
			h := held.Holds[0]
			if h.Kind != "rate_limit" || !h.Until.Equal(until) || h.Resumes != (test.option || test.session) || h.Reason != "the account's limit for five hours is reached until 2026-03-01 06:00 UTC" {
				t.Errorf("the hold is %s", encode(h))
			}
			l.send(s.ID, "@say one")
			l.send(s.ID, "@say two")
			if test.release {
				if got := l.release(s.ID, api.Release{AtReset: true}); len(got.Holds) != 1 || !got.Holds[0].Resumes || got.Holds[0].ID != h.ID || len(got.Messages) != 2 {
					t.Errorf("released at the reset it is %s", encode(got))
				}
			}
			l.sameProjections(s.ID)
			l.restart()
			l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
			l.pass(3*time.Hour - time.Second)
			if got := l.snapshot(s.ID); len(got.Messages) != 2 || len(got.Holds) != 1 {
				t.Errorf("before the reset it is %s", encode(got))
			}
			l.pass(time.Second)
			if !test.option && !test.session && !test.release {
				if got := l.snapshot(s.ID); len(got.Messages) != 2 || len(got.Holds) != 1 {
					t.Errorf("nobody said that it should go on, and it is %s", encode(got))
				}
				l.release(s.ID, api.Release{})
			}
			l.await(s.ID, "it has gone on", func(s *api.Session) bool {
				return s.Cost.Turns == 3 && s.State == api.StateIdle && len(s.Messages) == 0
			})
			if got := l.snapshot(s.ID); len(got.Holds) != 0 {
				t.Errorf("then it is held by %s", encode(got.Holds))
			}
			if got := l.post.kinds(s.ID); got != "limit done done" {
				t.Errorf("the notifications are %s", got)
			}
			if n := l.count(s.ID, api.KindHoldOver); n != 1 {
				t.Errorf("%d holds are over", n)
			}
			l.sameProjections(s.ID)
		})
	}
}

// TestRateLimitOver has the CLI tell that the limit is over, or another end of it.
func TestRateLimitOver(t *testing.T) {
	l := newLimited(t, nil)
	until := noon.Add(time.Hour)
	s := l.create(api.CreateSession{Prompt: "@line " + limitLine("rejected", until, "")})
	first := l.awaitHeld(s.ID, 1).Holds[0]
	l.send(s.ID, "@say one")
	later := until.Add(time.Hour)
	l.launcher.of(s.ID).put([]byte(limitLine("rejected", later, "")), wire.Durable)
	moved := l.await(s.ID, "the end has moved", func(s *api.Session) bool { return len(s.Holds) == 1 && s.Holds[0].Until.Equal(later) })
	if moved.Holds[0].ID != first.ID || len(moved.Messages) != 1 {
		t.Errorf("then it is %s", encode(moved))
	}
	l.launcher.of(s.ID).put([]byte(limitLine("allowed", later, "")), wire.Durable)
	l.awaitDone(s.ID, 2)
	if got := l.post.kinds(s.ID); got != "limit done done" {
		t.Errorf("the notifications are %s", got)
	}
	l.sameProjections(s.ID)
}

// TestRateLimitOverUnnamed has the CLI tell that requests pass again without a
// window, as 2.1.120 does after an answer that names none.
func TestRateLimitOverUnnamed(t *testing.T) {
	l := newLimited(t, nil)
	s := l.create(api.CreateSession{Prompt: "@line " + limitLine("rejected", noon.Add(time.Hour), "")})
	l.awaitHeld(s.ID, 1)
	l.send(s.ID, "@say one")
	l.launcher.of(s.ID).put([]byte(`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","isUsingOverage":false},"uuid":"u-over","session_id":"c"}`), wire.Durable)
	l.awaitDone(s.ID, 2)
	l.sameProjections(s.ID)
}

// TestRateLimitAgain releases a session too early: the next refusal holds it
// again, although the CLI tells no limit anew.
func TestRateLimitAgain(t *testing.T) {
	l := newLimited(t, nil)
	until := noon.Add(time.Hour)
	s := l.create(api.CreateSession{Prompt: "@line " + limitLine("rejected", until, "")})
	first := l.awaitHeld(s.ID, 1).Holds[0]
	l.release(s.ID, api.Release{Hold: first.ID})
	l.send(s.ID, "@say fine")
	if got := l.awaitDone(s.ID, 2); len(got.Holds) != 0 {
		t.Errorf("after the release it is held by %s", encode(got.Holds))
	}
	l.launcher.of(s.ID).put([]byte(`{"type":"assistant","error":"rate_limit","message":{"id":"m1","type":"message","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"limit reached"}]},"uuid":"u9","session_id":"c"}`), wire.Durable)
	again := l.await(s.ID, "it is held again", func(s *api.Session) bool { return len(s.Holds) == 1 })
	if again.Holds[0].ID == first.ID || !again.Holds[0].Until.Equal(until) {
		t.Errorf("it is held by %s", encode(again.Holds))
	}
	l.sameProjections(s.ID)
}

// TestRateLimitNone has the CLI tell of limits that stop nothing.
func TestRateLimitNone(t *testing.T) {
	until := noon.Add(time.Hour)
	for name, line := range map[string]string{
		"allowed":              limitLine("allowed", until, ""),
		"warning":              limitLine("allowed_warning", until, ""),
		"beyond the plan":      limitLine("rejected", until, `,"isUsingOverage":true`),
		"beyond the plan, too": limitLine("rejected", until, `,"overageStatus":"allowed"`),
		"over already":         limitLine("rejected", noon.Add(-time.Minute), ""),
		"a status of tomorrow": limitLine("considered", until, ""),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimited(t, nil)
			s := l.create(api.CreateSession{Prompt: "@line " + line})
			l.send(s.ID, "@say more")
			if got := l.awaitDone(s.ID, 2); len(got.Holds) != 0 || l.count(s.ID, api.KindHold) != 0 {
				t.Errorf("it is held by %s", encode(got.Holds))
			}
		})
	}
}
