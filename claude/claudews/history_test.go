package claudews

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// peeked returns the mark of a line.
func peeked(line []byte) (mark, bool) { return markOf(peek(line)) }

// receiver is a history and what it let through.
type receiver struct {
	h     history
	lines []string
	holes []string
}

func (r *receiver) take(line string) {
	m, marked := peeked([]byte(line))
	if marked {
		dup, hole, _ := r.h.admit(m)
		if dup {
			return
		}
		if hole != "" {
			r.holes = append(r.holes, fmt.Sprint(r.h.latest(), "..", hole))
		}
	}
	r.lines = append(r.lines, line)
	if marked {
		r.h.add(m)
	}
}

// Whatever is cut where, a CLI that sends its last lines again loses nothing
// that it still has, gives nothing twice, and every hole is known; for one that
// sends nothing again, too.
func TestHistoryOverCuts(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		replays := seed%2 == 0
		var (
			r        receiver
			wrote    []string // all lines
			received int      // how many of them were received or lost, in truth
			lost     bool     // whether some were lost since the last hole told
			holes    int      // how many holes there are in truth
			wantSeen []string
		)
		r.h.begin("", true, nil)
		for range 1 + rnd.IntN(8) {
			write := func(arrives bool) {
				wrote = append(wrote, line(fmt.Sprint("u", len(wrote))))
				if !arrives {
					return
				}
				if lost {
					holes++
					lost = false
				}
				r.take(wrote[len(wrote)-1])
				wantSeen = append(wantSeen, wrote[len(wrote)-1])
				received = len(wrote)
			}
			for range rnd.IntN(5) {
				write(true)
			}
			away := rnd.IntN(4)
			if rnd.IntN(10) == 0 {
				away = replayLength + rnd.IntN(5) // more than it remembers
			}
			for range away {
				write(false)
			}
			last := ""
			if len(wrote) > 0 {
				last = uuidOf(wrote[len(wrote)-1])
			}
			r.h.begin(last, false, nil)
			if replays {
				from := max(0, len(wrote)-replayLength)
				if from >= received && received > 0 {
					// Also if it begins exactly where it should: that cannot be
					// told from a beginning that is too late. If nothing was
					// ever received, not even that there was something.
					holes++
				}
				for i := from; i < len(wrote); i++ {
					r.take(wrote[i])
					if i >= received {
						wantSeen = append(wantSeen, wrote[i])
					}
				}
				received = len(wrote)
			} else if received < len(wrote) {
				lost = true
				if received == 0 {
					// Only silence can show it: see the time-out.
					r.h.lost()
					lost = false
				}
			}
		}
		if !slices.Equal(r.lines, wantSeen) {
			t.Fatalf("seed %d (replays: %v): received %d lines, want %d", seed, replays, len(r.lines), len(wantSeen))
		}
		if len(r.holes) != holes {
			t.Fatalf("seed %d (replays: %v): holes %q, want %d", seed, replays, r.holes, holes)
		}
	}
}

// A CLI encodes lines anew when it sends them again: a result then says what the
// models have used since. Several lines may share a uuid.
func TestHistoryKnowsChangedLines(t *testing.T) {
	result := func(usage int) string { return fmt.Sprintf(`{"type":"result","uuid":"r","modelUsage":%d}`, usage) }
	part := func(n int) string { return fmt.Sprintf(`{"type":"assistant","uuid":"a","n":%d}`, n) }
	var r receiver
	r.h.begin("", true, nil)
	for _, l := range []string{line("1"), result(1), part(1)} {
		r.take(l)
	}
	r.h.begin("2", false, nil)
	for _, l := range []string{line("1"), result(2), part(1), part(2), line("2"), result(3)} {
		r.take(l)
	}
	want := []string{line("1"), result(1), part(1), part(2), line("2"), result(3)}
	if !slices.Equal(r.lines, want) || len(r.holes) > 0 {
		t.Errorf("received %q and holes %q, want %q", r.lines, r.holes, want)
	}
}

// The memory is bounded, and forgets the oldest.
func TestHistoryForgets(t *testing.T) {
	var r receiver
	for i := range historyLength + 10 {
		r.take(line(fmt.Sprint("u", i)))
	}
	if len(r.h.marks) != historyLength {
		t.Errorf("%d marks are kept", len(r.h.marks))
	}
	if r.h.knows("u9") || !r.h.knows("u10") || !r.h.knows(fmt.Sprint("u", historyLength+9)) {
		t.Error("not the oldest were forgotten")
	}
	if r.h.knows("") {
		t.Error("no uuid is known as one")
	}
}

func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		line   string
		uuid   string
		marked bool
	}{
		{line("u"), "u", true},
		{request("r"), "", true},
		{`{"type":"control_cancel_request","request_id":"r"}`, "", true},
		{response("r"), "", false},
		{`{"type":"keep_alive"}`, "", false},
		{`not JSON`, "", false},
		{``, "", false},
	} {
		m, marked := peeked([]byte(tt.line))
		if m.uuid != tt.uuid || marked != tt.marked {
			t.Errorf("%s: uuid %q, marked %v", tt.line, m.uuid, marked)
		}
	}
	one, _ := peeked([]byte(request("r")))
	two, _ := peeked([]byte(`{"request":{"subtype":"other"},"request_id":"r","type":"control_request"}`))
	if one != two {
		t.Error("a request is known by its id, and was not")
	}
}

func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(10)
		put := func(items ...item) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return b.put(ctx, nil, items...)
		}
		big := item{line: make([]byte, 100)}
		if err := put(big); err != nil {
			t.Fatalf("into an empty inbox: %v", err)
		}
		if err := put(item{line: []byte("a")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("into a full inbox: %v", err)
		}
		b.tell(Event{Kind: EventGap}) // always
		if items, err := b.get(t.Context()); err != nil || len(items) != 2 {
			t.Fatalf("got %d items and %v, want 2", len(items), err)
		}
		if err := put(item{line: []byte("123456")}); err != nil {
			t.Fatal(err)
		}
		if err := put(item{line: []byte("789")}, item{line: []byte("0ab")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("two of which one fits: %v", err)
		}
		if len(b.items) != 1 {
			t.Errorf("%d items, want 1: all or none", len(b.items))
		}
		waiting := make(chan error, 1)
		go func() { waiting <- put(item{line: []byte("789")}, item{line: []byte("0ab")}) }()
		synctest.Wait()
		if _, err := b.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waiting; err != nil {
			t.Fatal(err)
		}
		end := errors.New("the end")
		b.finish(end)
		b.finish(errors.New("another end"))
		b.tell(Event{Kind: EventGap})
		if err := put(item{line: []byte("x")}); !errors.Is(err, end) {
			t.Errorf("into a finished inbox: %v", err)
		}
		if items, err := b.get(t.Context()); err != nil || len(items) != 2 || string(items[0].line) != "789" || string(items[1].line) != "0ab" {
			t.Errorf("got %v, %v; want the two that waited", items, err)
		}
		if _, err := b.get(t.Context()); !errors.Is(err, end) {
			t.Errorf("after the last: %v", err)
		}
	})
}
