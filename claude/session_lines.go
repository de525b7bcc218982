package claude

import (
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// received folds what the CLI wrote. The connection's reader calls it.
func (s *Session) received(next func() *arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folding = true
	defer func() { s.folding = false }()
	now := time.Now()
	durable := false
	for a := next(); a != nil; a = next() {
		l := &a.Line
		switch {
		case a.piece:
			s.partials.piece(l.Bytes, a.agent)
			continue
		case l.TooLong != nil:
			continue
		}
		switch wire.ClassOf(l.Header) {
		case wire.Live:
			s.partials.live(l)
		case wire.Consumed:
		case wire.Durable:
			if !s.putOff(l, now) {
				s.line(l, now)
				durable = true
			}
		}
	}
	if durable {
		s.tell()
	}
}

// line folds a line that means something. mu is held.
func (s *Session) line(l *Line, now time.Time) {
	s.catchUp()
	f := &fold.Line{Raw: l.Bytes, Header: l.Header, Seq: l.Number, Time: now}
	waiting := s.turns.waiting(&s.fold)
	tasks := len(s.fold.Tasks) > 0 && s.inBackground()
	changes := s.fold.Apply(f)
	if tasks && !s.inBackground() {
		s.turns.tasksOver = now
	}
	s.partials.durable(f)
	s.follow(f, waiting, s.costs.Apply(f))
	s.noteTrouble(f)
	if !f.Header.Is("assistant", "") {
		l.share(f) // it has been decoded; an ordinary message has not
	}
	if len(changes) > 0 {
		s.questionsChanged(changes)
	}
}

// Lines that are put off are folded when there are so many, or so much of them.
const (
	mostLate      = 128
	mostLateBytes = 512 << 10
)

// late are messages of the model that are not folded yet. Reading one costs more
// than all else that is done with it, and mostly nothing of what it tells is left
// when somebody looks, because the next one tells it anew.
//
// Nobody can see that they wait: catchUp comes before any other line is folded and
// before anything is shown that they could change, which is what Info shows of the
// conversation and its context and what becomes of the turn.
type late struct {
	lines []fold.Line // in order
	bytes int         // of lines
}

// putOff keeps a line to be folded later. It reports false if the line has to be
// folded now, as all but those have that change neither the phase nor the turn. mu
// is held.
func (s *Session) putOff(l *Line, now time.Time) bool {
	if t := s.turns.current; t == nil || !t.begun || !l.Header.Is("assistant", "") {
		return false
	}
	if s.late.lines == nil {
		s.late.lines = make([]fold.Line, 0, mostLate)
	}
	p := &s.late
	p.lines = append(p.lines, fold.Line{Raw: l.Bytes, Header: l.Header, Seq: l.Number, Time: now})
	f := &p.lines[len(p.lines)-1]
	if !s.fold.MayWait(f) {
		*f = fold.Line{}
		p.lines = p.lines[:len(p.lines)-1]
		return false
	}
	s.seen = f.Seq
	s.partials.durable(f)
	if p.bytes += len(f.Raw); len(p.lines) == mostLate || p.bytes > mostLateBytes {
		s.catchUp()
	}
	return true
}

// catchUp folds what was put off, except for that of which nothing would be left.
// mu is held.
func (s *Session) catchUp() {
	p := &s.late
	if len(p.lines) == 0 {
		return
	}
	first := 0
	for i := len(p.lines) - 1; i > 0; i-- {
		if s.fold.Settles(&p.lines[i]) {
			first = i
			break
		}
	}
	for i := range p.lines[first:] {
		f := new(fold.Line)
		*f = p.lines[first+i]
		s.fold.Apply(f) // it asks nothing
		if t := s.turns.current; t != nil {
			s.said(t, f)
		}
	}
	clear(p.lines)
	p.lines, p.bytes = p.lines[:0], 0
}
