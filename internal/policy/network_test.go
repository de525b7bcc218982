package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestNetworkRule: the rule that is suggested about a host is one that allows it, and
// nothing else.
func TestNetworkRule(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.com":     "Network(host:example.com)",
		"EXAMPLE.com.":    "Network(host:example.com)",
		"10.0.0.1":        "Network(host:10.0.0.1)",
		"::ffff:10.0.0.1": "Network(host:10.0.0.1)",
		"[2001:DB8::1]":   "Network(host:2001:db8::1)",
		"0x7f.1":          "",
		"2130706433":      "",
		"a b":             "",
		"a)b":             "",
		"":                "",
		"*":               "",
		"*.com":           "",
	} {
		rule := NetworkRule(host)
		if rule != want {
			t.Errorf("%q: %q, want %q", host, rule, want)
		}
		if rule == "" {
			continue
		}
		e, err := New(&File{Rules: []Rule{{Text: rule, Decision: Allow, Scope: ScopeGlobal}}}, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if v := e.Decide(connect(t, host)); v.Decision != Allow {
			t.Errorf("%s does not allow %s: %s", rule, host, v.Reason)
		}
		if v := e.Decide(connect(t, "other."+host)); v.Decision != "" {
			t.Errorf("%s decides about other.%s: %s", rule, host, v.Reason)
		}
	}
}

// connect is a call about a connection. The program that connects has arguments that
// name files of ours, as the CLI has.
func connect(t *testing.T, host string) Call {
	t.Helper()
	input, err := json.Marshal(map[string]any{"host": host, "port": 443, "command": "claude --settings /home/u/.config/switchboard/x"})
	if err != nil {
		t.Fatal(err)
	}
	return Call{Tool: ToolNetwork, Input: input, Dir: testDir, Now: testNow}
}

// TestNetworkNotTold: the CLI is never given a rule about hosts that it does not know,
// since old versions drop all of their settings for one.
func TestNetworkNotTold(t *testing.T) {
	t.Parallel()
	var rules []Rule
	for _, text := range []string{"Network", "Network(host:a.example)", "Network(host:*.a.example)", "Network(host:::1)", ToolNetwork} {
		for _, d := range []Decision{Deny, Ask} {
			rules = append(rules, Rule{Text: text, Decision: d, Scope: ScopeGlobal})
		}
	}
	rules = append(rules, Rule{Text: "WebFetch(domain:b.example)", Decision: Deny, Scope: ScopeGlobal})
	e, err := New(&File{Rules: rules}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := e.Settings(testDir, testNow)
	for _, text := range slices.Concat(s.Deny, s.Ask) {
		if strings.Contains(text, "Network") {
			t.Errorf("the CLI is given %s", text)
		}
	}
	if !slices.Contains(s.Deny, "WebFetch(domain:b.example)") || len(s.HubOnly) != len(rules)-1 {
		t.Errorf("%+v", s)
	}
	for _, r := range rules[:len(rules)-1] {
		if Enforced(r) != EnforcedHub {
			t.Errorf("%s is enforced by %s", r.Text, Enforced(r))
		}
	}
	// What the CLI is told of WebFetch it does not hold for connections.
	if v := e.Decide(connect(t, "b.example")); v.Decision != Deny || v.Enforced != EnforcedHub {
		t.Errorf("%+v", v)
	}
}

func TestBoxed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rules, call string
		want        Decision
	}{
		{"", "Bash make", Allow},
		{"", "Bash python3 -c 'x'", Allow},
		{"", "Monitor {\"command\":\"tail -f x\"}", Allow},
		{"", "Edit src/a.go", ""},
		{"", "WebFetch https://example.com/", ""},
		{"", ToolNetwork + " example.com", ""},
		{"", "ExitPlanMode {\"plan\":\"x\"}", ""},
		{"", "Bash {\"x\":1}", ""},
		{"", "Bash {\"command\":\"make\",\"dangerouslyDisableSandbox\":true}", ""},
		{"", "Bash {\"command\":\"make\",\"dangerouslyDisableSandbox\":false}", Allow},
		{"", "Bash cat /home/u/.config/switchboard/config.toml", Deny},
		{"deny Bash(rm:*)", "Bash rm x", Deny},
		{"ask Bash(git push:*)", "Bash git push", Ask},
		{"deny Bash(rm:*)", "Bash ls", Allow},
		// Whether it runs rm cannot be known, and no operating system knows.
		{"deny Bash(rm:*)", "Bash sh -c \"$X\"", ""},
		{"ask Bash(rm:*)", "Bash sh -c \"$X\"", ""},
		// What rules deny to be read is hidden, so that it does not matter.
		{"deny Read(~/.ssh/**)", "Bash sh -c \"$X\"", Allow},
		{"deny Read(~/.ssh/**)", "Bash cat ~/.ssh/id", Deny},
		{"ask Read(~/.ssh/**)", "Bash sh -c \"$X\"", ""},
		{"ask Read(~/.ssh/**)", "Bash ls src", Allow},
		{"ask Bash", "Bash make", Ask},
		{"session deny *", "Bash make", Deny},
	} {
		var texts []string
		if test.rules != "" {
			texts = []string{test.rules}
		}
		d := documentedRules(t, texts)
		e, err := newEngine(d.file, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if len(d.session) > 0 {
			if e, err = e.With(d.session); err != nil {
				t.Fatal(err)
			}
		}
		v := e.Boxed(documentedCall(t, test.call))
		if v.Decision != test.want {
			t.Errorf("%s, %s: %q, want %q: %s", test.rules, test.call, v.Decision, test.want, v.Reason)
		}
		if v.Decision == Allow && v.Rule == nil && (v.Reason == "" || v.Enforced != EnforcedHub) {
			t.Errorf("%s, %s: %+v", test.rules, test.call, v)
		}
	}
	e, err := New(nil, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	e, _ = e.With([]Rule{{Text: "nonsense(", Decision: Deny}})
	if v := e.Boxed(documentedCall(t, "Bash make")); v.Decision != "" {
		t.Errorf("an engine that lacks a rule decides %+v", v)
	}
}
