package nodeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// maxListed bounds lists, so that an answer fits into a message.
const maxListed = 1000

// call begins to answer a call. It does not wait for the answer; a start is registered when
// it returns.
func (c *control) call(m *node.Call) {
	a := c.agent
	select {
	case c.slots <- struct{}{}:
	default:
		c.answer(m.ID, nil, &node.Failure{Code: node.Busy, Reason: "the machine has too many questions to answer", Hint: "try again"})
		return
	}
	var started *run
	var first bool
	var body node.Start
	if m.Method == node.MethodStart {
		if json.Unmarshal(m.Body, &body) != nil {
			<-c.slots
			c.answer(m.ID, nil, errBody)
			return
		}
		if err := a.onlyFor(body.Session); err != nil {
			<-c.slots
			c.answer(m.ID, nil, &node.Failure{Code: node.Full, Reason: err.Error()})
			return
		}
		started, first = a.runs.begin(&body)
	}
	if !a.begin() {
		if first {
			a.runs.finish(started, nil, &node.Failure{Code: node.Failed, Reason: "the node is closing"})
		}
		return // the connection ends
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.calls[m.ID] = cancel
	c.mu.Unlock()
	go func() { // joined by Agent.Close
		defer a.tasks.Done()
		defer func() {
			c.mu.Lock()
			delete(c.calls, m.ID)
			c.mu.Unlock()
			cancel()
			<-c.slots
		}()
		if first {
			a.launch(started, &body)
		}
		if started != nil {
			c.started(ctx, m.ID, started)
			return
		}
		out, err := c.handle(ctx, m)
		c.answer(m.ID, out, err)
	}()
}

// errBody is the answer to a call whose body cannot be read.
var errBody = &node.Failure{Code: node.Invalid, Reason: "the call cannot be read", Hint: "install the same version of switchboard on both machines"}

// answer answers a call.
func (c *control) answer(id uint64, out any, err error) {
	a := &node.Answer{ID: id, Failure: failureOf(err)}
	if a.Failure == nil && out != nil {
		body, err := json.Marshal(out)
		if err != nil {
			a.Failure = &node.Failure{Code: node.Failed, Reason: "the answer cannot be written as JSON"}
		}
		a.Body = body
	}
	if err := c.send(c.ctx, a); errors.Is(err, node.ErrTooLong) {
		c.say(&node.Answer{ID: id, Failure: &node.Failure{Code: node.Failed, Reason: "the answer is too long", Hint: "ask for less at a time"}})
	}
}

// failureOf returns an error as the hub is told; nil for none.
func failureOf(err error) *node.Failure {
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*node.Failure](err); ok {
		return failure
	}
	if failed, ok := errors.AsType[*launch.StartError](err); ok {
		return &node.Failure{Code: string(failed.Code), Reason: failed.Reason, Hint: failed.Hint}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &node.Failure{Code: node.NotExist, Reason: err.Error()}
	}
	return &node.Failure{Code: node.Failed, Reason: err.Error()}
}

// launch starts a run. It goes on when the connection is lost.
func (a *Agent) launch(known *run, s *node.Start) {
	killpoint.Reach("node.after-start-received")
	launched, err := a.launcher.Start(a.ctx, &launch.Spec{
		Session: s.Session, Run: s.Run, Token: s.Token, Marker: s.Marker, Dir: s.Dir, Resume: s.Resume, ResumeAt: s.At, Fork: s.Fork,
		Options: s.Options, BypassingAgents: s.BypassingAgents, Deny: s.Deny, Ask: s.Ask, Sandbox: s.Sandbox,
		Before: func(l launch.Launched) error { return a.runs.record(known, launchedOf(&l)) },
	})
	killpoint.Reach("node.after-launch")
	if err != nil {
		a.runs.finish(known, nil, failureOf(err))
		return
	}
	out := launchedOf(launched)
	a.runs.finish(known, &out, nil)
	a.log.Info("an agent was started", "session", s.Session, "run", s.Run, "pid", out.PID)
	select {
	case a.poke <- struct{}{}:
	default: // it is poked already
	}
}

func launchedOf(l *launch.Launched) node.Launched {
	return node.Launched{PID: l.PID, PIDStart: l.PIDStart, Version: l.Version.String(), Simulated: l.Simulated, ConfigDir: l.ConfigDir, Sandbox: l.Sandbox}
}

// started answers a start when it is known what became of it.
func (c *control) started(ctx context.Context, id uint64, known *run) {
	select {
	case <-known.done:
	case <-ctx.Done():
		return // the hub asks again
	}
	if known.failure != nil {
		c.answer(id, nil, known.failure)
		return
	}
	c.answer(id, known.launched, nil)
}

// with reads the body of a call and gives it to a function.
func with[B, A any](m *node.Call, answer func(*B) (A, error)) (any, error) {
	var body B
	if json.Unmarshal(m.Body, &body) != nil {
		return nil, errBody
	}
	return answer(&body)
}

// handle answers a call that is no start.
func (c *control) handle(ctx context.Context, m *node.Call) (any, error) {
	a := c.agent
	switch m.Method {
	case node.MethodLife:
		return with(m, func(p *node.Process) (*node.LifeAnswer, error) { return &node.LifeAnswer{Alive: a.runs.life(p)}, nil })
	case node.MethodSweep:
		return with(m, func(s *node.Sweep) (*node.Swept, error) {
			if s.Marker == "" {
				return nil, errBody // every process would carry it
			}
			n, err := a.launcher.Sweep(ctx, s.Marker)
			return &node.Swept{Processes: n}, err
		})
	case node.MethodPlan:
		return with(m, func(q *node.PlanQuery) (*node.PlanFile, error) {
			found, err := a.launcher.Plan(ctx, launch.PlanQuery{
				ConfigDir: q.ConfigDir, Dir: q.Dir, Conversation: q.Conversation, Path: q.Path, Agent: q.Agent, Since: q.Since, Settings: q.Settings,
			})
			if err != nil {
				return nil, err
			}
			return &node.PlanFile{Path: found.Path, Text: found.Text}, nil
		})
	case node.MethodResolve:
		return with(m, func(p *node.Paths) (*node.Resolutions, error) { return resolve(ctx, p.Paths) })
	case node.MethodNext, node.MethodClose, node.MethodHistory, node.MethodTranscript, node.MethodSpool, node.MethodTaken:
		return c.handleStream(m)
	}
	return c.handleLibrary(ctx, m)
}

// resolve follows the links in paths.
func resolve(ctx context.Context, paths []string) (*node.Resolutions, error) {
	if len(paths) > node.MaxPaths {
		return nil, errBody
	}
	out := &node.Resolutions{Resolved: make([]node.Resolved, len(paths))}
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		real, err := policy.Real(path)
		if err != nil {
			out.Resolved[i].Err = err.Error()
			continue
		}
		out.Resolved[i].Path = real
	}
	return out, nil
}

// filesOf returns conversations as the protocol has them.
func filesOf(list []report.TranscriptFile) []node.TranscriptFile {
	out := make([]node.TranscriptFile, len(list))
	for i, f := range list {
		out[i] = node.TranscriptFile(f)
	}
	return out
}

// handleLibrary answers a call about conversations or folders on the disk.
func (c *control) handleLibrary(ctx context.Context, m *node.Call) (any, error) {
	l := c.agent.library
	switch m.Method {
	case node.MethodTranscripts:
		return with(m, func(q *node.TranscriptQuery) (*node.Transcripts, error) {
			q.Limit = min(q.Limit, maxListed)
			found, err := l.Transcripts(ctx, report.TranscriptQuery(*q))
			return &node.Transcripts{Files: filesOf(found)}, err
		})
	case node.MethodSearch:
		return with(m, func(s *node.Search) (*node.TranscriptSearch, error) {
			s.Query.Limit = min(s.Query.Limit, maxListed)
			found, err := l.SearchTranscripts(ctx, report.TranscriptQuery(s.Query), s.Text)
			if err != nil {
				return nil, err
			}
			return &node.TranscriptSearch{Files: filesOf(found.Files), Before: found.Before, BeforeAfter: found.BeforeAfter}, nil
		})
	case node.MethodFolders:
		return with(m, func(f *node.Folders) (*node.FolderList, error) {
			found, err := l.Folders(ctx, f.Prefix, min(f.Limit, maxListed))
			return &node.FolderList{Folders: found}, err
		})
	case node.MethodLook:
		return with(m, func(p *node.Paths) (*node.FolderList, error) {
			if len(p.Paths) > node.MaxPaths {
				return nil, errBody
			}
			found, err := l.Look(ctx, p.Paths)
			return &node.FolderList{Folders: found}, err
		})
	}
	return nil, &node.Failure{Code: node.Invalid, Reason: fmt.Sprintf("this version of the node does not know the call %.40q", m.Method), Hint: "install the same version of switchboard on both machines"}
}
