package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// follower collects frames.
type follower struct {
	t      *testing.T
	cursor *hub.Cursor
	frames []api.Frame
}

func (l *lab) follow(id string, o hub.FollowOptions) *follower {
	l.t.Helper()
	c, err := l.hub.Follow(l.ctx(), id, o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(c.Close)
	return &follower{t: l.t, cursor: c}
}

// until reads frames until one is as wanted.
func (f *follower) until(ctx context.Context, what string, wanted func(api.Frame) bool) []api.Frame {
	f.t.Helper()
	for {
		frames, err := f.cursor.Next(ctx)
		if err != nil {
			f.t.Fatalf("waiting for %s: %v", what, err)
		}
		f.frames = append(f.frames, frames...)
		if slices.ContainsFunc(frames, wanted) {
			return f.frames
		}
	}
}

func isState(state string) func(api.Frame) bool {
	return func(f api.Frame) bool {
		return f.Type == api.FrameEvent && f.Event.Kind == api.KindState && strings.Contains(string(f.Event.Data), `"`+state+`"`)
	}
}

func isEvent(id string) func(api.Frame) bool {
	return func(f api.Frame) bool { return f.Type == api.FrameEvent && f.Event.ID == id }
}

// check verifies the order of what a follower got: events without a hole, and
// live lines between those that they belong between.
func (f *follower) check(from int64) {
	f.t.Helper()
	seq := from
	for _, frame := range f.frames {
		switch frame.Type {
		case api.FrameEvent:
			if frame.Event.Seq != seq+1 {
				f.t.Errorf("event %d follows %d", frame.Event.Seq, seq)
			}
			seq = frame.Event.Seq
		case api.FrameLive:
			if frame.Event.After != seq || frame.Event.ID != "" {
				f.t.Errorf("a live line after %d stands after %d (id %q)", frame.Event.After, seq, frame.Event.ID)
			}
		case api.FramePartial:
			if frame.Partial.After != seq {
				f.t.Errorf("a partial message of %d stands after %d", frame.Partial.After, seq)
			}
		case api.FrameResume, api.FrameClosing, api.FrameHeartbeat:
		}
	}
}

func TestFollow(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	begin := l.follow(s.ID, hub.FollowOptions{})
	now := l.follow(s.ID, hub.FollowOptions{After: "now"})
	quiet := l.follow(s.ID, hub.FollowOptions{NoLive: true})
	last := l.snapshot(s.ID).LastEventID
	l.send(s.ID, "@say hello there")
	end := l.awaitDone(s.ID, 1).LastEventID
	for _, f := range []*follower{begin, now, quiet} {
		f.until(l.ctx(), "the end of the turn", isEvent(end))
	}
	if v := begin.frames[0]; v.Type != api.FrameResume || v.Resume.Resume != "ok" {
		t.Errorf("the first frame is %s", encode(v))
	}
	begin.check(0)
	quiet.check(0)
	for _, frame := range quiet.frames {
		if frame.Type == api.FrameLive || frame.Type == api.FramePartial {
			t.Errorf("who wants nothing live got %s", encode(frame))
		}
	}
	// All see the same events; one who comes later, with an id, sees the rest.
	later := l.follow(s.ID, hub.FollowOptions{After: last, NoLive: true})
	later.until(l.ctx(), "the end of the turn", isEvent(end))
	if diff := cmp.Diff(ids(quiet.frames, last), ids(later.frames, "")); diff != "" {
		t.Errorf("a follower who resumed saw something else:\n%s", diff)
	}
	for _, after := range []string{"nonsense", "0123456789ab:1", last + "999"} {
		if f := l.follow(s.ID, hub.FollowOptions{After: after}); f.until(l.ctx(), "a verdict", func(api.Frame) bool { return true })[0].Resume.Resume != "reset" {
			t.Errorf("after %q the verdict is %s", after, encode(f.frames[0]))
		}
	}
}

// ids returns the ids of the events after one.
func ids(frames []api.Frame, after string) []string {
	var list []string
	for _, frame := range frames {
		if frame.Type != api.FrameEvent {
			continue
		}
		list = append(list, frame.Event.ID)
		if frame.Event.ID == after {
			list = nil
		}
	}
	return list
}

// TestPartial joins while a message is being written: the follower is given all
// of it, and then what comes.
func TestPartial(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	first := l.follow(s.ID, hub.FollowOptions{After: "now"})
	l.send(s.ID, "@slow 20ms\n@say "+strings.Repeat("word ", 40))
	first.until(l.ctx(), "a delta", func(f api.Frame) bool {
		return f.Type == api.FrameLive && strings.Contains(string(f.Event.Line), "word")
	})
	second := l.follow(s.ID, hub.FollowOptions{After: "now"})
	second.until(l.ctx(), "what is being written", func(f api.Frame) bool {
		return f.Type == api.FramePartial && len(f.Partial.Messages) == 1 && len(f.Partial.Messages[0].Blocks) == 1 && f.Partial.Messages[0].Blocks[0].Text != ""
	})
	second.until(l.ctx(), "the end", isState("idle"))
	if snapshot := l.snapshot(s.ID); len(snapshot.Partial) != 0 {
		t.Errorf("after the turn something is still being written: %s", encode(snapshot.Partial))
	}
}

// TestSlowFollower lags far behind and misses nothing.
func TestSlowFollower(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	f := l.follow(s.ID, hub.FollowOptions{})
	for i := range 20 {
		l.send(s.ID, fmt.Sprintf("@flood 40\n@say %d %s", i, strings.Repeat("x", 4000)))
	}
	done := l.awaitDone(s.ID, 20)
	f.until(l.ctx(), "the end", isEvent(done.LastEventID))
	f.check(0)
	l.judge(s.ID)
}

func TestFollowEnds(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	f := l.follow(s.ID, hub.FollowOptions{After: "now"})
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := f.cursor.Next(context.Background()); err != nil {
				ended <- err
				return
			}
		}
	}()
	l.restart()
	if err := <-ended; !errors.Is(err, hub.ErrClosed) {
		t.Errorf("after the hub closed a cursor got %v", err)
	}
	if _, err := l.hub.Follow(l.ctx(), "s0000", hub.FollowOptions{}); code(err) != api.CodeNotFound {
		t.Errorf("following nothing: %v", err)
	}
}
