package relay

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A drain is a connection that takes everything at once.
type drain struct{ net.Conn }

func (drain) Write(b []byte) (int, error)      { return len(b), nil }
func (drain) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkShow shows a line of 1 KiB to a front end, as far as the relay itself
// has a part in it: finding out what it means, framing it, and one write per
// batch.
func BenchmarkShow(b *testing.B) {
	text := `{"type":"assistant","uuid":"u","session_id":"c","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", 930) + `"}]}}`
	for _, kind := range []string{api.KindLine, api.KindLive} {
		b.Run(kind, func(b *testing.B) {
			s := New(newFakeHub(), nil, nil)
			f := &front{server: s, socket: &socket{Conn: drain{}, out: drain{}}}
			v := newView("", func(e *api.Event) *sight { return s.sight(b.Context(), e) })
			frames := make([]api.Frame, 256)
			for i := range frames {
				e := line("s1", text)
				e.Kind, e.Seq = kind, int64(i+1)
				frames[i] = api.Frame{Type: api.FrameEvent, Event: e}
				if kind == api.KindLive {
					frames[i].Type = api.FrameLive
				}
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for i := 0; i < b.N; i += len(frames) {
				out := s.batch(f)
				for k := range frames {
					v.frame(&frames[k], out)
				}
				if err := out.flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
