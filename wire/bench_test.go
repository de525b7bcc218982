package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// v1Header is what Peek finds, for encoding/json.
type v1Header struct {
	Type            string  `json:"type"`
	Subtype         string  `json:"subtype"`
	UUID            string  `json:"uuid"`
	SessionID       string  `json:"session_id"`
	RequestID       string  `json:"request_id"`
	ParentToolUseID string  `json:"parent_tool_use_id"`
	Request         v1Inner `json:"request"`
	Response        v1Inner `json:"response"`
}

type v1Inner struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
}

const (
	benchProse = `The function returns early when the list is empty, so the "else" branch can go. I'll also rename ` + "`values`" + ` to ` +
		"`counts`" + ` — the old name says nothing.

Next I will run the tests: if "TestCounts" still fails, the reason must be in the caller, not here.
`
	benchCode = `     1	package count
     2	
     3	import (
     4		"fmt"
     5		"strings"
     6	)
     7	
     8	// Words counts the words of a text. Upper and lower case are the same word,
     9	// and what is not a letter separates words.
    10	func Words(text string, stop map[string]bool) (map[string]int, error) {
    11		counts := make(map[string]int)
    12		for i, line := range strings.Split(text, "\n") {
    13			for _, word := range strings.FieldsFunc(line, separates) {
    14				word = strings.ToLower(word)
    15				if len(word) > maxWord {
    16					return nil, fmt.Errorf("line %d: a word of %d bytes, expected at most %d", i+1, len(word), maxWord)
    17				}
    18				if !stop[word] {
    19					counts[word]++
    20				}
    21			}
    22		}
    23		return counts, nil
    24	}
    25	
    26	func separates(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }
`
)

// benchLine makes a line of about size bytes as a CLI writes them: a token
// delta, an assistant's text, or the result of a tool that printed a file.
func benchLine(size int, typeLast bool) []byte {
	const ids = `"parent_tool_use_id":null,"session_id":"1f0c2f3e-6f0f-4b7e-9d53-0a3f3f0f7f55","uuid":"5f2d9c1e-3c1b-4f0a-8a5e-9b1c7d2e4f60"`
	typ, text := "user", benchCode
	front := `"message":{"role":"user","content":[{"tool_use_id":"toolu_01AbCdEfGhIjKlMnOpQrStUv","type":"tool_result","content":`
	back := `}]},` + ids + `,"tool_use_result":{"stdout":"","stderr":"","interrupted":false,"isImage":false}`
	switch {
	case size <= 300:
		typ, text = "stream_event", benchProse
		front = `"event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`
		back = `}},` + ids
	case size <= 2<<10:
		typ, text = "assistant", benchProse
		front = `"message":{"id":"msg_01AbCdEfGhIjKlMnOpQrStUv","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":`
		back = `}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1500,"cache_creation_input_tokens":0,"cache_read_input_tokens":1200,"output_tokens":200,"service_tier":"standard"}},` + ids
	}
	return benchWrap(size, typeLast, typ, front, text, back)
}

// benchWrap puts as much of a text, over and over, between front and back as
// makes a line of about size bytes.
func benchWrap(size int, typeLast bool, typ, front, text, back string) []byte {
	first, last := fmt.Sprintf(`{"type":%q,`, typ), `}`
	if typeLast {
		first, last = `{`, fmt.Sprintf(`,"type":%q}`, typ)
	}
	room := max(2, size-len(first+front+back+last))
	once := appendString(nil, text)
	text = strings.Repeat(text, room/len(once)+1)
	// Escapes make it longer than it was.
	n := min(len(text), room*len(text)/len(appendString(nil, text)))
	return fmt.Appendf(nil, "%s%s%s%s%s", first, front, appendString(nil, strings.ToValidUTF8(text[:n], "")), back, last)
}

// timesV1 tells how many times as fast Peek reads a line as encoding/json does.
// The two take turns, and the best of each counts, so that what else the machine
// does meanwhile matters little.
func timesV1(b *testing.B, line []byte) float64 {
	b.Helper()
	best := func(old time.Duration, n int, f func() error) time.Duration {
		start := time.Now()
		for range n {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		if d := time.Since(start); old == 0 || d < old {
			return d
		}
		return old
	}
	const rounds, more = 40, 10
	n := max(1, 50_000/len(line))
	var v1, peek time.Duration
	for range rounds {
		v1 = best(v1, n, func() error {
			var h v1Header
			return json.Unmarshal(line, &h)
		})
		peek = best(peek, n*more, func() error {
			_, err := Peek(line)
			return err
		})
	}
	return more * float64(v1) / float64(peek)
}

func benchPeek(b *testing.B, line []byte) {
	b.Helper()
	times := timesV1(b, line)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Peek(line); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(times, "x_v1")
}

// BenchmarkPeek reads headers. The metric x_v1 says how many times as fast that is
// as encoding/json with a struct of the same members, measured by turns.
func BenchmarkPeek(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"300B", 300}, {"2KiB", 2 << 10}, {"10KiB", 10 << 10}, {"100KiB", 100 << 10}, {"1MiB", 1 << 20}, {"5MiB", 5 << 20}} {
		b.Run(size.name+"/type=first", func(b *testing.B) { benchPeek(b, benchLine(size.bytes, false)) })
		b.Run(size.name+"/type=last", func(b *testing.B) { benchPeek(b, benchLine(size.bytes, true)) })
	}
}

// BenchmarkPeekWorst reads the header of lines that are hard on it: JSON within a
// string, where every few bytes there is a quote, and many small values.
func BenchmarkPeekWorst(b *testing.B) {
	quoted := string(bytes.Join(samples(b), []byte("\n")))
	b.Run("json-in-a-string", func(b *testing.B) {
		benchPeek(b, benchWrap(100<<10, true, "user", `"message":{"role":"user","content":`, quoted, `}`))
	})
	small := strings.Repeat(`{"a":1,"b":[true,null],"c":"d"},`, 100<<10/32)
	b.Run("small-values", func(b *testing.B) {
		benchPeek(b, []byte(`{"list":[`+small+`{}],"type":"user"}`))
	})
}

// BenchmarkFramingPeek cuts a stream of lines of 1 KiB and reads their headers.
// Looking for newlines and doing nothing else is the limit. The metric best-MB/s
// is that of the fastest pass, for machines that have other things to do.
func BenchmarkFramingPeek(b *testing.B) {
	line := append(benchLine(1<<10, false), '\n')
	stream := bytes.Repeat(line, 8<<20/len(line))
	run := func(name string, pass func() (lines int, err error)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			var best time.Duration
			for b.Loop() {
				start := time.Now()
				lines, err := pass()
				if d := time.Since(start); best == 0 || d < best {
					best = d
				}
				if err != nil || lines != len(stream)/len(line) {
					b.Fatalf("%d lines, %v", lines, err)
				}
			}
			b.ReportMetric(float64(len(stream))/best.Seconds()/1e6, "best-MB/s")
		})
	}
	run("IndexByte-alone", func() (lines int, err error) {
		for rest := stream; len(rest) > 0; lines++ {
			rest = rest[bytes.IndexByte(rest, '\n')+1:]
		}
		return lines, nil
	})
	read := func(look func([]byte) error) (lines int, err error) {
		for r := NewLineReader(bytes.NewReader(stream), 0); ; lines++ {
			line, err := r.Next()
			if errors.Is(err, io.EOF) {
				return lines, nil
			}
			if err == nil {
				err = look(line)
			}
			if err != nil {
				return lines, err
			}
		}
	}
	peek := func(line []byte) error {
		_, err := Peek(line)
		return err
	}
	run("framing", func() (int, error) { return read(func([]byte) error { return nil }) })
	run("framing+Peek", func() (int, error) { return read(peek) })
	run("frames+Peek", func() (lines int, err error) {
		s := Splitter{Frames: true}
		for rest := stream; len(rest) > 0; rest = rest[len(line):] {
			s.Push(rest[:len(line)-1])
			for {
				line, err := s.Next()
				if line == nil && err == nil {
					break
				}
				if err == nil {
					err = peek(line)
				}
				if err != nil {
					return lines, err
				}
				lines++
			}
		}
		return lines, nil
	})
}

// BenchmarkDecode decodes, and encodes again, the samples.
func BenchmarkDecode(b *testing.B) {
	lines := samples(b)
	size, decoded := 0, make([]Message, len(lines))
	for i, line := range lines {
		size += len(line)
		m, err := Decode(line)
		if err != nil {
			b.Fatal(err)
		}
		decoded[i] = m
	}
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, line := range lines {
				if _, err := Decode(line); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("Encode", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, m := range decoded {
				if _, err := Encode(m); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// TestBenchLines sees to it that the benchmarks measure what they say.
func TestBenchLines(t *testing.T) {
	for _, size := range []int{300, 1 << 10, 2 << 10, 10 << 10, 100 << 10, 1 << 20} {
		for _, last := range []bool{false, true} {
			line := benchLine(size, last)
			if len(line) < size*9/10 || len(line) > size*11/10 {
				t.Errorf("the line of %d bytes has %d", size, len(line))
			}
			var v1 v1Header
			if err := json.Unmarshal(line, &v1); err != nil {
				t.Fatalf("the line of %d bytes: %v", size, err)
			}
			h, err := Peek(line)
			if err != nil || string(h.Type) != v1.Type || string(h.UUID) != v1.UUID || string(h.SessionID) != v1.SessionID || v1.Type == "" || v1.UUID == "" || v1.SessionID == "" {
				t.Errorf("the line of %d bytes: Peek finds %v, %v, encoding/json %+v", size, headerMap(h), err, v1)
			}
			if first := bytes.HasPrefix(line, []byte(`{"type":`)); first == last {
				t.Errorf("the line of %d bytes begins with %.30s", size, line)
			}
		}
	}
}
