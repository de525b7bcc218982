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

// A globalStage is a feed of all sessions whose steps are shown by hand, in an order
// in which sessions show them only seldom.
type globalStage struct {
	hub    *Hub
	cursor *GlobalCursor
}

// A positionJournal only knows the position of its last entry.
type positionJournal struct {
	journal.Journal

	last int64
}

func (j positionJournal) LastPosition(context.Context) (int64, error) { return j.last, nil }

func newGlobalStage(t *testing.T) *globalStage {
	t.Helper()
	h := &Hub{globalFeed: &globalFeed{epoch: "g", pending: map[int64]*globalStep{}}, sessions: map[string]*session{}, journal: positionJournal{}}
	c, err := h.FollowAll(t.Context(), FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	return &globalStage{hub: h, cursor: c}
}

// session adds a session.
func (stage *globalStage) session(id string) *session {
	s := &session{hub: stage.hub, id: id, feed: &feed{session: id}, projection: &projection{ID: id, Epoch: "e" + id}}
	stage.hub.sessions[id] = s
	return s
}

// show shows a step of a session: an entry at a position if that is not 0, and
// then a live line if it has a text.
func (stage *globalStage) show(s *session, position int64, live string) {
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
	stage.hub.globalFeed.publish(st)
}

// start has a session begin to write a message.
func (stage *globalStage) start(s *session) {
	st := &step{s: s}
	for _, text := range []string{
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant","content":[],"model":"x"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
	} {
		st.shown = append(st.shown, shown{entry: -1, live: &Item{Record: link.Record{Kind: link.Line, Bytes: []byte(text)}}, line: fold.NewLine([]byte(text), false)})
	}
	stage.hub.globalFeed.publish(st)
}

// seen returns what the cursor gives: entries by session and number, live lines by
// what they say, and partial messages as a whole.
func (stage *globalStage) seen(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it does not wait
	var list []string
	for {
		frames, err := stage.cursor.Next(ctx)
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

// TestGlobalFeedOrder has a session show steps and live lines while one that was
// committed before them is still to be shown.
func TestGlobalFeedOrder(t *testing.T) {
	for range 20 { // the steps that wait are in a map
		stage := newGlobalStage(t)
		a, b := stage.session("a"), stage.session("b")
		stage.seen(t)
		stage.show(b, 2, "")
		stage.show(b, 3, "")
		stage.show(b, 4, "")
		stage.show(b, 0, "x")
		stage.show(a, 1, "")
		if got, want := stage.seen(t), "a1 b1 b2 b3 +x"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// TestGlobalFeedLate has a step shown that was given up before: what it brought of a
// message that is being written must not be missing.
func TestGlobalFeedLate(t *testing.T) {
	stage := newGlobalStage(t)
	a, b := stage.session("a"), stage.session("b")
	stage.start(a)
	stage.show(a, 0, "one ")
	if got, want := stage.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	stage.show(b, 2, "")
	stage.hub.globalFeed.skipStuck()
	stage.hub.globalFeed.skipStuck()
	stage.cursor.position = 2 // as if it had read the journal
	if got, want := stage.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	stage.show(a, 1, "two ")
	stage.show(a, 0, "three")
	if got, want := stage.seen(t), "=one two three"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGlobalFeedForgetsIdle has nothing happen for a while: what was shown, which may be long,
// is not held on to, and who has seen it goes on from there.
func TestGlobalFeedForgetsIdle(t *testing.T) {
	stage := newGlobalStage(t)
	a := stage.session("a")
	stage.seen(t)
	stage.show(a, 1, "")
	stage.hub.forgetIdle()
	if got, want := stage.seen(t), "a1"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	stage.hub.forgetIdle()
	if n := len(stage.hub.globalFeed.ring.frames); n != 0 {
		t.Errorf("%d frames are held on to", n)
	}
	stage.show(a, 2, "")
	if got, want := stage.seen(t), "a2"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// TestGlobalFeedWithoutFollowers has sessions show steps while nobody follows all of them:
// the lock of all sessions is not taken, and a cursor that joins has nothing missing.
func TestGlobalFeedWithoutFollowers(t *testing.T) {
	stage := newGlobalStage(t)
	a := stage.session("a")
	stage.cursor.Close()
	stage.hub.globalFeed.mu.Lock()
	stage.start(a) // does not wait for the lock
	stage.show(a, 1, "one ")
	stage.hub.globalFeed.mu.Unlock()

	stage.hub.journal = positionJournal{last: 2} // the next step is committed, and not shown yet
	c, err := stage.hub.FollowAll(t.Context(), FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	stage.cursor = c
	if got, want := stage.seen(t), "=one "; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	stage.show(a, 2, "")
	stage.show(a, 0, "two ")
	stage.show(a, 3, "three")
	if got, want := stage.seen(t), "+two  a3 +three"; got != want { // a2 came before the cursor
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(stage.hub.globalFeed.pending); n != 0 {
		t.Errorf("%d steps wait", n)
	}
}
