package lines

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// A discard is a client that takes everything at once.
type discard struct{ bytes int }

func (d *discard) Line(line []byte) { d.bytes += len(line) }

// shower returns a view of the relay, and frames of one kind with a line of 1 KiB each.
func shower(tb testing.TB, kind string) (*view, []api.Frame) {
	tb.Helper()
	text := `{"type":"assistant","uuid":"u","session_id":"c","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", 930) + `"}]}}`
	s := New(nil, nil, nil)
	c := &conn{server: s}
	c.view.init(&relay{conn: c}, "me", false, s.sight)
	frames := make([]api.Frame, 256)
	for i := range frames {
		e := line("s1", text)
		e.Kind, e.Seq = kind, int64(i+1)
		frames[i] = api.Frame{Type: api.FrameEvent, Event: e}
		if kind == api.KindLive {
			frames[i].Type = api.FrameLive
		}
	}
	return &c.view, frames
}

// BenchmarkShow shows lines to a front end, up to where they are framed.
func BenchmarkShow(b *testing.B) {
	for _, kind := range []string{api.KindLine, api.KindLive} {
		b.Run(kind, func(b *testing.B) {
			v, frames := shower(b, kind)
			b.SetBytes(int64(len(frames[0].Event.Line)))
			b.ReportAllocs()
			for i := 0; i < b.N; i += len(frames) {
				v.show(frames, &discard{})
			}
		})
	}
}

// TestShowAllocatesNothing shows lines that all front ends see alike.
func TestShowAllocatesNothing(t *testing.T) {
	for _, kind := range []string{api.KindLine, api.KindLive} {
		v, frames := shower(t, kind)
		var to discard
		v.show(frames, &to)
		if per := testing.AllocsPerRun(20, func() { v.show(frames, &to) }) / float64(len(frames)); per > 0.1 {
			t.Errorf("%s: a line takes %v allocations", kind, per)
		}
	}
}
