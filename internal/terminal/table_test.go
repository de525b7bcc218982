package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// people is a table with a column of each kind.
func people(rows ...[]string) *Table {
	t := NewTable(Column{Title: "ID"}, Column{Title: "COST", Right: true}, Column{Title: "MODEL", Optional: true}, Column{Title: "FOLDER", Least: 6, Tail: true}, Column{Title: "TITLE", Least: 5})
	for _, row := range rows {
		var cells []Cell
		for _, text := range row {
			cells = append(cells, Cell{Text: text})
		}
		t.Row(cells...)
	}
	return t
}

func TestTable(t *testing.T) {
	rows := [][]string{
		{"s5k2", "$0.10", "opus", "/home/me/src/blog", "Mend the slugs of all posts"},
		{"sab", "$12.00", "", "/tmp", ""},
		{"szz", "", "haiku", "~", "漢字 in a title\nof two lines \x1b[2J"},
	}
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, `
ID      COST  MODEL  FOLDER             TITLE
s5k2   $0.10  opus   /home/me/src/blog  Mend the slugs of all posts
sab   $12.00  -      /tmp               -
szz        -  haiku  ~                  漢字 in a title of two lines ␛[2J`},
		{60, `
ID      COST  MODEL  FOLDER             TITLE
s5k2   $0.10  opus   /home/me/src/blog  Mend the slugs of a…
sab   $12.00         /tmp
szz           haiku  ~                  漢字 in a title of …`},
		{44, `
ID      COST  MODEL  FOLDER      TITLE
s5k2   $0.10  opus   …/src/blog  Mend the s…
sab   $12.00         /tmp
szz           haiku  ~           漢字 in a …`},
		{30, `
ID      COST  FOLDER   TITLE
s5k2   $0.10  …c/blog  Mend t…
sab   $12.00  /tmp
szz           ~        漢字 i…`},
		{20, `
ID      COST  FOLDE…
s5k2   $0.10  …/blo…
sab   $12.00  /tmp
szz           ~    …`},
	} {
		t.Run(fmt.Sprint(test.width), func(t *testing.T) {
			s := paint.Profile{Width: test.width}.Styles()
			got := people(rows...).Lines(s, true)
			for _, line := range got {
				if test.width > 0 && paint.Width(line) > test.width {
					t.Errorf("%q is %d columns wide", line, paint.Width(line))
				}
			}
			if diff := cmp.Diff(test.want, "\n"+strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTableWidths tries every width: no line is ever wider, and what fits is not cut.
func TestTableWidths(t *testing.T) {
	table := people([]string{"s5k2", "$0.10", "opus", "/home/me/src/blog", "Mend the slugs"}, []string{"sab", "$1", "sonnet", "/a", "漢字漢字漢字漢字漢字"})
	for width := 1; width < 100; width++ {
		for _, line := range table.Lines(paint.Profile{Width: width}.Styles(), true) {
			if got := paint.Width(line); got > width {
				t.Errorf("width %d: %q has %d", width, line, got)
			}
			if width > 65 && strings.Contains(line, "…") {
				t.Errorf("width %d: cut without need: %q", width, line)
			}
		}
	}
}

func TestTableEmpty(t *testing.T) {
	if lines := people().Lines(paint.Profile{}.Styles(), true); len(lines) != 0 {
		t.Errorf("a table without rows has %q", lines)
	}
	if lines := people([]string{"a"}).Lines(paint.Profile{}.Styles(), false); len(lines) != 1 || lines[0] != "a  -  -  -  -" {
		t.Errorf("without headings: %q", lines)
	}
}

// TestTableOfMegabytes has texts of ten megabytes in it, which an agent can bring about: they are cut before they are measured again and again.
func TestTableOfMegabytes(t *testing.T) {
	long := strings.Repeat("x/", 5<<20)
	table := people([]string{"s5k2", "$0.10", "opus", long, long + "end"})
	lines := table.Lines(paint.Profile{Width: 80}.Styles(), true)
	if len(lines) != 2 || paint.Width(lines[1]) > 80 || !strings.Contains(lines[1], "…") {
		t.Errorf("%d lines", len(lines))
	}
}

// TestSessionsFailed tells people and programs which sessions have failed, as a state of its own.
func TestSessionsFailed(t *testing.T) {
	list := []api.SessionSummary{{ID: "sbad", State: api.StateIdle, Failed: true}, {ID: "sgood", State: api.StateIdle}}
	for _, test := range []struct {
		terminal bool
		want     []string
	}{
		{true, []string{"failed", "idle"}},
		{false, []string{"failed", "idle"}},
	} {
		v := &View{Styles: paint.Profile{}.Styles(), Terminal: test.terminal}
		var got []string
		for _, line := range v.Sessions(list) {
			got = append(got, strings.TrimSpace(strings.Join(strings.Fields(line)[1:], " ")))
		}
		for i, want := range test.want {
			if !strings.HasPrefix(got[i], want) || strings.Contains(got[i], "failed") != strings.Contains(want, "failed") {
				t.Errorf("terminal %t: %q, want it to begin with %q", test.terminal, got[i], want)
			}
		}
	}
}

// TestUnauthenticated holds that lists and snapshots mark a session whose agent dialed in
// without a token, however narrow the terminal.
func TestUnauthenticated(t *testing.T) {
	list := []api.SessionSummary{{ID: "s1", Title: strings.Repeat("long ", 20), Unauthenticated: true}, {ID: "s2", Title: "other"}}
	for _, width := range []int{0, 60} {
		for _, terminal := range []bool{false, true} {
			v := &View{Styles: paint.Profile{Width: width}.Styles(), Terminal: terminal}
			if text := strings.Join(v.Sessions(list), "\n"); strings.Count(text, "[unauthenticated]") != 1 {
				t.Errorf("%d columns, terminal %v:\n%s", width, terminal, text)
			}
		}
	}
	v := &View{Styles: paint.Profile{}.Styles()}
	text := strings.Join(v.Session(&api.Session{ID: "s1", Transport: "websocket", Unauthenticated: true, Runner: "env-runner 7\x1b[2J"}), "\n")
	if !strings.Contains(text, "by websocket, unauthenticated") || !strings.Contains(text, "runner       env-runner 7") || strings.Contains(text, "\x1b[2J") {
		t.Errorf("the snapshot is\n%s", text)
	}
	if text := strings.Join(v.Session(&api.Session{ID: "s2", Transport: "websocket"}), "\n"); strings.Contains(text, "unauthenticated") || strings.Contains(text, "runner") {
		t.Errorf("one with a token is\n%s", text)
	}
}
