package hub

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Snapshot returns a session as it is at its newest event.
func (h *Hub) Snapshot(ctx context.Context, id string) (*api.Session, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.snapshot(ctx)
}

// snapshot is Snapshot of a session in use.
func (s *session) snapshot(ctx context.Context) (*api.Session, error) {
	var v *api.Session
	err := s.look(ctx, func(st *step) error {
		st.then(func() { v = s.view() })
		return nil
	})
	if err != nil {
		return nil, s.hub.problem(err, s.id)
	}
	return v, nil
}

// view returns the session as it is. It runs in loop.
func (s *session) view() *api.Session {
	b := s.book
	v := &api.Session{
		ID: s.id, Title: b.title(), Dir: b.Dir, State: api.State(b.phase()), Run: b.Run, Transport: b.Transport, Linked: s.link != nil && s.link.connected && b.Ended == nil,
		Simulated: b.Simulated, Conversation: b.State.Conversation(), Model: b.State.Model, PermissionMode: string(b.State.Mode), Version: b.State.Version,
		Created: b.Created, Updated: b.Updated, Archived: !b.Archived.IsZero(), LastEventID: eventID(b.Epoch, b.Seq),
		Text: b.State.Text, Prompt: b.State.Prompt, Failed: b.failed(),
	}
	if v.Version == "" {
		v.Version = b.Version
	}
	if v.Dir == "" {
		v.Dir = b.State.Dir
	}
	if v.Model == "" {
		v.Model = b.Options.Model
	}
	if b.Ended != nil {
		ended := *b.Ended
		v.Ended = &ended
	}
	for _, c := range b.State.Conversations {
		v.Conversations = append(v.Conversations, api.Conversation{ID: c.ID, Run: c.Run, Reason: c.Reason})
	}
	for _, q := range b.Questions {
		v.Questions = append(v.Questions, toQuestion(q))
	}
	for _, c := range b.Commands {
		if takenUp(c.Kind) {
			v.Messages = append(v.Messages, messageOf(c))
		}
	}
	s.feed.mu.Lock()
	v.Partial = s.feed.partials().Messages
	s.feed.mu.Unlock()
	s.viewState(v)
	s.viewRules(v)
	s.viewLimits(v)
	options := shownOptions(b.Options)
	v.Options = &options
	return v
}

// viewState fills in what comes from the folded lines. Everything is copied: the
// fold goes on.
func (s *session) viewState(v *api.Session) {
	b := s.book
	total := b.Costs.Total()
	v.Cost = &api.Cost{USD: total.CostUSD, Turns: b.Costs.Turns, Failed: b.Costs.Failed, Millis: b.Costs.Millis}
	if len(total.Models) > 0 {
		v.Cost.Models = encoded(total.Models)
	}
	if len(b.Costs.Agents) > 0 {
		v.Cost.Agents = encoded(b.Costs.Agents)
	}
	for _, t := range b.State.Tasks {
		v.Tasks = append(v.Tasks, api.Task{ID: t.ID, Kind: t.Kind, Description: t.Description})
	}
	if r := b.State.Retry; r != nil {
		v.Retry = &api.Retry{Attempt: r.Attempt, Of: r.Most, Error: string(r.Error), Time: r.Time}
	}
	if len(b.State.RateLimits) > 0 {
		v.RateLimits = encoded(b.State.RateLimits)
	}
	if c := b.State.Context; c != nil {
		v.Context = &api.ContextUse{Tokens: c.Tokens, Max: c.Most, Percent: c.Percent}
	}
	if r := b.State.Result; r != nil {
		v.Result = &api.TurnResult{Subtype: string(r.Subtype), Failed: r.Failed, Interrupted: r.Interrupted, Origin: string(r.Origin)}
	}
	v.Init, v.Initialize = clone(b.State.Init), clone(b.State.Initialize)
	if !b.State.Drift.IsZero() {
		v.Drift = encoded(b.State.Drift)
	}
}

// shownOptions returns a session's options without what may hold secrets of its
// user: environments and headers of MCP servers, settings, variables, raw flags.
func shownOptions(o api.SessionOptions) api.SessionOptions {
	o.MCPServers, o.Settings, o.Env, o.ExtraArgs = nil, nil, nil, nil
	return o
}

// withHidden returns options for another run of a session. Whoever makes them of
// those that a snapshot shows cannot know what it leaves out: that stays as it was
// where they do not name it. An empty object takes it away.
func withHidden(o api.SessionOptions, before *api.SessionOptions) api.SessionOptions {
	if o.MCPServers == nil {
		o.MCPServers = before.MCPServers
	}
	if o.Settings == nil {
		o.Settings = before.Settings
	}
	if o.Env == nil {
		o.Env = before.Env
	}
	if o.ExtraArgs == nil {
		o.ExtraArgs = before.ExtraArgs
	}
	return o
}

// hasSecrets reports whether options hold what shownOptions leaves out.
func hasSecrets(o *api.SessionOptions) bool {
	return o.MCPServers != nil || o.Settings != nil || o.Env != nil || o.ExtraArgs != nil
}

// hidden stands for what may be a secret.
const hidden = `"hidden"`

// shownLine returns a line to the CLI without what may hold secrets of its user:
// the same as shownOptions leaves out. Of variables, servers and settings the names
// are shown, and of settings what they permit.
func shownLine(line []byte) []byte {
	h, err := wire.Peek(line)
	if err != nil {
		return line
	}
	var member string
	switch subtype := string(h.RequestSubtype); {
	case string(h.Type) == "update_environment_variables":
		return encoded(map[string]any{"type": "update_environment_variables", "variables": namesIn(line, "variables")})
	case string(h.Type) != "control_request":
		return line
	case subtype == "mcp_set_servers":
		member = "servers"
	case subtype == "apply_flag_settings":
		member = "settings"
	default:
		return line
	}
	request, _ := wire.Lookup(line, "request")
	if !hides(request, member) {
		return line // byte for byte, as everything else
	}
	return encoded(map[string]any{
		"type": "control_request", "request_id": string(h.RequestID),
		"request": map[string]any{"subtype": string(h.RequestSubtype), member: namesIn(request, member)},
	})
}

// hides reports whether a member of a request holds what is not shown: anything but
// what settings permit.
func hides(request []byte, member string) bool {
	raw, _ := wire.Lookup(request, member)
	values := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &values) != nil {
		return true
	}
	for name := range values {
		if member != "settings" || name != "permissions" {
			return true
		}
	}
	return false
}

// namesIn returns the names in a member that is an object.
func namesIn(object []byte, member string) map[string]json.RawMessage {
	raw, _ := wire.Lookup(object, member)
	values := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &values) != nil {
		return nil
	}
	for name := range values {
		if member != "settings" || name != "permissions" {
			values[name] = json.RawMessage(hidden)
		}
	}
	return values
}

// clone copies raw JSON; a view outlives the fold's next change.
func clone(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return append(json.RawMessage(nil), raw...)
}

// encoded returns a value of plain data as JSON.
func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

// List lists sessions, the most recently updated first.
func (h *Hub) List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error) {
	q := journal.SessionQuery{Dir: f.Dir, Text: f.Text, Archived: f.Archived, Cursor: f.Cursor, Limit: f.Limit}
	for _, state := range f.State {
		if state == api.StateFailed {
			q.Failed = true
			continue
		}
		q.States = append(q.States, string(state))
	}
	page, err := h.journal.Sessions(ctx, q)
	if err != nil {
		return nil, h.problem(err, "")
	}
	list := &api.SessionList{Sessions: make([]api.SessionSummary, 0, len(page.Sessions)), Next: page.Next}
	for i := range page.Sessions {
		row := &page.Sessions[i]
		var data rowData
		_ = json.Unmarshal(row.Data, &data) // absent for most
		list.Sessions = append(list.Sessions, api.SessionSummary{
			ID: row.ID, Title: row.Title, Dir: row.Dir, State: api.State(row.State), Model: row.Model, Conversation: row.Conversation, Run: row.Run,
			Questions: row.Open, USD: row.CostUSD, Created: row.Created, Updated: row.Updated, Archived: !row.Archived.IsZero(),
			Simulated: data.Simulated, Failed: data.Failed, Text: data.Text, LastEventID: eventID(row.Epoch, row.Seq),
		})
	}
	return list, nil
}

// toEvent returns an entry as the interface shows it. The event shares the
// entry's bytes.
func toEvent(e *journal.Entry, epoch string) *api.Event { return lineEvent(e, epoch, nil) }

// lineEvent is toEvent for an entry whose line was folded, unless line is nil.
func lineEvent(e *journal.Entry, epoch string, line *fold.Line) *api.Event {
	event := &api.Event{
		ID: eventID(epoch, e.Seq), Session: e.Session, Run: e.Run, Seq: e.Seq, Time: e.Time, Source: string(e.Source), By: e.By, Kind: e.Kind, Data: e.Data,
	}
	switch {
	case line != nil:
		setFolded(event, line)
	case e.Kind == api.KindSent:
		setLine(event, shownLine(e.Line))
	case e.Line != nil:
		setLine(event, e.Line)
	}
	switch e.Kind {
	case api.KindCreated:
		var d createdData
		if json.Unmarshal(e.Data, &d) == nil && hasSecrets(&d.Options) {
			d.Options = shownOptions(d.Options)
			event.Data = encoded(d)
		}
	case api.KindRunStarted:
		var d runStartedData
		if json.Unmarshal(e.Data, &d) == nil && d.Options != nil {
			options := shownOptions(*d.Options)
			d.Options = &options
			event.Data = encoded(d)
		}
	}
	return event
}

// setLine puts a line into an event: as JSON, or else as text or bytes.
func setLine(event *api.Event, line []byte) {
	_, err := wire.Peek(line)
	switch {
	case err == nil && wire.Valid(line):
		event.Line = line
	case utf8.Valid(line):
		event.Text = string(line)
	default:
		event.Base64 = line
	}
}

// setFolded is setLine for a line that was folded, and so checked.
func setFolded(event *api.Event, line *fold.Line) {
	if line.Valid() {
		event.Line = line.Raw
		return
	}
	setLine(event, line.Raw)
}

// toPartial returns a partial message as the interface shows it.
func toPartial(m fold.Message) api.Partial {
	p := api.Partial{ParentToolUseID: m.ParentToolUseID, MessageID: m.ID, Model: m.Model, Blocks: []api.PartialBlock{}}
	for _, b := range m.Blocks {
		p.Blocks = append(p.Blocks, api.PartialBlock{Index: b.Index, Type: b.Type, Text: b.Text, Name: b.Tool, ID: b.ToolUseID, Cut: b.Cut > 0})
	}
	return p
}
