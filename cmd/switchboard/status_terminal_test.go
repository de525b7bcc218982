//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// alone is a flag of no effect: without any argument the test binary is no program.
const alone = "--color=auto"

// TestAlone runs the program without a command on a terminal: it shows what is going on.
func TestAlone(t *testing.T) {
	l := newLooking(t)
	screen := l.run(100, nil, alone)
	for _, text := range []string{"Run this command?", "needs you", "Tidy up", "switchboard attach ID", "switchboard help"} {
		if !screen.Contains(text) {
			t.Errorf("%q is not said:\n%s", text, screen.Text())
		}
	}
}

// TestFirstCommands runs commands at a terminal when no hub has ever run: alone the program prints a welcome and starts nothing, a command
// that needs a hub starts one, and the next uses it.
func TestFirstCommands(t *testing.T) {
	t.Parallel()
	data := filepath.Join(shortDir(t), "d")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := environment(t, "HOME="+t.TempDir(), "SWITCHBOARD_DATA_DIR="+data, "SWITCHBOARD_ADDR=127.0.0.1:0", "SWITCHBOARD_AGENT=sim", "TERM=xterm-256color", "LANG=C.UTF-8")
	said := func(args ...string) *termtest.Screen {
		t.Helper()
		term := termtest.Start(t, termtest.Options{Args: append([]string{program}, args...), Env: env, Cols: 120, Rows: 30})
		if code := term.Exit(); code != 0 {
			t.Fatalf("%v: code %d\n%s", args, code, term.Screen().Text())
		}
		return term.Screen()
	}
	if screen := said(alone); !screen.Contains("No sessions yet") || !screen.Contains("switchboard run --simulated") {
		t.Errorf("no welcome:\n%s", screen.Text())
	}
	if _, err := os.Stat(filepath.Join(data, "lock")); err == nil {
		t.Error("a hub was started to say hello")
	}
	screen := said("ls")
	t.Cleanup(func() { endStarted(t, filepath.Join(data, "lock")) })
	if !screen.Contains("Started a background hub (pid ") || !screen.Contains("No sessions") {
		t.Errorf("no hub was started:\n%s", screen.Text())
	}
	if screen := said("questions"); screen.Contains("Started") || !screen.Contains("No open questions") {
		t.Errorf("the hub is not used:\n%s", screen.Text())
	}
}

// endStarted ends the hub whose process a lock names, and waits for it.
func endStarted(t *testing.T, lock string) {
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Error(err)
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		t.Error(err)
		return
	}
	_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	for begun := time.Now(); syscall.Kill(pid, 0) == nil; {
		if time.Since(begun) > patience {
			t.Errorf("the hub %d does not end", pid)
			return
		}
		// Nothing tells when a process ends that is not a child; it takes milliseconds.
		time.Sleep(10 * time.Millisecond)
	}
}
