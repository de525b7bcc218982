package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

const registers = `{"type":"control_request","request_id":"i1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"]}],` +
	`"PostToolUse":[{"hookCallbackIds":["hook_1"]}]},"appendSystemPrompt":"Be brief."}}`

// direct makes a session whose CLI is started by its client, and that client.
func (l *lab) direct() (string, *hub.Driver) {
	l.t.Helper()
	created, err := l.hub.CreateDirect(l.ctx(), person, api.CreateSession{Dir: l.t.TempDir()})
	if err != nil {
		l.t.Fatal(err)
	}
	d, err := l.hub.Join(l.ctx(), created.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(d.Leave)
	return created.ID, d
}

// request waits until the CLI asks something with a part, and returns its line.
func (f *follower) request(l *lab, part string) string {
	l.t.Helper()
	line := ""
	f.until(l.ctx(), "a request with "+part, func(v api.Frame) bool {
		found := v.Type == api.FrameEvent && v.Event.Kind == api.KindLine && strings.Contains(string(v.Event.Line), part)
		if found {
			line = string(v.Event.Line)
		}
		return found
	})
	return line
}

func requestID(t *testing.T, line string) string {
	t.Helper()
	h, err := wire.Peek([]byte(line))
	if err != nil || len(h.RequestID) == 0 {
		t.Fatalf("%s has no request id", line)
	}
	return string(h.RequestID)
}

// TestDirect has a client start a CLI by its own initialize, and serve its hooks.
func TestDirect(t *testing.T) {
	l := newLab(t, withFile(t, `enforce = "hook"`))
	id, d := l.direct()
	if _, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: "@say too early"}); code(err) != api.CodeConflict {
		t.Errorf("a message before the client: %v", err)
	}
	answer, err := d.Submit(l.ctx(), person, []byte(strings.Replace(registers, "i1", "x1", 1)), upTo(wire.ScopeObserve, wire.ScopePrompt))
	if err != nil || !strings.Contains(string(answer), `"subtype":"error","request_id":"x1"`) {
		t.Errorf("an initialize without the right: %s, %v", answer, err)
	}
	if answer, err = d.Submit(l.ctx(), person, []byte(registers), everything); err != nil || !strings.Contains(string(answer), `"subtype":"success","request_id":"i1"`) || !strings.Contains(string(answer), `"commands"`) {
		t.Fatalf("initialize: %s, %v", answer, err)
	}
	if !d.Registered() {
		t.Error("the client is not the registrant")
	}
	commands := l.launcher.of(id).commands()
	for _, want := range []string{`"hook_0"`, `"hook_1"`, `"switchboard-call"`, `"appendSystemPrompt":"Be brief."`} {
		if !strings.Contains(commands[0], want) {
			t.Errorf("the CLI was initialized with %s, without %s", commands[0], want)
		}
	}
	f := l.follow(id, hub.FollowOptions{After: "now", NoLive: true})
	if _, err := d.Submit(l.ctx(), person, []byte(`{"type":"user","message":{"role":"user","content":"@tool Bash {\"command\":\"make\"}\n@say done"}}`), everything); err != nil {
		t.Fatal(err)
	}
	call := requestID(t, f.request(l, `"callback_id":"hook_0"`))
	other, err := l.hub.Join(l.ctx(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Leave()
	deny := `{"type":"control_response","response":{"subtype":"success","request_id":"` + call + `","response":{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not today"}}}}`
	if _, err := other.Submit(l.ctx(), person, []byte(deny), everything); code(err) != api.CodeNotFound {
		t.Errorf("an answer of somebody else: %v", err)
	}
	if _, err := d.Submit(l.ctx(), person, []byte(deny), everything); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(id, 1)
	if text := strings.Join(l.launcher.of(id).lines(), "\n"); !strings.Contains(text, "not today") {
		t.Error("the hook did not block the call")
	}
	l.judge(id)
}

// TestDirectClientGone has the client leave while its hook is asked: the call is
// blocked, and other requests get an error. Who registers the same takes its place.
func TestDirectClientGone(t *testing.T) {
	for _, test := range []struct {
		name string
		gone func(*lab, *hub.Driver)
	}{
		{"it leaves", func(_ *lab, d *hub.Driver) { d.Leave() }},
		{"the hub is restarted", func(l *lab, d *hub.Driver) { d.Leave(); l.restart() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			id, d := l.direct()
			if answer, err := d.Submit(l.ctx(), person, []byte(registers), everything); err != nil || strings.Contains(string(answer), `"error"`) {
				t.Fatalf("initialize: %s, %v", answer, err)
			}
			f := l.follow(id, hub.FollowOptions{After: "now", NoLive: true})
			l.send(id, `@tool Bash {"command":"make"}`+"\n@say done")
			call := requestID(t, f.request(l, `"callback_id":"hook_0"`))
			test.gone(l, d)
			l.awaitDone(id, 1)
			commands := strings.Join(l.launcher.of(id).commands(), "\n")
			if !strings.Contains(commands, `"request_id":"`+call+`"`) || !strings.Contains(commands, `"permissionDecision":"deny"`) {
				t.Errorf("the hook was answered otherwise: %s", commands)
			}
			if strings.Contains(commands, `can_use_tool`) || len(l.snapshot(id).Questions) > 0 {
				t.Error("somebody was asked about a call that is blocked")
			}

			again, err := l.hub.Join(l.ctx(), id)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Leave()
			if answer, err := again.Submit(l.ctx(), person, []byte(strings.Replace(registers, "hook_1", "hook_9", 1)), everything); err != nil || again.Registered() || !strings.Contains(string(answer), `"success"`) {
				t.Errorf("who registers something else: %s, %v, registered %v", answer, err, again.Registered())
			}
			if answer, err := again.Submit(l.ctx(), person, []byte(registers), everything); err != nil || !again.Registered() || !strings.Contains(string(answer), `"success"`) {
				t.Errorf("who registers the same: %s, %v, registered %v", answer, err, again.Registered())
			}
			if n := strings.Count(strings.Join(l.launcher.of(id).commands(), "\n"), `"subtype":"initialize"`); n != 1 {
				t.Errorf("the CLI was initialized %d times", n)
			}
			// A later process of the session is guarded as the first was.
			again.Leave()
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{Force: true}); err != nil {
				t.Fatal(err)
			}
			l.send(id, `@tool Bash {"command":"make"}`+"\n@say done")
			l.awaitDone(id, 2)
			if commands := strings.Join(l.launcher.of(id).commands(), "\n"); !strings.Contains(commands, `"hook_0"`) || !strings.Contains(commands, `"permissionDecision":"deny"`) {
				t.Errorf("the next process was sent %s", commands)
			}
			l.judge(id)
		})
	}
}

// TestDirectStartFails tells the client why there is no CLI.
func TestDirectStartFails(t *testing.T) {
	l := newLab(t)
	id, d := l.direct()
	l.launcher.mu.Lock()
	l.launcher.fail = &api.Error{Status: 502, Code: api.CodeStartFailed, Title: "there is no claude here"}
	l.launcher.mu.Unlock()
	answer, err := d.Submit(l.ctx(), person, []byte(registers), everything)
	if err != nil || !strings.Contains(string(answer), "there is no claude here") {
		t.Errorf("got %s, %v", answer, err)
	}
	if s := l.snapshot(id); s.State != api.StateEnded {
		t.Errorf("the session is %s", s.State)
	}
}

// TestMeter counts what a hub does.
func TestMeter(t *testing.T) {
	m := &countedMetrics{lines: map[string]int{}, questions: map[string]int{}}
	l := newLab(t, func(o *hub.Options) { o.Metrics = m })
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	q := l.awaitState(s.ID, api.StateRequiresAction).Questions[0]
	stats, err := l.hub.Stats(l.ctx())
	if err != nil || stats.Sessions[api.StateRequiresAction] != 1 || stats.OpenQuestions[api.QuestionPermission] != 1 || stats.Loaded != 1 {
		t.Errorf("the figures are %s, %v", encode(stats), err)
	}
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "deny"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 1)
	m.Lock()
	defer m.Unlock()
	if m.lines["line"] == 0 || m.lines["sent"] == 0 || m.commits == 0 || m.shown == 0 || m.questions["permission answered"] != 1 {
		t.Errorf("it was counted %+v %+v, %d commits, %d shown", m.lines, m.questions, m.commits, m.shown)
	}
}

func (m *countedMetrics) Lines(kind string, n, _ int) { m.count(func() { m.lines[kind] += n }) }
func (m *countedMetrics) Commit(int, time.Duration)   { m.count(func() { m.commits++ }) }
func (m *countedMetrics) Shown(time.Duration)         { m.count(func() { m.shown++ }) }
func (m *countedMetrics) Behind(int64)                {}
func (m *countedMetrics) Evaluated(int)               {}
func (m *countedMetrics) SandboxRefused(string, int)  {}
func (m *countedMetrics) Question(kind, outcome string, _ time.Duration) {
	m.count(func() { m.questions[kind+" "+outcome]++ })
}

func (m *countedMetrics) count(f func()) {
	m.Lock()
	defer m.Unlock()
	f()
}
