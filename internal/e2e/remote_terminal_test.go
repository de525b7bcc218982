//go:build linux || darwin

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// terminal starts a verb on a terminal of the machine.
func (m *machine) terminal(t testing.TB, args ...string) *termtest.Terminal {
	t.Helper()
	return termtest.Start(t, termtest.Options{Args: slices.Concat([]string{m.lab.program(t)}, args), Env: m.environment(), Dir: m.work, Cols: 100, Rows: 30})
}

// newLaptop returns a machine that has nothing but the program, and is logged in to the hub: a person has compared the fingerprint and typed a
// one-time code.
func newLaptop(t testing.TB, l *nodeLab) *machine {
	t.Helper()
	m := l.newMachine("laptop")
	code, err := l.client().CreateCode(l.ctx(), api.CreateCode{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	term := m.terminal(t, "login", l.dialed(), "--name", "work")
	term.WaitFor(l.pin())
	term.WaitFor("Are they the same?")
	term.Type("y", termtest.Enter)
	term.WaitFor("One-time code or token:")
	term.Type(code.Code, termtest.Enter)
	if exit := term.Exit(); exit != 0 {
		t.Fatalf("login ends with code %d\n%s", exit, term.Screen())
	}
	return m
}

// newCertificate restarts the hub with another certificate, as another machine at its address would have.
func (l *nodeLab) newCertificate() {
	l.t.Helper()
	l.kill()
	if err := os.Remove(filepath.Join(l.data, "hub.pem")); err != nil {
		l.t.Fatal(err)
	}
	l.start()
}

// endsWith waits for the end of a verb that may not go on, and holds that it says why and what to do.
func endsWith(t *testing.T, term *termtest.Terminal, parts ...string) {
	t.Helper()
	if code := term.Exit(); code != 1 {
		t.Errorf("code %d, want 1", code)
	}
	for _, part := range parts {
		if !says(term.Screen(), part) {
			t.Errorf("%q is not said\n%s", part, term.Screen())
		}
	}
	attachRestored(t, term)
}

// TestRemoteTerminal works at two terminals of a machine that has no hub: run asks, attach joins, and both go on by themselves when their connections
// are cut and when the hub is killed.
func TestRemoteTerminal(t *testing.T) {
	t.Parallel()
	l := newNodeLab(t, &labOptions{raced: true})
	l.start()
	m := newLaptop(t, l)
	dir, _ := l.newDir("")
	r := &terminalRun{t: t, lab: l.lab, c: l.client(), dir: dir}
	r.Terminal = m.terminal(t, "run", "--dir", dir, directives(bash("make clean"), said("It is clean.")))
	r.asked("Run this command?")
	r.WaitFor("$ make clean")
	r.Type("y")
	r.WaitFor("It is clean.")
	r.awaitIdle(1)
	if q := r.questions(); len(q) != 1 || q[0].Answer == nil || q[0].Answer.Decision != "allow" {
		t.Errorf("the questions are %+v", q)
	}

	id := r.session().ID[:9]
	term := m.terminal(t, "attach", id)
	term.WaitFor("It is clean.")
	term.WaitFor("Write to the agent")
	attachTyped(term, said("Both see it."))
	term.WaitFor("Both see it.")
	r.WaitFor("Both see it.")
	r.awaitIdle(2)

	before := l.front.accepted.Load()
	l.front.cut()
	if err := eventually(patience, func() error {
		// Each has a stream of the session, and attach one of all sessions.
		if l.front.accepted.Load() < before+3 {
			return errors.New("not all have dialed again")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.WaitGone("The hub is away")
	r.send(said("After the cut."))
	r.WaitFor("After the cut.")
	term.WaitFor("After the cut.")
	r.awaitIdle(3)

	l.kill()
	r.WaitFor("The hub is away")
	term.WaitFor("no connection to the hub")
	r.send(said("After the crash.")) // while there is no hub
	l.start()
	r.WaitFor("After the crash.")
	term.WaitFor("After the crash.")
	r.awaitIdle(4)
	term.WaitGone("no connection")

	attachTalk(term)
	attachLeave(t, term, "q")
	r.Type(termtest.CtrlC)
	screen := r.left(0)
	for _, text := range []string{"It is clean.", "Both see it.", "After the cut.", "After the crash."} {
		if n := count(screen, text); n != 1 {
			t.Errorf("%q is shown %d times, want once\n%s", text, n, screen.All())
		}
	}
	for _, text := range []string{"work:" + dir, "Reattach: switchboard attach " + id, "Stop: switchboard stop " + id} {
		if !says(screen, text) {
			t.Errorf("%q is not said\n%s", text, screen)
		}
	}
	if session := r.session(); session.State != api.StateIdle || !session.Linked {
		t.Errorf("the session is %s, linked %v; the agent should go on", session.State, session.Linked)
	}
	if _, err := os.Stat(filepath.Join(m.home, ".local", "share", "switchboard")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a data folder on a machine that only uses another one's hub: %v", err)
	}
}

// TestRemoteTerminalRefused shuts verbs out, which are open or begin later: the hub shows another certificate than the pinned one, or the token is revoked.
func TestRemoteTerminalRefused(t *testing.T) {
	t.Parallel()
	const compare = "switchboard status shows on the hub's machine"
	rows := []struct {
		name string
		shut func(*nodeLab)
		says func(l *nodeLab, pinned string) []string
	}{
		{"another certificate", (*nodeLab).newCertificate, func(l *nodeLab, pinned string) []string {
			return []string{"shows another certificate than at your login, and was sent nothing", pinned, l.pin(), compare}
		}},
		{"a revoked token", func(l *nodeLab) {
			if _, err := l.client().RevokeDevices(l.ctx()); err != nil {
				l.t.Fatal(err)
			}
		}, func(*nodeLab, string) []string { return []string{"does not accept the token: it was revoked"} }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newNodeLab(t, &labOptions{raced: true})
			l.start()
			m := newLaptop(t, l)
			pinned, wrong := l.pin(), "sha256:"+strings.Repeat("A", 43)
			endsWith(t, m.terminal(t, "login", l.dialed(), "--name", "work", "--pin", wrong, "--code", "sbc_never"), "and was sent nothing", pinned, wrong, compare)

			dir, _ := l.newDir("")
			run := m.terminal(t, "run", "--dir", dir, said("It is open."))
			run.WaitFor("It is open.")
			attach := m.terminal(t, "attach", "-")
			attach.WaitFor("It is open.")
			row.shut(l)
			parts := append(row.says(l, pinned), "the hub work ("+l.dialed()+")", "og in again: switchboard login "+l.dialed()+" --name work")
			endsWith(t, run, parts...)
			endsWith(t, attach, parts...)
			for _, args := range [][]string{{"run", "--dir", dir, "@say never"}, {"attach", "-"}, {"attach"}} {
				endsWith(t, m.terminal(t, args...), parts...)
			}
			if n := len(l.shims()); n != 1 {
				t.Errorf("%d agents run, want the one that was started", n)
			}
		})
	}
}
