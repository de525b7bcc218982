//go:build unix

package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// TestHistory reads the transcript in the CLI's own folder where the caller names none.
func TestHistory(t *testing.T) {
	config := t.TempDir()
	l := &Launcher{config: Config{Env: []string{"CLAUDE_CONFIG_DIR=" + config}}}
	project, _ := wire.ProjectDir(config, "/a")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","message":{"role":"user","content":"Mine"},"cwd":"/a","uuid":"u1","parentUuid":null,"sessionId":"c1"}` + "\n"
	if err := os.WriteFile(filepath.Join(project, "c1.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	history, err := l.History(t.Context(), "", "/a", "c1")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range history {
		n++
	}
	if n != 1 {
		t.Errorf("the history has %d lines", n)
	}
}
