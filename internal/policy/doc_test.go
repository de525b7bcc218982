package policy

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A row is one of the tables of docs/rules.md.
type row struct {
	line     int
	section  string
	rules    []string
	call     string
	decision Decision
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	codeRune = regexp.MustCompile(`\{U\+([0-9A-F]{4,6})\}`)
	cellEnd  = regexp.MustCompile(`(^|[^\\])\|`)
)

// documentedRows reads the tables whose head is "rules, call, decision, why".
func documentedRows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	section, in := "", false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			section = strings.TrimLeft(line, "# ")
		}
		if !strings.HasPrefix(line, "|") {
			in = false
			continue
		}
		if line == "| rules | call | decision | why |" {
			in = true
			continue
		}
		if !in || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(cellEnd.ReplaceAllString(strings.Trim(line, "|"), "$1\x00"), "\x00")
		if len(cells) != 4 {
			t.Fatalf("docs/rules.md:%d: the row has %d cells, want 4", i+1, len(cells))
		}
		r := row{line: i + 1, section: section, decision: Decision(strings.TrimSpace(cells[2]))}
		for _, m := range codeSpan.FindAllStringSubmatch(cells[0], -1) {
			r.rules = append(r.rules, uncode(m[1]))
		}
		calls := codeSpan.FindAllStringSubmatch(cells[1], -1)
		if len(calls) != 1 || len(r.rules) == 0 {
			t.Fatalf("docs/rules.md:%d: the row needs rules and one call", i+1)
		}
		r.call = uncode(calls[0][1])
		switch r.decision {
		case Allow, Ask, Deny, "":
		default:
			t.Fatalf("docs/rules.md:%d: %q is no decision", i+1, r.decision)
		}
		rows = append(rows, r)
	}
	return rows
}

func uncode(s string) string {
	s = strings.ReplaceAll(s, `\|`, "|")
	return codeRune.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[3:len(m)-1], 16, 32)
		return string(rune(n))
	})
}

// documented is the first column: a file, a session's rules and origin, and
// [Options.AutoApprove].
type documented struct {
	file        *File
	session     []Rule
	origin      Origin
	autoApprove []string
}

// documentedRules reads the first column.
func documentedRules(t *testing.T, texts []string) documented {
	t.Helper()
	f := &File{Name: "rules.md"}
	d := documented{file: f}
	for _, text := range texts {
		if origin, ok := strings.CutSuffix(text, " session"); ok {
			d.origin = Origin(origin)
			continue
		}
		if text, ok := strings.CutPrefix(text, "auto_approve "); ok {
			d.autoApprove = append(d.autoApprove, text)
			continue
		}
		if set, ok := strings.CutPrefix(text, "set "); ok {
			f.Sets = append(f.Sets, set)
			continue
		}
		if set, ok := strings.CutPrefix(text, "unauthenticated set "); ok {
			f.UnauthenticatedSets = append(f.UnauthenticatedSets, set)
			continue
		}
		r := Rule{Scope: ScopeGlobal, Source: "rules.md"}
		if rest, ok := strings.CutPrefix(text, "unauthenticated "); ok {
			r.Scope, text = ScopeUnauthenticated, rest
		}
		if rest, ok := strings.CutPrefix(text, "in "); ok {
			r.Scope = ScopeFolder
			r.Folder, text, _ = strings.Cut(rest, " ")
		}
		if rest, ok := strings.CutPrefix(text, "session "); ok {
			r.Scope, text = ScopeSession, rest
		}
		decision, rest, _ := strings.Cut(text, " ")
		if before, clock, ok := strings.Cut(rest, " until "); ok {
			end, err := time.Parse("15:04", clock)
			if err != nil {
				t.Fatal(err)
			}
			rest, r.Expires = before, testNow.Truncate(24*time.Hour).Add(time.Duration(end.Hour())*time.Hour+time.Duration(end.Minute())*time.Minute)
		}
		r.Text, r.Decision = rest, Decision(decision)
		if r.Scope == ScopeSession {
			d.session = append(d.session, r)
			continue
		}
		f.Rules = append(f.Rules, r)
	}
	return d
}

// documentedCall turns the second column into a call.
func documentedCall(t *testing.T, text string) Call {
	t.Helper()
	tool, about, _ := strings.Cut(text, " ")
	c := Call{Tool: tool, Dir: testDir, AddDirs: []string{testExtra}, Now: testNow}
	if strings.HasPrefix(about, "{") && strings.HasSuffix(about, "}") && strings.Contains(about, `"`) {
		c.Input = json.RawMessage(about)
		if !json.Valid(c.Input) {
			t.Fatalf("%s is no JSON", about)
		}
		return c
	}
	member := map[string]string{
		"Bash": "command", "Read": "file_path", "Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path",
		"NotebookEdit": "notebook_path", "NotebookRead": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path",
		"WebFetch": "url", "WebSearch": "query", "Agent": "subagent_type", "Task": "subagent_type", "Skill": "skill",
		ToolNetwork: "host",
	}[tool]
	if member == "" {
		member = "x"
	}
	input, err := json.Marshal(map[string]string{member: about})
	if err != nil {
		t.Fatal(err)
	}
	c.Input = input
	return c
}

func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	rows := documentedRows(t)
	if len(rows) < 60 {
		t.Fatalf("docs/rules.md has %d rows, want at least 60", len(rows))
	}
	for _, r := range rows {
		d := documentedRules(t, r.rules)
		options := testOptions()
		options.FoldCase, options.AutoApprove = r.section == "On macOS", d.autoApprove
		engine, err := newEngine(d.file, options)
		if err != nil {
			t.Errorf("docs/rules.md:%d: %v", r.line, err)
			continue
		}
		engine = engine.For(d.origin)
		if len(d.session) > 0 {
			if engine, err = engine.With(d.session); err != nil {
				t.Errorf("docs/rules.md:%d: %v", r.line, err)
				continue
			}
		}
		v := engine.Decide(documentedCall(t, r.call))
		if v.Decision != r.decision {
			t.Errorf("docs/rules.md:%d: %s, %s: %q, want %q; reason: %s", r.line, strings.Join(r.rules, ", "), r.call, v.Decision, r.decision, v.Reason)
		}
		checkVerdict(t, r, v)
	}
}

// checkVerdict checks what holds for every verdict.
func checkVerdict(t *testing.T, r row, v Verdict) {
	t.Helper()
	if !strings.HasSuffix(v.Reason, ".") || strings.Contains(v.Reason, "..") && !strings.Contains(r.call, "..") || strings.Contains(v.Reason, "\n") {
		t.Errorf("docs/rules.md:%d: the reason is no sentence: %q", r.line, v.Reason)
	}
	if (v.Decision == "") != (v.Rule == nil) || (v.Decision == "") != (v.Enforced == "") {
		t.Errorf("docs/rules.md:%d: %+v", r.line, v)
	}
	if (v.Decision == Deny) != (v.Message != "") {
		t.Errorf("docs/rules.md:%d: decision %q, message %q", r.line, v.Decision, v.Message)
	}
	if v.Rule != nil && v.Rule.Decision != v.Decision {
		t.Errorf("docs/rules.md:%d: the rule %s says %q, the verdict %q", r.line, v.Rule.Text, v.Rule.Decision, v.Decision)
	}
	if v.Decision == Allow && v.Enforced != EnforcedHub {
		t.Errorf("docs/rules.md:%d: an allow rule is enforced by %q", r.line, v.Enforced)
	}
}
