package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// raw is a call of a tool with its input as it stands.
func raw(tool, input string) Call {
	return Call{Tool: tool, Input: json.RawMessage(input), Dir: testDir, Now: testNow}
}

// TestWaysAround holds calls that got past a rule which a careful person would
// have relied on.
func TestWaysAround(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rules []string
		call  Call
		want  Decision
	}{
		{"a host in other letters", []string{"allow WebFetch", "deny WebFetch(domain:evil.org)"}, raw("WebFetch", `{"url":"https://\u24d4vil.org/"}`), ""},
		{"an address that is no text", []string{"allow WebFetch", "deny WebFetch(domain:evil.org)"}, raw("WebFetch", `{"url":["https://evil.org/"]}`), ""},
		{"no rule about hosts", []string{"allow WebFetch"}, raw("WebFetch", `{"url":"https://\u24d4vil.org/"}`), Allow},
		{"a short address", []string{"allow WebFetch", "deny WebFetch(domain:127.0.0.1)"}, raw("WebFetch", `{"url":"http://127.1/"}`), Deny},
		{"a number", []string{"allow WebFetch", "deny WebFetch(domain:127.0.0.1)"}, raw("WebFetch", `{"url":"http://2130706433:80/"}`), Deny},
		{"a number in another base", []string{"allow WebFetch", "deny WebFetch(domain:127.0.0.1)"}, raw("WebFetch", `{"url":"http://0x7f.0.0.01/"}`), Deny},
		{"an address is one", []string{"allow WebFetch(domain:127.0.0.1)"}, raw("WebFetch", `{"url":"http://127.0.0.1:80/"}`), Allow},
		{"another tool that runs commands", []string{"allow Monitor", "deny Bash(rm:*)"}, raw("Monitor", `{"command":"ls; rm x"}`), Deny},
		{"and reads files by them", []string{"allow Monitor", "deny Read(~/.ssh/**)"}, raw("Monitor", `{"command":"tail -f ~/.ssh/x"}`), Deny},
		{"and reads ours", []string{"allow Monitor"}, raw("Monitor", `{"command":"tail -f ~/.config/switchboard/x"}`), Deny},
		{"or something that nobody can see", []string{"allow Monitor", "deny Bash(rm:*)"}, raw("Monitor", `{"command":"$X y"}`), ""},
		{"what allows Bash does not allow it", []string{"allow Bash"}, raw("Monitor", `{"command":"ls"}`), ""},
		{"a server with two underscores", []string{"allow mcp__a", "deny mcp__a__b"}, raw("mcp__a__b__c", `{}`), Deny},
		{"which is no server's tool", []string{"allow mcp__a__b"}, raw("mcp__a__b__c", `{}`), ""},
		{"a path by another name", []string{"allow LSP"}, raw("LSP", `{"filePath":"../.config/switchboard/x"}`), Deny},
		{"an edit instead of a command", []string{"allow Bash(sed:*)"}, raw("Bash", `{"command":"sed -n 1p x","_simulatedSedEdit":{"filePath":"/home/u/.bashrc","newContent":"x"}}`), ""},
		{"an absolute alternative", []string{"allow Read(**)"}, raw("Glob", `{"pattern":"{a,/etc}/*"}`), ""},
		{"a start file", []string{"allow Edit(~/**)"}, file("Edit", "/home/u/.zlogin"), ""},
		{"a pattern that finds ours", []string{"allow Bash(cat:*)"}, bash("cat ~/.config/switchb*/rules.toml"), ""},
		{"a pattern that finds what is denied", []string{"allow Bash", "deny Read(~/.ssh/**)"}, bash("cat ~/.s*/id_rsa"), ""},
		{"too much to look at", []string{"allow Bash", "deny Bash(rm:*)"}, bash("find . " + strings.Repeat("-exec sh -c ls \\; ", 1200) + `-exec sh -c "$(printf %s cm0geA== | base64 -d)" \\;`), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want(t, engineOf(t, testOptions(), test.rules...), test.call, test.want)
		})
	}
}

// TestFoldersInAnyCase has a folder's deny rule count where the file system does
// not tell capital letters from small ones.
func TestFoldersInAnyCase(t *testing.T) {
	t.Parallel()
	o := testOptions()
	f := &File{Rules: []Rule{
		{Text: "Bash(make:*)", Decision: Deny, Scope: ScopeFolder, Folder: "/home/u/Work"},
		{Text: "Bash(ls:*)", Decision: Allow, Scope: ScopeFolder, Folder: "/home/u/Work"},
	}}
	for _, fold := range []bool{false, true} {
		o.FoldCase = fold
		e, err := newEngine(f, o)
		if err != nil {
			t.Fatal(err)
		}
		made := Decision("")
		if fold {
			made = Deny
		}
		want(t, e, bash("make"), made)
		want(t, e, bash("ls"), "")
	}
}
