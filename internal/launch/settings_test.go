package launch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestWithRules(t *testing.T) {
	for _, test := range []struct {
		name, settings string
		deny, ask      []string
		want           string
	}{
		{"nothing", ``, nil, nil, ``},
		{"no rules", ` { "a" : 1 } `, nil, nil, ` { "a" : 1 } `},
		{"no rules, whatever it is", `{"permissions":7}`, nil, []string{}, `{"permissions":7}`},
		{"no settings", ``, []string{"Read(~/.ssh/**)"}, []string{"WebFetch"}, `{"permissions":{"deny":["Read(~/.ssh/**)"],"ask":["WebFetch"]}}`},
		{"only deny", ``, []string{"A", "B"}, nil, `{"permissions":{"deny":["A","B"]}}`},
		{"only ask", `{}`, nil, []string{"A"}, `{"permissions":{"ask":["A"]}}`},
		{"empty with space", " { } ", nil, []string{"A"}, `{ "permissions":{"ask":["A"]}}`},
		{
			"others stay as they were written",
			`{ "model": "x",  "n":1.50, "u":"\u00e9", "env":{"A":"<b>"} }`,
			[]string{"A"},
			nil,
			`{ "model": "x",  "n":1.50, "u":"\u00e9", "env":{"A":"<b>"} ,"permissions":{"deny":["A"]}}`,
		},
		{
			"behind its own",
			`{"permissions": {"allow":["C"], "deny": ["X"], "defaultMode":"plan"}, "z":0}`,
			[]string{"A", "X"},
			[]string{"B"},
			`{"permissions": {"allow":["C"], "deny": ["X","A"], "defaultMode":"plan","ask":["B"]}, "z":0}`,
		},
		{"each once", `{"permissions":{"ask":[ ]}}`, nil, []string{"A", "B", "A"}, `{"permissions":{"ask":[ "A","B"]}}`},
		{"the last of a name", `{"permissions":{"deny":["X"]},"permissions":{"deny":["Y"],"deny":["Z"]}}`, []string{"A"}, nil, `{"permissions":{"deny":["X"]},"permissions":{"deny":["Y"],"deny":["Z","A"]}}`},
		{"the first of a name is nobody's", `{"permissions":7,"permissions":{}}`, []string{"A"}, nil, `{"permissions":7,"permissions":{"deny":["A"]}}`},
		{"a name with escapes", `{"permission\u0073":{"d\u0065ny":["X"]}}`, []string{"A"}, nil, `{"permission\u0073":{"d\u0065ny":["X","A"]}}`},
		{"another name", `{"Permissions":{"Deny":7}}`, []string{"A"}, nil, `{"Permissions":{"Deny":7},"permissions":{"deny":["A"]}}`},
		{"quotes and lines", ``, []string{"Bash(echo \"a\nb\")"}, nil, `{"permissions":{"deny":["Bash(echo \"a\nb\")"]}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := withRules(json.RawMessage(test.settings), test.deny, test.ask, true)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if len(got) > 0 && !json.Valid(got) {
				t.Error("it is not JSON")
			}
		})
	}
}

func TestWithRulesRefuses(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{`{"permissions":`, "not JSON"},
		{`{} {}`, "not JSON"},
		{` `, "not JSON"},
		{`[]`, "not a JSON object"},
		{`null`, "not a JSON object"},
		{`{"permissions":null}`, "permissions is not an object"},
		{`{"permissions":[]}`, "permissions is not an object"},
		{`{"permissions":"deny"}`, "permissions is not an object"},
		{`{"permissions":{},"permissions":1}`, "permissions is not an object"},
		{`{"permissions":{"deny":"X"}}`, "permissions.deny is not a list of rules"},
		{`{"permissions":{"deny":null}}`, "permissions.deny is not a list of rules"},
		{`{"permissions":{"ask":[1]}}`, "permissions.ask is not a list of rules"},
		{`{"permissions":{"ask":["A",null]}}`, "permissions.ask is not a list of rules"},
		{`{"permissions":{"allow":["Bash(ls)","bash(ls)"]}}`, `cannot read "bash(ls)"`},
		{`{"permissions":{"allow":{}}}`, "permissions.allow is not a list of rules"},
	} {
		got, err := withRules(json.RawMessage(test.settings), []string{"A"}, nil, true)
		e, ok := errors.AsType[*StartError](err)
		if !ok || e.Code != BadOption || !strings.Contains(e.Reason, test.want) {
			t.Errorf("%s: %s, %v", test.settings, got, err)
		}
	}
}

func TestWithRulesOfNewVersions(t *testing.T) {
	got, err := withRules(json.RawMessage(`{"permissions":{"allow":["bash(ls)"]}}`), []string{"A"}, nil, false)
	if err != nil || string(got) != `{"permissions":{"allow":["bash(ls)"],"deny":["A"]}}` {
		t.Errorf("%s, %v", got, err)
	}
}
