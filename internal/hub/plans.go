package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// What agents are told about plans.
const (
	implementPlan   = "Implement the following plan:\n\n"
	implementNoPlan = "Continue implementing the plan from the previous conversation."
	deniedFresh     = "The user approved the plan. It is carried out in a new conversation; nothing is left to do in this one."
	deniedPlan      = "The user rejected the plan."
	deniedImages    = "The user wants changes to the plan. What is wanted is in the images of the next message."
	outlineText     = "Before the plan is decided on, write its outline as plain text in your next message: a numbered list of every step in the order in which " +
		"you would take it; for each step the files and commands concerned, what changes, and why; what could go wrong and how you would notice; and what you " +
		"leave out on purpose. Change nothing yet. When the outline is complete, present the plan again."
	outlineSoon = "The user has paused to read the outline of the plan, and it was presented again too soon. Write the outline as plain text if you have not done so, " +
		"and wait for the user's next message before you present the plan again."
)

// A planIntent is a plan that was approved for a fresh start: the process that
// made it is ended, and a new one begins with the plan alone. It is part of the
// log, so that a hub that was restarted in the middle finishes it.
type planIntent struct {
	Question string              `json:"question"`
	Prompt   string              `json:"prompt"`
	Mode     wire.PermissionMode `json:"mode"`
	Rules    []string            `json:"rules,omitempty"`
	Source   journal.Source      `json:"source,omitempty"`
	By       string              `json:"by,omitempty"`
	Since    time.Time           `json:"since"`
	// Agent says that the plan was a sub-agent's: its end may not end the turn.
	Agent bool `json:"agent,omitempty"`
}

// A planProjection is what the log says of plans.
type planProjection struct {
	// Intent is a plan that is to be carried out by a new process, Outline what
	// is known of pauses before a plan.
	Intent  *planIntent `json:"intent,omitempty"`
	Outline outline     `json:"outline,omitzero"`
}

// A planState is what a session knows of plans beside the projection.
type planState struct {
	// tool is the one that is about to change the permission mode.
	tool string
	// files were read for the line that is being taken in, by request id.
	files map[string]*PlanFile
}

// planOf captures the plan of a question when it opens: its file may be gone when
// it is answered.
func (st *step) planOf(ask *wire.ControlRequest) *api.Plan {
	s, p := st.s, st.s.projection
	request, ok := ask.Request.(*wire.CanUseToolRequest)
	if !ok {
		return nil
	}
	var exit wire.PlanExit
	if err := json.Unmarshal(request.Input, &exit); err != nil {
		s.log.Warn("reading a plan", "session", s.id, "err", err)
	}
	plan := &api.Plan{Text: exit.Plan, Path: exit.PlanFilePath, Bypass: p.bypass()}
	for _, allowed := range exit.AllowedPrompts {
		plan.Prompts = append(plan.Prompts, api.PlanPrompt{Tool: allowed.Tool, Prompt: allowed.Prompt})
	}
	if plan.Text != "" {
		plan.Source = "request"
	} else if file := s.plans.files[ask.RequestID]; file != nil {
		plan.Text, plan.Path, plan.Source = file.Text, file.Path, "file"
	}
	if c := p.State.Context; c != nil {
		percent := c.Percent
		plan.Percent = &percent
	}
	plan.Outcomes = answer.Outcomes(plan, p.replaceable() == nil, false)
	return plan
}

// plansAsked returns which files have to be read before a line is taken in: those of
// the plans that it asks about without saying what they are, by request id.
func (st *step) plansAsked(line *fold.Line) map[string]PlanQuery {
	s, p := st.s, st.s.projection
	switch string(line.Header.Type) {
	case "control_request", "control_response":
	default:
		return nil
	}
	if s.hub.launcherOf(p.Node) == nil || p.foreignProcess() || p.Ended != nil {
		return nil
	}
	m, err := line.Message()
	if err != nil {
		return nil
	}
	var asks []wire.ControlRequest
	switch m := m.(type) { //nolint:gochecksumtype // the others ask nothing
	case *wire.ControlRequest:
		asks = []wire.ControlRequest{*m}
	case *wire.ControlResponse:
		asks = m.Response.PendingPermissionRequests // of the answer to initialize
	}
	var queries map[string]PlanQuery
	for i := range asks {
		request, ok := asks[i].Request.(*wire.CanUseToolRequest)
		if !ok || fold.KindOf(request) != fold.KindPlan {
			continue
		}
		var exit wire.PlanExit
		_ = json.Unmarshal(request.Input, &exit) // planOf says what is wrong with it
		if _, open := p.asked(asks[i].RequestID); open || exit.Plan != "" {
			continue
		}
		if queries == nil {
			queries = map[string]PlanQuery{}
		}
		queries[asks[i].RequestID] = PlanQuery{
			ConfigDir: p.ConfigDir, Dir: p.dir(), Conversation: p.State.Conversation(), Path: exit.PlanFilePath, Agent: request.AgentID,
			Since: s.run.Started, Settings: p.Options.Settings,
		}
	}
	return queries
}

// planTime bounds how long the files of the plans are read that a line asks about.
const planTime = 5 * time.Second

// readPlans reads the files of plans, those that there are.
func (h *Hub) readPlans(node, session string, queries map[string]PlanQuery) map[string]*PlanFile {
	ctx, cancel := context.WithTimeout(h.ctx, planTime)
	defer cancel()
	files := map[string]*PlanFile{}
	for id, q := range queries {
		file, err := h.launcherOf(node).Plan(ctx, q)
		switch {
		case err == nil:
			files[id] = file
		case !errors.Is(err, fs.ErrNotExist):
			h.log.Warn("reading the file of a plan", "session", session, "err", err)
		}
	}
	return files
}

// dir returns the folder that the session works in.
func (p *projection) dir() string {
	if p.Dir != "" {
		return p.Dir
	}
	return p.State.Dir // of a session that began with a CLI that dialled in
}

// usage asks the CLI how full its context is, for a plan review that does not say
// so. Versions that cannot tell leave it out.
func (st *step) usage(id string) {
	s := st.s
	if s.projection.foreignProcess() || s.projection.version().Compare(wire.Version{Major: 2, Minor: 1, Patch: 120}) < 0 {
		return // or a program would be answered what it has not asked
	}
	st.then(func() {
		s.hub.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(s.hub.ctx, 20*time.Second)
			defer cancel()
			if _, err := s.request(ctx, Actor{}, &wire.GetContextUsageRequest{}, nil); err != nil {
				return // it is only shown where it is known
			}
			s.post(func(st *step) {
				c := s.projection.State.Context
				row, open := s.projection.question(id)
				if !open || c == nil {
					return
				}
				q := answer.Question(row)
				if q.Plan == nil {
					return
				}
				plan := *q.Plan
				percent := c.Percent
				plan.Percent = &percent
				q.Plan = &plan
				st.event(api.KindQuestionChanged, Actor{}, q)
			})
		})
	})
}

// answerPlan answers a plan.
func (st *step) answerPlan(by Actor, row journal.Question, ask *wire.ControlRequest, in api.Answer) (*api.Question, error) {
	if err := answer.CheckMembers(api.QuestionPlan, &in); err != nil {
		return nil, err
	}
	q := answer.Question(row)
	plan := q.Plan
	if plan == nil {
		plan = &api.Plan{}
	}
	if in.Outcome == "" && !q.Stale {
		return st.answerPlainly(by, row, ask, in)
	}
	if err := answer.CheckPlan(by.Admin, plan, q.Stale, in); err != nil {
		return nil, err
	}
	text := plan.Text
	if in.Plan != nil {
		text = *in.Plan
	}
	v := settlement{answer: in}
	var err error
	switch in.Outcome {
	case api.PlanFresh:
		return st.answerFresh(by, row, ask, in, text)
	case api.PlanAcceptEdits, api.PlanAsk:
		v.line, err = answer.Approval(ask, in, plan.Text)
	case api.PlanRevise:
		if q.Stale {
			return st.reviseStale(by, row, ask, in)
		}
		message := in.Message
		if strings.TrimSpace(message) == "" {
			message = deniedImages
		}
		v.line, err = wire.NewPermission(ask, &wire.Deny{Message: message})
	case api.PlanReject:
		message := in.Message
		if strings.TrimSpace(message) == "" {
			message = deniedPlan
		}
		if !q.Stale {
			v.line, err = wire.NewPermission(ask, &wire.Deny{Message: message, Interrupt: in.Interrupt})
		}
	case api.PlanOutline:
		v.line, err = wire.NewPermission(ask, &wire.Deny{Message: outlineText})
	}
	if err != nil {
		return nil, answerProblem(err)
	}
	if in.Images != nil { // they follow the answer, which cannot be taken back
		if err := st.fits(api.Message{Content: in.Images, UUID: wire.NewUUID()}); err != nil {
			return nil, err
		}
	}
	if err := st.tellEdited(by, ask, v, text != plan.Text, text); err != nil {
		return nil, err
	}
	settled, err := st.settle(by, row, ask, v)
	if err != nil {
		return nil, err
	}
	if in.Outcome == api.PlanRevise && in.Images != nil {
		if _, err := st.message(by, incoming{SendMessage: api.SendMessage{Content: in.Images, Mode: modeSteer}}); err != nil {
			// The answer is given; the images wait for the next turn.
			_, err = st.queue(by, api.SendMessage{Content: in.Images})
			return settled, err
		}
	}
	return settled, st.compact(by, in)
}

// editedPlan is the first version that obeys a plan that was edited.
var editedPlan = wire.Version{Major: 2, Minor: 1, Patch: 120}

// tellEdited tells an agent that its plan was edited whose CLI hands on the old
// one whatever it is answered. It is told before the answer, while the call is
// still open, so that the model sees both at once.
func (st *step) tellEdited(by Actor, ask *wire.ControlRequest, v settlement, edited bool, text string) error {
	if !edited || v.line == nil || st.s.projection.version().Compare(editedPlan) >= 0 {
		return nil
	}
	if wire.ScopeOf(v.line, ask) == wire.ScopeAdmin && !by.Admin {
		return nil // settle refuses it
	}
	_, err := st.message(by, incoming{SendMessage: api.SendMessage{Mode: modeSteer, Text: "The user has changed the plan before approving it. Follow this version, not the one in the result of " + answer.ToolExitPlan + ":\n\n" + text}})
	return err
}

// answerPlainly answers a plan as if it were any tool call: the mode is the one
// before the plan.
func (st *step) answerPlainly(by Actor, row journal.Question, ask *wire.ControlRequest, in api.Answer) (*api.Question, error) {
	if in.Plan != nil || in.Mode != "" || in.Images != nil || in.NoPrompts {
		return nil, record.Unfit("plan, mode, images and no_prompts go with an outcome")
	}
	v := settlement{answer: in}
	var err error
	switch in.Decision {
	case "allow":
		var allow *wire.Allow
		if allow, err = answer.Allow(in); err == nil {
			v.line, err = wire.NewPermission(ask, allow)
		}
	case "deny":
		if in.Compact {
			return nil, record.Unfit("compact goes with an approval")
		}
		v.line, err = wire.NewPermission(ask, &wire.Deny{Message: in.Message, Interrupt: in.Interrupt})
	default:
		return nil, record.Unfit("outcome: expected fresh, accept_edits, ask, revise, reject or outline for a plan, got %q", in.Outcome)
	}
	if err != nil {
		return nil, answerProblem(err)
	}
	q, err := st.settle(by, row, ask, v)
	if err != nil {
		return nil, err
	}
	return q, st.compact(by, in)
}

// compact has the conversation compacted when the turn is over.
func (st *step) compact(by Actor, in api.Answer) error {
	if !in.Compact || in.Outcome == api.PlanFresh { // a fresh start has nothing to compact
		return nil
	}
	_, err := st.queueFirst(by, api.SendMessage{Text: "/compact"})
	return err
}

// answerFresh approves a plan that a new process is to carry out.
func (st *step) answerFresh(by Actor, row journal.Question, ask *wire.ControlRequest, in api.Answer, text string) (*api.Question, error) {
	s, p := st.s, st.s.projection
	if err := p.replaceable(); err != nil {
		return nil, err
	}
	if s.hub.launcherOf(p.Node) == nil || p.dir() == "" {
		return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session has no folder to start a process in", Hint: "approve the plan without a fresh start"}
	}
	intent := &planIntent{
		Question: row.ID, Prompt: implementNoPlan, Mode: answer.Mode(in), Source: by.Source, By: by.Name, Since: st.now,
	}
	if strings.TrimSpace(text) != "" {
		intent.Prompt = implementPlan + text
	}
	if request, ok := ask.Request.(*wire.CanUseToolRequest); ok {
		intent.Agent = request.AgentID != ""
		if !in.NoPrompts {
			intent.Rules = answer.PromptRules(request)
		}
	}
	// A plan that is too long would be found out when the old process has ended.
	if err := st.fits(api.Message{Text: intent.Prompt, UUID: wire.NewUUID()}); err != nil {
		return nil, err
	}
	v := settlement{answer: in, intent: intent}
	if !answer.DataOf(&row).Stale {
		line, err := wire.NewPermission(ask, &wire.Deny{Message: deniedFresh, Interrupt: true})
		if err != nil {
			return nil, answerProblem(err)
		}
		v.line = line
	}
	return st.settle(by, row, ask, v) // and pursue goes on from there
}

// reviseStale goes on planning although the process has ended: another one is
// started, and told what to change.
func (st *step) reviseStale(by Actor, row journal.Question, ask *wire.ControlRequest, in api.Answer) (*api.Question, error) {
	content := []any{}
	if strings.TrimSpace(in.Message) != "" {
		content = append(content, map[string]string{"type": "text", "text": in.Message})
	}
	if in.Images != nil {
		var images []json.RawMessage
		if err := json.Unmarshal(in.Images, &images); err != nil {
			return nil, record.Unfit("images: expected a list of image blocks")
		}
		for _, v := range images {
			content = append(content, v)
		}
	}
	message := api.SendMessage{Content: encoded(content)}
	if p := st.s.projection; p.Ended == nil || p.Options.Fresh {
		if _, err := st.message(by, incoming{SendMessage: message}); err != nil {
			return nil, err
		}
		return st.settle(by, row, ask, settlement{answer: in})
	}
	if err := st.s.resumable(); err != nil {
		return nil, err
	}
	if _, err := st.queue(by, message); err != nil {
		return nil, err
	}
	// It goes on planning, whatever mode the session was once started in.
	st.startRun(runSpec{mode: wire.PermissionModePlan})
	return st.settle(by, row, ask, settlement{answer: in})
}

// pursueFor is how long the end of a turn is waited for when a plan is to be
// carried out by a new process.
const pursueFor = 20 * time.Second

// planOver is why a process is ended whose plan another one carries out.
const planOver = "its plan was approved, and a new process carries it out"

// advancePlan takes the next step towards an approved plan's fresh start, if it is
// time for it.
func (st *step) advancePlan() {
	s, p := st.s, st.s.projection
	in := p.Intent
	switch {
	case in == nil:
		return
	case p.Ended != nil:
		st.carryOut()
		return
	case s.process.stopping != "" || s.link == nil || !s.link.connected:
		return
	}
	onItsWay := slices.ContainsFunc(p.Commands, func(v journal.Command) bool { return v.Kind == commandAnswer && v.Run == p.Run })
	if late := st.now.Sub(in.Since) > pursueFor; !late && (onItsWay || !in.Agent && !p.phase().TakesPrompt()) {
		return
	}
	killpoint.Reach("hub.plan-denied")
	st.stop(planOver, stopGrace)
	if p.Ended != nil { // a CLI that dialled in is not waited for
		st.carryOut()
	}
}

// dropIntent gives up a fresh start: a client has stopped the session.
func (st *step) dropIntent(by Actor) {
	if st.s.projection.Intent != nil {
		st.event(api.KindUpdated, by, record.Updated{NoPlan: true})
	}
}

// carryOut begins the new process of an approved plan.
func (st *step) carryOut() {
	p := st.s.projection
	in := p.Intent
	killpoint.Reach("hub.plan-ended")
	st.then(func() { killpoint.Reach("hub.plan-started") })
	by := Actor{Source: in.Source, Name: in.By}
	if _, err := st.queueFirst(by, api.SendMessage{Text: in.Prompt}); err != nil {
		st.s.log.Error("queueing an approved plan", "session", st.s.id, "err", err)
	}
	options := p.Options
	options.PermissionMode = string(in.Mode)
	options.AllowedTools = slices.Clone(options.AllowedTools)
	for _, r := range in.Rules {
		if !slices.Contains(options.AllowedTools, r) {
			options.AllowedTools = append(options.AllowedTools, r)
		}
	}
	st.startRun(runSpec{fresh: true, options: &options, plan: in.Question})
}

// outlive keeps a plan whose process has ended: it can still be carried out. It
// reports whether it did.
func (st *step) outlive(row *journal.Question, c fold.Change) bool {
	p := st.s.projection
	// A CLI whose input is closed takes back what it asks before it ends.
	ends := c.Reason == fold.ReasonEnded || st.s.process.stopping != ""
	if c.Question.Kind != fold.KindPlan || !ends || p.replaceable() != nil || p.dir() == "" || st.s.hub.launcherOf(p.Node) == nil {
		return false
	}
	st.dropStale("there is a newer plan", row.ID)
	q := answer.Question(*row)
	q.Stale = true
	if q.Plan != nil {
		plan := *q.Plan
		plan.Outcomes = answer.Outcomes(&plan, true, true)
		q.Plan = &plan
	}
	st.event(api.KindQuestionChanged, Actor{}, q)
	return true
}

// dropStale cancels plans that have outlived their process, but for one.
func (st *step) dropStale(reason, except string) {
	for _, row := range slices.Clone(st.s.projection.Questions) {
		if row.ID == except || !answer.DataOf(&row).Stale {
			continue
		}
		q := answer.Question(row)
		q.State, q.Reason, q.Settled = api.QuestionCancelled, reason, st.now
		st.event(api.KindQuestionSettled, Actor{}, settledData{Question: q})
	}
}

// An outline is what is known of pauses before a plan.
type outline struct {
	// Clicks counts the pauses since the last explicit answer, Last is when the
	// newest was, or when a plan was last refused by itself.
	Clicks int       `json:"clicks,omitempty"`
	Last   time.Time `json:"last,omitzero"`
}

// The cool-down after a pause.
const (
	outlineBase = 30 * time.Second
	outlineMost = 120 * time.Second
)

// settled folds the end of a plan review.
func (o *outline) settled(q *api.Question, e *journal.Entry) {
	switch {
	case q.State != api.QuestionAnswered || q.Answer == nil:
		// No prompt was given.
	case q.Answer.Outcome == api.PlanOutline && e.Source == journal.SourceHub:
		o.Last = e.Time
	case q.Answer.Outcome == api.PlanOutline:
		o.Clicks++
		o.Last = e.Time
	default:
		*o = outline{}
	}
}

// cools reports whether a plan that comes now comes too soon.
func (o *outline) cools(now time.Time) bool {
	return o.Clicks > 0 && now.Before(o.Last.Add(min(time.Duration(o.Clicks)*outlineBase, outlineMost)))
}

// refuseSoon refuses a plan that comes too soon after a pause. It reports whether
// it did.
func (st *step) refuseSoon(row journal.Question, ask *wire.ControlRequest) bool {
	if !st.s.projection.Outline.cools(st.now) {
		return false
	}
	line, err := wire.NewPermission(ask, &wire.Deny{Message: outlineSoon})
	if err == nil {
		_, err = st.settle(hubItself, row, ask, settlement{
			answer: api.Answer{Outcome: api.PlanOutline, Message: outlineSoon}, line: line, reason: "it came too soon after a pause for its outline",
		})
	}
	if err != nil {
		st.s.log.Error("refusing a plan that came too soon", "session", st.s.id, "err", err)
		return false
	}
	return true
}
