package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// scopeGrace bounds how long the user's service manager may take to answer.
const scopeGrace = 2 * time.Second

// scope asks the user's service manager for a scope with the shim in it. The
// shim runs already and only waits for its orders, so that nothing is lost if
// there is no manager or it refuses.
func (l *Launcher) scope(ctx context.Context, spec *Spec, pid int) error {
	runtime := get(l.config.Env, "XDG_RUNTIME_DIR")
	if runtime == "" {
		return errors.New("there is no XDG_RUNTIME_DIR")
	}
	if _, err := os.Stat(filepath.Join(runtime, "systemd", "private")); err != nil {
		return fmt.Errorf("looking for the user's service manager: %w", err)
	}
	busctl, err := l.lookPath("busctl")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, scopeGrace)
	defer cancel()
	name := "switchboard-" + spec.folder() + ".scope"
	cmd := exec.CommandContext(ctx, busctl, "--user", "--quiet", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail",
		"3",
		"Description", "s", "Switchboard agent of session "+spec.Session+", run "+strconv.Itoa(spec.Run),
		"CollectMode", "s", "inactive-or-failed",
		"PIDs", "au", "1", strconv.Itoa(pid),
		"0")
	cmd.Env = l.config.Env
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("asking for %s: %w: %.200s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// lookPath finds a program in the PATH of the configured environment.
func (l *Launcher) lookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(get(l.config.Env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH", name)
}
