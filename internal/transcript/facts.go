package transcript

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A fact is a part of the state that some event has told.
type fact uint32

const (
	factSession fact = 1 << iota
	factTitle
	factDir
	factModel
	factMode
	factTodos
	factContext
	factLimit
	factRetry
	factTasks
	factResult
	factEnded
	factSuggestion
	factDoing
	factOffline
	factTurn
	factWindow
	factCompacting
	factSandbox
)

// facts are what a part of the events tells of the state.
type facts struct {
	state   State
	seen    fact
	changed bool
	begun   bool // the session's first event is among them

	// By their keys.
	open, queued, holds, todos map[string]*entry

	compacting bool // whatever else the agent does meanwhile

	window  int64 // the size of the context
	message string
	written int64 // tokens of the turn's messages that are complete
	writing int64 // tokens of the one that is being written
}

// learn says that something about the state is known now.
func (f *facts) learn(what fact) *State {
	f.seen |= what
	f.changed = true
	return &f.state
}

// note keeps account of what is open.
func (f *facts) note(e *entry) {
	if f.open == nil {
		f.open, f.queued, f.holds, f.todos = map[string]*entry{}, map[string]*entry{}, map[string]*entry{}, map[string]*entry{}
	}
	f.keep(f.open, e, e.Question != nil, e.Question != nil && e.Question.State == api.QuestionOpen)
	// Whatever shows a message says that the agent has it, or never will: a line with its uuid is enough.
	f.keep(f.queued, e, e.Message != nil, e.Message != nil && e.Message.State == api.MessageQueued && !e.shows)
	f.keep(f.holds, e, e.hold != nil || e.over, e.hold != nil && !e.over)
	f.keep(f.todos, e, e.todo != Todo{}, e.todo.Status != "deleted")
}

func (f *facts) keep(set map[string]*entry, e *entry, concerns, is bool) {
	if !concerns {
		return
	}
	f.changed = true
	if is {
		set[e.key] = e
	} else {
		delete(set, e.key)
	}
}

// has reports whether an entry is among what is open.
func (f *facts) has(e *entry) bool {
	return e.key != "" && (f.open[e.key] == e || f.queued[e.key] == e || f.holds[e.key] == e || f.todos[e.key] == e)
}

// older takes what an older part knows and this does not.
func (f *facts) older(o *facts) {
	s, old := &f.state, &o.state
	missing := o.seen &^ f.seen
	for _, part := range []struct {
		fact fact
		take func()
	}{
		{factSession, func() { s.Session = old.Session }},
		{factTitle, func() { s.Title = old.Title }},
		{factDir, func() { s.Dir = old.Dir }},
		{factModel, func() { s.Model = old.Model }},
		{factMode, func() { s.Mode = old.Mode }},
		{factTodos, func() { s.Todos = old.Todos }},
		{factContext, func() { s.Context = old.Context }},
		{factLimit, func() { s.RateLimit = old.RateLimit }},
		{factRetry, func() { s.Retry = old.Retry }},
		{factTasks, func() { s.Tasks = old.Tasks }},
		{factResult, func() { s.Result = old.Result }},
		{factEnded, func() { s.Ended = old.Ended }},
		{factSuggestion, func() { s.Suggestion = old.Suggestion }},
		{factDoing, func() { s.Doing = old.Doing }},
		{factOffline, func() { s.Offline = old.Offline }},
		{factTurn, func() { s.TurnStarted = old.TurnStarted }},
		{factSandbox, func() { s.Sandbox = old.Sandbox }},
		{factWindow, func() { f.window = o.window }},
		{factCompacting, func() { f.compacting = o.compacting }},
	} {
		if missing&part.fact != 0 {
			part.take()
		}
	}
	f.seen |= o.seen
	f.begun = f.begun || o.begun
	f.changed = true
}

// snapshot returns the state.
func (f *facts) snapshot() State {
	s := f.state
	byPlace := func(set map[string]*entry) []*entry {
		return slices.SortedFunc(maps.Values(set), func(a, b *entry) int {
			if a.place != b.place {
				return int(max(min(a.place-b.place, 1), -1))
			}
			return strings.Compare(a.key, b.key)
		})
	}
	for _, e := range byPlace(f.open) {
		s.Questions = append(s.Questions, e.Question.ID)
	}
	for _, e := range byPlace(f.queued) {
		s.Queued = append(s.Queued, *e.Message)
	}
	for _, e := range byPlace(f.holds) {
		s.Holds = append(s.Holds, *e.hold)
	}
	if len(f.todos) > 0 {
		s.Todos = nil
		list := slices.SortedFunc(maps.Values(f.todos), func(a, b *entry) int {
			if len(a.key) != len(b.key) { // their names are numbers
				return len(a.key) - len(b.key)
			}
			return strings.Compare(a.key, b.key)
		})
		for _, e := range list[:min(len(list), maxTodos)] {
			if e.todo.Text != "" {
				s.Todos = append(s.Todos, Todo{Text: e.todo.Text, Active: e.todo.Active, Status: later("pending", e.todo.Status)})
			}
		}
	}
	if c := s.Context; c != nil && c.Max == 0 && f.window > 0 {
		s.Context = &api.ContextUse{Tokens: c.Tokens, Max: f.window, Percent: 100 * float64(c.Tokens) / float64(f.window)}
	}
	s.Tokens = f.written + f.writing
	if f.compacting {
		s.Doing = string(wire.StatusPhaseCompacting)
	}
	return s
}

// done says that the agent does nothing of which a status told.
func (f *facts) done() {
	f.learn(factDoing | factCompacting).Doing = ""
	f.compacting = false
}

// session tells in which state the session is.
func (f *facts) session(state api.State, at time.Time) {
	s := f.learn(factSession | factTurn)
	switch state {
	case api.StateRunning, api.StateRequiresAction:
		if s.TurnStarted.IsZero() {
			s.TurnStarted = at
			f.message, f.written, f.writing = "", 0, 0
		}
	case api.StateIdle, api.StateEnded, api.StateBackground, api.StateStarting:
		s.TurnStarted = time.Time{}
		f.learn(factRetry).Retry = nil
		f.done()
	case api.StateOffline:
	}
	s.Session = state
	f.learn(factOffline)
	s.Offline = state == api.StateOffline
}

func (f *facts) init(m *wire.Init) {
	s := f.learn(factModel | factMode)
	s.Model = later(s.Model, m.Model)
	s.Mode = later(s.Mode, string(m.PermissionMode))
	if m.Cwd != "" {
		f.learn(factDir).Dir = m.Cwd
	}
}

func (f *facts) status(m *wire.Status) {
	if m.PermissionMode != "" {
		f.learn(factMode).Mode = string(m.PermissionMode)
	}
	switch {
	case m.Status == wire.StatusPhaseCompacting:
		f.learn(factCompacting)
		f.compacting = true
	case m.Status == wire.StatusPhaseRequesting:
		// Others make requests while a conversation is compacted.
		f.learn(factDoing).Doing = string(m.Status)
	case m.Status == "" && m.PermissionMode != "" && m.CompactResult == "":
		// It tells of the mode only.
	default:
		f.done()
		f.state.Doing = string(m.Status)
	}
}

func (f *facts) todoList(list []Todo) { f.learn(factTodos).Todos = list }

func (f *facts) suggested(text string) { f.learn(factSuggestion).Suggestion = oneLine(text) }

func (f *facts) limited(text string) { f.learn(factLimit).RateLimit = text }

func (f *facts) retrying(m *wire.APIRetry, at time.Time) {
	f.learn(factRetry).Retry = &api.Retry{Attempt: m.Attempt, Of: m.MaxRetries, Error: oneLine(string(m.Error)), Time: at}
}

func (f *facts) background(m *wire.BackgroundTasksChanged) {
	s := f.learn(factTasks)
	s.Tasks = nil
	for _, t := range m.Tasks[:min(len(m.Tasks), maxTodos)] {
		if !t.Ambient {
			s.Tasks = append(s.Tasks, api.Task{ID: oneLine(t.TaskID), Kind: oneLine(t.TaskType), Description: oneLine(t.Description)})
		}
	}
}

// stream counts the tokens of what is being written.
func (f *facts) stream(line *fold.Line) {
	if len(line.Header.ParentToolUseID) > 0 {
		return
	}
	if piece, ok := line.Header.Delta(); ok { // an estimate, until the message tells
		if len(piece.Text) > 0 {
			f.writing += int64(len(piece.Text)+3) / 4
			f.changed = true
		}
		return
	}
	message, err := line.Message()
	if err != nil {
		return
	}
	m, ok := message.(*wire.StreamEvent)
	if !ok {
		return
	}
	switch e := m.Event.(type) { //nolint:gochecksumtype // the others tell no number
	case *wire.MessageStartEvent:
		f.counted(e.Message.ID, e.Message.Usage.OutputTokens)
	case *wire.MessageDeltaEvent:
		if e.Usage.OutputTokens > 0 {
			f.writing = e.Usage.OutputTokens
			f.changed = true
		}
	}
}

// thinking counts what is being thought.
func (f *facts) thinking(m *wire.ThinkingTokens) {
	f.writing = max(f.writing, m.EstimatedTokens)
	f.changed = true
}

// spoke reads what a message of the agent's tells of the state.
func (f *facts) spoke(m *wire.Assistant, _ time.Time) {
	s := f.learn(factRetry | factDoing)
	s.Retry, s.Doing = nil, ""
	f.learn(factSuggestion).Suggestion = ""
	if m.ParentToolUseID != "" {
		return
	}
	f.done()
	if m.Message.Model != "" && m.Message.Model != "<synthetic>" {
		f.learn(factModel).Model = oneLine(m.Message.Model)
	}
	if u := m.ContextUsage; u != nil {
		f.learn(factContext).Context = &api.ContextUse{Tokens: u.TotalTokens, Max: u.RawMaxTokens, Percent: u.Percentage}
	} else if u := m.Message.Usage; u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens > 0 {
		f.learn(factContext).Context = &api.ContextUse{Tokens: u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens + u.OutputTokens}
	}
	f.counted(m.Message.ID, m.Message.Usage.OutputTokens)
}

// counted keeps account of the tokens of the turn. Several lines tell of one message.
func (f *facts) counted(message string, tokens int64) {
	if f.message != message {
		f.message = oneLine(message)
		f.written += f.writing
		f.writing = 0
	}
	f.writing = max(f.writing, tokens)
	f.changed = true
}

func (f *facts) compacted(tokens int64) {
	f.done()
	if tokens > 0 {
		f.learn(factContext).Context = &api.ContextUse{Tokens: tokens}
	}
}

// turned reads what the end of a turn tells of the state.
func (f *facts) turned(m *wire.Result) {
	f.done()
	s := f.learn(factResult | factRetry)
	s.Retry = nil
	s.Result = &api.TurnResult{
		Subtype: string(m.Subtype), Failed: m.IsError || m.Subtype != wire.ResultSubtypeSuccess,
		Interrupted: m.TerminalReason == wire.TerminalReasonAbortedStreaming || m.TerminalReason == wire.TerminalReasonAbortedTools,
	}
	if m.Origin != nil {
		s.Result.Origin = oneLine(string(m.Origin.Kind))
	}
	for name, u := range m.ModelUsage {
		if u.ContextWindow > 0 && (f.seen&factWindow == 0 || strings.HasPrefix(s.Model, name) || len(m.ModelUsage) == 1) {
			f.learn(factWindow)
			f.window = u.ContextWindow
		}
	}
}
