package screen

import (
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

func TestListIsReadSeldom(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 120, 40, func(d *driver) {
		d.pass(5 * time.Second)
		before := d.calls("List")
		if before != 1 {
			t.Errorf("the list was read %d times to begin with", before)
		}
		for range 50 { // a busy session: two changes in each tenth of a second, for five seconds
			hub.happen(s, state(api.StateRunning))
			hub.happen(s, state(api.StateIdle))
			d.pass(100 * time.Millisecond)
		}
		if n := d.calls("List") - before; n < 2 || n > 8 {
			t.Errorf("the list was read %d times in 5 s", n)
		}
		d.pass(3 * time.Second)
		before = d.calls("List")
		d.pass(time.Minute)
		if n := d.calls("List"); n != before {
			t.Errorf("the list was read %d times more while nothing happened", n-before)
		}
	})
}

func TestLongList(t *testing.T) {
	hub := newFakeHub()
	for n := range 120 {
		last, event := short(said("Session " + itoa(n) + " speaks."))
		hub.add("s"+itoa(1000+n)+"aaaaaaaaaaaaaaaa", "Number "+itoa(n), last, event)
	}
	drive(t, hub, Options{Session: "s1000aaaaaaaaaaaaaaaa"}, 80, 24, func(d *driver) {
		d.keys("ctrl+l")
		d.wants("Number 0")
		if d.calls("List") != 1 {
			t.Fatalf("the list was read %d times", d.calls("List"))
		}
		d.keys("G")
		d.pass(2 * time.Second)
		d.keys("down")
		d.wants("Number 50")
		d.keys("enter")
		d.pass(time.Second)
		d.wants("Session 50 speaks.")
	})
}
