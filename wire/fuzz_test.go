package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// FuzzPeek checks that Peek finds what a full decoding finds, and refuses no JSON
// object.
func FuzzPeek(f *testing.F) {
	for _, line := range samples(f) {
		f.Add(line)
	}
	for _, line := range peekLines {
		f.Add([]byte(line))
	}
	for i, text := range composites() {
		if i%61 == 0 {
			f.Add([]byte(text))
		}
	}
	for seed := range uint64(20) {
		f.Add(randomMessage(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		h, err := Peek(line)
		if !bytes.Equal(line, before) {
			t.Errorf("Peek changed the line to %q", line)
		}
		if err != nil && len(headerMap(h)) > 0 {
			t.Errorf("a header came with the error %v", err)
		}
		if !json.Valid(line) {
			return
		}
		want, refErr := refHeader(line)
		if (err == nil) != (refErr == nil) {
			t.Fatalf("error %v, reference %v", err, refErr)
		}
		if err != nil {
			return
		}
		// Not cmp here and below: what it does at random misleads the fuzzer.
		if got := headerMap(h); !maps.Equal(got, want) {
			t.Errorf("header %v, want %v", got, want)
		}
		if event, _ := Lookup(line, "event"); !bytes.Equal(h.Event, event) || (h.Event == nil) != (event == nil) {
			t.Errorf("event %q, want %q", h.Event, event)
		}
		// No part of the object is one.
		end := bytes.LastIndexByte(line, '}')
		for _, n := range []int{end, end / 2, end / 3} {
			if _, err := Peek(line[:n]); err == nil {
				t.Errorf("the first %d bytes were accepted", n)
			}
		}
	})
}

// chunks cuts data into pieces whose lengths are the bytes of cuts, over and over.
func chunks(data, cuts []byte) [][]byte {
	var all [][]byte
	for i := 0; len(data) > 0; i++ {
		n := len(data)
		if len(cuts) > 0 {
			n = min(n, int(cuts[i%len(cuts)])+1)
		}
		all = append(all, bytes.Clone(data[:n]))
		data = data[n:]
	}
	return all
}

// chunkReader returns one chunk per call, or as much of it as there is room for.
type chunkReader struct{ left [][]byte }

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.left[0])
	if r.left[0] = r.left[0][n:]; len(r.left[0]) == 0 {
		r.left = r.left[1:]
	}
	return n, nil
}

// endFrames puts a newline behind each frame that ends a line, one byte at a time,
// and returns what is whole lines by then and what is not.
func endFrames(frames [][]byte) (ended, rest []byte) {
	depth, begun, quoted, escaped := 0, false, false, false
	for _, frame := range frames {
		for _, c := range frame {
			rest = append(rest, c)
			switch {
			case c == '\n':
				ended, rest = append(ended, rest...), nil
				depth, begun, quoted, escaped = 0, false, false, false
				continue
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == ' ' || c == '\t' || c == '\r':
				continue
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			}
			begun = true
		}
		if begun && depth <= 0 {
			ended, rest = append(append(ended, rest...), '\n'), nil
			depth, begun, quoted, escaped = 0, false, false, false
		}
	}
	return ended, rest
}

// FuzzFraming checks that the way in which bytes arrive makes no difference.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}\r\n\n  \n{\"c\":3}"), []byte{0}, uint16(0))
	f.Add([]byte("0123456789\n0123456789A\n0123456789\r\n0123456789A\r\nnext"), []byte{3, 0, 7}, uint16(10))
	f.Add([]byte("a\rb\r\r\r\n\r\n\r"), []byte{0, 1}, uint16(2))
	f.Add([]byte("{\"a\":\"\\\"}\"}{\"b\":\"x\u2028\"}\n\x00\xff"), []byte{4}, uint16(300))
	f.Add(bytes.Repeat([]byte("x"), 60), []byte{25, 1}, uint16(20))
	f.Add([]byte(""), []byte{}, uint16(1))
	f.Fuzz(func(t *testing.T, data, cuts []byte, limit uint16) {
		most := int(limit)
		if most == 0 {
			most = DefaultMaxLine
		}
		want := splitAtOnce(data, most)
		pieces := chunks(data, cuts)

		got := readFramed(t, &chunkReader{left: chunks(data, cuts)}, int(limit))
		if !slices.Equal(got, want) {
			t.Errorf("LineReader gave %+v, want %+v", got, want)
		}
		got = readBatches(t, &chunkReader{left: chunks(data, cuts)}, int(limit))
		if want := unnumbered(want); !slices.Equal(got, want) {
			t.Errorf("LineReader gave %+v in batches, want %+v", got, want)
		}

		s := &Splitter{Max: int(limit)}
		got = splitFramed(t, s, append(pieces, []byte("\n"))...)
		if want := splitAtOnce(append(bytes.Clone(data), '\n'), most); !slices.Equal(got, want) {
			t.Errorf("Splitter gave %+v, want %+v", got, want)
		}
		if len(s.Rest()) > 0 {
			t.Errorf("after a newline %q is held back", s.Rest())
		}

		s = &Splitter{Max: int(limit), Frames: true}
		got = splitFramed(t, s, chunks(data, cuts)...)
		ended, rest := endFrames(chunks(data, cuts))
		if want := splitAtOnce(ended, most); !slices.Equal(got, want) {
			t.Errorf("Splitter of frames gave %+v, want %+v", got, want)
		}
		if rest := len(rest); len(s.Rest()) != rest && rest <= most {
			t.Errorf("%d bytes are held back, want %d", len(s.Rest()), rest)
		}
	})
}

// FuzzDecode checks that every JSON object, and nothing else, is a message, and
// that it survives being decoded and encoded, changed and unchanged.
func FuzzDecode(f *testing.F) {
	for _, line := range samples(f) {
		f.Add(line)
	}
	for seed := range uint64(20) {
		f.Add(randomMessage(seed))
	}
	for _, s := range []string{``, `null`, `[]`, `{`, `{}{}`, `{"type":"user"} x`, nestedResults(20, `"x"`)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Decode(line)
		trimmed := bytes.TrimLeft(line, " \t\r\n")
		if object := json.Valid(line) && trimmed[0] == '{'; object != (err == nil) {
			t.Fatalf("is an object: %v, decoding: %v", object, err)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(m.Raw(), line) {
			t.Errorf("Raw is %q", m.Raw())
		}
		again := mustEncode(t, m)
		refEqual(t, "encoded", line, []byte(again))
		typ, subtype := m.MessageType()
		second := mustDecode(t, again)
		if reflect.TypeOf(second) != reflect.TypeOf(m) {
			t.Errorf("a %T became a %T", m, second)
		}
		if h, err := Peek(line); err != nil || headerMap(h)["Type"] != typ {
			t.Errorf("type %q, peeked %q, %v", typ, h.Type, err)
		}
		for _, field := range jsonFields(reflect.TypeOf(m).Elem()) {
			if field.typ.Kind() != reflect.String {
				continue
			}
			reflect.ValueOf(m).Elem().FieldByIndex(field.index).SetString("changed")
			changed := mustDecode(t, mustEncode(t, m))
			if got := reflect.ValueOf(changed).Elem().FieldByIndex(field.index).String(); got != "changed" {
				t.Errorf("member %s of %s/%s is %q after a change", field.name, typ, subtype, got)
			}
			break
		}
	})
}
