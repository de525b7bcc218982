package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// A stream is what a server writes on one connection, and how it ends.
type stream struct {
	text string
	cut  bool // the connection breaks instead of ending
}

func resume(verdict, last string) string {
	return fmt.Sprintf("event: resume\ndata: {\"resume\":%q,\"last_event_id\":%q}\n\n", verdict, last)
}

func events(epoch string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "event: event\nid: %s:%d\ndata: {\"id\":\"%s:%d\",\"session\":\"s\",\"seq\":%d,\"kind\":\"line\",\"line\":{\"n\":%d}}\n\n", epoch, i, epoch, i, i, i)
	}
	return b.String()
}

// script serves streams in turn, and then refuses. It returns a client and what
// each connection asked for.
func script(t *testing.T, streams ...stream) (*client.Client, *[]string) {
	t.Helper()
	asked := &[]string{}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "text/event-stream" {
			t.Errorf("Accept %q", r.Header.Get("Accept"))
		}
		*asked = append(*asked, strings.TrimSpace(r.URL.Query().Encode()+" "+r.Header.Get("Last-Event-ID")))
		if len(*asked) > len(streams) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"code":"not_found","title":"It is over"}`)
			return
		}
		next := streams[len(*asked)-1]
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, next.text)
		if next.cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}, nil)
	return c, asked
}

// collect follows until the server refuses and returns what came.
func collect(t *testing.T, c *client.Client, options *client.FollowOptions) []string {
	t.Helper()
	var got []string
	for frame, err := range c.Follow(t.Context(), "s", options) {
		if err != nil {
			var e *api.Error
			if !errors.As(err, &e) || e.Title != "It is over" {
				t.Errorf("the error is %v", err)
			}
			return got
		}
		switch frame.Type {
		case api.FrameEvent:
			if want := fmt.Sprintf(`{"n":%d}`, frame.Event.Seq); string(frame.Event.Line) != want {
				t.Errorf("line %s, want %s", frame.Event.Line, want)
			}
			got = append(got, frame.Event.ID)
		case api.FrameResume:
			got = append(got, frame.Resume.Resume)
		case api.FrameClosing:
			got = append(got, frame.Reason)
		default:
			got = append(got, string(frame.Type))
		}
	}
	t.Error("the loop ended without an error")
	return got
}

func TestFollow(t *testing.T) {
	const live = "event: live\ndata: {\"session\":\"s\",\"kind\":\"live\",\"line\":{},\"after\":2}\n\n"
	const partial = "event: partial\ndata: {\"session\":\"s\",\"messages\":[],\"after\":2}\n\n"
	for _, test := range []struct {
		name    string
		options *client.FollowOptions
		streams []stream
		want    string
		asked   string
	}{
		{
			"one connection", nil,
			[]stream{{text: resume("ok", "e:2") + ": hello\n\n" + events("e", 1, 2) + partial + live + "event: tomorrow\ndata: 1\ndata: 2\n\n"}},
			"ok e:1 e:2 partial live tomorrow", "|e:2",
		},
		{
			"ends and breaks", nil,
			[]stream{{text: resume("ok", "e:2") + events("e", 1, 2)}, {text: resume("ok", "e:4") + events("e", 3, 4), cut: true}, {text: resume("ok", "e:5") + events("e", 5, 5)}},
			"ok e:1 e:2 ok e:3 e:4 ok e:5", "|e:2|e:4|e:5",
		},
		{
			"within a frame", nil,
			[]stream{{text: resume("ok", "e:2") + events("e", 1, 1) + strings.TrimSuffix(events("e", 2, 2), "\n"), cut: true}, {text: resume("ok", "e:2") + events("e", 2, 2)}},
			"ok e:1 ok e:2", "|e:1|e:2",
		},
		{
			"repeats", nil,
			[]stream{{text: resume("ok", "e:3") + events("e", 1, 3)}, {text: resume("ok", "e:4") + events("e", 2, 4)}},
			"ok e:1 e:2 e:3 ok e:4", "|e:3|e:4",
		},
		{
			"after and gap", &client.FollowOptions{After: "e:7", NoLive: true},
			[]stream{{text: resume("gap", "e:9") + events("e", 9, 9)}},
			"gap e:9", "after=e%3A7&live=false|after=e%3A7&live=false e:9",
		},
		{
			"nothing before the cut", &client.FollowOptions{After: "e:7"},
			[]stream{{text: resume("ok", "e:7"), cut: true}, {text: resume("ok", "e:8") + events("e", 8, 8)}},
			"ok ok e:8", "after=e%3A7|after=e%3A7|after=e%3A7 e:8",
		},
		{
			"reset", &client.FollowOptions{After: "e:7"},
			[]stream{{text: resume("reset", "f:2") + events("f", 1, 2)}, {text: resume("ok", "f:3") + events("f", 3, 3)}},
			"reset f:1 f:2 ok f:3", "after=e%3A7|f:2|f:3",
		},
		{
			"reset between", nil,
			[]stream{{text: resume("ok", "e:5") + events("e", 1, 5)}, {text: resume("reset", "f:1") + events("f", 1, 1)}},
			"ok e:1 e:2 e:3 e:4 e:5 reset f:1", "|e:5|f:1",
		},
		{
			"now", &client.FollowOptions{After: "now"},
			[]stream{{text: resume("ok", "e:7"), cut: true}, {text: resume("ok", "e:9") + events("e", 8, 9)}},
			"ok ok e:8 e:9", "after=now|e:7|e:9",
		},
		{
			"closing", nil,
			[]stream{{text: resume("ok", "e:1") + events("e", 1, 1) + "event: closing\ndata: {\"reason\":\"an upgrade\"}\n\n"}, {text: resume("ok", "e:1")}},
			"ok e:1 an upgrade ok", "|e:1|e:1",
		},
		{"no end of line", nil, []stream{{text: "event: resume\r\ndata: {\"resume\":\"ok\"}\r\n\r\nevent: x", cut: false}}, "ok", "|"},
		{"broken frame", nil, []stream{{text: resume("ok", "") + "event: event\ndata: {\n\n"}, {text: events("e", 1, 1)}}, "ok e:1", "||e:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, asked := script(t, test.streams...)
			if diff := cmp.Diff(test.want, strings.Join(collect(t, c, test.options), " ")); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, strings.Join(*asked, "|")); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever happens to the connections, each event comes once and in order.
func TestFollowLosesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const last = 150
	var connections atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections.Add(1)
		have := 0
		if id := r.Header.Get("Last-Event-ID"); id != "" {
			var err error
			if have, err = strconv.Atoi(strings.TrimPrefix(id, "e:")); err != nil {
				t.Error(err)
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		// Sometimes a few that it has already, and a cut at any byte.
		text := resume("ok", "e:150") + events("e", max(1, have-random.IntN(3)), min(last, have+40))
		if have+40 < last {
			text = text[:random.IntN(len(text))]
		}
		fmt.Fprint(w, text)
		_ = http.NewResponseController(w).Flush()
		if have+40 >= last {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}, nil)
	seq := int64(0)
	for frame, err := range c.Follow(t.Context(), "s", nil) {
		if err != nil {
			t.Fatal(err)
		}
		if frame.Type != api.FrameEvent {
			continue
		}
		if frame.Event.Seq != seq+1 {
			t.Fatalf("event %d after %d", frame.Event.Seq, seq)
		}
		if seq++; seq == last {
			break
		}
	}
	if connections.Load() < 2 {
		t.Errorf("%d connections", connections.Load())
	}
}

func TestFollowRetries(t *testing.T) {
	var n atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch n.Add(1) {
		case 1:
			w.WriteHeader(http.StatusBadGateway)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{}")
		}
	}, nil)
	var lost []string
	var waits []time.Duration
	for _, err := range c.Follow(t.Context(), "s", &client.FollowOptions{Lost: func(err error, again time.Duration) {
		lost = append(lost, err.Error())
		waits = append(waits, again)
	}}) {
		// A server that is none of ours does not become one by waiting.
		if err == nil || !strings.Contains(err.Error(), "sends no streams") {
			t.Errorf("the error is %v", err)
		}
	}
	if len(lost) != 3 || !strings.Contains(lost[0], "502") || !strings.Contains(lost[1], "503") {
		t.Errorf("lost %q", lost)
	}
	for i, w := range waits {
		longest := 40 * time.Millisecond << i
		if w < longest/2 || w > longest {
			t.Errorf("pause %d was %v, want between the half of %v and that", i, w, longest)
		}
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	for name, text := range map[string]string{"in a stream": resume("ok", ""), "in a pause": ""} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if text == "" {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				fmt.Fprint(w, text)
				_ = http.NewResponseController(w).Flush()
				cancel()
				<-r.Context().Done()
			}, nil)
			var last error
			for _, err := range c.Follow(ctx, "s", &client.FollowOptions{Lost: func(error, time.Duration) { cancel() }}) {
				last = err
			}
			if !errors.Is(last, context.Canceled) {
				t.Errorf("the error is %v", last)
			}
		})
	}
}

// A connection on which nothing is heard is given up, one with comments is not.
func TestFollowNoticesSilence(t *testing.T) {
	var n atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		// Counted before it answers: whoever has the answer finds it counted.
		connection := n.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, resume("ok", ""))
		_ = http.NewResponseController(w).Flush()
		if connection == 1 {
			<-r.Context().Done()
		}
	}, &client.Options{Silence: 50 * time.Millisecond})
	lost := ""
	for frame, err := range c.Follow(t.Context(), "s", &client.FollowOptions{Lost: func(err error, _ time.Duration) { lost = err.Error() }}) {
		if err != nil {
			t.Fatal(err)
		}
		if frame.Type == api.FrameResume && n.Load() >= 2 {
			break
		}
	}
	if !strings.Contains(lost, "nothing was heard") {
		t.Errorf("lost: %s", lost)
	}
}

func TestFollowLongFrames(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	c, _ := script(t, stream{text: "event: event\nid: e:1\ndata: {\"id\":\"e:1\",\"session\":\"s\",\"kind\":\"line\",\"line\":{\"n\":0,\"t\":\"" + long + "\"}}\n\n" + events("e", 2, 2)})
	var got int
	for frame, err := range c.Follow(t.Context(), "s", nil) {
		if err != nil {
			break
		}
		got++
		if got == 1 && (!bytes.Contains(frame.Event.Line, []byte(long)) || !json.Valid(frame.Event.Line)) {
			t.Errorf("a line of %d bytes", len(frame.Event.Line))
		}
	}
	if got != 2 {
		t.Errorf("%d frames", got)
	}
}
