package hub

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A projection is all that is derived from the entries of a session, by its reducer:
// the same entries give the same projection, whether they are applied as they happen
// or read back from the journal, in one go or on top of a stored one. What belongs to
// one feature is declared in its file; in JSON it is part of the projection all the same.
type projection struct {
	ID    string `json:"id"`
	Epoch string `json:"epoch"`
	Seq   int64  `json:"seq"`

	// Form is projectionForm when the projection was stored: another version's may lack something.
	Form int `json:"form,omitempty"`

	Title     string             `json:"title,omitempty"`    // given by a person or a program
	Asked     string             `json:"asked,omitempty"`    // the first line of the first prompt, see title
	Prompted  int64              `json:"prompted,omitempty"` // the entry that sent the newest prompt
	Dir       string             `json:"dir,omitempty"`
	Options   api.SessionOptions `json:"options,omitzero"`
	Created   time.Time          `json:"created"`
	Updated   time.Time          `json:"updated"`       // the last activity, see isActivity
	Lost      time.Time          `json:"lost,omitzero"` // when the link was lost last
	Archived  time.Time          `json:"archived,omitzero"`
	ConfigDir string             `json:"config_dir,omitempty"`
	// Node is the machine that its agents run on, "" for the hub's own; NodeName is what
	// people call it. They never change.
	Node     string `json:"node,omitempty"`
	NodeName string `json:"node_name,omitempty"`

	Run       int        `json:"run"`
	Transport string     `json:"transport,omitempty"`
	Linked    bool       `json:"linked,omitempty"`
	Simulated bool       `json:"simulated,omitempty"`
	Ended     *api.Ended `json:"ended,omitempty"`
	// Version is the CLI's as it was found when the run was started.
	Version string `json:"version,omitempty"`
	// Runner is what the CLI, which dialled in, said of the environment that it
	// runs in; Unauthenticated that it brought no credential.
	Runner          string `json:"runner,omitempty"`
	Unauthenticated bool   `json:"unauthenticated,omitempty"`
	// Doubt says that the CLI, which dialled in, may have lost the end of its turn:
	// lines are missing, and nothing that came since belongs to a turn.
	Doubt bool `json:"doubt,omitempty"`
	// Told is the phase that the last state entry told.
	Told fold.Phase `json:"told,omitempty"`

	State fold.State `json:"state"`
	Costs fold.Costs `json:"costs"`

	outboxProjection   // outbox.go
	questionProjection // projection_questions.go
	policyProjection   // policy.go
	planProjection     // plans.go
	driverProjection   // driver.go
	relayProjection    // relay.go
	sandboxProjection  // sandbox.go

	// Limits are what holds the session back.
	Limits budget.State `json:"limits,omitzero"`
	// ToldMode is the permission mode that was told last.
	ToldMode wire.PermissionMode `json:"told_mode,omitempty"`
	// Resume, Fork and At say what the run was to go on with.
	Resume string `json:"resume,omitempty"`
	Fork   bool   `json:"fork,omitempty"`
	At     string `json:"at,omitempty"`
	// First is the body of the run's first initialize request.
	First json.RawMessage `json:"first,omitempty"`
	// rowJSON is the encoded data of the session's row, made of rowOf; see rowData.
	rowOf   rowData
	rowJSON json.RawMessage
}

// The kinds of commands.
const (
	commandPrompt     = record.CommandPrompt
	commandSteer      = "steer"
	commandAnswer     = "answer"
	commandRequest    = "request"
	commandInitialize = "initialize"
	commandRefusal    = "refusal" // the hub's own answer to a request that it does not know
	commandProgram    = "program" // what a program wrote to its own CLI
)

// settledData is the data of kind question_settled; the data of the other kinds is in packages api and record.
type settledData struct {
	api.Question
	Line   json.RawMessage `json:"line,omitempty"`
	Intent *planIntent     `json:"intent,omitempty"`
}

// changes are what applying an entry did beyond the projection itself.
type changes struct {
	commands  map[string]journal.Command
	questions map[string]journal.Question
	turns     []journal.Turn
	// conversations that were not known before
	conversations []string
	// asked is what the entry did to the CLI's questions, for step.react, which turns
	// that into further entries.
	asked []fold.Change
}

func (c *changes) command(v journal.Command) {
	if c.commands == nil {
		c.commands = map[string]journal.Command{}
	}
	c.commands[v.ID] = v
}

func (c *changes) question(v journal.Question) {
	if c.questions == nil {
		c.questions = map[string]journal.Question{}
	}
	c.questions[v.ID] = v
}

// apply folds an entry that has its number. line is that of an entry of kind line,
// see lineOf. An entry that does not follow the last one is a mistake of the caller.
func (p *projection) apply(e *journal.Entry, line *fold.Line, c *changes) error {
	if e.Seq != p.Seq+1 {
		return fmt.Errorf("entry %d of session %s follows %d", e.Seq, p.ID, p.Seq)
	}
	p.Seq = e.Seq
	before, linked := p.State.Conversation(), p.Linked
	var err error
	switch e.Kind {
	case api.KindLine:
		p.line(e, line, c)
	case api.KindSent:
		err = p.sent(e, c)
	case api.KindCreated:
		err = p.created(e)
	case api.KindRunStarted:
		err = p.runStarted(e, c)
	case api.KindLinkUp:
		err = p.linkUp(e, c)
	case api.KindRunLaunched:
		var d record.RunFound
		if err = json.Unmarshal(e.Data, &d); err == nil {
			p.found(d)
		}
	case api.KindLinkLost:
		p.Linked, p.Lost = false, e.Time
		p.happened(fold.Event{Kind: fold.EventLinkLost, Seq: e.Seq, Time: e.Time}, c)
	case api.KindRunEnded:
		err = p.runEnded(e, c)
	case api.KindState:
		var d record.State
		if err = json.Unmarshal(e.Data, &d); err == nil {
			p.Told = fold.Phase(d.State)
		}
	case api.KindQuestionOpened, api.KindQuestionChanged, api.KindQuestionSettled:
		err = p.questionEntry(e, c)
	case api.KindRuleAdded, api.KindRuleRemoved:
		err = p.rule(e)
	case api.KindMode:
		var d api.ModeChange
		if err = json.Unmarshal(e.Data, &d); err == nil {
			p.ToldMode = wire.PermissionMode(d.Mode)
		}
	case api.KindMessage:
		err = p.message(e, c)
	case api.KindCommand:
		err = p.commandFate(e, c)
	case api.KindGap:
		var d api.Gap
		if err = json.Unmarshal(e.Data, &d); err == nil {
			p.gap(d)
		}
	case api.KindTurn:
		err = p.turn(e, c)
	case api.KindUpdated:
		var d record.Updated
		if err = json.Unmarshal(e.Data, &d); err == nil {
			p.update(d, e.Time)
		}
	case api.KindSandboxRefused:
		p.Refusals++
	case api.KindHistory:
		if p.Asked == "" {
			p.Asked = askedIn(e.Line)
		}
	default:
		// Notices and whatever a later version writes change nothing here.
	}
	if e.Time.After(p.Updated) && p.isActivity(e, line, linked) {
		p.Updated = e.Time
	}
	p.Limits.Apply(e, line, budget.Facts{Phase: p.phase(), Told: p.Told, Result: p.State.Result})
	// Not by their number: the fold keeps so many of them.
	if now := p.State.Conversation(); now != before {
		c.conversations = append(c.conversations, now)
	}
	if err != nil {
		return fmt.Errorf("folding entry %d (%s) of session %s: %w", e.Seq, e.Kind, p.ID, err)
	}
	return nil
}

func (p *projection) created(e *journal.Entry) error {
	var d record.Created
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	p.Epoch, p.Title, p.Dir, p.Options, p.Created = d.Epoch, d.Title, d.Dir, d.Options, e.Time
	p.Resume, p.Fork, p.At, p.Direct = d.Resume, d.Copy, d.At, d.Direct
	p.Node, p.NodeName = d.Node, d.NodeName
	// A session without a process has ended, as it were, before it began.
	p.Ended = &api.Ended{Reason: "no process was started yet", Time: e.Time}
	p.State.Happened(fold.Event{Kind: fold.EventEnded, Reason: p.Ended.Reason, Seq: e.Seq, Time: e.Time})
	return nil
}

func (p *projection) update(d record.Updated, now time.Time) {
	if d.Title != nil {
		p.Title = *d.Title
	}
	if d.Model != nil {
		p.Options.Model = *d.Model
	}
	if d.PermissionMode != nil {
		p.Options.PermissionMode = string(*d.PermissionMode)
	}
	if d.MaxThinkingTokens != nil {
		p.Options.MaxThinkingTokens = *d.MaxThinkingTokens
	}
	if d.Enforced != nil {
		p.Enforced = *d.Enforced
	}
	if d.NoPlan {
		p.Intent = nil
	}
	if d.Archived != nil {
		p.Archived = time.Time{}
		if *d.Archived {
			p.Archived = now
		}
	}
}

// lineOf returns the line of an entry that was read back, nil if it is not one of the
// CLI.
func lineOf(e *journal.Entry) *fold.Line {
	if e.Kind != api.KindLine {
		return nil
	}
	return fold.NewLine(e.Line, false)
}

// line folds a line that the CLI wrote.
func (p *projection) line(e *journal.Entry, l *fold.Line, c *changes) {
	l.Seq, l.Time = e.Seq, e.Time
	p.State.Drift.Count(l)
	c.asked = append(c.asked, p.State.Apply(l)...)
	p.foreignLine(l, e.Line)
	if p.confined() {
		p.Calls.Apply(l)
	}
	p.Doubt = p.Doubt && !ofTurn(l)
	if turn := p.Costs.Apply(l); turn != nil {
		data, err := json.Marshal(turn)
		if err == nil {
			c.turns = append(c.turns, journal.Turn{
				Session: p.ID, Run: p.Run, Seq: e.Seq, Time: e.Time, CostUSD: turn.Figures.CostUSD, Data: data,
			})
		}
	}
	p.pickUp(e.Time, c)
	if p.ToldMode == "" {
		p.ToldMode = p.State.Mode
	}
	if p.Asked == "" && l.Header.Is("user", "") {
		p.Asked = askedIn(e.Line)
	}
}

// pickUp marks the prompts that the CLI has taken from its queue.
func (p *projection) pickUp(now time.Time, c *changes) {
	for i := 0; i < len(p.Commands); i++ {
		v := p.Commands[i]
		if v.UUID == "" || v.Run != p.Run || v.State != string(api.MessageSent) && v.State != string(api.MessageWritten) {
			continue
		}
		if !slices.Contains(p.State.Queue.Taken, v.UUID) {
			continue
		}
		p.settle(i, string(api.MessagePickedUp), now, c)
		i--
	}
}

// sent folds a line that is sent to the CLI.
func (p *projection) sent(e *journal.Entry, c *changes) error {
	var d record.Sent
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	l := fold.NewLine(e.Line, true)
	l.Seq, l.Time = e.Seq, e.Time
	c.asked = append(c.asked, p.State.Apply(l)...)
	p.Costs.Apply(l)
	if d.Kind == commandInitialize && p.First == nil {
		p.First = slices.Clone(e.Line)
	}
	if l.Header.Is("user", "") {
		if d.Kind != commandSteer || p.Prompted == 0 {
			p.Prompted = e.Seq
		}
		if p.Asked == "" {
			p.Asked = askedIn(e.Line)
		}
	}
	if len(p.Foreign) > 0 && string(l.Header.Type) == "control_response" {
		p.forgetForeign(string(l.Header.RequestID))
	}
	i := p.commandIndex(d.Command)
	if i < 0 {
		p.Commands = append(p.Commands, journal.Command{
			Session: p.ID, ID: d.Command, Kind: d.Kind, Created: e.Time, By: e.By,
			RequestID: string(l.Header.RequestID), UUID: e.UUID,
		})
		i = len(p.Commands) - 1
	}
	v := &p.Commands[i]
	v.Run, v.Number, v.State, v.Updated = e.Run, d.Number, string(api.MessageSent), e.Time
	v.Line = slices.Clone(e.Line)
	c.command(*v)
	if d.Kind == commandAnswer {
		p.delivered(v.RequestID, api.MessageSent, c)
	}
	return nil
}

// message folds a message to the agent: queued, edited, or its fate.
func (p *projection) message(e *journal.Entry, c *changes) error {
	var m api.Message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return err
	}
	i := p.commandIndex(m.ID)
	if i < 0 {
		if m.State != api.MessageQueued {
			return nil // its fate was settled before
		}
		kind := commandPrompt
		if m.Mode == modeSteer {
			kind = commandSteer
		}
		p.Order++
		order := p.Order
		if first, ok := p.nextPrompt(); m.First && ok {
			order = first.Order - 1
		}
		p.Commands = append(p.Commands, journal.Command{
			Session: p.ID, ID: m.ID, ClientID: m.ClientID, Kind: kind, UUID: m.UUID, By: e.By,
			Order: order, Created: e.Time,
		})
		i = len(p.Commands) - 1
	}
	v := &p.Commands[i]
	data, err := withContent(e.Data, m, v.Data)
	if err != nil {
		return err
	}
	if p.Asked == "" {
		p.Asked = askedBy(m)
	}
	v.Data = data
	if m.State != api.MessageSent && m.State != api.MessageWritten && m.State != api.MessagePickedUp && v.UUID != "" {
		// It did not reach the CLI, so the CLI does not hold it.
		p.State.Queue.Waiting = slices.DeleteFunc(p.State.Queue.Waiting, func(prompt fold.Prompt) bool { return prompt.UUID == v.UUID })
	}
	if m.State == api.MessageQueued {
		v.State, v.Updated, v.Run, v.Number, v.Line = string(m.State), e.Time, 0, 0, nil
		c.command(*v)
		return nil
	}
	p.fate(i, string(m.State), e.Time, c)
	return nil
}

// withContent returns the data of a message. Only the entries that queue or edit
// it repeat what it says, which may be long; the others say what became of it.
func withContent(data json.RawMessage, m api.Message, before json.RawMessage) (json.RawMessage, error) {
	if m.Text != "" || len(m.Content) > 0 || len(m.Line) > 0 || len(before) == 0 {
		return slices.Clone(data), nil
	}
	var old api.Message
	if err := json.Unmarshal(before, &old); err != nil {
		return nil, err
	}
	m.Text, m.Content, m.Line = old.Text, old.Content, old.Line
	return json.Marshal(m)
}

// commandFate folds what became of a command that is no message.
func (p *projection) commandFate(e *journal.Entry, c *changes) error {
	var f api.CommandFate
	if err := json.Unmarshal(e.Data, &f); err != nil {
		return err
	}
	if i := p.commandIndex(f.ID); i >= 0 {
		p.fate(i, string(f.State), e.Time, c)
	}
	if f.Kind == commandAnswer {
		p.delivered(f.RequestID, f.State, c)
	}
	return nil
}

// fate gives a command a state; the final ones settle it.
func (p *projection) fate(i int, state string, now time.Time, c *changes) {
	final := state != string(api.MessageWritten) || !takenUp(p.Commands[i].Kind)
	if final {
		p.settle(i, state, now, c)
		return
	}
	p.Commands[i].State, p.Commands[i].Updated = state, now
	c.command(p.Commands[i])
}

// takenUp reports whether the CLI tells that it has taken up a command of this
// kind, so that it is not settled when it is written.
func takenUp(kind string) bool { return kind == commandPrompt || kind == commandSteer }

func (p *projection) settle(i int, state string, now time.Time, c *changes) {
	v := p.Commands[i]
	v.State, v.Settled, v.Updated = state, true, now
	c.command(v)
	p.Commands = slices.Delete(p.Commands, i, i+1)
}

func (p *projection) commandIndex(id string) int {
	return slices.IndexFunc(p.Commands, func(v journal.Command) bool { return v.ID == id })
}

// runStarted folds the beginning of a run.
func (p *projection) runStarted(e *journal.Entry, c *changes) error {
	var d record.RunStarted
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	p.Run, p.Transport, p.Ended, p.Linked, p.First, p.Recent = d.Run, d.Transport, nil, false, nil, nil
	p.Relay = d.Relay
	p.Resume, p.Fork, p.At = d.Resume, d.Fork, d.At
	if d.Options != nil {
		p.Options = *d.Options
	}
	p.Enforced, p.ToldMode, p.Foreign, p.Doubt = d.Enforced, "", nil, false
	if d.Registration != nil {
		p.Registration = d.Registration
	}
	if p.Intent != nil && p.Intent.Question == d.Plan {
		p.Intent = nil
	}
	p.State.Version, p.State.Least, p.Version, p.Runner = "", "", "", "" // the next process may be another one
	p.Unauthenticated, p.sandboxProjection = d.Unauthenticated, sandboxProjection{Hosts: d.Hosts}
	event := fold.Event{Kind: fold.EventStarted, Run: d.Run, Resumed: d.Resume != "", Seq: e.Seq, Time: e.Time}
	p.Costs.Happened(event)
	p.happened(event, c)
	return nil
}

// linkUp folds the arrival of a link.
func (p *projection) linkUp(e *journal.Entry, c *changes) error {
	var d record.RunFound
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	p.Linked = true
	p.found(d)
	p.happened(fold.Event{Kind: fold.EventLinkBack, Seq: e.Seq, Time: e.Time}, c)
	return nil
}

func (p *projection) found(d record.RunFound) {
	if d.Version != "" {
		p.Version = d.Version
	}
	if d.ConfigDir != "" {
		p.ConfigDir = d.ConfigDir
	}
	if d.Runner != "" {
		p.Runner = d.Runner
	}
	if d.Sandbox != nil {
		p.Sandbox = d.Sandbox
	}
	p.Simulated = p.Simulated || d.Simulated
}

// runEnded folds the end of a run. What was on its way to the process is
// settled: the caller has written what is known of it before.
func (p *projection) runEnded(e *journal.Entry, c *changes) error {
	d := new(api.Ended)
	if err := json.Unmarshal(e.Data, d); err != nil {
		return err
	}
	event := fold.Event{Kind: fold.EventEnded, Reason: d.Reason, Seq: e.Seq, Time: e.Time}
	p.Costs.Happened(event)
	p.happened(event, c)
	if p.State.Ended != nil {
		d.Unfinished = p.State.Ended.Unfinished
	}
	p.Ended, p.Linked, p.Foreign, p.Doubt, p.Calls = d, false, nil, false, fold.Calls{}
	for i := 0; i < len(p.Commands); {
		v := p.Commands[i]
		if v.State != string(api.MessageWritten) {
			i++
			continue
		}
		p.settle(i, v.State, e.Time, c)
	}
	return nil
}

func (p *projection) happened(e fold.Event, c *changes) {
	c.asked = append(c.asked, p.State.Happened(e)...)
}

// phase returns what the session is doing.
func (p *projection) phase() fold.Phase { return p.State.Phase() }

// fit fits a line to the CLI's version, or to what is known of it.
func (p *projection) fit(line []byte) ([]byte, error) {
	if v := p.version(); !v.IsZero() {
		fitted, _, err := wire.Fit(line, v)
		return fitted, err
	}
	least, _ := wire.ParseVersion(p.State.Least) // the zero version stands for the oldest
	fitted, _, err := wire.FitLeast(line, least)
	return fitted, err
}

// version returns the CLI's version, zero if it is not known.
func (p *projection) version() wire.Version {
	for _, s := range []string{p.State.Version, p.Version} {
		if v, err := wire.ParseVersion(s); err == nil {
			return v
		}
	}
	return wire.Version{}
}
