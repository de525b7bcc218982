package hub

import (
	"context"
	"encoding/json"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
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
	err := s.do(ctx, reading, func(st *step) error {
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
		Created: b.Created, Updated: b.Updated, Archived: !b.Archived.IsZero(), LastEventID: record.EventID(b.Epoch, b.Seq),
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
		v.Questions = append(v.Questions, answer.Question(q))
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
	options := record.ShownOptions(b.Options)
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

// withHidden returns options for another run of a session. The code that makes them of
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
			Simulated: data.Simulated, Failed: data.Failed, Text: data.Text, LastEventID: record.EventID(row.Epoch, row.Seq),
		})
	}
	return list, nil
}

// toPartial returns a partial message as the interface shows it.
func toPartial(m fold.Message) api.Partial {
	p := api.Partial{ParentToolUseID: m.ParentToolUseID, MessageID: m.ID, Model: m.Model, Blocks: []api.PartialBlock{}}
	for _, b := range m.Blocks {
		p.Blocks = append(p.Blocks, api.PartialBlock{Index: b.Index, Type: b.Type, Text: b.Text, Name: b.Tool, ID: b.ToolUseID, Cut: b.Cut > 0})
	}
	return p
}
