package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// itselfAsksHost has the CLI's own sandbox ask about a host.
func (s *shim) itselfAsksHost(id, host string) {
	s.put([]byte(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","display_name":"SandboxNetworkAccess","input":{"host":%q},"tool_use_id":%q}}`,
		id, host, id)), wire.Durable)
}

// TestOwnHostQuestion holds that a person is asked once about a host by Claude
// Code's own sandbox in a strict one, by the outer; and by the inner wherever the
// outer does not ask.
func TestOwnHostQuestion(t *testing.T) {
	l := boxLab(t, strictBox, `
ask = ["Network(host:asked.example)"]
deny = ["Network(host:bad.example)"]`)
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
	l.awaitState(s.ID, api.StateIdle)
	box := l.launcher.of(s.ID)
	for host, want := range map[string]string{"new.example": "allow", "asked.example": "allow", "bad.example": "deny"} {
		box.itselfAsksHost("own "+host, host)
		if q := l.settled(s.ID, "own "+host); q.Answer.Decision != want || q.From != "hub" {
			t.Errorf("%s: %s; want %s by the hub", host, encode(q), want)
		}
	}
	box.asksHost("1", "new.example", "claude")
	if q := l.question(s.ID); q.RequestID != "sandbox-1" {
		t.Errorf("the question is %s", encode(q))
	}
}

func TestOwnHostQuestionAlone(t *testing.T) {
	for name, box := range map[string]api.Sandbox{
		"off":       {Mode: "off", Enforcer: "none"},
		"none":      {Mode: "strict", Enforcer: "none", Network: "listed"},
		"deny-only": {Mode: "deny-only", Enforcer: "bubblewrap", Network: "listed"},
		"all":       {Mode: "strict", Enforcer: "bubblewrap", Network: "all"},
	} {
		l := boxLab(t, box, "")
		s := l.create(api.CreateSession{})
		l.awaitState(s.ID, api.StateIdle)
		l.launcher.of(s.ID).itselfAsksHost("own", "new.example")
		q := l.question(s.ID)
		l.answer(q.ID, api.Answer{Decision: "allow"})
		if v := l.settled(s.ID, "own"); v.Answer.Decision != "allow" || v.From == "hub" {
			t.Errorf("%s: %s", name, encode(v))
		}
	}
}

// TestNoticesHaveTexts holds that what a shim tells of its process is told people in
// words, whatever it is.
func TestNoticesHaveTexts(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	shim := l.launcher.of(s.ID)
	shim.event(link.Event{Event: link.EventStopping, Reason: "a person stopped it"})
	shim.event(link.Event{Event: link.EventStopping})
	shim.event(link.Event{Event: "of a newer shim"})
	want := []api.Notice{
		{Code: "stopping", Text: "the agent is being ended: a person stopped it"},
		{Code: "stopping", Text: "the agent is being ended"},
		{Code: "shim_event", Text: `the shim told something that this hub does not know: "of a newer shim"`},
	}
	var got []api.Notice
	l.await(s.ID, "three notices", func(*api.Session) bool {
		got = nil
		for _, e := range l.events(s.ID) {
			var n api.Notice
			if e.Kind != api.KindNotice {
				continue
			}
			if err := json.Unmarshal(e.Data, &n); err != nil {
				t.Fatal(err)
			}
			got = append(got, n)
		}
		return len(got) == len(want)
	})
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the notice is %+v; want %+v", got[i], want[i])
		}
	}
}
