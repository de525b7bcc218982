package dial

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func pack(text string) parcel { return parcel{data: []byte(text)} }

func TestQueueWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4)
		ctx := t.Context()
		for _, text := range []string{"ab", "cd"} {
			if err := q.push(ctx, pack(text)); err != nil {
				t.Fatal(err)
			}
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := q.push(short, pack("e")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a full queue took more: %v", err)
		}
		pushed := make(chan error, 1)
		go func() { pushed <- q.push(ctx, pack("a long one")) }()
		var got []string
		for range 3 { // the long one fits when nothing else is there
			p, err := q.pop(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(p.data))
		}
		if err := <-pushed; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"ab", "cd", "a long one"}, got); diff != "" {
			t.Errorf("popped (-want +got): %s", diff)
		}
	})
}

func TestQueueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		q := newQueue(4)
		if err := q.push(ctx, pack("last")); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() { waiting <- q.push(ctx, pack("too late")) }()
		synctest.Wait()
		q.close()
		if err := <-waiting; !errors.Is(err, errGone) {
			t.Errorf("pushing into a queue that is closed meanwhile: %v", err)
		}
		if err := q.push(ctx, pack("x")); !errors.Is(err, errGone) {
			t.Errorf("pushing into a closed queue: %v", err)
		}
		if p, err := q.pop(ctx); err != nil || string(p.data) != "last" {
			t.Errorf("popped %q, %v; want what was there", p.data, err)
		}
		if _, err := q.pop(ctx); !errors.Is(err, io.EOF) {
			t.Errorf("popping from an empty closed queue: %v", err)
		}

		q = newQueue(100)
		gone := make(chan struct{})
		for _, p := range []parcel{{data: []byte("a"), gone: gone}, {data: []byte("b"), kept: true}, pack("c")} {
			if err := q.push(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		if lost := q.abandon(); lost != 2 {
			t.Errorf("%d lost, want 2: one was kept elsewhere", lost)
		}
		<-gone
		if _, err := q.pop(ctx); !errors.Is(err, io.EOF) {
			t.Errorf("popping from an abandoned queue: %v", err)
		}
	})
}

func TestRingOrder(t *testing.T) {
	for _, tt := range []struct {
		size int
		want string
	}{{0, ""}, {1, "g"}, {3, "efg"}, {6, "bcdefg"}, {7, "abcdefg"}, {8, "abcdefg"}} {
		r := ring{size: tt.size}
		for _, c := range "abcdefg" {
			if kept := r.put([]byte(string(c))); kept != (tt.size > 0) {
				t.Errorf("a ring of %d keeps lines: %v", tt.size, kept)
			}
		}
		got := ""
		for _, line := range r.all() {
			got += string(line)
		}
		if got != tt.want {
			t.Errorf("a ring of %d holds %q, want %q", tt.size, got, tt.want)
		}
	}
}
