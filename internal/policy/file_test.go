package policy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const wholeFile = `# Everything that a file can have.
enforce = "hook"
sets = ["read-only",
        "auto-approve"]
allow = ["Bash(git status:*)", 'Edit(src/**)']
ask = ["WebFetch"]
deny = [
  "Bash(rm:*)", # for good reasons
  "Read(~/.ssh/**)",
]

[[rule]]
rule = "Bash(curl:*)"
decision = "deny"
message = "Use WebFetch instead."
expires = 2026-12-01T00:00:00Z

[[folder]]
path = "~/src/project/"
allow = ["Bash(make:*)"]
  [[folder.rule]]
  decision = "ask"
  rule = "Edit(Makefile)"

[[folder]]
path = "/srv"
deny = ["Edit"]
rule = [ { rule = "WebSearch", decision = "allow" } ]

[unauthenticated]
sets = ["read-only"]
allow = ["WebSearch"]
  [[unauthenticated.rule]]
  rule = "Bash"
  decision = "deny"
`

func TestParseFile(t *testing.T) {
	t.Parallel()
	f, err := ParseFile("/etc/x/rules.toml", []byte(wholeFile), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	global := func(d Decision, text, source string) Rule {
		return Rule{Text: text, Decision: d, Scope: ScopeGlobal, Source: source}
	}
	curl := global(Deny, "Bash(curl:*)", "rules.toml:13")
	curl.Message, curl.Expires = "Use WebFetch instead.", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	want := &File{
		Name: "/etc/x/rules.toml", Enforce: EnforceHook, Sets: []string{"read-only", "auto-approve"}, UnauthenticatedSets: []string{"read-only"},
		Rules: []Rule{
			global(Allow, "Bash(git status:*)", "rules.toml:5"),
			global(Allow, "Edit(src/**)", "rules.toml:5"),
			global(Ask, "WebFetch", "rules.toml:6"),
			global(Deny, "Bash(rm:*)", "rules.toml:8"),
			global(Deny, "Read(~/.ssh/**)", "rules.toml:9"),
			curl,
			{Text: "Bash(make:*)", Decision: Allow, Scope: ScopeFolder, Source: "rules.toml:20", Folder: "/home/u/src/project"},
			{Text: "Edit(Makefile)", Decision: Ask, Scope: ScopeFolder, Source: "rules.toml:23", Folder: "/home/u/src/project"},
			{Text: "Edit", Decision: Deny, Scope: ScopeFolder, Source: "rules.toml:27", Folder: "/srv"},
			{Text: "WebSearch", Decision: Allow, Scope: ScopeFolder, Source: "rules.toml:28", Folder: "/srv"},
			{Text: "WebSearch", Decision: Allow, Scope: ScopeUnauthenticated, Source: "rules.toml:32"},
			{Text: "Bash", Decision: Deny, Scope: ScopeUnauthenticated, Source: "rules.toml:34"},
		},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
	empty, err := ParseFile("rules.toml", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&File{Name: "rules.toml", Enforce: EnforceCLI}, empty); diff != "" {
		t.Error(diff)
	}
}

func TestParseFileErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, place, reason string
	}{
		{"allow = [\"Bash\"", "1:", "array"},
		{"\nallows = []", "2:1", "allows is not known here"},
		{"[[rule]]\nrule = \"Bash\"\ndecision = \"deny\"\nwhy = \"x\"", "4:1", "rule.why is not known"},
		{"enforce = \"both\"", "1:11", `"both" is no way to enforce rules`},
		{"sets = [\"read-only\", \"all\"]", "1:22", `"all" is no set; there are read-only and auto-approve`},
		{"sets = [\"read-only\", \"read-only\"]", "1:22", "twice"},
		{"allow = [\n  \"Bash\",\n  \"bash\",\n]", "3:3", "the rule bash: tool names begin with a capital letter: write Bash"},
		{"allow = 7", "1:9", "allow cannot be a TOML integer"},
		{"deny = [\"*\"]", "1:9", "for sessions only"},
		{"[[rule]]\ndecision = \"deny\"", "1:3", "there is no rule"},
		{"[[rule]]\nrule = \"Bash\"", "1:3", "has no decision"},
		{"[[rule]]\nrule = \"Bash\"\ndecision = \"never\"", "2:8", `"never" is no decision`},
		{"[[rule]]\nrule = \"Bash\"\ndecision = \"allow\"\nmessage = \"x\"", "4:11", "only a rule that denies has a message"},
		{"[[rule]]\nrule = \"Bash\"\ndecision = \"deny\"\nexpires = \"tomorrow\"", "4:11", "expires"},
		{"[[folder]]\nallow = []", "1:3", "has no path"},
		{"[[folder]]\npath = \"src\"", "2:8", "not absolute"},
		{"[[folder]]\npath = \"/src/*\"", "2:8", "wildcard"},
		{"[[folder]]\npath = \"/a\\u202eb\"", "2:8", "cannot be seen"},
		{"[[folder]]\npath = \"/a\"\n[[folder]]\npath = \"/b\"\n[[folder.rule]]\nrule = \"Edit(!x)\"\ndecision = \"deny\"", "6:8", "takes nothing back"},
		{"allow = [\"Bash(a; b)\"]", "1:10", "write one rule per command"},
		{"[unauthenticated]\nsets = [\"all\"]", "2:9", `"all" is no set`},
		{"[unauthenticated]\nallow = [\"*\"]", "2:10", "for sessions only"},
		{"[unauthenticated]\npath = \"/a\"", "2:1", "unauthenticated.path is not known"},
		{"[unauthenticated]\n[[unauthenticated.rule]]\nrule = \"Bash\"", "2:19", "has no decision"},
	} {
		_, err := ParseFile("r.toml", []byte(test.text), "/home/u")
		wrong, ok := errors.AsType[*FileError](err)
		if !ok {
			t.Errorf("%q: %v, want a *FileError", test.text, err)
			continue
		}
		if text := wrong.Error(); !strings.HasPrefix(text, "r.toml:"+test.place) || !strings.Contains(text, test.reason) {
			t.Errorf("%q: %s; want it at %s to say %q", test.text, text, test.place, test.reason)
		}
	}
}

// TestParseFileAllErrors: whoever mends a file wants to know everything at once.
func TestParseFileAllErrors(t *testing.T) {
	t.Parallel()
	_, err := ParseFile("r.toml", []byte("allow = [\"bash\", \"Read(a..b)\"]\nask = [\"Write(x)\"]\nsets = [\"x\"]"), "")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"r.toml:1:10: ", "r.toml:2:8: ", "r.toml:3:9: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
	if n := strings.Count(err.Error(), "r.toml:"); n != 3 {
		t.Errorf("%d errors, want 3: %v", n, err)
	}
}
