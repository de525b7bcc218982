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
	s.partials.durable(&f.Header, f.Raw)
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
	mostLate      = 256
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
	lines []lateLine // in order
	bytes int        // of lines
}

// A lateLine is as little of a line as is needed to fold it later.
type lateLine struct {
	raw, id []byte
	number  int64
	time    time.Time
	noText  bool       // it is known to have none
	made    *fold.Line // if it has been looked at
}

// line returns the line to fold.
func (l *lateLine) line() *fold.Line {
	if l.made == nil {
		l.made = fold.NewLine(l.raw, false)
		l.made.Seq, l.made.Time = l.number, l.time
	}
	return l.made
}

// putOff keeps a line to be folded later. It reports false if the line has to be
// folded now, as all but those have that change neither the phase nor the turn. mu
// is held.
func (s *Session) putOff(l *Line, now time.Time) bool {
	if t := s.turns.current; t == nil || !t.begun || !s.fold.MayWait(&l.Header) {
		return false
	}
	p := &s.late
	if p.lines == nil {
		p.lines = make([]lateLine, 0, mostLate)
	}
	p.lines = append(p.lines, lateLine{raw: l.Bytes, id: l.Header.UUID, number: l.Number, time: now, noText: l.Header.NoText()})
	s.seen = l.Number
	s.partials.durable(&l.Header, l.Bytes)
	if p.bytes += len(l.Bytes); len(p.lines) == mostLate || p.bytes > mostLateBytes {
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
	text, first := s.settled()
	if text >= 0 {
		s.foldLate(p.lines[text].line())
	}
	for i := range p.lines[first:] {
		s.foldLate(p.lines[first+i].line())
	}
	clear(p.lines)
	p.lines, p.bytes = p.lines[:0], 0
}

// settled returns which lines that were put off have to be folded: from the first on
// all of them, and before it the one with the last text, -1 if there is none or that is
// another line's. mu is held.
func (s *Session) settled() (text, first int) {
	lines := s.late.lines
	for i := len(lines) - 1; i > 0; i-- {
		has, ok := s.fold.Settles(lines[i].line())
		if !ok {
			continue
		}
		if has {
			return -1, i
		}
		text, known := lastText(lines[:i])
		if !known {
			return -1, 0
		}
		// Lines are told apart by their ids.
		id := s.fold.TextUUID
		if text >= 0 {
			id = string(lines[text].id)
		}
		for j := range lines[text+1:] {
			if string(lines[text+1+j].id) == id {
				return -1, 0
			}
		}
		return text, i
	}
	return -1, 0
}

// lastText returns which line is the last with text, -1 if there is none. It reports
// false if that is not known.
func lastText(lines []lateLine) (text int, known bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].noText {
			continue
		}
		if has, sure := lines[i].line().HasText(); has || !sure {
			return i, sure
		}
	}
	return -1, true
}

func (s *Session) foldLate(f *fold.Line) {
	s.fold.Apply(f) // it asks nothing
	if t := s.turns.current; t != nil {
		s.said(t, f)
	}
}
