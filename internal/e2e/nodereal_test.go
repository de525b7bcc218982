//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// TestNodeRealCLIs has each real CLI hold the usual conversation on a node, whose hub
// is killed with a question open, and which is killed itself while the CLI streams;
// and compares the journal with the CLI's transcript, which is the node's.
func TestNodeRealCLIs(t *testing.T) {
	t.Parallel()
	for _, version := range conformance.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			path, err := conformance.Program(version)
			if err != nil {
				if os.Getenv(conformance.RequireEnv) == "1" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
			t.Cleanup(func() {
				if err := model.Close(); err != nil {
					t.Error(err)
				}
			})
			l := newNodeLab(t, &labOptions{agent: path, real: true})
			l.start()
			m := l.newMachine("real")
			// The made-up key has to reach the CLI: it is the node's own, and so is the setting.
			m.env = claudetest.Env(m.home, model.URL())
			m.configure("[claude]\nuse_api_billing = true\n")
			m.enroll(l)
			m.start()
			if shown, err := m.node(); err != nil || len(shown.CLIs) == 0 || shown.CLIs[0].Version != version || shown.CLIs[0].Simulated {
				t.Errorf("the node has found %+v, %v; want %s", shown.CLIs, err, version)
			}
			s := m.mustCreate(nil)
			if err := s.turn(l.ctx(), "first", "@say One."); err != nil {
				t.Fatal(err)
			}
			second, err := s.send(l.ctx(), "second", asking("two"))
			if err != nil {
				t.Fatal(err)
			}
			question, err := s.awaitQuestion(l.ctx(), 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			l.kill()
			l.start()
			var found api.Question
			if err := l.call(l.ctx(), "GET", "/v1/questions/"+question.ID, nil, &found); err != nil || found.State != api.QuestionOpen {
				t.Fatalf("the question is %s after the restart, %v", found.State, err)
			}
			if err := s.allow(l.ctx(), 1); err != nil {
				t.Fatal(err)
			}
			if err := s.awaitTurn(l.ctx(), 0, second); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "two")); err != nil {
				t.Errorf("the tool that was allowed did not run: %v", err)
			}
			before := s.lives()
			third, err := s.send(l.ctx(), "third", "@slow 20ms\n@say "+strings.Repeat("word ", 100))
			if err != nil {
				t.Fatal(err)
			}
			if err := eventually(patience, func() error {
				if s.lives() < before+3 {
					return fmt.Errorf("%d live lines", s.lives()-before)
				}
				return nil
			}); err != nil {
				t.Fatalf("it does not stream: %v", err)
			}
			m.kill()
			m.launch()
			if err := s.awaitTurn(l.ctx(), 0, third); err != nil {
				t.Fatal(err)
			}
			// Ended and resumed, the conversation is the same, on the same machine.
			if err := s.stopAgent(l.ctx()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.awaitState(l.ctx(), api.StateEnded); err != nil {
				t.Fatal(err)
			}
			if err := s.turn(l.ctx(), "fourth", "@say Four."); err != nil {
				t.Fatal(err)
			}
			snapshot, err := s.snapshot(l.ctx())
			if err != nil || snapshot.Run != 2 || len(snapshot.Conversations) != 1 || snapshot.Node != "real" {
				t.Errorf("run %d on %q, conversations %v, %v", snapshot.Run, snapshot.Node, snapshot.Conversations, err)
			}
			if len(l.transcripts(l.home)) > 0 {
				t.Error("a transcript is on the hub's machine")
			}
			l.realVerdictAt(s, m.home)
		})
	}
}
