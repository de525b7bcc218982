package terminal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// TestShowSandbox holds what a snapshot says of the sandbox, and that one which nothing enforces stands out.
func TestShowSandbox(t *testing.T) {
	shown := func(s *api.Sandbox, profile paint.Profile) string {
		v := &View{Styles: profile.Styles()}
		text := strings.Join(v.Session(&api.Session{ID: "s1", State: api.StateIdle, Sandbox: s, Run: 1}), "\n")
		from, to := strings.Index(text, "sandbox"), strings.Index(text, "agent")
		if from < 0 {
			return ""
		}
		return strings.TrimSpace(text[from:to])
	}
	if got := shown(nil, paint.Profile{}); got != "" {
		t.Errorf("where nothing is known: %q", got)
	}
	strict := &api.Sandbox{
		Mode: "strict", Enforcer: "landlock", Network: "listed", Hidden: 2, ReadOnly: 1,
		Limits: []string{"Folders that are made later are not hidden.", "A second\nlimit \x1b[2J"},
	}
	want := `sandbox      strict, by landlock; network by rules; 2 paths hidden; 1 read-only
             Folders that are made later are not hidden.
             A second limit ␛[2J`
	if diff := cmp.Diff(want, shown(strict, paint.Profile{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	none := &api.Sandbox{Mode: "deny-only", Enforcer: "none", Reason: "bubblewrap isn't installed"}
	profile := paint.Profile{Color: true, Dark: true}
	if got, want := shown(none, profile), profile.Styles().Bad.Render("NOT ENFORCED: bubblewrap isn't installed (mode deny-only)"); !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
}

// TestConnectionInPlain holds what the plain view says of a connection that is asked about: everything once, and how to allow the host for the
// session.
func TestConnectionInPlain(t *testing.T) {
	q := &api.Question{
		ID: "q1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "SandboxNetworkAccess", Title: "Connect to example.com:443?", Description: "npm install",
		Request:     json.RawMessage(`{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","input":{"host":"example.com","port":443,"command":"npm install"}}`),
		Suggestions: []api.Suggestion{{Text: "allow Network(host:example.com)", Destination: "session"}},
	}
	var out strings.Builder
	v := newView(&out, true)
	v.question(q)
	want := `question q1: Connect to example.com:443?
  command: npm install
  host: example.com
  port: 443
always 1: allow Network(host:example.com) (in this session)
answer with: /allow q1, /allow q1 1 (always) or /deny q1 why
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestListWithoutSandbox holds that a list marks the sessions in which a mode is on that nothing enforces, however narrow the terminal, and no others.
func TestListWithoutSandbox(t *testing.T) {
	list := []api.SessionSummary{
		{ID: "s1", Title: strings.Repeat("long ", 20), State: api.StateIdle, Sandbox: "none"},
		{ID: "s2", State: api.StateIdle, Sandbox: "strict"},
		{ID: "s3", State: api.StateIdle, Sandbox: "off"},
		{ID: "s4", State: api.StateEnded, Sandbox: "none"},
		{ID: "s5", State: api.StateIdle},
	}
	for _, width := range []int{0, 60} {
		for _, terminal := range []bool{false, true} {
			v := &View{Styles: paint.Profile{Width: width}.Styles(), Terminal: terminal}
			lines := v.Sessions(list)
			if text := strings.Join(lines, "\n"); strings.Count(text, "[no sandbox]") != 1 || !strings.Contains(lines[0], "[no sandbox] long") {
				t.Errorf("%d columns, terminal %v:\n%s", width, terminal, text)
			}
		}
	}
}

// TestAuditSandbox holds what an audit says of what a sandbox refused, asked about and allowed.
func TestAuditSandbox(t *testing.T) {
	refused := func(rule *api.RuleRef) api.AuditItem {
		return api.AuditItem{
			Session: "s1", Decision: "refused", Tool: "SandboxNetworkAccess", Title: "Connect to a.example:443", Source: "hub", Rule: rule,
			Refusal: &api.SandboxRefusal{Kind: "network", Host: "a.example", Port: 443, Command: "curl \x1b[2J", Count: 2, Rule: rule},
		}
	}
	list := []api.AuditItem{
		refused(nil), refused(&api.RuleRef{Rule: "Network(host:a.example)", Decision: api.RuleDeny, Scope: "global"}),
		{Session: "s1", Decision: "allow", By: "ann", Tool: "SandboxNetworkAccess", Title: "Connect to b.example:80?"},
		{Session: "s1", Decision: "allow", Tool: "Bash", Title: "make", Rule: &api.RuleRef{Rule: "sandbox_auto_allow", Scope: api.ScopeSandbox}},
	}
	v := &View{Styles: paint.Profile{}.Styles()}
	want := `-  s1  refused  sandbox                       a connection to a.example:443 (curl ␛[2J), 2 times
-  s1  refused  rule Network(host:a.example)  a connection to a.example:443 (curl ␛[2J), 2 times
-  s1  allow    ann                           Connect to b.example:80?
-  s1  allow    sandbox                       Bash make`
	if diff := cmp.Diff(want, strings.Join(v.Audit(list), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
