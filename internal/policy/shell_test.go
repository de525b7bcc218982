package policy

import (
	"bufio"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// A shellRow is one line of testdata/shell.tsv.
type shellRow struct {
	line    int
	kind    string
	rules   []string
	command string
	reason  string
}

// shellRows reads the table of commands. Columns are separated by tabs: kind,
// rules (separated by " ; "), command, and a part of the reason. A command that
// begins with "q:" is written like a Go string without its quotes.
func shellRows(t testing.TB) []shellRow {
	t.Helper()
	file, err := os.Open("testdata/shell.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var rows []shellRow
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 1<<20)
	for line := 1; scan.Scan(); line++ {
		text := scan.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		cols := strings.Split(text, "\t")
		if len(cols) != 4 {
			t.Fatalf("shell.tsv:%d: %d columns, want 4", line, len(cols))
		}
		row := shellRow{line: line, kind: cols[0], command: cols[2], reason: cols[3]}
		if cols[1] != "" {
			row.rules = strings.Split(cols[1], " ; ")
		}
		if quoted, ok := strings.CutPrefix(row.command, "q:"); ok {
			if row.command, err = strconv.Unquote(`"` + quoted + `"`); err != nil {
				t.Fatalf("shell.tsv:%d: %v", line, err)
			}
		}
		rows = append(rows, row)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// compileRows compiles rules; "read-only" stands for the built-in set.
func compileRows(t testing.TB, texts []string) []*shellRule {
	t.Helper()
	rules := make([]*shellRule, len(texts))
	for i, text := range texts {
		if text == "read-only" {
			rules[i] = readOnlyShell()
			continue
		}
		r, err := compileShell(text)
		if err != nil {
			t.Fatalf("rule %q: %v", text, err)
		}
		rules[i] = r
	}
	return rules
}

// tablePaths is what the table's path rules allow: reading below the session's
// folder, writing below out.
func tablePaths(p string, write bool) bool {
	p = path.Clean(p)
	if rest, ok := strings.CutPrefix(p, "/home/me/project"); ok && (rest == "" || rest[0] == '/') {
		p = path.Clean("." + rest)
	}
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || p == ".." || strings.HasPrefix(p, "../") {
		return false
	}
	return !write || p == "out" || strings.HasPrefix(p, "out/")
}

func TestShellTable(t *testing.T) {
	counts := map[string]int{}
	seen := map[string]int{}
	for _, row := range shellRows(t) {
		counts[row.kind]++
		key := strings.Join(row.rules, ";") + "\x00" + row.kind + "\x00" + row.command
		if seen[key] > 0 {
			t.Errorf("shell.tsv:%d: the same as line %d", row.line, seen[key])
		}
		seen[key] = row.line
		t.Run(strconv.Itoa(row.line), func(t *testing.T) {
			rules := compileRows(t, row.rules)
			s := parseShell(row.command)
			switch row.kind {
			case "pass", "slip", "strict":
				which, ok, reason := s.allowed(rules, tablePaths)
				if ok != (row.kind == "pass") {
					t.Errorf("%q by %q: allowed = %v (%s)", row.command, row.rules, ok, reason)
				}
				if ok && len(which) == 0 || !ok && which != nil {
					t.Errorf("%q: which = %v with allowed = %v", row.command, which, ok)
				}
				wantSentence(t, row, reason)
			case "deny", "plain", "miss":
				hit, plain := false, false
				reason := ""
				for _, r := range rules {
					if ok, direct, why := s.matches(r); ok {
						hit, plain, reason = true, direct, why
						break
					}
				}
				if hit != (row.kind != "miss") || plain != (row.kind == "plain") {
					t.Errorf("%q against %q: matches = %v, direct = %v (%s)", row.command, row.rules, hit, plain, reason)
				}
				if hit {
					wantSentence(t, row, reason)
				}
			default:
				t.Errorf("unknown kind %q", row.kind)
			}
		})
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if total < 200 {
		t.Errorf("the table has %d rows, want at least 200", total)
	}
	if counts["slip"] < 100 {
		t.Errorf("%d rows try to slip past an allow rule, want at least 100", counts["slip"])
	}
	t.Logf("%d rows: %v", total, counts)
}

// wantSentence checks a reason: one sentence, on one line, that says what the
// row wants.
func wantSentence(t *testing.T, row shellRow, reason string) {
	t.Helper()
	if row.reason == "" || !strings.Contains(reason, row.reason) {
		t.Errorf("%q: the reason is %q, want %q in it", row.command, reason, row.reason)
	}
	if !strings.HasSuffix(reason, ".") || strings.ContainsAny(reason, "\n\r\x00") {
		t.Errorf("%q: the reason is no sentence: %q", row.command, reason)
	}
}
