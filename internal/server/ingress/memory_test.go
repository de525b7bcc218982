package ingress

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// TestLinkMemory measures what idle links cost, both ends of them in this
// process, and after each has carried a few large lines. A session has 64 KiB
// for all of it; the two ends of a link must leave most of that to the session.
func TestLinkMemory(t *testing.T) {
	links := 500
	if raceEnabled { // memory means nothing then
		links = 10
	}
	h := newFakeHub()
	l := newLink(h.each(), nil)
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "hub.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: l}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	defer func() {
		_ = l.Close()
		_ = server.Close()
		<-done
	}()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", listener.Addr().String())
		},
	}}
	lab := &linkLab{hub: h, link: l, client: client}
	before := inUse()
	shims := make([]*testShim, links)
	for i := range shims {
		shims[i], _ = lab.open(t, hello())
	}
	idle := inUse() - before
	big := make([]byte, 200<<10)
	for _, s := range shims {
		s.send(link.Record{Kind: link.Line, Number: 1, Bytes: big}, link.Record{Kind: link.Line, Number: 2, Bytes: []byte("x")})
		s.awaitAck(2)
		h.update(func() { h.items, h.calls, h.batches = nil, nil, nil })
	}
	used := inUse() - before
	t.Logf("a link with both its ends takes %d bytes before and %d bytes after it was used", idle/int64(links), used/int64(links))
	if per := used / int64(links); per > 64<<10 && !raceEnabled {
		t.Errorf("a link takes %d bytes", per)
	}
	for _, s := range shims {
		_ = s.ws.Close(websocket.StatusNormalClosure, "")
	}
}

// inUse returns the memory in use, stacks included.
func inUse() int64 {
	debug.FreeOSMemory()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// each makes every link that attaches a run of its own.
func (h *fakeHub) each() theHub { return eachHub{h} }

type eachHub struct{ *fakeHub }

func (h eachHub) Attach(_ context.Context, hello hub.Hello, out hub.LinkSender) (runLink, link.Welcome, error) {
	return newFakeRunLink(h.fakeHub, out), link.Welcome{Next: 1}, nil
}
