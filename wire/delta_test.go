package wire

import "testing"

// deltaSeeds are lines whose header has a delta, or that are left to Decode.
func deltaSeeds() map[string]bool {
	return map[string]bool{
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"uuid":"u"}`:                           true,
		`{"event":{"delta":{"text":"a\n\u00e9\"","type":"text_delta"},"index":12,"type":"content_block_delta"},"type":"stream_event"}`:                           true,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm","text":"no"}}}`:                 true,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}}`:                  true,
		`{"type":"stream_event","event":{"type":"x"},"event":{"type":"content_block_delta","index":1,"index":2,"delta":{"type":"text_delta","text":"last"}}}`:    true,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","te\u0078t":"named"}}}`:                             true,
		` { "type" : "stream_event" , "event" : { "type" : "content_block_delta" , "index" : 1 , "delta" : { "type" : "text_delta" , "text" : " spaced " } } } `: true,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"s"}}}`:                            false,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta"}}}`:                                                 false,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":null}}}`:                                     false,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1.5,"delta":{"type":"text_delta","text":"a"}}}`:                                    false,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}`:                                                false,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":[]}}`:                                                                    false,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`:                                                                          false,
		`{"type":"stream_event","event":{}}`: false,
		`{"type":"stream_event"}`:            false,
		"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\"}}}": false,
	}
}

// checkDelta holds that what Header.Delta reads is what Decode reads.
func checkDelta(t *testing.T, line []byte) (ok bool) {
	t.Helper()
	if !Valid(line) {
		return false
	}
	h, err := Peek(line)
	if err != nil {
		return false // it is no object
	}
	d, ok := h.Delta()
	if !ok {
		if d.Text != nil || d.Index != 0 {
			t.Errorf("%q has no delta, but %+v", line, d)
		}
		return false
	}
	m, err := Decode(line)
	if err != nil {
		t.Fatalf("%q is peeked but not decoded: %v", line, err)
	}
	s, is := m.(*StreamEvent)
	if !is {
		t.Fatalf("%q is peeked, decoded it is %T", line, m)
	}
	e, is := s.Event.(*ContentBlockDeltaEvent)
	if !is {
		t.Fatalf("%q is peeked, decoded its event is %T", line, s.Event)
	}
	text := ""
	switch x := e.Delta.(type) {
	case *TextDelta:
		text = x.Text
	case *ThinkingDelta:
		text = x.Thinking
	case *InputJSONDelta:
		text = x.PartialJSON
	default:
		t.Fatalf("%q is peeked, decoded its delta is %T", line, e.Delta)
	}
	if string(d.Text) != text || d.Index != e.Index {
		t.Errorf("%q is peeked as %d %q, decoded as %d %q", line, d.Index, d.Text, e.Index, text)
	}
	return true
}

func TestHeaderDelta(t *testing.T) {
	for line, want := range deltaSeeds() {
		if got := checkDelta(t, []byte(line)); got != want {
			t.Errorf("the delta of %q: %t, want %t", line, got, want)
		}
	}
}

func FuzzHeaderDelta(f *testing.F) {
	for line := range deltaSeeds() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkDelta(t, line) })
}

// BenchmarkDelta is what each small line of a stream costs: its header and its
// text.
func BenchmarkDelta(b *testing.B) {
	line := benchLine(240, false)
	b.Run("Peek", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Peek(line); err != nil {
				b.Fatal(err)
			}
		}
	})
	h, err := Peek(line)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Header.Delta", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := h.Delta(); !ok {
				b.Fatal("no delta")
			}
		}
	})
}
