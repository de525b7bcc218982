//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// TestRealFresh has run start real CLIs with a preset: a new process for each turn, which knows nothing of the turns before and has the variables of
// the preset and of the flags.
func TestRealFresh(t *testing.T) {
	t.Parallel()
	for _, version := range []string{conformance.Oldest, conformance.Newest} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l, model := newRealLabWith(t, version, `
[preset.each]
fresh = true
allowed_tools = ["Bash"]
permission_mode = "acceptEdits"
env = { WORD_A = "from the preset", WORD_B = "from the preset" }
`, claudetest.Directives(nil))
			l.start()
			dir, _ := l.newDir("")
			verb := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(l.ctx(), l.program(t), args...)
				cmd.Env = l.environment("WORD_B=from the shell", "SWITCHBOARD_DATA_DIR="+l.data)
				cmd.Dir = dir
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %v\n%s", args, err, &stderr)
				}
				return strings.TrimSpace(string(out))
			}
			id := verb("run", "--no-start", "--detach", "--preset", "each", "--env", "WORD_B",
				`@tool Bash {"command":"echo $WORD_A, $WORD_B > words","description":"Note"}`+"\n@say One.")
			verb("wait", id)
			for _, word := range []string{"Two.", "Three."} {
				if answer := verb("send", id, "--wait", "@say "+word); answer != word {
					t.Errorf("the answer is %q, want %q", answer, word)
				}
			}
			words, err := os.ReadFile(filepath.Join(dir, "words"))
			if err != nil || string(words) != "from the preset, from the shell\n" {
				t.Errorf("the tool was given %q, %v", words, err)
			}
			var session api.Session
			if err := l.call(l.ctx(), "GET", "/v1/sessions/"+id, nil, &session); err != nil {
				t.Fatal(err)
			}
			conversations := map[string]bool{}
			for _, c := range session.Conversations {
				conversations[c.ID] = true
			}
			if session.Run != 3 || len(conversations) != 3 {
				t.Errorf("%d runs with the conversations %+v, want 3 of each", session.Run, session.Conversations)
			}
			if o := session.Options; o == nil || !o.Fresh || o.Env != nil {
				t.Errorf("the options are %+v", o)
			}
			last := ""
			for _, request := range model.Requests() {
				if strings.Contains(string(request.Body), "@say Three.") && !slices.ContainsFunc(request.Messages, func(m claudetest.TurnMessage) bool { return m.Role == "assistant" }) {
					last = string(request.Body)
				}
			}
			if last == "" || strings.Contains(last, "@say One.") || strings.Contains(last, "@say Two.") {
				t.Errorf("the last process was told of the turns before: %q", last)
			}
		})
	}
}
