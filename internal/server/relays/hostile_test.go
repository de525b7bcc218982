package relays

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestBroken has a relay send what is not JSON.
func TestBroken(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	p.say(initOf("sess-one"), saidBy("sess-one", "before"))
	s := l.session("sess-one", "it speaks", func(s *api.Session) bool { return s.Text == "before" })
	p.say(`[system/init] session_id: sess_abc123`, "half of {", "}", "\x1b[31m", saidBy("sess-one", "after"))
	l.session("sess-one", "it goes on", func(s *api.Session) bool { return s.Text == "after" })
	log := l.log(s.ID)
	for _, text := range []string{
		"line agent [system/init] session_id: sess_abc123", `"broken":true,"length":37,"conversation":"sess_abc123","init":true`, "line agent half of {",
	} {
		if !strings.Contains(log, text) {
			t.Errorf("the log lacks %q:\n%s", text, log)
		}
	}
	if l.count() != 1 {
		t.Errorf("a line that is not JSON made a session: %d", l.count())
	}
}

// TestHugeFrame has a relay send more than is taken: the connection ends, and the next one
// works.
func TestHugeFrame(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	p.say(initOf("sess-one"))
	l.session("sess-one", "it is there", func(s *api.Session) bool { return s.Linked })
	p.broadcast(`{"type":"x","x":"` + strings.Repeat("x", maxFrame) + `"}`)
	p.front(2)
	p.say(saidBy("sess-one", "after"))
	l.session("sess-one", "it goes on", func(s *api.Session) bool { return s.Text == "after" })
}

// TestEndless has a relay begin sessions without end.
func TestEndless(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	l.attach(p, api.AttachRelay{})
	var lines []string
	for i := range 2000 {
		lines = append(lines, initOf(fmt.Sprintf("sess-%04d", i)))
	}
	p.broadcast(strings.Join(lines, "\n") + "\n")
	r := l.relay(p.url(), "it is held back", func(r *api.Relay) bool { return r.Dropped > 0 && strings.Contains(r.Error, "too many") })
	p.say(`{"type":"status","text":"claude code disconnected"}`, saidBy("sess-0000", "the end"))
	l.session("sess-0000", "all was read", func(s *api.Session) bool { return s.Text == "the end" })
	if n := l.count(); n > maxNew+30 { // a new one each second
		t.Errorf("the relay has begun %d sessions", n)
	}
	if len(r.Sessions) > maxAgents {
		t.Errorf("%d sessions at a time", len(r.Sessions))
	}
}

// TestForeignNames has a relay name the conversation of a session that the hub runs itself,
// and one that it ran.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	l, p := newLab(t, nil), newPipe(t)
	a := l.Dial(api.CreateSession{})
	a.Say(initOf("sess-mine"), saidBy("sess-mine", "mine"))
	l.session("sess-mine", "it speaks", func(s *api.Session) bool { return s.Text == "mine" })
	l.attach(p, api.AttachRelay{Rules: true})
	p.say(initOf("sess-mine"), saidBy("sess-mine", "not mine"), saidBy("sess-other", "hello"))
	l.session("sess-other", "it speaks", func(s *api.Session) bool { return s.Text == "hello" })
	if s, err := l.Hub.Snapshot(t.Context(), a.Session); err != nil || s.Text != "mine" || s.Relay != "" {
		t.Errorf("a relay wrote into another session: %+v, %v", s, err)
	}
	l.relay(p.url(), "it is told", func(r *api.Relay) bool { return r.Dropped == 2 && strings.Contains(r.Error, "sess-mine") })
}

// TestStoreDamaged refuses a file that is not the hub's.
func TestStoreDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"version":2}`, `{"version":1,"relays":[{"id":"r1","url":"ws://relay.example/ws"}]}`} {
		file := t.TempDir() + "/relays.json"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(file); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
