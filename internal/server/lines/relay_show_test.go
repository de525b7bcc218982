package lines

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	saysConnected    = `{"type":"status","text":"claude code connected"}`
	saysIsConnected  = `{"type":"status","text":"claude code is connected"}`
	saysDisconnected = `{"type":"status","text":"claude code disconnected"}`
	saysEnded        = `{"type":"status","text":"claude code disconnected","content":"claude code has ended"}`
)

// marker is a line that a test waits for to know that nothing came before it.
func marker(session string) (*api.Event, string) {
	const text = `{"type":"system","subtype":"marker"}`
	return line(session, text), text
}

func TestRelayLinesAsTheyCame(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	c := r.dial(t, "")
	c.expect(connected("s1")...)
	lines := []string{
		`{ "b":1,  "type" : "assistant","a":"\u0041","a":2}`,
		`{"type":"new_thing"}`,
		`{"type":"assistant","text":"` + strings.Repeat("x", 200) + `"}`,
		`{"type":"assistant","text":"` + strings.Repeat("ä", 40<<10) + `"}`,
		`{"type":"assistant","text":"` + strings.Repeat("x", 300<<10) + `"}`,
		`{"type":"result"}`,
	}
	var events []*api.Event
	for i, text := range lines {
		if i%2 == 0 {
			events = append(events, line("s1", text))
		} else {
			events = append(events, liveLine("s1", text))
		}
	}
	h.publish(events...)
	c.expect(lines...)
	h.publish(
		&api.Event{Session: "s1", Kind: api.KindLine, Text: "Segmentation fault"},
		&api.Event{Session: "s1", Kind: api.KindLine, Base64: []byte("a\xffb")},
		line("s1", "{\"type\":\"x\",\"a\":\"\xc3\"}"),
		liveLine("s1", "{\"type\":\"stream_event\",\"a\":\"\xc3\"}"),
	)
	c.expect("Segmentation fault", "a\ufffdb", "{\"type\":\"x\",\"a\":\"\ufffd\"}", "{\"type\":\"stream_event\",\"a\":\"\ufffd\"}")
}

// TestRelayManyLines sends more than fits into one write, and into what a socket takes.
func TestRelayManyLines(t *testing.T) {
	h := newStage(t)
	r := newRig(t, h, nil)
	c := r.dial(t, "")
	c.ws.SetReadLimit(1 << 30)
	h.await(t, "the front end", func() bool { return h.open == 1 })
	text := func(i int) string {
		return `{"type":"assistant","n":` + asJSON(i) + `,"text":"` + strings.Repeat("x", i%3000) + `"}`
	}
	const n = 3000
	go func() {
		for i := 0; i < n; i += 100 {
			var events []*api.Event
			for k := i; k < i+100; k++ {
				events = append(events, line("s1", text(k)))
			}
			h.publish(events...)
		}
	}()
	for i := range n {
		if got := c.next(); got != text(i) {
			t.Fatalf("line %d is %.100s", i, got)
		}
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestRelayWhatIsNotShown(t *testing.T) {
	tests := []struct {
		name  string
		event *api.Event
	}{
		{"an answer to the hub", line("s1", `{"type":"control_response","response":{"subtype":"success","request_id":"x"}}`)},
		{"a hook", line("s1", `{"type":"control_request","request_id":"x","request":{"subtype":"hook_callback"}}`)},
		{"an MCP message", line("s1", `{"type":"control_request","request_id":"x","request":{"subtype":"mcp_message"}}`)},
		{"an unknown request", line("s1", `{"type":"control_request","request_id":"x","request":{"subtype":"brand_new"}}`)},
		{"the end of a request that was not shown", line("s1", `{"type":"control_cancel_request","request_id":"x"}`)},
		{"keep_alive", line("s1", `{"type":"keep_alive"}`)},
		{"an answer that was sent", &api.Event{Session: "s1", Kind: api.KindSent, Line: json.RawMessage(`{"type":"control_response","response":{"subtype":"success","request_id":"x"}}`)}},
		{"a request that was sent", &api.Event{Session: "s1", Kind: api.KindSent, Line: json.RawMessage(`{"type":"control_request","request_id":"x","request":{"subtype":"interrupt"}}`)}},
		{"a queued message", happened("s1", api.KindMessage, `{"id":"m1"}`)},
		{"a state", happened("s1", api.KindState, `{}`)},
		{"a lost link", happened("s1", api.KindLinkLost, `{}`)},
		{"a link that is back", happened("s1", api.KindLinkUp, `{"back":true}`)},
		{"an opened question", happened("s1", api.KindQuestionOpened, `{"request_id":"x"}`)},
		{"a settled question that was not shown", happened("s1", api.KindQuestionSettled, `{"request_id":"x"}`)},
		{"history", &api.Event{Session: "s1", Kind: api.KindHistory, Line: json.RawMessage(`{"type":"user"}`)}},
		{"something new", happened("s1", "brand_new", `{}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, idle("s1"))
			c := newRig(t, h, nil).dial(t, "")
			c.expect(connected("s1")...)
			mark, text := marker("s1")
			h.publish(tt.event, mark)
			c.expect(text)
		})
	}
}

func TestRelayStatuses(t *testing.T) {
	up := func(s string) *api.Event { return happened(s, api.KindLinkUp, `{}`) }
	gone := func(s string) *api.Event { return happened(s, api.KindRunEnded, `{}`) }
	h := newStage(t, idle("s1"), idle("s2"), ended("s4")) // s3 is still to come
	r := newRig(t, h, nil)
	all, one := r.dial(t, ""), r.dial(t, "?session=s2")
	all.greeted(nil, "s1", "s2")
	one.expect(connected("s2")...)

	// The new one does not say yet which conversation it is in.
	h.publish(up("s3"), gone("s2"))
	all.expect(ends("s2")...)
	one.expect(labeled("s2", saysDisconnected))
	h.publish(gone("s4"), up("s3"), line("s3", initOf("s3"))) // the first is of a run that nobody was told of
	all.expect(turned("s1"), labeled("s3", saysConnected), initOf("s3"))
	h.publish(gone("s1"), gone("s3"), restarted("s2", `{"resume":"c-s2"}`), up("s2"))
	all.expect(slices.Concat(ends("s1"), ends("s3"), []string{labeled("s2", saysConnected)})...)
	one.expect(labeled("s2", saysConnected))
	mark, text := marker("s2")
	h.publish(gone("s2"), ranAgain(gone("s2")), mark, restarted("s1", `{"resume":"c-s1","fork":true}`), up("s1"), gone("s1"), ranAgain(gone("s1")))
	all.expect(slices.Concat(ends("s2"), []string{text, saysConnected, saysEnded})...)
	one.expect(labeled("s2", saysDisconnected), text)
}

// ends is what a front end of all sessions is told when one ends.
func ends(name string) []string {
	return []string{labeled(name, saysEnded), `{"type":"init"}`}
}

// restarted is the beginning of the second run of a session.
func restarted(session, data string) *api.Event {
	return ranAgain(happened(session, api.KindRunStarted, data))
}

// ranAgain is an event of the second run of a session.
func ranAgain(e *api.Event) *api.Event {
	e.Run = 2
	return e
}

func TestRelaySessionByConversation(t *testing.T) {
	h := newStage(t, idle("s1"), idle("s2"))
	r := newRig(t, h, nil)
	c := r.dial(t, "?session=c-s2")
	c.expect(connected("s2")...)
	h.publish(line("s1", `{"type":"assistant"}`), line("s2", `{"type":"result"}`))
	c.expect(`{"type":"result"}`)
	lines, closed := r.dial(t, "?session=nothing").end()
	if len(lines) != 1 || !strings.Contains(lines[0], `"code":"not_found"`) || closed.Code != 1008 || closed.Reason == "" {
		t.Errorf("got %q, %v", lines, closed)
	}
}

const ask = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}`

const cancelled = `{"type":"control_cancel_request","request_id":"r1"}`

// asking makes a session that asks a person, and a program, which is not shown.
func asking() func(*stage) {
	return asksFor("s1", ask, `{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback","callback_id":"x","input":{}}}`)
}

func settled(session, request string) *api.Event { return settledBy(session, request, "bob") }

func settledBy(session, request, by string) *api.Event {
	return happened(session, api.KindQuestionSettled, `{"id":"q1","session":"`+session+`","request_id":"`+request+`","state":"answered","by":"`+by+`"}`)
}

func TestRelayQuestions(t *testing.T) {
	t.Run("open ones are shown to late joiners once", func(t *testing.T) {
		h := newStage(t, asking())
		c := newRig(t, h, nil).dial(t, "")
		c.expect(append(connected("s1"), labeled("s1", ask))...)
		mark, text := marker("s1")
		h.publish(line("s1", ask), mark) // it was under way when the front end came
		c.expect(text)
		h.publish(settled("s1", "r1"), settled("s1", "r1"), mark)
		c.expect(labeled("s1", cancelled), text)
	})
	for _, subtype := range []string{"can_use_tool", "elicitation", "request_user_dialog"} {
		t.Run(subtype+" settled elsewhere", func(t *testing.T) {
			h := newStage(t, idle("s1"))
			c := newRig(t, h, nil).dial(t, "")
			c.expect(connected("s1")...)
			request := `{"type":"control_request","request_id":"r1","request":{"subtype":"` + subtype + `"}}`
			h.publish(line("s1", request), settled("s2", "r1"), settled("s1", "r1"))
			c.expect(labeled("s1", request), labeled("s1", cancelled))
		})
	}
	t.Run("withdrawn by the CLI", func(t *testing.T) {
		h := newStage(t, idle("s1"))
		c := newRig(t, h, nil).dial(t, "")
		c.expect(connected("s1")...)
		mark, text := marker("s1")
		withdrawal := `{"type":"control_cancel_request" , "request_id":"r1"}`
		h.publish(line("s1", ask), line("s1", withdrawal), settled("s1", "r1"), mark)
		c.expect(labeled("s1", ask), labeled("s1", withdrawal), text)
	})
}

// TestRelayReplay goes on where a front end left off.
func TestRelayReplay(t *testing.T) {
	h := newStage(t, idle("s1"))
	lines := []string{`{"type":"user","n":1}`, `{"type":"assistant","n":2}`, `{"type":"result","n":3}`}
	for _, text := range lines {
		h.publish(line("s1", text))
	}
	// What was asked before, and settled meanwhile.
	h.publish(settled("s1", "r1"))
	r := newRig(t, h, nil)
	c := r.dial(t, "?session=s1&after=e:1")
	c.expect(connected("s1")...)
	if got := c.next(); !strings.Contains(got, `"subtype":"resume"`) || !strings.Contains(got, `"resume":"ok"`) || !strings.Contains(got, `"last_event_id":"e:4"`) {
		t.Errorf("got %s", got)
	}
	c.expect(lines[1], lines[2], labeled("s1", cancelled))
	mark, text := marker("s1")
	h.publish(settled("s1", "r9"), mark)
	c.expect(text)
	all := r.dial(t, "?session=s1&after=")
	all.expect(connected("s1")...)
	all.next()
	all.expect(lines...)
}

func TestRelayMissedBeginning(t *testing.T) {
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	event := func(kind, parent string) string {
		return `{"type":"stream_event","event":{"type":"` + kind + `"},"parent_tool_use_id":` + parent + `}`
	}
	const progress = `{"type":"tool_progress","tool_use_id":"t"}`
	h.publishFrame(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1", Messages: []api.Partial{{}, {ParentToolUseID: "t1"}}}})
	h.publish(
		liveLine("s1", event("content_block_delta", "null")),
		liveLine("s1", progress),
		liveLine("s1", event("content_block_delta", `"t1"`)),
		liveLine("s1", event("content_block_delta", `"t2"`)),
		liveLine("s2", event("content_block_delta", "null")),
		liveLine("s1", event("message_stop", "null")),
		liveLine("s1", event("message_start", "null")),
		liveLine("s1", event("content_block_delta", "null")),
		liveLine("s1", event("content_block_stop", `"t1"`)),
		line("s1", `{"type":"assistant"}`),
		liveLine("s1", event("message_start", `"t1"`)),
		liveLine("s1", event("content_block_stop", `"t1"`)),
	)
	c.expect(
		progress, event("content_block_delta", `"t2"`), event("content_block_delta", "null"), event("message_start", "null"),
		event("content_block_delta", "null"), `{"type":"assistant"}`, event("message_start", `"t1"`), event("content_block_stop", `"t1"`),
	)
	// Nothing is being written any more.
	h.publishFrame(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1"}})
	h.publish(liveLine("s1", event("content_block_delta", "null")))
	c.expect(event("content_block_delta", "null"))
}

// TestRelaySightsAreShared makes sure that what an event means is found out once.
func TestRelaySightsAreShared(t *testing.T) {
	s := New(nil, nil, nil)
	e := line("s1", `{"type":"assistant"}`)
	e.Seq = 7
	if a, b := s.sight(e), s.sight(e); a != b {
		t.Error("a short line is looked at twice")
	}
	other := line("s1", `{"type":"control_response"}`)
	other.Seq = 7
	if v := s.sight(other); v.kind != sightNothing {
		t.Error("an event is taken for another")
	}
	long := line("s1", `{"type":"assistant","x":"`+strings.Repeat("x", maxSightBytes)+`"}`)
	if a, b := s.sight(long), s.sight(long); a == b {
		t.Error("a long line is kept")
	}
	// Old ones make room.
	for range maxSights {
		s.sight(line("s1", `{"type":"assistant"}`))
	}
	if n := len(s.sights.known); n != maxSights || s.sights.get(e) != nil {
		t.Errorf("%d events are held", n)
	}
}
