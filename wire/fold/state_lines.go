package fold

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// Apply folds a line and returns what it did to questions. Live lines change
// nothing. Drift is not part of it: see [Drift.Count].
func (s *State) Apply(l *Line) []Change {
	if !l.durable() {
		return nil
	}
	changes := s.Questions.Apply(l)
	if l.Sent {
		s.sent(l)
		return changes
	}
	if l.Header.Is("assistant", "") {
		// What most lines of a log are, and long ones. They are not decoded for the
		// little that is kept of them.
		s.Alive = true
		s.foldHeader(l)
		s.assistant(l)
		return changes
	}
	m := l.decoded()
	if m == nil {
		return changes
	}
	s.Alive = true
	s.foldHeader(l)
	switch m := m.(type) {
	case *wire.Init:
		s.init(m, l)
	case *wire.User:
		s.user(m, l)
	case *wire.Result:
		s.result(m, l)
	case *wire.ControlRequest:
		s.asked(m)
	case *wire.ControlResponse:
		s.answered(&m.Response, l)
	case *wire.SessionStateChanged:
		s.foldToldState(m.State)
	case *wire.Status:
		s.status(m)
	case *wire.CommandLifecycle:
		s.fate(m)
	case *wire.APIRetry:
		s.retry(m, l)
	case *wire.CompactBoundary:
		s.compacted(m, l)
	case *wire.ConversationReset:
		s.reset(m)
	case *wire.ModelRefusalFallback:
		s.retract(m.RetractedMessageUUIDs)
	case *wire.RateLimitEvent:
		s.rateLimit(m)
	case *wire.TaskStarted:
		s.taskStarted(m, l)
	case *wire.TaskUpdated:
		s.taskUpdated(m)
	case *wire.TaskNotification:
		s.endTask(m.TaskID)
	case *wire.BackgroundTasksChanged:
		s.tasksListed(m, l)
	case *wire.WorkerShuttingDown:
		s.ShuttingDown = clip(m.Reason, shortText)
	case *wire.Unknown:
		s.unknown(m)
	default:
	}
	return changes
}

// foldHeader folds what every line of the CLI tells.
func (s *State) foldHeader(l *Line) {
	if len(l.Header.UUID) > 0 {
		s.LastUUID = name(string(l.Header.UUID))
	}
	s.LastSeq, s.LastTime = l.Seq, instant(l.Time)
	// The result of a resume that failed names a conversation that never was.
	if len(l.Header.SessionID) > 0 && !l.Header.Is("result", "") {
		if s.Named && string(l.Header.SessionID) == s.Conversation() {
			return // as nearly always
		}
		s.conversation(name(string(l.Header.SessionID)), l)
	}
}

// conversation notes the conversation that a line belongs to.
func (s *State) conversation(id string, l *Line) {
	first := !s.Named
	s.Named = true
	if id == s.Conversation() {
		return
	}
	reason := "changed"
	switch {
	case s.Reset != "":
		reason, s.Reset = s.Reset, ""
	case first && s.Resumed && len(s.Conversations) > 0:
		reason = "forked"
	case first:
		reason = "started"
	}
	c := Conversation{ID: id, Run: s.Run, Seq: l.Seq, Reason: reason}
	s.Conversations, _ = last(append(s.Conversations, c), maxConversations)
}

// sent folds a line that was written to the CLI.
func (s *State) sent(l *Line) {
	switch string(l.Header.Type) {
	case "user":
		m, ok := l.decoded().(*wire.User)
		if !ok || m.ShouldQuery != nil && !*m.ShouldQuery {
			return
		}
		s.Queue.put(name(m.UUID), l.Seq)
		if text := m.Message.Content.String(); text != "" {
			s.Prompt = clip(text, shortText)
		}
	case "control_request":
		if m, ok := l.decoded().(*wire.ControlRequest); ok {
			s.request(m)
		}
	}
}

// request notes a request to the CLI whose answer matters.
func (s *State) request(m *wire.ControlRequest) {
	var subject string
	switch r := m.Request.(type) {
	case *wire.InitializeRequest:
		subject = clip(r.Title, shortText)
	case *wire.InterruptRequest:
		s.Interrupting = s.Turn
	case *wire.CancelAsyncMessageRequest:
		subject = name(r.MessageUUID)
	case *wire.RenameSessionRequest:
		subject = clip(r.Title, shortText)
	case *wire.GetContextUsageRequest:
	default:
		return
	}
	r := Request{ID: name(m.RequestID), Subtype: m.Request.RequestSubtype(), Subject: subject, Results: s.Results}
	s.Requests, _ = last(append(s.Requests, r), maxRequests)
}

// answered folds an answer of the CLI to a request of ours. With
// --replay-user-messages it also repeats our answers to its own requests; those
// are none of ours.
func (s *State) answered(a *wire.ControlAnswer, l *Line) {
	id := name(a.RequestID)
	i := slices.IndexFunc(s.Requests, func(r Request) bool { return r.ID == id })
	if i < 0 {
		return
	}
	r := s.Requests[i]
	s.Requests = slices.Delete(s.Requests, i, i+1)
	if a.Subtype != "success" {
		return
	}
	if r.Subtype == "interrupt" && s.Turn && s.Results == r.Results {
		s.Interrupting = true // also if it was sent before the turn's first line came
	}
	body, err := wire.DecodeAnswer(r.Subtype, a.Response)
	if err != nil {
		return
	}
	switch b := body.(type) {
	case *wire.InitializeAnswer:
		s.initialized(b, a.Response, r.Subject)
	case *wire.InterruptAnswer:
		for _, uuid := range b.Cancelled {
			s.Queue.take(name(uuid))
		}
	case *wire.CancelAsyncMessageAnswer:
		if b.Cancelled {
			s.Queue.take(r.Subject)
		}
	case *wire.GetContextUsageAnswer:
		s.Context = &ContextUse{Model: name(b.Model), Tokens: b.TotalTokens, Most: b.MaxTokens, Percent: b.Percentage, Seq: l.Seq}
	default:
		if r.Subtype == "rename_session" {
			s.Title = r.Subject
		}
	}
}

// initialized folds the answer to initialize.
func (s *State) initialized(a *wire.InitializeAnswer, body json.RawMessage, title string) {
	s.Initialize = keep(body)
	if a.ClaudeCodeVersion != "" {
		s.Version = name(a.ClaudeCodeVersion)
	} else if least := wire.LeastVersion(a); s.Version == "" && !least.IsZero() {
		s.Least = least.String()
	}
	if a.CurrentPermissionMode != "" {
		s.Mode = wire.PermissionMode(name(string(a.CurrentPermissionMode)))
	}
	if a.Capabilities != nil && s.Init == nil {
		s.Capabilities = names(a.Capabilities)
	}
	if title != "" {
		s.Title = title
	}
}

// init folds the line that opens a turn.
func (s *State) init(m *wire.Init, l *Line) {
	s.underWay()
	s.Retry, s.Reset = nil, ""
	s.Queue.begin()
	s.Init = keep(l.Raw)
	s.Version, s.Model, s.Least = name(m.ClaudeCodeVersion), name(m.Model), ""
	s.Mode, s.Dir = wire.PermissionMode(name(string(m.PermissionMode))), clip(m.Cwd, 4<<10)
	s.Tools, s.Capabilities = names(m.Tools), names(m.Capabilities)
}

// keep returns a copy of what came, nil if it is beyond all measure.
func keep(raw []byte) json.RawMessage {
	if len(raw) > maxRaw {
		return nil
	}
	return bytes.Clone(raw)
}

// names returns a list of names as it is kept.
func names(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	kept := make([]string, 0, min(len(list), maxNames))
	for _, n := range list[:min(len(list), maxNames)] {
		kept = append(kept, name(n))
	}
	return kept
}

// foldToldState folds the CLI's own word for its state.
func (s *State) foldToldState(state wire.SessionState) {
	s.Told = wire.SessionState(name(string(state)))
	switch state {
	case wire.SessionStateIdle:
		s.turnOver()
		s.Queue.idle()
		if !s.TasksListed {
			// Versions that do not list tasks say idle only when none is left.
			s.Tasks = nil
		}
	case wire.SessionStateRunning:
		if !s.inBackground() {
			s.underWay()
		}
	case wire.SessionStateRequiresAction:
		// What is asked tells it better: 120 says so when it has the answer.
	default:
	}
}

// status folds a change of phase or permission mode.
func (s *State) status(m *wire.Status) {
	if m.PermissionMode != "" {
		s.Mode = wire.PermissionMode(name(string(m.PermissionMode)))
	}
	s.Compacting = m.Status == wire.StatusPhaseCompacting
	if s.Compacting {
		s.underWay()
	}
	if m.Status == wire.StatusPhaseRequesting {
		s.Retry = nil
	}
}

// compacted folds the place where the conversation was compacted.
func (s *State) compacted(m *wire.CompactBoundary, l *Line) {
	s.Compacting = false
	s.Compactions++
	c := &m.CompactMetadata
	s.Compaction = &Compaction{
		Trigger: wire.CompactTrigger(name(string(c.Trigger))), Before: c.PreTokens, After: c.PostTokens, Seq: l.Seq,
	}
	s.emptied()
}

// reset folds the announcement of a new conversation. Its id comes with the next
// init line: the one that the announcement brings is not it.
func (s *State) reset(m *wire.ConversationReset) {
	s.Reset = name(string(m.Trigger))
	if s.Reset == "" {
		s.Reset = "reset"
	}
	s.Text, s.TextUUID, s.Retracted = "", "", nil
	s.emptied()
}

// assistant folds what the model says.
func (s *State) assistant(l *Line) {
	h := &l.Header
	var told *wire.ContextUsage
	if h.Supersedes || h.ContextUsage {
		if m, ok := l.decoded().(*wire.Assistant); ok {
			s.retract(m.Supersedes)
			told = m.ContextUsage
		}
	}
	if len(h.ParentToolUseID) > 0 {
		return
	}
	s.underWay()
	s.Retry = nil
	said := h.Assistant()
	// One byte more than is kept tells clip that there is more.
	if text := said.Text(shortText + 1); len(text) > 0 {
		s.Text, s.TextUUID = clip(string(text[:min(len(text), shortText+1)]), shortText), ""
		if len(h.UUID) > 0 {
			s.TextUUID = s.LastUUID // which it has just become
		}
	}
	s.filled(&said, l)
	if told != nil {
		s.Context = &ContextUse{Model: name(told.Model), Tokens: told.TotalTokens, Most: told.RawMaxTokens, Percent: told.Percentage, Seq: l.Seq}
	}
}

// retract folds an order to delete earlier lines.
func (s *State) retract(uuids []string) {
	for _, uuid := range uuids {
		if uuid = name(uuid); !slices.Contains(s.Retracted, uuid) {
			s.Retracted, _ = last(append(s.Retracted, uuid), maxRetracted)
		}
		if uuid == s.TextUUID && uuid != "" {
			s.Text, s.TextUUID = "", ""
		}
	}
}

// user folds what the CLI says in the user's name: echoes and tool results.
func (s *State) user(m *wire.User, l *Line) {
	s.toolLaunched(m, l)
	if m.ParentToolUseID != "" {
		return
	}
	if !m.IsReplay {
		if s.Unsure {
			s.underWay() // the result of a tool: the turn is not over
		}
		return
	}
	// The output of local commands comes in the same form, under other uuids.
	if s.Queue.echo(name(m.UUID)) {
		s.underWay()
	}
}

// fate folds what becomes of a prompt.
func (s *State) fate(m *wire.CommandLifecycle) {
	s.Queue.Fates = true
	switch m.State {
	case wire.CommandStateQueued:
	case wire.CommandStateStarted:
		if s.Queue.take(name(m.CommandUUID)) {
			s.underWay()
		}
	case wire.CommandStateCompleted, wire.CommandStateCancelled, wire.CommandStateDiscarded, wire.CommandStateRefused:
		s.Queue.take(name(m.CommandUUID))
	default:
	}
}

// asked folds a request of the CLI.
func (s *State) asked(m *wire.ControlRequest) {
	if r, ok := m.Request.(*wire.CanUseToolRequest); ok && r.AgentID == "" && !wire.IsSandboxRequest(m.RequestID) {
		s.underWay()
	}
}

// retry folds the failure of a request to the API that will be repeated.
func (s *State) retry(m *wire.APIRetry, l *Line) {
	s.underWay()
	s.Retry = &Retry{
		Attempt: m.Attempt, Most: m.MaxRetries, Millis: m.RetryDelayMs, Time: instant(l.Time),
		Error: wire.AssistantError(name(string(m.Error))),
	}
	if m.ErrorStatus != nil {
		s.Retry.Status = *m.ErrorStatus
	}
}

// rateLimit folds a change of the account's limits.
func (s *State) rateLimit(m *wire.RateLimitEvent) {
	info := m.RateLimitInfo
	if len(info.Raw()) > maxRaw/maxRateLimits {
		return
	}
	var own wire.RateLimitInfo // shares no memory with the line
	if info.Raw() != nil && own.UnmarshalJSON(info.Raw()) == nil {
		info = own
	}
	kind := name(string(info.RateLimitType))
	if kind == "" && info.Status == wire.RateLimitStatusAllowed {
		// A line that names no window is about all of them: none refuses requests any more.
		maps.DeleteFunc(s.RateLimits, func(_ string, old wire.RateLimitInfo) bool { return old.Status == wire.RateLimitStatusRejected })
	}
	if s.RateLimits == nil {
		s.RateLimits = map[string]wire.RateLimitInfo{}
	}
	if _, there := s.RateLimits[kind]; there || len(s.RateLimits) < maxRateLimits {
		s.RateLimits[kind] = info
	}
}

// result folds the end of a turn.
func (s *State) result(m *wire.Result, l *Line) {
	end := &TurnEnd{
		UUID: name(m.UUID), Seq: l.Seq, Subtype: wire.ResultSubtype(name(string(m.Subtype))),
		Terminal: wire.TerminalReason(name(string(m.TerminalReason))), Failed: m.Failed(), Interrupted: s.Interrupting,
	}
	if m.Origin != nil {
		end.Origin = wire.OriginKind(name(string(m.Origin.Kind)))
	}
	s.Result = end
	s.Results++
	s.number(m.ResultIndex)
	s.measured(m.ModelUsage)
	for _, uuid := range m.UserMessageUUIDs {
		s.Queue.take(name(uuid))
	}
	s.Queue.end()
	s.waitedFor()
	s.turnOver()
}

// number folds the number that newer versions give each result.
func (s *State) number(n *int64) {
	if n == nil || *n < 0 {
		return
	}
	if s.NextResult != nil && *n > *s.NextResult {
		s.LostResults += min(*n-*s.NextResult, 1<<30)
	}
	next := *n + 1
	s.NextResult = &next
}

// unknown folds lines that are not part of the documented protocol and yet tell
// something that is wanted.
func (s *State) unknown(m *wire.Unknown) {
	if typ, subtype := m.MessageType(); typ != "system" || subtype != "session_title_changed" {
		return
	}
	var title string
	if json.Unmarshal(m.Extra("title"), &title) == nil {
		s.Title = clip(title, shortText)
	}
}
