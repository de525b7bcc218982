//go:build unix

package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/shim"
)

// The test binary is also every program that the launcher starts: the shim, the
// simulated CLI, and a process that only waits.
func TestMain(m *testing.M) {
	if code, ok := claudetest.RunInstalled(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shim":
			os.Exit(fakeShim())
		case "sim":
			os.Exit(claudetest.RunSim(context.Background(), &claudetest.SimOptions{Args: os.Args[2:], Env: os.Environ(), Stderr: os.Stderr}, os.Stdin, os.Stdout))
		case sandbox.Verb:
			os.Exit(sandbox.Inner(os.Args[2:], os.Stderr))
		case "wait":
			os.Exit(waitForSignal())
		}
	}
	goleak.VerifyTestMain(m)
}

// The variables of a session that tell the fake shim what to do.
const (
	fakeEnv   = "FAKE_SHIM"   // tell, crash, parent; if not set, it is a real shim
	reportEnv = "FAKE_REPORT" // file for what it has to tell
)

// A report is what a fake shim tells.
type report struct {
	Args, Env []string
	Dir       string
	Input     os.FileMode
	Spec      *shim.Spec
	Child     int
}

// fakeShim is the shim, or what the orders say that it shall be instead.
func fakeShim() int {
	pipe := os.NewFile(3, "orders")
	orders, err := io.ReadAll(pipe)
	if err = errors.Join(err, pipe.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	spec, err := shim.ReadSpec(bytes.NewReader(orders))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := report{Args: os.Args, Env: os.Environ(), Spec: spec}
	r.Dir, _ = os.Getwd()
	if info, err := os.Stdin.Stat(); err == nil {
		r.Input = info.Mode()
	}
	switch get(spec.Command.Env, fakeEnv) {
	case "tell":
	case "crash":
		fmt.Fprintln(os.Stderr, "the shim breaks down")
		return 7
	case "parent":
		// As a tool of a CLI does: in a session of its own, which no group kill
		// reaches.
		child := exec.Command(os.Args[0], "wait")
		child.Env = spec.Command.Env
		child.SysProcAttr = newSession()
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
		r.Child = child.Process.Pid
	default: // the real one
		return shim.Main(context.Background(), io.NopCloser(bytes.NewReader(orders)))
	}
	if err := r.write(get(spec.Command.Env, reportEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return waitForSignal()
}

func (r *report) write(path string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func waitForSignal() int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
	return 0
}

// prober is shared by all tests, since the race detector makes every question
// take a second.
var prober claude.Prober

// A lab is a launcher with what belongs to it.
type lab struct {
	*Launcher
	t     testing.TB
	home  string
	dir   string
	exits chan Exit
	runs  int
}

// newLab returns a launcher whose agent is the simulated CLI.
func newLab(t testing.TB, change func(*Config)) *lab {
	t.Helper()
	home := t.TempDir()
	b := &lab{t: t, home: home, dir: t.TempDir(), exits: make(chan Exit, 100)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := Config{
		Program: self, DataDir: t.TempDir(), Agent: Simulator, Prober: &prober,
		Env:    testEnv(home),
		OnExit: func(e Exit) { b.exits <- e },
	}
	config.Socket = filepath.Join(config.DataDir, "run", "hub.sock")
	if change != nil {
		change(&config)
	}
	if b.Launcher, err = New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// testEnv is the whole environment of what tests start.
func testEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.TempDir(),
		"ANTHROPIC_API_KEY=made-up", "SECRET=for the CLI", "CLAUDECODE=1", "NOTIFY_SOCKET=/nowhere", "SWITCHBOARD_KILLPOINT=nowhere",
	}
}

// spec returns a new run with a fake shim, and where that will report.
func (b *lab) spec(fake string) (spec *Spec, path string) {
	b.runs++
	path = filepath.Join(b.t.TempDir(), "report")
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(b.t.Name()))
	return &Spec{
		Session: name, Run: b.runs, Token: "sb_run_verysecret", Dir: b.dir,
		Marker:  fmt.Sprintf("%s.%d.%d", name, b.runs, os.Getpid()),
		Options: api.SessionOptions{Env: map[string]string{fakeEnv: fake, reportEnv: path}},
	}, path
}

// start starts a run with a fake shim and waits for its report.
func (b *lab) start(fake string) (*Spec, *Launched, *report) {
	b.t.Helper()
	spec, path := b.spec(fake)
	launched, r := b.startSpec(spec, path)
	return spec, launched, r
}

func (b *lab) startSpec(spec *Spec, path string) (*Launched, *report) {
	b.t.Helper()
	b.t.Cleanup(func() {
		if _, err := b.Sweep(context.Background(), spec.Marker); err != nil {
			b.t.Error(err)
		}
	})
	launched, err := b.Start(b.t.Context(), spec)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.end(launched) })
	var r report
	eventually(b.t, "the shim's report", func() bool {
		data, err := os.ReadFile(path)
		return err == nil && json.Unmarshal(data, &r) == nil
	})
	return launched, &r
}

// end ends a shim that may have ended already.
func (b *lab) end(l *Launched) {
	if b.Alive(l.PID, l.PIDStart) {
		_ = syscall.Kill(l.PID, syscall.SIGKILL)
	}
	eventually(b.t, "the end of the shim", func() bool { return !b.Alive(l.PID, l.PIDStart) })
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited too long: %s", what)
		}
	}
}

// exit waits for the end of a shim to be told.
func (b *lab) exit() Exit {
	b.t.Helper()
	select {
	case e := <-b.exits:
		return e
	case <-time.After(60 * time.Second):
		b.t.Fatal("no exit was told")
		return Exit{}
	}
}

// has reports whether a list has all entries.
func has(list []string, entries ...string) bool {
	return !slices.ContainsFunc(entries, func(entry string) bool { return !slices.Contains(list, entry) })
}
