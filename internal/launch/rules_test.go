package launch

import "testing"

// TestReadable has what 2.1.37 was seen to do: with a rule that it cannot read, it
// leaves aside all others in the same settings.
func TestReadable(t *testing.T) {
	for rule, want := range readableRules {
		if got := readable(rule); got != want {
			t.Errorf("%q: %v", rule, got)
		}
	}
}

var readableRules = map[string]bool{
	"":                             false,
	" ":                            false,
	"Bash":                         true,
	"bash":                         false,
	"Bash(":                        false,
	"Bash)":                        false,
	"Bash()":                       false,
	"(ls)":                         true,
	"Bash(*)":                      true,
	"Bash(ls:*)":                   true,
	"Bash(:*)":                     false,
	"Bash(ls:* -l)":                false,
	"Bash(a:*b:*)":                 true,
	"Bash(npm run *)":              true,
	`Bash(echo \(x\))`:             true,
	`Bash(echo \()`:                true,
	`Bash(echo \\()`:               false,
	`Bash(echo (x))`:               true,
	"Bash(f(){ ls; })":             false,
	"Read":                         true,
	"Read(//a/**)":                 true,
	"Read(//a*b/c)":                false,
	"Read(//a*)":                   true,
	"Read(//a/*b)":                 true,
	"Read(//a*.b)":                 true,
	`Read(//a*\)b)`:                true,
	"Read(//a*b/**)":               true,
	"Read(ls:*)":                   false,
	"Edit(*a)":                     true,
	"Grep(a*b)":                    true,
	"WebFetch(domain:example.com)": true,
	"WebFetch(domain:*.a.com)":     true,
	"WebFetch(example.com)":        false,
	"WebFetch(https://a.com)":      false,
	"WebFetch(domain:http://a)":    false,
	"WebSearch(a b)":               true,
	"WebSearch(a*)":                false,
	"mcp__a":                       true,
	"mcp__a__*":                    true,
	"mcp__a__b(c)":                 false,
	"mcp__":                        false,
	"Agent(x)":                     true,
	"ünbekannt":                    false,
	"Ünbekannt(x":                  false,
	"_x":                           true,
	"*":                            true,
}
