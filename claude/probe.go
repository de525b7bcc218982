package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Prober asks programs for their version and remembers the answers for as
// long as the file stays the same one: same device and inode, size and time of
// change. What a small file says is not remembered, since it is a script that
// runs another program, which may be updated without it. The zero value is ready to use, and all methods are safe for
// concurrent use. It must not be copied after its first use.
type Prober struct {
	// Timeout bounds one question. If zero, 20 s: a cold start of an old CLI
	// on a busy machine takes several seconds.
	Timeout time.Duration

	mu    sync.Mutex
	known map[string]probed // by path of the program
}

// wrapperMax is the size up to which a program is taken for a wrapper around
// another one. The real ones have many megabytes.
const wrapperMax = 64 << 10

type probed struct {
	file    os.FileInfo
	version wire.Version
}

// probeEnv lists the variables that a program gets when it is asked for its
// version: what is needed to run it at all, wrappers of version managers
// included, and nothing that changes what it does.
var probeEnv = []string{
	"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH",
	"NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT",
}

// Probe runs the CLI with --version and returns what it says. The program gets
// a minimal environment taken from env, which is that of the program if nil.
// Failures are not remembered; they are reported as a [*ProbeError].
func (p *Prober) Probe(ctx context.Context, cli *CLI, env []string) (wire.Version, error) {
	if len(cli.Args) == 0 {
		return wire.Version{}, &ProbeError{Path: cli.Path, Err: errors.New("there is no program")}
	}
	file, err := os.Stat(cli.Path)
	if err != nil {
		return wire.Version{}, &ProbeError{Path: cli.Path, Err: err}
	}
	if v, ok := p.lookUp(cli.Path, file); ok {
		return v, nil
	}
	if env == nil {
		env = os.Environ()
	}
	v, err := p.ask(ctx, cli, env)
	if err != nil {
		return wire.Version{}, err
	}
	if file.Size() <= wrapperMax {
		return v, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = make(map[string]probed)
	}
	p.known[cli.Path] = probed{file, v}
	return v, nil
}

func (p *Prober) lookUp(path string, file os.FileInfo) (wire.Version, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.known[path]
	if !ok || !os.SameFile(k.file, file) || k.file.Size() != file.Size() || !k.file.ModTime().Equal(file.ModTime()) {
		return wire.Version{}, false
	}
	return k.version, true
}

// ask runs the program once.
func (p *Prober) ask(ctx context.Context, cli *CLI, env []string) (wire.Version, error) {
	timeout := p.Timeout
	if timeout <= 0 {
		timeout = 20 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, cli.Args[0], append(cli.Args[1:len(cli.Args):len(cli.Args)], "--version")...)
	cmd.Env = append(pick(env, probeEnv), "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	// A wrapper may leave a child behind that holds the pipes.
	cmd.WaitDelay = time.Second
	var stdout, stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return wire.Version{}, &ProbeError{Path: cli.Path, Err: context.Cause(ctx)}
	}
	r := newRedactor(env)
	output := r.redact(stdout.bytes(), stderr.bytes())
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return wire.Version{}, &ProbeError{Path: cli.Path, Output: output, Err: err}
	}
	v, err := parseVersionOutput(stdout.bytes())
	if err != nil {
		return wire.Version{}, &ProbeError{Path: cli.Path, Output: output, Err: err}
	}
	return v, nil
}

// parseVersionOutput finds the version in what a CLI printed. It is the first
// line that is one: wrappers print notices before it.
func parseVersionOutput(out []byte) (wire.Version, error) {
	for line := range bytes.Lines(out) {
		if v, err := wire.ParseVersion(strings.TrimSpace(string(line))); err == nil {
			return v, nil
		}
	}
	return wire.Version{}, errors.New("expected a version such as 2.1.37 (Claude Code)")
}

// pick returns the entries of env with one of the names. Names are compared
// without regard to case, as Windows does; elsewhere no other spelling is in
// use.
func pick(env, names []string) []string {
	var out []string
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		for _, name := range names {
			if strings.EqualFold(k, name) {
				out = append(out, kv)
				break
			}
		}
	}
	return out
}
