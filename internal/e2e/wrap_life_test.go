//go:build linux || darwin

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// shell makes a CLI of a few lines for sh.
func (l *lab) shell(lines ...string) string {
	l.t.Helper()
	path := filepath.Join(l.root, fmt.Sprintf("cli-%d", l.numbers.Add(1)))
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// TestWrapPlain has the wrapper called as a person would call claude: it becomes
// claude, with the same process, and nothing stays between them.
func TestWrapPlain(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	cli := l.shell(`echo "$$ $*"`, `echo "no $SWITCHBOARD_RUN" >&2`, "exit 7")
	for _, args := range [][]string{{"--version"}, {"mcp", "list"}, {"-p", "two words", "--output-format", "stream-json"}, nil} {
		dir, _ := l.newDir("")
		c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), args...)
		err := c.end()
		if want := fmt.Sprintf("%d %s\n", c.cmd.Process.Pid, strings.Join(args, " ")); c.got.String() != want || c.cmd.ProcessState.ExitCode() != 7 {
			t.Errorf("it said %q and ended with %v; want %q and code 7", &c.got, err, want)
		}
		if c.stderr.String() != "no \n" {
			t.Errorf("on standard error there is %q", &c.stderr)
		}
	}
}

// TestWrapExit has CLIs end in every way that a program can see.
func TestWrapExit(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	tests := map[string]struct {
		lines  []string
		code   int
		signal syscall.Signal
	}{
		"good":       {[]string{"cat >/dev/null"}, 0, 0},
		"code":       {[]string{"cat >/dev/null", "exit 3"}, 3, 0},
		"at once":    {[]string{"echo bad >&2", "exit 1"}, 1, 0},
		"terminated": {[]string{"kill -TERM $$"}, -1, syscall.SIGTERM},
		"killed":     {[]string{"kill -KILL $$"}, -1, syscall.SIGKILL},
		"aborted":    {[]string{"ulimit -c 0", "kill -ABRT $$"}, -1, syscall.SIGABRT},
		// What it started has its output for longer than it lives itself.
		"survived": {[]string{"sleep 1000 2>/dev/null &", "echo $!", "exit 4"}, 4, 0},
		// The program takes no more.
		"deaf": {[]string{"trap '' PIPE", "while echo '{}' 2>/dev/null; do :; done", "exit 9"}, 9, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, _ := l.newDir("")
			c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+l.shell(test.lines...)), l.wrapper(), streamFlags()...)
			switch name {
			case "deaf":
				c.until("{}")
				if err := c.closeOutput(); err != nil {
					t.Fatal(err)
				}
			case "survived":
				pid, err := strconv.Atoi(strings.TrimSpace(string(c.until(""))))
				if err != nil {
					t.Fatal(err)
				}
				defer terminate(pid)
			}
			if name == "at once" || name == "survived" || name == "deaf" {
				// The program keeps its end open: that must not hold anything up.
				_ = c.cmd.Wait() // how it ended is looked at below
			} else {
				_ = c.end() // likewise
			}
			state, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || c.cmd.ProcessState.ExitCode() != test.code || test.signal != 0 && state.Signal() != test.signal {
				t.Errorf("it ended as %v; want code %d or signal %v", c.cmd.ProcessState, test.code, test.signal)
			}
		})
	}
}

// closeOutput has the program take no more.
func (c *caller) closeOutput() error { return c.pipe.Close() }

// TestWrapSignals sends signals to what the program takes for its CLI.
func TestWrapSignals(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	lines := []string{"echo $$"}
	// What it waits for is killed: a signal that can be caught gets lost if it comes before the child has become sleep.
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT}
	for _, s := range signals {
		lines = append(lines, fmt.Sprintf("trap 'kill -9 $!; echo got %d' %d", s, s))
	}
	lines = append(lines, "trap 'kill -9 $!; exit 5' TERM", "while :; do sleep 1000 & echo ready; wait $!; done")
	dir, _ := l.newDir("")
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+l.shell(lines...)), l.wrapper(), streamFlags()...)
	c.until("ready")
	for _, s := range signals {
		if err := c.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		c.until(fmt.Sprintf("got %d", s))
		c.until("ready")
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.end(); c.cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("after SIGTERM it ended with %v", err)
	}
}

// TestWrapUnread has a program end its CLI and wait for that without reading what is
// left: it does not wait for ever.
func TestWrapUnread(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	full := filepath.Join(l.root, "full")
	// More than a pipe holds, and less than all that there are.
	cli := l.shell("head -c 100000 /dev/zero", "echo >'"+full+"'", "exec sleep 1000")
	dir, _ := l.newDir("")
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
	if err := eventually(patience, func() error {
		_, err := os.Stat(full)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // how it ended is looked at below
	if state, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGTERM {
		t.Errorf("it ended as %v; want it to be terminated", c.cmd.ProcessState)
	}
}

// TestWrapNested has a wrapped claude that a person uses start another one, through
// wrap: that is no loop.
func TestWrapNested(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	inner := l.shell(`echo "inner $*"`)
	outer := l.shell("SWITCHBOARD_WRAP_CLAUDE='"+inner+"' '"+l.wrapper()+"' mcp serve", "exit $?")
	dir, _ := l.newDir("")
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+outer), l.wrapper(), "-p", "hello")
	if err := c.end(); err != nil || c.got.String() != "inner mcp serve\n" {
		t.Errorf("it said %q and ended with %v", &c.got, err)
	}
}

// TestWrapKilled kills what the program takes for its CLI: the CLI is gone, too.
func TestWrapKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	// On other systems its end shows by that of its input.
	cli := l.shell("echo $$", "cat >/dev/null")
	if runtime.GOOS == "linux" {
		cli = l.shell("trap '' HUP INT TERM PIPE", "echo $$", "exec sleep 1000")
	}
	dir, _ := l.newDir("")
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
	pid, err := strconv.Atoi(strings.TrimSpace(string(c.until(""))))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // it was killed
	if err := eventually(patience, func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("the CLI, process %d, is there: %w", pid, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestWrapLate begins without a hub, which comes later and is shown everything.
func TestWrapLate(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	dir, record := l.realDir()
	c := l.callCLI(t, dir, l.wrapEnv(), l.wrapper(), streamFlags()...)
	c.prompt("@say one")
	c.result()
	l.start()
	s := l.wrapped(t, dir, record)
	c.prompt(bash("touch x"), "@say two")
	c.grant()
	c.result()
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
	if err != nil {
		t.Fatal(err)
	}
	if code := snapshot.Ended.Code; code == nil || *code != 0 {
		t.Errorf("it ended as %+v", snapshot.Ended)
	}
	judgeWrapped(t, s, true, 2)
}

// TestWrapGap has more said without a hub than is kept for one. The program gets
// all of it, and the hub is told how much it has missed.
func TestWrapGap(t *testing.T) {
	t.Parallel()
	const lines, width = 250, 100_000 // more than 16 MiB
	l := newLab(t, nil)
	cli := l.shell(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x | fold -w %d", lines*width, width), "echo", "echo '{\"type\":\"the end\"}'", "cat >/dev/null")
	dir, record := l.realDir()
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
	c.until("the end")
	if got := strings.Count(c.got.String(), "x"); got != lines*width {
		t.Errorf("the program got %d bytes; want %d", got, lines*width)
	}
	l.start()
	s := l.wrapped(t, dir, record)
	if _, err := s.await(l.ctx(), "most of what was kept", func(events []api.Event) bool { return countKind(events, api.KindLine) > 100 }); err != nil {
		t.Fatal(err)
	}
	c.write(`{"type":"and more"}`)
	events, err := s.await(l.ctx(), "what comes now", func(events []api.Event) bool { return countKind(events, api.KindSent) > 0 })
	if err != nil {
		t.Fatal(err)
	}
	if gaps, kept := countKind(events, api.KindGap), countKind(events, api.KindLine); gaps != 1 || kept >= lines {
		t.Errorf("there are %d gaps and %d of %d lines", gaps, kept, lines)
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// TestWrapLeft has a hub that takes nothing while the program ends its CLI, for which
// nobody waits long. When it goes on, it takes what was left for it, all of it, once.
func TestWrapLeft(t *testing.T) {
	t.Parallel()
	const lines, width = 60, 50_000 // more than a socket holds
	l := newLab(t, nil)
	l.start()
	cli := l.shell("echo '{\"type\":\"system\",\"subtype\":\"first\"}'", "read -r line",
		fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x | fold -w %d", lines*width, width), "echo", "echo '{\"type\":\"the end\"}'", "exit 6")
	dir, record := l.realDir()
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
	s := l.wrapped(t, dir, record)
	if _, err := s.await(l.ctx(), "the first line", func(events []api.Event) bool { return countKind(events, api.KindLine) == 1 }); err != nil {
		t.Fatal(err)
	}
	hub := l.current()
	if err := hub.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.write(`{"type":"go on"}`)
	if err := c.end(); c.cmd.ProcessState.ExitCode() != 6 {
		t.Errorf("the CLI ended with %v", err)
	}
	left, err := filepath.Glob(filepath.Join(l.data, "spool", "*.spool"))
	if err != nil || len(left) != 1 {
		t.Errorf("the files that were left are %q, %v", left, err)
	}
	if err := hub.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
	if err != nil {
		t.Fatal(err)
	}
	if code := snapshot.Ended.Code; code == nil || *code != 6 {
		t.Errorf("it ended as %+v", snapshot.Ended)
	}
	events, err := s.awaitFrom(l.ctx(), 0, "all of it", func(events []api.Event) bool { return countKind(events, api.KindRunEnded) > 0 })
	if err != nil {
		t.Fatal(err)
	}
	if got, gaps, sent := countKind(events, api.KindLine), countKind(events, api.KindGap), countKind(events, api.KindSent); got != lines+2 || gaps != 0 || sent != 1 {
		t.Errorf("the hub has %d lines, %d gaps and %d of the program's lines; want %d, 0 and 1", got, gaps, sent, lines+2)
	}
	if err := eventually(patience, func() error {
		if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is still there: %w", left[0], err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestWrapBytes compares what a program and its CLI say with what the other gets:
// byte for byte, with every CLI.
func TestWrapBytes(t *testing.T) {
	t.Parallel()
	for _, agent := range append([]string{simAgent}, conformance.Versions()...) {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			l := newWrapLab(t, agent)
			l.start()
			in, out := filepath.Join(l.root, "in"), filepath.Join(l.root, "out")
			run := "'" + l.options.agent + "'"
			if strings.HasSuffix(l.options.agent, ".js") {
				run = "node " + run
			}
			cli := l.shell(fmt.Sprintf(`tee '%s' | %s "$@" | tee '%s'`, in, run, out))
			dir, record := l.realDir()
			c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
			c.write(`{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`)
			c.prompt("@say Grüße, 世界 \u2028", bash("touch x"), "@say done")
			c.grant()
			c.result()
			l.wrapped(t, dir, record)
			if err := c.end(); err != nil {
				t.Errorf("the CLI ended with %v", err)
			}
			for path, want := range map[string]string{in: c.sent.String(), out: c.got.String()} {
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s has %d bytes, the program %d, and they differ (%v)", filepath.Base(path), len(got), len(want), err)
				}
			}
		})
	}
}

// TestWrapOwner has the hub try what only the program may do, and do it when the
// program has ended.
func TestWrapOwner(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	dir, record := l.realDir()
	c := l.callCLI(t, dir, l.wrapEnv(), l.wrapper(), append(streamFlags(), "--model", "claude-sonnet-4-5")...)
	c.prompt("@say one")
	c.result()
	s := l.wrapped(t, dir, record)
	hub := l.client()
	if _, err := s.awaitState(l.ctx(), api.StateIdle); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if problem := problemOf(err); problem == nil || problem.Code != api.CodeConflict || !strings.Contains(problem.Error(), "another program") {
			t.Errorf("%s: %v; want it refused because it is another program's", what, err)
		}
	}
	try := func(force bool) {
		t.Helper()
		_, err := hub.Stop(t.Context(), s.id, api.Stop{Force: force})
		refused("stop", err)
		_, err = hub.Resume(t.Context(), s.id, api.Resume{Force: true})
		refused("resume by force", err)
	}
	try(false)
	try(true)
	_, err := hub.Send(t.Context(), s.id, api.SendMessage{ClientID: "a", Text: "@say no"})
	refused("a prompt", err)
	c.prompt(bash("touch x"), "@say two")
	c.until("can_use_tool")
	if _, err := s.awaitState(l.ctx(), api.StateRequiresAction); err != nil {
		t.Fatal(err)
	}
	_, err = hub.Interrupt(t.Context(), s.id, api.Interrupt{})
	refused("an interrupt", err)
	mode := "plan"
	_, err = hub.Control(t.Context(), s.id, api.Control{Request: []byte(`{"subtype":"set_permission_mode","mode":"` + mode + `"}`)})
	refused("a mode", err)
	// Also while there is no link, as long as the program lives.
	l.kill()
	l.start()
	try(true)
	// All of that has not reached the CLI, which goes on.
	if _, err := s.awaitFrom(l.ctx(), 0, "the link", func(events []api.Event) bool { return countKind(events, api.KindLinkUp) > 1 }); err != nil {
		t.Fatal(err)
	}
	question, err := s.awaitQuestion(l.ctx(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.answer(l.ctx(), question.ID, api.Answer{Decision: "allow"}); err != nil {
		t.Fatal(err)
	}
	c.result()
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	before, err := s.awaitState(l.ctx(), api.StateEnded)
	if err != nil {
		t.Fatal(err)
	}
	// Now it is an ordinary session.
	if _, err := hub.Resume(t.Context(), s.id, api.Resume{}); err != nil {
		t.Fatal(err)
	}
	if err := s.turn(l.ctx(), "b", "@say three"); err != nil {
		t.Fatal(err)
	}
	after, err := s.snapshot(l.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if after.Run != 2 || after.Transport != "shim" || after.Conversation != before.Conversation || after.Options.Model != "claude-sonnet-4-5" {
		t.Errorf("it was resumed as run %d by %s with %s, model %q; before that it was %s", after.Run, after.Transport, after.Conversation, after.Options.Model, before.Conversation)
	}
}

// TestWrapSteer lets the hub prompt and interrupt. The program sees the turns, and
// not what the hub and the CLI say to each other.
func TestWrapSteer(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	dir, record := l.realDir()
	c := l.callCLI(t, dir, l.wrapEnv("SWITCHBOARD_WRAP_STEER=1"), l.wrapper(), streamFlags()...)
	c.prompt("@say one")
	c.result()
	s := l.wrapped(t, dir, record)
	hub := l.client()
	for i := range 2 {
		if err := s.turn(l.ctx(), fmt.Sprint("turn-", i), fmt.Sprint("@say from the hub ", i)); err != nil {
			t.Fatal(err)
		}
		if line := c.result(); !strings.Contains(string(line), fmt.Sprint("from the hub ", i)) {
			t.Errorf("the program got %s", line)
		}
	}
	c.prompt(bash("touch x"), "@say never")
	c.until("can_use_tool")
	if _, err := s.awaitState(l.ctx(), api.StateRequiresAction); err != nil {
		t.Fatal(err)
	}
	if got, err := hub.Interrupt(t.Context(), s.id, api.Interrupt{}); err != nil || !got.Was {
		t.Fatalf("interrupting: %+v, %v", got, err)
	}
	c.result()
	if err := c.end(); err != nil && c.cmd.ProcessState.ExitCode() != 1 { // its last turn failed
		t.Error(err)
	}
	if strings.Contains(c.got.String(), `"control_response"`) {
		t.Error("the program was given an answer to what it has not asked")
	}
}
