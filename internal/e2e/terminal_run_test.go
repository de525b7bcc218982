//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A terminalRun is the verb run on a terminal, with a hub that it finds.
type terminalRun struct {
	*termtest.Terminal
	t   *testing.T
	lab *lab
	c   *client.Client
	dir string

	resized bool // the terminal had another size before
}

// runOnTerminal starts the verb run in a lab whose hub is running.
func runOnTerminal(t *testing.T, cols, rows int, env []string, args ...string) *terminalRun {
	t.Helper()
	return runInLab(t, newLab(t, nil), cols, rows, env, args...)
}

// runInLab is runOnTerminal in a lab that has not been started.
func runInLab(t *testing.T, l *lab, cols, rows int, env []string, args ...string) *terminalRun {
	t.Helper()
	l.start()
	dir, _ := l.newDir("")
	r := &terminalRun{t: t, lab: l, c: l.client(), dir: dir}
	r.Terminal = termtest.Start(t, termtest.Options{
		Args: slices.Concat([]string{l.program(t), "run", "--data-dir", l.data, "--no-start"}, args),
		Env:  l.environment(env...), Dir: dir, Cols: cols, Rows: rows,
	})
	return r
}

// prompt puts directives together.
func directives(lines ...string) string { return strings.Join(lines, "\n") }

// said is a directive for words that do not stand in it: what is read on the
// screen was then said by the agent, and is not the prompt.
func said(words string) string {
	var hidden strings.Builder
	for _, r := range words {
		fmt.Fprintf(&hidden, `\u%04x`, r)
	}
	return `@say "` + hidden.String() + `"`
}

// session returns the one session that there is.
func (r *terminalRun) session() *api.Session {
	r.t.Helper()
	list, err := r.c.List(r.lab.ctx(), api.SessionFilter{})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(list.Sessions) != 1 {
		r.t.Fatalf("there are %d sessions, want 1", len(list.Sessions))
	}
	session, err := r.c.Session(r.lab.ctx(), list.Sessions[0].ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return session
}

// questions returns what was asked, the oldest first.
func (r *terminalRun) questions() []api.Question {
	r.t.Helper()
	list, err := r.c.Questions(r.lab.ctx(), api.QuestionFilter{Session: r.session().ID})
	if err != nil {
		r.t.Fatal(err)
	}
	return list.Questions
}

// asked waits for a question, and until it takes keys.
func (r *terminalRun) asked(text string) {
	r.WaitFor(text)
	r.WaitGone("one moment")
}

// send types a line and sends it.
func (r *terminalRun) send(text string) { r.Type(text, termtest.Enter) }

// awaitIdle waits until so many turns have come to a good end, and the screen says that nothing runs. The second alone is not enough: what is
// finished is printed at once, and the rest of the screen drawn a moment later.
func (r *terminalRun) awaitIdle(turns int) {
	r.t.Helper()
	r.WaitUntil(func(s *termtest.Screen) bool { return count(s, "done in ") >= turns && s.Contains("ctrl+c leaves") }, fmt.Sprintf("the agent is idle after %d turns", turns))
}

// left waits for the end and checks what is left on the terminal.
func (r *terminalRun) left(code int) *termtest.Screen {
	r.t.Helper()
	if got := r.Exit(); got != code {
		r.t.Errorf("exit code %d, want %d\n%s", got, code, r.Screen())
	}
	screen := r.Screen()
	if left := screen.LeftOver(); len(left) > 0 {
		r.t.Errorf("the terminal was not put back: %s", strings.Join(left, ", "))
	}
	// Nothing of the part that changes stays behind, neither on the screen nor above it, unless the terminal itself has moved it away.
	for _, text := range []string{"ctrl+c stops", "ctrl+c leaves", "Working…", "queued: ", "Write to the agent"} {
		if n := count(screen, text); n > 0 && !r.resized {
			r.t.Errorf("%q is left in %d rows\n%s", text, n, screen.All())
		}
	}
	if len(screen.Unknown) > 0 || len(screen.Clipboard) > 0 || screen.Bell > 0 || screen.Titles > 0 {
		r.t.Errorf("the terminal was told: unknown %q, clipboard %q, %d bells, %d titles", screen.Unknown, screen.Clipboard, screen.Bell, screen.Titles)
	}
	return screen
}

// count says in how many rows of all that was ever shown a text stands.
func count(s *termtest.Screen, text string) int {
	n := 0
	for row := range strings.Lines(s.All()) {
		if strings.Contains(row, text) {
			n++
		}
	}
	return n
}

// says reports whether a text is on a screen, or was, wherever its rows break: a blank at
// the end of a row is not kept.
func says(s *termtest.Screen, text string) bool {
	return strings.Contains(withoutBlanks(s.All()), withoutBlanks(text))
}

func withoutBlanks(s string) string { return strings.Join(strings.Fields(s), "") }

func TestTerminalRunConversation(t *testing.T) {
	t.Parallel()
	r := runOnTerminal(t, 80, 24, nil, directives("@say **Reading** the file.", `@tool Read {"file_path":"notes.txt"}`, "@result forty-two", said("First answer.")))
	r.WaitFor("First answer.")
	r.awaitIdle(1)
	r.WaitFor("notes.txt") // the tool, in a line
	r.send(said("Second answer."))
	r.WaitFor("Second answer.")
	r.awaitIdle(2)
	if r.Screen().Contains("queued:") {
		t.Errorf("something is still queued\n%s", r.Screen())
	}
	r.Type("?")
	r.WaitFor("to-do list")
	r.Type(termtest.CtrlO) // the tool, unfolded
	r.WaitFor("forty-two")
	r.Type(termtest.CtrlC)
	screen := r.left(0)
	session := r.session()
	for _, text := range []string{"First answer.", "Second answer.", "Reading the file."} {
		if n := count(screen, text); n != 1 {
			t.Errorf("%q is shown %d times, want once\n%s", text, n, screen.All())
		}
	}
	for _, text := range []string{"Agent idle, waiting for a message.", "switchboard attach --data-dir " + r.lab.data + " " + session.ID[:9], "switchboard stop --data-dir"} {
		if !says(screen, text) {
			t.Errorf("%q is not said at the end\n%s", text, screen)
		}
	}
	if session.State != api.StateIdle || !session.Linked {
		t.Errorf("the session is %s, linked %v; the agent should go on", session.State, session.Linked)
	}
}

func TestTerminalRunAllow(t *testing.T) {
	t.Parallel()
	r := runOnTerminal(t, 80, 24, nil, directives(`@tool Bash {"command":"make clean"}`, said("It is clean.")))
	r.asked("Run this command?")
	r.WaitFor("$ make clean")
	r.Type("y")
	r.WaitFor("It is clean.")
	r.awaitIdle(1)
	r.WaitGone("y/enter allow")
	r.Type(termtest.CtrlC)
	r.left(0)
	questions := r.questions()
	if len(questions) != 1 || questions[0].State != api.QuestionAnswered || questions[0].Answer == nil || questions[0].Answer.Decision != "allow" || questions[0].Answer.Input != nil {
		t.Errorf("the questions are %+v", questions)
	}
}

func TestTerminalRunDeny(t *testing.T) {
	t.Parallel()
	r := runOnTerminal(t, 80, 24, nil, directives(`@tool Bash {"command":"make clean"}`, said("Then not.")))
	r.asked("Run this command?")
	r.Type("n")
	r.WaitFor("Why?")
	r.send("not today")
	r.WaitFor("Then not.")
	r.awaitIdle(1)
	r.Type(termtest.CtrlD)
	r.left(0)
	if q := r.questions(); len(q) != 1 || q[0].Answer == nil || q[0].Answer.Decision != "deny" || q[0].Answer.Message != "not today" {
		t.Errorf("the questions are %+v", q)
	}
}

// TestTerminalRunEdit has somebody change the command in an editor before it is allowed.
func TestTerminalRunEdit(t *testing.T) {
	t.Parallel()
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf 'make test' > \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := runOnTerminal(t, 80, 24, []string{"VISUAL=" + editor}, directives(`@tool Bash {"command":"make clean"}`, said("It was tested.")))
	r.asked("$ make clean")
	r.Type("e")
	r.WaitFor("$ make test")
	r.Type("y")
	r.WaitFor("It was tested.")
	r.awaitIdle(1)
	r.Type(termtest.CtrlC)
	r.left(0)
	q := r.questions()
	if len(q) != 1 || q[0].Answer == nil || q[0].Answer.Decision != "allow" {
		t.Fatalf("the questions are %+v", q)
	}
	if command, _ := wire.LookupString(q[0].Answer.Input, "command"); command != "make test" {
		t.Errorf("the input was answered as %s", q[0].Answer.Input)
	}
}

// TestTerminalRunChoice answers by number.
func TestTerminalRunChoice(t *testing.T) {
	t.Parallel()
	choice := `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"red","description":"R"},{"label":"green","description":"G"}]}]}`
	r := runOnTerminal(t, 80, 24, nil, directives("@tool AskUserQuestion "+choice, said("Well chosen.")))
	r.asked("2 green")
	r.Type("2")
	r.WaitFor("Well chosen.")
	r.awaitIdle(1)
	r.Type(termtest.CtrlC)
	r.left(0)
	q := r.questions()
	if len(q) != 1 || q[0].Answer == nil || !slices.Equal(q[0].Answer.Choices["Which colour?"].Labels, []string{"green"}) {
		t.Errorf("the questions are %+v", q)
	}
}

// TestTerminalRunPlan approves a plan with shift+tab: another process carries it out, and knows nothing else.
func TestTerminalRunPlan(t *testing.T) {
	t.Parallel()
	plan, err := json.Marshal(map[string]string{"plan": "# The plan\n\n" + said("Carried out.")})
	if err != nil {
		t.Fatal(err)
	}
	r := runOnTerminal(t, 80, 24, nil, "--mode", "plan", directives("@tool ExitPlanMode "+string(plan), "@say never"))
	r.WaitFor("The plan")
	r.asked("shift+tab")
	r.Type(termtest.ShiftTab)
	r.WaitFor("Carried out.")
	r.awaitIdle(1)
	r.Type(termtest.CtrlC)
	r.left(0)
	q := r.questions()
	if len(q) == 0 || q[0].Answer == nil || q[0].Answer.Outcome != api.PlanFresh {
		t.Errorf("the questions are %+v", q)
	}
	if run := r.session().Run; run != 2 {
		t.Errorf("the session is in run %d, want 2", run)
	}
}

// TestTerminalRunInterrupt stops a turn with one Ctrl-C, and leaves with two.
func TestTerminalRunInterrupt(t *testing.T) {
	t.Parallel()
	long := directives(`@tool Read {"file_path":"long.txt"}`, "@takes 1h", "@say never")
	r := runOnTerminal(t, 80, 24, nil, long)
	r.WaitFor("long.txt")
	r.WaitUntil(func(s *termtest.Screen) bool { return s.Contains("Working…") }, "it works")
	r.Type(termtest.CtrlC)
	r.awaitIdle(0)
	first := r.session()
	if first.Result == nil || !first.Result.Interrupted || first.State != api.StateIdle {
		t.Errorf("after one Ctrl-C the session is %s with %+v", first.State, first.Result)
	}
	r.send(said("Still here."))
	r.WaitFor("Still here.")
	r.awaitIdle(1)

	// The second time is meant for us, whatever has become of the first.
	r.Paste(long)
	r.Type(termtest.Enter)
	r.WaitUntil(func(s *termtest.Screen) bool { return s.Contains("Working…") }, "it works again")
	r.Type(termtest.CtrlC, termtest.CtrlC)
	screen := r.left(0)
	for _, text := range []string{"Reattach:", "switchboard attach", "Stop:", "switchboard stop"} {
		if !says(screen, text) {
			t.Errorf("%q is not said at the end\n%s", text, screen)
		}
	}
	if session := r.session(); session.State == api.StateEnded || !session.Linked {
		t.Errorf("the session is %s, linked %v; the agent should go on", session.State, session.Linked)
	}
}

// TestTerminalRunHubKilled kills the hub under an open run, and starts it again.
func TestTerminalRunHubKilled(t *testing.T) {
	t.Parallel()
	r := runOnTerminal(t, 80, 24, nil, said("Before the crash."))
	r.WaitFor("Before the crash.")
	r.awaitIdle(1)
	r.lab.kill()
	r.WaitUntil(func(s *termtest.Screen) bool { return s.Contains("The hub is away") }, "it says that the server is away")
	r.send(said("After the crash.")) // while nobody is there
	r.lab.start()
	r.WaitFor("After the crash.")
	r.awaitIdle(2)
	r.WaitGone("The hub is away")
	r.Type(termtest.CtrlC)
	screen := r.left(0)
	for _, text := range []string{"Before the crash.", "After the crash."} {
		if n := count(screen, text); n != 1 {
			t.Errorf("%q is shown %d times, want once\n%s", text, n, screen.All())
		}
	}
}

// TestTerminalRunLong has the agent say more than fits on the screen: all of it stays in the scrollback, once and in order, to the last column.
func TestTerminalRunLong(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 150 {
		rows = append(rows, fmt.Sprintf("Row%03d %s.", i, strings.Repeat("x", 40)))
	}
	r := runOnTerminal(t, 49, 12, nil, directives("@slow 1ms", said(strings.Join(rows, "\n\n"))))
	r.WaitFor(rows[len(rows)-1])
	r.awaitIdle(1)
	r.Type(termtest.CtrlC)
	screen := r.left(0)
	var got []string
	for row := range strings.Lines(screen.All()) {
		if strings.HasPrefix(row, "Row") {
			got = append(got, strings.TrimSpace(row))
		}
	}
	if !slices.Equal(got, rows) {
		t.Errorf("the rows are\n%s", screen.All())
	}
}

// TestTerminalRunResize changes the size while a question is open and while text is there.
func TestTerminalRunResize(t *testing.T) {
	t.Parallel()
	r := runOnTerminal(t, 100, 30, nil, directives("@say "+strings.Repeat("many words ", 40), `@tool Bash {"command":"make clean"}`, said("It is done.")))
	r.WaitFor("Run this command?")
	r.resized = true
	for _, size := range [][2]int{{60, 20}, {40, 12}, {120, 40}, {80, 24}} {
		r.Resize(size[0], size[1])
		r.WaitUntil(func(s *termtest.Screen) bool {
			return s.Cols == size[0] && s.Contains("Run this command?") && fits(s)
		}, fmt.Sprintf("the question at %d×%d", size[0], size[1]))
	}
	// A terminal that is made smaller moves rows out of reach, so that "one moment" may stay above.
	r.WaitFor("y/enter allow")
	r.Type("y")
	r.WaitFor("It is done.")
	r.awaitIdle(1)
	r.Resize(30, 8)
	r.send(said("Small."))
	r.WaitFor("Small.")
	r.Resize(80, 24)
	r.send(said("Large."))
	r.WaitFor("Large.")
	// Rows that were cut when the terminal became smaller do not count any more.
	r.WaitUntil(func(s *termtest.Screen) bool {
		all := s.All()
		return strings.LastIndex(all, "done in ") > strings.LastIndex(all, "Large.") && s.Contains("ctrl+c leaves")
	}, "the last turn is over")
	r.Type(termtest.CtrlC)
	r.left(0)
}

// fits says whether no row is cut off at its end by the terminal: the program has drawn for this width.
func fits(s *termtest.Screen) bool {
	for i := range s.Rows {
		if paint.Width(s.Row(i)) > s.Cols {
			return false
		}
	}
	return true
}

// TestTerminalRunHostile has the agent write what would harm a terminal that believed it.
func TestTerminalRunHostile(t *testing.T) {
	t.Parallel()
	attack := "\x1b]0;owned\x07\x1b[2J\x1b[H\x1b]52;c;b3duZWQ=\x07\x1b[?1049h\x1bc\x1b[31mred\x9b5A\u202eesrever\u2066\x00\x07\x08\x7f\r\rover"
	wide := "漢字かな交じり文 👩‍👩‍👧‍👦 🇩🇪 שלום عالم é"
	encoded := func(text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	}
	command, err := json.Marshal(map[string]string{"command": "echo " + attack + wide})
	if err != nil {
		t.Fatal(err)
	}
	// A line of 10 MB takes long under the race detector, which the other tests of run have.
	r := runInLab(t, newLab(t, &labOptions{plain: true}), 60, 20, nil, directives(
		"@say "+encoded(attack+wide),
		"@say "+encoded("| a | b |\n|---|---|\n| "+wide+" | "+attack+" |\n\n```"+attack+"\n"+wide+attack+"\n```\n"),
		"@think "+encoded(attack),
		`@tool Read {"file_path":`+encoded(attack)+`}`, "@result "+encoded(attack+strings.Repeat(wide, 200)),
		"@tool Bash "+string(command), "@fails "+encoded(attack),
		said("It is over.")))
	r.asked("Run this command?")
	r.Type("y")
	r.WaitFor("It is over.")
	r.awaitIdle(1)
	// A very long line, in one piece.
	r.send(hugeLine())
	r.WaitUntil(func(s *termtest.Screen) bool { return s.Contains("ctrl+c stops") }, "it begins")
	r.awaitIdle(2)
	r.send(said("Still alive."))
	r.WaitFor("Still alive.")
	r.awaitIdle(3)
	r.Type(termtest.CtrlC)
	screen := r.left(0)
	if screen.AltScreen || !strings.Contains(screen.All(), "漢字") || !utf8.ValidString(screen.All()) {
		t.Errorf("the screen is\n%s", screen)
	}
	if strings.ContainsAny(screen.All(), "\u202e\u2066\x1b\x07") {
		t.Errorf("something reached the terminal as it came:\n%q", screen.All())
	}
}

// TestTerminalRunStartsHub has run start a server of its own, with a simulated agent: what somebody does who tries it for the first time.
func TestTerminalRunStartsHub(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	dir, _ := l.newDir("")
	data := filepath.Join(l.home, ".local", "share", "switchboard", "simulated")
	r := termtest.Start(t, termtest.Options{
		Args: []string{program(t), "run", "--simulated", directives(`@tool Bash {"command":"make clean"}`, said("It is clean."))},
		Env:  l.environment("SWITCHBOARD_ADDR=127.0.0.1:0"), Dir: dir,
	})
	r.WaitFor("Started a background hub")
	r.WaitFor("A SIMULATED agent")
	r.WaitFor("Run this command?")
	r.WaitGone("one moment")
	r.Type("y")
	r.WaitFor("It is clean.")
	r.WaitUntil(func(s *termtest.Screen) bool { return s.Contains("ctrl+c leaves") }, "the agent is idle")
	r.Type(termtest.CtrlC)
	if code := r.Exit(); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Screen())
	}
	if !says(r.Screen(), "Reattach: switchboard attach s") {
		t.Errorf("it does not say how to come back\n%s", r.Screen())
	}
	// The hub outlives it; the lab ends it.
	c, err := client.New(&client.Options{Socket: filepath.Join(data, "run", "hub.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	info, err := c.Info(l.ctx())
	if err != nil || !info.Simulated {
		t.Errorf("the server: %+v, %v", info, err)
	}
}

// TestTerminalRunSignals holds that the terminal is put back, and that it is said how to come back, if somebody ends the program from elsewhere or
// closes the terminal.
func TestTerminalRunSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		r := runOnTerminal(t, 80, 24, nil, directives(`@tool Bash {"command":"make clean"}`, "@say never"))
		r.asked("Run this command?")
		r.Signal(signal)
		screen := r.left(130)
		for _, text := range []string{"Agent still running. It has a question.", "switchboard attach", "switchboard stop"} {
			if !says(screen, text) {
				t.Errorf("after %s %q is not said\n%s", signal, text, screen)
			}
		}
		if q := r.questions(); len(q) != 1 || q[0].State != api.QuestionOpen {
			t.Errorf("after %s the questions are %+v", signal, q)
		}
	}
}
