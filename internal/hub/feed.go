package hub

import (
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// How much of a session is kept in memory for followers, and while there are
// some. A follower that lags behind it reads the journal, or, of live lines, is given the
// whole partial message.
const (
	ringBytes    = 16 << 10
	liveBytes    = 12 << 10
	watchedBytes = 1 << 20 // of each of the two
)

// A feed is what followers of a session read: the newest committed entries, the
// newest live lines, and the partial message.
type feed struct {
	session string

	mu      sync.Mutex
	epoch   string
	seq     int64 // of the newest entry
	entries []*api.Event
	size    int
	live    []liveLine
	liveAt  int64 // number of the first in live, counted from 0
	liveLen int
	partial fold.Partial
	whole   *api.Partials // partial as followers get it; nil if no follower has asked since it changed
	changed chan struct{} // closed at the next change; nil if no goroutine waits
	closed  bool
	busy    bool // something was published since quiet was called
}

// A liveLine is one that is not kept.
type liveLine struct {
	after int64
	event *api.Event
	size  int
}

// publish shows a step that was committed.
func (f *feed) publish(st *step, items *[]wideItem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.show(st, items)
}

// show is publish with mu held. What it shows is appended to items, if that is not
// nil.
func (f *feed) show(st *step, items *[]wideItem) {
	f.busy, f.whole = true, nil
	f.epoch = st.s.book.Epoch
	for _, v := range st.shown {
		var item wideItem
		if v.live == nil {
			e := &st.entries[v.entry]
			item = wideItem{event: f.entry(e, v.line), position: e.Position}
		} else {
			item.event = f.liveLine(v.live, v.line, st)
		}
		if items != nil && item.event != nil {
			*items = append(*items, item)
		}
	}
	f.trim(st.s.followers.Load() > 0)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// entry shows an entry. line is its line as it was folded, if it is one of the
// CLI. mu is held.
func (f *feed) entry(e *journal.Entry, line *fold.Line) *api.Event {
	event := record.LineEvent(e, f.epoch, line)
	f.seq = e.Seq
	f.entries = append(f.entries, event)
	f.size += sizeOf(event)
	if e.Kind == api.KindLine {
		if line == nil {
			line = fold.NewLine(e.Line, false)
		}
		f.partial.Apply(line)
		return event
	}
	switch e.Kind {
	case api.KindRunStarted:
		f.partial.Happened(fold.Event{Kind: fold.EventStarted, Run: e.Run})
	case api.KindRunEnded:
		f.partial.Happened(fold.Event{Kind: fold.EventEnded})
	}
	return event
}

// liveLine shows a live line. One that is repeated after a reconnect is only
// folded: followers get the partial message instead. mu is held.
func (f *feed) liveLine(v *Item, l *fold.Line, st *step) *api.Event {
	if v.Hole {
		f.partial = fold.Partial{} // what is left would be a text with a hole
	}
	f.partial.Apply(l)
	if wire.ClassOf(l.Header) != wire.Live {
		return nil // a durable line that is in the log already, repeated by a CLI that dialled in
	}
	event := &api.Event{Session: f.session, Run: st.s.book.Run, Time: st.now, Source: string(journal.SourceAgent), Kind: api.KindLive, After: f.seq}
	record.SetLine(event, l)
	size := sizeOf(event)
	f.live = append(f.live, liveLine{after: f.seq, event: event, size: size})
	f.liveLen += size
	return event
}

// trim forgets the oldest, when there is a good deal too much. mu is held.
func (f *feed) trim(watched bool) {
	ring, live := ringBytes, liveBytes
	if watched {
		ring, live = watchedBytes, watchedBytes
	}
	if f.size > ring+ring/4 {
		n := 0
		for f.size > ring && n < len(f.entries)-1 {
			f.size -= sizeOf(f.entries[n])
			n++
		}
		f.entries = append([]*api.Event(nil), f.entries[n:]...)
	}
	stale := len(f.live) > 0 && f.live[0].after < f.seq-64
	if f.liveLen > live+live/4 || stale {
		n := 0
		for n < len(f.live) && (f.liveLen > live || f.live[n].after < f.seq-64) {
			f.liveLen -= f.live[n].size
			n++
		}
		f.live = append([]liveLine(nil), f.live[n:]...)
		f.liveAt += int64(n)
	}
}

// quiet forgets what followers are not likely to want any more, if nothing was published
// since it was called last.
func (f *feed) quiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		f.busy = false
		return
	}
	f.entries, f.size = nil, 0
	f.liveAt += int64(len(f.live))
	f.live, f.liveLen, f.whole = nil, 0, nil
}

// change returns a channel that is closed at the next change. mu is held.
func (f *feed) change() <-chan struct{} {
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

// close ends all cursors.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
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

// sizeOf returns about how much memory an event takes.
func sizeOf(e *api.Event) int { return len(e.Line) + len(e.Data) + len(e.Text) + len(e.Base64) + 384 }
