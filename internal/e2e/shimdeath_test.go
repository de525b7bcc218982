//go:build linux

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// cleanUpLimit is how long the CLI of a dead shim, and all that it has started,
// may live: some seconds, and as much again and more where the machine is busy.
const cleanUpLimit = 30 * time.Second

// burdened makes the agents of a lab leave a process behind that is in a session
// of its own, as the tools of a CLI are: killing the group does not reach it.
func (l *lab) burdened() {
	l.t.Helper()
	starter := filepath.Join(l.root, "agent")
	script, err := os.ReadFile(starter)
	if err != nil {
		l.t.Fatal(err)
	}
	text := strings.Replace(string(script), "\n", "\ncase \"$*\" in *--version*) ;; *) setsid sleep 600 </dev/null >/dev/null 2>&1 & ;; esac\n", 1)
	if err := os.WriteFile(starter, []byte(text), 0o700); err != nil {
		l.t.Fatal(err)
	}
}

// sleepers returns the processes that burdened agents have left.
func (l *lab) sleepers() []int {
	return slices.DeleteFunc(l.processes(), func(pid int) bool { return !slices.Equal(commandLine(pid), []string{"sleep", "600"}) })
}

// awaitSleepers waits until n such processes run.
func (l *lab) awaitSleepers(n int) {
	l.t.Helper()
	if err := eventually(patience, func() error {
		if got := l.sleepers(); len(got) != n {
			return fmt.Errorf("%d processes are left, want %d", len(got), n)
		}
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
}

// TestShimKilled kills a shim, in the middle of a turn and with a question open:
// its CLI and what that has started must end, the session must say why, and a
// message must start it again.
func TestShimKilled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sandbox string
		dead          bool // the hub too
	}{
		{"hub alive", "", false},
		{"hub dead", "", true},
		{"sandbox, hub alive", sandboxAuto, false},
		{"sandbox, hub dead", sandboxStrict, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dead := test.dead
			l := newLab(t, &labOptions{sandbox: test.sandbox})
			l.burdened()
			l.start()
			s := l.mustCreate(nil)
			s.shot = true
			if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.send(l.ctx(), "second", asking("two")); err != nil {
				t.Fatal(err)
			}
			question, err := s.awaitQuestion(l.ctx(), 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			l.awaitSleepers(1)
			shims := l.shims()
			if len(shims) != 1 {
				t.Fatalf("there are %d shims, want 1", len(shims))
			}
			if dead {
				l.kill()
			}
			if err := syscall.Kill(shims[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if dead {
				l.start()
			}
			begin := time.Now()
			if err := eventually(cleanUpLimit, func() error { return l.gone(l.current().pid()) }); err != nil {
				t.Error(err)
			}
			t.Logf("all gone after %s", time.Since(begin).Round(time.Millisecond))
			snapshot, err := s.awaitState(l.ctx(), api.StateEnded)
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.Ended == nil || snapshot.Ended.Reason == "" {
				t.Errorf("the session does not say why it ended: %+v", snapshot.Ended)
			} else {
				t.Logf("it says: %s", snapshot.Ended.Reason)
			}
			var settled api.Question
			if err := l.call(l.ctx(), "GET", "/v1/questions/"+question.ID, nil, &settled); err != nil || settled.State != api.QuestionCancelled {
				t.Errorf("the question that nobody waits for is %s, %v", settled.State, err)
			}
			if err := s.turn(l.ctx(), "third", saying("three")); err != nil {
				t.Fatal(err)
			}
			if snapshot, err = s.snapshot(l.ctx()); err != nil || snapshot.Run != 2 {
				t.Errorf("run %d, %v; a message resumes as run 2", snapshot.Run, err)
			}
			if n := len(snapshot.Conversations); n != 1 {
				t.Errorf("it has %d conversations, want the one that it had: %v", n, snapshot.Conversations)
			}
			l.verdict(s)
		})
	}
}

// TestShimKilledAtPoints kills the shim just before and just after it has written
// a command: nobody can tell any more whether it was, and nobody may pretend to.
func TestShimKilledAtPoints(t *testing.T) {
	t.Parallel()
	for _, p := range points() {
		if p.victim != "shim" {
			continue
		}
		for _, visit := range p.times {
			t.Run(fmt.Sprintf("%s/%d", p.name, visit), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, nil)
				env, file := l.armed(fmt.Sprintf("%s:%d", p.name, visit))
				l.start(env...)
				s := l.mustCreate(nil)
				s.shot = true
				message, err := s.send(l.ctx(), "first", saying("one"))
				if err != nil {
					t.Fatal(err)
				}
				if err := eventually(patience, exists(file)); err != nil {
					t.Fatalf("the shim never came to %s: %v", p.name, err)
				}
				l.kill()
				l.start() // without the point, so that the next shim goes on
				for _, pid := range l.shims() {
					terminate(pid)
				}
				if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
					t.Fatal(err)
				}
				if err := s.turn(l.ctx(), "second", saying("two")); err != nil {
					t.Fatal(err)
				}
				l.verdict(s)
				s.report(t, message.ClientID)
			})
		}
	}
}

// report logs what has become of a message.
func (s *session) report(t *testing.T, clientID string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == api.KindMessage && strings.Contains(string(e.Data), clientID) {
			t.Logf("%d %s", e.Seq, e.Data)
		}
	}
}

// TestRestartKeepsAgents restarts the hub as systemd does with KillMode=process:
// SIGTERM to the hub alone, in the middle of turns.
func TestRestartKeepsAgents(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.burdened()
	l.start()
	asks, streams := l.mustCreate(nil), l.mustCreate(nil)
	if _, err := asks.send(l.ctx(), "asks", asking("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := asks.awaitQuestion(l.ctx(), 0, 1); err != nil {
		t.Fatal(err)
	}
	// Longer than a busy machine takes to get from here to the restart.
	streaming, err := streams.send(l.ctx(), "streams", "@slow 20ms\n@say "+strings.Repeat("word ", 900))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.awaitState(l.ctx(), api.StateRunning); err != nil {
		t.Fatal(err)
	}
	l.awaitSleepers(2)
	others := func() []int {
		hub := l.current().pid()
		return slices.Sorted(slices.Values(slices.DeleteFunc(l.processes(), func(pid int) bool {
			command := commandLine(pid)
			// The hub asks its agent, by a process that is still called as the hub
			// itself at first.
			return pid == hub || command == nil || slices.Contains(command, "--version") || slices.Contains(command, "serve")
		})))
	}
	before := others()
	l.stop()
	l.start()
	if after := others(); !slices.Equal(before, after) {
		t.Errorf("other processes after the restart:\n%sbefore:\n%s", describe(after), describe(before))
	}
	if err := asks.allow(l.ctx(), 1); err != nil {
		t.Fatal(err)
	}
	if err := streams.awaitTurn(l.ctx(), 0, streaming); err != nil {
		t.Fatal(err)
	}
	if err := asks.turn(l.ctx(), "more", saying("more")); err != nil {
		t.Fatal(err)
	}
	l.verdict(asks, streams)
}

// TestStopAgents holds that a session that is stopped leaves nothing behind, and
// that serve --stop-agents stops all.
func TestStopAgents(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []string{"", sandboxAuto} {
		t.Run("sandbox "+cmp.Or(sandbox, "off"), func(t *testing.T) {
			t.Parallel()
			stopAgents(t, sandbox)
		})
	}
}

func stopAgents(t *testing.T, sandbox string) {
	l := newLab(t, &labOptions{sandbox: sandbox})
	l.burdened()
	l.start()
	first, second := l.mustCreate(nil), l.mustCreate(nil)
	for _, s := range []*session{first, second} {
		if err := s.turn(l.ctx(), "turn", saying("something")); err != nil {
			t.Fatal(err)
		}
	}
	l.awaitSleepers(2)
	if err := first.stopAgent(l.ctx()); err != nil {
		t.Fatal(err)
	}
	if _, err := first.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	l.awaitSleepers(1)
	l.stop()
	l.options.args = append(l.options.args, "--stop-agents")
	l.start()
	if _, err := second.awaitState(l.ctx(), api.StateIdle); err != nil {
		t.Fatal(err)
	}
	l.stop()
	if err := eventually(cleanUpLimit, func() error { return l.gone() }); err != nil {
		t.Error(err)
	}
}
