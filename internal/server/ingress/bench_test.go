package ingress

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// BenchmarkLink measures lines of a usual length through a link on a Unix socket
// to a hub that takes all at once, against the same bytes in the same frames with
// nobody who looks into them.
func BenchmarkLink(b *testing.B) {
	const batch = 100
	line := []byte(`{"type":"assistant","uuid":"` + strings.Repeat("u", 36) + `","message":"` + strings.Repeat("x", 160) + `"}`)
	records := make([]link.Record, batch)
	run := func(b *testing.B, h http.Handler, opened func(*websocket.Conn), done func(*websocket.Conn, int64)) {
		listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
		if err != nil {
			b.Fatal(err)
		}
		server := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(listener)
		}()
		defer func() {
			_ = server.Close()
			<-served
		}()
		ws, response, err := websocket.Dial(b.Context(), "ws://switchboard"+link.Path, &websocket.DialOptions{
			Subprotocols: []string{link.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", listener.Addr().String())
			}}},
		})
		if err != nil {
			b.Fatal(err)
		}
		if response.Body != nil {
			_ = response.Body.Close()
		}
		defer func() { _ = ws.CloseNow() }()
		opened(ws)
		b.SetBytes(int64(len(line)))
		b.ReportAllocs()
		n := int64(0)
		for left := b.N; left > 0; left -= batch {
			records = records[:0]
			for range min(batch, left) {
				n++
				records = append(records, link.Record{Kind: link.Line, Number: n, Bytes: line})
			}
			for frame := range link.Frames(slices.Values(records)) {
				if err := ws.Write(b.Context(), websocket.MessageBinary, frame); err != nil {
					b.Fatal(err)
				}
			}
		}
		done(ws, n)
	}
	b.Run("link", func(b *testing.B) {
		l := newLink(sinkHub{}, nil)
		defer func() { _ = l.Close() }()
		read := func(ws *websocket.Conn) (link.Message, error) {
			_, frame, err := ws.Read(b.Context())
			if err != nil {
				return nil, err
			}
			return link.ParseMessage(frame)
		}
		var have atomic.Int64
		news := make(chan struct{}, 1)
		run(b, l, func(ws *websocket.Conn) {
			h := hello()
			if err := ws.Write(b.Context(), websocket.MessageText, link.AppendMessage(nil, &h, link.Version)); err != nil {
				b.Fatal(err)
			}
			if _, err := read(ws); err != nil {
				b.Fatal(err)
			}
			go func() { // ends with the connection
				for {
					m, err := read(ws)
					if err != nil {
						return
					}
					if ack, ok := m.(*link.Ack); ok {
						have.Store(ack.Have)
						select {
						case news <- struct{}{}:
						default:
						}
					}
				}
			}()
		}, func(_ *websocket.Conn, n int64) {
			for have.Load() < n {
				<-news
			}
		})
	})
	b.Run("frames", func(b *testing.B) {
		run(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{link.Subprotocol}})
			if err != nil {
				return
			}
			defer func() { _ = ws.CloseNow() }()
			ws.SetReadLimit(link.MaxFrame)
			var buf []byte
			for {
				kind, reader, err := ws.Reader(context.Background())
				if err != nil {
					return
				}
				if buf, err = link.ReadFrame(reader, buf); err != nil {
					return
				}
				if kind == websocket.MessageText {
					_ = ws.Write(context.Background(), kind, buf)
				}
			}
		}), func(*websocket.Conn) {}, func(ws *websocket.Conn, _ int64) {
			if err := ws.Write(b.Context(), websocket.MessageText, []byte("end")); err != nil {
				b.Fatal(err)
			}
			if _, _, err := ws.Read(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// A sinkHub takes everything at once and acknowledges it.
type sinkHub struct{ theHub }

func (sinkHub) Attach(_ context.Context, _ hub.Hello, out hub.LinkSender) (runLink, link.Welcome, error) {
	return &sinkRunLink{sender: out}, link.Welcome{Next: 1}, nil
}

type sinkRunLink struct {
	runLink
	sender hub.LinkSender
}

func (l *sinkRunLink) Receive(_ context.Context, items []hub.Item) error {
	l.sender.Ack(items[len(items)-1].Number)
	return nil
}

func (l *sinkRunLink) Lost(error) {}
