package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// countedMetrics count; they are locked while they do.
type countedMetrics struct {
	sync.Mutex

	lines, questions map[string]int
	commits, shown   int
}

// A globalFollower has followed all sessions so far.
type globalFollower struct {
	t      *testing.T
	cursor *hub.GlobalCursor
	frames []api.Frame
}

func (l *lab) followAll(o hub.FollowOptions) *globalFollower {
	l.t.Helper()
	c, err := l.hub.FollowAll(l.ctx(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(c.Close)
	return &globalFollower{t: l.t, cursor: c}
}

// until reads until each of the events was seen.
func (f *globalFollower) until(ctx context.Context, events ...string) {
	f.t.Helper()
	missing := map[string]bool{}
	for _, id := range events {
		missing[id] = true
	}
	for len(missing) > 0 {
		frames, err := f.cursor.Next(ctx)
		if err != nil {
			f.t.Fatalf("waiting for %v: %v", missing, err)
		}
		for _, v := range frames {
			if v.Type == api.FrameEvent {
				delete(missing, v.Event.ID)
			}
		}
		f.frames = append(f.frames, frames...)
	}
}

// results reads until so many turns have ended.
func (f *globalFollower) results(ctx context.Context, n int) {
	for n > 0 {
		frames, err := f.cursor.Next(ctx)
		if err != nil {
			f.t.Errorf("waiting for %d results: %v", n, err)
			return
		}
		for _, v := range frames {
			if v.Type == api.FrameEvent && v.Event.Kind == api.KindLine && strings.Contains(string(v.Event.Line), `"type":"result"`) {
				n--
			}
		}
		f.frames = append(f.frames, frames...)
	}
}

// positions returns where the events are, and checks that they are in order, all of
// a session's after each other.
func (f *globalFollower) positions() []string {
	f.t.Helper()
	var list []string
	last := map[string]int64{}
	before := int64(0)
	for _, v := range f.frames {
		if v.Type != api.FrameEvent {
			continue
		}
		_, number, _ := strings.Cut(v.Position, ":")
		var at int64
		if _, err := fmt.Sscan(number, &at); err != nil || at <= before {
			f.t.Errorf("position %s comes after %d (%v)", v.Position, before, err)
		}
		before = at
		if seq := last[v.Event.Session]; v.Event.Seq != seq+1 && seq != 0 {
			f.t.Errorf("session %s: %d comes after %d", v.Event.Session, v.Event.Seq, seq)
		}
		last[v.Event.Session] = v.Event.Seq
		list = append(list, v.Position)
	}
	return list
}

// TestFollowAll follows many sessions at work at once: all followers see the same
// order, from the beginning or from where they left off, and no hole.
func TestFollowAll(t *testing.T) {
	l := newLab(t)
	begin := l.followAll(hub.FollowOptions{})
	var sessions, ends []string
	var wait sync.WaitGroup
	for range 5 {
		sessions = append(sessions, l.create(api.CreateSession{}).ID)
	}
	now := l.followAll(hub.FollowOptions{After: "now"})
	wait.Go(func() { now.results(l.ctx(), 20) })
	for _, id := range sessions {
		wait.Go(func() {
			for i := range 4 {
				l.send(id, fmt.Sprintf("@flood 20\n@say %d %s", i, strings.Repeat("x", 2000)))
			}
		})
	}
	for _, id := range sessions {
		ends = append(ends, l.awaitDone(id, 4).LastEventID)
	}
	wait.Wait()
	begin.until(l.ctx(), ends...)
	all := begin.positions()
	later := l.followAll(hub.FollowOptions{NoLive: true}) // from the journal
	later.until(l.ctx(), ends...)
	if diff := cmp.Diff(all, later.positions()[:len(all)]); diff != "" {
		t.Errorf("who comes later sees another order:\n%s", diff)
	}
	middle := all[len(all)/2]
	resumed := l.followAll(hub.FollowOptions{After: middle})
	resumed.until(l.ctx(), ends...)
	if v := resumed.frames[0]; v.Type != api.FrameResume || v.Resume.Resume != "ok" {
		t.Errorf("the verdict is %s", encode(v))
	}
	if diff := cmp.Diff(all[len(all)/2+1:], resumed.positions()[:len(all)-len(all)/2-1]); diff != "" {
		t.Errorf("who resumes sees another rest:\n%s", diff)
	}
	now.positions()
	live := 0
	for _, v := range now.frames {
		if v.Type == api.FrameLive {
			live++
		}
	}
	if live == 0 {
		t.Error("no live line was shown")
	}
	var paged []string
	for after, more := "", true; more; {
		page, err := l.hub.AllEvents(l.ctx(), after, 50)
		if err != nil || len(page.Events) > 50 {
			t.Fatalf("a page: %s, %v", encode(page), err)
		}
		for _, e := range page.Events {
			paged = append(paged, e.ID)
		}
		after, more = page.Next, page.More
	}
	if diff := cmp.Diff(eventIDs(later.frames), paged); diff != "" {
		t.Errorf("the pages differ from the stream:\n%s", diff)
	}
	for _, after := range []string{"nonsense", "gother:1", middle + "99999"} {
		f := l.followAll(hub.FollowOptions{After: after})
		if frames, err := f.cursor.Next(l.ctx()); err != nil || frames[0].Resume.Resume != "reset" {
			t.Errorf("after %q: %s, %v", after, encode(frames), err)
		}
	}
	l.restart()
	again := l.followAll(hub.FollowOptions{After: middle})
	again.until(l.ctx(), ends...)
	if v := again.frames[0]; v.Resume.Resume != "ok" {
		t.Errorf("after a restart the verdict is %s", encode(v))
	}
}

func eventIDs(frames []api.Frame) []string {
	var list []string
	for _, v := range frames {
		if v.Type == api.FrameEvent {
			list = append(list, v.Event.ID)
		}
	}
	return list
}

// TestFollowAllPartial joins while a message is being written.
func TestFollowAllPartial(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	first := l.follow(s.ID, hub.FollowOptions{After: "now"})
	l.send(s.ID, "@slow 20ms\n@say "+strings.Repeat("word ", 2000)) // longer than anybody takes to join
	first.until(l.ctx(), "a delta", func(f api.Frame) bool {
		return f.Type == api.FrameLive && strings.Contains(string(f.Event.Line), "word")
	})
	c := l.followAll(hub.FollowOptions{After: "now"})
	for {
		frames, err := c.cursor.Next(l.ctx())
		if err != nil {
			t.Fatal(err)
		}
		if last := frames[len(frames)-1]; last.Type == api.FramePartial {
			if last.Partial.Session != s.ID || last.Partial.Messages[0].Blocks[0].Text == "" {
				t.Errorf("what is being written: %s", encode(last))
			}
			return
		}
	}
}
