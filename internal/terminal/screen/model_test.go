package screen

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// talkOf is a small conversation.
func talkOf() []api.Event {
	return []api.Event{
		{Kind: api.KindCreated, Source: "hub", Data: []byte(`{}`)},
		prompted(1, "Fix the tests"),
		said("I look at the **tests** first."),
		called("t1", "Bash", map[string]any{"command": "go test ./..."}),
		gave("t1", "ok  \tblog\t0.1s\nall of them\npass"),
		said("All tests pass. There was nothing to fix:\n\n- none failed\n- none was skipped"),
		state(api.StateIdle),
	}
}

// blog is a hub with two sessions.
func blog() (*fakeHub, *fakeSession) {
	hub := newFakeHub()
	last, event := short(talkOf()...)
	s := hub.add("s1aaaaaaaaaaaaaaaaaaa", "Fix the tests", last, event)
	last, event = short(prompted(1, "Something else"), said("This is the other one."), state(api.StateIdle))
	hub.add("s2bbbbbbbbbbbbbbbbbbb", "", last, event)
	return hub, s
}

func TestGolden(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}, {40, 12}} {
		name := fmt.Sprintf("%dx%d", size.width, size.height)
		t.Run(name, func(t *testing.T) {
			hub, s := blog()
			drive(t, hub, Options{Session: s.snapshot.ID}, size.width, size.height, func(d *driver) {
				d.golden("talk-" + name)
				d.keys("esc", "up", "up", "up")
				d.golden("chosen-" + name)
				d.keys("?")
				d.golden("help-" + name)
				d.keys("esc", "m")
				d.golden("model-" + name)
				d.keys("esc", "ctrl+l")
				d.golden("list-" + name)
				d.keys("ctrl+l", "hello\x00"[:5])
				q := permission("q1", "rm -rf build")
				hub.happen(s, state(api.StateRequiresAction))
				hub.happen(s, opens(q))
				d.pass(2 * time.Second)
				d.golden("question-" + name)
			})
		})
	}
}

func TestOpensAndWrites(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.wants("Fix the tests", "All tests pass.", "idle")
		d.keys("What now?", "enter")
		if len(hub.sent) != 1 || hub.sent[0].Text != "What now?" || hub.sent[0].ClientID == "" {
			t.Fatalf("sent %+v", hub.sent)
		}
		hub.happen(s, state(api.StateRunning))
		hub.happen(s, said("Nothing is left."))
		d.pass(time.Second)
		d.wants("Nothing is left.", "running")
		d.keys("ctrl+x")
		if d.calls("Interrupt") != 1 {
			t.Fatal("ctrl+x does not interrupt")
		}
	})
}

func TestWhatDoesNotArriveComesBack(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.fall(true)
		d.settle()
		d.keys("important", "enter")
		d.wants("Not sent", "important")
		first := hub.tried[0]
		hub.fall(false)
		d.pass(time.Second)
		d.keys("enter")
		if len(hub.sent) != 1 || hub.sent[0].ClientID != first || first == "" {
			t.Fatalf("sent %+v, and the first time it was %s", hub.sent, first)
		}
	})
}

func TestLostAndFound(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.fall(true)
		d.pass(time.Second)
		d.wants("no connection to the hub", "All tests pass.")
		hub.fall(false)
		hub.happen(s, said("Back again."))
		d.pass(time.Second)
		d.wants("Back again.")
		d.wantsNot("no connection")
		if n := d.calls("Session"); n != 1 {
			t.Errorf("the session was read %d times; it was to be followed on", n)
		}
	})
}

func TestHubAwayAtOpening(t *testing.T) {
	hub, s := blog()
	hub.down = true
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.wants("no connection to the hub")
		hub.fall(false)
		d.pass(3 * time.Second)
		d.wants("All tests pass.")
		d.wantsNot("no connection")
	})
}

// TestShutOut leaves the screen when nothing will work in it again, and keeps it for all that passes or is about one session.
func TestShutOut(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		leave bool
	}{
		"another certificate": {&client.PinError{Want: "sha256:old", Got: "sha256:new"}, true},
		"the token":           {&api.Error{Status: http.StatusUnauthorized, Code: api.CodeUnauthorized}, true},
		"the session":         {&api.Error{Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "It is gone"}, false},
	} {
		left := func(t *testing.T, d *driver) {
			t.Helper()
			if d.quit != test.leave || test.leave && !errors.Is(d.m.shut, test.err) {
				t.Errorf("left %v because of %v, want %v", d.quit, d.m.shut, test.leave)
			}
		}
		t.Run(name, func(t *testing.T) {
			hub, s := blog()
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
				hub.fall(true)
				d.pass(time.Second)
				d.wants("no connection to the hub")
				hub.shutOut(test.err)
				d.pass(time.Second)
				left(t, d)
				if !test.leave {
					d.wants("It is gone", "All tests pass.")
					d.wantsNot("no connection to the hub")
				}
			})
		})
		t.Run(name+", at opening", func(t *testing.T) {
			hub, s := blog()
			hub.shut = test.err
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) { left(t, d) })
		})
	}
}

func TestNoSuchSession(t *testing.T) {
	hub, _ := blog()
	drive(t, hub, Options{Session: "snone"}, 80, 24, func(d *driver) { d.wants("There is no session snone") })
}

func TestNoSessions(t *testing.T) {
	drive(t, newFakeHub(), Options{}, 80, 24, func(d *driver) {
		d.wants("No sessions yet", "switchboard run")
		s := d.hub.add("s3ccccccccccccccccccc", "The first", 1, func(int64) api.Event { return said("Hello.") })
		d.hub.happen(s, api.Event{Kind: api.KindCreated, Source: "hub", Data: []byte(`{}`)})
		d.pass(3 * time.Second)
		d.wants("The first", "Hello.")
	})
}

func TestQuestions(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.happen(s, opens(permission("q1", "make install")))
		hub.happen(s, opens(permission("q2", "make clean")))
		d.pass(time.Second)
		d.wants("make install")
		d.keys("esc")
		d.wants("make clean")
		d.keys("esc")
		d.wants("2 questions put off")
		d.keys("ctrl+r")
		d.wants("make install")
		d.keys("y")
		d.pass(time.Second)
		if a := hub.given["q1"]; a.Decision != "allow" || a.ClientID == "" {
			t.Fatalf("answered %+v", hub.given)
		}
		d.wants("make clean")
		// Somebody else is faster.
		settled := permission("q2", "make clean")
		settled.State, settled.By, settled.Answer = api.QuestionAnswered, "ann", &api.Answer{Decision: "deny"}
		hub.happen(s, api.Event{Kind: api.KindQuestionSettled, Source: "person", By: "ann", Data: encode(settled)})
		d.pass(time.Second)
		d.wants("ann")
		d.keys("x")
		d.keys("typed")
		if d.m.pane.Composer.Value() != "typed" {
			t.Errorf("the composer has %q", d.m.pane.Composer.Value())
		}
	})
}

// TestGuard holds that who types into the composer answers nothing by accident.
func TestGuard(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 80, 24, func(d *driver) {
		d.keys("I write this and the")
		hub.happen(s, opens(permission("q1", "make install")))
		d.pass(500 * time.Millisecond)
		d.wants("make install", "one moment")
		d.keys("y")
		d.pass(900 * time.Millisecond)
		d.keys("y", "n")
		if d.calls("Answer") != 0 {
			t.Fatal("a key answers that was meant for the composer")
		}
		d.pass(1100 * time.Millisecond)
		d.wantsNot("one moment")
		d.keys("y")
		if hub.given["q1"].Decision != "allow" {
			t.Fatalf("answered %+v", hub.given)
		}
		d.pass(time.Second)
		d.wants("I write this and the")
	})
}

func TestAnswerRefused(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.happen(s, opens(permission("q1", "make install")))
		d.pass(time.Second)
		hub.refuse = &api.Error{Status: 403, Code: api.CodeForbidden, Title: "You may not answer"}
		d.keys("y")
		d.wants("You may not answer", "make install")
		hub.refuse = nil
		d.keys("y")
		d.pass(time.Second)
		if hub.given["q1"].Decision != "allow" {
			t.Fatalf("answered %+v", hub.given)
		}
	})
}

func TestTwoSessions(t *testing.T) {
	hub, s := blog()
	other := hub.sessions[1]
	drive(t, hub, Options{Session: s.snapshot.ID}, 120, 40, func(d *driver) {
		d.wants("Sessions", "Fix the tests", "blog")
		d.keys("a draft", "ctrl+l", "down", "enter")
		d.pass(time.Second)
		d.wants("This is the other one.")
		d.wantsNot("All tests pass.", "a draft")
		// A question elsewhere is seen here, and one key away.
		hub.happen(s, opens(permission("q1", "make install")))
		d.pass(3 * time.Second)
		d.wants("1 question elsewhere", "1 question ")
		d.keys("ctrl+r")
		d.pass(time.Second)
		d.wants("make install", "All tests pass.")
		d.keys("y")
		d.pass(time.Second)
		d.wants("a draft")
		hub.happen(other, said("Heard by nobody."))
		d.pass(time.Second)
		d.wantsNot("Heard by nobody.")
	})
}

func TestPickers(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("esc", "m")
		d.wants("Model", "Haiku")
		d.keys("haik", "enter")
		if n := len(hub.update); n != 1 || hub.update[0].Model == nil || *hub.update[0].Model != "claude-haiku" {
			t.Fatalf("updates %+v", hub.update)
		}
		d.keys("M")
		d.wants("Permission mode", "1  Plan mode", "2  Don't ask", "3  Default", "4  Accept edits", "5  Auto", "6  Bypass permissions — DANGEROUS")
		d.keys("6") // which is asked about first
		d.wants("Bypass permissions?")
		d.keys("enter")
		if n := len(hub.update); n != 1 {
			t.Fatalf("updates %+v", hub.update)
		}
		d.keys("M", "1")
		d.keys("shift+tab")
		if n := len(hub.update); n != 3 || *hub.update[1].PermissionMode != "plan" || *hub.update[2].PermissionMode != "acceptEdits" {
			t.Fatalf("updates %+v", hub.update)
		}
		d.keys("i", "/model claude-opus", "enter")
		if n := len(hub.update); n != 4 || *hub.update[3].Model != "claude-opus" {
			t.Fatalf("updates %+v", hub.update)
		}
	})
}

func TestFold(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.wantsNot("all of them")
		d.keys("esc", "up", "space")
		d.wants("all of them")
		d.keys("space")
		d.wantsNot("all of them")
		d.keys("ctrl+o")
		d.wants("all of them")
	})
}

func TestLeaving(t *testing.T) {
	for _, keys := range [][]string{{"esc", "q"}, {"ctrl+c", "ctrl+c"}, {"ctrl+d"}, {"/quit", "enter"}, {"ctrl+l", "q"}} {
		t.Run(strings.Join(keys, " "), func(t *testing.T) {
			hub, s := blog()
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
				d.keys(keys...)
				if !d.quit {
					t.Error("it is still there")
				}
			})
		})
	}
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("ctrl+c")
		d.pass(leaveTime + time.Second)
		d.keys("ctrl+c")
		if d.quit {
			t.Error("two that are far apart leave")
		}
		d.keys("text", "ctrl+c")
		if d.quit || !d.m.pane.Composer.Empty() {
			t.Error("the text stands")
		}
	})
}
