package screen

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
)

// many is how long a long session is.
const many = 100_000

// longHub is a hub with one long session.
func longHub() (*fakeHub, *fakeSession) {
	hub := newFakeHub()
	return hub, hub.add("s1aaaaaaaaaaaaaaaaaaa", "Long", many, long)
}

// TestReadsOnlyWhatItShows opens a session of 100 000 events, scrolls and jumps, and counts what is read for that.
func TestReadsOnlyWhatItShows(t *testing.T) {
	hub, s := longHub()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.wants("Turn 19999 is over.", "Prompt 20000")
		reads := func(pages int, events int64) {
			t.Helper()
			if got, n := d.calls("Events"), d.eventsRead(); got != pages || n != events {
				t.Fatalf("%d pages with %d events were read, want %d with %d: %q", got, n, pages, events, hub.asked)
			}
		}
		reads(1, eventlog.PageSize)
		if d.calls("Session") != 1 || d.calls("Follow") != 1 || d.calls("List") > 2 {
			t.Fatalf("calls %v", hub.calls)
		}
		// Time that passes costs nothing.
		d.pass(time.Minute)
		reads(1, eventlog.PageSize)

		// Scrolling reads a page when, and only when, what was read is at its end.
		pages := 1
		for range 30 {
			before := d.m.tail.first
			at := d.m.tail.rows()[0]
			d.keys("pgup")
			if n := d.calls("Events"); n > pages {
				if n != pages+1 || at.item > 24 {
					t.Fatalf("%d pages were read at once, from item %d", n-pages, at.item)
				}
				pages = n
				if d.m.tail.first != before-eventlog.PageSize {
					t.Fatalf("what is there begins with %d, and with %d before", d.m.tail.first, before)
				}
			}
		}
		if pages < 3 {
			t.Fatalf("30 screens are %d pages", pages)
		}
		reads(pages, int64(pages)*eventlog.PageSize)
		wantEvery(t, d, many-int64(pages)*eventlog.PageSize+1)

		// The beginning is one page away, the end none.
		d.keys("esc", "g")
		d.wants("events 1 to 100 of 100000")
		reads(pages+1, int64(pages+1)*eventlog.PageSize)
		for range 40 {
			d.keys("pgdown")
		}
		if n := d.calls("Events") - pages - 1; n < 2 || n > 12 {
			t.Fatalf("40 screens down are %d pages", n)
		}
		read := d.calls("Events")
		d.keys("G")
		d.wants("Prompt 20000")
		if d.calls("Events") != read {
			t.Error("going to the end reads something")
		}
	})
}

// wantEvery fails unless the window has every prompt once, in order, from an event on.
func wantEvery(t *testing.T, d *driver, from int64) {
	t.Helper()
	var got []string
	for i := range d.m.tail.talk.Len() {
		if it := d.m.tail.talk.Item(i); it.Message != nil {
			got = append(got, it.Text)
		}
	}
	var want []string
	for seq := from; seq <= d.m.tail.last; seq++ {
		if seq%5 == 0 {
			want = append(want, fmt.Sprintf("Prompt %d", seq/5))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("there are %d prompts, want %d: %q", len(got), len(want), got)
	}
}

func TestNewEventsWhileScrolledUp(t *testing.T) {
	hub, s := longHub()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("pgup", "pgup")
		before := d.screen().Row(5)
		for n := range 50 {
			hub.happen(s, said(fmt.Sprintf("News %d", n)))
		}
		d.pass(time.Second)
		if after := d.screen().Row(5); after != before {
			t.Errorf("what is read moves: %q, then %q", before, after)
		}
		d.wants("more below")
		d.wantsNot("News")
		d.keys("esc", "G")
		d.wants("News 49")
	})
}

func TestSearch(t *testing.T) {
	hub, s := longHub()
	hub.hits = []api.SearchHit{{Session: s.snapshot.ID, Seq: 50_001, EventID: "e:50001"}, {Session: s.snapshot.ID, Seq: 20_001, EventID: "e:20001"}}
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("esc", "/", "answer 19993")
		d.wants("Answer 19993")
		if d.calls("Search") != 0 {
			t.Error("the server is asked at every letter")
		}
		d.keys("enter")
		d.wants("2 places")
		// In a folded part.
		d.keys("/", "needle-19990", "enter")
		d.wants("needle-19990")
		// Further back than what was read: only the page around it.
		before := d.eventsRead()
		d.keys("n")
		d.wants("Answer 10000")
		if n := d.eventsRead() - before; n != eventlog.PageSize {
			t.Errorf("%d events were read to show one", n)
		}
		d.keys("n")
		d.wants("Answer 4000")
		d.keys("N")
		d.wants("Answer 10000")
		d.keys("N")
		d.wants("Prompt 20000")
	})
}

func TestSearchEverywhere(t *testing.T) {
	hub, s := longHub()
	hub.hits = []api.SearchHit{{Session: s.snapshot.ID, Title: "Long", Seq: 501, EventID: "e:501", Snippet: "Answer 100 is this"}}
	last, event := short(said("Only this."))
	other := hub.add("s2bbbbbbbbbbbbbbbbbbb", "Other", last, event)
	drive(t, hub, Options{Session: other.snapshot.ID}, 120, 40, func(d *driver) {
		d.keys("ctrl+l", "/", "answer", "enter")
		d.wants("Answer 100 is this")
		d.keys("enter")
		d.pass(time.Second)
		d.wants("Answer 100 is this.", "of 100000")
	})
}

func TestPages(t *testing.T) {
	hub, s := longHub()
	hub.most = 7 // long lines make pages short
	l := eventlog.Log{Hub: hub, Session: s.snapshot.ID, Epoch: epoch}
	check := func(name string, events []api.Event, err error, from, to int64) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, e := range events {
			if e.Seq != from+int64(i) {
				t.Fatalf("%s: event %d is number %d", name, i, e.Seq)
			}
		}
		if n := int64(len(events)); n != max(0, to-from+1) {
			t.Fatalf("%s: %d events, want %d to %d", name, n, from, to)
		}
	}
	events, from, err := l.Before(t.Context(), many+1)
	check("the last page", events, err, many-eventlog.PageSize+1, many)
	if from != many-eventlog.PageSize+1 {
		t.Errorf("it begins with %d", from)
	}
	events, from, err = l.Before(t.Context(), 31)
	check("the first page", events, err, 1, 30)
	if from != 1 {
		t.Errorf("it begins with %d", from)
	}
	events, _, err = l.Before(t.Context(), 1)
	check("nothing before the first", events, err, 1, 0)
	events, err = l.After(t.Context(), 30, 50)
	check("a part", events, err, 31, 50)

	l.Epoch = "another"
	if _, _, err := l.Before(t.Context(), 1000); !errors.Is(err, eventlog.ErrReset) {
		t.Errorf("another log: %v", err)
	}
	hub.down = true
	if _, _, err := l.Before(t.Context(), 1000); !errors.Is(err, errDown) {
		t.Errorf("no hub: %v", err)
	}
}

// BenchmarkOpen is what the screen itself costs to open a session of 100 000 events.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		hub, s := longHub()
		m := New(b.Context(), hub, Options{Session: s.snapshot.ID})
		m.width, m.height = 120, 40
		cmd := m.open(s.snapshot.ID)
		m.Update(cmd())
		if len(m.View().Content) == 0 || hub.events != eventlog.PageSize {
			b.Fatal("nothing is shown, or too much was read")
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
