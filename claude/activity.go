package claude

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// An Activity is something that happens in a session, in a form that is the same
// on all versions: one of *TurnStarted, *ActionChanged, *TurnCompleted and
// *PromptDropped.
type Activity interface{ activity() }

// TurnStarted says that a turn has begun: one that a person prompted, or one that
// tasks in the background have started when they were done.
type TurnStarted struct {
	// Turn is its number in this session, from 1.
	Turn int64
}

// ActionChanged says that a tool was called, or that its result is there.
type ActionChanged struct {
	wire.Action
	// Event is the number of the event that told it.
	Event int64
}

// TurnCompleted says that a turn is over. There is exactly one for every
// TurnStarted, also if the process ended in mid-turn.
type TurnCompleted struct {
	*Completion
}

// PromptDropped says that a prompt gets no turn: it was taken back, could not be
// sent, or the session ended before.
type PromptDropped struct {
	// ID is the prompt's.
	ID string
	// Err says why.
	Err error
}

func (*TurnStarted) activity()   {}
func (*ActionChanged) activity() {}
func (*TurnCompleted) activity() {}
func (*PromptDropped) activity() {}

// Activity returns what happens in the session, without the protocol's detail:
// turns that begin, what they do, and how each ended. Where it begins and how it
// ends is as with [Session.Events]; a [*LaggedError] says that something may be
// missing.
func (s *Session) Activity(ctx context.Context, after int64) iter.Seq2[Activity, error] {
	return func(yield func(Activity, error) bool) {
		if after == NewestEvent {
			after = s.conn.backlog.newest()
		}
		r := activityReader{s: s, yield: yield, next: s.firstMark(after), at: after}
		// What happens without a line is told when there is none to read.
		for l, err := range s.lines(ctx, after, func() bool { return r.marks(r.at, true) }) {
			if err != nil {
				// What happened behind the last line has no line to come with.
				if !r.marks(math.MaxInt64, true) || s.orderly(err) || !yield(nil, err) {
					return
				}
				continue
			}
			if !r.line(&l) {
				return
			}
		}
	}
}

// An activityReader merges what lines say with what the session has made of them.
type activityReader struct {
	s       *Session
	yield   func(Activity, error) bool
	next    int64 // the number of the mark to come
	at      int64 // the number of the last line
	actions wire.Actions
}

// line yields what happened up to a line. It reports false if that is enough.
func (r *activityReader) line(l *Line) bool {
	r.at = l.Number
	// A turn begins before what its first line tells, and ends behind what its
	// last one does.
	if !r.marks(l.Number, false) {
		return false
	}
	if h := l.Header; h.Is("assistant", "") || h.Is("user", "") {
		if m, err := l.Message(); err == nil {
			for _, a := range r.actions.Of(m) {
				if !r.yield(&ActionChanged{Action: a, Event: l.Number}, nil) {
					return false
				}
			}
		}
	}
	return r.marks(l.Number, true)
}

// marks yields what the session noted up to a line: if the line itself is not
// over, only what began with it.
func (r *activityReader) marks(line int64, over bool) bool {
	list, next := r.s.marksUpTo(r.next, line, over)
	r.next = next
	for _, a := range list {
		if !r.yield(a, nil) {
			return false
		}
	}
	return true
}

// A mark is something that happened at a line, or behind it.
type mark struct {
	line int64
	what Activity
}

// maxMarks is how many marks are kept at least.
const maxMarks = 512

// mark notes what happened at the newest line. mu is held.
func (s *Session) mark(what Activity) {
	t := &s.turns
	if t.marks = append(t.marks, mark{s.seen, what}); len(t.marks) > 2*maxMarks {
		t.marksGone += maxMarks
		t.marks = slices.Clone(t.marks[maxMarks:])
	}
	if !s.folding && s.conn != nil {
		s.conn.backlog.poke() // no line wakes the goroutines that wait
	}
}

// firstMark returns the number of the first mark behind a line.
func (s *Session) firstMark(after int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.turns.marks, func(m mark) bool { return m.line > after })
	if i < 0 {
		i = len(s.turns.marks)
	}
	return s.turns.marksGone + int64(i)
}

// marksUpTo returns the marks from a number on, up to a line; of that line only
// the beginning of a turn if the line is not over. It also returns the number of
// the next one.
func (s *Session) marksUpTo(next, line int64, over bool) ([]Activity, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turns
	next = max(next, t.marksGone)
	var list []Activity
	for ; next-t.marksGone < int64(len(t.marks)); next++ {
		m := t.marks[next-t.marksGone]
		_, begins := m.what.(*TurnStarted)
		if m.line > line || m.line == line && !over && !begins {
			break
		}
		list = append(list, m.what)
	}
	return list, next
}
