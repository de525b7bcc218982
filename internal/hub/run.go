package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A runSpec says how the next run of a session begins.
type runSpec struct {
	fresh   bool   // a new conversation
	resume  string // another conversation than the session's own
	at      string
	fork    bool
	options *api.SessionOptions
	// mode is the permission mode of this run alone, if it is not the session's.
	mode wire.PermissionMode
	// plan is the question whose plan the run carries out.
	plan string
	// transport is transportShim if empty; the others wait for a CLI to dial in.
	transport string
	// name is the path under which it dialled, unauthenticated says that it brought no
	// credential.
	name            string
	unauthenticated bool
	// relay is the one that the agent is reached through; nil for all others.
	relay *record.Relay
	// place is the machine of the session that a new one is a fork of; nil for others, whose
	// machine is chosen as the request says.
	place *place
	// hash is that of a credential that stays good; if nil there is a new one.
	hash []byte
	// launched gets the outcome of the start; it may be nil.
	launched chan error
	// direct is for a session whose process is started by its client: there is
	// none yet. registration is that client's initialize, answer gets the CLI's
	// answer to it.
	direct       bool
	registration json.RawMessage
	answer       chan outcome
}

// A processState is what a session knows of its processes beside the row of its run.
type processState struct {
	// starts counts runs that are being started.
	starts int
	// stopping says that the current run is being ended on purpose, and why.
	stopping string
}

// startRun begins a run: it is written down, and its process is started after
// the commit. It returns the run's credential.
func (st *step) startRun(spec runSpec) (token string) {
	s, p := st.s, st.s.projection
	if spec.transport == "" {
		spec.transport = transportShim
	}
	resume := spec.resume
	if resume == "" && !spec.fresh {
		if resume = p.State.Conversation(); resume == "" || !p.hasConversation() || p.unnamed() {
			// No process has come so far as to name its conversation, or to write
			// it down: a CLI keeps nothing of one in which nothing was said.
			resume, spec.fork, spec.at = p.Resume, p.Fork, p.At
		}
	}
	st.leaveLink()
	run := p.Run + 1
	token, hash := newToken(s.id, run)
	if spec.hash != nil {
		token, hash = "", spec.hash
	}
	s.run = journal.Run{
		Session: s.id, Run: run, Transport: spec.transport, TokenHash: hash, Marker: fmt.Sprintf("%s.%d.%s", s.id, run, random(10)),
		NextCommand: 1, Started: st.now, Node: p.Node,
	}
	if row := (rowSpec{Name: spec.name, Unauthenticated: spec.unauthenticated}); row != (rowSpec{}) {
		s.run.Spec = encoded(row)
	}
	s.links.lastLive, s.outbox, s.doubt = [2]int64{}, outboxState{}, doubtState{}
	s.process.stopping, s.plans.tool = "", ""
	s.policy.newRun()
	s.sandbox = sandboxState{}
	given := record.Enforced{}
	if spec.transport == transportShim {
		given = s.settings(st.now)
		given.Fixed = slices.Concat(given.Deny, given.Ask)
	}
	told, options := given, p.Options
	if spec.options != nil {
		options = *spec.options
	}
	if len(options.Settings) > 0 {
		// A CLI drops all of its settings, without a word, if it does not like one
		// of them: what the session brings may take ours along. So it is told once
		// more when it runs.
		told.Deny, told.Ask, s.policy.due = nil, nil, true
	}
	box := sandbox.Policy{}
	if spec.transport == transportShim {
		box = st.sandboxPolicy(options)
	}
	raw, err := json.Marshal(record.RunStarted{
		Run: run, Transport: spec.transport, Resume: resume, Fork: spec.fork, At: spec.at, Options: spec.options, Enforced: told, Plan: spec.plan,
		Registration: spec.registration, Unauthenticated: spec.unauthenticated, Relay: spec.relay,
		Hosts: record.Hosts{Allow: box.AllowHosts, Deny: box.DenyHosts},
		Node:  p.Node, NodeName: p.NodeName,
	})
	if err != nil {
		s.log.Error("encoding a run", "session", s.id, "err", err)
	}
	st.add(journal.Entry{Kind: api.KindRunStarted, Run: run, Data: raw}, nil)
	st.touch()
	s.hub.noteRun(s.id, p.Node)
	if resume != "" && !spec.fork {
		l := journal.Lease{ConfigDir: leaseDir(p.Node, p.ConfigDir), Conversation: resume, Session: s.id, Run: run}
		if err := s.hub.claim(p.Node, l); err != nil {
			st.endRun(api.Ended{Reason: err.Error()}, true)
			st.then(func() {
				if spec.launched != nil {
					spec.launched <- s.hub.problem(err, s.id)
				}
			})
			return token
		}
		st.batch.Leases = append(st.batch.Leases, l)
	}
	if spec.transport != transportShim {
		return token
	}
	body, err := st.initialize(spec.answer)
	if err != nil {
		s.log.Error("building initialize", "session", s.id, "err", err)
		if spec.answer != nil {
			st.then(func() { spec.answer <- outcome{err: lineProblem(err)} })
		}
	}
	launch := LaunchSpec{
		Session: s.id, Run: run, Token: token, Marker: s.run.Marker, Dir: p.dir(), Resume: resume, At: spec.at, Fork: spec.fork, Options: p.Options,
		BypassingAgents: body != nil && agentsBypass(body.Agents), Deny: given.Deny, Ask: given.Ask,
		Sandbox: box,
	}
	if spec.mode != "" {
		launch.Options.PermissionMode = string(spec.mode)
	}
	s.process.starts++
	node := p.Node
	st.then(func() { s.hub.tasks.Go(func() { s.launch(node, launch, spec.launched) }) })
	return token
}

// leaveLink takes the link of the run before out of use. Its process has ended:
// it must not be sent what is meant for the next, nor take part in its log.
func (st *step) leaveLink() {
	s := st.s
	old, have := s.link, s.run.Have
	if old == nil {
		return
	}
	s.link, old.over = nil, true
	st.then(func() {
		if old.dialled {
			old.sender.Close("another process continues the session")
			return
		}
		old.sender.Ack(have) // the shim waits for it before it ends
	})
}

// unnamed reports whether the last run was to have a conversation of its own and
// ended before it named it. The one before it is not what the next is to go on
// with.
func (p *projection) unnamed() bool {
	list := p.State.Conversations
	return p.Resume == "" && len(list) > 0 && list[len(list)-1].Run < p.Run
}

// hasConversation reports whether something was said in the session.
func (p *projection) hasConversation() bool {
	return p.State.Prompt != "" || p.Costs.Turns > p.Costs.Failed
}

// initialize sends the run's first line, and returns what it says. answer gets the
// CLI's answer; it may be nil.
func (st *step) initialize(answer chan outcome) (*wire.InitializeRequest, error) {
	s := st.s
	body, err := initializeBody(s.projection.Options)
	if err != nil {
		return nil, err
	}
	if s.projection.Registration != nil {
		// Also if that program is gone: its hooks guard calls, and then block them.
		body = s.projection.registration()
	}
	for event, matchers := range hooksFor(s.projection.Options, st.everyCall()) {
		if body.Hooks == nil {
			body.Hooks = map[string][]wire.HookMatcher{}
		}
		body.Hooks[event] = append(matchers, body.Hooks[event]...)
	}
	id := "hub-init-" + random(6)
	line, err := wire.NewRequest(id, body)
	if err != nil {
		return nil, err
	}
	if _, err = st.send("", commandInitialize, Actor{}, line); err != nil || answer == nil {
		return body, err
	}
	s.requests.add(id, answer)
	return body, nil
}

// initializeBody returns what the session's options put into initialize.
func initializeBody(o api.SessionOptions) (*wire.InitializeRequest, error) {
	body := &wire.InitializeRequest{
		AppendSystemPrompt: o.AppendSystemPrompt, PlanModeInstructions: o.PlanModeInstructions, ToolAliases: o.ToolAliases, Skills: o.Skills,
		PromptSuggestions: o.PromptSuggestions, AgentProgressSummaries: o.AgentProgressSummaries, ForwardSubagentText: o.ForwardSubagentText,
		ExcludeDynamicSections: o.ExcludeDynamicSections, SupportedDialogKinds: o.SupportedDialogKinds,
	}
	if o.SystemPrompt != "" {
		raw, err := json.Marshal(o.SystemPrompt)
		if err != nil {
			return nil, fmt.Errorf("encoding the system prompt: %w", err)
		}
		body.SystemPrompt = raw
	}
	if len(o.Agents) > 0 {
		if err := json.Unmarshal(o.Agents, &body.Agents); err != nil {
			return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "agents: expected an object of agents by name: %v", err)
		}
	}
	return body, nil
}

// launch starts the process of a run and tells how that went.
func (s *session) launch(node string, spec LaunchSpec, launched chan error) {
	var started *Launched
	err := error(&api.Error{
		Status: http.StatusBadGateway, Code: api.CodeStartFailed, Title: "this hub cannot start agents",
		Hint: "install Claude Code, or connect your own",
	})
	if launcher := s.hub.launcherOf(node); launcher != nil {
		started, err = launcher.Start(s.hub.ctx, spec)
	}
	unreachable, away := errors.AsType[*UnreachableError](err)
	committed := s.do(context.WithoutCancel(s.hub.ctx), patient, func(st *step) error {
		s.process.starts--
		switch {
		case s.projection.Run != spec.Run || s.projection.Ended != nil:
		case away:
			// It may have been started. Its link tells, or its machine, see find.
			if s.link == nil {
				st.down(unreachable.Error())
			}
		case err != nil:
			st.endRun(api.Ended{Reason: "it could not be started: " + reasonOf(err)}, true)
		default:
			st.event(api.KindRunLaunched, Actor{}, record.RunFound{
				Version: started.Version, Simulated: started.Simulated, ConfigDir: started.ConfigDir, Sandbox: st.launchedIn(started.Sandbox),
			})
			if s.run.PID == 0 { // else the shim has told itself
				s.run.PID, s.run.PIDStart = started.PID, started.PIDStart
				st.touch()
			}
		}
		return nil
	})
	s.hub.checkSoon(s.id)
	if away {
		err = nil // the session is there, and goes on when its machine is
	}
	if launched != nil {
		launched <- errors.Join(err, committed)
	}
}

// reasonOf returns an error's text without what only a program wants.
func reasonOf(err error) string {
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem.Error()
	}
	return err.Error()
}

// history copies a conversation's transcript into the log, once: the CLI sends
// nothing of what was said before. What comes behind the line with the uuid at, if
// that is not empty, is left out: the CLI is not told it either.
func (s *session) history(ctx context.Context, node, conversation, dir, at string) error {
	launcher := s.hub.launcherOf(node)
	if launcher == nil {
		return nil
	}
	lines, err := launcher.History(ctx, "", dir, conversation)
	var batch [][]byte
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := s.do(ctx, patient, func(st *step) error {
			for _, line := range batch {
				h, err := wire.Peek(line)
				if err != nil {
					continue
				}
				st.add(journal.Entry{Kind: api.KindHistory, Source: journal.SourceAgent, UUID: string(h.UUID), Line: line}, nil)
			}
			return nil
		})
		batch, size = nil, 0
		return err
	}
	if err == nil {
		for line, lineErr := range lines {
			if lineErr != nil {
				err = lineErr
				break
			}
			batch, size = append(batch, bytes.Clone(line)), size+len(line)
			if at != "" {
				if h, err := wire.Peek(line); err == nil && string(h.UUID) == at {
					break
				}
			}
			if size >= maxStepBytes/2 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if err := flush(); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	text := "the transcript of the conversation could not be read: " + err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		text = "the conversation has no transcript on the agent's machine; what was said before is not shown"
	}
	return s.do(ctx, patient, func(st *step) error {
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "no_history", Text: text})
		return nil
	})
}

// endRun ends the current run. told says that the process itself told its end,
// so that what it has not acknowledged was not written.
func (st *step) endRun(ended api.Ended, told bool) {
	s, p := st.s, st.s.projection
	if p.Ended != nil {
		return
	}
	if ended.Time.IsZero() {
		ended.Time = st.now
	}
	for _, v := range slices.Clone(p.Commands) {
		if v.Run != p.Run || v.State != string(api.MessageSent) {
			continue
		}
		switch {
		case !told:
			st.fate(v, api.MessageUnknown, "the process ended before it could say whether it had this")
		case v.Kind == commandPrompt:
			st.requeue(v)
		default:
			st.fate(v, api.MessageNotDelivered, "the process ended before it was written")
		}
	}
	fresh := p.Options.Fresh && s.process.stopping == turnOver
	st.event(api.KindRunEnded, Actor{}, ended)
	s.hub.noteRun(s.id, "")
	st.dropRest(string(fold.ReasonEnded))
	s.run.Ended, s.run.Reason = st.now, ended.Reason
	st.touch()
	st.releaseLease()
	st.abandon("the process ended: " + ended.Reason)
	s.process.stopping = ""
	if _, waiting := p.nextPrompt(); waiting && fresh && p.Intent == nil { // else the plan comes first
		st.startRun(runSpec{fresh: true})
	}
}
