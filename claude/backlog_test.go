package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// put adds lines as a connection does, those of one read at a time.
func put(b *backlog, lines ...string) {
	var list [][]byte
	for _, text := range lines {
		list = append(list, []byte(text))
	}
	b.publish(b.segment(list, nil))
}

// had tells a backlog that a reader is done with the lines up to a number.
func had(t *testing.T, b *backlog, c *cursor, number int64) {
	t.Helper()
	if _, missed, err := b.after(c, number); missed > 0 || err != nil {
		t.Fatalf("behind %d: %d lines missed, %v", number, missed, err)
	}
}

// lineOf makes a line of about so many bytes.
func lineOf(n, size int) string {
	return fmt.Sprintf(`{"type":"user","n":%d,"pad":"%s"}`, n, strings.Repeat("x", size))
}

// TestBacklogHeaders checks that a line is kept with its header, whatever is in it.
func TestBacklogHeaders(t *testing.T) {
	lines := []string{
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}`,
		`{"type":"system","subtype":"init","session_id":"","uuid":"u"}`,
		`{"type":"assist\u0061nt","parent_tool_use_id":"t","error":"rate_limit"}`,
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":"q"}}`,
		`{"event":[1,2],"type":7}`,
		`{}`,
		`noise`,
	}
	b := newBacklog(0)
	put(b, lines...)
	c := b.join(0)
	got, _, _ := b.after(c, 0)
	if len(got) != len(lines) {
		t.Fatalf("there are %d lines, want %d", len(got), len(lines))
	}
	for i, text := range lines {
		l := got[i]
		want, err := wire.Peek([]byte(text))
		if err != nil {
			want = wire.Header{}
		}
		if diff := cmp.Diff(want, l.Header); diff != "" || string(l.Bytes) != text || l.Number != int64(i+1) {
			t.Errorf("line %d is %s (-want +got):\n%s", l.Number, l.Bytes, diff)
		}
		delta, ok := l.Delta()
		if wanted, is := want.Delta(); is != ok || string(wanted.Text) != string(delta.Text) {
			t.Errorf("the delta of %s is %q, %t", text, delta.Text, ok)
		}
	}
}

// TestBacklogKeeps checks what is kept: all up to the limit while somebody needs
// it, or nobody reads, and less when everybody has had it.
func TestBacklogKeeps(t *testing.T) {
	const size, limit = 1000, 64_000 // of a line, with what is kept beside it
	b := newBacklog(limit)
	oldest := func() int64 { return b.segments[0].first }
	for n := range 60 {
		put(b, lineOf(n, size-40-lineOverhead))
	}
	if oldest() != 1 {
		t.Errorf("with no reader the first line kept is %d, want 1", oldest())
	}
	fast, slow := b.join(0), b.join(0)
	for n := range 60 {
		had(t, b, fast, b.newest())
		put(b, lineOf(n, size-40-lineOverhead))
		if b.total-b.segments[0].start > limit+size {
			t.Fatalf("%d bytes are kept, the limit is %d", b.total-b.segments[0].start, limit)
		}
	}
	if oldest() < 50 {
		t.Errorf("more than the limit is kept: from line %d", oldest())
	}
	if _, missed, _ := b.after(slow, 0); missed != oldest()-1 {
		t.Errorf("the slow reader missed %d lines, want %d", missed, oldest()-1)
	}
	had(t, b, fast, b.newest())
	had(t, b, slow, b.newest())
	put(b, lineOf(0, size-40-lineOverhead))
	if kept := b.total - b.segments[0].start; kept > limit/historyPart+2*size {
		t.Errorf("%d bytes are kept that every reader has had", kept)
	}
	b.leave(fast)
	b.leave(slow)
	before := oldest()
	for n := range 30 {
		put(b, lineOf(n, size-40-lineOverhead))
	}
	if oldest() != before {
		t.Errorf("with no reader lines up to %d were dropped", oldest()-1)
	}
}

// pour adds so many lines of a thousand bytes as readLoop does, and returns how
// long that took.
func pour(b *backlog, lines int) time.Duration {
	start := time.Now()
	for n := range lines {
		put(b, lineOf(n, 960-lineOverhead))
		b.pace(nil)
	}
	return time.Since(start)
}

// TestBacklogPace checks who is waited for: a reader that works, and not for long
// one that sleeps.
func TestBacklogPace(t *testing.T) {
	const limit = 1 << 20
	t.Run("a reader that works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &Conn{backlog: newBacklog(limit)}
			done := make(chan error)
			count := 0
			go func() {
				for _, err := range c.Lines(context.Background(), 0) {
					if err != nil {
						done <- err
						return
					}
					count++
					time.Sleep(20 * time.Microsecond) // 50 MB/s
				}
			}()
			synctest.Wait()
			pour(c.backlog, 20_000)
			c.backlog.finish(io.EOF)
			if err := <-done; !errors.Is(err, io.EOF) || count != 20_000 {
				t.Errorf("%d lines, then %v; want all of 20 000", count, err)
			}
		})
	})
	t.Run("a reader that sleeps", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog(limit)
			b.join(0)
			// 20 MB, at the least pace.
			if took := pour(b, 20_000); took > 2*time.Second {
				t.Errorf("20 MB took %s: nobody may be held up by a reader that sleeps", took)
			}
			// One line now and then is not held up at all.
			time.Sleep(time.Second)
			if took := pour(b, 1); took > maxWait {
				t.Errorf("one line took %s", took)
			}
		})
	})
	t.Run("nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if took := pour(newBacklog(limit), 20_000); took > 0 {
				t.Errorf("without readers it took %s", took)
			}
		})
	})
}

// TestBacklogMessages checks that a message is decoded once for several readers,
// and not kept once they have had it.
func TestBacklogMessages(t *testing.T) {
	b := newBacklog(0)
	one, two := b.join(0), b.join(0)
	put(b, `{"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}`)
	read := func() wire.Message {
		lines, _, _ := b.after(one, 0)
		m, err := lines[0].Message()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if read() != read() {
		t.Error("the message is decoded for each of two readers")
	}
	a, ok := read().(*wire.Assistant)
	if !ok {
		t.Fatalf("got a %T", read())
	}
	kept := weak.Make(a)
	had(t, b, one, 1)
	had(t, b, two, 1)
	put(b, lineOf(2, 10))
	runtime.KeepAlive(a)
	for range 10 {
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("the message is kept although every reader has had it")
	}
	if b.segments[0].first != 1 {
		t.Error("the line is no longer kept")
	}
}

// TestBacklogForgetsMessages checks that messages are not kept without readers, nor
// for one that is far behind, which decodes them again.
func TestBacklogForgetsMessages(t *testing.T) {
	b := newBacklog(historyPart * 2 * lineOverhead)
	shared := func(number int64) bool {
		c := b.join(number - 1)
		defer b.leave(c)
		lines, _, _ := b.after(c, number-1)
		first, err := lines[0].Message()
		if err != nil {
			t.Fatal(err)
		}
		again, err := lines[0].Message()
		if err != nil {
			t.Fatal(err)
		}
		return first == again
	}
	put(b, lineOf(1, 10))
	if shared(1) {
		t.Error("the message of a line that came while there was no reader is kept")
	}
	slow := b.join(1)
	defer b.leave(slow)
	for n := range 10 {
		put(b, lineOf(n+2, 10))
	}
	if !shared(b.newest()) {
		t.Error("the message of the newest line is not kept")
	}
	if shared(2) {
		t.Error("a message far behind is kept")
	}
}

// TestBacklogShare checks that readers get what the session has decoded.
func TestBacklogShare(t *testing.T) {
	b := newBacklog(0)
	s := b.segment([][]byte{[]byte(`{"type":"user","message":{"role":"user","content":"hello"}}`)}, nil)
	l := s.lines[0]
	want, err := fold.NewLine(l.Bytes, false).Message()
	if err != nil {
		t.Fatal(err)
	}
	l.share(want, nil)
	if got, err := l.Message(); got != want || err != nil {
		t.Errorf("got %p, %v; want %p", got, err, want)
	}
}

// TestBacklogReaders lets readers at all paces read what one goroutine adds: each
// must see every line in order, or be told how many it missed.
func TestBacklogReaders(t *testing.T) {
	const lines = 20_000
	c := &Conn{backlog: newBacklog(200_000)}
	var readers sync.WaitGroup
	results := make(chan error, 4)
	for reader := range 4 {
		readers.Go(func() {
			at := int64(0)
			for l, err := range c.Lines(t.Context(), 0) {
				lagged, late := errors.AsType[*LaggedError](err)
				switch {
				case late:
					at += lagged.Missed
					continue
				case err != nil:
					if at != lines {
						err = fmt.Errorf("reader %d ended at %d: %w", reader, at, err)
					} else {
						err = nil
					}
					results <- err
					return
				}
				if at++; l.Number != at || !strings.HasPrefix(string(l.Bytes), fmt.Sprintf(`{"type":"user","n":%d,`, at)) {
					results <- fmt.Errorf("reader %d: line %d is %d: %s", reader, at, l.Number, l.Bytes)
					return
				}
				if reader > 1 && at%(100*int64(reader)) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for n := 1; n <= lines; {
		var batch []string
		for range n%7 + 1 {
			if n <= lines {
				batch = append(batch, lineOf(n, 40))
				n++
			}
		}
		put(c.backlog, batch...)
		c.backlog.pace(t.Context().Done())
	}
	c.backlog.finish(io.EOF)
	readers.Wait()
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(c.backlog.cursors); n != 0 {
		t.Errorf("%d readers are still there", n)
	}
}

// TestBacklogNewest checks that a reader can begin with what comes.
func TestBacklogNewest(t *testing.T) {
	b := newBacklog(0)
	put(b, lineOf(1, 1), lineOf(2, 1))
	c := b.join(-1)
	if lines, _, _ := b.after(c, c.at); lines != nil || b.wait(c) == nil {
		t.Errorf("a reader of what comes got %d old lines", len(lines))
	}
	put(b, lineOf(3, 1))
	if lines, _, _ := b.after(c, c.at); len(lines) != 1 || lines[0].Number != 3 {
		t.Errorf("got %d lines, want the third", len(lines))
	}
}

// BenchmarkBacklog is what keeping a small line costs, and reading it.
func BenchmarkBacklog(b *testing.B) {
	line := []byte(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}},"session_id":"1f0c2f3e-6f0f-4b7e-9d53-0a3f3f0f7f55","parent_tool_use_id":null,"uuid":"5f2d9c1e-3c1b-4f0a-8a5e-9b1c7d2e4f60"}`)
	batch := slices.Repeat([][]byte{line}, 256)
	c := &Conn{backlog: newBacklog(0)}
	place := c.backlog.join(0)
	b.ReportAllocs()
	for b.Loop() {
		c.receive(batch, nil)
		at := c.backlog.newest() - int64(len(batch))
		for at < c.backlog.newest() {
			lines, _, _ := c.backlog.after(place, at)
			var l Line
			for i := range lines {
				l = lines[i]
			}
			at = l.Number
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch)), "ns/line")
}
