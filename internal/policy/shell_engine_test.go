package policy

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// TestShellTableDecisions runs the table of shell commands through the whole
// engine: what is covered is allowed, what slips is left to a person, and what a
// deny rule matches is denied although every command is allowed.
func TestShellTableDecisions(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)
	for _, row := range shellRows(t) {
		t.Run(strconv.Itoa(row.line), func(t *testing.T) {
			decision, want := Allow, Decision("")
			switch row.kind {
			case "pass":
				want = Allow
			case "deny", "plain":
				decision, want = Deny, Deny
			case "miss":
				decision = Deny
			}
			file := &File{Name: "rules.toml", Rules: []Rule{{Text: "Edit(/out/**)", Decision: Allow, Scope: ScopeGlobal}}}
			for _, text := range row.rules {
				if text == "read-only" {
					if decision == Deny {
						return // a set only allows
					}
					file.Sets = []string{"read-only"}
					continue
				}
				if r, err := compileShell(text); err != nil || decision == Allow && r.neverAllows() != "" {
					continue // refused when the file is read
				}
				file.Rules = append(file.Rules, Rule{Text: "Bash(" + escape.Replace(text) + ")", Decision: decision, Scope: ScopeGlobal})
			}
			if decision == Deny {
				file.Rules = append(file.Rules, Rule{Text: "Bash", Decision: Allow, Scope: ScopeGlobal})
			}
			e, err := New(file, Options{Home: "/home/me", Resolve: resolver(nil)})
			if err != nil {
				t.Fatal(err)
			}
			input, err := json.Marshal(map[string]string{"command": row.command})
			if err != nil {
				t.Fatal(err)
			}
			v := e.Decide(Call{Tool: "Bash", Input: input, Dir: "/home/me/project", Now: testNow})
			if row.kind == "miss" && v.Decision != Deny {
				return
			}
			if v.Decision != want || v.Reason == "" {
				t.Errorf("%q by %q: the decision is %q (%s), want %q", row.command, row.rules, v.Decision, v.Reason, want)
			}
		})
	}
}
