package v1

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// whole is an event with everything in it.
func whole() api.Event {
	return api.Event{
		ID: "e:12", Session: "s1", Run: 2, Seq: 12, Time: time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC),
		Source: "agent", By: "Zoë \"x\"\n\u2028<&>", Kind: api.KindLine, Line: json.RawMessage(`{"type":"assistant","n":1.50}`),
		Text: "tab\there\x01\x7f", Base64: []byte{0, 1, 255}, Data: json.RawMessage(`{"a":[]}`), After: 11,
	}
}

func TestAppendEvent(t *testing.T) {
	for name, e := range map[string]api.Event{
		"whole":   whole(),
		"empty":   {},
		"live":    {Session: "s1", Kind: api.KindLive, Line: json.RawMessage(`{}`), After: 3},
		"invalid": {Session: "s1", Kind: api.KindLine, Text: "\xff\xfe"},
		"zone":    {Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if got := appendEvent(nil, &e); string(got) != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Each event says the same as by itself, whatever the ones before it have in common
// with it.
func TestAppendEvents(t *testing.T) {
	same := api.Event{Session: "s1", Run: 1, Time: time.Unix(1, 2), Source: "agent", Kind: api.KindLive, Line: json.RawMessage(`{"a":1}`), After: 3}
	events := []api.Event{same, same, same}
	events[1].Line, events[2].After = json.RawMessage(`{"b":2}`), 4
	for _, change := range []func(e *api.Event){
		func(e *api.Event) { e.ID = "e:1" },
		func(e *api.Event) { e.Session = "s2" },
		func(e *api.Event) { e.Run = 2 },
		func(e *api.Event) { e.Seq = 7 },
		func(e *api.Event) { e.Time = e.Time.Add(1) },
		func(e *api.Event) { e.Source = "hub" },
		func(e *api.Event) { e.By = "x" },
		func(e *api.Event) { e.Kind = api.KindLine },
	} {
		e := same
		change(&e)
		events = append(events, same, e)
	}
	b, ends := appendEvents([]byte("x"), nil, events)
	start := 1
	for i := range events {
		if got, want := string(b[start:ends[i]]), string(appendEvent(nil, &events[i])); got != want {
			t.Errorf("event %d\ngot  %s\nwant %s", i, got, want)
		}
		start = ends[i]
	}
}

func FuzzAppendEvent(f *testing.F) {
	f.Add("e:1", "s1", 1, int64(1), "by", "line", `{"a": 1}`, "text", []byte("x"))
	f.Add("", "", 0, int64(0), "\xff\"\\", "\n", `"\ud800"`, "\r\n\ndata: x", []byte{})
	f.Fuzz(func(t *testing.T, id, session string, run int, seq int64, by, kind, line, text string, raw []byte) {
		e := api.Event{ID: id, Session: session, Run: run, Seq: seq, By: by, Kind: kind, Text: text, Base64: raw}
		if json.Valid([]byte(line)) {
			e.Line = json.RawMessage(line)
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got := appendEvent(nil, &e)
		var a, b any
		if err := json.Unmarshal(want, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &b); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Error(diff)
		}
		if !bytes.Contains(got, e.Line) {
			t.Errorf("%s lacks %s", got, e.Line)
		}
		// In a stream it stays within its place, whatever the line is.
		e.Line = json.RawMessage(line)
		frame, err := appendFrame(nil, &api.Frame{Type: api.FrameEvent, Event: &e}, hub.Text{})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.FieldsFunc(string(frame), func(r rune) bool { return r == '\r' || r == '\n' }); len(lines) > 3 || !bytes.HasSuffix(frame, []byte("}\n\n")) {
			t.Errorf("a frame of %d lines: %q", len(lines), frame)
		}
	})
}

func TestAppendFrame(t *testing.T) {
	event := api.Event{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Line: json.RawMessage("{\"a\":1,\r\n\"b\":\"\\r\"}")}
	live := api.Event{Session: "s1", Kind: api.KindLive, Line: json.RawMessage(`{}`), After: 1}
	for _, test := range []struct {
		name  string
		frame api.Frame
		want  string
	}{
		{"resume", api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok", LastEventID: "e:1"}}, "event: resume\ndata: {\"resume\":\"ok\",\"last_event_id\":\"e:1\"}\n\n"},
		{"event", api.Frame{Type: api.FrameEvent, Event: &event}, "event: event\nid: e:1\ndata: {\"id\":\"e:1\",\"session\":\"s1\",\"seq\":1,\"kind\":\"line\",\"line\":{\"a\":1,  \"b\":\"\\r\"}}\n\n"},
		{"live", api.Frame{Type: api.FrameLive, Event: &live}, "event: live\ndata: {\"session\":\"s1\",\"kind\":\"live\",\"line\":{},\"after\":1}\n\n"},
		{"partial", api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1", Messages: []api.Partial{}, After: 2}}, "event: partial\ndata: {\"session\":\"s1\",\"messages\":[],\"after\":2}\n\n"},
		{"closing", api.Frame{Type: api.FrameClosing, Reason: "an upgrade"}, "event: closing\ndata: {\"reason\":\"an upgrade\"}\n\n"},
		{"one of tomorrow", api.Frame{Type: "tomorrow"}, "event: tomorrow\ndata: {}\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := appendFrame(nil, &test.frame, hub.Text{})
			if err != nil || string(got) != test.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
	if strings.Contains(string(event.Line), "  ") {
		t.Error("the line of the event was changed, which others may read")
	}
}

func TestAppendAllocates(t *testing.T) {
	frames := []api.Frame{
		{Type: api.FrameEvent, Event: &api.Event{ID: "e:1", Session: "s1", Run: 1, Seq: 1, Time: time.Now(), Source: "agent", Kind: api.KindLine, Line: json.RawMessage(`{"type":"assistant"}`)}},
		{Type: api.FrameLive, Event: &api.Event{Session: "s1", Run: 1, Kind: api.KindLive, Line: json.RawMessage(`{"type":"stream_event"}`), After: 1}},
	}
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() {
		b = b[:0]
		for i := range frames {
			b, _ = appendFrame(b, &frames[i], hub.Text{})
		}
	}); n != 0 {
		t.Errorf("%v allocations for two frames", n)
	}
}
