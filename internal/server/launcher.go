package server

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
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
	}, nil
}

// launchSpec says what the hub wants started in the words of package launch.
func launchSpec(s *hub.LaunchSpec) *launch.Spec {
	return &launch.Spec{
		Session: s.Session, Run: s.Run, Token: s.Token, Marker: s.Marker, Dir: s.Dir, Resume: s.Resume, ResumeAt: s.At, Fork: s.Fork,
		Options: s.Options, BypassingAgents: s.BypassingAgents, Deny: s.Deny, Ask: s.Ask,
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
	e := &api.Error{Status: http.StatusBadGateway, Code: api.CodeStartFailed, Title: "The agent could not be started", Detail: failed.Reason, Hint: failed.Hint}
	switch failed.Code {
	case launch.BadDir, launch.BadOption:
		e.Status, e.Code = http.StatusUnprocessableEntity, api.CodeInvalid
	case launch.Forbidden:
		e.Status, e.Code = http.StatusForbidden, api.CodeForbidden
	case launch.Running:
		e.Status, e.Code = http.StatusConflict, api.CodeConflict
	case launch.NoAgent, launch.Failed:
	}
	return e
}
