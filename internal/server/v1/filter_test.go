package v1

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
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

// A filter asks the hub for no more than it lets through, and both kinds of
// streams keep to it.
func TestFilteredStreams(t *testing.T) {
	for _, test := range []struct {
		query string
		want  hub.FollowOptions
		ids   []string
	}{
		{"?kinds=line,live", hub.FollowOptions{}, []string{"e:1", "e:3"}},
		{"?kinds=line", hub.FollowOptions{NoLive: true}, []string{"e:1", "e:3"}},
		{"?types=assistant&after=e:0", hub.FollowOptions{After: "e:0"}, []string{"e:2", "e:3"}},
		{"?messages=true&live=false", hub.FollowOptions{NoLive: true}, []string{"e:2", "e:3"}},
		{"?messages=1&kinds=state", hub.FollowOptions{NoLive: true}, []string{"e:2"}},
		{"?heartbeat=20&kinds=state", hub.FollowOptions{NoLive: true}, []string{"e:2"}}, // past the shortcut
		{"?cursor=e:0&types=assistant&kinds=line", hub.FollowOptions{After: "e:0", NoLive: true}, []string{"e:3"}},
	} {
		t.Run(test.query, func(t *testing.T) {
			state := api.Frame{Type: api.FrameEvent, Event: &api.Event{ID: "e:2", Session: "s1", Seq: 2, Kind: api.KindState}}
			said := event(3)
			said.Event.Line = json.RawMessage(`{"type":"assistant"}`)
			frames := append(verdict("ok"), event(1), state, said, api.Frame{Type: api.FrameClosing})
			r := newRig(t, nil)
			r.hub.cursor = newScript(frames)
			stream := text(t, r.do(t, observeToken, "GET", "/v1/sessions/s1/events"+test.query, "", "Accept", "text/event-stream"))
			var ids []string
			for line := range strings.Lines(stream) {
				if id, ok := strings.CutPrefix(line, "id: "); ok {
					ids = append(ids, strings.TrimSpace(id))
				}
			}
			if diff := cmp.Diff(test.ids, ids); diff != "" || !strings.HasPrefix(stream, "event: resume\n") || !strings.Contains(stream, "event: closing\n") {
				t.Errorf("the stream %s\n-want +got:\n%s", stream, diff)
			}
			if diff := cmp.Diff([]any{"s1", test.want}, r.hub.last(t).Args); diff != "" {
				t.Error(diff)
			}
			r.hub.cursor = newScript(frames)
			ws := r.dial(t, observeToken, "/v1/sessions/s1/events"+test.query)
			var messages []string
			for {
				var f api.Frame
				if err := json.Unmarshal([]byte(message(t, ws)), &f); err != nil {
					t.Fatal(err)
				}
				if f.Event != nil {
					messages = append(messages, f.Event.ID)
				}
				if f.Type == api.FrameClosing {
					break
				}
			}
			if diff := cmp.Diff(test.ids, messages); diff != "" {
				t.Errorf("the WebSocket, -want +got:\n%s", diff)
			}
		})
	}
}

// The kinds that can be asked for are those that there are.
func TestKindsAreKnown(t *testing.T) {
	all := []string{
		api.KindLine, api.KindSent, api.KindLive, api.KindHistory, api.KindCreated, api.KindRunStarted, api.KindRunLaunched, api.KindRunEnded, api.KindLinkUp, api.KindLinkLost,
		api.KindState, api.KindQuestionOpened, api.KindQuestionSettled, api.KindMessage, api.KindCommand, api.KindGap, api.KindOversize, api.KindUpdated, api.KindNotice,
		api.KindQuestionChanged, api.KindRuleAdded, api.KindRuleRemoved, api.KindDecision, api.KindMode, api.KindHold, api.KindHoldOver, api.KindBudget, api.KindTurn,
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
	r := newRig(t, nil)
	r.hub.cursor = newScript(verdict("ok"))
	res := r.do(t, observeToken, "GET", "/v1/sessions/s1/events?heartbeat=1", "", "Accept", "text/event-stream")
	const want = "event: resume\ndata: {\"resume\":\"ok\"}\n\nevent: heartbeat\ndata: {}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v", got, err)
	}
}

// The stream of all sessions is gone on with by positions.
func TestStreamOfAll(t *testing.T) {
	r := newRig(t, nil)
	one, two := event(1), event(1)
	one.Position, two.Position = "g:7", "g:8"
	two.Event.Session = "s2"
	r.hub.cursor = newScript(verdict("ok"), []api.Frame{one, two, {Type: api.FrameClosing}})
	got := text(t, r.do(t, observeToken, "GET", "/v1/events?after=g:1", "", "Accept", "text/event-stream", "Last-Event-ID", "g:6"))
	for i, id := range []string{"g:7", "g:8"} {
		if want := fmt.Sprintf("event: event\nid: %s\ndata: {\"id\":\"e:1\",\"session\":\"s%d\"", id, i+1); !strings.Contains(got, want) {
			t.Errorf("the stream %s\nlacks %s", got, want)
		}
	}
	if diff := cmp.Diff(call{"FollowAll", hub.Actor{}, []any{hub.FollowOptions{After: "g:6"}}}, r.hub.last(t)); diff != "" {
		t.Error(diff)
	}
}
