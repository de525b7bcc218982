//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestAttackFromWithin has a process of the agent itself use the socket and the port,
// with a token that has all rights, openly and after it has shed its environment and its session: it
// may look and prompt, no more.
func TestAttackFromWithin(t *testing.T) {
	t.Parallel()
	for name, disguised := range map[string]bool{"openly": false, "in disguise": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			order := filepath.Join(l.root, "order")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			starter := filepath.Join(l.root, "agent")
			script, err := os.ReadFile(starter)
			if err != nil {
				t.Fatal(err)
			}
			variables := fmt.Sprintf("%s=%s %s='%s' GORACE=atexit_sleep_ms=0 ", roleEnv, roleThief, thiefEnv, order)
			if disguised {
				// What is left behind has to be found.
				variables = fmt.Sprintf("env -i %s=%s %s=%s %s setsid ", suiteEnv, suite.id, labEnv, l.id, variables)
			}
			start := fmt.Sprintf("\ncase \"$*\" in *--version*) ;; *) %s'%s' </dev/null >'%s/thief.log' 2>&1 & ;; esac\n", variables, self, l.root)
			if err := os.WriteFile(starter, []byte(strings.Replace(string(script), "\n", start, 1)), 0o700); err != nil {
				t.Fatal(err)
			}
			l.start()
			a := l.assault(t)
			mark := a.s.mark()
			message, err := a.s.send(l.ctx(), "asks", asking("asked"))
			if err != nil {
				t.Fatal(err)
			}
			q, err := a.s.awaitQuestion(l.ctx(), mark, 1)
			if err != nil {
				t.Fatal(err)
			}
			of := "/v1/sessions/" + a.s.id
			result := filepath.Join(l.root, "result")
			tries := []thiefTry{
				{Name: "look", Method: "GET", Path: of, Want: 200},
				{Name: "allow what it asks", Method: "POST", Path: "/v1/questions/" + q.ID + "/answer", Body: `{"decision":"allow"}`, Want: 403},
				{Name: "create", Method: "POST", Path: "/v1/sessions", Body: toJSON(t, api.CreateSession{Dir: a.s.dir}), Want: 403},
				{Name: "control", Method: "POST", Path: of + "/control", Body: `{"request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}`, Want: 403},
				{Name: "bypass", Method: "PATCH", Path: of, Body: `{"permission_mode":"bypassPermissions"}`, Want: 403},
				{Name: "accept edits", Method: "PATCH", Path: of, Body: `{"permission_mode":"acceptEdits"}`, Want: 403},
				{Name: "trust", Method: "POST", Path: of + "/rules", Body: `{"rule":"*","decision":"allow"}`, Want: 403},
				{Name: "confirm rules", Method: "POST", Path: "/v1/policy/confirm", Body: `{"sum":"x"}`, Want: 403},
				{Name: "write rules", Method: "PUT", Path: "/v1/policy/file", Body: `{"text":"","sum":""}`, Want: 403},
				{Name: "a token", Method: "POST", Path: "/v1/tokens", Body: `{"name":"x","scopes":["admin"]}`, Want: 403},
				{Name: "a code", Method: "POST", Path: "/v1/codes", Body: `{}`, Want: 403},
				{Name: "Direct Connect", Method: "POST", Path: "/sessions", Body: `{}`, Want: 403},
			}
			for _, try := range tries {
				try.Name, try.TCP = try.Name+", over TCP", true
				tries = append(tries, try)
			}
			raw, err := json.Marshal(thiefOrder{Socket: l.socket(), Address: l.address, Token: a.admin(), Result: result, Tries: tries})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(order+".new", raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(order+".new", order); err != nil {
				t.Fatal(err)
			}
			if err := eventually(patience, exists(result)); err != nil {
				t.Fatalf("the thief says nothing: %v\n%s", err, tail(filepath.Join(l.root, "thief.log"), 20))
			}
			if raw, err = os.ReadFile(result); err != nil {
				t.Fatal(err)
			}
			var done thiefOrder
			if err := json.Unmarshal(raw, &done); err != nil {
				t.Fatal(err)
			}
			for _, try := range done.Tries {
				if try.Got != try.Want {
					t.Errorf("%s: status %d, want %d", try.Name, try.Got, try.Want)
				}
			}
			if err := a.s.answer(l.ctx(), q.ID, api.Answer{ClientID: "a person", Decision: "deny"}); err != nil {
				t.Fatal(err)
			}
			if err := a.s.awaitTurn(l.ctx(), mark, message); err != nil {
				t.Fatal(err)
			}
			if asked := slices.ContainsFunc(a.readLines(), func(line []byte) bool { return strings.Contains(string(line), "bypassPermissions") }); asked {
				t.Error("the agent was told to bypass permissions")
			}
			a.survived(q.RequestID, "touch asked")
		})
	}
}
