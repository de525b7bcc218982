package hub

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A wideStage is a feed of all sessions whose steps are shown by hand, in an order
// in which sessions show them only seldom.
type wideStage struct {
	hub    *Hub
	cursor *WideCursor
}

// A positionJournal only knows the position of its last entry.
type positionJournal struct {
	journal.Journal

	last int64
}

func (j positionJournal) LastPosition(context.Context) (int64, error) { return j.last, nil }

func newWideStage(t *testing.T) *wideStage {
	t.Helper()
	h := &Hub{wide: &wide{epoch: "g", pending: map[int64]*wideStep{}}, sessions: map[string]*session{}, journal: positionJournal{}}
	c, err := h.FollowAll(t.Context(), FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	return &wideStage{hub: h, cursor: c}
}

// session adds a session.
func (w *wideStage) session(id string) *session {
	s := &session{hub: w.hub, id: id, feed: &feed{session: id}, projection: &projection{ID: id, Epoch: "e" + id}}
	w.hub.sessions[id] = s
	return s
}

// show shows a step of a session: an entry at a position if that is not 0, and
// then a live line if it has a text.
func (w *wideStage) show(s *session, position int64, live string) {
	st := &step{s: s}
	if position > 0 {
		s.projection.Seq++
		st.entries = []journal.Entry{{Session: s.id, Seq: s.projection.Seq, Position: position, Kind: api.KindNotice}}
		st.shown = append(st.shown, shown{entry: 0})
	}
	if live != "" {
		line := []byte(fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}}`, live))
		st.shown = append(st.shown, shown{entry: -1, live: &Item{Record: link.Record{Kind: link.Line, Bytes: line}}, line: fold.NewLine(line, false)})
	}
	w.hub.wide.publish(st)
}

// start has a session begin to write a message.
func (w *wideStage) start(s *session) {
	st := &step{s: s}
	for _, text := range []string{
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant","content":[],"model":"x"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
	} {
		st.shown = append(st.shown, shown{entry: -1, live: &Item{Record: link.Record{Kind: link.Line, Bytes: []byte(text)}}, line: fold.NewLine([]byte(text), false)})
	}
	w.hub.wide.publish(st)
}

// seen returns what the cursor gives: entries by session and number, live lines by
// what they say, and partial messages as a whole.
func (w *wideStage) seen(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it does not wait
	var list []string
	for {
		frames, err := w.cursor.Next(ctx)
		if err != nil {
			return strings.Join(list, " ")
		}
		for _, f := range frames {
			switch f.Type {
			case api.FrameEvent:
				list = append(list, fmt.Sprintf("%s%d", f.Event.Session, f.Event.Seq))
			case api.FrameLive:
				_, text, _ := strings.Cut(string(f.Event.Line), `"text":"`)
				list = append(list, "+"+strings.TrimRight(text, `"}`))
			case api.FramePartial:
				list = append(list, "="+f.Partial.Messages[0].Blocks[0].Text)
			case api.FrameResume, api.FrameHeartbeat, api.FrameClosing:
			}
		}
	}
}

// TestWideOrder has a session show steps and live lines while one that was
// committed before them is still to be shown.
func TestWideOrder(t *testing.T) {
	for range 20 { // the steps that wait are in a map
		w := newWideStage(t)
		a, b := w.session("a"), w.session("b")
		w.seen(t)
		w.show(b, 2, "")
		w.show(b, 3, "")
		w.show(b, 4, "")
		w.show(b, 0, "x")
		w.show(a, 1, "")
		if got, want := w.seen(t), "a1 b1 b2 b3 +x"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// TestWideLate has a step shown that was given up before: what it brought of a
// message that is being written must not be missing.
func TestWideLate(t *testing.T) {
	w := newWideStage(t)
	a, b := w.session("a"), w.session("b")
	w.start(a)
	w.show(a, 0, "one ")
	if got, want := w.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	w.show(b, 2, "")
	w.hub.wide.skipStuck()
	w.hub.wide.skipStuck()
	w.cursor.position = 2 // as if it had read the journal
	if got, want := w.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	w.show(a, 1, "two ")
	w.show(a, 0, "three")
	if got, want := w.seen(t), "=one two three"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWideQuiet has nothing happen for a while: what was shown, which may be long,
// is not held on to, and who has seen it goes on from there.
func TestWideQuiet(t *testing.T) {
	w := newWideStage(t)
	a := w.session("a")
	w.seen(t)
	w.show(a, 1, "")
	w.hub.quiet()
	if got, want := w.seen(t), "a1"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	w.hub.quiet()
	if n := len(w.hub.wide.ring.frames); n != 0 {
		t.Errorf("%d frames are held on to", n)
	}
	w.show(a, 2, "")
	if got, want := w.seen(t), "a2"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// TestWideWithoutFollowers has sessions show steps while nobody follows all of them:
// the lock of all sessions is not taken, and a cursor that joins has nothing missing.
func TestWideWithoutFollowers(t *testing.T) {
	w := newWideStage(t)
	a := w.session("a")
	w.cursor.Close()
	w.hub.wide.mu.Lock()
	w.start(a) // does not wait for the lock
	w.show(a, 1, "one ")
	w.hub.wide.mu.Unlock()

	w.hub.journal = positionJournal{last: 2} // the next step is committed, and not shown yet
	c, err := w.hub.FollowAll(t.Context(), FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	w.cursor = c
	if got, want := w.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	w.show(a, 2, "")
	w.show(a, 0, "two ")
	w.show(a, 3, "three")
	if got, want := w.seen(t), "+two  a3 +three"; got != want { // a2 came before the cursor
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(w.hub.wide.pending); n != 0 {
		t.Errorf("%d steps wait", n)
	}
}
