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
	p := s.projection
	v := &api.Session{
		ID: s.id, Title: p.title(), Dir: p.Dir, Node: p.NodeName, State: api.State(p.phase()), Run: p.Run, Transport: p.Transport, Linked: s.link != nil && s.link.connected && p.Ended == nil,
		Simulated: p.Simulated, Conversation: p.State.Conversation(), Model: p.State.Model, PermissionMode: string(p.State.Mode), Version: p.State.Version,
		Created: p.Created, Updated: p.Updated, Archived: !p.Archived.IsZero(), LastEventID: record.EventID(p.Epoch, p.Seq),
		Text: p.State.Text, Prompt: p.State.Prompt, Failed: p.failed(), Unauthenticated: p.Unauthenticated, Runner: p.Runner,
	}
	if v.Version == "" {
		v.Version = p.Version
	}
	if p.Relay != nil {
		v.Relay = p.Relay.URL
	}
	if p.Sandbox != nil {
		v.Sandbox = new(*p.Sandbox)
	}
	if v.Dir == "" {
		v.Dir = p.State.Dir
	}
	if v.Model == "" {
		v.Model = p.Options.Model
	}
	if p.Ended != nil {
		ended := *p.Ended
		v.Ended = &ended
	}
	for _, c := range p.State.Conversations {
		v.Conversations = append(v.Conversations, api.Conversation{ID: c.ID, Run: c.Run, Reason: c.Reason})
	}
	for _, q := range p.Questions {
		v.Questions = append(v.Questions, answer.Question(q))
	}
	for _, c := range p.Commands {
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
	options := record.ShownOptions(p.Options)
	v.Options = &options
	return v
}

// viewState fills in what comes from the folded lines. Everything is copied: the
// fold goes on.
func (s *session) viewState(v *api.Session) {
	p := s.projection
	total := p.Costs.Total()
	v.Cost = &api.Cost{USD: total.CostUSD, Turns: p.Costs.Turns, Failed: p.Costs.Failed, Millis: p.Costs.Millis}
	if len(total.Models) > 0 {
		v.Cost.Models = encoded(total.Models)
	}
	if len(p.Costs.Agents) > 0 {
		v.Cost.Agents = encoded(p.Costs.Agents)
	}
	for _, t := range p.State.Tasks {
		v.Tasks = append(v.Tasks, api.Task{ID: t.ID, Kind: t.Kind, Description: t.Description})
	}
	if r := p.State.Retry; r != nil {
		v.Retry = &api.Retry{Attempt: r.Attempt, Of: r.Most, Error: string(r.Error), Time: r.Time}
	}
	if len(p.State.RateLimits) > 0 {
		v.RateLimits = encoded(p.State.RateLimits)
	}
	if c := p.State.Context; c != nil {
		v.Context = &api.ContextUse{Tokens: c.Tokens, Max: c.Most, Percent: c.Percent}
	}
	if r := p.State.Result; r != nil {
		v.Result = &api.TurnResult{Subtype: string(r.Subtype), Failed: r.Failed, Interrupted: r.Interrupted, Origin: string(r.Origin)}
	}
	v.Init, v.Initialize = clone(p.State.Init), clone(p.State.Initialize)
	if !p.State.Drift.IsZero() {
		v.Drift = encoded(p.State.Drift)
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
	q := journal.SessionQuery{Dir: f.Dir, Text: f.Text, Archived: f.Archived, Node: f.Node, Cursor: f.Cursor, Limit: f.Limit}
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
			ID: row.ID, Title: row.Title, Dir: row.Dir, Node: data.Node, State: api.State(row.State), Model: row.Model, Conversation: row.Conversation, Run: row.Run,
			Questions: row.Open, USD: row.CostUSD, Created: row.Created, Updated: row.Updated, Archived: !row.Archived.IsZero(),
			Simulated: data.Simulated, Failed: data.Failed, Unauthenticated: data.Unauthenticated, Text: data.Text, Relay: data.Relay, Sandbox: data.Sandbox, LastEventID: record.EventID(row.Epoch, row.Seq),
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
