//go:build linux || darwin

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
	"github.com/switchboard-dev/switchboard/wire"
)

// program returns the program that the lab's hub runs.
func (l *lab) program(t testing.TB) string {
	t.Helper()
	if !l.options.plain {
		return program(t)
	}
	path, err := suite.plain()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// attach opens a session on a terminal, as a person does.
func (l *lab) attach(t testing.TB, cols, rows int, args ...string) *termtest.Terminal {
	t.Helper()
	term := termtest.Start(t, termtest.Options{
		Args: append([]string{l.program(t), "attach", "--data-dir", l.data}, args...), Env: l.environment("TERM=xterm-256color", "LANG=C.UTF-8"), Dir: l.root,
		Cols: cols, Rows: rows,
	})
	term.WaitForMatch("Write to the agent|no session")
	return term
}

// attachTyped types a prompt of several lines and sends it.
func attachTyped(term *termtest.Terminal, lines ...string) {
	for i, line := range lines {
		if i > 0 {
			term.Type(termtest.CtrlJ)
		}
		term.Type(line)
	}
	term.WaitFor(lines[len(lines)-1][:min(20, len(lines[len(lines)-1]))])
	term.Type(termtest.Enter)
}

// attachSaid waits for something that the agent says. Its order for that, which begins with an @, is on the screen too.
func attachSaid(term *termtest.Terminal, text string) {
	term.WaitForMatch(`^[^@]*` + regexp.QuoteMeta(text))
}

// attachQuestion waits for a question to come up, and until keys count.
func attachQuestion(term *termtest.Terminal, text string) {
	attachSaid(term, text)
	term.WaitGone("one moment")
}

// attachDecided holds that the questions of a session were answered so, in this order.
func attachDecided(k *talk, want ...string) {
	k.t.Helper()
	list, err := k.c.Questions(k.lab.ctx(), api.QuestionFilter{Session: k.id})
	k.check(err)
	var got []string
	for _, q := range list.Questions {
		if q.Answer != nil {
			got = append(got, q.Answer.Decision+string(q.Answer.Outcome))
		}
	}
	if !slices.Equal(got, want) {
		k.fail("the questions were answered with %q, want %q", got, want)
	}
}

// attachTalk goes to the conversation. Until that is seen no key may follow: with one behind it the escape is something else.
func attachTalk(term *termtest.Terminal) {
	term.Type(termtest.Esc)
	term.WaitFor("space folds")
}

// attachLeave leaves the screen, and looks whether the terminal is as it was.
func attachLeave(t *testing.T, term *termtest.Terminal, keys ...string) {
	t.Helper()
	term.Type(keys...)
	if code := term.Exit(); code != 0 {
		t.Errorf("attach ended with code %d", code)
	}
	attachRestored(t, term)
}

// attachRestored fails unless the terminal is as it was, and nothing that an agent wrote did anything to it.
func attachRestored(t *testing.T, term *termtest.Terminal) {
	t.Helper()
	s := term.Screen()
	if left := s.LeftOver(); len(left) > 0 {
		t.Errorf("the terminal is left with %q", left)
	}
	if s.Titles > 0 || len(s.Clipboard) > 0 || s.Bell > 0 || len(s.Unknown) > 0 {
		t.Errorf("the terminal was told: %d titles (%q), clipboard %q, %d bells, unknown %q", s.Titles, s.Title, s.Clipboard, s.Bell, s.Unknown)
	}
}

// TestAttachStory goes through what people do on the screen: write, answer, choose, search, fold, change the session.
func TestAttachStory(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	first := l.talk(t, func(c *api.CreateSession) { c.Title = "First one" })
	second := l.talk(t, func(c *api.CreateSession) { c.Title = "Second one" })
	second.prompt("@say Greetings from the second.")
	second.over()

	term := l.attach(t, 120, 40, first.id)
	term.WaitFor("Sessions")
	term.WaitFor("Second one")
	attachTyped(term, "@say Hello from the agent.")
	attachSaid(term, "Hello from the agent.")

	// A permission.
	attachTyped(term, bash("touch made.txt"), "@say It is made.")
	attachQuestion(term, "$ touch made.txt")
	term.Type("y")
	attachSaid(term, "It is made.")
	attachDecided(first, "allow")

	// A permission that is denied, with a reason.
	attachTyped(term, bash("touch never.txt"), "@say It is not made.")
	attachQuestion(term, "$ touch never.txt")
	term.Type("n")
	term.Type("because of that", termtest.Enter)
	attachSaid(term, "It is not made.")
	attachDecided(first, "allow", "deny")

	// A choice.
	attachTyped(term, `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Crimson","description":"a red"},{"label":"Azure","description":"a blue"}]}]}`,
		"@say It is chosen.")
	attachQuestion(term, "Which colour?")
	term.WaitFor("Azure")
	term.Type("2")
	attachSaid(term, "It is chosen.")

	// A plan.
	first.setMode(wire.PermissionModePlan)
	term.WaitFor("Plan")
	attachTyped(term, `@tool ExitPlanMode {"plan":"# The plan\nPaint it azure."}`, "@say The plan was approved.")
	attachQuestion(term, "Paint it azure.")
	term.WaitFor("accept edits")
	term.Type("2")
	attachSaid(term, "The plan was approved.")
	term.WaitFor("Accept edits")

	// The mode and the model.
	term.Type(termtest.ShiftTab)
	term.WaitForMatch(`idle.* Plan`)
	attachTalk(term)
	term.Type("M")
	term.WaitFor("Don't ask")
	term.Type("3")
	term.WaitForMatch(`idle.* Default`)
	term.Type("m")
	term.WaitFor("letters narrow it down")
	term.Type("haiku")
	term.WaitForMatch(`Model haiku`)
	term.Type(termtest.Enter)
	term.WaitForMatch(`idle.*haiku`)

	// Search, and what is folded.
	term.Type("/", "hello from")
	term.WaitFor("search: hello from")
	term.Type(termtest.Enter)
	term.WaitGone("search:")
	term.WaitFor("Hello from the agent.")
	term.Type("G")
	term.Type(termtest.CtrlO)
	term.Type("g")
	term.WaitFor("session: First one, in")
	term.Type("G")

	// The other session.
	term.Type(termtest.CtrlL, termtest.Down, termtest.Enter)
	term.WaitFor("Greetings from the second.")
	term.WaitGone("The plan was approved.")
	attachTyped(term, "@say I am here too.")
	attachSaid(term, "I am here too.")

	// A question of the first is told here, and one key away.
	first.prompt(bash("touch later.txt"), "@say Over.")
	term.WaitFor("elsewhere (ctrl+r)")
	term.Type(termtest.CtrlR)
	attachQuestion(term, "$ touch later.txt")
	term.Type("y")
	first.over()
	attachDecided(first, "allow", "deny", "allow", "accept_edits", "allow")

	// Small terminals.
	for _, size := range []struct{ cols, rows int }{{80, 24}, {40, 12}, {100, 30}} {
		term.Resize(size.cols, size.rows)
		term.WaitUntil(func(s *termtest.Screen) bool {
			return s.Cols == size.cols && s.Contains("First one") && strings.Contains(s.Row(s.Rows-min(2, s.Rows/12)), "idle")
		}, fmt.Sprintf("the screen fits into %dx%d", size.cols, size.rows))
	}
	attachLeave(t, term, termtest.CtrlC, termtest.CtrlC)
}

// TestAttachHubKilled kills the hub under an open screen and starts it again.
func TestAttachHubKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	k := l.talk(t, func(c *api.CreateSession) { c.Title = "Outlives the hub" })
	term := l.attach(t, 80, 24, k.id)
	attachTyped(term, "@say Before.")
	attachSaid(term, "Before.")
	l.kill()
	term.WaitFor("no connection to the hub")
	term.WaitFor("Before.")
	// What is written meanwhile does not get lost.
	attachTyped(term, "@say After.")
	term.WaitFor("Not sent")
	l.start()
	term.WaitGone("no connection to the hub")
	term.Type(termtest.Enter)
	attachSaid(term, "After.")
	if n := strings.Count(term.Screen().Text(), "Before."); n < 1 {
		t.Errorf("what was said before is there %d times:\n%s", n, term.Screen())
	}
	attachTalk(term)
	attachLeave(t, term, "q")
}

// hostileText is what no terminal may be told.
const hostileText = `"\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u001b[2J\u001b[1;1HOWNED\u001b[?1049l\u001b[?25l\u009b31m\u0007\u0008\r\u202eright to left\u202c\ttabs"`

// TestAttachHostile shows what is written to break a screen.
func TestAttachHostile(t *testing.T) {
	t.Parallel()
	// Drawing a line of 10 MB takes a minute under the race detector, which the other tests of the screen have.
	l := newLab(t, &labOptions{plain: true})
	l.start()
	k := l.talk(t, func(c *api.CreateSession) { c.Title = "\x1b]0;owned\x07Hostile \u202e漢字👩‍👩‍👧‍👦" })
	term := l.attach(t, 80, 24, k.id)
	whole := func(why string) {
		t.Helper()
		term.WaitUntil(func(s *termtest.Screen) bool {
			return strings.Contains(s.Row(0), "Hostile") && strings.HasPrefix(s.Row(s.Rows-4), "──") && strings.Contains(s.Row(s.Rows-2), "idle")
		}, "the screen is whole after "+why)
	}
	for i, text := range []string{
		hostileText,
		quoted(strings.Repeat("漢字👩‍👩‍👧‍👦🇩🇪é̂️", 100)),
		quoted("שלום עולם مرحبا بالعالم\n| א | ب |\n|---|---|\n| 漢字 | 👍🏽 |\n\n```\n\x1b[2J\u202e```\n" + strings.Repeat("> ", 500) + "deep"),
		quoted("[link](javascript:alert(1)) <script>alert(1)</script> https://example.com/\x1b\\ " + strings.Repeat("w", 5000)),
	} {
		k.prompt("@say "+text, `@tool Bash {"command":"true"}`, "@result "+text, fmt.Sprintf("@say End of %d.", i))
		if shot := k.shot(); len(shot.Questions) > 0 {
			attachQuestion(term, "$ true")
			term.Type("y")
		}
		k.over()
		attachSaid(term, fmt.Sprintf("End of %d.", i))
		whole(fmt.Sprintf("text %d", i))
		attachTalk(term)
		term.Type(termtest.CtrlO) // unfolded too
		whole(fmt.Sprintf("text %d, unfolded", i))
		term.Type(termtest.PageUp, termtest.PageUp, termtest.PageDown, "G", "i")
		term.WaitFor("enter sends") // or what is seen here would be taken for what the next escape leads to
		whole(fmt.Sprintf("text %d, scrolled", i))
	}
	// A very long line.
	k.prompt(hugeLine())
	k.over()
	whole("a long line that is being written")
	k.prompt("@say End of the long one.")
	k.over()
	attachSaid(term, "End of the long one.")
	term.WaitGone("queued")
	whole("a long line")
	term.Resize(40, 12)
	term.WaitUntil(func(s *termtest.Screen) bool { return s.Cols == 40 && strings.Contains(s.Row(s.Rows-1), "idle") }, "the screen is small")
	// The second one counts for a while, and to draw all of this may take longer here.
	term.Type(termtest.CtrlC)
	term.WaitFor("ctrl+c again")
	attachLeave(t, term, termtest.CtrlC)
}

// TestAttachSignals holds that the terminal is restored however the program ends.
func TestAttachSignals(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	k := l.talk(t, func(c *api.CreateSession) { c.Title = "To be left" })
	for _, c := range []struct {
		signal os.Signal
		code   int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 130}} {
		term := l.attach(t, 80, 24, k.id)
		term.WaitFor("To be left")
		term.Signal(c.signal)
		if code := term.Exit(); code != c.code {
			t.Errorf("after %s it ends with code %d, want %d", c.signal, code, c.code)
		}
		attachRestored(t, term)
	}
	term := l.attach(t, 80, 24, "snothing")
	if code := term.Exit(); code != 3 {
		t.Errorf("a session that there is not: code %d", code)
	}
}

// BenchmarkAttach opens a session of 100 000 events on a terminal: from the start of the program until its end is on the screen.
func BenchmarkAttach(b *testing.B) {
	const events = 100_000
	l := newLab(b, &labOptions{plain: true})
	l.start()
	path := filepath.Join(l.root, "long.jsonl")
	if err := attachLong(path, events); err != nil {
		b.Fatal(err)
	}
	s, err := l.create(l.ctx(), func(c *api.CreateSession) { c.Title, c.Prompt = "Long", "@play 1 "+path })
	if err != nil {
		b.Fatal(err)
	}
	s.follower.close() // it would keep them all
	if err := eventually(5*time.Minute, func() error {
		shot, err := s.snapshot(l.ctx())
		if err == nil && (shot.State != api.StateIdle || seqOf(shot.LastEventID) < events) {
			err = fmt.Errorf("it is %s at %s", shot.State, shot.LastEventID)
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		term := l.attach(b, 120, 40, s.id)
		term.WaitFor(fmt.Sprintf("Line %d of the log", events-1))
		times = append(times, time.Since(begin))
		b.StopTimer()
		term.Type(termtest.CtrlC, termtest.CtrlC)
		if code := term.Exit(); code != 0 {
			b.Fatalf("code %d", code)
		}
		b.StartTimer()
	}
	b.ReportMetric(milliseconds(times), "ms/open")
}

// attachLong writes what an agent says in a long session.
func attachLong(path string, lines int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // flushed below
	w := bufio.NewWriter(file)
	for n := range lines {
		switch n % 4 {
		case 1:
			fmt.Fprintf(w, `{"type":"assistant","message":{"id":"m%d","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make part-%d"}}]},"parent_tool_use_id":null,"session_id":"c","uuid":"a%d"}`, n, n, n, n)
		case 2:
			fmt.Fprintf(w, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]},"parent_tool_use_id":null,"session_id":"c","uuid":"u%d"}`, n-1, quoted(strings.Repeat(fmt.Sprintf("result %d\n", n), 40)), n)
		default:
			fmt.Fprintf(w, `{"type":"assistant","message":{"id":"m%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Line %d of the log, with some **words** behind it."}]},"parent_tool_use_id":null,"session_id":"c","uuid":"a%d"}`, n, n, n)
		}
		if _, err := w.WriteString("\n"); err != nil {
			return err
		}
	}
	return w.Flush()
}
