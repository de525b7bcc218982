package link

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func hello() *Hello {
	return &Hello{
		Version: 1, Session: "s1", Run: 2, Instance: "i", Next: 10, Oldest: 5, Written: 7, Writing: 8,
		Failed: []Failed{{6, "its input is closed"}}, Tee: true, PID: 99, PIDStart: "123",
	}
}

func TestMessages(t *testing.T) {
	tests := []struct {
		message Message
		want    string
	}{
		{hello(), `{"t":"hello","version":1,"session":"s1","run":2,"instance":"i","next":10,"oldest":5,"written":7,"writing":8,"failed":[{"number":6,"reason":"its input is closed"}],"tee":true,"pid":99,"pid_start":"123"}`},
		{&Welcome{Version: 1, Epoch: "e", Have: 3, Next: 4}, `{"t":"welcome","version":1,"epoch":"e","have":3,"next":4}`},
		{&Ack{5}, `{"t":"ack","have":5}`},
		{&Gone{"it has ended"}, `{"t":"gone","reason":"it has ended"}`},
		{&OwnedBy{"i2"}, `{"t":"owned_by","instance":"i2"}`},
		{&Stop{GraceMS: 500, Reason: "asked"}, `{"t":"stop","grace_ms":500,"reason":"asked"}`},
		{&Stop{}, `{"t":"stop"}`},
		{&CloseInput{}, `{"t":"close_input"}`},
		{&Ping{}, `{"t":"ping"}`},
		{&Pong{}, `{"t":"pong"}`},
		{&Written{7}, `{"t":"written","up_to":7}`},
		{&Failed{8, "no"}, `{"t":"failed","number":8,"reason":"no"}`},
		{&Refused{9}, `{"t":"refused","number":9}`},
		{&Unknown{"of \"tomorrow\""}, `{"t":"of \"tomorrow\""}`},
	}
	for _, tt := range tests {
		got := AppendMessage([]byte("x"), tt.message, Version)
		if string(got) != "x"+tt.want {
			t.Errorf("%T is %s, expected %s", tt.message, got[1:], tt.want)
		}
		back, err := ParseMessage(got[1:])
		if diff := cmp.Diff(tt.message, back); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.want, err, diff)
		}
		more := strings.TrimSuffix(tt.want, "}") + `,"of_tomorrow":{"a":[1]}}`
		if back, err = ParseMessage([]byte(more)); err != nil || cmp.Diff(tt.message, back) != "" {
			t.Errorf("%s: got %+v, %v", more, back, err)
		}
	}
}

// TestPreviousVersion says what version 0 has in place of this one's messages.
func TestPreviousVersion(t *testing.T) {
	old := hello()
	old.Oldest, old.Writing, old.Failed = 0, 0, nil
	tests := []struct {
		message, heard Message
		want           string
	}{
		{hello(), old, `{"t":"hello","version":1,"session":"s1","run":2,"instance":"i","next":10,"written":7,"tee":true,"pid":99,"pid_start":"123"}`},
		{&Written{7}, &Written{7}, `{"t":"written","number":7}`},
		{&Refused{7}, &Written{7}, `{"t":"written","number":7}`},
		{&Failed{8, "no"}, &Failed{8, "no"}, `{"t":"failed","number":8,"reason":"no"}`},
		{&Ack{1}, &Ack{1}, `{"t":"ack","have":1}`},
	}
	for _, tt := range tests {
		got := AppendMessage(nil, tt.message, 0)
		if string(got) != tt.want {
			t.Errorf("%T is %s, expected %s", tt.message, got, tt.want)
		}
		back, err := ParseMessage(got)
		if diff := cmp.Diff(tt.heard, back); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.want, err, diff)
		}
	}
}

func TestParseMessageRefuses(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `5`, `"hello"`, `{`, `{"t":5}`, `{"t":"ack","have":"x"}`, `{"t":"ack","have":-1}`, `{"t":"ack","have":1.5}`,
		`{"t":"ack","have":99999999999999999999}`, `{"t":"hello","next":0}`, `{"t":"hello","next":5,"oldest":6}`, `{"t":"hello","next":5,"written":-1}`,
		`{"t":"hello","next":5,"failed":[{"number":0}]}`, `{"t":"welcome","have":-1}`, `{"t":"written"}`, `{"t":"written","up_to":"1"}`, `{"t":"failed"}`, `{"t":"refused"}`,
		`{"t":"stop","grace_ms":-1}`, `{"t":"ping"}{"t":"ping"}`,
	} {
		if m, err := ParseMessage([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", text, m, err)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for theirs, want := range map[int]int{0: 0, 1: 1, 2: 1, 1000: 1} {
		if got, err := Negotiate(theirs); err != nil || got != want {
			t.Errorf("version %d: got %d, %v", theirs, got, err)
		}
	}
	if _, err := Negotiate(-1); err == nil {
		t.Error("version -1 is accepted")
	}
}

func TestEvents(t *testing.T) {
	code := 3
	for _, e := range []*Event{
		{Event: EventStarted, PID: 1, PIDStart: "2", CLIPID: 3, Version: "2.1.325"},
		{Event: EventExited, Code: &code, Reason: "claude exited with code 3", Stderr: "x", Silent: true, Swept: 2, Requested: true},
		{Event: EventGap, Lines: 5, Bytes: 600, Reason: "full"},
	} {
		back, err := ParseEvent(e.Encode())
		if diff := cmp.Diff(e, back); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	o := NewOversize(&wire.LineTooLongError{Length: 5, Sum: [32]byte{0xab}, Head: []byte("\xffhead")})
	back := &Oversize{}
	err := json.Unmarshal(o.Encode(), back)
	if diff := cmp.Diff(o, back); err != nil || diff != "" || !strings.HasPrefix(o.SHA256, "ab0000") {
		t.Errorf("%v %s (-want +got):\n%s", err, o.SHA256, diff)
	}
	if _, err := ParseEvent([]byte("[]")); !errors.Is(err, ErrMalformed) {
		t.Errorf("a list as an event: %v", err)
	}
}

func FuzzText(f *testing.F) {
	for _, m := range []Message{hello(), &Welcome{Have: 1}, &Ack{1}, &Written{2}, &Failed{1, "x"}, &Stop{GraceMS: 1}, &Unknown{"x"}} {
		f.Add(AppendMessage(nil, m, Version))
		f.Add(AppendMessage(nil, m, 0))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMessage(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		again, err := ParseMessage(AppendMessage(nil, m, Version))
		if err != nil {
			t.Fatalf("%+v is refused when it is said again: %v", m, err)
		}
		if h, ok := m.(*Hello); ok && len(h.Failed) == 0 {
			h.Failed = nil // an empty list is not said
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	})
}
