package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestRefusalText holds that a refusal says what was refused, to which program and why, in a line.
func TestRefusalText(t *testing.T) {
	for _, test := range []struct {
		refusal api.SandboxRefusal
		want    string
	}{
		{api.SandboxRefusal{Kind: "network", Host: "example.com", Port: 443}, "sandbox refused a connection to example.com:443"},
		{api.SandboxRefusal{Kind: "network", Host: "example.com"}, "sandbox refused a connection to example.com"},
		{api.SandboxRefusal{Kind: "network", Host: "2001:db8::1", Port: 80, Command: "nc -6\n2001:db8::1 80"}, "sandbox refused a connection to [2001:db8::1]:80 (nc -6 2001:db8::1 80)"},
		{
			api.SandboxRefusal{Kind: "network", Host: "x.example", Port: 22, Count: 3, Rule: &api.RuleRef{Rule: "Network(host:*.example)", Scope: "global"}, Reason: "not this"},
			"sandbox refused a connection to x.example:22, 3 times: denied by the rule Network(host:*.example) (global)",
		},
		{api.SandboxRefusal{Kind: "network", Host: "x.example", Port: 22, Reason: "no one answered"}, "sandbox refused a connection to x.example:22: no one answered"},
		{api.SandboxRefusal{Kind: "file", Path: "/home/ann/.env", Command: "cat .env"}, "sandbox refused access to /home/ann/.env (cat .env)"},
		{api.SandboxRefusal{Kind: "process"}, "sandbox refused process"},
		{api.SandboxRefusal{}, "sandbox refused something"},
	} {
		if got := transcript.RefusalText(&test.refusal); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	long := api.SandboxRefusal{Host: strings.Repeat("x", 1<<20), Command: strings.Repeat("y", 1<<20), Reason: strings.Repeat("z", 1<<20)}
	if got := len(transcript.RefusalText(&long)); got > 8<<10 {
		t.Errorf("a refusal of three megabytes has a text of %d bytes", got)
	}
}

// TestRefusalPlace holds that a refusal stands behind the call during which it happened, as deep as that, and also if it comes after the result, or
// belongs to no call.
func TestRefusalPlace(t *testing.T) {
	var s logtest.Script
	s.Call("agent", "Task", `{"description":"look"}`, "")
	s.Call("bash", "Bash", `{"command":"make"}`, logtest.Within("agent"))
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{Kind: "network", Host: "a.example", Port: 1, ToolUseID: "bash"})
	s.Gave("bash", "failed", true, logtest.Within("agent"))
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{Kind: "file", Path: "/b", ToolUseID: "bash"})
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{Kind: "network", Host: "c.example", Port: 3})
	for at := range s.Events {
		c := logtest.Read(s.Events[at:])
		c.Prepend(s.Events[:at])
		if c.Len() != 5 {
			t.Fatalf("read from %d on, and then what is before: %d items", at, c.Len())
		}
		for i, want := range []struct {
			text   string
			depth  int
			parent string
		}{{"a.example:1", 1, "agent"}, {"/b", 1, "agent"}, {"c.example:3", 0, ""}} {
			it := c.Item(2 + i)
			if it.Kind != transcript.KindRefusal || it.Refusal == nil || !strings.Contains(it.Text, want.text) || it.Level != transcript.LevelWarn ||
				it.Depth != want.depth || it.Parent != want.parent {
				t.Errorf("item %d is %+v, want %+v", 2+i, it, want)
			}
		}
		if n := c.Item(0).Tool.Children; n != 1 {
			t.Errorf("the agent is said to have done %d steps", n)
		}
	}
}

// TestConnectionDenied holds that a call of which a connection was denied is not a denied call, and that asking about the connection is no waiting
// for leave to begin.
func TestConnectionDenied(t *testing.T) {
	var s logtest.Script
	s.Call("bash", "Bash", `{"command":"make"}`, "")
	q := api.Question{ID: "q", Kind: api.QuestionPermission, Tool: wire.ToolSandboxNetwork, ToolUseID: "bash", State: api.QuestionOpen, Opened: logtest.Noon}
	s.Hub(api.KindQuestionOpened, q)
	q.State, q.Settled, q.Answer = api.QuestionAnswered, logtest.Noon.Add(time.Minute), &api.Answer{Decision: "deny"}
	s.Hub(api.KindQuestionSettled, q)
	s.Gave("bash", "made without it", false, "")
	if tool := logtest.Read(s.Events).Item(0).Tool; tool.State != transcript.ToolDone || tool.Denied != "" || tool.Waited != 0 {
		t.Errorf("the call is %+v", tool)
	}
}

// TestSandboxState holds what is known of the sandbox of a run: the hub tells when it was started, in a snapshot, and not again when it finds the run.
func TestSandboxState(t *testing.T) {
	strict := &api.Sandbox{Mode: "strict", Enforcer: "bubblewrap"}
	none := &api.Sandbox{Mode: "deny-only", Enforcer: "none", Reason: "bubblewrap isn't installed"}
	var s logtest.Script
	s.Hub(api.KindRunStarted, map[string]any{})
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": strict})
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325"})
	c := logtest.Read(s.Events)
	if got := c.State().Sandbox; got == nil || got.Mode != "strict" {
		t.Errorf("the sandbox is %+v", got)
	}
	for range 2 { // looking at it changes nothing
		if c.Len() != 1 || c.Item(0).Text != "Claude Code 2.1.325, sandbox strict" {
			t.Errorf("%d items, the first one %q", c.Len(), c.Item(0).Text)
		}
	}
	s.Hub(api.KindRunStarted, map[string]any{})
	if got := logtest.Read(s.Events).State().Sandbox; got != nil {
		t.Errorf("of a run that is being started it is said to be known: %+v", got)
	}
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": none})
	c = logtest.Read(s.Events)
	last := c.Item(c.Len() - 1)
	if last.Level != transcript.LevelBad || last.Label != "sandbox" || !strings.Contains(last.Text, "NOT ENFORCED: bubblewrap isn't installed") {
		t.Errorf("that nothing is enforced is told as %+v", last)
	}
	c.Seed(&api.Session{ID: "s1", Sandbox: strict, LastEventID: s.Events[len(s.Events)-1].ID})
	if got := c.State().Sandbox; got != strict {
		t.Errorf("after a snapshot the sandbox is %+v", got)
	}
	pages := logtest.Read(s.Events[4:])
	pages.Prepend(s.Events[:4])
	if got := pages.State().Sandbox; got == nil || got.Enforcer != "none" {
		t.Errorf("in pages the sandbox is %+v", got)
	}
}

// TestAutoAllowed holds that a command which runs without a question because of its sandbox is not said to be allowed by a rule.
func TestAutoAllowed(t *testing.T) {
	var s logtest.Script
	s.Call("bash", "Bash", `{"command":"make"}`, "")
	s.Hub(api.KindDecision, api.Decision{Tool: "Bash", ToolUseID: "bash", Rule: api.RuleRef{
		Rule: "sandbox_auto_allow", Decision: api.RuleAllow, Scope: api.ScopeSandbox, Source: api.ScopeSandbox,
	}})
	if got, want := logtest.Read(s.Events).Item(0).Tool.Rule, "allowed by the sandbox, where commands run without asking"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
