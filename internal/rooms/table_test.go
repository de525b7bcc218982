package rooms

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the module that the rooms are in.
const module = "github.com/switchboard-dev/switchboard"

// A room is a package, or a few that belong together, and what it may import
// beside the standard library and its own packages.
type room struct {
	// path is the room's folder below the module's root. A folder named
	// internal inside it belongs to it; "/..." at the end takes in everything
	// below. The longest path that fits a package is its room.
	path string
	// rooms are the other rooms that its code may import.
	rooms []string
	// modules are the modules of other people that its code may import.
	modules []string
	// tests are further rooms that only its test files may import.
	tests []string
}

// table is the import table. A room stands below every room that it imports. It
// holds the rooms that exist: a new one is added with its first file, here and
// in docs/architecture.md, where the rooms to come are listed with what they
// will be allowed.
var table = []room{
	{path: "internal/broadcast"},
	{path: "wire"},
	{path: "wire/internal/gen"},
	{path: "wire/fold", rooms: []string{"wire"}},
	{path: "claude/claudetest", rooms: []string{"wire"}, modules: []string{"github.com/coder/websocket"}},
	{
		path: "claude", rooms: []string{"internal/broadcast", "wire", "wire/fold"},
		modules: []string{"golang.org/x/sys"},
		tests:   []string{"claude/claudetest"},
	},
	{
		path: "claude/claudews", rooms: []string{"claude", "internal/broadcast", "wire"},
		modules: []string{"github.com/coder/websocket"},
		tests:   []string{"claude/claudetest"},
	},
	{
		path: "claude/claudemcp", rooms: []string{"claude", "wire"},
		modules: []string{"github.com/modelcontextprotocol/go-sdk"},
		tests:   []string{"claude/claudetest"},
	},
	{path: "claude/storetest", rooms: []string{"claude"}},
	{
		path:    "internal/conformance/...",
		rooms:   []string{"claude", "claude/claudemcp", "claude/claudetest", "claude/claudews", "wire", "wire/fold"},
		modules: []string{"github.com/coder/websocket"},
	},
	{path: "internal/queue"},
	{path: "internal/killpoint"},
	{path: "internal/trust"},
	{path: "internal/units"},
	{path: "api", rooms: []string{"wire"}},
	{path: "client", rooms: []string{"api", "wire"}},
	{path: "internal/transcript/...", rooms: []string{"api", "internal/units", "wire", "wire/fold"}},
	{path: "internal/link", rooms: []string{"wire"}},
	{
		path: "internal/journal/...", rooms: []string{"internal/killpoint", "internal/trust", "wire", "wire/fold"},
		modules: []string{"modernc.org/sqlite", "modernc.org/libc", "github.com/google/go-cmp"},
	},
	{
		path: "internal/policy", rooms: []string{"wire"},
		modules: []string{"github.com/bmatcuk/doublestar/v4", "github.com/pelletier/go-toml/v2", "mvdan.cc/sh/v3"},
	},
	{
		path: "internal/sandbox/...", rooms: []string{"wire"},
		modules: []string{"github.com/bmatcuk/doublestar/v4", "github.com/landlock-lsm/go-landlock", "github.com/things-go/go-socks5", "golang.org/x/sys"},
	},
	{path: "internal/audit", rooms: []string{"api", "internal/policy", "wire"}},
	{path: "internal/record", rooms: []string{"api", "internal/journal/...", "wire", "wire/fold"}},
	{path: "internal/answer", rooms: []string{"api", "internal/journal/...", "internal/policy", "internal/record", "wire"}},
	{path: "internal/budget", rooms: []string{"api", "internal/journal/...", "internal/record", "wire", "wire/fold"}},
	{
		path:  "internal/report",
		rooms: []string{"api", "internal/audit", "internal/budget", "internal/journal/...", "internal/policy", "internal/record", "internal/transcript/...", "wire", "wire/fold"},
	},
	{
		path:  "internal/hub",
		rooms: []string{"api", "internal/answer", "internal/broadcast", "internal/budget", "internal/journal/...", "internal/killpoint", "internal/link", "internal/policy", "internal/record", "internal/sandbox/...", "wire", "wire/fold"},
		tests: []string{"claude/claudetest", "internal/report"},
	},
	{
		path: "internal/shim", rooms: []string{"api", "claude", "internal/killpoint", "internal/link", "internal/sandbox/...", "wire"},
		modules: []string{"github.com/coder/websocket", "golang.org/x/sys"},
		tests:   []string{"claude/claudetest"},
	},
	{
		path: "internal/launch", rooms: []string{"api", "claude", "internal/link", "internal/sandbox/...", "internal/shim", "wire"},
		modules: []string{"golang.org/x/sys"},
		tests:   []string{"claude/claudetest"},
	},
	{path: "internal/node", rooms: []string{"api", "internal/sandbox/...", "wire"}},
	{path: "internal/uplink", rooms: []string{"client", "internal/killpoint"}, modules: []string{"github.com/coder/websocket"}},
	{path: "internal/disk", rooms: []string{"api", "claude", "internal/launch", "internal/report"}, tests: []string{"internal/journal/...", "wire"}},
	{path: "internal/config", rooms: []string{"api", "internal/trust", "wire"}, modules: []string{"github.com/pelletier/go-toml/v2"}},
	{path: "internal/rulefile", rooms: []string{"api", "internal/config", "internal/policy"}},
	{
		path:  "internal/server/servertest",
		rooms: []string{"api", "claude/claudetest", "internal/broadcast", "internal/hub", "internal/journal/...", "internal/link", "internal/report", "internal/rulefile", "wire"},
	},
	{
		path:    "internal/server/...",
		rooms:   []string{"api", "claude", "claude/claudews", "internal/broadcast", "internal/hub", "internal/killpoint", "internal/link", "internal/node", "internal/queue", "internal/report", "internal/trust", "wire", "wire/fold"},
		modules: []string{"github.com/coder/websocket", "github.com/danielgtaylor/huma/v2", "github.com/prometheus/client_golang", "golang.org/x/sys", "rsc.io/qr"},
		tests:   []string{"claude/claudetest", "internal/journal/...", "internal/server/servertest", "internal/shim"},
	},
	{
		path: "internal/nodeagent",
		rooms: []string{
			"api", "client", "internal/disk", "internal/killpoint", "internal/launch", "internal/link", "internal/node", "internal/policy", "internal/report", "internal/sandbox/...", "internal/server/...",
			"internal/uplink",
		},
		modules: []string{"github.com/coder/websocket"},
		tests:   []string{"claude/claudetest", "internal/shim"},
	},
	{path: "internal/apigen", rooms: []string{"internal/server/..."}},
	{path: "internal/notify"},
	{
		path: "internal/server",
		rooms: []string{
			"api", "client", "internal/budget", "internal/disk", "internal/hub", "internal/journal/...", "internal/launch", "internal/link", "internal/node", "internal/notify", "internal/policy", "internal/report", "internal/rulefile",
			"internal/sandbox/...", "internal/server/...", "wire",
		},
		modules: []string{"github.com/coder/websocket"},
		tests:   []string{"claude/claudetest", "internal/nodeagent", "internal/shim"},
	},
	{path: "internal/naming", rooms: []string{"api"}},
	{path: "internal/hubstart", rooms: []string{"api", "client", "internal/trust"}, modules: []string{"golang.org/x/sys"}},
	{path: "internal/doctor", rooms: []string{"api", "client", "internal/launch", "internal/sandbox/...", "internal/trust", "wire"}, modules: []string{"golang.org/x/sys"}},
	{path: "internal/terminal/termtest", modules: []string{"charm.land/bubbletea/v2", "github.com/charmbracelet/x/ansi", "github.com/creack/pty"}},
	{
		path: "internal/terminal/...", rooms: []string{"api", "client", "internal/transcript/...", "internal/units", "wire"},
		modules: []string{
			"charm.land/bubbletea/v2", "charm.land/lipgloss/v2", "github.com/aymanbagabas/go-udiff", "github.com/charmbracelet/x/ansi",
			"github.com/yuin/goldmark", "golang.org/x/term",
		},
		tests: []string{"internal/terminal/termtest"},
	},
	{
		path:    "internal/terminal",
		rooms:   []string{"api", "client", "internal/audit", "internal/naming", "internal/policy", "internal/terminal/...", "internal/transcript/...", "internal/units", "wire"},
		modules: []string{"charm.land/lipgloss/v2"},
	},
	{path: "web"},
	{
		path: "cmd/switchboard",
		rooms: []string{
			"api", "claude", "claude/claudetest", "client", "internal/audit", "internal/budget", "internal/config", "internal/doctor", "internal/hub", "internal/hubstart",
			"internal/journal/...", "internal/launch", "internal/naming", "internal/node", "internal/nodeagent", "internal/notify", "internal/policy", "internal/sandbox/...",
			"internal/server", "internal/server/...", "internal/shim", "internal/terminal", "internal/terminal/...", "internal/transcript/...", "internal/units", "internal/uplink",
			"web", "wire",
		},
		modules: []string{"github.com/spf13/cobra", "golang.org/x/term"},
		tests:   []string{"internal/terminal/termtest"},
	},
	{
		path: "internal/e2e",
		rooms: []string{
			"api", "claude", "claude/claudetest", "client", "internal/conformance/...", "internal/hub", "internal/journal/...", "internal/link", "internal/node",
			"internal/terminal/...", "internal/terminal/termtest", "wire", "wire/fold",
		},
		modules: []string{"github.com/coder/websocket", "golang.org/x/sys"},
	},
	{path: "internal/testrun"},
	{path: "internal/rooms"},
}

// testModules are the modules that the tests of every room may import. They are
// no part of a program that uses ours.
var testModules = []string{
	"github.com/creack/pty",
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"go.uber.org/goleak",
}

// owns says whether the package in folder dir belongs to the room.
func (r room) owns(dir string) bool {
	base, all := strings.CutSuffix(r.path, "/...")
	return dir == base || strings.HasPrefix(dir, base+"/internal/") || all && strings.HasPrefix(dir, base+"/")
}

// roomOf returns the room of the package in folder dir.
func roomOf(table []room, dir string) (room, bool) {
	var best room
	found := false
	for _, r := range table {
		if r.path == dir {
			return r, true // its own row, although the rows of those below it may take it in
		}
		if r.owns(dir) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// checkTable says what is wrong with the table itself: rooms that import each
// other in a circle, or do not exist.
func checkTable(table []room, packages []pkg) []string {
	var wrong []string
	var above []string
	for _, r := range table {
		for _, other := range slices.Concat(r.rooms, r.tests) {
			if !slices.Contains(above, other) {
				wrong = append(wrong, fmt.Sprintf("room %s may import %s, which does not stand above it in the table; imports point one way", r.path, other))
			}
		}
		above = append(above, r.path)
		lived := slices.ContainsFunc(packages, func(p pkg) bool {
			owner, found := roomOf(table, p.dir)
			return found && owner.path == r.path
		})
		if !lived {
			wrong = append(wrong, fmt.Sprintf("room %s has no package; take it out of the table until it has", r.path))
		}
	}
	return wrong
}

// checkImports says which imports the table does not allow, and which packages
// it does not know.
func checkImports(table []room, packages []pkg) []string {
	var wrong []string
	for _, p := range packages {
		r, found := roomOf(table, p.dir)
		if !found {
			wrong = append(wrong, fmt.Sprintf("%s is in no room: put its files into the room they belong to, or add a room with what it may import to table in internal/rooms/table_test.go and to docs/architecture.md", p.dir))
			continue
		}
		for _, f := range p.files {
			for _, path := range f.imports {
				if why := r.refuses(table, path, f.test()); why != "" {
					wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", f.path, path, why))
				}
			}
		}
	}
	return wrong
}

// refuses says why a file of the room may not import path, or nothing if it
// may.
func (r room) refuses(table []room, path string, test bool) string {
	if path == "C" {
		return "no cgo, the program must build without a C compiler"
	}
	if dir, ours := strings.CutPrefix(path, module+"/"); ours {
		other, found := roomOf(table, dir)
		if !found {
			return "that package is in no room"
		}
		if other.path == r.path || slices.Contains(r.rooms, other.path) || test && slices.Contains(r.tests, other.path) {
			return ""
		}
		return fmt.Sprintf("room %s may import %s", r.path, orNothing(r.rooms, "no other room"))
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	allowed := r.modules
	if test {
		allowed = slices.Concat(allowed, testModules)
	}
	for _, m := range allowed {
		if path == m || strings.HasPrefix(path, m+"/") {
			return ""
		}
	}
	return fmt.Sprintf("room %s may use %s", r.path, orNothing(allowed, "the standard library only"))
}

// orNothing joins names, or says otherwise if there are none.
func orNothing(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	return strings.Join(names, ", ")
}

// codeSpan is a name between back quotes in Markdown.
var codeSpan = regexp.MustCompile("`([^`]+)`")

// readTable reads the import table out of docs/architecture.md: the rows below
// the heading "Rooms", with the columns room, what lives there, may import,
// other modules, tests also.
func readTable(markdown string) []room {
	_, section, _ := strings.Cut("\n"+markdown, "\n## Rooms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rooms []room
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		names := func(cell string) []string {
			var list []string
			for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
				list = append(list, m[1])
			}
			return list
		}
		if path := names(cells[0]); len(path) == 1 {
			rooms = append(rooms, room{path: path[0], rooms: names(cells[2]), modules: names(cells[3]), tests: names(cells[4])})
		}
	}
	return rooms
}

// compareTables says where the table for people differs from the one that is
// enforced.
func compareTables(enforced, written []room) []string {
	var wrong []string
	describe := func(r room) string {
		return fmt.Sprintf("imports %s; modules %s; tests also %s", sorted(r.rooms), sorted(r.modules), sorted(r.tests))
	}
	find := func(list []room, path string) (room, bool) {
		i := slices.IndexFunc(list, func(r room) bool { return r.path == path })
		if i < 0 {
			return room{}, false
		}
		return list[i], true
	}
	for _, r := range enforced {
		w, found := find(written, r.path)
		switch {
		case !found:
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md has no row for room %s", r.path))
		case describe(w) != describe(r):
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md says of room %s: %s; enforced is: %s", r.path, describe(w), describe(r)))
		}
	}
	for _, w := range written {
		if _, found := find(enforced, w.path); !found {
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md has a row for %s, which the enforced table does not know", w.path))
		}
	}
	return wrong
}

// sorted writes names in one order, so that only their set matters.
func sorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

func TestImports(t *testing.T) {
	packages := load(t, repository())
	if len(packages) == 0 {
		t.Fatal("found no packages, the walk over the repository must be broken")
	}
	report(t, checkTable(table, packages))
	report(t, checkImports(table, packages))
}

func TestArchitectureSaysTheSame(t *testing.T) {
	report(t, compareTables(table, readTable(read(t, repository(), "docs/architecture.md"))))
}

func TestImportsNotices(t *testing.T) {
	rooms := []room{
		{path: "low"},
		{path: "helper", rooms: []string{"low"}},
		{path: "high", rooms: []string{"low"}, modules: []string{"example.com/dep"}, tests: []string{"helper"}},
		{path: "wide/..."},
	}
	tests := []struct {
		name, file, source string
		want               string // part of the complaint; empty for none
	}{
		{"standard library", "low/a.go", `package low; import "net/http"`, ""},
		{"downward", "high/a.go", `package high; import "` + module + `/low"`, ""},
		{"upward", "low/a.go", `package low; import "` + module + `/high"`, "room low may import no other room"},
		{"sideways", "high/a.go", `package high; import "` + module + `/helper"`, "room high may import low"},
		{"helper in a test", "high/a_test.go", `package high; import "` + module + `/helper"`, ""},
		{"helper in an external test", "high/a_test.go", `package high_test; import ("` + module + `/helper"; "` + module + `/high")`, ""},
		{"upward in a test", "low/a_test.go", `package low_test; import "` + module + `/high"`, "room low may import no other room"},
		{"its own internal", "low/a.go", `package low; import "` + module + `/low/internal/x"`, ""},
		{"inside its internal", "low/internal/x/a.go", `package x; import "` + module + `/high"`, "room low may import no other room"},
		{"below a wide room", "wide/cmd/tool/a.go", `package main; import "` + module + `/wide"`, ""},
		{"its module", "high/a.go", `package high; import "example.com/dep/part"`, ""},
		{"a module with a similar name", "high/a.go", `package high; import "example.com/dependency"`, "may use example.com/dep"},
		{"a module elsewhere", "low/a.go", `package low; import "example.com/dep"`, "the standard library only"},
		{"x is not the standard library", "low/a.go", `package low; import "golang.org/x/sys/unix"`, "the standard library only"},
		{"test module in a test", "low/a_test.go", `package low; import "github.com/google/go-cmp/cmp"`, ""},
		{"test module in code", "low/a.go", `package low; import "go.uber.org/goleak"`, "the standard library only"},
		{"cgo", "low/a.go", `package low; import "C"`, "no cgo"},
		{"cgo on another system", "low/a_windows.go", "//go:build windows && never\n\npackage low\n\nimport \"C\"", "no cgo"},
		{"no room", "other/a.go", `package other`, "other is in no room"},
		{"into no room", "low/a.go", `package low; import "` + module + `/nowhere"`, "that package is in no room"},
		{"hidden among data", "low/testdata/a.go", `package data; import "C"`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = append(want, test.want)
			}
			expect(t, checkImports(rooms, load(t, tree{test.file: test.source}.files())), want...)
		})
	}
}

func TestTableNotices(t *testing.T) {
	packages := []pkg{{dir: "low"}, {dir: "high"}}
	t.Run("sound", func(t *testing.T) {
		expect(t, checkTable([]room{{path: "low"}, {path: "high", rooms: []string{"low"}}}, packages))
	})
	t.Run("upward", func(t *testing.T) {
		expect(t, checkTable([]room{{path: "low", rooms: []string{"high"}}, {path: "high"}}, packages), "does not stand above it")
	})
	t.Run("upward in tests", func(t *testing.T) {
		expect(t, checkTable([]room{{path: "low", tests: []string{"high"}}, {path: "high"}}, packages), "does not stand above it")
	})
	t.Run("empty room", func(t *testing.T) {
		expect(t, checkTable([]room{{path: "low"}, {path: "high"}, {path: "attic"}}, packages), "room attic has no package")
	})
	t.Run("room with only a corner of its own", func(t *testing.T) {
		expect(t, checkTable([]room{{path: "low"}, {path: "low/internal/gen"}, {path: "high"}}, packages), "room low/internal/gen has no package")
	})
}

func TestArchitectureNotices(t *testing.T) {
	const written = "# Architecture\n\n## Rooms\n\n| room | what | may import | modules | tests |\n| --- | --- | --- | --- | --- |\n" +
		"| `low` | things | - | - | - |\n| `high` | `more` things | `low` | `example.com/dep` | - |\n\n## Rooms to come\n\n| `later` | things | - | - | - |\n"
	low := room{path: "low"}
	high := room{path: "high", rooms: []string{"low"}, modules: []string{"example.com/dep"}}
	rows := readTable(written)
	t.Run("same", func(t *testing.T) { expect(t, compareTables([]room{low, high}, rows)) })
	t.Run("row missing", func(t *testing.T) {
		expect(t, compareTables([]room{low, high, {path: "attic"}}, rows), "has no row for room attic")
	})
	t.Run("row too many", func(t *testing.T) { expect(t, compareTables([]room{low}, rows), "has a row for high") })
	t.Run("other imports", func(t *testing.T) {
		expect(t, compareTables([]room{low, {path: "high", modules: high.modules}}, rows), "says of room high")
	})
	t.Run("other modules", func(t *testing.T) {
		expect(t, compareTables([]room{low, {path: "high", rooms: high.rooms}}, rows), "says of room high")
	})
}
