package launch

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// simPrefix begins the names of the variables that tell the simulated CLI what
// to do. They are ours, and still that CLI must get them.
const simPrefix = "SWITCHBOARD_SIM_"

// simVersion is the version that the simulated CLI imitates.
const simVersion = simPrefix + "VERSION"

// configVariable names the folder in which a CLI keeps its files.
const configVariable = "CLAUDE_CONFIG_DIR"

// serviceEnv are the variables with which a service manager speaks to the hub
// alone. An agent that finds them could report the hub as ready, take its
// sockets for its own, or be taken for a part of its log.
var serviceEnv = [...]string{
	"NOTIFY_SOCKET", "LISTEN_*", "WATCHDOG_*", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID*",
	"MEMORY_PRESSURE_*", "CREDENTIALS_DIRECTORY",
}

// killPrefix begins the names of the variables that tell a program built for the
// kill tests where to stop. A shim must get them.
const killPrefix = "SWITCHBOARD_KILLPOINT"

// matches reports whether a variable's name is in a list.
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// nameOf returns the name of an entry "KEY=value".
func nameOf(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	return name
}

// environ returns the environment of a run's CLI: the hub's without what is
// taken out, then what the run adds.
func (l *Launcher) environ(agent *agent, spec *Spec) ([]string, error) {
	env := l.inherited(l.config.Claude.UseAPIBilling)
	if agent.simulated {
		env = append(env, l.withPrefix(simPrefix)...)
	}
	env = set(env, "PWD="+spec.Dir)
	for _, entry := range l.simConfig(spec) {
		env = set(env, entry)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Options.Env)) {
		entry := name + "=" + spec.Options.Env[name]
		if name == "" || strings.Contains(name, "=") || strings.ContainsRune(entry, 0) {
			return nil, &StartError{Code: BadOption, Reason: fmt.Sprintf("option Env: %.60q cannot be the name of a variable, or its value contains a NUL byte", name)}
		}
		if reserved(agent, name) {
			return nil, &StartError{Code: BadOption, Reason: fmt.Sprintf("option Env: %.60q is not for a session to set", name), Hint: "docs/environment.md says why"}
		}
		env = set(env, entry)
	}
	return env, nil
}

// env returns the variables that a session adds, in the form of an environment.
func (s *Spec) env() []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(s.Options.Env)) {
		env = append(env, name+"="+s.Options.Env[name])
	}
	return env
}

// reserved reports whether a session may not set a variable of its CLI.
func reserved(agent *agent, name string) bool {
	ours := agent.simulated && strings.HasPrefix(name, simPrefix)
	return !ours && len(claude.Environ([]string{name + "=x"}, true)) == 0
}

// inherited returns what is passed on of the hub's environment.
func (l *Launcher) inherited(apiKey bool) []string {
	env := claude.Environ(l.config.Env, apiKey)
	return slices.DeleteFunc(env, func(entry string) bool { return matches(serviceEnv[:], nameOf(entry)) })
}

// withPrefix returns the variables of the hub's environment that begin
// with a prefix.
func (l *Launcher) withPrefix(prefix string) []string {
	var env []string
	for _, entry := range l.config.Env {
		if strings.HasPrefix(entry, prefix) {
			env = append(env, entry)
		}
	}
	return env
}

// set replaces or adds a variable.
func set(env []string, entry string) []string {
	env = slices.DeleteFunc(env, func(old string) bool { return nameOf(old) == nameOf(entry) })
	return append(env, entry)
}

// get looks a variable up; the last one of a name counts.
func get(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, found := strings.CutPrefix(entry, name+"="); found {
			value = v
		}
	}
	return value
}

// shimEnviron returns the environment of a shim. It carries the run's marker, as
// all that belongs to the run does.
func (l *Launcher) shimEnviron(marker string) []string {
	return set(append(l.inherited(false), l.withPrefix(killPrefix)...), claude.MarkerEnv+"="+marker)
}

// simConfig returns the variable that gives the simulated CLI a folder of its own
// for conversations: the user's own, wherever that is, is for the real one, which
// would list them.
func (l *Launcher) simConfig(spec *Spec) []string {
	name := spec.Agent
	if name == "" {
		name = l.config.Agent
	}
	if name != Simulator {
		return nil
	}
	return []string{configVariable + "=" + filepath.Join(l.config.DataDir, "sim")}
}

// ConfigDir returns the folder in which the CLI of such a run keeps its files.
func (l *Launcher) ConfigDir(spec *Spec) string {
	env := slices.Concat(l.config.Env, l.simConfig(spec), spec.env())
	return wire.ConfigDir(func(name string) string { return get(env, name) }, get(env, "HOME"))
}
