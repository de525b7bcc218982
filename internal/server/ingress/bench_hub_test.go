package ingress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
)

// BenchmarkDial measures lines of 1 KiB from a CLI that dialled in, through the
// hub and the journal, to a follower in the same process. No more are under way
// than the hub keeps for its followers.
func BenchmarkDial(b *testing.B) {
	for _, kind := range []string{"delta", "message"} {
		b.Run(kind, func(b *testing.B) { benchmarkDial(b, kind == "delta") })
	}
}

func benchmarkDial(b *testing.B, delta bool) {
	const batch = 64
	ctx := b.Context()
	j, err := journal.Open(ctx, b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	h, err := hub.New(ctx, hub.Options{Journal: j})
	if err != nil {
		b.Fatal(err)
	}
	d := ingress.NewDial(h, &ingress.DialOptions{Trusted: func(r *http.Request) bool { return claudews.BearerToken(r) == admin }})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: d}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	defer func() {
		_ = server.Close()
		<-served
		if err := errors.Join(d.Close(), h.Close(), j.Close()); err != nil {
			b.Error(err)
		}
	}()
	ws, response, err := websocket.Dial(ctx, "ws://"+listener.Addr().String()+"/", &websocket.DialOptions{
		CompressionMode: websocket.CompressionDisabled, HTTPHeader: http.Header{"Authorization": {"Bearer " + admin}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	defer func() { _ = ws.CloseNow() }()
	conn := websocket.NetConn(ctx, ws, websocket.MessageText)
	go func() { // ends with the connection
		buf := make([]byte, 4<<10)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
	}()
	write := func(line string) {
		if _, err := conn.Write([]byte(line + "\n")); err != nil {
			b.Fatal(err)
		}
	}
	var sessions *api.SessionList
	for sessions == nil || len(sessions.Sessions) == 0 { // it is let in before it has one
		if sessions, err = h.List(ctx, api.SessionFilter{}); err != nil {
			b.Fatal(err)
		}
	}
	follower, err := h.Follow(ctx, sessions.Sessions[0].ID, hub.FollowOptions{After: "now"})
	if err != nil {
		b.Fatal(err)
	}
	defer follower.Close()
	for edge := false; !edge; { // live lines are given from there on
		frames, err := follower.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		edge = slices.ContainsFunc(frames, func(f api.Frame) bool { return f.Type == api.FramePartial })
	}
	begin, end := `{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"`, `"}],"usage":{"input_tokens":1}}`
	if delta {
		write(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant","content":[]}},"session_id":"c1","uuid":"u1"}`)
		write(`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"c1","uuid":"u2"}`)
		begin, end = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`
	}
	text := strings.Repeat("What an agent writes is mostly words. ", 24)
	b.SetBytes(1 << 10)
	b.ReportAllocs()
	b.ResetTimer()
	sent, got := 0, 0
	for got < b.N {
		for sent < b.N && sent-got <= batch {
			for range min(batch, b.N-sent) {
				sent++
				write(fmt.Sprintf(`%s%s%s,"session_id":"c1","parent_tool_use_id":null,"uuid":"6ba7b810-9dad-41d1-80b4-%012d"}`, begin, text, end, sent))
			}
		}
		got += arrived(ctx, b, follower)
	}
}

// arrived waits until a follower is given lines and returns how many there were.
func arrived(ctx context.Context, b *testing.B, c *hub.Cursor) int {
	for {
		frames, err := c.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, f := range frames {
			if f.Event != nil && len(f.Event.Line) > 900 && (f.Event.Kind == api.KindLine || f.Event.Kind == api.KindLive) {
				n++
			}
		}
		if n > 0 {
			return n
		}
	}
}
