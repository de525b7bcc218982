package ingress

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// lines returns the bytes of the durable items that the hub has.
func (h *fakeHub) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, it := range h.items {
		lines = append(lines, string(it.Bytes))
	}
	return lines
}

func TestLinkHello(t *testing.T) {
	lab := newLinkLab(t)
	h := hello()
	h.Next, h.Oldest, h.Written, h.Writing, h.Failed = 9, 4, 3, 4, []link.Failed{{Number: 2, Reason: "no"}}
	_, welcome := lab.open(t, h)
	want := hub.Hello{Hello: link.Hello{
		Version: link.Version, Session: "s1", Run: 1, Instance: "i", Next: 9, Oldest: 4, Written: 3, Writing: 4, Failed: []link.Failed{{Number: 2, Reason: "no"}},
		PID: 7, PIDStart: "8",
	}, Token: "secret"}
	if diff := cmp.Diff([]hub.Hello{want}, lab.hub.hellos); diff != "" {
		t.Errorf("the hub was told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&link.Welcome{Version: link.Version, Epoch: "e", Next: 1}, welcome); diff != "" {
		t.Errorf("the welcome (-want +got):\n%s", diff)
	}
}

func TestLinkRefuses(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		hello link.Hello
		want  link.Message
		code  websocket.StatusCode
	}{
		{"a run that is over", &hub.GoneError{Reason: "it has ended"}, hello(), &link.Gone{Reason: "it has ended"}, websocket.StatusNormalClosure},
		{"a run of another", &hub.OwnedError{Instance: "other"}, hello(), &link.OwnedBy{Instance: "other"}, websocket.StatusNormalClosure},
		{"a wrong token", hub.ErrCredential, hello(), nil, websocket.StatusPolicyViolation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lab := newLinkLab(t)
			lab.hub.refuse = tt.err
			s := lab.dial(t, "secret")
			s.say(&tt.hello, link.Version)
			if tt.want != nil {
				if diff := cmp.Diff(tt.want, s.message()); diff != "" {
					t.Errorf("the answer (-want +got):\n%s", diff)
				}
			}
			if got := websocket.CloseStatus(s.ended()); got != tt.code {
				t.Errorf("closed with %d, want %d", got, tt.code)
			}
		})
	}
}

func TestLinkBadBeginnings(t *testing.T) {
	tests := []struct {
		name  string
		kind  websocket.MessageType
		frame string
	}{
		{"no JSON", websocket.MessageText, "hello"},
		{"another message", websocket.MessageText, `{"t":"ping"}`},
		{"lines first", websocket.MessageBinary, "L\x00\x01\x01x"},
		{"numbers that make no sense", websocket.MessageText, `{"t":"hello","version":1,"session":"s","run":1,"next":-1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lab := newLinkLab(t)
			s := lab.dial(t, "secret")
			if err := s.ws.Write(t.Context(), tt.kind, []byte(tt.frame)); err != nil {
				t.Fatal(err)
			}
			if got := websocket.CloseStatus(s.ended()); got != websocket.StatusPolicyViolation {
				t.Errorf("closed with %d", got)
			}
			if len(lab.hub.hellos) != 0 {
				t.Error("the hub was asked")
			}
		})
	}
}

func TestLinkWrongSubprotocol(t *testing.T) {
	lab := newLinkLab(t)
	ws, response, err := websocket.Dial(t.Context(), "ws://switchboard/link", &websocket.DialOptions{HTTPClient: lab.client})
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	defer func() { _ = ws.CloseNow() }()
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("ended with %v", err)
	}
}

func TestLinkLines(t *testing.T) {
	lab := newLinkLab(t)
	s, _ := lab.open(t, hello())
	long := strings.Repeat("x", 3<<20) // over several frames
	want := []string{`{"a":1}`, long, "not JSON \xff", "{}"}
	for i, l := range want {
		s.send(line(int64(i+1), l))
	}
	s.send(
		link.Record{Kind: link.TooLong, Number: 5, Bytes: []byte("o")}, link.Record{Kind: link.Happened, Number: 6, Bytes: []byte("e")},
		link.Record{Kind: link.Program, Number: 7, Bytes: []byte("p")}, link.Record{Kind: 'z', Number: 8, Bytes: []byte("z")},
	)
	s.awaitAck(8)
	if got := lab.hub.lines(); !slices.Equal(got, append(want, "o", "e", "p", "z")) {
		t.Errorf("the hub has %.100q", got)
	}
	var kinds []link.Kind
	for _, it := range lab.hub.items {
		kinds = append(kinds, it.Kind)
	}
	if want := []link.Kind{link.Line, link.Line, link.Line, link.Line, link.TooLong, link.Happened, link.Program, 'z'}; !slices.Equal(kinds, want) {
		t.Errorf("their kinds are %v, want %v", kinds, want)
	}
}

// TestLinkReconnect holds that the same instance replaces its own connection, and
// that what comes again is dropped.
func TestLinkReconnect(t *testing.T) {
	lab := newLinkLab(t)
	first, _ := lab.open(t, hello())
	first.send(line(1, "a"), line(2, "b"))
	first.awaitAck(2)
	// The first is not closed: it is half-open.
	h := hello()
	h.Next = 4
	second, welcome := lab.open(t, h)
	if welcome.Have != 2 {
		t.Errorf("the hub says that it has %d", welcome.Have)
	}
	_ = first.ended()
	second.send(line(2, "b"), line(3, "c"))
	second.awaitAck(3)
	if got := lab.hub.lines(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the hub has %q", got)
	}
	lab.hub.await(t, "the loss of the first", func() bool { return lab.hub.links[0].lost != nil })
	if lab.hub.last().over {
		t.Error("the second one is over, too")
	}
}

// TestLinkBatches holds that what arrives while the hub is busy becomes one batch.
func TestLinkBatches(t *testing.T) {
	lab := newLinkLab(t)
	gate := make(chan struct{})
	lab.hub.gate = gate
	s, _ := lab.open(t, hello())
	s.send(line(1, "a"))
	lab.hub.await(t, "the first batch", func() bool { return lab.hub.entered == 1 })
	for n := int64(2); n <= 100; n++ {
		s.send(line(n, "b"))
	}
	s.say(&link.Ping{}, link.Version)
	if _, ok := s.message().(*link.Pong); !ok { // all before it has been read
		t.Fatal("no pong")
	}
	close(gate)
	s.awaitAck(100)
	if !slices.Equal(lab.hub.batches, []int{1, 99}) {
		t.Errorf("the batches are %v", lab.hub.batches)
	}
}

// TestLinkBackPressure holds that a slow hub stops the reading of durable lines
// within bounds, that live lines are left out meanwhile, and that all durable
// lines come in the end.
func TestLinkBackPressure(t *testing.T) {
	lab := newLinkLab(t)
	gate := make(chan struct{})
	lab.hub.gate = gate
	s, _ := lab.open(t, hello())
	s.send(line(1, "first"))
	lab.hub.await(t, "the first batch", func() bool { return lab.hub.entered == 1 })
	big := bytes.Repeat([]byte("x"), intakeBytes/4)
	const last = 20
	sent := make(chan struct{})
	var progress []int64
	go func() {
		defer close(sent)
		for n := int64(2); n <= last; n++ {
			s.send(link.Record{Kind: link.Line, Number: n, Bytes: big}, link.Record{Kind: link.Live, Number: n, K: 1, Bytes: fmt.Appendf(nil, "live %d", n)})
			lab.hub.update(func() { progress = append(progress, n) })
		}
	}()
	lab.hub.await(t, "some lines", func() bool { return len(progress) >= 3 })
	select {
	case <-sent:
		t.Fatal("all lines were read while the hub was busy")
	default:
	}
	close(gate)
	<-sent
	s.awaitAck(last)
	lines := lab.hub.lines()
	if len(lines) != last {
		t.Fatalf("the hub has %d lines, want %d", len(lines), last)
	}
	lab.hub.await(t, "the live lines", func() bool { return int(lab.link.Dropped())+len(lab.hub.live) == last-1 })
	lab.hub.mu.Lock()
	defer lab.hub.mu.Unlock()
	if lab.link.Dropped() == 0 {
		t.Errorf("%d live lines were left out and %d came, of %d", lab.link.Dropped(), len(lab.hub.live), last-1)
	}
	for i, it := range lab.hub.live {
		hole := i > 0 && it.Number != lab.hub.live[i-1].Number+1
		if it.Hole != hole && i > 0 {
			t.Errorf("live line %d says %v about a hole before it", it.Number, it.Hole)
		}
	}
}

func TestLinkCommands(t *testing.T) {
	lab := newLinkLab(t)
	lab.hub.early = []link.Order{{Number: 1, Line: []byte("one")}}
	s, _ := lab.open(t, hello()) // the welcome is first
	if got := s.commands(1); string(got[0].Bytes) != "one" {
		t.Errorf("the first command is %q", got[0].Bytes)
	}
	w := lab.hub.last().sender
	long := strings.Repeat("y", 2<<20)
	w.Send([]link.Order{{Number: 2, Line: []byte("two")}, {Number: 4, Line: []byte(long)}})
	w.CloseInput()
	w.Stop(3*time.Second, "enough")
	got := s.commands(2)
	if got[0].Number != 2 || got[1].Number != 4 || string(got[1].Bytes) != long || got[0].Kind != link.Outbox {
		t.Errorf("commands %d and %d came", got[0].Number, got[1].Number)
	}
	want := []link.Message{&link.CloseInput{}, &link.Stop{GraceMS: 3000, Reason: "enough"}}
	if diff := cmp.Diff(want, []link.Message{s.message(), s.message()}); diff != "" {
		t.Errorf("the messages (-want +got):\n%s", diff)
	}
	s.say(&link.Failed{Number: 2, Reason: "broken pipe"}, link.Version)
	s.say(&link.Written{UpTo: 4}, link.Version)
	s.say(&link.Refused{Number: 3}, link.Version)
	s.say(&link.Unknown{Tag: "news"}, link.Version)
	lab.hub.await(t, "the fates", func() bool {
		return slices.Equal(lab.hub.calls, []string{"failed 2 broken pipe", "written 4", "written 3"})
	})
}

func TestLinkOldVersion(t *testing.T) {
	lab := newLinkLab(t)
	h := hello()
	h.Version, h.Written = 0, 2
	s, welcome := lab.open(t, h)
	if welcome.Version != 0 {
		t.Errorf("version %d is to be spoken", welcome.Version)
	}
	if got := lab.hub.hellos[0]; got.Oldest != 0 || got.Written != 2 {
		t.Errorf("the hub was told %+v", got)
	}
	s.say(&link.Written{UpTo: 3}, 0)
	s.say(&link.Refused{Number: 3}, 0)
	lab.hub.await(t, "the fates", func() bool { return slices.Equal(lab.hub.calls, []string{"written 3", "written 3"}) })
}

func TestLinkNewerVersion(t *testing.T) {
	lab := newLinkLab(t)
	h := hello()
	h.Version = link.Version + 1
	if _, welcome := lab.open(t, h); welcome.Version != link.Version {
		t.Errorf("version %d is to be spoken", welcome.Version)
	}
}

func TestLinkMalformed(t *testing.T) {
	for _, frame := range []string{"L", "L\x00\x01\x05x", "L\x00\x00\x01x"} {
		lab := newLinkLab(t)
		s, _ := lab.open(t, hello())
		if err := s.ws.Write(t.Context(), websocket.MessageBinary, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		_ = s.ended()
		lab.hub.await(t, "the loss", func() bool { return errors.Is(lab.hub.links[0].lost, link.ErrMalformed) })
	}
}

// TestLinkHubFails holds that an error of the hub ends the connection: the shim
// sends again what was not acknowledged.
func TestLinkHubFails(t *testing.T) {
	lab := newLinkLab(t)
	broken := errors.New("broken")
	lab.hub.fail = broken
	s, _ := lab.open(t, hello())
	s.send(line(1, "a"))
	_ = s.ended()
	lab.hub.await(t, "the loss", func() bool { return errors.Is(lab.hub.links[0].lost, broken) })
	again, _ := lab.open(t, hello())
	again.send(line(1, "a"))
	again.awaitAck(1)
}

func TestLinkClose(t *testing.T) {
	lab := newLinkLab(t)
	s, _ := lab.open(t, hello())
	ended := make(chan error, 1)
	go func() { ended <- s.ended() }()
	if err := lab.link.Close(); err != nil {
		t.Error(err)
	}
	if n := lab.link.Open(); n != 0 {
		t.Errorf("%d links are open", n)
	}
	<-ended
	if !errors.Is(lab.hub.last().lost, errClosing) {
		t.Errorf("lost with %v", lab.hub.last().lost)
	}
}

// TestLinkCloseAcknowledges holds that what came before Close is acknowledged.
func TestLinkCloseAcknowledges(t *testing.T) {
	lab := newLinkLab(t)
	gate := make(chan struct{})
	lab.hub.gate = gate
	s, _ := lab.open(t, hello())
	s.send(line(1, "a"))
	lab.hub.await(t, "the line", func() bool { return lab.hub.entered == 1 })
	closed := make(chan error, 1)
	go func() { closed <- lab.link.Close() }()
	close(gate)
	s.awaitAck(1)
	_ = s.ended()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestLinkSilence holds that a shim is pinged when it is silent, and given up
// when it does not answer.
func TestLinkSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newLinkLab(t)
		start := time.Now()
		s, _ := lab.open(t, hello())
		for range 6 { // who answers stays
			if _, ok := s.message().(*link.Ping); !ok {
				t.Fatal("something else than a ping came")
			}
			s.say(&link.Pong{}, link.Version)
		}
		if d := time.Since(start); d < 5*link.PingAfter {
			t.Errorf("six pings came within %v", d)
		}
		answered := time.Now()
		_ = s.ended()
		if d := time.Since(answered); d < link.DeadAfter || d > link.DeadAfter+link.PingAfter {
			t.Errorf("given up after %v, want about %v", d, link.DeadAfter)
		}
		_ = lab.link.Close()
	})
}

// TestLinkStalled holds that a connection is not given up while it is the hub
// that is slow, and that the shim is told that somebody is there.
func TestLinkStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newLinkLab(t)
		gate := make(chan struct{})
		lab.hub.gate = gate
		s, _ := lab.open(t, hello())
		big := bytes.Repeat([]byte("x"), intakeBytes)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for n := int64(1); n <= 4; n++ {
				s.send(link.Record{Kind: link.Line, Number: n, Bytes: big})
			}
		}()
		start := time.Now()
		for time.Since(start) < 5*link.DeadAfter {
			if _, ok := s.message().(*link.Ping); !ok {
				t.Fatal("something else than a ping came")
			}
		}
		close(gate)
		s.awaitAck(4)
		<-sent
		_ = lab.link.Close()
	})
}

// TestLinkNoHello holds that who says nothing is not waited for.
func TestLinkNoHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newLinkLab(t)
		start := time.Now()
		s := lab.dial(t, "secret")
		_ = s.ended()
		if d := time.Since(start); d < helloWait || d > helloWait+5*time.Second {
			t.Errorf("given up after %v", d)
		}
		_ = lab.link.Close()
	})
}
