package hub

import (
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// How much of a session is kept in memory for followers. Who lags behind it
// reads the journal, or, of live lines, is given the whole partial message.
const (
	ringBytes = 16 << 10
	liveBytes = 12 << 10
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
	changed chan struct{} // closed at the next change; nil if nobody waits
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
func (f *feed) publish(st *step) {
	if len(st.shown) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = true
	f.epoch = st.s.book.Epoch
	for _, v := range st.shown {
		if v.live == nil {
			f.entry(&st.entries[v.entry])
			continue
		}
		f.liveLine(v.live, st)
	}
	f.trim()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// entry shows an entry. mu is held.
func (f *feed) entry(e *journal.Entry) {
	event := toEvent(e, f.epoch)
	f.seq = e.Seq
	f.entries = append(f.entries, event)
	f.size += sizeOf(event)
	if e.Kind == api.KindLine {
		f.partial.Apply(fold.NewLine(e.Line, false))
		return
	}
	switch e.Kind {
	case api.KindRunStarted:
		f.partial.Happened(fold.Event{Kind: fold.EventStarted, Run: e.Run})
	case api.KindRunEnded:
		f.partial.Happened(fold.Event{Kind: fold.EventEnded})
	}
}

// liveLine shows a live line. One that is repeated after a reconnect is only
// folded: followers get the partial message instead. mu is held.
func (f *feed) liveLine(v *Item, st *step) {
	l := fold.NewLine(v.Bytes, false)
	if v.Hole {
		f.partial = fold.Partial{} // what is left would be a text with a hole
	}
	f.partial.Apply(l)
	if wire.ClassOf(l.Header) != wire.Live {
		return // a durable line that is in the log already, repeated by a CLI that dialled in
	}
	event := &api.Event{Session: f.session, Run: st.s.book.Run, Time: st.now, Source: string(journal.SourceAgent), Kind: api.KindLive, After: f.seq}
	setLine(event, v.Bytes)
	size := sizeOf(event)
	f.live = append(f.live, liveLine{after: f.seq, event: event, size: size})
	f.liveLen += size
}

// trim forgets the oldest. mu is held.
func (f *feed) trim() {
	n := 0
	for f.size > ringBytes && n < len(f.entries)-1 {
		f.size -= sizeOf(f.entries[n])
		n++
	}
	if n > 0 {
		f.entries = append([]*api.Event(nil), f.entries[n:]...)
	}
	n = 0
	for n < len(f.live) && (f.liveLen > liveBytes || f.live[n].after < f.seq-64) {
		f.liveLen -= f.live[n].size
		n++
	}
	if n > 0 {
		f.live = append([]liveLine(nil), f.live[n:]...)
		f.liveAt += int64(n)
	}
}

// quiet forgets what nobody is likely to want any more, if nothing was published
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
	f.live, f.liveLen = nil, 0
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

// partials returns what is being written. mu is held.
func (f *feed) partials() *api.Partials {
	p := &api.Partials{Session: f.session, Messages: []api.Partial{}, After: f.seq}
	for _, m := range f.partial.Messages() {
		p.Messages = append(p.Messages, toPartial(m))
	}
	return p
}

// sizeOf returns about how much memory an event takes.
func sizeOf(e *api.Event) int { return len(e.Line) + len(e.Data) + len(e.Text) + len(e.Base64) + 384 }
