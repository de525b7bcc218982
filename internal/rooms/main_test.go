package rooms

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// programs is the folder of the simulated Claude Code, which is built when a
// test first asks for it.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir) // a temporary folder
	}
	os.Exit(code)
}

// simulated returns a folder, for PATH, with a simulated Claude Code.
func simulated(t *testing.T) string {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "rooms"); programs.err == nil { //nolint:usetesting // several tests share it
			programs.err = build(executable(programs.dir, "claude"), "./cmd/switchboard")
		}
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return programs.dir
}

// build builds a program from a package or a file of this module.
func build(path, from string) error {
	command := exec.Command("go", "build", "-ldflags=-w", "-o", path, from)
	command.Dir = "../.."
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", from, err, output)
	}
	return nil
}

// executable returns the path of a program.
func executable(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
