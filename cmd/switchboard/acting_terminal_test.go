//go:build unix

package main

import (
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// TestActingAtTerminal has somebody at a terminal answer, send and stop, with titles and texts that are hostile: they are told more than a pipe is, and
// nothing that an agent wrote does anything to the terminal.
func TestActingAtTerminal(t *testing.T) {
	l := newLooking(t)
	at := func(code int, says []string, args ...string) {
		t.Helper()
		term := termtest.Start(t, termtest.Options{Args: append([]string{l.program}, args...), Env: l.env, Cols: 200, Rows: 24})
		if got := term.Exit(); got != code {
			t.Errorf("%v: code %d, want %d:\n%s", args, got, code, term.Screen().Text())
		}
		screen := term.Screen()
		for _, text := range says {
			if !screen.Contains(text) {
				t.Errorf("%v does not say %q:\n%s", args, text, screen.Text())
			}
		}
		if screen.Title != "" || screen.Bell != 0 || len(screen.Clipboard) > 0 || len(screen.Unknown) > 0 {
			t.Errorf("%v: the terminal was told something: title %q, %d bells, clipboard %q, %q", args, screen.Title, screen.Bell, screen.Clipboard, screen.Unknown)
		}
	}
	at(0, []string{"denied by", "Bash make"}, "deny", l.two)
	at(0, []string{"queued for"}, "send", l.one, "@say hello")
	at(0, []string{"漢字"}, "send", l.one, "--wait", `@say "\u001b]0;owned\u0007\u001b[2J漢字"`)
	at(5, []string{"one driver"}, "handback", l.one)
	at(0, []string{"stopped", "resume here:        switchboard resume " + naming.Short(l.one)}, "stop", l.one)
	at(0, []string{"/project && claude --resume "}, "handback", l.one)
	at(0, []string{"watch it: switchboard attach " + naming.Short(l.one)}, "resume", l.one)
}

// TestAllowAsks has somebody at a terminal allow what they have not named by its id: they are shown what it is, and nothing is allowed unless they say
// that they mean it. An interrupt is a no.
func TestAllowAsks(t *testing.T) {
	l := newLooking(t)
	open := func() string {
		t.Helper()
		list, err := l.c.Questions(t.Context(), api.QuestionFilter{State: api.QuestionOpen})
		if err != nil || len(list.Questions) != 1 {
			t.Fatalf("%v, %v; want one question", list, err)
		}
		return list.Questions[0].ID
	}
	question := open()
	for _, test := range []struct {
		keys string
		code int
		says string
	}{
		{"n" + termtest.Enter, 1, "Nothing was answered."},
		{termtest.Enter, 1, "Nothing was answered."},
		{termtest.CtrlC, 130, "[y/N]"},
		{"y" + termtest.Enter, 0, "allowed by"},
	} {
		if open() != question {
			t.Fatal("it was answered")
		}
		term := termtest.Start(t, termtest.Options{Args: []string{l.program, "allow", "-"}, Env: l.env, Cols: 200, Rows: 40})
		term.WaitFor("Allow this? [y/N]")
		if screen := term.Screen(); !screen.Contains("Run this command?") || !screen.Contains("(Tidy up)") || !screen.Contains("command: make") {
			t.Errorf("it does not say what about:\n%s", screen.Text())
		}
		term.Type(test.keys)
		if code := term.Exit(); code != test.code || !term.Screen().Contains(test.says) {
			t.Errorf("%q: code %d, want %d and %q:\n%s", test.keys, code, test.code, test.says, term.Screen().Text())
		}
	}
	l.wait(l.two, api.StateIdle)
}

// TestAttachForksAndRestores has somebody fork a session, look at what restoring files would change, and put the fork away, on the whole screen.
func TestAttachForksAndRestores(t *testing.T) {
	l := newLooking(t)
	term := termtest.Start(t, termtest.Options{Args: []string{l.program, "attach", l.one}, Env: l.env, Cols: 80, Rows: 24})
	term.WaitFor("zebra")
	term.Type("/rewind" + termtest.Enter)
	term.WaitFor("Restore files as they were before")
	term.WaitFor("❯ 1  @say") // before that there is nothing to choose
	term.Type(termtest.Enter)
	term.WaitFor("No file has changed since")
	term.Type("n")
	term.WaitFor("Write to the agent")
	term.Type("/fork @say the copy answers" + termtest.Enter)
	term.WaitFor("This is the fork")
	term.WaitFor("the copy answers")
	term.Type("/archive" + termtest.Enter)
	term.WaitFor("archived")
	term.Type(termtest.CtrlC + termtest.CtrlC)
	if code := term.Exit(); code != codeDone {
		t.Errorf("code %d", code)
	}
	list, err := l.c.List(t.Context(), api.SessionFilter{Archived: true})
	if err != nil {
		t.Fatal(err)
	}
	away := 0
	for _, s := range list.Sessions {
		if s.Archived && s.ID != l.one && s.ID != l.two {
			away++
		}
	}
	if len(list.Sessions) != 3 || away != 1 {
		t.Errorf("there are %d sessions, and %d forks are archived; want 3 and 1", len(list.Sessions), away)
	}
}
