package lines

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A lab is a relay on a hub.
type lab struct {
	*rig

	*servertest.Lab
}

func newLab(t *testing.T, version string) *lab {
	t.Helper()
	l := servertest.New(t, &servertest.Options{Version: version})
	return &lab{serveRelay(t, l.Hub, nil, nil), l}
}

// create makes a session.
func (l *lab) create() string { return l.Create(api.CreateSession{}).Session }

// conversation returns the CLI's name for a session.
func (l *lab) conversation(id string) string {
	s, err := l.Hub.Snapshot(context.Background(), id)
	if err != nil {
		panic(err)
	}
	return s.Conversation
}

// shown returns what the CLI wrote for front ends.
func shown(a *servertest.Agent) []string {
	var lines []string
	for _, e := range a.Sim.Record() {
		h, _ := wire.Peek([]byte(e.Line))
		if kind := kindOfLine([]byte(e.Line), h); !e.Read && kind != sightNothing && kind != sightProgram {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

// until reads lines up to one of a type and returns them with it.
func (c *client) until(kind, subtype string) []string {
	c.t.Helper()
	var lines []string
	for {
		lines = append(lines, c.next())
		if h, err := wire.Peek([]byte(lines[len(lines)-1])); err == nil && h.Is(kind, subtype) {
			return lines
		}
	}
}

func user(text string) string {
	return `{"type":"user","message":{"role":"user","content":` + asJSON(text) + `},"parent_tool_use_id":null,"session_id":""}`
}

func TestRelayConversation(t *testing.T) {
	l := newLab(t, "2.1.325")
	all := l.dial(t, "")
	id := l.create()
	all.until("status", "") // that it is, or is now, connected
	one := l.dial(t, "?session="+id)
	one.expect(saysIsConnected)
	one.say(user("@say hello there"))
	lines := one.until("result", "")
	others := all.until("result", "")
	wrote := shown(l.Agent(id))
	if i := slices.IndexFunc(wrote, func(s string) bool { return strings.Contains(s, `"type":"result"`) }); i >= 0 {
		wrote = wrote[:i+1]
	}
	if !slices.Equal(lines, wrote) {
		t.Errorf("the sender saw\n%s\nand the CLI wrote\n%s", strings.Join(lines, "\n"), strings.Join(wrote, "\n"))
	}
	// The others are shown the prompt as it was sent, in place of the CLI's echo of it, and with
	// the conversation that it is the first of.
	conversation := l.conversation(id)
	isEcho := func(s string) bool { return strings.Contains(s, `"isReplay":true`) }
	i := slices.IndexFunc(others, func(s string) bool { return !slices.Contains(wrote, s) })
	if i < 0 || !strings.Contains(others[i], "hello there") || !strings.Contains(others[i], `"type":"user"`) || !strings.HasSuffix(others[i], `,"session_id":"`+conversation+`"}`) {
		t.Fatalf("the others saw\n%s", strings.Join(others, "\n"))
	}
	if rest := slices.Delete(slices.Clone(others), i, i+1); !slices.Equal(rest, slices.DeleteFunc(slices.Clone(wrote), isEcho)) {
		t.Errorf("the others saw\n%s", strings.Join(others, "\n"))
	}
	// Who comes late is told what it is.
	late := l.dial(t, "")
	late.expect(string(connection(textIsConnected, conversation)))
	if init := late.next(); !strings.Contains(init, `"subtype":"init"`) || !slices.Contains(wrote, init) {
		t.Errorf("got %s", init)
	}
	// The whole of it again.
	again := l.dial(t, "?session="+id+"&after=")
	again.until("status", "resume")
	var kept []string
	for _, s := range wrote {
		if h, _ := wire.Peek([]byte(s)); wire.ClassOf(h) == wire.Durable && !isEcho(s) {
			kept = append(kept, s)
		}
	}
	var durable []string
	for _, s := range again.until("result", "") {
		if slices.Contains(wrote, s) {
			durable = append(durable, s)
		}
	}
	if !slices.Equal(durable, kept) {
		t.Errorf("the log has\n%s", strings.Join(durable, "\n"))
	}
	if _, err := l.Hub.Stop(t.Context(), hub.Actor{}, id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	for c, want := range map[*client][]byte{one: departure(conversation, true)[0], all: departure(conversation, false)[0]} {
		if last := c.until("status", ""); last[len(last)-1] != string(want) {
			t.Errorf("got %q", last)
		}
	}
}

func TestRelayPermission(t *testing.T) {
	l := newLab(t, "2.1.325")
	id := l.create()
	a, b := l.dial(t, ""), l.dial(t, "?session="+id)
	a.until("status", "")
	b.until("status", "")
	a.say(user("@tool Bash {\"command\":\"rm -rf x\"}\n@say done"))
	lines := a.until("control_request", "")
	ask := lines[len(lines)-1]
	lines = b.until("control_request", "")
	if lines[len(lines)-1] != ask {
		t.Fatalf("others are asked %s", lines[len(lines)-1])
	}
	late := l.dial(t, "")
	lines = late.until("control_request", "")
	if lines[len(lines)-1] != ask {
		t.Fatalf("late joiners are asked %s", lines[len(lines)-1])
	}
	h, err := wire.Peek([]byte(ask))
	if err != nil {
		t.Fatal(err)
	}
	request := string(h.RequestID)
	observer := l.dialAs(t, "", bearer(observeToken))
	observer.until("control_request", "")
	answer := `{"type":"control_response","request_id":"` + request + `","permission":{"allow":true}}`
	observer.say(answer)
	if lines := observer.until("status", subtypeRefused); !strings.Contains(lines[len(lines)-1], `"code":"forbidden"`) {
		t.Errorf("got %q", lines)
	}
	a.say(answer) // as agents-ui says it
	for _, line := range a.until("result", "") {
		if strings.Contains(line, "control_cancel_request") {
			t.Errorf("who has answered is told %s", line)
		}
	}
	cancel := `{"type":"control_cancel_request","request_id":"` + request + `","session_id":"` + l.conversation(id) + `"}`
	for _, c := range []*client{b, late, observer} {
		lines := c.until("control_cancel_request", "")
		if lines[len(lines)-1] != cancel {
			t.Errorf("others are told %s", lines[len(lines)-1])
		}
		c.until("result", "")
	}
	b.say(answer)
	lines = b.until("status", subtypeRefused)
	if got := lines[len(lines)-1]; !strings.Contains(got, `"code":"already_settled"`) || !strings.Contains(got, request) || !strings.Contains(got, "ada") {
		t.Errorf("a late answer gets %s", got)
	}
	// A request comes back under the id that its sender gave it.
	b.say(`{"type":"control_request","request_id":"mine","request":{"subtype":"set_model","model":"opus"}}`)
	lines = b.until("control_response", "")
	if got := lines[len(lines)-1]; !strings.Contains(got, `"request_id":"mine"`) || !strings.Contains(got, `"success"`) {
		t.Errorf("got %s", got)
	}
}

// TestRelayDeadlyLines sends what kills CLIs.
func TestRelayDeadlyLines(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			l := newLab(t, version)
			id := l.create()
			c := l.dial(t, "?session="+id)
			c.until("status", "")
			deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
			for _, line := range []string{
				"what", `{"type":"user"`, `{"type":"keep_alive"}{"type":"keep_alive"}`, "{\"type\":\"user\",\x00}", "null", "", "   ", "{}", "[1]", `{"type":"what"}`,
				`{"type":"assistant"}`, `{"type":"system"}`, `{"type":"result"}`, "5", `"abc"`, "true", `{"type":"user"}`,
				`{"type":"user","message":{"content":"x"}}`, `{"type":"user","message":{"role":"assistant","content":"x"}}`,
				`{"type":"user","message":{"role":"user","content":5}}`, `{"type":"user","message":{"role":"user","content":[null]}}`,
				`{"type":"user","message":{"role":"user"}}`, `{"type":"user","message":{"role":"user","content":` + deep + `}}`,
				`{"type":"control_response"}`, `{"type":"control_response","request_id":"x","approved":true}`,
				`{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{}}}`,
				`{"type":"control_request"}`, `{"type":"control_request","request_id":"x"}`, `{"type":"control_request","request":{"subtype":"interrupt"}}`,
				`{"type":"control_request","request_id":5,"request":{"subtype":"interrupt"}}`,
				`{"type":"control_request","request_id":"y","request":{"subtype":"brand_new"}}`,
				`{"type":"control_cancel_request","request_id":"x"}`, "\ufeff" + `{"type":"keep_alive"}`, `{"type":"user","message":{"role":"user","content":"a` + "\\u0000\\ud800" + `"}}`,
			} {
				c.say(line + "\n")
				if len(line) > 0 && line[0] == '{' {
					c.say(line) // and without a line end
				}
			}
			c.say(user("@say still here"))
			for {
				got := c.next()
				if strings.Contains(got, "still here") && strings.Contains(got, `"type":"result"`) {
					break
				}
				if strings.Contains(got, textDisconnected) {
					t.Fatal("the CLI is dead")
				}
			}
			s, err := l.Hub.Snapshot(t.Context(), id)
			if err != nil || s.Run != 1 || s.State == api.StateEnded {
				t.Errorf("the session is %+v, %v", s, err)
			}
		})
	}
}

// TestRelayCatchUp has a front end read nothing while much happens. It neither slows
// the others nor takes memory, and in the end it has every line that is kept.
func TestRelayCatchUp(t *testing.T) {
	l := newLab(t, "2.1.325")
	agent := l.Dial(api.CreateSession{})
	quick := l.dial(t, "")
	slow := []*client{l.dialNarrow(t, ""), l.dialNarrow(t, "?session="+agent.Session)}
	for _, c := range append(slow, quick) {
		c.expect(saysIsConnected)
	}
	text := func(i int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u%d","session_id":"c","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"%s"}]}}`, i, i, strings.Repeat("x", 100<<10))
	}
	delta := func(kind string) string {
		return `{"type":"stream_event","session_id":"c","parent_tool_use_id":null,"uuid":"d","event":{"type":"` + kind + `","index":0,"message":{"id":"m"},"delta":{"type":"text_delta","text":"x"}}}`
	}
	const n = 120 // 12 MB: more than sockets take
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC() // twice: what pools keep outlives one
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	for i := range n {
		want := text(i)
		agent.Say(delta("message_start"), delta("content_block_delta"), want)
		for quick.next() != want {
		}
	}
	// What is kept for those who do not read stays. The index of words works beside it
	// for a moment, with many of the lines at once.
	for deadline := time.Now().Add(30 * time.Second); !raceEnabled; {
		grown := inUse() - before
		if grown <= 8<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("%d bytes more are in use", grown)
			break
		}
	}
	for _, c := range slow {
		i := 0
		for i < n {
			got := c.next()
			if h, _ := wire.Peek([]byte(got)); string(h.Type) == "stream_event" {
				continue
			}
			if got != text(i) {
				t.Fatalf("line %d is %.100s", i, got)
			}
			i++
		}
	}
	// From here on they are as quick as the others, deltas included.
	for _, kind := range []string{"message_start", "content_block_delta"} {
		agent.Say(delta(kind))
		for _, c := range append(slow, quick) {
			for c.next() != delta(kind) {
			}
		}
	}
}
