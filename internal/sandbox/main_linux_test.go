package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the last stage of a sandbox where a test has started it as that.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(Inner(os.Args[2:], os.Stderr))
	}
	os.Exit(m.Run())
}

// bwrapPath returns the path of bubblewrap: that of the Makefile, one on PATH, or
// the one that tools/bubblewrap keeps. If there is none, the test fails under make
// and is reported as skipped under plain go test.
func bwrapPath(t testing.TB) string {
	t.Helper()
	candidates := []string{os.Getenv("SWITCHBOARD_BWRAP")}
	if path, err := exec.LookPath("bwrap"); err == nil {
		candidates = append(candidates, path)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		candidates = append(candidates, filepath.Join(cache, "switchboard", "bubblewrap", "bwrap"))
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); path != "" && err == nil {
			return path
		}
	}
	const missing = "there is no bubblewrap (make setup gets one)"
	if os.Getenv("SWITCHBOARD_REQUIRE_CLIS") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// enforcerFor returns an enforcer by its name.
func enforcerFor(t testing.TB, name string) Enforcer {
	t.Helper()
	program := ""
	if name == Bubblewrap {
		program = bwrapPath(t)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(name, program, self)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A contained is a process in a sandbox.
type contained struct {
	cmd       *exec.Cmd
	listeners *Listeners
	err       error // of Receive
	out       bytes.Buffer
	stderr    bytes.Buffer
}

// start starts a command in a sandbox and waits until it is there.
func start(t testing.TB, e Enforcer, p *Profile, c Command) *contained {
	t.Helper()
	return startAs(t, e, p, c, os.Geteuid())
}

// startAs is start for another user.
func startAs(t testing.TB, e Enforcer, p *Profile, c Command, uid int) *contained {
	t.Helper()
	if c.Env == nil {
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir}
	}
	if c.Dir == "" {
		c.Dir = p.Dir
	}
	if p.Network == "" {
		p.Network = NetworkAll
	}
	ours, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	fd, err := syscall.Dup(int(theirs.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	c.Files = append([]int{fd}, c.Files...)
	wrapped, err := e.Wrap(p, c)
	if err != nil {
		t.Fatal(err)
	}
	s := &contained{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s.cmd = exec.CommandContext(ctx, wrapped.Args[0], wrapped.Args[1:]...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = wrapped.Env, wrapped.Dir, &s.out, &s.stderr
	s.cmd.SysProcAttr = attacker(uid)
	for _, fd := range wrapped.Files {
		s.cmd.ExtraFiles = append(s.cmd.ExtraFiles, os.NewFile(uintptr(fd), "file"))
	}
	err = s.cmd.Start()
	for _, f := range s.cmd.ExtraFiles {
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.listeners, s.err = Receive(ours)
	if s.err == nil {
		t.Cleanup(s.listeners.Close)
	}
	return s
}

// wait returns what a process has written and its exit code.
func (s *contained) wait(t testing.TB) (out string, code int) {
	t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if s.err != nil {
		t.Fatalf("%v: %s", s.err, s.stderr.String())
	}
	return s.out.String() + s.stderr.String(), s.cmd.ProcessState.ExitCode()
}

// shell runs a script in a sandbox, and returns what it wrote.
func shell(t testing.TB, e Enforcer, p *Profile, script string) string {
	t.Helper()
	out, _ := start(t, e, p, Command{Args: []string{"/bin/sh", "-c", script}}).wait(t)
	return strings.TrimSpace(out)
}
