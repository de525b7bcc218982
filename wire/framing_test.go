package wire

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"weak"

	"github.com/google/go-cmp/cmp"
)

// framed is one thing that framing gives: a line, or the refusal of one.
type framed struct {
	Number  int // the line's number
	Line    string
	Refused bool
	Length  int64
	Limit   int
	Sum     [sha256.Size]byte
	Head    string
}

func toFramed(t testing.TB, number int, line []byte, err error) framed {
	t.Helper()
	var long *LineTooLongError
	if !errors.As(err, &long) {
		return framed{Number: number, Line: string(line)}
	}
	if long.Line != number {
		t.Errorf("refused line has number %d, Line() says %d", long.Line, number)
	}
	if line != nil {
		t.Errorf("a refused line came with text %q", line)
	}
	return framed{Number: number, Refused: true, Length: long.Length, Limit: long.Limit, Sum: long.Sum, Head: string(long.Head)}
}

func readFramed(t testing.TB, r io.Reader, limit int) []framed {
	t.Helper()
	l := NewLineReader(r, limit)
	var all []framed
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			if _, err := l.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the end: got %v, want io.EOF again", err)
			}
			return all
		}
		if err != nil && !errors.As(err, new(*LineTooLongError)) {
			t.Fatalf("reading lines: %v", err)
		}
		all = append(all, toFramed(t, l.Line(), line, err))
	}
}

// readBatches reads as readFramed does, by Batch, and checks that what it gave is
// never written to again. Only the last line of a batch has a known number.
func readBatches(t testing.TB, r io.Reader, limit int) []framed {
	t.Helper()
	l := NewLineReader(r, limit)
	var all []framed
	var given, copies [][]byte
	for {
		lines, err := l.Batch(nil)
		if (err == nil) != (len(lines) > 0) {
			t.Fatalf("got %d lines and %v, want either", len(lines), err)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			long, ok := errors.AsType[*LineTooLongError](err)
			if !ok {
				t.Fatalf("reading lines: %v", err)
			}
			all = append(all, toFramed(t, long.Line, nil, err))
		}
		for _, line := range lines {
			if cap(line) != len(line) {
				t.Errorf("a line of %d bytes has room for %d: who appends would write into the next one", len(line), cap(line))
			}
			given, copies = append(given, line), append(copies, bytes.Clone(line))
			all = append(all, toFramed(t, 0, line, nil))
		}
	}
	for i := range given {
		if !bytes.Equal(given[i], copies[i]) {
			t.Errorf("line %q has become %q", copies[i], given[i])
		}
	}
	return unnumbered(all)
}

// unnumbered is a list without the lines' numbers.
func unnumbered(list []framed) []framed {
	list = slices.Clone(list)
	for i := range list {
		list[i].Number = 0
	}
	return list
}

// TestBatchMemory checks what lines share memory with: many short ones with each
// other, none with a line that is much longer.
func TestBatchMemory(t *testing.T) {
	short := strings.Repeat("x", 200) + "\n"
	read := func(text string) {
		l := NewLineReader(strings.NewReader(text), 0)
		var lines [][]byte
		for {
			var err error
			if lines, err = l.Batch(lines[:0]); err != nil {
				return
			}
		}
	}
	many := strings.Repeat(short, 10_000)
	if n := testing.AllocsPerRun(5, func() { read(many) }); n > 100 {
		t.Errorf("%d allocations for 10 000 lines of 200 bytes, want one for some hundreds of them", int(n))
	}
	// After a long line short ones share chunks again.
	if n := testing.AllocsPerRun(5, func() { read(strings.Repeat("y", 500_000) + "\n" + many) }); n > 500 {
		t.Errorf("%d allocations for 10 000 lines of 200 bytes behind a long one, want one for some hundreds of them", int(n))
	}

	l := NewLineReader(strings.NewReader(short+strings.Repeat("y", 2<<20)+"\n"+short), 0)
	var lines [][]byte
	for {
		var err error
		if lines, err = l.Batch(lines); err != nil {
			break
		}
	}
	if len(lines) != 3 || len(lines[1]) != 2<<20 {
		t.Fatalf("got %d lines", len(lines))
	}
	long := weak.Make(&lines[1][0])
	lines[1] = nil
	for range 10 {
		runtime.GC()
	}
	if long.Value() != nil {
		t.Error("a long line lives on with its short neighbours")
	}
	runtime.KeepAlive(lines)
}

func splitFramed(t testing.TB, s *Splitter, chunks ...[]byte) []framed {
	t.Helper()
	var all []framed
	for _, chunk := range chunks {
		s.Push(chunk)
		clear(chunk) // Push must have copied it
		for {
			line, err := s.Next()
			if line == nil && err == nil {
				break
			}
			all = append(all, toFramed(t, s.Line(), line, err))
		}
	}
	return all
}

// splitAtOnce is the rules of framing in their simplest form, for comparison.
func splitAtOnce(data []byte, limit int) []framed {
	var all []framed
	lines := bytes.Split(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) > limit:
			all = append(all, framed{
				Number: i + 1, Refused: true, Length: int64(len(line)), Limit: limit,
				Sum: sha256.Sum256(line), Head: string(line[:min(len(line), 1024)]),
			})
		case len(bytes.Trim(line, " \t\r")) > 0:
			all = append(all, framed{Number: i + 1, Line: string(line)})
		}
	}
	return all
}

// readers are ways in which the same bytes may arrive.
var readers = []struct {
	name string
	wrap func(io.Reader) io.Reader
}{
	{"at once", func(r io.Reader) io.Reader { return r }},
	{"byte by byte", iotest.OneByteReader},
	{"by halves", iotest.HalfReader},
	{"end with the data", iotest.DataErrReader},
	{"byte by byte, end with the data", func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) }},
	{"with empty reads", func(r io.Reader) io.Reader { return &stutter{r: iotest.OneByteReader(r)} }},
}

// stutter returns nothing at all now and then, as a reader may.
type stutter struct {
	r io.Reader
	n int
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.n++; s.n%3 != 0 {
		return 0, nil
	}
	return s.r.Read(p)
}

func TestLineReader(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string // "number:line"
	}{
		{"nothing", "", nil},
		{"one", "{}\n", []string{"1:{}"}},
		{"several in a chunk", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n", []string{`1:{"a":1}`, `2:{"b":2}`, `3:{"c":3}`}},
		{"no last newline", "one\ntwo", []string{"1:one", "2:two"}},
		{"no last newline, return", "one\ntwo\r", []string{"1:one", "2:two"}},
		{"return and newline", "one\r\ntwo\r\n", []string{"1:one", "2:two"}},
		{"only one return is dropped", "one\r\r\n", []string{"1:one\r"}},
		{"return inside", "o\rne\r\n\rtwo\n", []string{"1:o\rne", "2:\rtwo"}},
		{"blank lines", "\n\none\n\r\n   \n\t\r\n\r\r\ntwo\n\n", []string{"3:one", "8:two"}},
		{"blank at the end", "one\n  \t", []string{"1:one"}},
		{"spaces around stay", "  one \n", []string{"1:  one "}},
		{"other line ends are not", "a\u2028b\u2029c\u0085d\ve\ff\n", []string{"1:a\u2028b\u2029c\u0085d\ve\ff"}},
		{"byte order mark stays", "\ufeff{}\n", []string{"1:\ufeff{}"}},
		{"nul", "a\x00b\n\x00\n", []string{"1:a\x00b", "2:\x00"}},
		{"invalid UTF-8", "a\xff\xfe\n\xc3\n\x80", []string{"1:a\xff\xfe", "2:\xc3", "3:\x80"}},
		{"long lines", strings.Repeat("x", 200_000) + "\n" + strings.Repeat("y", 70_000), []string{"1:" + strings.Repeat("x", 200_000), "2:" + strings.Repeat("y", 70_000)}},
	}
	for _, tt := range tests {
		for _, rd := range readers {
			t.Run(tt.name+"/"+rd.name, func(t *testing.T) {
				got := readFramed(t, rd.wrap(strings.NewReader(tt.in)), 0)
				var lines []string
				for _, f := range got {
					lines = append(lines, fmt.Sprintf("%d:%s", f.Number, f.Line))
				}
				if diff := cmp.Diff(tt.want, lines); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(splitAtOnce([]byte(tt.in), DefaultMaxLine), got); diff != "" {
					t.Errorf("splitting at once gives something else (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestLineReaderLimit(t *testing.T) {
	const limit = 10
	long := strings.Repeat("abcdefghij", 300) // also longer than the head that is reported
	tests := []struct {
		name, in string
		refused  string // the line that is, if any
		want     []string
	}{
		{"exactly", "0123456789\nnext\n", "", []string{"1:0123456789", "2:next"}},
		{"exactly, with return", "0123456789\r\nnext\n", "", []string{"1:0123456789", "2:next"}},
		{"exactly, at the end", "0123456789", "", []string{"1:0123456789"}},
		{"exactly, with return at the end", "0123456789\r", "", []string{"1:0123456789"}},
		{"over by one", "0123456789X\nnext\n", "0123456789X", []string{"2:next"}},
		{"over by one, with return", "0123456789X\r\nnext\n", "0123456789X", []string{"2:next"}},
		{"over by one, the first return counts", "0123456789\r\r\nnext\n", "0123456789\r", []string{"2:next"}},
		{"over by one, at the end", "0123456789X", "0123456789X", nil},
		{"over by one, with return at the end", "0123456789X\r", "0123456789X", nil},
		{"return inside", "0123456789\rX\r\nnext\n", "0123456789\rX", []string{"2:next"}},
		{"returns inside", "01\r\r\r56789\rX\r\r\nnext\n", "01\r\r\r56789\rX\r", []string{"2:next"}},
		{"long", long + "\nnext\n", long, []string{"2:next"}},
		{"long, with return", long + "\r\nnext\n", long, []string{"2:next"}},
		{"long, at the end", "one\n" + long, long, []string{"1:one"}},
		{"long, no newline in what follows", long + "\nnext", long, []string{"2:next"}},
		{"spaces over the limit are no blank line", strings.Repeat(" ", 11) + "\nnext\n", strings.Repeat(" ", 11), []string{"2:next"}},
	}
	for _, tt := range tests {
		for _, rd := range readers {
			t.Run(tt.name+"/"+rd.name, func(t *testing.T) {
				var lines []string
				var refused []framed
				all := readFramed(t, rd.wrap(strings.NewReader(tt.in)), limit)
				for _, f := range all {
					if f.Refused {
						refused = append(refused, f)
						continue
					}
					lines = append(lines, fmt.Sprintf("%d:%s", f.Number, f.Line))
				}
				if diff := cmp.Diff(tt.want, lines); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(splitAtOnce([]byte(tt.in), limit), all); diff != "" {
					t.Errorf("splitting at once gives something else (-want +got):\n%s", diff)
				}
				if tt.refused == "" {
					if len(refused) > 0 {
						t.Errorf("refused: %+v", refused)
					}
					return
				}
				if len(refused) != 1 {
					t.Fatalf("refused %d lines, want 1: %+v", len(refused), refused)
				}
				got := refused[0]
				if got.Length != int64(len(tt.refused)) || got.Sum != sha256.Sum256([]byte(tt.refused)) || got.Limit != limit {
					t.Errorf("refused length %d, limit %d, sum %x; want length %d, limit %d and the line's sum", got.Length, got.Limit, got.Sum, len(tt.refused), limit)
				}
				if want := tt.refused[:min(len(tt.refused), 1024)]; got.Head != want {
					t.Errorf("head %q, want %q", got.Head, want)
				}
			})
		}
	}
}

func TestLineTooLongErrorSaysWhatIsWrong(t *testing.T) {
	l := NewLineReader(strings.NewReader("\nabcdef\n"), 5)
	_, err := l.Next()
	if err == nil || err.Error() != "line 2 is 6 bytes long, expected at most 5" {
		t.Errorf("got error %v", err)
	}
}

func TestLineReaderLargestLimit(t *testing.T) {
	l := NewLineReader(strings.NewReader("one\ntwo"), math.MaxInt)
	for _, want := range []string{"one", "two"} {
		if line, err := l.Next(); string(line) != want || err != nil {
			t.Errorf("got %q, %v; want %q", line, err, want)
		}
	}
}

func TestLineReaderErrors(t *testing.T) {
	broken := errors.New("pipe broke")
	tests := []struct {
		name  string
		r     io.Reader
		lines []string
		want  error
	}{
		{"at once", iotest.ErrReader(broken), nil, broken},
		{"after a line", io.MultiReader(strings.NewReader("one\n"), iotest.ErrReader(broken)), []string{"one"}, broken},
		{"in the middle of a line", io.MultiReader(strings.NewReader("one\ntw"), iotest.ErrReader(broken)), []string{"one", "tw"}, broken},
		{"a reader that returns nothing", io.MultiReader(strings.NewReader("one\n"), idle{}), []string{"one"}, io.ErrNoProgress},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLineReader(tt.r, 0)
			for _, want := range tt.lines {
				if line, err := l.Next(); string(line) != want || err != nil {
					t.Errorf("got %q, %v; want %q", line, err, want)
				}
			}
			for range 2 { // and it stays so
				if line, err := l.Next(); line != nil || !errors.Is(err, tt.want) {
					t.Errorf("got %q, %v; want %v", line, err, tt.want)
				}
			}
		})
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestSplitter(t *testing.T) {
	const limit = 20
	long := `{"a":"0123456789012345"}`
	refused := func(s string) string { return fmt.Sprintf("refused %d %x", len(s), sha256.Sum256([]byte(s))) }
	tests := []struct {
		name   string
		frames bool
		chunks []string
		want   []string
		rest   string
	}{
		{"several lines in a chunk", false, []string{"one\ntwo\nthr"}, []string{"one", "two"}, "thr"},
		{"a line over several", false, []string{"o", "n", "e", "\n"}, []string{"one"}, ""},
		{"return and newline apart", false, []string{"one\r", "\ntwo\n"}, []string{"one", "two"}, ""},
		{"blank", false, []string{"\n", " \n", "", "\r\n"}, nil, ""},
		{"from a CLI the end of a frame means nothing", false, []string{`{"a":1}`, `{"b":2}` + "\n"}, []string{`{"a":1}{"b":2}`}, ""},
		{"from a CLI an object is held back", false, []string{`{"a":1}`}, nil, `{"a":1}`},
		{"over the limit", false, []string{long + "\n", "one\n"}, []string{refused(long), "one"}, ""},
		{"over the limit, over several", false, []string{long, long, "\r", "\none\n"}, []string{refused(long + long), "one"}, ""},
		{"over the limit, not ended", false, []string{long, long}, nil, ""},

		{"an object is a line", true, []string{`{"a":1}`}, []string{`{"a":1}`}, ""},
		{"so is an empty one", true, []string{`{}`, `{}`}, []string{`{}`, `{}`}, ""},
		{"two in two frames", true, []string{`{"a":1}`, `{"b":2}`}, []string{`{"a":1}`, `{"b":2}`}, ""},
		{"newline in a frame of its own", true, []string{`{"a":1}`, "\n", `{"b":2}`, "\r\n"}, []string{`{"a":1}`, `{"b":2}`}, ""},
		{"lines in a frame, the last without newline", true, []string{`{"a":1}` + "\n" + `{"b":2}`, `{"c":3}`}, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}, ""},
		{"part of an object", true, []string{`{"a":`}, nil, `{"a":`},
		{"two frames glued", true, []string{`{"a":`, `1}`}, []string{`{"a":1}`}, ""},
		{"glued byte by byte", true, strings.Split(`{"a":["}","]"]}`, ""), []string{`{"a":["}","]"]}`}, ""},
		{"a bracket in a string", true, []string{`{"a":"}`, `"}`}, []string{`{"a":"}"}`}, ""},
		{"an escape over two frames", true, []string{`{"a":"\`, `"}`, `"}`}, []string{`{"a":"\"}"}`}, ""},
		{"an escaped backslash over two frames", true, []string{`{"a":"\`, `\`, `"}`}, []string{`{"a":"\\"}`}, ""},
		{"nested", true, []string{`{"a":{`, `"b":[]}`, `}`}, []string{`{"a":{"b":[]}}`}, ""},
		{"space around", true, []string{" \t", `{"a":1}`, " \r", `{"b":2} `}, []string{" \t" + `{"a":1}`, " \r" + `{"b":2} `}, ""},
		{"empty frames", true, []string{"", `{"a":`, "", `1}`, ""}, []string{`{"a":1}`}, ""},
		{"a newline ends an open object", true, []string{`{"a":` + "\n", `{"b":2}`}, []string{`{"a":`, `{"b":2}`}, ""},
		{"a newline in a string ends it too", true, []string{`{"a":"` + "\n", `{"b":2}`}, []string{`{"a":"`, `{"b":2}`}, ""},
		{"two in one frame are one line", true, []string{`{"a":1}{"b":2}`, `{"c":3}`}, []string{`{"a":1}{"b":2}`, `{"c":3}`}, ""},
		{"what is no object swallows nothing", true, []string{`hello`, `{"a":1}`, `5`, `"x`, `}`, `{"b":2}`}, []string{`hello`, `{"a":1}`, `5`, `"x`, `}`, `{"b":2}`}, ""},
		{"exactly the limit", true, []string{`{"a":"012345678901"}`}, []string{`{"a":"012345678901"}`}, ""},
		{"over the limit in one frame", true, []string{long, `{"b":2}`}, []string{refused(long), `{"b":2}`}, ""},
		{"over the limit in several", true, []string{long[:15], long[15:22], long[22:23], long[23:], `{"b":2}`}, []string{refused(long), `{"b":2}`}, ""},
		{"over the limit with newline", true, []string{long[:22], long[22:] + "\n" + `{"b":2}`}, []string{refused(long), `{"b":2}`}, ""},
	}
	for _, tt := range tests {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/pushed together %v", tt.name, together), func(t *testing.T) {
				s := &Splitter{Max: limit, Frames: tt.frames}
				var chunks [][]byte
				for _, c := range tt.chunks {
					if together { // all frames before the first Next
						s.Push([]byte(c))
						continue
					}
					chunks = append(chunks, []byte(c))
				}
				if together {
					chunks = [][]byte{nil}
				}
				var got []string
				for _, f := range splitFramed(t, s, chunks...) {
					if f.Refused {
						got = append(got, fmt.Sprintf("refused %d %x", f.Length, f.Sum))
						continue
					}
					got = append(got, f.Line)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
				if rest := string(s.Rest()); rest != tt.rest {
					t.Errorf("held back %q, want %q", rest, tt.rest)
				}
			})
		}
	}
}

func TestSplitterLine(t *testing.T) {
	var s Splitter
	s.Push([]byte("\n\none\ntwo\n"))
	for _, want := range []int{3, 4} {
		if _, err := s.Next(); err != nil || s.Line() != want {
			t.Errorf("line %d, %v; want %d", s.Line(), err, want)
		}
	}
}

// endless gives one byte over and over.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	p[0] = byte(e)
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

// hugeLine is a stream with a line of the given length between two short ones.
func hugeLine(length int64) io.Reader {
	head, tail := `{"type":"assistant","text":"`, `","uuid":"u-1"}`
	return io.MultiReader(
		strings.NewReader(`{"type":"first"}`+"\n"+head),
		io.LimitReader(endless('x'), length-int64(len(head)+len(tail))),
		strings.NewReader(tail+"\n"+`{"type":"last"}`+"\n"+`{"type":"half`),
	)
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestHugeLine reads a line of 200 MB, peeks at it, and sees to it that it leaves
// nothing behind.
func TestHugeLine(t *testing.T) {
	const length = 200 << 20
	before := allocated()
	l := NewLineReader(hugeLine(length), 0)
	next := func(want string) []byte {
		t.Helper()
		line, err := l.Next()
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		h, err := Peek(line)
		if err != nil || string(h.Type) != want {
			t.Fatalf("type %q, %v; want %q", h.Type, err, want)
		}
		return line
	}
	next("first")
	line := next("assistant")
	if len(line) != length {
		t.Errorf("the line is %d bytes long, want %d", len(line), length)
	}
	if h, _ := Peek(line); string(h.UUID) != "u-1" {
		t.Errorf("uuid %q", h.UUID)
	}
	if n := testing.AllocsPerRun(1, func() { _, _ = Peek(line) }); n != 0 {
		t.Errorf("Peek allocates %v times", n)
	}
	// Doubling needs less than twice the last size in all.
	if used := allocated() - before; used > 3*length {
		t.Errorf("allocated %d MiB to read %d MiB", used>>20, length>>20)
	}
	next("last")
	if line, err := l.Next(); err != nil || string(line) != `{"type":"half` {
		t.Errorf("got %q, %v", line, err)
	}
	if c := cap(l.b.buf); c > keepBuffer {
		t.Errorf("the buffer keeps %d bytes after the huge line", c)
	}
}

// TestHugeLineOverTheLimit sees to it that a runaway line costs no memory.
func TestHugeLineOverTheLimit(t *testing.T) {
	const length, limit = 64 << 20, 1 << 20
	before := allocated()
	l := NewLineReader(hugeLine(length), limit)
	if _, err := l.Next(); err != nil {
		t.Fatalf("first line: %v", err)
	}
	_, err := l.Next()
	var long *LineTooLongError
	if !errors.As(err, &long) || long.Length != length || len(long.Head) != 1024 {
		t.Errorf("got %v with a head of %d bytes, want a line of %d bytes refused", err, len(long.Head), length)
	}
	if line, err := l.Next(); err != nil || string(line) != `{"type":"last"}` {
		t.Errorf("after it: %q, %v", line, err)
	}
	if used := allocated() - before; used > 6*limit {
		t.Errorf("allocated %d KiB for a limit of %d KiB", used>>10, limit>>10)
	}
}

// TestSplitterReleasesMemory sees to it that a huge line does not stay in memory.
func TestSplitterReleasesMemory(t *testing.T) {
	var s Splitter
	s.Push(bytes.Repeat([]byte{'x'}, 8<<20))
	s.Push([]byte("\n{"))
	if line, err := s.Next(); err != nil || len(line) != 8<<20 {
		t.Fatalf("got %d bytes, %v", len(line), err)
	}
	s.Push([]byte("}\n"))
	if line, err := s.Next(); err != nil || string(line) != "{}" {
		t.Errorf("got %q, %v", line, err)
	}
	if c := cap(s.b.buf); c > keepBuffer {
		t.Errorf("the buffer keeps %d bytes", c)
	}
}
