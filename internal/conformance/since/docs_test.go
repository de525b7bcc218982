package since

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// TestDocs holds the versions in the tables of requests and hooks of docs/sdk-parity.md, and those of the fields of claude.Hooks, against the
// table of features.
func TestDocs(t *testing.T) {
	read := func(path ...string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	names := map[string]Feature{}
	for _, f := range Features() {
		if f.Kind == wire.FeatureRequest || f.Kind == wire.FeatureHook {
			names[f.Name] = f
		}
	}
	seen := map[string]bool{}
	check := func(where, name, told string) {
		f := names[name]
		seen[f.Key()] = true
		first := wire.FeatureOf(f.Kind, f.Name).Since
		want := "since " + first.String()
		switch {
		case first.IsZero():
			want = "no version"
		case first.Compare(patch(37)) <= 0:
			want = ""
		}
		if told = strings.ToLower(told); want != "" && !strings.Contains(told+" ", want) || want == "" && strings.Contains(told, "since 2.") {
			t.Errorf("%s: %s: %q, want %q in it", where, name, told, want)
		}
	}
	for line := range strings.SplitSeq(read("docs", "sdk-parity.md"), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			continue
		}
		name := strings.TrimPrefix(cells[0], "| ")
		if _, ok := names[name]; ok && (strings.Contains(cells[1], "`Hooks.") || strings.Contains(cells[1], "`Session.") || strings.Contains(cells[1], "Request`")) {
			check("docs/sdk-parity.md", name, cells[2])
		}
	}
	for key := range names {
		if f := names[key]; !seen[f.Key()] {
			t.Errorf("docs/sdk-parity.md has no row of %s", f.Key())
		}
	}
	fields := regexp.MustCompile(`(?m)((?:^\t// .*\n)+)\t(\w+) +\[\]Hook\[`).FindAllStringSubmatch(read("claude", "hook_events.go"), -1)
	if len(fields) != 33 {
		t.Errorf("found %d hooks in claude/hook_events.go", len(fields))
	}
	for _, field := range fields {
		check("claude/hook_events.go", field[2], strings.Join(strings.Fields(strings.ReplaceAll(field[1], "//", "")), " "))
	}
}
