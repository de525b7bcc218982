package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// TestSandboxRealCLIs holds that each real CLI has its usual conversation in a
// sandbox of each mode, with what it reads, edits and runs, a sub-agent, an MCP
// server and a hook, over a killed hub and resumed; and that none of these sees
// what is denied.
func TestSandboxRealCLIs(t *testing.T) {
	t.Parallel()
	for _, version := range conformance.Versions() {
		for _, mode := range []string{sandboxDeny, sandboxStrict} {
			t.Run(version+"/"+mode, func(t *testing.T) {
				t.Parallel()
				// The mode of each session is the hub's default.
				chosen := mode
				if mode == sandboxDeny {
					chosen = sandboxAuto
				}
				l, _ := newRealLabOf(t, version, claudetest.Directives(nil), labOptions{sandbox: chosen, away: true})
				k := l.inside(t, mode)
				k.works()
				k.delegates()
				k.isHeld(mode)
				k.step("a killed hub")
				k.restart()
				k.run("touch after", "")
				k.there("after", true)
				k.resumes()
				k.contained(mode)
			})
		}
	}
}

// An insider is an agent in a sandbox.
type insider struct{ *talk }

// inside starts a session with a rule that denies something.
func (l *lab) inside(t *testing.T, mode string) *insider {
	t.Helper()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(l.home, ".config", "switchboard", "rules.toml"), `deny = ["Read(~/.ssh/**)"]`+"\n")
	write(filepath.Join(l.home, ".ssh", "id"), lootKey+"\n")
	// As for a user who has had a conversation before: in a strict sandbox they cannot be made.
	write(filepath.Join(l.home, ".claude", "x"), "")
	write(filepath.Join(l.home, ".claude.json"), "{}\n")
	l.start()
	k := l.talk(t, func(c *api.CreateSession) {
		write(filepath.Join(c.Dir, "notes.txt"), "one\ntwo\n")
		write(filepath.Join(c.Dir, "look.sh"), "cat ~/.ssh/id '"+filepath.Join(l.data, "admin.token")+"'\n")
		write(filepath.Join(c.Dir, ".claude", "settings.json"),
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"cat ~/.ssh/id >>hook.txt 2>&1; echo hooked >>hook.txt"}]}]}}`)
		c.Options.MCPServers = l.readServers()
	})
	k.contained(mode)
	return &insider{k}
}

// run has the agent run a command, and holds that its result has a text.
func (k *insider) run(command, text string) {
	k.t.Helper()
	k.allowing(bash(command))
	k.told(1, false, text)
}

// allowing prompts the agent, allows what it asks and rules do not answer, and
// waits for the end of the turn.
func (k *insider) allowing(lines ...string) {
	k.t.Helper()
	k.prompt(append(lines, "@say Over.")...)
	k.attend(func(*api.Question) string { return "allow" })
}

// file is a path in the session's folder.
func (k *insider) file(name string) string { return filepath.Join(k.dir, name) }

// works has the agent read, edit, write and run something.
func (k *insider) works() {
	k.t.Helper()
	k.step("tools")
	k.allowing(
		reading(k.file("notes.txt")),
		`@tool Edit {"file_path":`+quoted(k.file("notes.txt"))+`,"old_string":"two","new_string":"three"}`,
		`@tool Write {"file_path":`+quoted(k.file("new.txt"))+`,"content":"four\n"}`,
		bash("cat notes.txt new.txt; git --version; id -u"),
	)
	k.told(1, false, "two")
	k.told(4, false, "one\nthree\nfour\ngit version")
	if text := k.content("hook.txt"); !strings.Contains(text, "hooked") || strings.Contains(text, lootKey) {
		k.fail("the hook wrote %q", text)
	}
}

// content returns what is in a file of the session's folder.
func (k *insider) content(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(k.file(name))
	k.check(err)
	return string(text)
}

// delegates has the agent use a sub-agent and an MCP server, both of which try to
// read what is denied.
func (k *insider) delegates() {
	k.t.Helper()
	k.step("a sub-agent")
	prompt := bash("sh look.sh || touch by-the-agent") + "\n@say The agent is done."
	k.allowing(`@tool Task {"description":"A small thing","prompt":` + quoted(prompt) + `,"subagent_type":"general-purpose","run_in_background":false}`)
	k.there("by-the-agent", true)
	k.step("an MCP server")
	k.allowing("@tool mcp__files__read "+`{"path":`+quoted(k.file("notes.txt"))+`}`, `@tool mcp__files__read {"variable":"E2E_KEY"}`)
	k.told(1, false, "three")
	k.told(2, false, "open ")
	if hasLine(k.events(), lootKey) {
		k.fail("the MCP server has read the key")
	}
}

// isHeld holds what the sandbox holds back.
func (k *insider) isHeld(mode string) {
	k.t.Helper()
	k.step("what is denied")
	k.run("sh look.sh; echo looked", "looked")
	if text := k.result(1).text; strings.Contains(text, lootKey) || strings.Contains(text, "sb_e2etests") {
		k.fail("the agent has seen %s", text)
	}
	k.step("outside")
	k.run("touch ../../outside 2>&1; echo tried", "tried")
	_, err := os.Stat(filepath.Join(k.lab.root, "outside"))
	if written := err == nil; written != (mode == sandboxDeny) {
		k.fail("a file outside of the folder was written: %t", written)
	}
}

// resumes ends the agent and continues the conversation in another process.
func (k *insider) resumes() {
	k.t.Helper()
	k.step("resume")
	k.check(k.stopAgent(k.lab.ctx()))
	_, err := k.awaitState(k.lab.ctx(), api.StateEnded)
	k.check(err)
	if err := eventually(cleanUpLimit, func() error { return k.lab.gone(k.lab.current().pid()) }); err != nil {
		k.fail("what was in the sandbox: %v", err)
	}
	k.run("touch resumed", "")
	k.there("resumed", true)
	if s := k.shot(); s.Run != 2 || len(s.Conversations) != 1 {
		k.fail("run %d, conversations %v; want run 2 of the one conversation", s.Run, s.Conversations)
	}
}
