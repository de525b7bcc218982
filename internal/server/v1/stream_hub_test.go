package v1

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

func said(session, text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%[2]s","role":"assistant","model":"m","content":[{"type":"text","text":"%[2]s"}]},"session_id":%[1]q,"uuid":"u-%[2]s"}`, session, text)
}

// frame reads a frame from a WebSocket.
func frame(t *testing.T, ws *websocket.Conn) api.Frame {
	t.Helper()
	var f api.Frame
	if err := json.Unmarshal([]byte(message(t, ws)), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// next reads frames up to one that is an event of the log with a text in it.
func next(t *testing.T, ws *websocket.Conn, text string) api.Frame {
	t.Helper()
	for {
		f := frame(t, ws)
		if f.Type == api.FrameEvent && strings.Contains(string(f.Event.Line), text) {
			return f
		}
		if f.Type == api.FrameClosing {
			t.Fatalf("the stream ended (%s) before %s", f.Reason, text)
		}
	}
}

// A WebSocket on a real hub goes on where the one before ended, for one session
// and for all.
func TestSocketOnHub(t *testing.T) {
	r, lab := newHubRig(t)
	talker, second := lab.Dial(api.CreateSession{}), lab.Dial(api.CreateSession{})
	one, two := talker.Session, second.Session
	ws := r.dial(t, observeToken, "/v1/sessions/"+one+"/events?messages=true")
	all := r.dial(t, observeToken, "/v1/events?kinds=line")
	for _, ws := range []*websocket.Conn{ws, all} {
		if f := frame(t, ws); f.Type != api.FrameResume || f.Resume.Resume != "ok" {
			t.Fatalf("the first frame is %+v", f)
		}
	}
	talker.Say(said(one, "first"))
	second.Say(said(two, "second"))
	talker.Say(said(one, "third"))
	first := next(t, ws, "first")
	place := next(t, all, "first")
	if place.Position == "" || place.Event.ID != first.Event.ID || first.Position != "" {
		t.Errorf("one %+v, all %+v", first, place)
	}
	_ = ws.CloseNow()
	_ = all.CloseNow()

	ws = r.dial(t, observeToken, "/v1/sessions/"+one+"/events?live=false&types=assistant&kinds=line&after="+first.Event.ID)
	if f := frame(t, ws); f.Resume == nil || f.Resume.Resume != "ok" {
		t.Fatalf("coming back: %+v", f)
	}
	if f := frame(t, ws); f.Event == nil || !strings.Contains(string(f.Event.Line), "third") {
		t.Errorf("it goes on with %+v", f)
	}
	all = r.dial(t, observeToken, "/v1/events?kinds=line&after="+place.Position)
	_ = frame(t, all)
	for _, text := range []string{"second", "third"} {
		if f := frame(t, all); f.Event == nil || !strings.Contains(string(f.Event.Line), text) {
			t.Errorf("all go on with %+v, want %s", f, text)
		}
	}
	other := r.dial(t, observeToken, "/v1/events?after=other:1")
	if f := frame(t, other); f.Resume == nil || f.Resume.Resume != "reset" {
		t.Errorf("a position of another log: %+v", f)
	}
	// Pages tell the same.
	var page api.EventPage
	if err := json.Unmarshal([]byte(text(t, r.do(t, observeToken, "GET", "/v1/events?kinds=line&after="+place.Position, ""))), &page); err != nil || len(page.Events) != 2 {
		t.Errorf("%+v, %v", page, err)
	}
}

// Somebody who does not read takes nothing from the others.
func TestStuckSocketOnHub(t *testing.T) {
	r, lab := newHubRig(t)
	agent := lab.Dial(api.CreateSession{})
	session := agent.Session
	path := "/v1/sessions/" + session + "/events?kinds=line"
	stuck := r.dial(t, observeToken, path)
	_ = frame(t, stuck)
	reader := r.dial(t, observeToken, path)
	_ = frame(t, reader)
	long := strings.Repeat("x", 256<<10)
	const lines = 64 // more than any buffer between holds
	for i := range lines {
		agent.Say(strings.Replace(said(session, fmt.Sprintf("%d-x", i)), `"session_id"`, `"long":"`+long+`","session_id"`, 1))
		_ = next(t, reader, fmt.Sprintf("%d-x", i))
	}
	// What was not read is still there, in order and without a hole.
	for i := range lines {
		if f := frame(t, stuck); f.Event == nil || !strings.Contains(string(f.Event.Line[:200]), fmt.Sprintf("msg_%d-x", i)) {
			t.Fatalf("the %dth line is another", i)
		}
	}
}

// The library of a real hub answers in the forms that are described.
func TestLibraryOnHub(t *testing.T) {
	r, lab := newHubRig(t)
	agent := lab.Dial(api.CreateSession{})
	session := agent.Session
	line := said(session, "<script>")
	agent.Say(line)
	for _, test := range []struct {
		path string
		want string
	}{
		{"/v1/sessions/" + session + "/export", line + "\n"},
		{"/v1/sessions/" + session + "/export?format=events", `"kind":"created"`},
		{"/v1/sessions/" + session + "/export?format=markdown", "# "},
		{"/v1/sessions/" + session + "/timeline", `"items":[`},
		{"/v1/search?q=nothing", `"hits":[]`},
		{"/v1/audit", `"items":[]`},
		{"/v1/costs?by=dir", `"items":[`},
		{"/v1/drift", `"items":[`},
		{"/v1/budgets", `"budgets":[]`},
	} {
		res := r.do(t, observeToken, http.MethodGet, test.path, "")
		if got := text(t, res); res.StatusCode != 200 || !strings.Contains(got, test.want) {
			t.Errorf("%s: %d %s\nlacks %s", test.path, res.StatusCode, got, test.want)
		}
	}
	for _, path := range []string{"/v1/sessions/none/export", "/v1/sessions/none/timeline", "/v1/sessions/none/events", "/v1/sessions/none/context"} {
		expectProblem(t, r.do(t, adminToken, "GET", path, ""), 404, api.CodeNotFound)
	}
	for _, path := range []string{"/v1/sessions/" + session + "/timeline?cursor=x", "/v1/search?q=x&cursor=x", "/v1/audit?cursor=x", "/v1/questions?cursor=x"} {
		expectProblem(t, r.do(t, adminToken, "GET", path, ""), 422, api.CodeInvalid)
	}
}
