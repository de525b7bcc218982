package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A decisionRow is one line of testdata/decisions*.tsv.
type decisionRow struct {
	file     string
	line     int
	rules    []string
	command  string
	decision Decision
	reason   string
}

// decisionRows reads the tables of decisions.
func decisionRows(t testing.TB) []decisionRow {
	t.Helper()
	files, err := filepath.Glob("testdata/decisions*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	var rows []decisionRow
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		scan := bufio.NewScanner(file)
		for line := 1; scan.Scan(); line++ {
			text := scan.Text()
			if text == "" || strings.HasPrefix(text, "#") {
				continue
			}
			cols := strings.Split(text, "\t")
			if len(cols) != 4 || cols[3] == "" {
				t.Fatalf("%s:%d: %d columns, want 4 that are not empty", name, line, len(cols))
			}
			row := decisionRow{file: name, line: line, rules: strings.Split(cols[0], " ; "), command: cols[1], reason: cols[3]}
			switch cols[2] {
			case "-":
			case "allow", "ask", "deny":
				row.decision = Decision(cols[2])
			default:
				t.Fatalf("%s:%d: %q is no decision", name, line, cols[2])
			}
			if quoted, ok := strings.CutPrefix(row.command, "q:"); ok {
				if row.command, err = strconv.Unquote(`"` + quoted + `"`); err != nil {
					t.Fatalf("%s:%d: %v", name, line, err)
				}
			}
			rows = append(rows, row)
		}
		if err := scan.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// TestDecisions runs the tables of decisions through the engine.
func TestDecisions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range decisionRows(t) {
		key := strings.Join(row.rules, ";") + "\x00" + row.command
		if seen[key] {
			t.Errorf("%s:%d: the row is there twice", row.file, row.line)
		}
		seen[key] = true
		d := documentedRules(t, row.rules)
		e, err := newEngine(d.file, testOptions())
		if err == nil {
			e, err = e.With(d.session)
		}
		if err != nil {
			t.Errorf("%s:%d: %v", row.file, row.line, err)
			continue
		}
		input, err := json.Marshal(map[string]string{"command": row.command})
		if err != nil {
			t.Fatal(err)
		}
		v := e.Decide(Call{Tool: "Bash", Input: input, Dir: testDir, Now: testNow})
		if v.Decision != row.decision || !strings.Contains(v.Reason, row.reason) {
			t.Errorf("%s:%d: %q by %q: %q (%s), want %q because %q", row.file, row.line, row.command, row.rules, v.Decision, v.Reason, row.decision, row.reason)
		}
		if !strings.HasSuffix(v.Reason, ".") || strings.ContainsAny(v.Reason, "\n\r\x00") {
			t.Errorf("%s:%d: the reason is no sentence: %q", row.file, row.line, v.Reason)
		}
	}
	t.Logf("%d rows", len(seen))
}
