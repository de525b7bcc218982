//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// What make run shows on a terminal: where to look, and an agent whose first question is answered by a key. Who leaves ends all of it.
func TestDemoTerminal(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temporary := shortDir(t)
	term := termtest.Start(t, termtest.Options{
		Args: []string{program, "demo", "--fast", "--addr", "127.0.0.1:0"}, Env: environment(t, "TERM=xterm-256color", "LANG=C.UTF-8", "TMPDIR="+temporary),
		Cols: 100, Rows: 30,
	})
	term.WaitFor("A SIMULATED agent")
	term.WaitFor("Run this command?")
	term.WaitGone("one moment") // until it takes keys
	term.Type("y")
	term.WaitFor("Empty title") // the choice that comes next
	term.Type(termtest.CtrlC)
	term.Type(termtest.CtrlC)
	term.Type(termtest.CtrlC)
	if code := term.Exit(); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, term.Screen().Text())
	}
	left, err := os.ReadDir(temporary)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "switchboard-") {
			t.Errorf("the folder %s is left behind", entry.Name())
		}
	}
}
