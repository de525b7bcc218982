package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, text string) *File {
	t.Helper()
	if text == "none" {
		return nil
	}
	f, err := ParseFile("rules.toml", []byte(text), testHome)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func folderOf(path, rest string) string { return "[[folder]]\npath = \"" + path + "\"\n" + rest }

func unauthenticatedOf(rest string) string { return "\n[unauthenticated]\n" + rest }

func ruleOf(rule, decision, rest string) string {
	return "[[rule]]\nrule = \"" + rule + "\"\ndecision = \"" + decision + "\"\n" + rest
}

func TestWidens(t *testing.T) {
	t.Parallel()
	const sooner, later = "expires = 2026-07-01T00:00:00Z", "expires = 2026-08-01T00:00:00Z"
	for _, test := range []struct {
		name, old, new string
		want           []string // nil: it only narrows
	}{
		{"nothing", "none", "none", nil},
		{"an empty file", "none", "", nil},
		{"denies from nothing", "none", `deny = ["Bash"]`, nil},
		{"an allow from nothing", "none", `allow = ["Bash"]`, []string{"It allows Bash."}},
		{"an allow removed", `allow = ["Bash"]`, "none", nil},
		{"a deny removed", `deny = ["Bash"]`, "none", []string{"It no longer denies Bash."}},
		{"an ask removed", `ask = ["Bash"]`, "", []string{"It no longer asks about Bash."}},
		{"an ask made a deny", `ask = ["Bash"]`, `deny = ["Bash"]`, nil},
		{"a deny made an ask", `deny = ["Bash"]`, `ask = ["Bash"]`, []string{"It no longer denies Bash."}},
		{"an allow made an ask", `allow = ["Bash"]`, `ask = ["Bash"]`, nil},
		{"the order", `allow = ["Bash", "Read"]`, `allow = ["Read", "Bash"]`, nil},
		{"another way to write it", `allow = ["Bash", "mcp__a"]`, `allow = ["Bash(*)", "mcp__a__*"]`, nil},
		{"from all to some", `allow = ["Bash"]`, `allow = ["Bash(git:*)"]`, nil},
		{"from some to all", `allow = ["Bash(git:*)"]`, `allow = ["Bash"]`, []string{"It allows Bash."}},
		{"from some to others", `allow = ["Bash(git:*)"]`, `allow = ["Bash(git *)"]`, []string{"It allows Bash(git *)."}},
		{"a name is less than its paths", `allow = ["Edit"]`, `allow = ["Edit(src/**)"]`, []string{"It allows Edit(src/**)."}},
		{"deny all instead of some", `deny = ["Bash(rm:*)"]`, `deny = ["Bash"]`, nil},
		// A path rule is also about files that a shell command names.
		{"a name denies less than its paths", `deny = ["Edit(src/**)"]`, `deny = ["Edit"]`, []string{"It no longer denies Edit(src/**)."}},
		{"the same for reading", `deny = ["Read(~/.ssh/**)"]`, `deny = ["Read"]`, []string{"It no longer denies Read(~/.ssh/**)."}},
		{"deny some instead of all", `deny = ["Edit"]`, `deny = ["Edit(src/**)"]`, []string{"It no longer denies Edit."}},
		{"a host from all hosts below", `allow = ["Network(host:*.Example.com)"]`, `allow = ["Network(host:a.example.com)", "Network(host:*.a.example.com)"]`, nil},
		{"a host from every host", `allow = ["Network"]`, `allow = ["Network(host:a.example.com)", "Network(host:10.0.0.1)"]`, nil},
		{"every host, written otherwise", `allow = ["Network"]`, `allow = ["Network(host:*)"]`, nil},
		{"more hosts", `allow = ["Network(host:a.example.com)"]`, `allow = ["Network(host:*.example.com)"]`, []string{"It allows Network(host:*.example.com)."}},
		{"the domain is not below itself", `allow = ["Network(host:*.example.com)"]`, `allow = ["Network(host:example.com)"]`, []string{"It allows Network(host:example.com)."}},
		{"a host no longer denied", `deny = ["Network(host:*.example.com)"]`, `deny = ["Network(host:a.example.com)"]`, []string{"It no longer denies Network(host:*.example.com)."}},
		{"more hosts denied", `deny = ["Network(host:a.example.com)"]`, `deny = ["Network(host:*.example.com)"]`, nil},
		{"into a folder", `allow = ["Bash"]`, folderOf("/a", `allow = ["Bash"]`), nil},
		{"out of a folder", folderOf("/a", `allow = ["Bash"]`), `allow = ["Bash"]`, []string{"It allows Bash."}},
		{"a folder below", folderOf("/a", `allow = ["Bash"]`), folderOf("/a/b", `allow = ["Bash"]`), nil},
		{"a folder above", folderOf("/a/b", `allow = ["Bash"]`), folderOf("/a", `allow = ["Bash"]`), []string{"It allows Bash in /a."}},
		{"an allow for the unauthenticated", `allow = ["Bash"]`, `allow = ["Bash"]` + unauthenticatedOf(`allow = ["Bash"]`), []string{"It allows Bash for unauthenticated sessions."}},
		{"an allow for the others", unauthenticatedOf(`allow = ["Bash"]`), `allow = ["Bash"]` + unauthenticatedOf(`allow = ["Bash"]`), []string{"It allows Bash."}},
		{"less for the unauthenticated", unauthenticatedOf(`allow = ["Bash"]`), unauthenticatedOf(`allow = ["Bash(git:*)"]`), nil},
		{"a deny for all instead of the unauthenticated", unauthenticatedOf(`deny = ["Bash"]`), `deny = ["Bash"]`, nil},
		{"a deny for the unauthenticated instead of all", `deny = ["Bash"]`, unauthenticatedOf(`deny = ["Bash"]`), []string{"It no longer denies Bash."}},
		{"an ask of the unauthenticated removed", unauthenticatedOf(`ask = ["Bash"]`), "", []string{"It no longer asks about Bash for unauthenticated sessions."}},
		{
			"a set for the unauthenticated", `sets = ["read-only"]`, `sets = ["read-only"]` + unauthenticatedOf(`sets = ["read-only"]`),
			[]string{"The set read-only is new for unauthenticated sessions: it allows what is in it."},
		},
		{"a set of the unauthenticated removed", unauthenticatedOf(`sets = ["read-only"]`), "", nil},
		{"a folder beside", folderOf("/a", `allow = ["Bash"]`), folderOf("/ab", `allow = ["Bash"]`), []string{"It allows Bash in /ab."}},
		{"a deny into a folder", `deny = ["Bash"]`, folderOf("/a", `deny = ["Bash"]`), []string{"It no longer denies Bash."}},
		{"a deny out of a folder", folderOf("/a", `deny = ["Bash"]`), `deny = ["Bash"]`, nil},
		{"an end sooner", ruleOf("Bash", "allow", later), ruleOf("Bash", "allow", sooner), nil},
		{"an end later", ruleOf("Bash", "allow", sooner), ruleOf("Bash", "allow", later), []string{"It allows Bash until 2026-08-01 00:00 UTC."}},
		{"an end for the first time", ruleOf("Bash", "allow", ""), ruleOf("Bash", "allow", sooner), nil},
		{"no end any more", ruleOf("Bash", "allow", sooner), ruleOf("Bash", "allow", ""), []string{"It allows Bash."}},
		{"a deny ends sooner", ruleOf("Bash", "deny", later), ruleOf("Bash", "deny", sooner), []string{"It no longer denies Bash until 2026-08-01 00:00 UTC."}},
		{"a deny ends later", ruleOf("Bash", "deny", sooner), ruleOf("Bash", "deny", later), nil},
		{"a deny gets an end", ruleOf("Bash", "deny", ""), ruleOf("Bash", "deny", later), []string{"It no longer denies Bash."}},
		{"a message", ruleOf("Bash", "deny", `message = "a"`), ruleOf("Bash", "deny", `message = "b"`), nil},
		{"a set", "", `sets = ["read-only"]`, []string{"The set read-only is new: it allows what is in it."}},
		{"a set removed", `sets = ["read-only"]`, "", nil},
		{"hook to cli", `enforce = "hook"`, "", []string{"Calls are no longer all brought to the hub: enforce was hook."}},
		{"cli to hook", `enforce = "cli"`, `enforce = "hook"`, nil},
	} {
		if diff := cmp.Diff(test.want, Widens(parsed(t, test.old), parsed(t, test.new))); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
		if got := Widens(parsed(t, test.old), parsed(t, test.old)); got != nil {
			t.Errorf("%s: the old file widens itself: %q", test.name, got)
		}
	}
}

func TestNarrowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, old, new, want string }{
		{"nothing", "none", "none", ""},
		{"allow is what both allow", `allow = ["Bash", "Edit"]`, `allow = ["Bash", "Read"]`, "allow Bash"},
		{"the narrower of two", `allow = ["Bash"]`, `allow = ["Bash(git:*)"]`, "allow Bash(git:*)"},
		{"the narrower of two, the other way round", `allow = ["Bash(git:*)"]`, `allow = ["Bash"]`, "allow Bash(git:*)"},
		{"deny is what either denies", `deny = ["Bash"]`, `deny = ["Edit"]`, "deny Edit deny Bash"},
		{"ask, too", `ask = ["Bash"]`, `ask = ["Edit"]`, "ask Edit ask Bash"},
		{"once", `deny = ["Bash"]`, `deny = ["Bash(*)"]`, "deny Bash(*)"},
		{"sets of both", `sets = ["read-only"]`, `sets = ["auto-approve", "read-only"]`, "set read-only"},
		{"hook stays", `enforce = "hook"`, "", "hook"},
		{"hook comes", "", `enforce = "hook"`, "hook"},
	} {
		old, new := parsed(t, test.old), parsed(t, test.new)
		f := Narrowed(old, new)
		var got []string
		for _, r := range f.Rules {
			got = append(got, string(r.Decision)+" "+r.Text)
		}
		for _, set := range f.Sets {
			got = append(got, "set "+set)
		}
		if f.Enforce == EnforceHook {
			got = append(got, "hook")
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
		if widens := Widens(old, f); widens != nil {
			t.Errorf("%s: it is wider than the old file: %q", test.name, widens)
		}
	}
}
