package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// benchRules are 200 rules of all kinds and decisions.
func benchRules() []Rule {
	var rules []Rule
	add := func(d Decision, format string, n int) {
		for i := range n {
			rules = append(rules, Rule{Text: fmt.Sprintf(format, i), Decision: d, Scope: ScopeGlobal})
		}
	}
	add(Allow, "Bash(tool%d run:*)", 40)
	add(Deny, "Bash(evil%d:*)", 20)
	add(Ask, "Bash(careful%d *)", 10)
	add(Allow, "Edit(part%d/**)", 30)
	add(Deny, "Edit(frozen%d/**)", 15)
	add(Allow, "Read(//srv/data%d/**)", 15)
	add(Deny, "Read(~/.secret%d/**)", 15)
	add(Deny, "Read(*.key%d)", 5)
	add(Allow, "mcp__server%d__get", 20)
	add(Deny, "mcp__server%d__delete", 10)
	add(Allow, "WebFetch(domain:host%d.example)", 16)
	rules = append(rules,
		Rule{Text: "Bash(git status:*)", Decision: Allow}, Rule{Text: "Bash(go test:*)", Decision: Allow},
		Rule{Text: "Edit(src/**)", Decision: Allow}, Rule{Text: "Bash(rm:*)", Decision: Deny})
	return rules
}

// otherRules are rules of tools that the benchmark does not call.
func otherRules(n int) []Rule {
	var rules []Rule
	for i := range n {
		rules = append(rules, Rule{Text: fmt.Sprintf("mcp__other%d__tool", i), Decision: []Decision{Allow, Ask, Deny}[i%3], Scope: ScopeGlobal})
	}
	return rules
}

// benchCalls are calls as agents make them, in a folder that exists.
func benchCalls(dir string) []Call {
	call := func(tool, member, value string) Call {
		input, err := json.Marshal(map[string]string{member: value, "description": "what it is for"})
		if err != nil {
			panic(err)
		}
		return Call{Tool: tool, Input: input, Dir: dir, Now: testNow}
	}
	return []Call{
		call("Bash", "command", "git status --short"),
		call("Bash", "command", "cd src && go test ./... 2>&1 | tail -n 20"),
		call("Bash", "command", "rm -rf build"),
		call("Read", "file_path", filepath.Join(dir, "src/main.go")),
		call("Edit", "file_path", filepath.Join(dir, "src/main.go")),
		call("mcp__server7__get", "query", "open issues"),
	}
}

func benchEngine(b *testing.B, rules []Rule) (*Engine, string) {
	b.Helper()
	home := b.TempDir()
	dir := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o700); err != nil {
		b.Fatal(err)
	}
	e, err := New(&File{Rules: rules}, Options{Home: home, Own: []string{filepath.Join(home, "own")}})
	if err != nil {
		b.Fatal(err)
	}
	return e, dir
}

// BenchmarkDecide decides about a mixture of calls, links followed on the real
// file system, nothing kept from one call to the next. "200" has 200 rules,
// "2200" 2 000 more about other tools: they must not cost anything. One operation
// is one of each of the calls.
func BenchmarkDecide(b *testing.B) {
	for _, extra := range []int{0, 2000} {
		rules := benchRules()
		if len(rules) != 200 {
			b.Fatalf("there are %d rules, want 200", len(rules))
		}
		b.Run(fmt.Sprintf("rules=%d", 200+extra), func(b *testing.B) {
			e, dir := benchEngine(b, append(rules, otherRules(extra)...))
			calls := benchCalls(dir)
			b.ReportAllocs()
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				for _, c := range calls {
					e.Decide(c)
				}
				best = min(best, time.Since(start))
			}
			n := float64(len(calls))
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			// What it takes if nobody else wants the core: machines are shared.
			b.ReportMetric(n/best.Seconds(), "best-decisions/s")
		})
	}
}

// BenchmarkDecideKind shows what each kind of call costs.
func BenchmarkDecideKind(b *testing.B) {
	e, dir := benchEngine(b, benchRules())
	for i, c := range benchCalls(dir) {
		b.Run(fmt.Sprintf("%d-%s", i, c.Tool), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(c)
			}
		})
	}
}

// BenchmarkWith makes a session's engine.
func BenchmarkWith(b *testing.B) {
	e, _ := benchEngine(b, benchRules())
	session := []Rule{{Text: "Bash(make:*)", Decision: Allow}, {Text: "*", Decision: Allow, Expires: testNow}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.With(session); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkManyWords decides about commands with more and more words: the time
// for each word must stay about the same.
func BenchmarkManyWords(b *testing.B) {
	o := testOptions()
	o.Resolve = func(path string) (string, error) { return path, nil }
	e := engineOf(b, o, "allow Bash", "deny Read(~/.ssh/**)")
	for _, n := range []int{100, 1_000, 10_000} {
		var command strings.Builder
		command.WriteString(strings.Repeat("cd a;", 16) + "ls")
		for i := range n {
			fmt.Fprintf(&command, " %x", i+4096)
		}
		call := bash(command.String())
		b.Run(fmt.Sprintf("words=%d", n), func(b *testing.B) {
			for b.Loop() {
				e.Decide(call)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/word")
		})
	}
}

// BenchmarkWidens compares two versions of a file with many rules, which a hub
// does whenever the file changes: the time for each rule must stay about the same.
func BenchmarkWidens(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		file := &File{}
		for i := range n {
			file.Rules = append(file.Rules, Rule{Text: fmt.Sprintf("Bash(tool-%d:*)", i), Decision: Deny})
		}
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			for b.Loop() {
				if list := Widens(file, file); list != nil {
					b.Fatal(list)
				}
				if got := len(Narrowed(file, file).Rules); got != n {
					b.Fatalf("%d rules are left, want %d", got, n)
				}
			}
		})
	}
}
