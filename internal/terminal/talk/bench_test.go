package talk_test

import (
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
)

// BenchmarkOpen reads the last page of a log and draws it, as a view does that opens it.
func BenchmarkOpen(b *testing.B) {
	var s script
	for i := range 100 {
		s.call(fmt.Sprintf("tool%d", i), "Bash", `{"command":"go test ./..."}`, "")
		s.gave(fmt.Sprintf("tool%d", i), "ok  \tpackage\t0.1s\nok  \tother\t0.2s", false, "")
	}
	look := talk.Look{Styles: paint.Profile{Color: true}.Styles(), Width: 80}
	for b.Loop() {
		var c talk.Conversation
		c.Prepend(s.events)
		for i := range c.Len() {
			look.Lines(c.Item(i))
		}
	}
}

// BenchmarkDelta takes a piece of an answer that is long already.
func BenchmarkDelta(b *testing.B) {
	var c talk.Conversation
	c.Event(streamed(start("m")))
	c.Event(streamed(open(0, `{"type":"text","text":""}`)))
	piece := streamed(delta(0, "text_delta", "text", "a few words "))
	for range 10000 {
		c.Event(piece)
	}
	for b.Loop() {
		c.Event(piece)
	}
}
