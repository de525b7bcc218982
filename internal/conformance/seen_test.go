package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRareTable holds the tables of the documentation to the rows: each row that they name exists, and each event has its line.
func TestRareTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Rare lines and events\n")
	if !found {
		t.Fatal("docs/testing.md has no section about rare lines and events")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	ids := map[string]bool{}
	for _, sc := range scenarios() {
		ids[sc.ID] = true
	}
	row := regexp.MustCompile("^\\| (.*?) \\| .* \\| `([^`]*)` \\|$")
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		columns := row.FindStringSubmatch(strings.TrimSpace(line))
		if columns == nil {
			continue
		}
		if !ids[columns[2]] {
			t.Errorf("there is no row %s: %s", columns[2], line)
		}
		for name := range strings.SplitSeq(columns[1], ", ") {
			listed[name] = true
		}
	}
	for _, event := range hookEvents() {
		if !listed[event] {
			t.Errorf("the table lacks the event %s", event)
		}
	}
}
