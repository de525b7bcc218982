package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestSendWaits waits for answers of the oldest CLI, which does not tell which messages a turn was about: the second message is sent while the first
// turn goes on, and its answer must not be taken for the first one's.
func TestSendWaits(t *testing.T) {
	dir := filepath.Join(shortDir(t), "d")
	s := serve(t, dir, environment(t, envVersion+"=2.1.37"), "--agent", "sim", "--stop-agents")
	c := s.client()
	created, err := c.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Prompt: "@slow 20ms\n@say one, which takes its time"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"two", "three"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"switchboard", "send", created.ID, "--wait", "--data-dir", dir, "@say " + text}, &env{
			stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, env: environment(t),
		})
		if code != 0 || stdout.String() != text+"\n" {
			t.Errorf("code %d, %q, %s", code, &stdout, &stderr)
		}
	}
	s.end()
}
