package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// A floodTransport is a CLI in memory that answers initialize and then says the
// same lines again and again.
type floodTransport struct {
	*fakeTransport
	lines [][]byte
	left  int
	hello chan []byte
}

func (f *floodTransport) readBatch(ctx context.Context) ([][]byte, error) {
	select {
	case line := <-f.hello:
		return [][]byte{line}, nil
	case <-f.done:
		return nil, io.EOF
	case <-f.say: // the flood begins when it is asked for
	}
	return f.flood(ctx)
}

func (f *floodTransport) flood(context.Context) ([][]byte, error) {
	if f.left <= 0 {
		return nil, io.EOF
	}
	n := min(f.left, len(f.lines))
	f.left -= n
	// A reader of a process makes one chunk for all lines of a read.
	var size int
	for _, l := range f.lines[:n] {
		size += len(l)
	}
	chunk := make([]byte, 0, size)
	batch := make([][]byte, 0, n)
	for _, l := range f.lines[:n] {
		start := len(chunk)
		chunk = append(chunk, l...)
		batch = append(batch, chunk[start:len(chunk):len(chunk)])
	}
	return batch, nil
}

// BenchmarkSessionEvents is the way of a line from the transport to a reader of
// events, with all that a session does with it. Making the batch costs about 20 ns
// of each line.
func BenchmarkSessionEvents(b *testing.B) {
	delta := []byte(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words "}},"session_id":"0d5c4a52-9f5d-4b8f-9f3d-2f6b8d1a7c3e","parent_tool_use_id":null,"uuid":"3f2b8c1d-7a4e-4c5f-8b9a-1d2e3f4a5b6c"}`)
	start := []byte(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}},"session_id":"0d5c4a52-9f5d-4b8f-9f3d-2f6b8d1a7c3e","parent_tool_use_id":null,"uuid":"3f2b8c1d-7a4e-4c5f-8b9a-1d2e3f4a5b6c"}`)
	message := fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":1,"output_tokens":2}},"session_id":"0d5c4a52-9f5d-4b8f-9f3d-2f6b8d1a7c3e","parent_tool_use_id":null,"uuid":"3f2b8c1d-7a4e-4c5f-8b9a-1d2e3f4a5b6c"}`, bytes.Repeat([]byte("many words "), 230))
	repeat := func(line []byte, n int) [][]byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = line
		}
		return list
	}
	for _, bb := range []struct {
		name  string
		lines [][]byte
	}{
		{"delta", append([][]byte{start}, repeat(delta, 250)...)},
		{"one-endless-message", repeat(delta, 250)},
		{"message", repeat(message, 24)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f := &floodTransport{fakeTransport: newFakeTransport(), lines: bb.lines, left: b.N, hello: make(chan []byte, 1)}
			go func() { f.hello <- []byte(answerTo(<-f.heard, `{}`)) }()
			s, err := NewSession(b.Context(), &floodStart{f}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			close(f.say)
			text := 0
			for e, err := range s.Events(b.Context(), 0) {
				if errors.Is(err, io.ErrUnexpectedEOF) {
					break // the flood has no result
				}
				if err != nil {
					b.Fatal(err)
				}
				if d, ok := e.Delta(); ok {
					text += len(d.Text)
				}
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// floodStart hides Read's line by line.
type floodStart struct{ *floodTransport }
