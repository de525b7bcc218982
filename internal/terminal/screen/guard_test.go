package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// settles is the event with which somebody else settles a question.
func settles(q api.Question) api.Event {
	q.State, q.By, q.Answer = api.QuestionAnswered, "ann", &api.Answer{Decision: "deny"}
	return api.Event{Kind: api.KindQuestionSettled, Source: "person", By: "ann", Data: encode(q)}
}

// TestSurprise holds that a key does not answer a question that nobody can have read yet.
func TestSurprise(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 80, 24, func(d *driver) {
		d.pass(time.Minute) // nothing is typed for long
		hub.happen(s, opens(permission("q1", "make install")))
		d.pass(100 * time.Millisecond)
		d.wants("make install", "one moment")
		d.keys("y") // the first letter of something else
		if d.calls("Answer") != 0 {
			t.Fatal("a key answers that was pressed before the question could be read")
		}
		d.pass(2 * time.Second)
		d.wantsNot("one moment")
		d.keys("y")
		if hub.given["q1"].Decision != "allow" {
			t.Fatalf("answered %+v", hub.given)
		}
	})
}

// TestReplaced holds that a key that is meant for one question does not answer the one that takes its place.
func TestReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		settle func(d *driver, s *fakeSession)
		slow   time.Duration
	}{
		"answered here":       {settle: func(d *driver, _ *fakeSession) { d.keys("y") }},
		"answered here, late": {settle: func(d *driver, _ *fakeSession) { d.keys("y"); d.pass(4 * time.Second) }, slow: 4 * time.Second},
		"answered by another": {settle: func(d *driver, s *fakeSession) {
			d.hub.happen(s, settles(permission("q1", "make install")))
			d.pass(100 * time.Millisecond)
			d.wants("ann")
			d.keys("y")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			hub, s := blog()
			hub.slow = c.slow
			drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 80, 24, func(d *driver) {
				hub.happen(s, opens(permission("q1", "make install")))
				hub.happen(s, opens(permission("q2", "make clean")))
				d.pass(5 * time.Second)
				d.wants("make install")
				c.settle(d, s)
				d.pass(100 * time.Millisecond)
				d.wants("make clean", "one moment")
				d.keys("y")
				d.pass(5 * time.Second)
				if _, answered := hub.given["q2"]; answered {
					t.Fatal("a key that was meant for the first question answers the second")
				}
				d.keys("y")
				d.pass(5 * time.Second)
				if hub.given["q2"].Decision != "allow" {
					t.Fatalf("answered %+v", hub.given)
				}
			})
		})
	}
}

// TestExpectedNoLonger holds that somebody who asked for a question and then writes something else answers nothing.
func TestExpectedNoLonger(t *testing.T) {
	hub, s := blog()
	other := hub.sessions[1]
	drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 120, 40, func(d *driver) {
		hub.happen(other, opens(permission("q1", "make install")))
		d.pass(3 * time.Second)
		hub.fall(true)
		d.keys("ctrl+r") // it takes its time
		d.pass(3 * time.Second)
		d.keys("why")
		hub.fall(false)
		for range 30 {
			d.keys("y")
			d.pass(100 * time.Millisecond)
		}
		d.wants("make install")
		if d.calls("Answer") != 0 {
			t.Fatal("a key answers that was meant for the composer")
		}
	})
}

// TestPasteWhileGuarded holds that what is pasted into the composer just when a question comes up is neither lost nor an answer.
func TestPasteWhileGuarded(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 80, 24, func(d *driver) {
		hub.happen(s, opens(permission("q1", "make install")))
		d.pass(100 * time.Millisecond)
		d.wants("one moment")
		d.pasted("yes, and more")
		if got := d.m.pane.Composer.Value(); got != "yes, and more" || d.calls("Answer") != 0 {
			t.Errorf("the composer has %q, and %d answers were given", got, d.calls("Answer"))
		}
	})
}

// TestDraftStaysWithItsSession holds that what was written for one session is not sent to another one that is just being opened, and that what is
// written meanwhile is kept.
func TestDraftStaysWithItsSession(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 120, 40, func(d *driver) {
		d.pass(time.Second)
		d.keys("for the first")
		hub.fall(true)
		d.keys("ctrl+l", "down", "enter", "enter")
		if d.m.session == s.snapshot.ID {
			t.Fatal("the other session is not being opened")
		}
		d.keys("for the second")
		hub.fall(false)
		d.pass(3 * time.Second)
		d.wants("This is the other one.")
		if n := d.calls("Send"); n != 0 {
			t.Fatalf("%d messages were sent: %+v", n, hub.sent)
		}
		if got := d.m.pane.Composer.Value(); got != "for the second" {
			t.Errorf("the composer has %q", got)
		}
		d.keys("ctrl+l", "up", "enter")
		d.pass(time.Second)
		if got := d.m.pane.Composer.Value(); got != "for the first" {
			t.Errorf("the first one's composer has %q", got)
		}
	})
}

// TestArrivedAfterAll holds that a message whose sender was not told that it had arrived is not sent twice, and that the same words can be sent again
// later.
func TestArrivedAfterAll(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.deaf = true
		d.keys("continue", "enter")
		d.wants("Not sent")
		hub.deaf = false
		d.pass(time.Second)
		d.keys("enter")
		d.wants("already sent")
		if len(hub.sent) != 1 {
			t.Fatalf("sent %+v", hub.sent)
		}
		d.keys("continue", "enter")
		if len(hub.sent) != 2 {
			t.Fatalf("the same words later are lost: %+v", hub.sent)
		}
	})
}

// TestLeavingAfterSending holds that what was sent arrives though somebody leaves at once, or that they are told.
func TestLeavingAfterSending(t *testing.T) {
	for name, slow := range map[string]time.Duration{"soon": time.Second, "never": time.Hour} {
		t.Run(name, func(t *testing.T) {
			hub, s := blog()
			hub.slow = slow
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
				d.keys("important", "enter", "ctrl+d")
				if !d.quit {
					t.Fatal("it is still there")
				}
				err := d.m.Close()
				switch {
				case slow == time.Second && (err != nil || len(hub.sent) != 1):
					t.Errorf("sent %+v, %v", hub.sent, err)
				case slow == time.Hour && (err == nil || !strings.Contains(err.Error(), "this message wasn't sent: important")):
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}
