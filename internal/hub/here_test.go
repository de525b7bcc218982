package hub_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Who brings lines and works in place of the session can leave while the journal
// cannot be written: else a server could not be ended while the disk is full. What it
// brought is written later, in its place.
func TestReceiveLeavesFullDisk(t *testing.T) {
	full := &fullJournal{}
	l := newLab(t)
	l.close()
	l.openWith(full)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	full.set(&journal.UnavailableError{Reason: "the disk is full", Err: errors.New("no space")})
	said := func(text string) []hub.Item {
		return []hub.Item{line(`{"type":"assistant","uuid":"u-` + text + `","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`)}
	}
	for _, text := range []string{"first", "second"} { // the second finds that somebody waits already
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- a.Receive(ctx, said(text)) }()
		for ctx := l.ctx(); text == "first" && full.refusals() < 2; {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatal("nobody tries to write")
			}
		}
		cancel()
		select {
		case err := <-left:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", text, err)
			}
		case <-l.ctx().Done():
			t.Fatalf("%s: whoever brings a line cannot leave", text)
		}
	}
	full.set(nil)
	if err := a.Receive(l.ctx(), said("third")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.events(created.ID) {
		if e.Kind == api.KindLine {
			got = append(got, string(e.Line))
		}
	}
	// The second was taken back, since nobody had begun with it.
	if len(got) != 2 || got[0] != string(said("first")[0].Bytes) || got[1] != string(said("third")[0].Bytes) {
		t.Errorf("the log has %q", got)
	}
	l.sameBooks(created.ID)
}

// Live lines are taken at once, and shown by who brings them, unless something comes
// before them: then whoever brings them is told, and nothing was changed.
func TestLive(t *testing.T) {
	full := &fullJournal{}
	l := newLab(t)
	l.close()
	l.openWith(full)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	follower, err := l.hub.Follow(l.ctx(), created.ID, hub.FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	all, err := l.hub.FollowAll(l.ctx(), hub.FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	for range 2 { // the verdict, and what is being written
		if _, err := follower.Next(l.ctx()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.Next(l.ctx()); err != nil {
		t.Fatal(err)
	}
	all.Ready()
	shown := 0
	hook := &hub.Hook{Show: func() { shown++ }, Wake: func() {}}
	follower.SetHook(hook)
	all.SetHook(hook)
	live := func(text string) []hub.Item {
		return []hub.Item{{Kind: hub.ItemLive, Bytes: []byte(`{"type":"stream_event","uuid":"u-` + text + `","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}}`)}}
	}
	taken := func(text string) { // somebody else may work for the session just now
		for ctx := l.ctx(); !a.Live(live(text)); {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatalf("the live line %q is not taken", text)
			}
		}
	}
	taken("one")
	if shown != 1 {
		t.Errorf("the hook was called %d times, want once for both cursors", shown)
	}
	for name, ready := range map[string]func() ([]api.Frame, bool){"session": follower.Ready, "all": all.Ready} {
		frames, ok := ready()
		frames = slices.DeleteFunc(slices.Clone(frames), func(f api.Frame) bool { return f.Type != api.FrameLive })
		if !ok || len(frames) != 1 || frames[0].Event == nil || string(frames[0].Event.Line) != string(live("one")[0].Bytes) {
			t.Errorf("%s: ready are %v, %v", name, frames, ok)
		}
	}

	full.set(&journal.UnavailableError{Reason: "the disk is full", Err: errors.New("no space")})
	received := make(chan error, 1)
	go func() {
		received <- a.Receive(l.ctx(), []hub.Item{line(`{"type":"assistant","uuid":"u-a","message":{"id":"m","role":"assistant","content":[]}}`)})
	}()
	for ctx := l.ctx(); full.refusals() < 2; {
		if runtime.Gosched(); ctx.Err() != nil {
			t.Fatal("nobody tries to write")
		}
	}
	if a.Live(live("two")) {
		t.Error("a live line overtook one that is not written yet")
	}
	full.set(nil)
	if err := <-received; err != nil {
		t.Fatal(err)
	}
	taken("three")
	shown = 0
	follower.SetHook(nil)
	all.SetHook(nil)
	if taken("four"); shown != 0 {
		t.Errorf("a hook that is gone was called %d times", shown)
	}
}
