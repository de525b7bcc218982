package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Rules are the rules for all sessions. The methods are safe for concurrent use.
type Rules interface {
	// Engine returns the rules that are in force.
	Engine() *policy.Engine
	// Changed returns a channel that is closed when others are.
	Changed() <-chan struct{}
	// Status says which they are, and what is wrong with them.
	Status() api.Policy
	// Confirm confirms a change that waits for it.
	Confirm(sum string) error
}

// fixedRules are rules that never change: those of a hub that was given none.
type fixedRules struct{ engine *policy.Engine }

func (f fixedRules) Engine() *policy.Engine   { return f.engine }
func (f fixedRules) Changed() <-chan struct{} { return nil }
func (f fixedRules) Status() api.Policy {
	return api.Policy{Enforce: f.engine.Enforce(), Rules: []api.PolicyRule{}}
}

func (f fixedRules) Confirm(string) error {
	return api.Errorf(http.StatusConflict, api.CodeConflict, "no rule change needs confirmation")
}

// hubItself is the actor where no person or program acts.
var hubItself = Actor{Source: journal.SourceHub, Admin: true}

// A judge is the rules as they hold for one session.
type judge struct {
	base   *policy.Engine
	rules  []api.SessionRule
	engine *policy.Engine
}

// A policyProjection is what the log says of rules.
type policyProjection struct {
	// Rules are the session's own, Enforced those that the CLI of this run was given.
	Rules    []api.SessionRule `json:"rules,omitempty"`
	Enforced record.Enforced   `json:"enforced,omitzero"`
}

// A policyState is what a session knows of rules beside its own.
type policyState struct {
	judge judge
	// due says that the CLI may have to be told of other rules, pushing that it is
	// being told, toldLater are those that it is given later.
	due       bool
	pushing   bool
	toldLater record.Enforced
	// flags are settings that a front end has given the run's CLI.
	flags json.RawMessage
	// unhooked says that followers were told of calls that rules do not see.
	unhooked bool
}

// newRun forgets what was of the run before.
func (p *policyState) newRun() {
	p.toldLater, p.flags, p.unhooked = record.Enforced{}, nil, false
}

// engine returns the rules that hold for the session.
func (s *session) engine() *policy.Engine {
	base := s.hub.rules.Engine()
	if node := s.projection.Node; node != "" {
		base = s.hub.engineOn(node)
	} else if len(s.run.Spec) > 0 && specOf(s.run.Spec).Elsewhere {
		base = s.hub.engineOn(unknownMachine)
	}
	base = base.For(s.projection.origin())
	if j := s.policy.judge; j.base == base && sameRules(j.rules, s.projection.Rules) {
		return j.engine
	}
	s.policy.judge = judge{base: base, rules: s.projection.Rules, engine: base}
	engine, err := withSessionRules(base, s.projection.Rules)
	if err != nil { // then it allows nothing
		s.log.Error("not all of a session's rules can be used", "session", s.id, "err", err)
	}
	s.policy.judge.engine = engine
	return engine
}

// withSessionRules adds a session's own rules to those for all.
func withSessionRules(base *policy.Engine, rules []api.SessionRule) (*policy.Engine, error) {
	if len(rules) == 0 {
		return base, nil
	}
	list := make([]policy.Rule, 0, len(rules))
	for _, r := range rules {
		list = append(list, policy.Rule{
			Text: r.Rule, Decision: policy.Decision(r.Decision), Scope: policy.ScopeSession, ID: r.ID, Message: r.Message, Expires: r.Expires,
		})
	}
	return base.With(list)
}

// sameRules compares by identity of the rules: they are never edited.
func sameRules(a, b []api.SessionRule) bool {
	return slices.EqualFunc(a, b, func(x, y api.SessionRule) bool { return x.ID == y.ID })
}

// call returns a call of the session's that a request is about, as rules judge it. Rules
// with paths follow symbolic links, the one thing for which a step turns to the disk: a
// verdict must not be older than the answer that follows from it. Those of another machine
// are known before the step, see the file elsewhere.go.
func (st *step) call(request, tool string, input json.RawMessage) policy.Call {
	p := st.s.projection
	return policy.Call{Tool: tool, Input: input, Dir: p.dir(), AddDirs: p.Options.AddDirs, Links: st.linksOf(request), Now: st.now}
}

// refOf names the rule of a verdict.
func refOf(v policy.Verdict) *api.RuleRef {
	ref := &api.RuleRef{Decision: api.RuleDecision(v.Decision), Reason: v.Reason}
	if v.Rule != nil {
		ref.Rule, ref.Scope, ref.Source, ref.ID = v.Rule.Text, string(v.Rule.Scope), v.Rule.Source, v.Rule.ID
	} else if v.Decision == policy.Allow { // see policy.Engine.Boxed
		ref.Rule, ref.Scope, ref.Source = "sandbox_auto_allow", api.ScopeSandbox, api.ScopeSandbox
	}
	return ref
}

// offer offers an open question to the rules.
func (st *step) offer(row journal.Question) {
	s := st.s
	if row.Kind != string(api.QuestionPermission) || !s.projection.judged() {
		return
	}
	ask, err := answer.Ask(&row)
	if err != nil {
		return
	}
	request, ok := ask.Request.(*wire.CanUseToolRequest)
	if !ok {
		st.offerHook(row, ask)
		return
	}
	if request.ToolName == answer.ToolEnterPlan && s.projection.Options.AskPlanMode {
		return // a rule wants a person to be asked
	}
	call := st.call(row.RequestID, request.ToolName, request.Input)
	verdict := s.projection.judge(s.engine(), call)
	switch {
	case verdict.Decision == policy.Deny:
	case s.projection.asksItself(row.RequestID, request.ToolName):
		verdict = policy.Verdict{Decision: policy.Allow, Reason: "the sandbox around Claude Code's own decides about the host", Enforced: policy.EnforcedHub}
	case st.untold(&call):
		s.follow.due = true
	}
	switch verdict.Decision {
	case policy.Allow:
		if request.RequiresUserInteraction || request.DefaultToNo || s.projection.Limits.Paused() {
			return
		}
		line, err := wire.NewPermission(ask, &wire.Allow{})
		st.byRule(row, ask, verdict, api.Answer{Decision: "allow"}, line, err)
	case policy.Deny:
		message := verdict.Message
		if message == "" {
			message = "A rule does not allow this: " + verdict.Reason
		}
		line, err := wire.NewPermission(ask, &wire.Deny{Message: message})
		st.byRule(row, ask, verdict, api.Answer{Decision: "deny", Message: message}, line, err)
	case policy.Ask:
		q := answer.Question(row)
		if ref := refOf(verdict); q.Rule == nil || *q.Rule != *ref {
			q.Rule = ref
			st.event(api.KindQuestionChanged, Actor{}, q)
		}
	}
}

// byRule settles a question as a rule says.
func (st *step) byRule(row journal.Question, ask *wire.ControlRequest, v policy.Verdict, answer api.Answer, line []byte, err error) {
	if err == nil {
		_, err = st.settle(hubItself, row, ask, settlement{answer: answer, line: line, ref: refOf(v), reason: v.Reason})
	}
	if err != nil {
		st.s.log.Error("answering by a rule", "session", st.s.id, "err", err)
	}
}

// offerAll offers all open questions to the rules again: they have changed, or
// the hub was restarted.
func (st *step) offerAll() {
	for _, row := range slices.Clone(st.s.projection.Questions) {
		st.offer(row)
	}
}

// The callbacks of the hooks that sessions are given.
const (
	hookEveryCall = "switchboard-call"
	hookEnterPlan = "switchboard-plan-mode"
	// hookTimeout is in seconds. Before 2.1.325 a hook that is not answered in
	// time lets the call pass, so that a hub that is away for long must not be
	// taken for one that agrees.
	hookTimeout = 7 * 24 * 3600
)

// hooksFor returns the hooks that a run is given.
func hooksFor(o api.SessionOptions, every bool) map[string][]wire.HookMatcher {
	var list []wire.HookMatcher
	if every {
		list = append(list, wire.HookMatcher{HookCallbackIDs: []string{hookEveryCall}, Timeout: hookTimeout})
	}
	if o.AskPlanMode {
		list = append(list, wire.HookMatcher{Matcher: answer.ToolEnterPlan, HookCallbackIDs: []string{hookEnterPlan}, Timeout: hookTimeout})
	}
	if list == nil {
		return nil // an empty object would remove those of another initialize
	}
	return map[string][]wire.HookMatcher{string(wire.HookEventPreToolUse): list}
}

// asksByHook is the first version that asks when a hook says so. Those before it
// run the call, so that the hook's own request is held open instead.
var asksByHook = wire.Version{Major: 2, Minor: 1, Patch: 120}

// answerHook answers a hook of ours, or opens a question for it. It reports whether it
// was one.
func (st *step) answerHook(request *wire.ControlRequest) bool {
	call, ok := request.Request.(*wire.HookCallbackRequest)
	if !ok || call.CallbackID != hookEveryCall && call.CallbackID != hookEnterPlan {
		return false
	}
	var out *wire.PreToolUseOutput
	if input, ok := call.Input.(*wire.PreToolUseInput); ok {
		var ref *api.RuleRef
		if call.CallbackID == hookEnterPlan {
			out = &wire.PreToolUseOutput{
				PermissionDecision: wire.HookPermissionDecisionAsk, PermissionDecisionReason: "The user wants to be asked before plan mode.",
			}
		} else {
			out, ref = st.hookVerdict(request.RequestID, input)
		}
		if out != nil && out.PermissionDecision == wire.HookPermissionDecisionAsk && st.s.projection.version().Compare(asksByHook) < 0 {
			st.openHook(request, input, ref)
			return true
		}
	}
	if line, err := answer.HookLine(request.RequestID, out); err != nil {
		st.s.log.Error("answering a hook", "session", st.s.id, "err", err)
	} else if _, err := st.send("", commandRefusal, Actor{}, line); err != nil {
		st.s.log.Error("answering a hook", "session", st.s.id, "err", err)
	}
	return true
}

// hookVerdict returns what the rules make of a call that is brought to the hub by
// a hook; nil leaves it to the CLI, which asks or not as it would anyway.
func (st *step) hookVerdict(request string, input *wire.PreToolUseInput) (*wire.PreToolUseOutput, *api.RuleRef) {
	call := st.call(request, input.ToolName, input.ToolInput)
	verdict := st.s.engine().Decide(call)
	if verdict.Decision != policy.Deny && verdict.Decision != policy.Ask && st.untold(&call) {
		// Without an answer of the rules it could run unasked.
		verdict = policy.Verdict{
			Decision: policy.Ask, Reason: "The machine that the agent runs on did not tell where the call's paths lead, so a person decides.", Enforced: policy.EnforcedHub,
		}
	}
	out := &wire.PreToolUseOutput{PermissionDecisionReason: verdict.Reason}
	switch verdict.Decision {
	case policy.Deny:
		out.PermissionDecision = wire.HookPermissionDecisionDeny
		if verdict.Message != "" {
			out.PermissionDecisionReason = verdict.Message
		}
	case policy.Ask:
		out.PermissionDecision = wire.HookPermissionDecisionAsk
	case policy.Allow:
		// The CLI asks, if it must, and then the rule answers.
		return nil, nil
	default:
		return nil, nil
	}
	ref := refOf(verdict)
	st.event(api.KindDecision, Actor{}, api.Decision{Tool: input.ToolName, ToolUseID: input.ToolUseID, Input: input.ToolInput, Rule: *ref})
	return out, ref
}

// openHook opens a question for a hook whose request is held open.
func (st *step) openHook(request *wire.ControlRequest, input *wire.PreToolUseInput, ref *api.RuleRef) {
	p := st.s.projection
	raw := request.Raw()
	if raw == nil || p.Ended != nil {
		return
	}
	q := api.Question{
		ID: newID("q"), Session: p.ID, Run: p.Run, RequestID: request.RequestID, Kind: api.QuestionPermission, State: api.QuestionOpen,
		Request: raw, Opened: st.now, Rule: ref, Deadline: st.deadline(),
	}
	answer.Describe(&q, request)
	st.event(api.KindQuestionOpened, Actor{Source: journal.SourceAgent}, q)
}

// settings returns the rules that the CLI is to enforce itself.
func (s *session) settings(now time.Time) record.Enforced {
	v := s.engine().Settings(s.projection.dir(), now)
	return record.Enforced{Deny: v.Deny, Ask: v.Ask}
}

// lingers reports whether the CLI was started with rules that do not hold any
// more.
func lingers(e record.Enforced) bool {
	return slices.ContainsFunc(e.Fixed, func(r string) bool { return !slices.Contains(e.Deny, r) && !slices.Contains(e.Ask, r) })
}

// everyCall reports whether each call is brought to the hub.
func (st *step) everyCall() bool {
	return st.s.engine().Enforce() == policy.EnforceHook
}

// rulesChanged judges what is asked anew, and has the CLI told.
func (st *step) rulesChanged() {
	st.offerAll()
	st.s.policy.due = true
	st.warnNoHook()
	st.warnHosts()
}

// flagSettings is the first version that takes settings while it runs.
var flagSettings = wire.Version{Major: 2, Minor: 1, Patch: 62}

// push tells the CLI of rules that it has not got yet. A version that cannot be
// told is given them at its next start. What cannot be said yet stays due.
func (st *step) push() {
	s, p := st.s, st.s.projection
	if !s.policy.due || s.policy.pushing {
		return
	}
	if p.Node != "" && p.Ended == nil && p.dir() != "" && !s.hub.elsewhere.knows(p.Node, p.dir()) {
		s.follow.due = true // which rules hold in the folder may depend on where it leads
		return
	}
	want := s.settings(st.now)
	if p.Ended != nil || p.foreignProcess() || want.Equal(p.Enforced) {
		s.policy.due = false
		return
	}
	v := p.version()
	if v.IsZero() || s.reachable() != nil {
		return
	}
	s.policy.due = false
	if v.Compare(flagSettings) < 0 {
		if !s.policy.toldLater.Equal(want) {
			s.policy.toldLater = want
			st.fromNextStart("the rules have changed; what they deny and ask is enforced by the agent itself from its next start on, until then only for what it asks")
		}
		return
	}
	raw, err := withRules(s.policy.flags, want)
	if err != nil {
		s.log.Error("building settings for the CLI", "session", s.id, "err", err)
		return
	}
	s.policy.pushing = true
	st.then(func() { s.hub.tasks.Go(func() { s.pushNow(want, raw) }) })
}

func (st *step) fromNextStart(text string) {
	st.event(api.KindNotice, Actor{}, api.Notice{Code: "rules_from_next_start", Text: text})
}

// pushNow gives the CLI rules to enforce; raw is what it is sent.
func (s *session) pushNow(want record.Enforced, raw json.RawMessage) {
	ctx, cancel := context.WithTimeout(s.hub.ctx, requestTimeout)
	defer cancel()
	_, err := s.request(ctx, Actor{}, &wire.ApplyFlagSettingsRequest{Settings: raw}, nil)
	s.post(func(st *step) { // a hub that closes tells the CLI after its restart
		s.policy.pushing = false
		if s.projection.Ended != nil {
			return
		}
		if err != nil {
			if s.hub.ctx.Err() == nil && s.reachable() == nil {
				st.event(api.KindNotice, Actor{}, api.Notice{Code: "rules_not_taken", Text: "the agent did not take the changed rules: " + err.Error()})
			}
			return
		}
		want.Fixed = s.projection.Enforced.Fixed
		st.event(api.KindUpdated, Actor{}, record.Updated{Enforced: &want})
		if lingers(want) {
			st.fromNextStart("the agent was started with rules that do not hold any more; it goes on to enforce them until its next start")
		}
		s.policy.due = true // they may have changed meanwhile
	})
}

// watchRules tells sessions when the rules change: first when changed is closed.
func (h *Hub) watchRules(changed <-chan struct{}) {
	for changed != nil {
		select {
		case <-changed:
		case <-h.ctx.Done():
			return
		}
		// Before the sessions look at the rules: what changes after that is a
		// change of its own.
		changed = h.rules.Changed()
		h.mu.Lock()
		sessions := make([]*session, 0, len(h.sessions))
		for _, s := range h.sessions {
			sessions = append(sessions, s)
		}
		h.mu.Unlock()
		for _, s := range sessions {
			s.post((*step).rulesChanged)
		}
	}
}

// Policy says which rules are in force for all sessions.
func (h *Hub) Policy(context.Context) (*api.Policy, error) {
	p := h.rules.Status()
	return &p, nil
}

// ConfirmPolicy confirms a change of the rules that allows more than before.
func (h *Hub) ConfirmPolicy(_ context.Context, by Actor, in api.ConfirmPolicy) (*api.Policy, error) {
	if !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "rules that allow more need the scope admin")
	}
	if err := h.rules.Confirm(in.Sum); err != nil {
		return nil, h.problem(err, "")
	}
	h.log.Info("a change of the rules was confirmed", "by", nameOf(by), "sum", in.Sum)
	p := h.rules.Status()
	return &p, nil
}

// offerHook offers a question that a hook holds open to the rules, which have
// changed since they had a person asked. Only a refusal settles it: that person
// is asked already.
func (st *step) offerHook(row journal.Question, ask *wire.ControlRequest) {
	tool, input := answer.Call(ask)
	if tool == "" {
		return
	}
	call := st.call(row.RequestID, tool, input)
	v := st.s.engine().Decide(call)
	if v.Decision != policy.Deny && st.untold(&call) {
		st.s.follow.due = true
	}
	if v.Decision == policy.Deny {
		in := api.Answer{Decision: "deny", Message: v.Message}
		line, err := answer.Hook(ask, in)
		st.byRule(row, ask, v, in, line, err)
	}
}

// warnNoHook tells, once, that calls of a process which was started without a hook
// are not brought to the hub although the rules say so now.
func (st *step) warnNoHook() {
	s, p := st.s, st.s.projection
	if s.policy.unhooked || !st.everyCall() || p.Ended != nil || p.First == nil || bytes.Contains(p.First, []byte(`"`+hookEveryCall+`"`)) {
		return
	}
	s.policy.unhooked = true
	st.event(api.KindNotice, Actor{}, api.Notice{
		Code: "hooks_from_next_start",
		Text: "the rules are to see every call; the agent was started without that, and brings its calls to them from its next start on, until then only what it asks",
	})
}

// checkEdited refuses a call that a person has edited into one that a rule denies:
// the CLI does not ask about it any more.
func (st *step) checkEdited(ask *wire.ControlRequest, in api.Answer) error {
	tool, _ := answer.Call(ask)
	if in.Input == nil || tool == "" {
		return nil
	}
	call := st.call(ask.RequestID, tool, in.Input)
	v := st.s.engine().Decide(call)
	if v.Decision != policy.Deny {
		if st.untold(&call) {
			return editedUntold(st.s.projection.NodeName)
		}
		return nil
	}
	name := ""
	if v.Rule != nil {
		name = " (" + v.Rule.Text + ")"
	}
	return record.Unfit("input: a rule denies the edited call%s: %s", name, v.Reason)
}

// dropHook cancels a question of a hook that the CLI has withdrawn.
func (st *step) dropHook(requestID string) {
	row, open := st.s.projection.asked(requestID)
	if !open {
		return
	}
	if ask, err := answer.Ask(&row); err == nil && answer.IsHook(ask) {
		st.settledByAgent(&row, api.QuestionCancelled, string(fold.ReasonWithdrawn), nil)
	}
}

// dropRest cancels what a run has asked and the fold does not know of: what hooks
// hold open, and what it has forgotten because there was far too much. Plans that
// outlive the run stay.
func (st *step) dropRest(reason string) {
	for _, row := range slices.Clone(st.s.projection.Questions) {
		if row.Run == st.s.projection.Run && !answer.DataOf(&row).Stale {
			st.settledByAgent(&row, api.QuestionCancelled, reason, nil)
		}
	}
}
