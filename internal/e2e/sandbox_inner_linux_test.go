package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

// Where the setting that turns Claude Code's own sandbox on comes from.
const (
	innerNone    = "none"
	innerFile    = "file"
	innerSession = "session"
)

// An innerRow is Claude Code's own sandbox in one of ours.
type innerRow struct {
	mode, from string
	// on says that commands run in Claude Code's own sandbox.
	on bool
	// asks is the sandbox that asks about a host: its own, ours, or none.
	asks string
	// says is among the limits of the session.
	says string
	// soak says that the row is tried only where there is time.
	soak bool
}

// TestSandboxInner has the newest real CLI run a command with its own sandbox turned
// on or not in each mode of ours, as an ordinary user and as root: the command runs,
// and an unknown host, which it connects to twice, is one question.
func TestSandboxInner(t *testing.T) {
	t.Parallel()
	const own, ours = "its own", "ours"
	ordinary := []innerRow{
		{mode: "off", from: innerNone, soak: true},
		{mode: "off", from: innerFile, on: true, asks: own},
		{mode: "off", from: innerSession, on: true, asks: own, soak: true},
		{mode: sandboxDeny, from: innerNone, soak: true},
		{mode: sandboxDeny, from: innerFile, on: true, asks: own, says: "is on ("},
		{mode: sandboxDeny, from: innerSession, on: true, asks: own, says: "is on (the session's settings)", soak: true},
		{mode: sandboxStrict, from: innerNone, asks: ours},
		{mode: sandboxStrict, from: innerFile, asks: ours, says: "takes its place"},
		{mode: sandboxStrict, from: innerSession, on: true, asks: ours, says: "You are asked about hosts by the strict sandbox"},
	}
	// No user namespace inside of another can have root's files, and bubblewrap makes none.
	root := slices.Clone(ordinary)
	for i := range root {
		r := &root[i]
		if r.mode == "off" || r.from == innerNone {
			r.soak = true
			continue
		}
		if r.on = false; r.asks == own {
			r.asks = ""
		}
		if r.mode == sandboxDeny || r.from == innerSession {
			r.says = "is off: it cannot start inside of this one: "
		}
	}
	t.Run("as an ordinary user", func(t *testing.T) {
		t.Parallel()
		innerSandboxes(t, ordinary, true)
	})
	t.Run("as root", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Skip("the tests are not root's")
		}
		innerSandboxes(t, root, false)
	})
}

func innerSandboxes(t *testing.T, rows []innerRow, ordinary bool) {
	t.Helper()
	l, _ := newRealLabOf(t, conformance.Newest, claudetest.Directives(nil), labOptions{sandbox: sandboxAuto, ordinary: ordinary, tmp: true})
	l.options.env = append(l.options.env, "CLAUDE_CODE_TMPDIR="+l.temp) // else /tmp/claude-UID
	if _, err := exec.LookPath("socat"); err != nil {
		l.relay()
	}
	// As for a user who has had a conversation before.
	if err := os.Mkdir(filepath.Join(l.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.home, ".claude.json"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.hand(l.home); err != nil {
		t.Fatal(err)
	}
	l.start()
	for _, r := range rows {
		if r.soak && !soak() {
			continue
		}
		t.Run(r.mode+"/"+r.from, func(t *testing.T) { l.innerSandbox(t, r) })
	}
}

// innerSandbox tries one row.
func (l *lab) innerSandbox(t *testing.T, r innerRow) {
	t.Helper()
	const settings = `{"sandbox":{"enabled":true}}`
	k := l.talk(t, func(c *api.CreateSession) {
		c.Options.Sandbox = r.mode
		switch r.from {
		case innerFile:
			dir := filepath.Join(c.Dir, ".claude")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "settings.local.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
		case innerSession:
			c.Options.Settings = json.RawMessage(settings)
		}
	})
	k.step(r.mode + ", " + r.from)
	if box := k.shot().Sandbox; box == nil || box.Mode != r.mode || (box.Enforcer == enforcer()) != (r.mode != "off") ||
		!strings.Contains(strings.Join(box.Limits, " "), r.says) {
		k.fail("the sandbox is %+v; want %s and %q", box, r.mode, r.says)
	}
	// The host is not there, so that its proxy says so once it is allowed.
	k.prompt(bash(`id -u; echo inner=${SANDBOX_RUNTIME:-0}; touch made; touch "$HOME/made"; for i in 1 2; do
	for try in $(seq 100); do
		curl -s --noproxy "" -x "$HTTP_PROXY" -o /dev/null -w 'code=%{http_code}\n' http://`+lootAsked+`/
		[ $? -eq 7 ] || break # its own sandbox does not wait until its relay listens
		sleep 0.1
	done
	done; true`), "@say Over.")
	var asked []string
	k.attend(func(q *api.Question) string {
		switch {
		case k.look(q).From == "hub": // a person is not asked
		case q.Tool != sandboxTool:
			asked = append(asked, q.Tool)
		case wire.IsSandboxRequest(q.RequestID):
			asked = append(asked, "ours")
		default:
			asked = append(asked, "its own")
		}
		return "allow"
	})
	want := []string{"Bash"}
	if r.asks != "" {
		want = append(want, r.asks)
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked are %q; want %q", asked, want)
	}
	user := os.Getuid()
	if l.another() {
		user = nobody
	}
	k.told(1, false, fmt.Sprintf("%d\ninner=%d", user, map[bool]int{true: 1}[r.on]))
	if got := strings.Count(k.result(1).text, "code=50"); got != 2 && r.asks != "" {
		k.fail("%d connections were let through to the proxy; want 2: %s", got, k.result(1).text)
	}
	k.there("made", true)
	_, err := os.Stat(filepath.Join(l.home, "made"))
	if written := err == nil; written == r.on { // the home folder is in a temporary one, which the strict sandbox leaves
		k.fail("a file outside of the folder was written: %t", written)
	}
	_ = os.Remove(filepath.Join(l.home, "made")) // it may not be there
	k.prompt("@say Still here.")
	k.over()
	k.check(k.stopAgent(l.ctx()))
	_, err = k.awaitState(l.ctx(), api.StateEnded)
	k.check(err)
}
