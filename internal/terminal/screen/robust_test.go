package screen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// partial is what is being written at a moment.
func partial(text string) api.Frame {
	return api.Frame{Type: api.FramePartial, Partial: &api.Partials{Messages: []api.Partial{{
		MessageID: "msg-live", Blocks: []api.PartialBlock{{Index: 0, Type: "text", Text: text}},
	}}}}
}

// delta is what a text grows by.
func delta(text string) api.Frame {
	return api.Frame{Type: api.FrameLive, Event: &api.Event{Kind: api.KindLive, Line: encode(map[string]any{
		"type": "stream_event", "session_id": "c1", "parent_tool_use_id": nil, "uuid": "d",
		"event": map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": text}},
	})}}
}

func TestLive(t *testing.T) {
	for _, noLive := range []bool{false, true} {
		t.Run(fmt.Sprintf("no live %t", noLive), func(t *testing.T) {
			hub, s := blog()
			drive(t, hub, Options{Session: s.snapshot.ID, NoLive: noLive}, 80, 24, func(d *driver) {
				hub.happen(s, state(api.StateRunning))
				hub.say(s, partial("It is being wri"))
				d.pass(time.Second)
				hub.say(s, delta("tten now"))
				d.pass(time.Second)
				if got := d.screen().Contains("It is being written now"); got == noLive {
					t.Fatalf("what is being written is shown: %t\n%s", got, d.screen())
				}
				e := said("It is being written now.")
				e.Line = json.RawMessage(strings.Replace(string(e.Line), "msg-It is being written now.", "msg-live", 1))
				hub.happen(s, e)
				d.pass(time.Second)
				if n := strings.Count(d.screen().Text(), "It is being written now"); n != 1 {
					t.Errorf("it is there %d times:\n%s", n, d.screen())
				}
			})
		})
	}
}

// TestRedraws holds that an agent that writes fast does not have the screen drawn more than 20 times in a second.
func TestRedraws(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.happen(s, state(api.StateRunning))
		hub.say(s, partial(""))
		d.pass(time.Second)
		before := d.batches
		for range 1000 { // for a second
			hub.say(s, delta("x"))
			time.Sleep(time.Millisecond)
			d.settle()
		}
		if n := d.batches - before; n < 5 || n > 21 {
			t.Errorf("%d batches in a second", n)
		}
	})
}

func TestAnotherLog(t *testing.T) {
	hub, s := longHub()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.say(s, api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "reset"}})
		d.pass(time.Second)
		if d.calls("Session") != 2 {
			t.Errorf("the session was read %d times", d.calls("Session"))
		}
		d.wants("Prompt 20000")
	})
}

// TestLetsGo holds that a session that is watched for days does not grow without bounds.
func TestLetsGo(t *testing.T) {
	hub := newFakeHub()
	s := hub.add("s1aaaaaaaaaaaaaaaaaaa", "Long", 200, long)
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		for n := range 50 {
			hub.mu.Lock()
			s.last += 1000
			hub.tell()
			hub.mu.Unlock()
			d.pass(time.Second)
			if have := d.m.tail.last - d.m.tail.first; have > maxEvents+4000 { // two full batches
				t.Fatalf("after %d steps there are %d events", n, have)
			}
		}
		d.wants("Prompt 10040")
	})
}

// TestAnyKeys presses keys without sense at all sizes: whatever happens, the screen keeps to its size.
func TestAnyKeys(t *testing.T) {
	hub, s := longHub()
	other := hub.add("s2bbbbbbbbbbbbbbbbbbb", "漢字 \x1b[31m👩‍👩‍👧‍👦 שלום", 3, long)
	hub.hits = []api.SearchHit{{Session: s.snapshot.ID, Seq: 40_001}, {Session: other.snapshot.ID, Seq: 2, Snippet: "\x1b[2J"}}
	names := []string{
		"enter", "esc", "tab", "up", "down", "pgup", "pgdown", "home", "end", "backspace", "f1", "space", "ctrl+l", "ctrl+r", "ctrl+x", "ctrl+o", "ctrl+t",
		"ctrl+s", "shift+tab", "shift+up", "shift+down", "g", "G", "n", "N", "/", "m", "M", "i", "j", "k", "y", "a", "?", "1", "2", "漢", "@", "o",
	}
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 1000 {
			switch random.IntN(40) {
			case 0:
				d.put(tea.WindowSizeMsg{Width: 1 + random.IntN(150), Height: 1 + random.IntN(60)})
			case 1:
				hub.happen(s, said(strings.Repeat("שלום 漢字 \x1b[2J👩‍👩‍👧‍👦 ", random.IntN(60)+1)))
			case 2:
				hub.happen(s, opens(permission(fmt.Sprint("q", n), "make \x1b[2J")))
			case 3:
				d.pass(time.Second)
			case 4:
				hub.fall(random.IntN(3) == 0)
			default:
				d.keys(names[random.IntN(len(names))])
			}
			d.settle()
			lines := strings.Split(d.m.View().Content, "\n")
			if len(lines) > max(1, d.m.height) {
				t.Fatalf("step %d: %d lines at %dx%d", n, len(lines), d.m.width, d.m.height)
			}
			for _, line := range lines {
				if paint.Width(line) > max(1, d.m.width) || strings.Contains(line, "\x1b[2J") {
					t.Fatalf("step %d: a line of %d columns at %dx%d: %q", n, paint.Width(line), d.m.width, d.m.height, line)
				}
			}
			if d.quit {
				t.Fatal("it has left")
			}
		}
	})
}
