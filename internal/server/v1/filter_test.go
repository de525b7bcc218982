package v1

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// some are frames of many kinds, by what they are called in the tests.
func some() map[string]api.Frame {
	line := func(kind, text string) api.Frame {
		return api.Frame{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Kind: kind, Line: json.RawMessage(text)}}
	}
	live := func(text string) api.Frame {
		return api.Frame{Type: api.FrameLive, Event: &api.Event{Session: "s1", Kind: api.KindLive, Line: json.RawMessage(text)}}
	}
	event := func(kind string) api.Frame {
		return api.Frame{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Kind: kind, Data: json.RawMessage(`{}`)}}
	}
	return map[string]api.Frame{
		"resume":        {Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}},
		"closing":       {Type: api.FrameClosing},
		"partial":       {Type: api.FramePartial, Partial: &api.Partials{Session: "s1"}},
		"assistant":     line(api.KindLine, `{"x":{"type":"user"},"type":"assistant"}`),
		"user":          line(api.KindLine, `{"type":"user"}`),
		"result":        line(api.KindLine, `{"type":"result"}`),
		"system":        line(api.KindLine, `{"type":"system"}`),
		"old assistant": line(api.KindHistory, `{"type":"assistant"}`),
		"sent user":     line(api.KindSent, `{"type":"user"}`),
		"garbage":       {Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Kind: api.KindLine, Text: "no JSON"}},
		"delta":         live(`{"type":"stream_event"}`),
		"progress":      live(`{"type":"tool_progress"}`),
		"state":         event(api.KindState),
		"question":      event(api.KindQuestionOpened),
		"answer":        event(api.KindQuestionSettled),
		"message":       event(api.KindMessage),
		"gap":           event(api.KindGap),
		"decision":      event(api.KindDecision),
	}
}

func TestFilter(t *testing.T) {
	everything := func(but ...string) []string {
		var names []string
		for name := range some() {
			if !slices.Contains(but, name) {
				names = append(names, name)
			}
		}
		return names
	}
	for _, test := range []struct {
		name   string
		filter filter
		want   []string
	}{
		{"nothing", filter{}, everything()},
		{"kinds", filter{kinds: []string{"line", "state"}}, []string{"resume", "closing", "assistant", "user", "result", "system", "garbage", "state"}},
		{"live", filter{kinds: []string{"live"}}, []string{"resume", "closing", "partial", "delta", "progress"}},
		{"types", filter{types: []string{"assistant", "tool_progress"}}, everything("user", "result", "system", "sent user", "garbage", "delta", "partial")},
		{"deltas", filter{types: []string{"stream_event"}, kinds: []string{"live"}}, []string{"resume", "closing", "partial", "delta"}},
		{"messages", filter{messages: true}, everything("system", "sent user", "garbage", "progress", "decision")},
		{
			"messages of a type",
			filter{messages: true, types: []string{"assistant", "system"}},
			[]string{"resume", "closing", "assistant", "old assistant", "state", "question", "answer", "message", "gap"},
		},
		{"messages of a kind", filter{messages: true, kinds: []string{"line", "decision"}}, []string{"resume", "closing", "assistant", "user", "result"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for name, frame := range some() {
				if test.filter.frame(&frame) {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What a stream is asked with counts: where it begins, what it leaves out. Both kinds of
// streams keep to it, and both ways to read a request.
func TestAskedStreams(t *testing.T) {
	lab := servertest.New(t, nil)
	r := newRig(t, lab, nil)
	everything := []string{"one", "system", "two", "last"}
	for _, test := range []struct {
		name, query string
		lastEventID string
		lines       []string
		live        bool // deltas, or the message that they make up
		others      bool // events that are not lines may come
	}{
		{"from the beginning", "", "", everything, true, true},
		{"from now on", "?after=now", "", []string{"last"}, true, true},
		{"come back", "?after={one}", "{system}", []string{"two", "last"}, true, true},
		{"no deltas", "?live=false", "", everything, false, true},
		{"deltas", "?live=true&after={system}", "", []string{"two", "last"}, true, true},
		{"past the shortcut", "?limit=3&after={system}&live=0", "", []string{"two", "last"}, false, true},
		{"past the shortcut, come back", "?limit=3&after={one}", "{system}", []string{"two", "last"}, true, true},
		{"past the shortcut, by cursor", "?cursor={one}&types=assistant&kinds=line", "", []string{"two", "last"}, false, false},
		{"past the shortcut, of a kind", "?heartbeat=200&kinds=line", "", everything, false, false},
		{"of kinds", "?kinds=line,live", "", everything, true, false},
		{"of a kind", "?kinds=line", "", everything, false, false},
		{"of a type", "?types=assistant&after={one}", "", []string{"two", "last"}, false, true},
		{"messages", "?messages=true&live=false", "", []string{"one", "two", "last"}, false, true},
		{"messages of a kind", "?messages=1&kinds=line", "", []string{"one", "two", "last"}, false, false},
	} {
		for _, socket := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/socket=%v", test.name, socket), func(t *testing.T) {
				a := lab.In(t).Dial(api.CreateSession{})
				a.Say(servertest.Answered(wordOf(a.AwaitSent(`"initialize"`), "request_id"), `{}`), said(a.Session, "one"), `{"type":"system","subtype":"status","status":null,"uuid":"u-system","session_id":"`+a.Session+`"}`, said(a.Session, "two"))
				log, err := lab.Hub.Events(t.Context(), a.Session, "", 0)
				if err != nil {
					t.Fatal(err)
				}
				ids := map[string]string{}
				for i := range log.Events {
					if e := &log.Events[i]; e.Kind == api.KindLine {
						ids[strings.TrimPrefix(wordOf(string(e.Line), "uuid"), "u-")] = e.ID
					}
				}
				fill := strings.NewReplacer("{one}", ids["one"], "{system}", ids["system"])
				path, header := "/v1/sessions/"+a.Session+"/events"+fill.Replace(test.query), []string(nil)
				if test.lastEventID != "" {
					header = []string{"Last-Event-ID", fill.Replace(test.lastEventID)}
				}
				next := r.frames(t, path, socket, header...)
				if f := next(); f.Type != api.FrameResume {
					t.Fatalf("it begins with %+v", f)
				}
				a.Say(delta(a.Session, "message_start"), delta(a.Session, "content_block_delta"))
				var lines []string
				var live, others, done bool
				take := func() {
					switch f := next(); {
					case f.Type == api.FrameLive, f.Type == api.FramePartial:
						live = true
					case f.Type == api.FrameEvent && f.Event.Kind == api.KindLine:
						word := strings.TrimPrefix(wordOf(string(f.Event.Line), "uuid"), "u-")
						if word != "" { // not that of the answer
							lines = append(lines, word)
						}
						done = word == "last"
					case f.Type == api.FrameEvent:
						others = true
					default:
						t.Fatalf("the frame %+v", f)
					}
				}
				for test.live && !live {
					take()
				}
				a.Say(said(a.Session, "last"))
				for !done {
					take()
				}
				if diff := cmp.Diff(test.lines, lines); diff != "" || live != test.live || others && !test.others {
					t.Errorf("live %v, others %v, lines -want +got:\n%s", live, others, diff)
				}
			})
		}
	}
}

// A stream of messages of some kinds has only what is both.
func TestStreamOfMessagesAndKinds(t *testing.T) {
	w := newWorld(t).of(t)
	talked(w)
	log, err := w.lab.Hub.Events(t.Context(), w.agent.Session, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range log.Events {
		if e := &log.Events[i]; e.Kind == api.KindState {
			want = append(want, e.ID)
		}
	}
	for _, query := range []string{"?messages=1&kinds=state", "?messages=1&kinds=created,run_started,state", "?limit=3&messages=1&kinds=created,state"} {
		for _, socket := range []bool{false, true} {
			next := w.frames(t, w.fill("/v1/sessions/{session}/events")+query, socket)
			if f := next(); f.Type != api.FrameResume {
				t.Fatalf("%s begins with %+v", query, f)
			}
			var got []string
			for range want {
				f := next()
				if f.Event == nil {
					t.Fatalf("%s: the frame %+v", query, f)
				}
				got = append(got, f.Event.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, socket %v: -want +got:\n%s", query, socket, diff)
			}
		}
	}
}

// wordOf returns the value of the first member of a line with a name, which is a text.
func wordOf(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}

// delta is a live line.
func delta(session, kind string) string {
	return `{"type":"stream_event","session_id":"` + session + `","parent_tool_use_id":null,"uuid":"d","event":{"type":"` + kind + `","index":0,"message":{"id":"m"},"delta":{"type":"text_delta","text":"x"}}}`
}

// frames opens a stream and returns what reads its next frame.
func (r *rig) frames(t *testing.T, path string, socket bool, header ...string) func() api.Frame {
	t.Helper()
	if socket {
		ws := r.dialWith(t, observeToken, path, header)
		return func() api.Frame { t.Helper(); return frame(t, ws) }
	}
	in := bufio.NewReader(r.do(t, observeToken, "GET", path, "", append(header, "Accept", "text/event-stream")...).Body)
	return func() api.Frame {
		t.Helper()
		var f api.Frame
		name, data, _ := strings.Cut(readEvent(t, in), "\n")
		f.Type = api.FrameType(strings.TrimPrefix(name, "event: "))
		if id, rest, found := strings.Cut(data, "\n"); found && strings.HasPrefix(id, "id: ") {
			data = rest
		}
		data = strings.TrimSpace(strings.TrimPrefix(data, "data: "))
		var err error
		switch f.Type {
		case api.FrameEvent, api.FrameLive:
			err = json.Unmarshal([]byte(data), &f.Event)
		default:
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		return f
	}
}

// The kinds that can be asked for are those that there are.
func TestKindsAreKnown(t *testing.T) {
	all := []string{
		api.KindLine, api.KindSent, api.KindLive, api.KindHistory, api.KindCreated, api.KindRunStarted, api.KindRunLaunched, api.KindRunEnded, api.KindLinkUp, api.KindLinkLost,
		api.KindState, api.KindQuestionOpened, api.KindQuestionSettled, api.KindMessage, api.KindCommand, api.KindGap, api.KindOversize, api.KindUpdated, api.KindNotice,
		api.KindQuestionChanged, api.KindRuleAdded, api.KindRuleRemoved, api.KindDecision, api.KindMode, api.KindHold, api.KindHoldOver, api.KindBudget, api.KindTurn,
		api.KindSandboxRefused,
	}
	if diff := cmp.Diff(declared(t, "../../../api/event.go", "Kind"), sorted(all)); diff != "" {
		t.Errorf("the test lacks kinds (-declared +listed):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(all), sorted(kinds())); diff != "" {
		t.Errorf("the parameter kinds (-want +got):\n%s", diff)
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// The heartbeats of server-sent events are comments, or events for who asks.
func TestVisibleHeartbeat(t *testing.T) {
	lab := servertest.New(t, nil)
	a := lab.Dial(api.CreateSession{})
	in := bufio.NewReader(newRig(t, lab, nil).do(t, observeToken, "GET", "/v1/sessions/"+a.Session+"/events?heartbeat=1&after=now&kinds=gap", "", "Accept", "text/event-stream").Body)
	if got := readEvent(t, in); !strings.HasPrefix(got, "event: resume\n") {
		t.Errorf("it begins with %q", got)
	}
	if got := readEvent(t, in); got != "event: heartbeat\ndata: {}\n\n" {
		t.Errorf("then comes %q", got)
	}
}

// The stream of all sessions is gone on with by positions.
func TestStreamOfAll(t *testing.T) {
	lab := servertest.New(t, nil)
	r := newRig(t, lab, nil)
	one, two := lab.Dial(api.CreateSession{}), lab.Dial(api.CreateSession{})
	one.Say(said(one.Session, "first"))
	two.Say(said(two.Session, "second"))
	one.Say(said(one.Session, "third"))
	position := ""
	for _, test := range []struct {
		query, last string
		want        []string
	}{
		{"&after=g:1", "", []string{"first", "second", "third"}}, // a position of another log
		{"&after=other:1", "{position}", []string{"second", "third"}},
	} {
		res := r.do(t, observeToken, "GET", "/v1/events?kinds=line&types=assistant"+test.query, "", "Accept", "text/event-stream",
			"Last-Event-ID", strings.ReplaceAll(test.last, "{position}", position))
		in := bufio.NewReader(res.Body)
		_ = readEvent(t, in)
		for i, word := range test.want {
			got := readEvent(t, in)
			id, found := strings.CutPrefix(got, "event: event\nid: ")
			if !found || !strings.Contains(got, word) {
				t.Fatalf("event %d is %s, want %s", i, got, word)
			}
			if word == "first" {
				position, _, _ = strings.Cut(id, "\n")
			}
		}
	}
}
