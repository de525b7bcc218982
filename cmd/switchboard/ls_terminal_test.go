package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// evil is what an agent may write: it would set the title, ring, fill the clipboard, clear the screen, turn texts around and leave colours behind.
const evil = "\x1b]0;owned\x07\a\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1b[H\u202egnp.exe\u202c \u009b31m漢字👩‍👩‍👧 \x1bP1$r\x1b\\ end"

// looking is a hub with two sessions, one of which asks something, both with titles and texts that are hostile.
type looking struct {
	t        *testing.T
	env      []string
	ids      map[string]string
	folders  map[string]string
	program  string
	c        *client.Client
	one, two string
}

// newLooking starts it.
func newLooking(t *testing.T) *looking {
	t.Helper()
	dir := filepath.Join(shortDir(t), "d")
	hub := serve(t, dir, environment(t), "--agent", "sim", "--stop-agents")
	t.Cleanup(func() { hub.end() })
	c, err := client.New(&client.Options{Socket: hub.socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Not below TMPDIR, which may be long: where lines break depends on it.
	home, err := os.MkdirTemp("/tmp", "sb-home") //nolint:usetesting // t.TempDir is below TMPDIR
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	l := &looking{
		t: t, env: environment(t, "HOME="+home, "SWITCHBOARD_DATA_DIR="+dir, "TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC"), program: program, c: c,
		ids: map[string]string{}, folders: map[string]string{project: "$PROJECT", dir: "$DATA"},
	}
	text, err := json.Marshal("zebra " + evil)
	if err != nil {
		t.Fatal(err)
	}
	l.one = l.create(project, "Mend "+evil, "@say "+string(text))
	l.wait(l.one, api.StateIdle)
	input, err := json.Marshal(map[string]string{"command": "make " + evil, "description": evil})
	if err != nil {
		t.Fatal(err)
	}
	l.two = l.create(project, "Tidy up", "@tool Bash "+string(input)+"\n@say done")
	l.wait(l.two, api.StateRequiresAction)
	l.ids[l.one], l.ids[l.two] = "ONE", "TWO"
	return l
}

// create makes a session.
func (l *looking) create(dir, title, prompt string) string {
	l.t.Helper()
	created, err := l.c.Create(l.t.Context(), api.CreateSession{Dir: dir, Title: title, Prompt: prompt})
	if err != nil {
		l.t.Fatal(err)
	}
	return created.ID
}

// wait waits for a state.
func (l *looking) wait(id string, state api.State) {
	l.t.Helper()
	if err := until(l.t.Context(), l.c, id, func(s *api.Session) bool {
		for i := range s.Questions {
			l.ids[s.Questions[i].ID] = "Q"
		}
		return s.State == state && (state != api.StateIdle || len(s.Messages) == 0)
	}); err != nil {
		l.t.Fatal(err)
	}
}

// run runs a verb on a terminal, checks that what it wrote did nothing to it but to write text, and returns the screen.
func (l *looking) run(cols int, env []string, args ...string) *termtest.Screen {
	l.t.Helper()
	term := termtest.Start(l.t, termtest.Options{Args: append([]string{l.program}, args...), Env: slices.Concat(l.env, env), Cols: cols, Rows: 60})
	if code := term.Exit(); code != codeDone {
		l.t.Fatalf("%v ended with code %d:\n%s", args, code, term.Screen().Text())
	}
	screen := term.Screen()
	if screen.Titles+screen.Bell+len(screen.Clipboard)+len(screen.Unknown) > 0 || screen.AltScreen {
		l.t.Errorf("%v: a text reached the terminal as a command: %d titles, %d bells, clipboard %q, unknown %q", args, screen.Titles, screen.Bell, screen.Clipboard, screen.Unknown)
	}
	if left := screen.LeftOver(); len(left) > 0 {
		l.t.Errorf("%v leaves behind %q", args, left)
	}
	return screen
}

// TestLookingOnTerminal runs the looking verbs on a terminal and compares what a person sees with the files in testdata/terminal.
func TestLookingOnTerminal(t *testing.T) {
	l := newLooking(t)
	for name, test := range map[string]struct {
		cols int
		args []string
	}{
		"ls":        {100, []string{"ls"}},
		"ls-narrow": {60, []string{"ls"}},
		"questions": {200, []string{"questions"}},
		"question":  {80, []string{"questions", "-"}},
		"show":      {80, []string{"show", l.two}},
		"show-evil": {80, []string{"show", l.one}},
		"cost":      {120, []string{"cost"}},
		"logs":      {80, []string{"logs", l.one}},
	} {
		t.Run(name, func(t *testing.T) {
			l := *l
			l.t = t
			screen := l.run(test.cols, nil, test.args...)
			got := maskText(screen.Text(), l.ids, l.folders)
			golden := filepath.Join("testdata", "terminal", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the screen differs (-want +got); go test -update writes it anew:\n%s", diff)
			}
		})
	}
	t.Run("one row for each session", func(t *testing.T) {
		l := *l
		l.t = t
		for _, cols := range []int{20, 40, 80, 200} {
			rows := strings.Split(strings.TrimSpace(l.run(cols, nil, "ls").Text()), "\n")
			if len(rows) != 3 {
				t.Errorf("%d columns: %d rows, want 3:\n%s", cols, len(rows), strings.Join(rows, "\n"))
			}
		}
	})
	t.Run("colours", func(t *testing.T) {
		l := *l
		l.t = t
		colored := func(env []string, args ...string) bool {
			screen := l.run(100, env, append([]string{"ls"}, args...)...)
			x, y, ok := screen.Find("needs you")
			if !ok {
				t.Fatalf("there is no state:\n%s", screen.Text())
			}
			return screen.Cell(x, y).Style != termtest.Style{}
		}
		for _, test := range []struct {
			env  []string
			args []string
			want bool
		}{
			{nil, nil, true},
			{[]string{"NO_COLOR=1"}, nil, false},
			{[]string{"TERM=dumb"}, nil, false},
			{nil, []string{"--color=never"}, false},
			{[]string{"NO_COLOR=1"}, []string{"--color", "always"}, true},
		} {
			if got := colored(test.env, test.args...); got != test.want {
				t.Errorf("%v %v: coloured %v", test.env, test.args, got)
			}
		}
	})
	t.Run("hostile everywhere", func(t *testing.T) {
		l := *l
		l.t = t
		for _, args := range [][]string{
			{"export", l.one},
			{"export", "--format", "jsonl", l.one},
			{"logs", "--raw", l.one},
			{"logs", "--json", l.two},
			{"logs", "--full", "--times", l.two},
			{"show", "--json", l.one},
			{"show", "--event", "1", l.one},
			{"questions", "--json", "-"},
			{"ls", "--json"},
			{"search", "zebra"},
		} {
			for _, env := range [][]string{nil, {"NO_COLOR=1"}} {
				l.run(80, env, args...)
			}
		}
	})
}
