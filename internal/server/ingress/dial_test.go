package ingress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A dialLab is a Dial with a fake hub, in memory. The token "own" is that of run
// 1 of session s1, "shared" may open sessions.
type dialLab struct {
	t      *testing.T
	hub    *fakeHub
	dial   *Dial
	client *http.Client
	header http.Header // further ones of each upgrade
}

func newDialLab(t *testing.T, o *DialOptions) *dialLab {
	t.Helper()
	if o == nil {
		o = &DialOptions{}
	}
	lab := &dialLab{t: t, hub: newFakeHub()}
	lab.hub.several = true
	lab.hub.grant = func(r hub.DialRequest) (hub.DialGrant, error) {
		switch {
		case r.Token == "own":
			run := 1
			if r.Fresh {
				run = 2
			}
			return hub.DialGrant{Session: "s1", Run: run, Own: true}, nil
		case r.Trusted:
			return hub.DialGrant{}, nil
		default:
			return hub.DialGrant{}, hub.ErrCredential
		}
	}
	o.Trusted = func(r *http.Request) bool { return claudews.BearerToken(r) == "shared" }
	lab.dial = newDial(lab.hub, o)
	lab.client = serve(t, lab.dial)
	t.Cleanup(func() { _ = lab.dial.Close() })
	return lab
}

// A testCLI is a CLI's connection.
type testCLI struct {
	t  *testing.T
	ws *websocket.Conn
}

func (lab *dialLab) upgrade(path, token, wrote string) (*testCLI, error) {
	lab.t.Helper()
	header := lab.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if wrote != "" {
		header.Set(lastRequestHeader, wrote)
	}
	ws, response, err := websocket.Dial(lab.t.Context(), "ws://hub"+path, &websocket.DialOptions{HTTPClient: lab.client, HTTPHeader: header})
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		if response != nil && response.StatusCode != http.StatusForbidden {
			lab.t.Errorf("the upgrade is answered with %d", response.StatusCode)
		}
		return nil, err
	}
	lab.t.Cleanup(func() { _ = ws.CloseNow() })
	return &testCLI{lab.t, ws}, nil
}

// come is upgrade for one who is let in.
func (lab *dialLab) come(path, token, wrote string) *testCLI {
	lab.t.Helper()
	c, err := lab.upgrade(path, token, wrote)
	if err != nil {
		lab.t.Fatalf("dialling %s: %v", path, err)
	}
	return c
}

// post sends lines by POST and returns the status.
func (lab *dialLab) post(path, token string, lines ...string) int {
	body := fmt.Sprintf(`{"events":[%s]}`, strings.Join(lines, ","))
	r, err := http.NewRequestWithContext(lab.t.Context(), http.MethodPost, "http://hub"+path, strings.NewReader(body))
	if err != nil {
		lab.t.Error(err)
		return 0
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := lab.client.Do(r)
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func (c *testCLI) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(l+"\n")); err != nil {
			c.t.Fatalf("sending: %v", err)
		}
	}
}

func (c *testCLI) read() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	return strings.TrimSuffix(string(data), "\n")
}

// closed waits for the end and returns the close code.
func (c *testCLI) closed() int {
	c.t.Helper()
	s := &testShim{c.t, c.ws}
	return int(websocket.CloseStatus(s.ended()))
}

// said returns a durable line with a uuid.
func said(uuid string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"session_id":"c","message":{}}`, uuid)
}

// delta returns a live one.
func delta(uuid string) string {
	return fmt.Sprintf(`{"type":"stream_event","uuid":%q,"session_id":"c","event":{"type":"ping"}}`, uuid)
}

func (h *fakeHub) awaitLines(t *testing.T, want ...string) {
	t.Helper()
	h.await(t, fmt.Sprintf("%d lines", len(want)), func() bool { return len(h.items) >= len(want) })
	if got := h.lines(); !slices.Equal(got, want) {
		t.Errorf("the hub has %q, want %q", got, want)
	}
}

func (h *fakeHub) awaitCalls(t *testing.T, want ...string) {
	t.Helper()
	h.await(t, fmt.Sprintf("the calls %q", want), func() bool { return len(h.calls) >= len(want) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.calls, want) {
		t.Errorf("the hub was told %q, want %q", h.calls, want)
	}
}

func TestIsDial(t *testing.T) {
	tests := []struct {
		method, path string
		upgrade      bool
		name         string
		want         bool
	}{
		{"GET", "/", true, "", true},
		{"GET", "/", false, "", false},
		{"GET", "/ws/cli/s1", true, "s1", true},
		{"GET", "/ws/cli/s1/", true, "s1", true},
		{"GET", "/ws/cli/", true, "", false},
		{"GET", "/ws/cli/a/b", true, "a/b", false},
		{"GET", "/ws/cli/" + strings.Repeat("a", 129), true, "", false},
		{"GET", "/ws", true, "", false},
		{"GET", "/ws/session", true, "", false},
		{"GET", "/v1/events", true, "", false},
		{"POST", "/events", false, "", true},
		{"POST", "/session/cli/s1/events", false, "s1", true},
		{"POST", "/session/cli/s1", false, "", false},
		{"POST", "/v1/sessions", false, "", false},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(tt.method, tt.path, http.NoBody)
		if tt.upgrade {
			r.Header.Set("Upgrade", "websocket")
		}
		name, ok := dialName(r)
		if ok != tt.want || ok && name != tt.name || IsDial(r) != tt.want {
			t.Errorf("%s %s: %q, %v", tt.method, tt.path, name, ok)
		}
	}
}

func TestDialLines(t *testing.T) {
	lab := newDialLab(t, nil)
	c := lab.come("/ws/cli/s1", "own", "")
	c.send(said("1"), delta("2"), `{"type":"keep_alive"}`, "not JSON", said("3"))
	lab.hub.awaitLines(t, said("1"), "not JSON", said("3"))
	lab.hub.await(t, "the live line", func() bool { return len(lab.hub.live) == 1 && string(lab.hub.live[0].Bytes) == delta("2") })
	want := []hub.DialHello{{Session: "s1", Run: 1, Name: "s1", Transport: "websocket"}}
	if diff := cmp.Diff(want, lab.hub.dials); diff != "" {
		t.Errorf("the hub was told (-want +got):\n%s", diff)
	}
	lab.hub.last().sender.Send([]link.Order{{Number: 1, Line: []byte(`{"n":1}`)}, {Number: 2, Line: []byte(`{"n":2}`)}})
	if a, b := c.read(), c.read(); a != `{"n":1}` || b != `{"n":2}` {
		t.Errorf("the CLI was sent %s and %s", a, b)
	}
	lab.hub.awaitCalls(t, "connected false", "written 1", "written 2")
}

func TestDialRefusals(t *testing.T) {
	lab := newDialLab(t, nil)
	for _, token := range []string{"", "wrong"} {
		if _, err := lab.upgrade("/ws/cli/s1", token, ""); err == nil {
			t.Errorf("who brings the token %q comes in", token)
		}
		if status := lab.post("/session/cli/s1/events", token, said("1")); status != http.StatusForbidden {
			t.Errorf("a POST with the token %q is answered with %d", token, status)
		}
	}
	if len(lab.hub.dials) != 0 {
		t.Error("somebody was attached")
	}
}

// TestDialReconnect holds that a CLI that comes back is the same one, that it
// matters which connection a command is for, and that a repetition is dropped.
func TestDialReconnect(t *testing.T) {
	for _, token := range []string{"own", "shared"} {
		for _, path := range []string{"/", "/ws/cli/name"} {
			t.Run(token+path, func(t *testing.T) {
				lab := newDialLab(t, nil)
				c := lab.come(path, token, "")
				c.send(said("1"), said("2"))
				lab.hub.awaitLines(t, said("1"), said("2"))
				_ = c.ws.CloseNow()
				lab.hub.awaitCalls(t, "connected false", "disconnected")
				lab.hub.last().sender.Send([]link.Order{{Number: 1, Line: []byte(`{}`)}}) // too late
				lab.hub.await(t, "the fate", func() bool { return len(lab.hub.calls) == 3 })
				c = lab.come(path, token, "2")
				c.send(said("1"), said("2"), said("3"))
				lab.hub.awaitLines(t, said("1"), said("2"), said("3"))
				lab.hub.await(t, "the reconnect", func() bool { return len(lab.hub.calls) == 4 })
				if !strings.HasPrefix(lab.hub.calls[2], "failed 1 ") || lab.hub.calls[3] != "connected true" {
					t.Errorf("the hub was told %q", lab.hub.calls)
				}
				lab.hub.last().sender.Send([]link.Order{{Number: 2, Line: []byte(`{"n":2}`)}})
				if got := c.read(); got != `{"n":2}` {
					t.Errorf("the CLI was sent %s", got)
				}
				if len(lab.hub.dials) != 1 {
					t.Errorf("attached %d times", len(lab.hub.dials))
				}
			})
		}
	}
}

// TestDialOthers holds that CLIs which share a token are told apart.
func TestDialOthers(t *testing.T) {
	lab := newDialLab(t, nil)
	for _, path := range []string{"/", "/", "/ws/cli/a", "/ws/cli/b"} {
		lab.come(path, "shared", "")
	}
	lab.hub.await(t, "four", func() bool { return len(lab.hub.dials) == 4 })
}

// TestDialReplaced holds that another process in the place of one that is gone
// is a new run, and that the hub hears of the end first.
func TestDialReplaced(t *testing.T) {
	for _, cut := range []bool{true, false} { // with a token of its own it may take the place of one that lives
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			lab := newDialLab(t, nil)
			c := lab.come("/ws/cli/s1", "own", "")
			c.send(said("1"))
			lab.hub.awaitLines(t, said("1"))
			if cut {
				_ = c.ws.CloseNow()
				lab.hub.awaitCalls(t, "connected false", "disconnected")
			} else {
				ended := make(chan int, 1)
				go func() { ended <- c.closed() }()
				defer func() {
					if code := <-ended; code != claudews.CodeEnd {
						t.Errorf("the old one was closed with %d", code)
					}
				}()
			}
			lab.come("/ws/cli/s1", "own", "")
			lab.hub.await(t, "the second run", func() bool { return len(lab.hub.dials) == 2 })
			lab.hub.mu.Lock()
			defer lab.hub.mu.Unlock()
			if lab.hub.dials[1].Run != 2 || !lab.hub.grants[len(lab.hub.grants)-1].Fresh {
				t.Errorf("attached as %+v", lab.hub.dials[1])
			}
			if lab.hub.links[0].lost == nil {
				t.Error("the first is not over")
			}
		})
	}
}

// TestDialPost holds that a POST is answered only when its lines are journaled.
func TestDialPost(t *testing.T) {
	lab := newDialLab(t, nil)
	gate := make(chan struct{})
	lab.hub.gate = gate
	lab.come("/ws/cli/s1", "own", "")
	lab.hub.awaitCalls(t, "connected false")
	status := make(chan int, 1)
	go func() {
		status <- lab.post("/session/cli/s1/events", "own", said("1"), delta("2"), `{"type":"keep_alive"}`)
	}()
	lab.hub.await(t, "the lines", func() bool { return lab.hub.entered == 1 })
	select {
	case got := <-status:
		t.Fatalf("answered with %d before the lines were journaled", got)
	default:
	}
	close(gate)
	if got := <-status; got != http.StatusOK {
		t.Errorf("answered with %d", got)
	}
	lab.hub.awaitLines(t, said("1"))
	lab.hub.await(t, "the news", func() bool { return slices.Contains(lab.hub.calls, "posting") })
	if len(lab.hub.dials) != 1 {
		t.Errorf("attached %d times", len(lab.hub.dials))
	}
}

// TestDialPostFirst holds that POSTs may come before the WebSocket, as after a
// restart of the hub.
func TestDialPostFirst(t *testing.T) {
	lab := newDialLab(t, nil)
	if got := lab.post("/session/cli/s1/events", "own", said("1")); got != http.StatusOK {
		t.Errorf("answered with %d", got)
	}
	lab.come("/ws/cli/s1", "own", "")
	lab.hub.awaitCalls(t, "connected true")
	want := []hub.DialHello{{Session: "s1", Run: 1, Name: "s1", Transport: "hybrid", Reconnected: true}}
	if diff := cmp.Diff(want, lab.hub.dials); diff != "" {
		t.Errorf("the hub was told (-want +got):\n%s", diff)
	}
	if !lab.hub.items[0].Repeat {
		t.Error("the hub was not told that it may have the line")
	}
}

// TestDialRootPosts holds that POSTs at the root go where they belong, as far as
// that can be known.
func TestDialRootPosts(t *testing.T) {
	lab := newDialLab(t, nil)
	talker := lab.come("/", "shared", "")
	talker.send(said("1")) // does not POST, then
	lab.hub.awaitLines(t, said("1"))
	poster := lab.come("/", "shared", "")
	lab.hub.await(t, "the second", func() bool { return len(lab.hub.dials) == 2 })
	if got := lab.post("/events", "shared", said("2")); got != http.StatusOK {
		t.Errorf("answered with %d", got)
	}
	_ = poster.ws.CloseNow()
	lab.hub.await(t, "the loss", func() bool { return slices.Contains(lab.hub.calls, "disconnected") })
	lab.come("/", "shared", "") // the poster again: it says nothing about itself
	lab.hub.await(t, "the reconnect", func() bool { return slices.Contains(lab.hub.calls, "connected true") })
	if len(lab.hub.dials) != 2 {
		t.Errorf("attached %d times", len(lab.hub.dials))
	}
	lab.come("/", "shared", "")
	lab.hub.await(t, "the third", func() bool { return len(lab.hub.dials) == 3 })
	if got := lab.post("/events", "shared", said("3")); got != http.StatusForbidden {
		t.Errorf("a POST that may be from two is answered with %d", got)
	}
}

func TestDialStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newDialLab(t, nil)
		c := lab.come("/ws/cli/name", "shared", "")
		c.send(said("1"))
		lab.hub.awaitLines(t, said("1"))
		lab.hub.last().sender.CloseInput() // does nothing
		lab.hub.last().sender.Stop(time.Second, "enough")
		if code := c.closed(); code != claudews.CodeEnd {
			t.Errorf("closed with %d", code)
		}
		lab.hub.await(t, "the end", func() bool { return lab.hub.links[0].lost != nil })
		if _, err := lab.upgrade("/ws/cli/name", "shared", ""); err == nil {
			t.Error("it may come back at once")
		}
		time.Sleep(stoppedWait + time.Second) // of the bubble's clock
		lab.come("/ws/cli/name", "shared", "")
		_ = lab.dial.Close()
	})
}

func TestDialGaps(t *testing.T) {
	lab := newDialLab(t, nil)
	c := lab.come("/ws/cli/s1", "own", "before")
	c.send(said("1"))
	lab.hub.await(t, "a line and a gap", func() bool { return len(lab.hub.items) == 2 })
	if g := lab.hub.items[0].Gap; g == nil || g.Certain || g.Wrote != "before" {
		t.Errorf("before the first line there is %+v", lab.hub.items[0])
	}
	if !lab.hub.items[1].Repeat || !lab.hub.dials[0].Reconnected {
		t.Error("the hub was not told that it may have the line")
	}
	_ = c.ws.CloseNow()
	lab.hub.await(t, "the loss", func() bool { return slices.Contains(lab.hub.calls, "disconnected") })
	c = lab.come("/ws/cli/s1", "own", "5")
	c.send(said("6"))
	lab.hub.await(t, "another gap", func() bool { return len(lab.hub.items) == 4 })
	if g := lab.hub.items[2].Gap; g == nil || !g.Certain || g.Wrote != "5" || g.Received != "1" {
		t.Errorf("before the last line there is %+v", lab.hub.items[2])
	}
}

// TestDialAttachAgain holds that no line is lost when the hub drops the link
// to a run.
func TestDialAttachAgain(t *testing.T) {
	lab := newDialLab(t, nil)
	c := lab.come("/ws/cli/s1", "own", "")
	lab.hub.awaitCalls(t, "connected false")
	lab.hub.update(func() { lab.hub.fail = errors.New("put away") })
	c.send(said("1"))
	lab.hub.awaitLines(t, said("1"))
	lab.hub.awaitCalls(t, "connected false", "connected true")
	if !lab.hub.items[0].Repeat || len(lab.hub.dials) != 2 {
		t.Errorf("attached %d times, the line is %+v", len(lab.hub.dials), lab.hub.items[0])
	}
}

// TestDialCallFails holds that a CLI outlives a hub that has lost its link
// when it is told what became of a command.
func TestDialCallFails(t *testing.T) {
	lab := newDialLab(t, nil)
	c := lab.come("/ws/cli/s1", "own", "")
	lab.hub.awaitCalls(t, "connected false")
	lab.hub.update(func() { lab.hub.failCall = errors.New("put away") })
	lab.hub.last().sender.Send([]link.Order{{Number: 1, Line: []byte("{}")}})
	_ = c.read()
	lab.hub.awaitCalls(t, "connected false", "connected true")
	lab.hub.last().sender.Send([]link.Order{{Number: 1, Line: []byte("{}")}})
	_ = c.read()
	lab.hub.awaitCalls(t, "connected false", "connected true", "written 1")
	if !lab.hub.links[0].over || len(lab.hub.dials) != 2 {
		t.Errorf("attached %d times", len(lab.hub.dials))
	}
}

// TestDialUnwanted holds that a CLI is ended which the hub does not want, when it
// comes or when that turns out.
func TestDialUnwanted(t *testing.T) {
	for _, err := range []error{&hub.GoneError{Reason: "over"}, &hub.OwnedError{Instance: "other"}} {
		lab := newDialLab(t, nil)
		lab.hub.refuse = err
		if code := lab.come("/ws/cli/s1", "own", "").closed(); code != claudews.CodeEnd {
			t.Errorf("%v: closed with %d", err, code)
		}
		lab = newDialLab(t, nil)
		lab.hub.fail = err
		c := lab.come("/ws/cli/s1", "own", "")
		c.send(said("1"))
		if code := c.closed(); code != claudews.CodeEnd {
			t.Errorf("%v: closed with %d", err, code)
		}
		lab.hub.await(t, "the end", func() bool { return lab.hub.links[0].lost != nil })
	}
}

// TestDialHubNotReady holds that a hub that cannot attach just now is tried until
// it can.
func TestDialHubNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newDialLab(t, nil)
		lab.hub.refuse = errors.New("the disk is full")
		c := lab.come("/ws/cli/s1", "own", "")
		c.send(said("1"))
		time.Sleep(time.Minute) // of the bubble's clock
		lab.hub.update(func() { lab.hub.refuse = nil })
		lab.hub.awaitLines(t, said("1"))
		_ = lab.dial.Close()
	})
}

// TestDialClose holds that CLIs are told to come back when the server closes, and
// that what they sent before is in the hub.
func TestDialClose(t *testing.T) {
	lab := newDialLab(t, nil)
	gate := make(chan struct{})
	lab.hub.gate = gate
	c := lab.come("/ws/cli/s1", "own", "")
	c.send(said("1"))
	lab.hub.await(t, "the line", func() bool { return lab.hub.entered == 1 })
	c.send(said("2"))
	code := make(chan int, 1)
	go func() {
		code <- c.closed()
		close(gate)
	}()
	if err := lab.dial.Close(); err != nil {
		t.Error(err)
	}
	if got := <-code; got != claudews.CodeRestart {
		t.Errorf("closed with %d", got)
	}
	if got := lab.hub.lines(); !slices.Contains(got, said("1")) {
		t.Errorf("the hub has %q", got)
	}
	if lost := lab.hub.last().lost; !errors.Is(lost, claudews.ErrServerClosed) {
		t.Errorf("lost with %v", lost)
	}
}

// TestDialGone holds that a CLI that does not come back is over in the end.
func TestDialGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newDialLab(t, nil)
		c := lab.come("/ws/cli/s1", "own", "")
		lab.hub.awaitCalls(t, "connected false")
		_ = c.ws.CloseNow()
		time.Sleep(12 * time.Minute) // of the bubble's clock
		synctest.Wait()
		if lost := lab.hub.last().lost; !errors.Is(lost, hub.ErrGone) {
			t.Errorf("lost with %v", lost)
		}
		_ = lab.dial.Close()
	})
}

// Live lines stay in order with those that are kept. While the hub waits for its
// journal they wait, too, and the connection is still read.
func TestDialLive(t *testing.T) {
	lab := newDialLab(t, nil)
	c := lab.come("/ws/cli/s1", "own", "")
	lab.hub.awaitCalls(t, "connected false")
	live := func(n int) func() bool { return func() bool { return len(lab.hub.live) == n } }
	for i := range 5 {
		c.send(delta(fmt.Sprint(i)))
		lab.hub.await(t, "a live line", live(i+1))
	}

	gate := make(chan struct{})
	lab.hub.update(func() { lab.hub.gate = gate })
	before := 0
	lab.hub.update(func() { before = lab.hub.entered })
	c.send(said("a"))
	lab.hub.await(t, "the line that waits", func() bool { return lab.hub.entered == before+1 })
	c.send(delta("b"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	reading := c.ws.CloseRead(ctx) // or nobody would hear the answer
	if err := c.ws.Ping(reading); err != nil {
		t.Errorf("a ping while the hub waits: %v", err)
	}
	lab.hub.update(func() { lab.hub.gate = nil })
	close(gate)
	lab.hub.awaitLines(t, said("a"))
	lab.hub.await(t, "the live line after it", live(6))
}
