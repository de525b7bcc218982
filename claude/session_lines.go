package claude

import (
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// received folds the lines of one read. The connection's readLoop calls it.
func (s *Session) received(lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folding = true
	defer func() { s.folding = false }()
	now := time.Now()
	durable := false
	for i := range lines {
		l := &lines[i]
		if l.TooLong != nil {
			continue
		}
		switch wire.ClassOf(l.Header) {
		case wire.Live:
			f := fold.Line{Raw: l.Bytes, Header: l.Header}
			s.partial.Apply(&f)
			l.shareFolded(&f)
		case wire.Consumed:
		case wire.Durable:
			s.line(l, now)
			durable = true
		}
	}
	if durable {
		s.notifyChanges()
	}
}

// line folds a line that means something. mu is held.
func (s *Session) line(l *Line, now time.Time) {
	f := fold.Line{Raw: l.Bytes, Header: l.Header, Seq: l.Number, Time: now}
	waiting := s.turns.waiting(&s.fold)
	tasks := len(s.fold.Tasks) > 0 && s.inBackground()
	changes := s.fold.Apply(&f)
	if tasks && !s.inBackground() {
		s.turns.tasksOver = now
	}
	s.partial.Apply(&f)
	s.follow(&f, waiting, s.costs.Apply(&f))
	s.noteTrouble(&f)
	l.shareFolded(&f)
	if len(changes) > 0 {
		s.questionsChanged(changes)
	}
}

// shareFolded lets readers use what a reducer has decoded, if it has.
func (l *Line) shareFolded(f *fold.Line) {
	if m, ok := f.Ready(); ok {
		l.share(m, nil)
	}
}
