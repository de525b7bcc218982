package launch

import (
	"context"
	"os"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// Simulator is the value of [Config].Agent and [Spec].Agent that asks for the
// simulated CLI which is a part of this program.
const Simulator = "sim"

// An agent is a CLI that can be started.
type agent struct {
	cli       *claude.CLI
	simulated bool
}

// An Agent is what [Launcher.Agent] found.
type Agent struct {
	Path      string
	Version   wire.Version
	Simulated bool
}

// Agent says which CLI a run would get, or why there is none. name is as in
// [Spec].Agent.
func (l *Launcher) Agent(ctx context.Context, name string) (*Agent, error) {
	a, err := l.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Agent{Path: a.cli.Path, Version: a.cli.Version, Simulated: a.simulated}, nil
}

// find returns the CLI that is asked for.
func (l *Launcher) find(ctx context.Context, name string) (*agent, error) {
	if name == "" {
		name = l.config.Agent
	}
	if name == Simulator {
		return l.simulator(ctx)
	}
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: name, Env: l.config.Env, Prober: l.config.Prober})
	if err != nil {
		if ctx.Err() != nil {
			return nil, failure("looking for claude", context.Cause(ctx))
		}
		return nil, explainFind(err)
	}
	return &agent{cli: cli, simulated: l.isSelf(cli.Path)}, nil
}

// simulator returns the simulated CLI.
func (l *Launcher) simulator(ctx context.Context) (*agent, error) {
	cli := &claude.CLI{Path: l.config.Program, Args: []string{l.config.Program, "sim"}}
	var err error
	if asked := get(l.config.Env, simVersion); asked != "" {
		// A probe would not show it the variable.
		cli.Version, err = wire.ParseVersion(asked)
	} else {
		cli.Version, err = l.config.Prober.Probe(ctx, cli, l.config.Env)
	}
	if err != nil {
		return nil, &StartError{Code: NoAgent, Reason: "the simulated agent does not tell its version: " + err.Error(), Err: err}
	}
	return &agent{cli: cli, simulated: true}, nil
}

// isSelf reports whether a program is a link to this one, which makes it the
// simulated CLI: it must not be taken for the real one.
func (l *Launcher) isSelf(path string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(l.config.Program)
	return err == nil && os.SameFile(a, b)
}
