package v1

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// crowd serves a session that many clients follow, and returns its agent and the
// server's address.
func crowd(tb testing.TB) (*servertest.Agent, string) {
	tb.Helper()
	lab := servertest.New(tb, nil)
	agent := lab.Dial(api.CreateSession{})
	g := guard(tb)
	handler := New(lab.Hub, lab.Reports, g, &Options{WriteTimeout: time.Hour})
	server := httptest.NewUnstartedServer(g.Checked(handler))
	server.Config.ConnContext = g.ConnContext
	server.Start()
	tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nobody reads any more
		handler.Close("")
		handler.Wait(ctx)
		server.Close()
	})
	return agent, server.Listener.Addr().String()
}

// follow opens a stream by hand, so that little of what is measured is the
// client's, and reads the first frame.
func follow(tb testing.TB, session, addr string) (net.Conn, *bufio.Reader) {
	tb.Helper()
	var d net.Dialer
	c, err := d.DialContext(tb.Context(), "tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, "GET /v1/sessions/"+session+"/events?after=now&kinds=line HTTP/1.1\r\nHost: "+addr+"\r\nAccept: text/event-stream\r\nAuthorization: Bearer "+observeToken+"\r\n\r\n"); err != nil {
		tb.Fatal(err)
	}
	in := bufio.NewReaderSize(c, 512)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasPrefix(line, "data: ") {
			return c, in
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// A thousand clients at once each get all there is.
func TestThousandStreams(t *testing.T) {
	const streams, lines = 1000, 15
	agent, addr := crowd(t)
	before := heap()
	type client struct {
		conn net.Conn
		in   *bufio.Reader
	}
	clients := make([]client, streams)
	for i := range clients {
		clients[i].conn, clients[i].in = follow(t, agent.Session, addr)
	}
	// Both ends are in this process.
	t.Logf("%.1f KiB of heap and stacks per stream, with the client's own part", float64(heap()-before)/streams/1024)

	start := time.Now()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for got := 0; got < lines; {
				line, err := clients[i].in.ReadString('\n')
				if err != nil {
					t.Error(err)
					return
				}
				if strings.HasPrefix(line, "data: ") {
					if !strings.Contains(line, fmt.Sprintf("msg_%d-x", got)) {
						t.Errorf("stream %d: line %d is %s", i, got, line)
					}
					got++
				}
			}
		})
	}
	for i := range lines {
		agent.Say(said(agent.Session, fmt.Sprintf("%d-x", i)))
	}
	wg.Wait()
	t.Logf("%d frames to %d streams in %v", streams*lines, streams, time.Since(start))
}

// BenchmarkStream writes batches of frames to one client, by hand and, for
// comparison, with encoding/json.
func BenchmarkStream(b *testing.B) {
	line := json.RawMessage(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("word ", 10) + `"}},"session_id":"8f2c1d3e","uuid":"0b1c2d3e"}`)
	for _, size := range []int{1, 64} {
		frames := make([]api.Frame, size)
		for i := range frames {
			frames[i] = api.Frame{Type: api.FrameEvent, Event: &api.Event{
				ID: "abcdefgh:12345", Session: "s5k2m7q3zr4t6w8xabcdy", Run: 1, Seq: 12345, Time: time.Now(), Source: "agent", Kind: api.KindLine, Line: line,
			}}
		}
		b.Run(fmt.Sprintf("batch=%d/stream", size), func(b *testing.B) {
			s := New(nil, nil, guard(b), nil)
			w := &discard{header: http.Header{}}
			st := s.newStream(&sse{server: s, w: w, ctl: http.NewResponseController(w)}, &request{}, func(error) {})
			st.start()
			defer st.stop()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := st.send(frames, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/frame")
		})
		b.Run(fmt.Sprintf("batch=%d/encoding-json", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range frames {
					if _, err := json.Marshal(frames[i].Event); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/frame")
		})
	}
}

// A discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header              { return d.header }
func (d *discard) WriteHeader(int)                  {}
func (d *discard) Write(p []byte) (int, error)      { return len(p), nil }
func (d *discard) Flush()                           {}
func (d *discard) SetWriteDeadline(time.Time) error { return nil }
