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

// A book is all that is derived from the entries of a session. It is a reducer:
// the same entries give the same book, whether they are applied as they happen
// or read back from the journal, in one go or on top of a stored one. What belongs to
// one feature is declared in its file; in JSON it is part of the book all the same.
type book struct {
	ID    string `json:"id"`
	Epoch string `json:"epoch"`
	Seq   int64  `json:"seq"`

	// Form is bookForm when the book was stored: another version's may lack something.
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

	Run       int        `json:"run"`
	Transport string     `json:"transport,omitempty"`
	Linked    bool       `json:"linked,omitempty"`
	Simulated bool       `json:"simulated,omitempty"`
	Ended     *api.Ended `json:"ended,omitempty"`
	// Version is the CLI's as it was found when the run was started.
	Version string `json:"version,omitempty"`
	// Doubt says that the CLI, which dialled in, may have lost the end of its turn:
	// lines are missing, and nothing that came since belongs to a turn.
	Doubt bool `json:"doubt,omitempty"`
	// Told is the phase that the last state entry told.
	Told fold.Phase `json:"told,omitempty"`

	State fold.State `json:"state"`
	Costs fold.Costs `json:"costs"`

	outboxBook   // outbox.go
	questionBook // book_questions.go
	policyBook   // policy.go
	planBook     // plans.go
	driverBook   // driver.go

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

// changes are what applying an entry did beyond the book itself.
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
func (b *book) apply(e *journal.Entry, line *fold.Line, c *changes) error {
	if e.Seq != b.Seq+1 {
		return fmt.Errorf("entry %d of session %s follows %d", e.Seq, b.ID, b.Seq)
	}
	b.Seq = e.Seq
	before, linked := b.State.Conversation(), b.Linked
	var err error
	switch e.Kind {
	case api.KindLine:
		b.line(e, line, c)
	case api.KindSent:
		err = b.sent(e, c)
	case api.KindCreated:
		err = b.created(e)
	case api.KindRunStarted:
		err = b.runStarted(e, c)
	case api.KindLinkUp:
		err = b.linkUp(e, c)
	case api.KindRunLaunched:
		var d record.RunFound
		if err = json.Unmarshal(e.Data, &d); err == nil {
			b.found(d)
		}
	case api.KindLinkLost:
		b.Linked, b.Lost = false, e.Time
		b.happened(fold.Event{Kind: fold.EventLinkLost, Seq: e.Seq, Time: e.Time}, c)
	case api.KindRunEnded:
		err = b.runEnded(e, c)
	case api.KindState:
		var d record.State
		if err = json.Unmarshal(e.Data, &d); err == nil {
			b.Told = fold.Phase(d.State)
		}
	case api.KindQuestionOpened, api.KindQuestionChanged, api.KindQuestionSettled:
		err = b.questionEntry(e, c)
	case api.KindRuleAdded, api.KindRuleRemoved:
		err = b.rule(e)
	case api.KindMode:
		var d api.ModeChange
		if err = json.Unmarshal(e.Data, &d); err == nil {
			b.ToldMode = wire.PermissionMode(d.Mode)
		}
	case api.KindMessage:
		err = b.message(e, c)
	case api.KindCommand:
		err = b.commandFate(e, c)
	case api.KindGap:
		var d api.Gap
		if err = json.Unmarshal(e.Data, &d); err == nil {
			b.gap(d)
		}
	case api.KindTurn:
		err = b.turn(e, c)
	case api.KindUpdated:
		var d record.Updated
		if err = json.Unmarshal(e.Data, &d); err == nil {
			b.update(d, e.Time)
		}
	case api.KindHistory:
		if b.Asked == "" {
			b.Asked = askedIn(e.Line)
		}
	default:
		// Notices and whatever a later version writes change nothing here.
	}
	if e.Time.After(b.Updated) && b.isActivity(e, line, linked) {
		b.Updated = e.Time
	}
	b.Limits.Apply(e, line, budget.Facts{Phase: b.phase(), Told: b.Told, Result: b.State.Result})
	// Not by their number: the fold keeps so many of them.
	if now := b.State.Conversation(); now != before {
		c.conversations = append(c.conversations, now)
	}
	if err != nil {
		return fmt.Errorf("folding entry %d (%s) of session %s: %w", e.Seq, e.Kind, b.ID, err)
	}
	return nil
}

func (b *book) created(e *journal.Entry) error {
	var d record.Created
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	b.Epoch, b.Title, b.Dir, b.Options, b.Created = d.Epoch, d.Title, d.Dir, d.Options, e.Time
	b.Resume, b.Fork, b.At, b.Direct = d.Resume, d.Copy, d.At, d.Direct
	// A session without a process has ended, as it were, before it began.
	b.Ended = &api.Ended{Reason: "no process was started yet", Time: e.Time}
	b.State.Happened(fold.Event{Kind: fold.EventEnded, Reason: b.Ended.Reason, Seq: e.Seq, Time: e.Time})
	return nil
}

func (b *book) update(d record.Updated, now time.Time) {
	if d.Title != nil {
		b.Title = *d.Title
	}
	if d.Model != nil {
		b.Options.Model = *d.Model
	}
	if d.PermissionMode != nil {
		b.Options.PermissionMode = string(*d.PermissionMode)
	}
	if d.MaxThinkingTokens != nil {
		b.Options.MaxThinkingTokens = *d.MaxThinkingTokens
	}
	if d.Enforced != nil {
		b.Enforced = *d.Enforced
	}
	if d.NoPlan {
		b.Intent = nil
	}
	if d.Archived != nil {
		b.Archived = time.Time{}
		if *d.Archived {
			b.Archived = now
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
func (b *book) line(e *journal.Entry, l *fold.Line, c *changes) {
	l.Seq, l.Time = e.Seq, e.Time
	b.State.Drift.Count(l)
	c.asked = append(c.asked, b.State.Apply(l)...)
	b.foreignLine(l, e.Line)
	b.Doubt = b.Doubt && !ofTurn(l)
	if turn := b.Costs.Apply(l); turn != nil {
		data, err := json.Marshal(turn)
		if err == nil {
			c.turns = append(c.turns, journal.Turn{
				Session: b.ID, Run: b.Run, Seq: e.Seq, Time: e.Time, CostUSD: turn.Figures.CostUSD, Data: data,
			})
		}
	}
	b.pickUp(e.Time, c)
	if b.ToldMode == "" {
		b.ToldMode = b.State.Mode
	}
	if b.Asked == "" && l.Header.Is("user", "") {
		b.Asked = askedIn(e.Line)
	}
}

// pickUp marks the prompts that the CLI has taken from its queue.
func (b *book) pickUp(now time.Time, c *changes) {
	for i := 0; i < len(b.Commands); i++ {
		v := b.Commands[i]
		if v.UUID == "" || v.Run != b.Run || v.State != string(api.MessageSent) && v.State != string(api.MessageWritten) {
			continue
		}
		if !slices.Contains(b.State.Queue.Taken, v.UUID) {
			continue
		}
		b.settle(i, string(api.MessagePickedUp), now, c)
		i--
	}
}

// sent folds a line that is sent to the CLI.
func (b *book) sent(e *journal.Entry, c *changes) error {
	var d record.Sent
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	l := fold.NewLine(e.Line, true)
	l.Seq, l.Time = e.Seq, e.Time
	c.asked = append(c.asked, b.State.Apply(l)...)
	b.Costs.Apply(l)
	if d.Kind == commandInitialize && b.First == nil {
		b.First = slices.Clone(e.Line)
	}
	if l.Header.Is("user", "") {
		if d.Kind != commandSteer || b.Prompted == 0 {
			b.Prompted = e.Seq
		}
		if b.Asked == "" {
			b.Asked = askedIn(e.Line)
		}
	}
	if len(b.Foreign) > 0 && string(l.Header.Type) == "control_response" {
		b.forgetForeign(string(l.Header.RequestID))
	}
	i := b.commandIndex(d.Command)
	if i < 0 {
		b.Commands = append(b.Commands, journal.Command{
			Session: b.ID, ID: d.Command, Kind: d.Kind, Created: e.Time, By: e.By,
			RequestID: string(l.Header.RequestID), UUID: e.UUID,
		})
		i = len(b.Commands) - 1
	}
	v := &b.Commands[i]
	v.Run, v.Number, v.State, v.Updated = e.Run, d.Number, string(api.MessageSent), e.Time
	v.Line = slices.Clone(e.Line)
	c.command(*v)
	if d.Kind == commandAnswer {
		b.delivered(v.RequestID, api.MessageSent, c)
	}
	return nil
}

// message folds a message to the agent: queued, edited, or its fate.
func (b *book) message(e *journal.Entry, c *changes) error {
	var m api.Message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return err
	}
	i := b.commandIndex(m.ID)
	if i < 0 {
		if m.State != api.MessageQueued {
			return nil // its fate was settled before
		}
		kind := commandPrompt
		if m.Mode == modeSteer {
			kind = commandSteer
		}
		b.Order++
		order := b.Order
		if first, ok := b.nextPrompt(); m.First && ok {
			order = first.Order - 1
		}
		b.Commands = append(b.Commands, journal.Command{
			Session: b.ID, ID: m.ID, ClientID: m.ClientID, Kind: kind, UUID: m.UUID, By: e.By,
			Order: order, Created: e.Time,
		})
		i = len(b.Commands) - 1
	}
	v := &b.Commands[i]
	data, err := withContent(e.Data, m, v.Data)
	if err != nil {
		return err
	}
	if b.Asked == "" {
		b.Asked = askedBy(m)
	}
	v.Data = data
	if m.State != api.MessageSent && m.State != api.MessageWritten && m.State != api.MessagePickedUp && v.UUID != "" {
		// It did not reach the CLI, so the CLI does not hold it.
		b.State.Queue.Waiting = slices.DeleteFunc(b.State.Queue.Waiting, func(p fold.Prompt) bool { return p.UUID == v.UUID })
	}
	if m.State == api.MessageQueued {
		v.State, v.Updated, v.Run, v.Number, v.Line = string(m.State), e.Time, 0, 0, nil
		c.command(*v)
		return nil
	}
	b.fate(i, string(m.State), e.Time, c)
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
func (b *book) commandFate(e *journal.Entry, c *changes) error {
	var f api.CommandFate
	if err := json.Unmarshal(e.Data, &f); err != nil {
		return err
	}
	if i := b.commandIndex(f.ID); i >= 0 {
		b.fate(i, string(f.State), e.Time, c)
	}
	if f.Kind == commandAnswer {
		b.delivered(f.RequestID, f.State, c)
	}
	return nil
}

// fate gives a command a state; the final ones settle it.
func (b *book) fate(i int, state string, now time.Time, c *changes) {
	final := state != string(api.MessageWritten) || !takenUp(b.Commands[i].Kind)
	if final {
		b.settle(i, state, now, c)
		return
	}
	b.Commands[i].State, b.Commands[i].Updated = state, now
	c.command(b.Commands[i])
}

// takenUp reports whether the CLI tells that it has taken up a command of this
// kind, so that it is not settled when it is written.
func takenUp(kind string) bool { return kind == commandPrompt || kind == commandSteer }

func (b *book) settle(i int, state string, now time.Time, c *changes) {
	v := b.Commands[i]
	v.State, v.Settled, v.Updated = state, true, now
	c.command(v)
	b.Commands = slices.Delete(b.Commands, i, i+1)
}

func (b *book) commandIndex(id string) int {
	return slices.IndexFunc(b.Commands, func(v journal.Command) bool { return v.ID == id })
}

// runStarted folds the beginning of a run.
func (b *book) runStarted(e *journal.Entry, c *changes) error {
	var d record.RunStarted
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	b.Run, b.Transport, b.Ended, b.Linked, b.First, b.Recent = d.Run, d.Transport, nil, false, nil, nil
	b.Resume, b.Fork, b.At = d.Resume, d.Fork, d.At
	if d.Options != nil {
		b.Options = *d.Options
	}
	b.Enforced, b.ToldMode, b.Foreign, b.Doubt = d.Enforced, "", nil, false
	if d.Registration != nil {
		b.Registration = d.Registration
	}
	if b.Intent != nil && b.Intent.Question == d.Plan {
		b.Intent = nil
	}
	b.State.Version, b.Version = "", "" // the next process may be another one
	event := fold.Event{Kind: fold.EventStarted, Run: d.Run, Resumed: d.Resume != "", Seq: e.Seq, Time: e.Time}
	b.Costs.Happened(event)
	b.happened(event, c)
	return nil
}

// linkUp folds the arrival of a link.
func (b *book) linkUp(e *journal.Entry, c *changes) error {
	var d record.RunFound
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	b.Linked = true
	b.found(d)
	b.happened(fold.Event{Kind: fold.EventLinkBack, Seq: e.Seq, Time: e.Time}, c)
	return nil
}

func (b *book) found(d record.RunFound) {
	if d.Version != "" {
		b.Version = d.Version
	}
	if d.ConfigDir != "" {
		b.ConfigDir = d.ConfigDir
	}
	b.Simulated = b.Simulated || d.Simulated
}

// runEnded folds the end of a run. What was on its way to the process is
// settled: the caller has written what is known of it before.
func (b *book) runEnded(e *journal.Entry, c *changes) error {
	d := new(api.Ended)
	if err := json.Unmarshal(e.Data, d); err != nil {
		return err
	}
	event := fold.Event{Kind: fold.EventEnded, Reason: d.Reason, Seq: e.Seq, Time: e.Time}
	b.Costs.Happened(event)
	b.happened(event, c)
	if b.State.Ended != nil {
		d.Unfinished = b.State.Ended.Unfinished
	}
	b.Ended, b.Linked, b.Foreign, b.Doubt = d, false, nil, false
	for i := 0; i < len(b.Commands); {
		v := b.Commands[i]
		if v.State != string(api.MessageWritten) {
			i++
			continue
		}
		b.settle(i, v.State, e.Time, c)
	}
	return nil
}

func (b *book) happened(e fold.Event, c *changes) {
	c.asked = append(c.asked, b.State.Happened(e)...)
}

// phase returns what the session is doing.
func (b *book) phase() fold.Phase { return b.State.Phase() }

// version returns the CLI's version, zero if it is not known.
func (b *book) version() wire.Version {
	for _, s := range []string{b.State.Version, b.Version} {
		if v, err := wire.ParseVersion(s); err == nil {
			return v
		}
	}
	return wire.Version{}
}
