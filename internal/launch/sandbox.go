package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

const (
	// findGrace bounds how long it may take to find out which enforcer works.
	findGrace = 10 * time.Second
	// findAgain is after how long a machine without an enforcer is looked at again:
	// an administrator may have installed one.
	findAgain = time.Minute
	// resolveGrace bounds how long the files that rules name may be looked for.
	resolveGrace = 20 * time.Second
	// maxLimits and maxLimit bound the sentences about a sandbox, which are kept in
	// the log of every run.
	maxLimits = 20
	maxLimit  = 400
)

// noEnforcer is what [api.Sandbox].Enforcer says where nothing is enforced.
const noEnforcer = "none"

// A Sandbox says what sandboxes are made of. What they hold back is told with
// every run, see [Spec].Sandbox.
type Sandbox struct {
	// Enforcer is the name of one, as [sandbox.Find] knows them. If empty, the
	// best that works. Bubblewrap is the path of that program; if it is empty, it
	// is looked for.
	Enforcer, Bubblewrap string
	// Own are files, folders and sockets of ours that no agent sees, beside the
	// data folder and the socket.
	Own []string
	// Writable are folders that can be written with [sandbox.Strict], Sockets Unix
	// sockets that agents can use.
	Writable, Sockets []string
}

// Enforcer returns what holds sandboxes of a mode up on this machine. It looks
// once, and again after a while if there was none. The error is
// [sandbox.ErrNone], and says why in words for people.
func (l *Launcher) Enforcer(ctx context.Context, mode sandbox.Mode) (sandbox.Enforcer, error) {
	if mode == sandbox.Auto {
		mode = sandbox.DenyOnly
	}
	return l.enforcers.get(ctx, mode)
}

// findEnforcer looks for an enforcer, and logs once that there is none.
func (l *Launcher) findEnforcer(ctx context.Context, mode sandbox.Mode) (sandbox.Enforcer, error) {
	enforcer, err := l.tryEnforcer(ctx, "", mode)
	if err != nil {
		l.noSandbox.Do(func() {
			l.log.Warn("no sandbox works on this machine: what rules deny is not enforced by the system", "mode", string(mode), "why", err.Error(), "hint", "switchboard sandbox check")
		})
	}
	return enforcer, err
}

// tryEnforcer finds out whether an enforcer works. If name is empty, it is the
// one of the configuration.
func (l *Launcher) tryEnforcer(ctx context.Context, name string, mode sandbox.Mode) (sandbox.Enforcer, error) {
	if name == "" {
		name = l.config.Sandbox.Enforcer
	}
	if name == "" {
		name = "auto"
	}
	program := l.config.Sandbox.Bubblewrap
	if program == "" {
		if path, err := l.lookPath("bwrap"); err == nil {
			program = path
		}
	}
	return sandbox.Find(ctx, name, program, l.config.Program, mode)
}

// enforcers remembers which enforcer works for each mode.
type enforcers struct {
	find func(context.Context, sandbox.Mode) (sandbox.Enforcer, error)

	mu    sync.Mutex
	known map[sandbox.Mode]*finding // guarded by mu
}

// A finding is what one look at the machine has shown. Its members are set before
// done is closed.
type finding struct {
	done     chan struct{}
	enforcer sandbox.Enforcer
	err      error
	at       time.Time
}

// over reports whether the machine has to be looked at again.
func (f *finding) over(now time.Time) bool {
	select {
	case <-f.done:
		return f.err != nil && now.Sub(f.at) >= findAgain
	default:
		return false
	}
}

// get returns what is known. The first caller looks, others wait for it.
func (e *enforcers) get(ctx context.Context, mode sandbox.Mode) (sandbox.Enforcer, error) {
	e.mu.Lock()
	f := e.known[mode]
	if f != nil && !f.over(time.Now()) {
		e.mu.Unlock()
		select {
		case <-f.done:
			return f.enforcer, f.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	f = &finding{done: make(chan struct{})}
	if e.known == nil {
		e.known = make(map[sandbox.Mode]*finding)
	}
	e.known[mode] = f
	e.mu.Unlock()
	// The end of this caller's own context is no answer for the others.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), findGrace)
	defer cancel()
	f.enforcer, f.err = e.find(bounded, mode)
	f.at = time.Now()
	close(f.done)
	return f.enforcer, f.err
}

// A Box is what a run would be started in.
type Box struct {
	// Profile is nil if nothing is enforced.
	Profile *sandbox.Profile `json:"profile,omitempty"`
	// Told is what the hub and people are told of it.
	Told api.Sandbox `json:"sandbox"`
}

// Explain returns what a run would be started in. It starts nothing and leaves
// nothing behind.
func (l *Launcher) Explain(ctx context.Context, spec *Spec) (*Box, error) {
	if err := checkDir(spec.Dir); err != nil {
		return nil, err
	}
	in, err := l.enclose(ctx, spec)
	if err != nil {
		return nil, err
	}
	found, err := l.find(ctx, spec.Agent)
	if failed, ok := errors.AsType[*StartError](err); ok && failed.Code == NoAgent {
		found, err = &agent{}, nil // the sandbox is the same for all
	}
	if err != nil {
		return nil, err
	}
	env, err := l.environ(found, spec)
	if err != nil {
		return nil, err
	}
	return l.box(ctx, spec, in, found, env, "")
}

// An enclosure is what is known of a run's sandbox before the CLI's options are.
type enclosure struct {
	// policy is the run's, with a mode that can be enforced.
	policy sandbox.Policy
	// enforcer is nil if nothing is enforced, and told says why.
	enforcer sandbox.Enforcer
	told     api.Sandbox
	// nested and innerOff are what becomes of the CLI's own sandbox, note says so.
	nested, innerOff bool
	note             string
}

// enclose finds out what a run is enforced by.
func (l *Launcher) enclose(ctx context.Context, spec *Spec) (*enclosure, error) {
	in := &enclosure{policy: spec.Sandbox}
	optional := in.policy.Mode == sandbox.Auto
	switch in.policy.Mode {
	case sandbox.Off, "":
		in.told = api.Sandbox{Mode: string(sandbox.Off), Enforcer: noEnforcer}
		return in, nil
	case sandbox.Auto:
		in.policy.Mode = sandbox.DenyOnly
	case sandbox.DenyOnly, sandbox.Strict:
	default:
		return nil, &StartError{Code: BadOption, Reason: fmt.Sprintf("option Sandbox: %.40q is no mode", in.policy.Mode), Hint: "there are off, deny-only and strict"}
	}
	mode := in.policy.Mode
	enforcer, err := l.Enforcer(ctx, mode)
	none := func(reason string) (*enclosure, error) {
		in.told = api.Sandbox{Mode: string(mode), Enforcer: noEnforcer, Reason: oneLine(reason)}
		return in, nil
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, failure("looking for a sandbox", context.Cause(ctx))
	case err != nil && optional:
		return none(err.Error())
	case err != nil:
		return nil, &StartError{
			Code: NoSandbox, Reason: fmt.Sprintf("the session asks for the sandbox %s, and none works on this machine: %s", mode, oneLine(err.Error())),
			Hint: "switchboard sandbox check says more; to start it without a sandbox, use --sandbox off", Err: err,
		}
	}
	own := l.inner(spec)
	var cannot error
	if own.on {
		cannot = nests(ctx, enforcer)
	}
	if reason := in.cooperate(enforcer.Name(), own, cannot, optional); reason != "" {
		return none(reason)
	}
	in.enforcer = enforcer
	return in, nil
}

// box returns what a run is started in. env is the environment of its CLI, folder
// that of the run; it may be empty.
func (l *Launcher) box(ctx context.Context, spec *Spec, in *enclosure, agent *agent, env []string, folder string) (*Box, error) {
	if in.enforcer == nil {
		return &Box{Told: in.told}, nil
	}
	policy := in.policy
	if policy.Network == "" {
		policy.Network = sandbox.NetworkAll
	}
	if policy.Mode == sandbox.Strict {
		policy.Dirs = union(policy.Dirs, l.config.Sandbox.Writable)
	}
	machine, err := l.machine(spec, agent, env, folder)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, resolveGrace)
	defer cancel()
	profile, notes, err := sandbox.Resolve(bounded, &policy, machine)
	if err != nil {
		return nil, &StartError{
			Code: Failed, Reason: "the sandbox cannot be made: " + oneLine(err.Error()), Err: err,
			Hint: "switchboard sandbox explain says what it is made of",
		}
	}
	profile.Enforcer, profile.Nested = in.enforcer.Name(), in.nested
	if with, ok := in.enforcer.(interface{ Program() string }); ok && profile.Program == "" {
		profile.Program = with.Program()
	}
	return &Box{Profile: profile, Told: api.Sandbox{
		Mode: string(profile.Mode), Enforcer: profile.Enforcer, Network: string(profile.Network),
		Hidden: len(profile.Hide), ReadOnly: len(profile.ReadOnly),
		Limits: limits(in.enforcer.Limits(profile), notes, []string{in.note}),
	}}, nil
}

// machine describes this machine to the sandbox.
func (l *Launcher) machine(spec *Spec, agent *agent, env []string, folder string) (*sandbox.Machine, error) {
	m := &sandbox.Machine{
		Home: get(env, "HOME"), Dir: spec.Dir, ConfigDir: l.ConfigDir(spec), Env: env,
		Own: union(append([]string{l.config.DataDir, l.config.Socket}, l.config.Sandbox.Own...), nil),
	}
	for _, own := range m.Own {
		if within(realPath(spec.Dir), realPath(own)) {
			return nil, &StartError{
				Code: Forbidden, Reason: fmt.Sprintf("the folder %s is in %s, which the sandbox hides from agents", spec.Dir, own), Hint: "choose another folder",
			}
		}
	}
	m.Program = append(m.Program, l.config.Program)
	if agent.cli != nil {
		m.Program = append(m.Program, agent.cli.Path)
		for _, arg := range agent.cli.Args {
			if filepath.IsAbs(arg) {
				m.Program = append(m.Program, arg)
			}
		}
	}
	m.Program = union(m.Program, nil)
	if folder != "" {
		m.Show = append(m.Show, sandbox.Visible{Path: folder})
	}
	if agent.simulated && within(m.ConfigDir, l.config.DataDir) {
		if folder != "" { // else nothing is started
			if err := os.MkdirAll(m.ConfigDir, 0o700); err != nil {
				return nil, failure("making the folder of the simulated agent", err)
			}
		}
		m.Show = append(m.Show, sandbox.Visible{Path: m.ConfigDir, Write: true})
	}
	for _, socket := range l.config.Sandbox.Sockets {
		m.Show = append(m.Show, sandbox.Visible{Path: socket, Write: true})
	}
	// A socket whose server is not running is nothing that could be shown.
	m.Show = slices.DeleteFunc(m.Show, func(v sandbox.Visible) bool {
		_, err := os.Lstat(v.Path)
		return err != nil
	})
	return m, nil
}

// within reports whether a path is a folder, or in it.
func within(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// limits joins sentences, and bounds them.
func limits(lists ...[]string) []string {
	var all []string
	for _, text := range slices.Concat(lists...) {
		if text = oneLine(text); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if more := len(all) - maxLimits; more > 0 {
		all = append(all[:maxLimits:maxLimits], fmt.Sprintf("There are %d more limits; switchboard sandbox explain lists them.", more))
	}
	return all
}

// oneLine makes a text fit for a line.
func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	if len(text) > maxLimit {
		text = strings.ToValidUTF8(text[:maxLimit], "") + "…"
	}
	return text
}
