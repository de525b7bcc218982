package hub

import (
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// How many bytes of a session are kept in memory for followers, at least, and while there
// are some; up to twice as many are. A follower that lags behind them reads the journal,
// and of live lines is given the whole partial message.
const (
	feedBytes    = 16 << 10
	watchedBytes = 1 << 20
)

// A feed is what followers of a session read: the newest committed entries and live
// lines, and the partial message.
type feed struct {
	session string

	mu      sync.Mutex
	epoch   string
	seq     int64 // of the newest entry
	ring    ring
	partial fold.Partial
	whole   *api.Partials       // partial as followers get it; nil if no follower has asked since it changed
	changed broadcast.Broadcast // there is more, or closed was set
	closed  bool
	busy    bool // something was published since forgetIdle was called
}

// publish shows a step that was committed.
func (f *feed) publish(st *step, items *[]globalItem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.show(st, items)
}

// show is publish with mu held. What it shows is appended to items, if that is not
// nil.
func (f *feed) show(st *step, items *[]globalItem) {
	f.busy, f.whole = true, nil
	f.epoch = st.s.projection.Epoch
	events := &chunk{}
	for i, v := range st.shown {
		var event api.Event
		kind, position := api.FrameLive, int64(0)
		if v.live == nil {
			e := &st.entries[v.entry]
			event = f.entry(e, v.line)
			kind, position = api.FrameEvent, e.Position
		} else {
			var fresh bool
			if event, fresh = f.liveLine(v.live, v.line, st); !fresh {
				continue
			}
		}
		if events.full() {
			events = newChunk(len(st.shown) - i)
		}
		shown, text := events.add(event)
		f.ring.add(api.Frame{Type: kind, Event: shown}, text, f.seq)
		if items != nil {
			*items = append(*items, globalItem{event: shown, text: text, position: position})
		}
	}
	if st.s.followers.Load() > 0 {
		f.ring.trim(watchedBytes)
	} else {
		f.ring.trim(feedBytes)
	}
	f.changed.Notify()
}

// entry returns the event of an entry. line is its line as it was folded, if it is one of
// the CLI. mu is held.
func (f *feed) entry(e *journal.Entry, line *fold.Line) api.Event {
	f.seq = e.Seq
	switch e.Kind {
	case api.KindLine:
		if line == nil {
			line = fold.NewLine(e.Line, false)
		}
		f.partial.Apply(line)
	case api.KindRunStarted:
		f.partial.Happened(fold.Event{Kind: fold.EventStarted, Run: e.Run})
	case api.KindRunEnded:
		f.partial.Happened(fold.Event{Kind: fold.EventEnded})
	}
	return record.LineEvent(e, f.epoch, line)
}

// liveLine returns the event of a live line. One that is repeated after a reconnect is only
// folded: followers get the partial message instead. mu is held.
func (f *feed) liveLine(v *Item, l *fold.Line, st *step) (event api.Event, fresh bool) {
	if v.Hole {
		f.partial = fold.Partial{} // what is left would be a text with a hole
	}
	f.partial.Apply(l)
	if wire.ClassOf(l.Header) != wire.Live {
		return event, false // a durable line that is in the log already, repeated by a CLI that dialled in
	}
	event = api.Event{Session: f.session, Run: st.s.projection.Run, Time: st.now, Source: string(journal.SourceAgent), Kind: api.KindLive, After: f.seq}
	record.SetLine(&event, l)
	return event, true
}

// forgetIdle forgets what followers are not likely to want any more, if nothing was published
// since it was called last.
func (f *feed) forgetIdle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		f.busy = false
		return
	}
	f.ring.forget()
	f.whole = nil
}

// close ends all cursors.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Notify()
}

// partials returns what is being written. It is the same for all callers, which may
// be many and must not change it. mu is held.
func (f *feed) partials() *api.Partials {
	if f.whole != nil {
		return f.whole
	}
	p := &api.Partials{Session: f.session, Messages: []api.Partial{}, After: f.seq}
	for _, m := range f.partial.Messages() {
		p.Messages = append(p.Messages, toPartial(m))
	}
	f.whole = p
	return p
}
