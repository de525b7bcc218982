package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFor holds which rules count for which sessions, and that decisions name the rule.
func TestFor(t *testing.T) {
	t.Parallel()
	file := parsed(t, `
sets = ["read-only"]
allow = ["Bash(make:*)", "WebSearch"]
ask = ["Bash(git push:*)"]
deny = ["Bash(rm:*)"]
[[folder]]
path = "~/work"
allow = ["Edit(src/**)"]
[unauthenticated]
sets = ["read-only"]
allow = ["Bash(ls:*)"]
ask = ["WebSearch"]
deny = ["WebFetch"]
`)
	options := testOptions()
	options.AutoApprove = []string{"Bash", "WebFetch", "auto-approve"}
	engine, err := New(file, options)
	if err != nil {
		t.Fatal(err)
	}
	bash := func(command string) Call {
		raw, _ := json.Marshal(map[string]string{"command": command})
		return Call{Tool: "Bash", Input: raw}
	}
	for _, test := range []struct {
		call                         Call
		hub, dialed, unauthenticated string
	}{
		{bash("make"), "allow Bash(make:*) rules.toml:3", "allow Bash dial.auto_approve", "allow Bash dial.auto_approve"},
		{bash("rm x"), "deny Bash(rm:*) rules.toml:5", "deny Bash(rm:*) rules.toml:5", "deny Bash(rm:*) rules.toml:5"},
		{bash("git push"), "ask Bash(git push:*) rules.toml:4", "ask Bash(git push:*) rules.toml:4", "ask Bash(git push:*) rules.toml:4"},
		{bash("npm test"), "", "allow Bash dial.auto_approve", "allow Bash dial.auto_approve"},
		{Call{Tool: "WebSearch", Input: json.RawMessage(`{"query":"x"}`)}, "allow WebSearch rules.toml:3", "allow WebSearch rules.toml:3", "ask WebSearch rules.toml:12"},
		{Call{Tool: "WebFetch", Input: json.RawMessage(`{"url":"https://a.example/"}`)}, "", "allow WebFetch dial.auto_approve", "deny WebFetch rules.toml:13"},
		{Call{Tool: "Edit", Input: json.RawMessage(`{"file_path":"/home/u/work/src/a.go"}`)}, "allow Edit(src/**) rules.toml:8", "allow Edit(src/**) rules.toml:8", ""},
		{Call{Tool: "TodoRead", Input: json.RawMessage(`{}`)}, "allow TodoRead set read-only", "allow TodoRead set read-only", "allow TodoRead set read-only"},
		{Call{Tool: "TaskOutput", Input: json.RawMessage(`{}`)}, "allow TaskOutput set read-only", "allow TaskOutput set read-only", "allow TaskOutput set read-only"},
		{Call{Tool: "LS", Input: json.RawMessage(`{"path":"/etc"}`)}, "", "allow LS dial.auto_approve set auto-approve", "allow LS dial.auto_approve set auto-approve"},
		{Call{Tool: "ExitPlanMode", Input: json.RawMessage(`{"plan":"x"}`)}, "", "", ""},
		{Call{Tool: "AskUserQuestion", Input: json.RawMessage(`{"questions":[]}`)}, "", "", ""},
	} {
		test.call.Dir, test.call.Now = testDir, testNow
		for origin, want := range map[Origin]string{OriginHub: test.hub, OriginDialed: test.dialed, OriginUnauthenticated: test.unauthenticated, "another": test.unauthenticated} {
			v, got := engine.For(origin).Decide(test.call), ""
			if v.Rule != nil {
				got = string(v.Decision) + " " + v.Rule.Text + " " + v.Rule.Source
			}
			if got != want {
				t.Errorf("%s %s of %q: %q, want %q; %s", test.call.Tool, test.call.Input, origin, got, want, v.Reason)
			}
		}
	}
	for _, origin := range []Origin{OriginHub, OriginDialed, OriginUnauthenticated} {
		if first, second := engine.For(origin), engine.For(origin); first != second || (first == engine) != (origin == OriginHub) {
			t.Errorf("an engine of %q is made anew for each call", origin)
		}
	}
	// What the CLI itself is to enforce.
	for origin, want := range map[Origin]bool{OriginHub: false, OriginDialed: false, OriginUnauthenticated: true} {
		s := engine.For(origin).Settings(testDir, testNow)
		if !slices.Contains(s.Deny, "Bash(rm:*)") || slices.Contains(s.Deny, "WebFetch") != want || slices.Contains(s.Ask, "WebSearch") != want {
			t.Errorf("a CLI of %q is given %q and %q", origin, s.Deny, s.Ask)
		}
	}
}

// TestForNothing holds that without rules of their own nothing is allowed to
// unauthenticated sessions, and that a rule of one session is.
func TestForNothing(t *testing.T) {
	t.Parallel()
	engine, err := New(parsed(t, `
sets = ["auto-approve"]
allow = ["Edit", "mcp__a"]
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	open := engine.For(OriginUnauthenticated)
	for _, call := range []Call{
		{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)},
		{Tool: "Read", Input: json.RawMessage(`{"file_path":"a"}`)},
		{Tool: "Edit", Input: json.RawMessage(`{"file_path":"a"}`)},
		{Tool: "mcp__a__b", Input: json.RawMessage(`{}`)},
	} {
		call.Dir, call.Now = testDir, testNow
		if v := engine.Decide(call); v.Decision != Allow {
			t.Errorf("%s: %q", call.Tool, v.Decision)
		}
		if v := open.Decide(call); v.Decision != "" {
			t.Errorf("%s, unauthenticated: %q by %v", call.Tool, v.Decision, v.Rule)
		}
		with, err := open.With([]Rule{{Text: "*", Decision: Allow, Expires: testNow.Add(time.Hour)}})
		if err != nil {
			t.Fatal(err)
		}
		if v := with.Decide(call); v.Decision != Allow || v.Rule.Scope != ScopeSession {
			t.Errorf("%s, with a rule of the session: %q", call.Tool, v.Decision)
		}
	}
}

// TestAutoApproveEverything holds that "*" allows all that rules can allow.
func TestAutoApproveEverything(t *testing.T) {
	t.Parallel()
	options := testOptions()
	options.AutoApprove = []string{"*"}
	engine, err := New(parsed(t, `deny = ["Bash(rm:*)"]`), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tool, input string
		want        Decision
	}{
		{"Bash", `{"command":"make"}`, Allow},
		{"Edit", `{"file_path":".git/config"}`, Allow},
		{"mcp__x__y", `{}`, Allow},
		{"Bash", `{"command":"rm x"}`, Deny},
		{"Read", `{"file_path":"/home/u/.config/switchboard/rules.toml"}`, Deny},
		{"ExitPlanMode", `{"plan":"x"}`, ""},
		{"AskUserQuestion", `{"questions":[]}`, ""},
	} {
		call := Call{Tool: test.tool, Input: json.RawMessage(test.input), Dir: testDir, Now: testNow}
		for _, origin := range []Origin{OriginDialed, OriginUnauthenticated} {
			if v := engine.For(origin).Decide(call); v.Decision != test.want {
				t.Errorf("%s %s of %s: %q, want %q: %s", test.tool, test.input, origin, v.Decision, test.want, v.Reason)
			}
		}
		if v := engine.Decide(call); v.Decision == Allow {
			t.Errorf("%s %s of the hub's own: %q", test.tool, test.input, v.Decision)
		}
	}
}

func TestAutoApproveErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"bash", "ExitPlanMode", "Write(x)", "", "read_only", "Bash(a; b)"} {
		if CheckAutoApprove(text) == nil {
			t.Errorf("%q is taken", text)
		}
		options := testOptions()
		options.AutoApprove = []string{text}
		_, err := New(nil, options)
		if wrong, ok := errors.AsType[*RuleError](err); !ok || wrong.Rule.Source != "dial.auto_approve" {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"*", "Bash", "Bash(git status:*)", "mcp__github", "read-only", "auto-approve"} {
		if err := CheckAutoApprove(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRulesOfAllOrigins holds that all rules are listed, each once.
func TestRulesOfAllOrigins(t *testing.T) {
	t.Parallel()
	options := testOptions()
	options.Own, options.AutoApprove = nil, []string{"Bash"}
	engine, err := New(parsed(t, `
allow = ["Edit"]
deny = ["WebFetch"]
[unauthenticated]
allow = ["Read"]
deny = ["Bash(rm:*)"]
`), options)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(e *Engine, dir string) (list []string) {
		for _, r := range e.Rules(dir) {
			list = append(list, string(r.Scope)+" "+r.Text)
		}
		return list
	}
	want := []string{"global Edit", "global WebFetch", "unauthenticated Read", "unauthenticated Bash(rm:*)", "dialed Bash"}
	if diff := cmp.Diff(want, texts(engine, "")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:2], texts(engine, testDir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], texts(engine.For(OriginUnauthenticated), testDir)); diff != "" {
		t.Error(diff)
	}
}
