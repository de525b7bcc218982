package talk_test

import (
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// BenchmarkOpen reads the last page of a log and draws it, as a view does that opens it.
func BenchmarkOpen(b *testing.B) {
	var s logtest.Script
	for i := range 100 {
		s.Call(fmt.Sprintf("tool%d", i), "Bash", `{"command":"go test ./..."}`, "")
		s.Gave(fmt.Sprintf("tool%d", i), "ok  \tpackage\t0.1s\nok  \tother\t0.2s", false, "")
	}
	look := talk.Look{Styles: paint.Profile{Color: true}.Styles(), Width: 80}
	for b.Loop() {
		var c transcript.Conversation
		c.Prepend(s.Events)
		for i := range c.Len() {
			look.Lines(c.Item(i))
		}
	}
}
