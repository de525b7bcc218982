//go:build linux || darwin

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// bwrapEnv names the bubblewrap of the tests. The Makefile sets it.
const bwrapEnv = "SWITCHBOARD_BWRAP"

// Values of labOptions.sandbox.
const (
	sandboxAuto   = "auto" // what a hub does that was told nothing
	sandboxDeny   = "deny-only"
	sandboxStrict = "strict"
)

// bubblewrap returns the path of bubblewrap: that of the Makefile, one on PATH, or
// the one that tools/bubblewrap keeps. If there is none, the test fails under make
// and is reported as skipped under plain go test.
func bubblewrap(t testing.TB) string {
	t.Helper()
	candidates := []string{os.Getenv(bwrapEnv)}
	if path, err := exec.LookPath("bwrap"); err == nil {
		candidates = append(candidates, path)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		candidates = append(candidates, filepath.Join(cache, "switchboard", "bubblewrap", "bwrap"))
	}
	for _, path := range candidates {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	const missing = "there is no bubblewrap (make setup gets one)"
	if os.Getenv(conformance.RequireEnv) == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// sandboxEnv has the hub of a lab choose its sandbox by the lab's options, and by
// nothing that this machine happens to have. It is called for each process of the
// lab; sandboxed has made the folder with bubblewrap.
func (l *lab) sandboxEnv() []string {
	switch l.options.sandbox {
	case "":
		return []string{"SWITCHBOARD_SANDBOX_MODE=off"}
	case sandboxAuto:
		return []string{l.sandboxPath()}
	default:
		return []string{"SWITCHBOARD_SANDBOX_MODE=" + l.options.sandbox, l.sandboxPath()}
	}
}

// sandboxPath is PATH with bubblewrap on it, and nothing else that is not there
// anyway.
func (l *lab) sandboxPath() string {
	return "PATH=" + filepath.Join(l.root, "bwrap") + string(os.PathListSeparator) + os.Getenv("PATH")
}

// sandboxed chooses the sandbox of a lab whose hub was not started yet, and puts
// bubblewrap where sandboxPath names it.
func (l *lab) sandboxed(mode string) {
	l.t.Helper()
	if l.options.sandbox = mode; mode == "" || runtime.GOOS != "linux" {
		return
	}
	path := l.lend(bubblewrap(l.t))
	dir := filepath.Join(l.root, "bwrap")
	if err := os.Mkdir(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "bwrap")); err != nil {
		l.t.Fatal(err)
	}
}

// awayDir is a folder for labs that is not a temporary one: in the user's cache.
func awayDir(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "switchboard", "e2e")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// enforcer is what enforces a sandbox on this system.
func enforcer() string {
	if runtime.GOOS == "darwin" {
		return "seatbelt"
	}
	return "bubblewrap"
}

// contained holds that a session is in a sandbox of a mode that is enforced.
func (s *session) contained(mode string) {
	s.lab.t.Helper()
	snapshot, err := s.snapshot(s.lab.ctx())
	if err != nil {
		s.lab.t.Fatal(err)
	}
	if err := inSandbox(snapshot, mode); err != nil {
		s.lab.t.Error(err)
	}
}

func inSandbox(s *api.Session, mode string) error {
	if s.Sandbox == nil || s.Sandbox.Mode != mode || s.Sandbox.Enforcer != enforcer() {
		return fmt.Errorf("the session is in the sandbox %+v; want %s by %s", s.Sandbox, cmp.Or(mode, "none"), enforcer())
	}
	return nil
}

// attend answers each question of a turn, until the turn is over. Rules may be
// faster.
func (k *talk) attend(decide func(*api.Question) string) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.lab.ctx())
	var attending sync.WaitGroup
	attending.Go(func() {
		for n := 1; ; n++ {
			q, err := k.awaitQuestion(ctx, k.from, n)
			if err != nil {
				return
			}
			answer := api.Answer{ClientID: "attend-" + q.ID, Decision: decide(q)}
			if _, err := k.c.Answer(ctx, q.ID, answer); err != nil && ctx.Err() == nil && problemOf(err) == nil {
				k.t.Errorf("answering %s: %v", q.ID, err)
			}
		}
	})
	k.over()
	cancel()
	attending.Wait()
}
