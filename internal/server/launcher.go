package server

import (
	"context"
	"errors"
	"iter"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// A launcher is package launch as the hub wants it: neither knows the other.
type launcher struct{ *launch.Launcher }

var _ hub.Launcher = launcher{}

// Start starts a run.
func (l launcher) Start(ctx context.Context, s hub.LaunchSpec) (*hub.Launched, error) {
	started, err := l.Launcher.Start(ctx, launchSpec(&s))
	if err != nil {
		return nil, explain(err)
	}
	return &hub.Launched{
		PID: started.PID, PIDStart: started.PIDStart, Version: started.Version.String(), Simulated: started.Simulated, ConfigDir: started.ConfigDir,
		Sandbox: started.Sandbox,
	}, nil
}

// Life says whether a process of this machine lives.
func (l launcher) Life(_ context.Context, p hub.Process) hub.Life {
	if l.Alive(p.PID, p.PIDStart) {
		return hub.LifeAlive
	}
	return hub.LifeDead
}

// Resolve follows the links in paths.
func (launcher) Resolve(_ context.Context, paths []string) ([]hub.Resolved, error) {
	list := make([]hub.Resolved, len(paths))
	for i, path := range paths {
		leads, err := policy.Real(path)
		if err != nil {
			list[i].Err = err.Error()
			continue
		}
		list[i].Path = leads
	}
	return list, nil
}

// launchSpec says what the hub wants started in the words of package launch.
func launchSpec(s *hub.LaunchSpec) *launch.Spec {
	return &launch.Spec{
		Session: s.Session, Run: s.Run, Token: s.Token, Marker: s.Marker, Dir: s.Dir, Resume: s.Resume, ResumeAt: s.At, Fork: s.Fork,
		Options: s.Options, BypassingAgents: s.BypassingAgents, Deny: s.Deny, Ask: s.Ask, Sandbox: s.Sandbox,
	}
}

// History returns the lines of a transcript.
func (l launcher) History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	return l.Launcher.History(ctx, configDir, dir, conversation)
}

// Plan returns the file that an agent has written its plan to.
func (l launcher) Plan(ctx context.Context, q hub.PlanQuery) (*hub.PlanFile, error) {
	found, err := l.Launcher.Plan(ctx, planQuery(&q))
	if err != nil {
		return nil, err
	}
	return &hub.PlanFile{Path: found.Path, Text: found.Text}, nil
}

// planQuery asks for a plan in the words of package launch.
func planQuery(q *hub.PlanQuery) launch.PlanQuery {
	return launch.PlanQuery{ConfigDir: q.ConfigDir, Dir: q.Dir, Conversation: q.Conversation, Path: q.Path, Agent: q.Agent, Since: q.Since, Settings: q.Settings}
}

// explain gives the error of a start the form in which clients are told.
func explain(err error) error {
	failed, ok := errors.AsType[*launch.StartError](err)
	if !ok {
		return err
	}
	return (&node.Failure{Code: string(failed.Code), Reason: failed.Reason, Hint: failed.Hint}).StartProblem()
}
