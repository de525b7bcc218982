package words

import (
	"encoding/json"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestSandbox holds that a sandbox is named by its mode, and one that nothing enforces is called that.
func TestSandbox(t *testing.T) {
	for _, test := range []struct {
		sandbox *api.Sandbox
		name    string
		loud    bool
		about   string
	}{
		{nil, "", false, ""},
		{&api.Sandbox{Mode: "off", Enforcer: "none"}, "", false, "off"},
		{&api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap", Network: "all", Hidden: 1}, "sandbox deny-only", false, "deny-only, by bubblewrap; network open; 1 path hidden"},
		{
			&api.Sandbox{Mode: "strict", Enforcer: "landlock", Network: "listed", Hidden: 12, ReadOnly: 3, AutoAllow: true}, "sandbox strict", false,
			"strict, by landlock; network by rules; 12 paths hidden; 3 read-only; commands run without asking",
		},
		{&api.Sandbox{Mode: "strict", Enforcer: "seatbelt", Network: "none"}, "sandbox strict", false, "strict, by seatbelt; no network but the model"},
		{&api.Sandbox{Mode: "deny-only", Enforcer: "none", Reason: "no bubblewrap\x1b[2J"}, "NO SANDBOX", true, "NOT ENFORCED: no bubblewrap␛[2J (mode deny-only)"},
		{&api.Sandbox{Mode: "strict", Enforcer: "none"}, "NO SANDBOX", true, "NOT ENFORCED (mode strict)"},
	} {
		name, loud := Sandbox(test.sandbox)
		if name != test.name || loud != test.loud {
			t.Errorf("%+v: %q, %t; want %q", test.sandbox, name, loud, test.name)
		}
		if test.sandbox == nil {
			continue
		}
		if about := SandboxAbout(test.sandbox); about != test.about {
			t.Errorf("%+v: %q, want %q", test.sandbox, about, test.about)
		}
	}
}

// TestAskedConnection holds that a list names the host once, and the program.
func TestAskedConnection(t *testing.T) {
	q := &api.Question{
		Kind: api.QuestionPermission, Tool: "SandboxNetworkAccess", Title: "Connect to example.com:443",
		Request: json.RawMessage(`{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","input":{"host":"example.com","port":443,"command":"npm\ninstall"}}`),
	}
	if got, want := Asked(q, q.Title), "Connect to example.com:443? (npm install)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	bash := &api.Question{Kind: api.QuestionPermission, Tool: "Bash"}
	if got, want := Asked(bash, "make"), "Run this command? make"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
