package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// State returns what the session is doing and a channel that is closed when that
// changes. A session with prompts that wait to be written is running: idle means
// that nothing is going on and nothing is about to.
//
// That a turn has ended does not mean idle: tasks in the background may go on
// ([fold.PhaseBackground]) and start a turn of their own.
func (s *Session) State() (phase fold.Phase, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state()
}

// state is State. mu is held.
func (s *Session) state() (phase fold.Phase, changed <-chan struct{}) {
	return s.phase, s.changed.Changed()
}

// Await waits until the session is in one of the phases given, at the moment at
// which it looks: a phase that is over in no time may pass unseen. If the session
// ends first, it returns [fold.PhaseEnded] and why; if ctx ends first, the phase
// that was seen last and the cause of that.
func (s *Session) Await(ctx context.Context, phases ...fold.Phase) (fold.Phase, error) {
	for {
		phase, changed := s.State()
		if slices.Contains(phases, phase) {
			return phase, nil
		}
		if phase == fold.PhaseEnded {
			return phase, s.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return phase, context.Cause(ctx)
		}
	}
}

// phaseNow returns what the session is doing. mu is held.
func (s *Session) phaseNow() fold.Phase {
	p := s.fold.Phase()
	if p.TakesPrompt() && s.outbox.busy() {
		return fold.PhaseRunning
	}
	return p
}

// Info is what is known of a session.
type Info struct {
	// Conversation is the CLI's id of the current conversation, with which it can
	// be resumed. Before the first turn it is what the options say, or empty.
	Conversation string
	// Title is the conversation's title, if it has one.
	Title string
	// Version is the CLI's version; zero until it is known.
	Version wire.Version
	// Model, Mode, Dir and Tools are what the CLI says they are, not what was
	// asked for. Most of it is told with the first turn only.
	Model string
	Mode  wire.PermissionMode
	Dir   string
	Tools []string
	// Capabilities name what this CLI can do beyond its version.
	Capabilities []string
	// Init is the newest init line, nil before the first turn.
	Init *wire.Init
	// Initialize is the answer to the initialize request: commands, models,
	// agents, account. It is nil on a CLI that another program has initialized.
	Initialize *wire.InitializeAnswer
	// Costs sums up what the session has used and cost.
	Costs fold.Figures
	// Context is how full the context window is, nil as long as that is not known.
	Context *fold.ContextUse
	// Tasks are the pieces of work that go on beside the main conversation.
	Tasks []fold.Task
	// Turns is how many turns have been completed.
	Turns int64
	// PID is the id of the CLI's process, 0 if it is unknown.
	PID int
}

// An infoCache holds what was decoded for Info last.
type infoCache struct {
	initRaw, initializeRaw json.RawMessage
	init                   *wire.Init
	initialize             *wire.InitializeAnswer
}

// Info returns what is known of the session. What it points to is shared and
// must not be changed.
func (s *Session) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.fold
	s.info.update(f)
	i := Info{
		Conversation: f.Conversation(), Title: f.Title, Version: s.conn.Version(), Model: f.Model, Mode: f.Mode, Dir: f.Dir,
		Tools: slices.Clone(f.Tools), Capabilities: slices.Clone(f.Capabilities),
		Init: s.info.init, Initialize: s.info.initialize, Costs: s.costs.Total(), Context: f.Context,
		Tasks: slices.Clone(f.Tasks), Turns: s.turns.completed,
	}
	if i.Conversation == "" {
		i.Conversation = s.options.SessionID
		if i.Conversation == "" && !s.options.ForkSession {
			i.Conversation = s.options.Resume
		}
	}
	switch {
	case s.process != nil:
		i.PID = s.process.PID()
	case i.Initialize != nil:
		i.PID = int(i.Initialize.PID)
	}
	return i
}

// update decodes what is new.
func (c *infoCache) update(f *fold.State) {
	if !bytes.Equal(f.Init, c.initRaw) {
		c.initRaw, c.init = f.Init, nil
		if m, err := wire.Decode(f.Init); err == nil {
			c.init, _ = m.(*wire.Init)
		}
	}
	if !bytes.Equal(f.Initialize, c.initializeRaw) {
		c.initializeRaw, c.initialize = f.Initialize, nil
		if a, err := wire.DecodeAnswer("initialize", f.Initialize); err == nil {
			c.initialize, _ = a.(*wire.InitializeAnswer)
		}
	}
}

// Costs returns what the session has used and cost so far, by turn, model and
// sub-agent.
func (s *Session) Costs() fold.Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.costs.Total()
}

// Partials returns what is being written at this moment, the oldest first: at
// most one message of the main conversation and one per sub-agent, nil if there
// is none. It needs [Options.IncludePartialMessages].
func (s *Session) Partials() []fold.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.partial.Messages(); len(list) > 0 {
		return list
	}
	return nil
}
