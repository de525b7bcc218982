package budget

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The kinds of holds.
const (
	HoldBudget    = "budget"
	HoldRateLimit = "rate_limit"
)

// Why a hold is over.
const (
	overReleased = "released" // a person released it
	overReset    = "reset"    // its time has come
	overGone     = "gone"     // what it was about is not so any more
)

// A State is what is derived from a session's entries about what it may use:
// what holds it back, what was granted beyond a budget, what was told, and how
// long it has been at work. It is a reducer, and knows no clock and no
// configuration.
type State struct {
	// Holds are the open ones, the oldest first.
	Holds []record.Hold `json:"holds,omitempty"`
	// Grants are what releases allowed beyond budgets, Marks which budgets were
	// told to be nearly used up or used up.
	Grants []record.Grant `json:"grants,omitempty"`
	Marks  []mark         `json:"marks,omitempty"`
	// Worked is how long the session has been at work until Since, which is when
	// it began to be at work; zero while it is not.
	Worked time.Duration `json:"worked,omitempty"`
	Since  time.Time     `json:"since,omitzero"`
	// Idle is since when the session is idle, zero while it is not. A lost
	// connection changes nothing. Idled are the budgets of which a notification was sent.
	Idle  time.Time `json:"idle,omitzero"`
	Idled []string  `json:"idled,omitempty"`
	// Rested says that the run was ended because it was idle, so that a prompt
	// which came too late for it has another started.
	Rested bool `json:"rested,omitempty"`
	// Rejected are the account's limits that are reached, by their kind; Passed
	// has the entry with which the hold of such a limit ended.
	Rejected map[string]rejection `json:"rejected,omitempty"`
	Passed   map[string]int64     `json:"passed,omitempty"`
	// Finished is a result without a notification yet, since the session has not
	// become idle after it; Done is the one with which it did. Failed is the last
	// result of a turn that failed by itself.
	Finished int64 `json:"finished,omitempty"`
	Done     int64 `json:"done,omitempty"`
	Failed   int64 `json:"failed,omitempty"`
}

// A mark says that a notification of a budget was sent, with the limit that it had.
type mark struct {
	Budget string  `json:"budget"`
	Unit   string  `json:"unit"`
	Day    string  `json:"day,omitempty"`
	Limit  float64 `json:"limit"`
	Over   bool    `json:"over,omitempty"`
}

// A rejection says that one of the account's limits is reached: the entry that
// told it last, and when the limit is over, if that is known.
type rejection struct {
	Seq   int64     `json:"seq"`
	Until time.Time `json:"until,omitzero"`
}

// How many kinds of rate limits are told apart, and how long their names may be.
const (
	maxLimits    = 16
	maxLimitName = 128
)

// maxMarks is how many grants and marks are kept: more than there are budgets.
const maxMarks = 128

// Facts are what else is known of the session after an entry.
type Facts struct {
	// Phase is what the session does, Told what its last state entry told.
	Phase, Told fold.Phase
	// Result is that of the last turn, nil if there is none.
	Result *fold.TurnEnd
}

// Apply folds an entry that the session has folded, with its line if it is one of
// the CLI. Entries that cannot be read change nothing.
func (l *State) Apply(e *journal.Entry, line *fold.Line, facts Facts) {
	switch e.Kind {
	case api.KindLine:
		l.line(e, line, facts.Result)
	case api.KindHold:
		var h record.Hold
		if json.Unmarshal(e.Data, &h) == nil {
			l.open(h)
		}
	case api.KindHoldOver:
		var d record.HoldOver
		if json.Unmarshal(e.Data, &d) == nil {
			l.over(d, e.Seq)
		}
	case api.KindBudget:
		var d record.Budget
		if json.Unmarshal(e.Data, &d) == nil {
			l.told(d)
		}
	case api.KindRunStarted:
		l.Rested = false
	case api.KindState:
		if facts.Told == fold.PhaseIdle {
			l.Done, l.Finished = l.Finished, 0
		}
	}
	l.clock(facts.Phase, e.Time)
}

// line folds what a line of the CLI says about rate limits and turns.
func (l *State) line(e *journal.Entry, line *fold.Line, result *fold.TurnEnd) {
	switch h := line.Header; {
	case h.Is("rate_limit_event", ""):
		m, err := line.Message()
		if r, ok := m.(*wire.RateLimitEvent); err == nil && ok {
			l.rateLimit(&r.RateLimitInfo, e.Seq)
		}
	case h.Is("assistant", "") && len(l.Rejected) > 0 && len(h.ParentToolUseID) == 0:
		// The CLI only tells of a limit when something about it changes. A reader that
		// goes on regardless finds out by this that it still holds.
		m, err := line.Message()
		if a, ok := m.(*wire.Assistant); err == nil && ok && a.Error == wire.AssistantErrorRateLimit {
			for kind, r := range l.Rejected {
				r.Seq = e.Seq
				l.Rejected[kind] = r
			}
		}
	case h.Is("result", "") && result != nil && result.Seq == e.Seq:
		switch {
		case !result.Failed:
			l.Finished = e.Seq
		case !result.Interrupted:
			l.Failed, l.Finished = e.Seq, 0
		default:
			l.Finished = 0
		}
	}
}

// rateLimit folds what the CLI tells of one of the account's limits.
func (l *State) rateLimit(info *wire.RateLimitInfo, seq int64) {
	kind := string(info.RateLimitType)
	if kind == "" && info.Status == wire.RateLimitStatusAllowed {
		// So 2.1.120 says that requests pass again: of no window, that is of all.
		clear(l.Rejected)
		clear(l.Passed)
		return
	}
	if !rejected(info) {
		delete(l.Rejected, kind)
		delete(l.Passed, kind)
		return
	}
	if _, known := l.Rejected[kind]; len(kind) > maxLimitName || !known && len(l.Rejected) >= maxLimits {
		return
	}
	if l.Rejected == nil {
		l.Rejected = map[string]rejection{}
	}
	r := rejection{Seq: seq}
	if at := info.ResetsAt; at > 0 && at < 1<<40 {
		r.Until = time.Unix(int64(math.Ceil(at)), 0).UTC()
	}
	l.Rejected[kind] = r
}

// rejected reports whether requests are refused because of a limit: not while
// usage beyond the plan takes its place.
func rejected(info *wire.RateLimitInfo) bool {
	beyond := info.IsUsingOverage || info.OverageInUse ||
		info.OverageStatus == wire.RateLimitStatusAllowed || info.OverageStatus == wire.RateLimitStatusAllowedWarning
	return info.Status == wire.RateLimitStatusRejected && !beyond
}

// open notes a hold, or that it has changed.
func (l *State) open(h record.Hold) {
	if i := l.holdIndex(h.ID); i >= 0 {
		l.Holds[i] = h
		return
	}
	l.Holds = append(l.Holds, h)
}

// over notes that a hold is over.
func (l *State) over(d record.HoldOver, seq int64) {
	if i := l.holdIndex(d.ID); i >= 0 {
		if kind := l.Holds[i].Limit; l.Holds[i].Kind == HoldRateLimit {
			if l.Passed == nil {
				l.Passed = map[string]int64{}
			}
			l.Passed[kind] = seq
		}
		l.Holds = slices.Delete(l.Holds, i, i+1)
		if len(l.Holds) == 0 {
			l.Holds = nil // as it is before the first one
		}
	}
	if g := d.Granted; g != nil {
		l.Grants = slices.DeleteFunc(l.Grants, func(old record.Grant) bool { return old.Budget == g.Budget && old.Unit == g.Unit })
		l.Grants = lastOf(append(l.Grants, *g))
	}
}

// told notes that a notification of a budget was sent.
func (l *State) told(d record.Budget) {
	if d.Unit == Idle {
		l.Idled = lastOf(append(l.Idled, d.Name))
		l.Rested = l.Rested || d.Over && d.Action != Warn
		return
	}
	l.Marks = slices.DeleteFunc(l.Marks, func(old mark) bool { return old.Budget == d.Name && old.Unit == d.Unit })
	l.Marks = lastOf(append(l.Marks, mark{Budget: d.Name, Unit: d.Unit, Day: d.Day, Limit: d.Limit, Over: d.Over}))
}

func lastOf[T any](list []T) []T {
	if over := len(list) - maxMarks; over > 0 {
		list = slices.Delete(list, 0, over)
	}
	return list
}

// clock counts the time at work and notes since when the session is idle.
func (l *State) clock(phase fold.Phase, now time.Time) {
	atWork := phase == fold.PhaseRunning || phase == fold.PhaseRequiresAction
	l.Rested = l.Rested && !atWork
	switch {
	case atWork && l.Since.IsZero():
		l.Since = now
	case !atWork && !l.Since.IsZero():
		l.Worked += max(0, now.Sub(l.Since))
		l.Since = time.Time{}
	}
	switch {
	case phase == fold.PhaseIdle && l.Idle.IsZero():
		l.Idle, l.Idled = now, nil
	case phase != fold.PhaseIdle && phase != fold.PhaseOffline:
		l.Idle, l.Idled = time.Time{}, nil
	}
}

// worked returns how long the session has been at work by now.
func (l *State) worked(now time.Time) time.Duration {
	if l.Since.IsZero() {
		return l.Worked
	}
	return l.Worked + max(0, now.Sub(l.Since))
}

func (l *State) holdIndex(id string) int {
	return slices.IndexFunc(l.Holds, func(h record.Hold) bool { return h.ID == id })
}

// marked reports whether a notification of a meter was sent: that it is nearly used up,
// or that it is.
func (l *State) marked(m *Meter, over bool) bool {
	return slices.ContainsFunc(l.Marks, func(v mark) bool {
		return v.Budget == m.budget.Name && v.Unit == m.unit && v.Day == m.day && v.Limit == m.limit && (v.Over || !over)
	})
}

// granted returns what a release has put in the place of a meter's limit; nil if
// nothing has.
func (l *State) granted(m *Meter) *record.Grant {
	for i := range l.Grants {
		if g := &l.Grants[i]; g.Budget == m.budget.Name && g.Unit == m.unit && g.Day == m.day {
			return g
		}
	}
	return nil
}

// Paused reports whether a budget is used up, so that rules allow nothing
// on their own: a person is to decide how the session goes on.
func (l *State) Paused() bool {
	return slices.ContainsFunc(l.Holds, func(h record.Hold) bool { return h.Kind == HoldBudget })
}
