package claude_test

import (
	"log"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// simulate has the options start a simulated CLI, so that an example runs anywhere,
// without an account. What its model does is said by the prompts, in lines that
// begin with @. A program leaves this line out, and its prompts are for people.
//
// The function that it returns removes the files.
func simulate(o *claude.Options) (remove func()) {
	folder, err := os.MkdirTemp("", "claude-example-")
	if err != nil {
		log.Fatal(err)
	}
	// The CLI names its transcripts after the folder as the system calls it.
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		log.Fatal(err)
	}
	path, err := claudetest.Install(folder, nil)
	if err != nil {
		log.Fatal(err)
	}
	quirks, err := claudetest.QuirksFor("2.1.325")
	if err != nil {
		log.Fatal(err)
	}
	o.CLI = &claude.CLI{Path: path, Args: []string{path}, Version: quirks.Version}
	o.Dir = filepath.Join(folder, "work")
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		log.Fatal(err)
	}
	o.Env = []string{
		"HOME=" + folder, "CLAUDE_CONFIG_DIR=" + filepath.Join(folder, ".claude"), "PATH=" + os.Getenv("PATH"),
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "GOCOVERDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0",
	}
	return func() { _ = os.RemoveAll(folder) }
}

// configDir is where the CLI of these options keeps its conversations. A program
// leaves ConfigDir out, and means its user's own.
func configDir(o *claude.Options) string { return filepath.Join(filepath.Dir(o.Dir), ".claude") }
