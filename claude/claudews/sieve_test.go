package claudews

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// maskedWith returns a frame as a client sends it.
func maskedWith(first byte, key uint32, payload string) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, bitMask|byte(n))
	case n <= 0xffff:
		b = binary.BigEndian.AppendUint16(append(b, bitMask|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, bitMask|127), uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, key)
	for i := range len(payload) {
		b = append(b, payload[i]^byte(key>>(8*(i%4))))
	}
	return b
}

// readOnly is a connection that only gives.
type readOnly struct {
	net.Conn

	r io.Reader
}

func (c readOnly) Read(p []byte) (int, error) { return c.r.Read(p) }

// sifted is what came of some bytes.
type sifted struct {
	Data, Rest []byte
	// Ends are how much data there was at each flush that brought some.
	Ends []int
	Err  error
}

// sift lets a sieve read everything.
func sift(r io.Reader) sifted {
	var out sifted
	s := newSieve(readOnly{r: r})
	s.take = func(payload []byte) error {
		out.Data = append(out.Data, payload...)
		return nil
	}
	s.flush = func() error {
		if n := len(out.Ends); len(out.Data) > 0 && (n == 0 || out.Ends[n-1] < len(out.Data)) {
			out.Ends = append(out.Ends, len(out.Data))
		}
		return nil
	}
	out.Rest, out.Err = io.ReadAll(s)
	return out
}

func TestSieve(t *testing.T) {
	const text, binaryFrame, ping, closing = bitFin | opText, bitFin | opBinary, bitFin | 9, bitFin | 8
	long := string(bytes.Repeat([]byte("abcdefg"), 30000))
	frame := func(first byte, payload string) []byte { return maskedWith(first, 0x3d21fa37, payload) }
	bare := []byte{text, 2, 'h', 'i'}
	tests := map[string]struct {
		in   [][]byte
		data string
		rest [][]byte
		err  error
	}{
		"nothing":                     {},
		"one frame":                   {in: [][]byte{frame(text, "hello\n")}, data: "hello\n"},
		"an empty one":                {in: [][]byte{frame(text, ""), frame(text, "x")}, data: "x"},
		"many of all kinds":           {in: [][]byte{frame(text, "a\n"), frame(binaryFrame, "bcd\n"), frame(text, "e\n")}, data: "a\nbcd\ne\n"},
		"medium and long":             {in: [][]byte{frame(text, long[:300]), frame(text, long)}, data: long[:300] + long},
		"in pieces, a ping between":   {in: [][]byte{frame(opText, "ab"), frame(ping, "p"), frame(opContinue, "c"), frame(bitFin, "d\n")}, data: "abcd\n", rest: [][]byte{frame(ping, "p")}},
		"a close frame behind":        {in: [][]byte{frame(text, "a\n"), frame(closing, "\x03\xe8")}, data: "a\n", rest: [][]byte{frame(closing, "\x03\xe8")}},
		"a frame without a mask":      {in: [][]byte{bare}, rest: [][]byte{bare}},
		"a compressed one":            {in: [][]byte{frame(text|0x40, "z")}, rest: [][]byte{frame(text|0x40, "z")}},
		"an unknown kind":             {in: [][]byte{frame(bitFin|3, "z")}, rest: [][]byte{frame(bitFin|3, "z")}},
		"a rest without a beginning":  {in: [][]byte{frame(bitFin, "z")}, rest: [][]byte{frame(bitFin, "z")}},
		"a message inside of another": {in: [][]byte{frame(opText, "a"), frame(text, "b")}, data: "a", err: errNested},
		"an impossible length":        {in: [][]byte{{text, bitMask | 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}}, err: errLength},
		"cut off in a header":         {in: [][]byte{frame(text, "a\n"), frame(text, long)[:5]}, data: "a\n"},
		"cut off in a payload":        {in: [][]byte{frame(text, "a\nbcd")[:8]}, data: "a\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := bytes.Join(tt.in, nil)
			for how, r := range map[string]io.Reader{
				"at once":       bytes.NewReader(in),
				"byte by byte":  iotest.OneByteReader(bytes.NewReader(in)),
				"half by half":  iotest.HalfReader(bytes.NewReader(in)),
				"end with data": iotest.DataErrReader(bytes.NewReader(in)),
			} {
				got := sift(r)
				if string(got.Data) != tt.data {
					t.Errorf("%s: %d bytes of data: %.80q, want %.80q", how, len(got.Data), got.Data, tt.data)
				}
				if want := bytes.Join(tt.rest, nil); !bytes.Equal(got.Rest, want) {
					t.Errorf("%s: the library gets %q, want %q", how, got.Rest, want)
				}
				if !errors.Is(got.Err, tt.err) || tt.err == nil && got.Err != nil {
					t.Errorf("%s: the error is %v, want %v", how, got.Err, tt.err)
				}
				if len(got.Data) > 0 && (len(got.Ends) == 0 || got.Ends[len(got.Ends)-1] != len(got.Data)) {
					t.Errorf("%s: flushed at %v of %d", how, got.Ends, len(got.Data))
				}
			}
		})
	}
}

// What was taken is handed on before the library sees a control frame: that may be
// the end.
func TestSieveFlushesFirst(t *testing.T) {
	in := append(maskedWith(bitFin|opText, 1, "a\n"), maskedWith(bitFin|8, 2, "")...)
	var order []string
	s := newSieve(readOnly{r: bytes.NewReader(in)})
	s.take = func(payload []byte) error { order = append(order, "take "+string(payload)); return nil }
	s.flush = func() error { order = append(order, "flush"); return nil }
	n, err := s.Read(make([]byte, 16))
	if err != nil || n != 6 {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	if diff := cmp.Diff([]string{"flush", "take a\n", "flush"}, order); diff != "" {
		t.Error(diff)
	}
}

// A taker that fails ends the read with its error.
func TestSieveFails(t *testing.T) {
	failed := errors.New("no room")
	for _, flushing := range []bool{false, true} {
		s := newSieve(readOnly{r: bytes.NewReader(maskedWith(bitFin|opText, 1, "a\n"))})
		read := false
		s.take = func([]byte) error {
			read = true
			if flushing {
				return nil
			}
			return failed
		}
		s.flush = func() error {
			if flushing && read {
				return failed
			}
			return nil
		}
		if _, err := s.Read(make([]byte, 16)); !errors.Is(err, failed) {
			t.Errorf("flushing %t: the error is %v", flushing, err)
		}
	}
}

// FuzzSieve cuts the same bytes into reads of other sizes: what comes of them must
// not depend on that.
func FuzzSieve(f *testing.F) {
	f.Add(maskedWith(bitFin|opText, 0x01020304, "a line\n"), 3)
	f.Add(append(maskedWith(opText, 7, "a"), maskedWith(bitFin|9, 8, "p")...), 1)
	f.Add([]byte{bitFin | opText, bitMask | 126, 0, 200, 1, 2, 3, 4, 'x'}, 5)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		if size < 1 {
			size = 1
		}
		whole, cut := sift(bytes.NewReader(in)), sift(&cutReader{bytes.NewReader(in), size})
		if !bytes.Equal(whole.Data, cut.Data) || !bytes.Equal(whole.Rest, cut.Rest) || !errors.Is(cut.Err, whole.Err) {
			t.Errorf("whole: %q, %q, %v\ncut: %q, %q, %v", whole.Data, whole.Rest, whole.Err, cut.Data, cut.Rest, cut.Err)
		}
		if len(whole.Data)+len(whole.Rest) > len(in) {
			t.Errorf("%d bytes of data and %d for the library, of %d", len(whole.Data), len(whole.Rest), len(in))
		}
	})
}

// A cutReader gives a few bytes at a time.
type cutReader struct {
	r    io.Reader
	size int
}

func (c *cutReader) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }
