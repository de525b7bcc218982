package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// Claude Code has a sandbox of its own, for the commands that its tool Bash runs.
// It is inside of ours. It makes namespaces with bubblewrap, or a second Seatbelt
// profile, and asks about hosts.
//
// What turns it on decides what becomes of it. The session's settings and those of
// an administrator are obeyed: the sandbox leaves namespaces to the processes in
// it, where it can. A file of the user or the project is obeyed in a sandbox that
// is not strict; in a strict one, which holds the same and asks the same, the inner
// one is turned off. Where both are on and ours asks about hosts, the hub answers
// what the inner one asks; see internal/hub. So there is one question about a host.
//
// Whether it can start in ours is tried: an inner sandbox that cannot makes every
// command fail.

// Where the setting of the CLI's own sandbox can come from, beside files.
const (
	fromSession = "the session's settings"
	fromManaged = "the administrator's settings"
)

// An inner is the CLI's own sandbox.
type inner struct {
	on bool
	// from says what turns it on: fromSession, fromManaged or a file.
	from string
}

// inner finds out whether the CLI will turn its own sandbox on. Settings that are
// stronger come first.
func (l *Launcher) inner(spec *Spec) inner {
	configDir, o := l.ConfigDir(spec), &spec.Options
	file := func(source string, elements ...string) func() (string, []byte) {
		return func() (string, []byte) {
			path := filepath.Join(elements...)
			if source != "" && o.SettingSources != nil && !slices.Contains(o.SettingSources, source) {
				return path, nil
			}
			text, _, err := readRegular(os.OpenFile(path, readOnly, 0))
			if err != nil {
				return path, nil
			}
			if source == "" {
				return fromManaged, text
			}
			return path, text
		}
	}
	for _, settings := range []func() (string, []byte){
		file("", managedSettings()),
		func() (string, []byte) { return fromSession, o.Settings },
		file("local", spec.Dir, ".claude", "settings.local.json"),
		file("project", spec.Dir, ".claude", "settings.json"),
		file("user", configDir, "settings.json"),
	} {
		from, text := settings()
		if on, said := enablesSandbox(text); said {
			return inner{on, from}
		}
	}
	return inner{}
}

// managedSettings returns the file in which an administrator has settings that
// nothing overrides.
func managedSettings() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	return "/etc/claude-code/managed-settings.json"
}

// enablesSandbox returns what settings say about the CLI's own sandbox, and
// whether they do.
func enablesSandbox(settings []byte) (on, said bool) {
	// Maps, since the fields of a struct are found whatever their case.
	var members, box map[string]json.RawMessage
	if json.Unmarshal(settings, &members) != nil || json.Unmarshal(members["sandbox"], &box) != nil {
		return false, false
	}
	said = json.Unmarshal(box["enabled"], &on) == nil
	return on && said, said
}

// nests returns why the CLI's own sandbox cannot start inside of an enforcer's, nil
// if it can.
func nests(ctx context.Context, e sandbox.Enforcer) error {
	if n, ok := e.(interface {
		Nests(ctx context.Context) error
	}); ok {
		return n.Nests(ctx)
	}
	return errors.New("there is one at a time")
}

// cooperate decides what becomes of the CLI's own sandbox; cannot says why it could
// not start. If it returns a reason, the run has to do without ours, which was
// optional.
func (in *enclosure) cooperate(enforcer string, own inner, cannot error, optional bool) (reason string) {
	if !own.on {
		return ""
	}
	file := own.from != fromSession && own.from != fromManaged
	switch {
	case file && in.policy.Mode == sandbox.Strict:
		in.innerOff = true
		in.note = fmt.Sprintf("Claude Code's own sandbox, which %s turns on, is off: the strict sandbox around it takes its place.", own.from)
	case cannot == nil && in.policy.Mode == sandbox.Strict:
		in.nested = true
		in.note = fmt.Sprintf("Claude Code's own sandbox is on (%s). You are asked about hosts by the strict sandbox around it.", own.from)
	case cannot == nil:
		in.nested = true
		in.note = fmt.Sprintf("Claude Code's own sandbox is on (%s), and asks about hosts.", own.from)
	case enforcer == sandbox.Bubblewrap && own.from != fromManaged:
		in.innerOff = true
		in.note = fmt.Sprintf("Claude Code's own sandbox (%s) is off: it cannot start inside of this one: %v.", own.from, cannot)
	case optional:
		return fmt.Sprintf("Claude Code's own sandbox is on (%s), and cannot start inside of %s", own.from, enforcer)
	default:
		in.note = fmt.Sprintf("Claude Code's own sandbox is on (%s), and cannot start inside of %s: commands may fail. Turn it off there.", own.from, enforcer)
	}
	return ""
}
