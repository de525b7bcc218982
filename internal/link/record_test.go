package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// decodeAll takes the records out of frames. They are copies.
func decodeAll(d *Decoder, frames ...[]byte) ([]Record, error) {
	var out []Record
	for _, frame := range frames {
		d.Push(frame)
		for {
			r, ok, err := d.Next()
			if err != nil {
				return out, err
			}
			if !ok {
				break
			}
			r.Bytes = bytes.Clone(r.Bytes)
			out = append(out, r)
		}
	}
	return out, nil
}

// diffRecords says how two lists differ; empty if they do not. Lines are too
// long for a comparison byte by byte.
func diffRecords(want, got []Record) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d records, expected %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if w.Kind != g.Kind || w.Number != g.Number || w.K != g.K || w.Hole != g.Hole || !bytes.Equal(w.Bytes, g.Bytes) {
			return fmt.Sprintf("record %d is %c %d.%d hole %v with %d bytes %.40q, expected %c %d.%d hole %v with %d bytes %.40q",
				i, g.Kind, g.Number, g.K, g.Hole, len(g.Bytes), g.Bytes, w.Kind, w.Number, w.K, w.Hole, len(w.Bytes), w.Bytes)
		}
	}
	return ""
}

func framesOf(records ...Record) [][]byte {
	var frames [][]byte
	for frame := range Frames(slices.Values(records)) {
		frames = append(frames, bytes.Clone(frame))
	}
	return frames
}

func TestRecordsTravel(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n] }
	tests := []struct {
		name    string
		records []Record
		frames  int
	}{
		{"none", nil, 0},
		{"one of each kind", []Record{
			{Kind: Line, Number: 1, Bytes: []byte("a")},
			{Kind: Live, Number: 1, K: 1, Bytes: []byte("b")},
			{Kind: Live, Number: 1, K: 2, Hole: true, Bytes: []byte("c")},
			{Kind: Program, Number: 2, Bytes: []byte("d")},
			{Kind: TooLong, Number: 3, Bytes: []byte("{}")},
			{Kind: Happened, Number: 4, Bytes: []byte("{}")},
			{Kind: Outbox, Number: math.MaxInt64, Bytes: []byte("e")},
			{Kind: 'z', Number: 5, Bytes: []byte("of tomorrow")},
		}, 1},
		{"live before all others", []Record{{Kind: Live, Number: 0, K: 1, Bytes: []byte("b")}}, 1},
		{"an empty line", []Record{{Kind: Line, Number: 1, Bytes: []byte{}}}, 1},
		{"a line of just a frame", []Record{{Kind: Line, Number: 1, Bytes: long(MaxFrame - maxHeader)}}, 1},
		{"a line of a frame and a byte", []Record{{Kind: Line, Number: 1, Bytes: long(MaxFrame - maxHeader + 1)}}, 2},
		{"a long line between short ones", []Record{
			{Kind: Line, Number: 1, Bytes: []byte("a")},
			{Kind: Line, Number: 2, Bytes: long(3*MaxFrame + 5)},
			{Kind: Line, Number: 3, Bytes: []byte("c")},
		}, 4},
		{"a batch and more", []Record{
			{Kind: Line, Number: 1, Bytes: long(Batch - 100)},
			{Kind: Line, Number: 2, Bytes: long(200)},
			{Kind: Line, Number: 3, Bytes: long(200)},
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frames := framesOf(tt.records...)
			if len(frames) != tt.frames {
				t.Errorf("%d frames, expected %d", len(frames), tt.frames)
			}
			for i, frame := range frames {
				if len(frame) > MaxFrame {
					t.Errorf("frame %d has %d bytes", i, len(frame))
				}
			}
			var d Decoder
			got, err := decodeAll(&d, frames...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := diffRecords(tt.records, got); diff != "" {
				t.Error(diff)
			}
			if d.open || d.line.Bytes != nil {
				t.Error("the decoder holds memory between lines")
			}
		})
	}
}

// TestRecordsAreCutAnywhere packs records into frames of random sizes.
func TestRecordsAreCutAnywhere(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var records []Record
		for i := range 20 {
			line := bytes.Repeat([]byte{byte('a' + i)}, rng.IntN(1+1<<rng.IntN(15)))
			r := Record{Kind: Line, Number: int64(i) + 1, Bytes: line}
			if rng.IntN(3) == 0 {
				r.Kind, r.K = Live, 1+rng.Int64N(1000)
			}
			records = append(records, r)
		}
		var frames [][]byte
		var frame []byte
		for _, r := range records {
			for offset, done := 0, false; !done; {
				limit := maxHeader + 1 + rng.IntN(5000)
				frame, offset, done = AppendRecord(frame, &r, offset, limit)
				if !done || rng.IntN(3) == 0 {
					if len(frame) > limit && done {
						t.Fatalf("seed %d: a frame of %d bytes, the limit is %d", seed, len(frame), limit)
					}
					frames, frame = append(frames, frame), nil
				}
			}
		}
		got, err := decodeAll(&Decoder{}, append(frames, frame)...)
		if diff := diffRecords(records, got); err != nil || diff != "" {
			t.Fatalf("seed %d: %v %s", seed, err, diff)
		}
	}
}

func TestDecoderRefuses(t *testing.T) {
	rec := func(kind Kind, flags byte, rest ...byte) []byte { return append([]byte{byte(kind), flags}, rest...) }
	tests := []struct {
		name   string
		frames [][]byte
	}{
		{"half a header", [][]byte{{'L'}}},
		{"no number", [][]byte{rec(Line, 0)}},
		{"number 0", [][]byte{rec(Line, 0, 0, 0)}},
		{"live without a place", [][]byte{rec(Live, 0, 1, 0, 0)}},
		{"no length", [][]byte{rec(Line, 0, 1)}},
		{"length beyond the frame", [][]byte{rec(Line, 0, 1, 5, 'a')}},
		{"endless number", [][]byte{rec(Line, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}},
		{"number over int64", [][]byte{rec(Line, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0)}},
		{"another line inside a line", [][]byte{rec(Line, flagMore, 1, 1, 'a'), rec(Line, 0, 2, 1, 'b')}},
		{"another kind inside a line", [][]byte{rec(Line, flagMore, 1, 1, 'a'), rec(Program, 0, 1, 1, 'b')}},
		{"another place inside a line", [][]byte{rec(Live, flagMore, 1, 1, 1, 'a'), rec(Live, 0, 1, 2, 1, 'b')}},
		{"an empty part", [][]byte{rec(Line, flagMore, 1, 0)}},
		{"too long at once", [][]byte{append(rec(Line, 0, 1, 11), "0123456789a"...)}},
		{"too long in parts", [][]byte{append(rec(Line, flagMore, 1, 6), "012345"...), append(rec(Line, 0, 1, 5), "01234"...)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &Decoder{Max: 10}
			got, err := decodeAll(d, tt.frames...)
			if !errors.Is(err, ErrMalformed) || len(got) != 0 {
				t.Errorf("got %v, %v", got, err)
			}
			if _, again := decodeAll(d, rec(Line, 0, 1, 1, 'a')); !errors.Is(again, ErrMalformed) {
				t.Error("it goes on after an error")
			}
		})
	}
}

func TestReadFrame(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 100_000, MaxFrame} {
		want := strings.Repeat("x", size)
		got, err := ReadFrame(iotest.HalfReader(strings.NewReader(want)), make([]byte, 10))
		if err != nil || string(got) != want {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	if _, err := ReadFrame(strings.NewReader(strings.Repeat("x", MaxFrame+1)), nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("a frame that is too long: %v", err)
	}
	if _, err := ReadFrame(iotest.ErrReader(io.ErrClosedPipe), nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an error of the reader: %v", err)
	}
	buf := make([]byte, 0, 8192)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := ReadFrame(strings.NewReader("short"), buf); err != nil {
			t.Fatal(err)
		}
	}); n > 1 { // the reader itself
		t.Errorf("%v allocations with a buffer that is large enough", n)
	}
}

// TestCodecAllocations holds the way of a line to few allocations.
func TestCodecAllocations(t *testing.T) {
	line := bytes.Repeat([]byte("x"), 240)
	frame := make([]byte, 0, 2*Batch)
	var d Decoder
	n := testing.AllocsPerRun(100, func() {
		frame = frame[:0]
		for i := range 200 {
			frame, _, _ = AppendRecord(frame, &Record{Kind: Line, Number: int64(i) + 1, Bytes: line}, 0, MaxFrame)
		}
		d.Push(frame)
		for {
			if _, ok, err := d.Next(); err != nil {
				t.Fatal(err)
			} else if !ok {
				break
			}
		}
	})
	if n > 0 {
		t.Errorf("%v allocations for 200 lines, expected none", n)
	}
}

func FuzzRecords(f *testing.F) {
	for _, frame := range framesOf(Record{Kind: Line, Number: 1, Bytes: []byte("a")}, Record{Kind: Live, Number: 1, K: 300, Hole: true, Bytes: []byte("b")}) {
		f.Add(frame, uint16(3))
	}
	f.Add([]byte{'L', 1, 1, 1, 'a', 'L', 0, 1, 1, 'b'}, uint16(5))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		// In one frame or in two, cut between records or not, it must not panic.
		at := min(int(cut), len(data))
		_, _ = decodeAll(&Decoder{Max: 1 << 16}, data[:at], data[at:])
		records, err := decodeAll(&Decoder{Max: 1 << 16}, data)
		if err != nil {
			return
		}
		// What is accepted says the same when it is said again.
		again, err := decodeAll(&Decoder{}, framesOf(records...)...)
		if diff := diffRecords(records, again); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
	})
}
