package hub

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Followers share the texts of events, of one session and of all: each event is encoded
// once, however many followers there are.
func TestTextsAreShared(t *testing.T) {
	stage := newGlobalStage(t)
	s := stage.session("s")
	const followers, steps, each = 8, 5, 2*chunkEvents + 1
	type reader interface {
		Next(ctx context.Context) ([]api.Frame, error)
		Texts() []Text
	}
	readers := []reader{stage.cursor}
	for range followers - 1 {
		s.followers.Add(1)
		readers = append(readers, &Cursor{hub: stage.hub, session: s})
	}
	// All are at the live edge before anything comes.
	for _, r := range readers[1:] {
		for range 2 {
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	stage.seen(t)
	position := int64(0)
	for range steps {
		st := &step{s: s}
		for range each {
			s.projection.Seq++
			position++
			line := fmt.Appendf(nil, `{"type":"assistant","n":%d}`, position)
			st.entries = append(st.entries, journal.Entry{Session: s.id, Seq: s.projection.Seq, Position: position, Kind: api.KindLine, Line: line})
			st.shown = append(st.shown, shown{entry: len(st.entries) - 1, line: fold.NewLine(line, false)})
		}
		stage.hub.globalFeed.publish(st)
	}
	var encoded atomic.Int64
	encode := func(b []byte, ends []int, events []api.Event) ([]byte, []int) {
		for i := range events {
			encoded.Add(1)
			b = append(append(append(b, '<'), events[i].Line...), '>')
			ends = append(ends, len(b))
		}
		return b, ends
	}
	var reading sync.WaitGroup
	for _, r := range readers {
		reading.Go(func() {
			for n := 0; n < steps*each; {
				frames, err := r.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				texts := r.Texts()
				if len(texts) != len(frames) {
					t.Errorf("%d texts of %d frames", len(texts), len(frames))
					return
				}
				for i := range frames {
					n++
					json, valid := texts[i].JSON(encode)
					if want := fmt.Sprintf(`<{"type":"assistant","n":%d}>`, n); string(json) != want || !valid {
						t.Errorf("%s, %v, want %s", json, valid, want)
					}
				}
			}
		})
	}
	reading.Wait()
	if n := encoded.Load(); n != steps*each {
		t.Errorf("%d events were encoded %d times", steps*each, n)
	}
}

// What is in memory together is bounded: a chunk holds few events, and few bytes.
func TestChunksAreSmall(t *testing.T) {
	for _, test := range []struct{ events, bytes, want int }{{10, 10, 1}, {chunkEvents + 1, 10, 2}, {4, chunkBytes, 4}} {
		s := &session{id: "s", feed: &feed{session: "s"}, projection: &projection{ID: "s", Epoch: "e"}}
		st := &step{s: s}
		for i := range test.events {
			line := []byte(`{"type":"assistant","text":"` + strings.Repeat("x", test.bytes) + `"}`)
			st.entries = append(st.entries, journal.Entry{Session: "s", Seq: int64(i + 1), Kind: api.KindLine, Line: line})
			st.shown = append(st.shown, shown{entry: i, line: fold.NewLine(line, false)})
		}
		s.followers.Add(1)
		s.feed.publish(st, nil)
		chunks := map[*chunk]bool{}
		for _, text := range s.feed.ring.texts {
			chunks[text.chunk] = true
		}
		if len(chunks) != test.want {
			t.Errorf("%d events of %d bytes are in %d chunks, want %d", test.events, test.bytes, len(chunks), test.want)
		}
	}
	if json, valid := (Text{}).JSON(nil); json != nil || valid {
		t.Errorf("an event that is not shared has a text: %q", json)
	}
}

// A line that is not UTF-8, or has a line break, says so, together with those around it.
func TestTextThatIsNotPlain(t *testing.T) {
	encode := func(b []byte, ends []int, events []api.Event) ([]byte, []int) {
		for i := range events {
			b = append(b, events[i].Line...)
			ends = append(ends, len(b))
		}
		return b, ends
	}
	for second, want := range map[string]bool{"two": true, "\xff": false, "\r": false, "\n": false} {
		c := newChunk(2)
		_, one := c.add(api.Event{Line: []byte("one")})
		_, two := c.add(api.Event{Line: []byte(second)})
		for text, line := range map[Text]string{one: "one", two: second} {
			if json, plain := text.JSON(encode); plain != want || string(json) != line {
				t.Errorf("beside %q: %q, %v", second, json, plain)
			}
		}
	}
}
