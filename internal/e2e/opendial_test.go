//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// startStranger starts a real CLI that dials the root without a token, as a person would:
// nothing in its environment says that it belongs to a run. It ends with the test, or when end is called.
func (l *lab) startStranger(dir string) (end func()) {
	l.t.Helper()
	env := l.environment("CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION=e2e-runner 7")
	cli, err := claude.Find(l.ctx(), &claude.FindOptions{Path: l.options.agent, Env: env})
	if err != nil {
		l.t.Fatal(err)
	}
	_, port, _ := strings.Cut(l.address, ":")
	cmd := exec.CommandContext(l.t.Context(), cli.Args[0], append(cli.Args[1:],
		"--sdk-url", "ws://localhost:"+port, "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--include-partial-messages", "--replay-user-messages")...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // how it ends is not what is tested
	})
	l.t.Cleanup(func() {
		end()
		if l.t.Failed() {
			l.t.Logf("the CLI wrote:\n%s", out.String())
		}
	})
	return end
}

// awaitStranger waits for a session that is not one of those known, and follows it.
func (l *lab) awaitStranger(dir string, known ...string) *session {
	l.t.Helper()
	s := &session{lab: l, dialled: true, dir: dir}
	err := eventually(patience, func() error {
		var list api.SessionList
		if err := l.call(l.ctx(), http.MethodGet, "/v1/sessions", nil, &list); err != nil {
			return err
		}
		for _, each := range list.Sessions {
			if !strings.Contains(strings.Join(known, " "), each.ID) && each.State == api.StateIdle {
				s.id = each.ID
				return nil
			}
		}
		return fmt.Errorf("there are %d sessions", len(list.Sessions))
	})
	if err != nil {
		l.t.Fatal(err)
	}
	s.follower = l.follow(s.id)
	return s
}

// TestRealOpenDialIn has real CLIs dial the root of a hub without a token: they converse,
// what was configured is approved and the decision names its rule, a person answers the
// rest, and everything that shows the session says that it is unauthenticated.
func TestRealOpenDialIn(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2.1.37", "2.1.120"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l, _ := newRealLabWith(t, version, "", claudetest.Directives(nil))
			l.options.args = []string{"--open-dial-in", "--dial-auto-approve", "Bash(touch:*)"}
			l.start()
			dir := filepath.Join(l.root, "w", "stranger")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			end := l.startStranger(dir)
			s := l.awaitStranger(dir)
			if err := s.turn(l.ctx(), "first", "@say Hello."); err != nil {
				t.Fatal(err)
			}
			if err := s.turn(l.ctx(), "approved", "@tool Bash {\"command\":\"touch approved\",\"description\":\"x\"}\n@say Done."); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "approved")); err != nil {
				t.Errorf("what was approved did not run: %v", err)
			}
			var rule *api.RuleRef
			s.follower.mu.Lock()
			for _, e := range s.follower.events {
				var q api.Question
				if e.Kind == api.KindQuestionSettled && json.Unmarshal(e.Data, &q) == nil && q.Tool == "Bash" {
					rule = q.Rule
				}
			}
			s.follower.mu.Unlock()
			if rule == nil || rule.Rule != "Bash(touch:*)" || rule.Scope != "dialed" || rule.Source != "dial.auto_approve" {
				t.Errorf("it was decided by %s", toJSON(t, rule))
			}
			if _, err := s.send(l.ctx(), "asked", "@tool Write {\"file_path\":"+toJSON(t, filepath.Join(dir, "asked"))+",\"content\":\"x\"}\n@say Asked."); err != nil {
				t.Fatal(err)
			}
			err := eventually(patience, func() error {
				var v api.Session
				if err := l.call(l.ctx(), http.MethodGet, "/v1/sessions/"+s.id, nil, &v); err != nil {
					return err
				}
				if len(v.Questions) != 1 || v.Questions[0].Tool != "Write" {
					return fmt.Errorf("it asks %d questions", len(v.Questions))
				}
				if !v.Unauthenticated || v.Runner != "e2e-runner 7" || v.Transport != "websocket" || v.Version != version {
					t.Errorf("the session is %s", toJSON(t, v))
				}
				return l.call(l.ctx(), http.MethodPost, "/v1/questions/"+v.Questions[0].ID+"/answer", api.Answer{Decision: "deny", Message: "no"}, nil)
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, verb := range [][]string{{"ls"}, {"show", s.id}} {
				text := (&assault{lab: l, t: t}).runVerb(append(verb, "--data-dir", l.data)...)
				if !strings.Contains(text, "unauthenticated") || verb[0] == "show" && !strings.Contains(text, "e2e-runner 7") {
					t.Errorf("switchboard %s prints\n%s", verb[0], text)
				}
			}
			// Its process is on this machine, and is not waited for when it is gone.
			end()
			if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
				t.Fatal(err)
			}
			if version == "2.1.37" {
				return // that each CLI has a session of its own is the hub's doing, and shown once
			}
			l.startStranger(dir)
			other := l.awaitStranger(dir, s.id)
			if err := other.turn(l.ctx(), "second", "@say Another."); err != nil {
				t.Fatal(err)
			}
		})
	}
}
