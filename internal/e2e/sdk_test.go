//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// sdkFacts is what the official SDK's user gets to see, whatever the transport and
// whichever the agent.
const sdkFacts = "testdata/sdk-facts.jsonl"

var updateSDK = flag.Bool("update-sdk", false, "write what the SDK's user sees with a real CLI into testdata")

// The agents behind the SDK, and its transports.
const (
	simAgent, realAgent               = "simulated", "real"
	directTransport, browserTransport = "direct", "browser"
)

// TestSDK has the official TypeScript SDK hold a conversation with a session of
// the hub, over its Direct Connect transport and over the one for browsers:
// permissions, a question, hooks, an in-process tool, mode, model, interrupt, and
// a second front end that answers before and after it, and prompts. What the real
// CLI gives is the truth; the simulated one must give the same.
func TestSDK(t *testing.T) {
	t.Parallel()
	tests := []struct{ agent, transport string }{
		{realAgent, directTransport},
		{simAgent, directTransport},
		{simAgent, browserTransport},
	}
	for _, test := range tests {
		t.Run(test.agent+"/"+test.transport, func(t *testing.T) {
			t.Parallel()
			l := newSDKLab(t, test.agent)
			p := l.sdk(test.transport, "talk")
			facts, err := p.all()
			if err != nil {
				t.Errorf("the conversation failed: %v", err)
			}
			if *updateSDK && test.agent == realAgent {
				if err := os.WriteFile(sdkFacts, []byte(strings.Join(facts, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			compareFacts(t, facts)
			for name, want := range map[string]bool{"notes.txt": true, "more.txt": true, "theirs.txt": true, "ours.txt": true, "denied.txt": false} {
				if _, err := os.Stat(filepath.Join(p.dir, name)); test.agent == realAgent && (err == nil) != want {
					t.Errorf("%s is there: %t; want %t", name, err == nil, want)
				}
			}
		})
	}
}

// TestSDKGone kills the SDK's program while the agent waits for it: for a hook
// that guards a call, which is blocked then, and for a tool of its own, which fails.
func TestSDKGone(t *testing.T) {
	t.Parallel()
	tests := []struct{ transport, scene, told string }{
		{directTransport, "hook", "The program that checks this call is gone"},
		{browserTransport, "tool", ""},
	}
	for _, test := range tests {
		t.Run(test.scene, func(t *testing.T) {
			t.Parallel()
			l := newSDKLab(t, simAgent)
			p := l.sdk(test.transport, test.scene)
			waits := p.until("waiting")
			var fact struct{ Waiting, Session string }
			if err := json.Unmarshal([]byte(waits), &fact); err != nil || fact.Waiting != test.scene {
				t.Fatalf("it waits for %s, %v", waits, err)
			}
			k := &talk{session: &session{lab: l, id: fact.Session, dir: p.dir, follower: l.follow(fact.Session)}, t: t, c: l.client(), name: test.scene}
			p.kill()
			events := k.await("the end of the turn", func(events []api.Event) bool { return slices.ContainsFunc(events, isResult) })
			results := toolResults(events)
			if len(results) != 1 || !results[0].failed || !strings.Contains(results[0].text, test.told) {
				t.Errorf("the agent was told %+v; want one failure with %q", results, test.told)
			}
			// The session itself goes on, and whoever comes now can use it.
			k.prompt("@say Still here.")
			if result := k.over(); result.Failed {
				t.Errorf("the next turn ended with %+v", result)
			}
			k.prompt(bash("touch after.txt"))
			k.over()
			if test.scene == "hook" {
				k.told(1, true, test.told) // nobody is there to check it
			}
		})
	}
}

// newSDKLab starts a hub with one of the agents.
func newSDKLab(t *testing.T, agent string) *lab {
	t.Helper()
	var l *lab
	if agent == realAgent {
		l = newSDKRealLab(t)
	} else {
		l = newLab(t, nil)
	}
	l.start()
	return l
}

// newSDKRealLab is a lab of the newest real CLI.
func newSDKRealLab(t *testing.T) *lab {
	t.Helper()
	program, err := conformance.Program(conformance.Newest)
	program = installed(t, program, err)
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	// The made-up key has to reach the CLI.
	l := newLab(t, &labOptions{agent: program, real: true, config: "[claude]\nuse_api_billing = true\n"})
	l.options.env = claudetest.Env(l.home, model.URL())
	return l
}

// installed returns a path that make clis makes. If there is none, the test fails
// under make and is reported as skipped under plain go test.
func installed(t *testing.T, path string, err error) string {
	t.Helper()
	switch {
	case err == nil:
		return path
	case os.Getenv(conformance.RequireEnv) == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return ""
}

// An sdkProgram is a program that uses the official SDK.
type sdkProgram struct {
	t      testing.TB
	dir    string
	cmd    *exec.Cmd
	cancel context.CancelFunc
	lines  *bufio.Scanner
	stderr bytes.Buffer
	ended  bool
}

// sdk starts a program that drives a session of the lab's hub.
func (l *lab) sdk(transport, scene string) *sdkProgram {
	t, ok := l.t.(*testing.T)
	if !ok {
		l.t.Fatal("this is for tests")
	}
	t.Helper()
	modules, err := conformance.SDK()
	modules = installed(t, modules, err)
	node, err := conformance.Node()
	node = installed(t, node, err)
	script, err := filepath.Abs(filepath.Join("testdata", "sdk.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := l.token()
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := l.newDir("")
	// The hub and the CLI name a folder by its real path.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	p := &sdkProgram{t: t, dir: dir, cmd: exec.CommandContext(ctx, node, script, modules, transport, scene), cancel: cancel}
	p.cmd.Dir = l.root
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, suiteEnv + "=" + suite.id, labEnv + "=" + l.id,
		"HUB=http://" + l.address, "TOKEN=" + token, "PROJECT=" + dir,
	}
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, 5*time.Second
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(output)
	p.lines.Buffer(nil, 1<<20)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// all returns the facts that the program tells until it ends.
func (p *sdkProgram) all() ([]string, error) {
	var facts []string
	for p.lines.Scan() {
		facts = append(facts, p.lines.Text())
	}
	p.ended = true
	defer p.cancel()
	if err := p.cmd.Wait(); err != nil {
		return facts, fmt.Errorf("%w: %s", err, &p.stderr)
	}
	return facts, p.lines.Err()
}

// until returns the first fact with a member.
func (p *sdkProgram) until(member string) string {
	p.t.Helper()
	for p.lines.Scan() {
		if strings.HasPrefix(p.lines.Text(), `{"`+member+`":`) {
			return p.lines.Text()
		}
	}
	p.kill()
	p.t.Fatalf("the program ended and never told %s: %s", member, &p.stderr)
	return ""
}

// kill ends the program as a crash would.
func (p *sdkProgram) kill() {
	if p.ended {
		return
	}
	p.ended = true
	p.cancel()
	_ = p.cmd.Wait() // it was killed
}

// compareFacts compares facts with those that are known, each as an object of its
// own, so that a difference is easy to read.
func compareFacts(t *testing.T, got []string) {
	t.Helper()
	content, err := os.ReadFile(sdkFacts)
	if err != nil {
		t.Fatal(err)
	}
	wanted, found := parseFacts(t, strings.Split(strings.TrimSpace(string(content)), "\n")), parseFacts(t, got)
	for i := range max(len(wanted), len(found)) {
		switch {
		case i >= len(found):
			t.Errorf("missing: %v", wanted[i])
		case i >= len(wanted):
			t.Errorf("too much: %v", found[i])
		default:
			if diff := cmp.Diff(wanted[i], found[i]); diff != "" {
				t.Errorf("fact %d, turn %v (-want +got):\n%s", i+1, wanted[i]["turn"], diff)
			}
		}
	}
}

func parseFacts(t *testing.T, lines []string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, line := range lines {
		var fact map[string]any
		if err := json.Unmarshal([]byte(line), &fact); err != nil {
			t.Fatalf("%q is no fact: %v", line, err)
		}
		list = append(list, fact)
	}
	return list
}
