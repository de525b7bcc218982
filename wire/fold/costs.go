package fold

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// Tokens counts tokens by what was done with them.
type Tokens struct {
	// Input is what was read, the cache not included.
	Input int64 `json:"input"`
	// Output is what was written.
	Output int64 `json:"output"`
	// CacheRead is what was read from the cache.
	CacheRead int64 `json:"cache_read"`
	// CacheWrite is what was put into the cache.
	CacheWrite int64 `json:"cache_write"`
}

// Sum returns the number of all tokens.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

func (t Tokens) plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Output + o.Output, t.CacheRead + o.CacheRead, t.CacheWrite + o.CacheWrite}
}

func (t Tokens) minus(o Tokens) Tokens {
	return Tokens{t.Input - o.Input, t.Output - o.Output, t.CacheRead - o.CacheRead, t.CacheWrite - o.CacheWrite}
}

// covers reports whether no counter is less than in o.
func (t Tokens) covers(o Tokens) bool {
	return t.Input >= o.Input && t.Output >= o.Output && t.CacheRead >= o.CacheRead && t.CacheWrite >= o.CacheWrite
}

// max returns the larger of each counter.
func (t Tokens) max(o Tokens) Tokens {
	return Tokens{max(t.Input, o.Input), max(t.Output, o.Output), max(t.CacheRead, o.CacheRead), max(t.CacheWrite, o.CacheWrite)}
}

func tokensOf(u *wire.Usage) Tokens {
	return Tokens{
		Input: count(u.InputTokens), Output: count(u.OutputTokens),
		CacheRead: count(u.CacheReadInputTokens), CacheWrite: count(u.CacheCreationInputTokens),
	}
}

// count returns a counter as it can be summed: real ones are neither negative
// nor so large that a few of them would overflow.
func count(n int64) int64 { return min(max(n, 0), 1<<50) }

// A Model is what one model was used for.
type Model struct {
	Tokens
	// WebSearches is the number of web searches at the API.
	WebSearches int64 `json:"web_searches,omitempty"`
	// CostUSD is the cost in US dollars.
	CostUSD float64 `json:"cost_usd"`
}

func (m Model) plus(o Model) Model {
	return Model{m.Tokens.plus(o.Tokens), m.WebSearches + o.WebSearches, dollars(m.CostUSD + o.CostUSD)}
}

func (m Model) minus(o Model) Model {
	return Model{m.Tokens.minus(o.Tokens), m.WebSearches - o.WebSearches, dollars(m.CostUSD - o.CostUSD)}
}

// dollars rounds an amount to a billionth, far below any price and far above
// what binary fractions get wrong.
func dollars(usd float64) float64 {
	if math.IsNaN(usd) || math.Abs(usd) > 1e12 {
		return 0
	}
	return math.Round(usd*1e9) / 1e9
}

// Figures are what was used and what it cost, sub-agents included.
type Figures struct {
	// CostUSD is the cost in US dollars.
	CostUSD float64 `json:"cost_usd"`
	// APIMillis is the time spent waiting for the API, in milliseconds.
	APIMillis int64 `json:"api_ms"`
	// Models holds the same by model.
	Models map[string]Model `json:"models,omitempty"`
}

// maxModels is how many models are told apart; the rest is summed up under "".
const maxModels = 64

// figuresOf returns the figures of a result line: those of the process so far.
func figuresOf(r *wire.Result) Figures {
	f := Figures{CostUSD: dollars(r.Cost()), APIMillis: count(r.DurationAPIMs)}
	f.addAll(r.ModelUsage)
	return f
}

// sinceLast returns the figures since the result before, which newer versions
// tell as well; nil if this one does not.
func sinceLast(r *wire.Result) *Figures {
	raw := r.Extra("model_usage_since_last_result")
	if raw == nil {
		return nil
	}
	var usage map[string]wire.ModelUsage
	if json.Unmarshal(raw, &usage) != nil || usage == nil {
		return nil
	}
	f := new(Figures)
	f.addAll(usage)
	for _, id := range slices.Sorted(maps.Keys(f.Models)) {
		f.CostUSD = dollars(f.CostUSD + f.Models[id].CostUSD)
	}
	return f
}

// addAll adds what the CLI tells of each model.
func (f *Figures) addAll(usage map[string]wire.ModelUsage) {
	for _, id := range slices.Sorted(maps.Keys(usage)) {
		u := usage[id]
		f.add(name(id), Model{
			Tokens: Tokens{
				Input: count(u.InputTokens), Output: count(u.OutputTokens),
				CacheRead: count(u.CacheReadInputTokens), CacheWrite: count(u.CacheCreationInputTokens),
			},
			WebSearches: count(u.WebSearchRequests), CostUSD: dollars(u.CostUSD),
		})
	}
}

// add adds a model's figures.
func (f *Figures) add(id string, m Model) {
	if f.Models == nil {
		f.Models = map[string]Model{}
	}
	if _, there := f.Models[id]; !there && len(f.Models) >= maxModels {
		id = ""
	}
	f.Models[id] = f.Models[id].plus(m)
}

// Tokens returns the tokens of all models.
func (f Figures) Tokens() Tokens {
	var t Tokens
	for _, m := range f.Models {
		t = t.plus(m.Tokens)
	}
	return t
}

func (f Figures) isZero() bool { return f.CostUSD == 0 && f.Tokens() == Tokens{} }

func (f Figures) clone() Figures {
	f.Models = maps.Clone(f.Models)
	return f
}

func (f Figures) plus(o Figures) Figures {
	sum := f.clone()
	sum.CostUSD = dollars(f.CostUSD + o.CostUSD)
	sum.APIMillis += o.APIMillis
	for _, id := range slices.Sorted(maps.Keys(o.Models)) {
		sum.add(id, o.Models[id])
	}
	return sum
}

func (f Figures) minus(o Figures) Figures {
	rest := Figures{CostUSD: dollars(f.CostUSD - o.CostUSD), APIMillis: f.APIMillis - o.APIMillis}
	for _, id := range slices.Sorted(maps.Keys(f.Models)) {
		if m := f.Models[id].minus(o.Models[id]); m != (Model{}) {
			rest.add(id, m)
		}
	}
	return rest
}

// covers reports whether f can be o and something more on top of it.
func (f Figures) covers(o Figures) bool {
	if f.CostUSD < o.CostUSD {
		return false
	}
	for id, m := range o.Models {
		if n, there := f.Models[id]; !there || !n.covers(m.Tokens) || n.CostUSD < m.CostUSD {
			return false
		}
	}
	return true
}

// A Turn is what one turn used and cost.
type Turn struct {
	// Run is the run it belongs to.
	Run int `json:"run,omitempty"`
	// Seq and Time are those of its result line; UUID is the line's own.
	Seq  int64     `json:"seq,omitempty"`
	Time time.Time `json:"time,omitzero"`
	UUID string    `json:"uuid,omitempty"`
	// Figures are the costs since the result before, what sub-agents used in the
	// background meanwhile included.
	Figures Figures `json:"figures"`
	// Main counts the tokens of the turn's main conversation alone.
	Main Tokens `json:"main"`
	// Millis is how long the turn took, in milliseconds.
	Millis int64 `json:"ms"`
	// Rounds is the number of rounds with the model that the CLI reports.
	Rounds int64 `json:"rounds"`
	// Failed says that the turn failed or was interrupted.
	Failed bool `json:"failed,omitempty"`
	// Origin says what started a turn that no person prompted.
	Origin string `json:"origin,omitempty"`
}

// An Agent is what one sub-agent used, as far as its lines tell. Its cost is
// part of the session's; it is not told apart in money.
type Agent struct {
	// ToolUseID is the tool call that started the sub-agent.
	ToolUseID string `json:"tool_use_id"`
	// Main counts the tokens of its messages. The CLI sends them before they are
	// final, so there are somewhat more.
	Main Tokens `json:"main"`
	// Messages is the number of its messages.
	Messages int64 `json:"messages"`
	// Told is what the CLI says in the end: all tokens, tool calls, milliseconds.
	ToldTokens int64 `json:"told_tokens,omitempty"`
	ToldTools  int64 `json:"told_tools,omitempty"`
	ToldMillis int64 `json:"told_ms,omitempty"`
	// Recent holds the last messages, whose lines may still repeat them.
	Recent []Counted `json:"recent,omitempty"`
}

// A Counted message is one whose tokens are part of a sum.
type Counted struct {
	// ID is the message's.
	ID string `json:"id"`
	// Tokens is what was counted of it.
	Tokens Tokens `json:"tokens"`
}

// Costs sum up what a session used and cost over all of its runs.
//
// The CLI's figures are cumulative: each result tells what its process has
// cost so far. So the sum is that of all processes' last figures, less what
// each began with. That is nothing for a fresh process and, on versions up to
// 2.1.120, for a resumed one. A resumed 2.1.325 goes on from the figures that
// the conversation's last process saved when it ended in good order, and from
// nothing if none did: which of the two it was is seen from the first figures,
// since they hold the first turn and all that went before it. A /clear starts from
// nothing on 2.1.325 and changes nothing on 2.1.120; it is seen the same way.
type Costs struct {
	// Run is the number of the current run.
	Run int `json:"run,omitempty"`
	// Before is the sum of all that is over: former runs, and what came before
	// the figures were set back.
	Before Figures `json:"before"`
	// Baseline is what the current figures are counted from.
	Baseline Figures `json:"baseline"`
	// Last are the newest figures that the CLI told.
	Last Figures `json:"last"`
	// Resumed says that the run continues an earlier one and has told no figures
	// yet, so what they go on from is still to be found.
	Resumed bool `json:"resumed,omitempty"`
	// Doubt says that the next figures may have been set back.
	Doubt bool `json:"doubt,omitempty"`
	// Saved are the figures that former runs ended with, the newest last.
	Saved []Figures `json:"saved,omitempty"`

	// Turns, Failed, Rounds and Millis sum up the turns.
	Turns  int64 `json:"turns"`
	Failed int64 `json:"failed,omitempty"`
	Rounds int64 `json:"rounds"`
	Millis int64 `json:"ms"`
	// Main counts the tokens of the main conversation's turns.
	Main Tokens `json:"main"`
	// Agents holds what sub-agents used, the newest last.
	Agents []Agent `json:"agents,omitempty"`
	// Others sums up the sub-agents that are too many to be listed.
	Others Agent `json:"others,omitzero"`
}

// How much Costs remembers.
const (
	maxSaved  = 16
	maxAgents = 200
	maxRecent = 4
)

// Total returns what the session has cost so far.
func (c *Costs) Total() Figures { return c.Before.plus(c.Last.minus(c.Baseline)) }

// Apply folds a line. It returns what a turn cost if the line ends one, else
// nil.
func (c *Costs) Apply(l *Line) *Turn {
	if l.Sent {
		return nil
	}
	switch {
	case l.Header.Is("result", ""):
		if m, ok := l.decoded().(*wire.Result); ok {
			return c.result(m, l)
		}
	case l.Header.Is("conversation_reset", ""):
		c.Doubt = !c.Last.isZero()
	case l.Header.Is("assistant", "") && len(l.Header.ParentToolUseID) > 0:
		if m, ok := l.decoded().(*wire.Assistant); ok {
			c.agent(m.ParentToolUseID).message(m)
		}
	case l.Header.Is("system", "task_notification"):
		if m, ok := l.decoded().(*wire.TaskNotification); ok && m.Usage != nil && m.ToolUseID != "" {
			c.agent(m.ToolUseID).setTold(m.Usage)
		}
	}
	return nil
}

// Happened folds an event.
func (c *Costs) Happened(e Event) {
	if e.Kind != EventStarted {
		return
	}
	c.close()
	c.Run, c.Resumed, c.Doubt = e.Run, e.Resumed, false
	if e.Baseline != nil {
		c.Baseline, c.Last, c.Resumed = e.Baseline.clone(), e.Baseline.clone(), false
	}
}

// close ends what the current figures cover.
func (c *Costs) close() {
	if !c.Last.isZero() {
		c.Saved, _ = last(append(c.Saved, c.Last), maxSaved)
	}
	c.Before = c.Total()
	c.Baseline, c.Last = Figures{}, Figures{}
}

// result folds the end of a turn.
func (c *Costs) result(m *wire.Result, l *Line) *Turn {
	t := &Turn{
		Run: c.Run, Seq: l.Seq, Time: instant(l.Time), UUID: name(m.UUID), Main: tokensOf(&m.Usage),
		Millis: count(m.DurationMs), Rounds: count(m.NumTurns), Failed: m.Failed(),
	}
	if m.Origin != nil {
		t.Origin = name(string(m.Origin.Kind))
	}
	t.Figures = c.advance(figuresOf(m), sinceLast(m), t)
	c.Turns++
	if t.Failed {
		c.Failed++
	}
	c.Rounds += t.Rounds
	c.Millis += t.Millis
	c.Main = c.Main.plus(t.Main)
	return t
}

// advance moves on to new figures and returns the difference. The turn's main
// conversation is part of them; since, where it is told, is the difference.
func (c *Costs) advance(f Figures, since *Figures, t *Turn) Figures {
	used := t.Main
	if since != nil {
		used = since.Tokens()
	}
	switch {
	case c.Resumed:
		c.Baseline = c.origin(f, used)
		if since != nil && c.Baseline.Tokens() != f.minus(*since).Tokens() {
			// It goes on from what was never seen here.
			c.Baseline = f.minus(*since)
			c.Baseline.APIMillis = max(0, f.APIMillis-t.Millis)
		}
		c.Last = c.Baseline
		// As long as nothing was used it could be any of them.
		c.Resumed = f.isZero()
	case f.isZero() && !c.Last.isZero():
		// Set back, or not told: the next figures decide.
		c.Doubt = true
		return Figures{}
	case c.Doubt && !fits(f, c.Last, used), !f.covers(c.Last):
		c.close()
		c.Doubt = false
	default:
		c.Doubt = false
	}
	f.APIMillis = max(f.APIMillis, c.Last.APIMillis)
	delta := f.minus(c.Last)
	c.Last = f
	return delta
}

// origin returns what the first figures of a resumed run go on from: the
// largest saved ones that leave room for what was used since, or nothing.
func (c *Costs) origin(f Figures, used Tokens) Figures {
	var best Figures
	for _, s := range c.Saved {
		if fits(f, s, used) && s.covers(best) {
			best = s
		}
	}
	return best.clone()
}

// fits reports whether f can be what came before and what was used since on top
// of it.
func fits(f, before Figures, used Tokens) bool {
	return f.covers(before) && f.Tokens().minus(before.Tokens()).covers(used)
}

// agent returns the sub-agent of a tool call.
func (c *Costs) agent(toolUseID string) *Agent {
	id := name(toolUseID)
	if i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ToolUseID == id }); i >= 0 {
		return &c.Agents[i]
	}
	if len(c.Agents) >= maxAgents {
		c.Others.absorb(&c.Agents[0])
		c.Agents = slices.Delete(c.Agents, 0, 1)
	}
	c.Agents = append(c.Agents, Agent{ToolUseID: id})
	return &c.Agents[len(c.Agents)-1]
}

// message counts a message of the sub-agent. Several lines may bring parts of
// one message, each with the usage of the whole as far as it was known.
func (a *Agent) message(m *wire.Assistant) {
	id, now := name(m.Message.ID), tokensOf(&m.Message.Usage)
	i := slices.IndexFunc(a.Recent, func(r Counted) bool { return r.ID == id })
	if i < 0 {
		a.Recent, _ = last(append(a.Recent, Counted{ID: id}), maxRecent)
		i = len(a.Recent) - 1
		a.Messages++
	}
	r := &a.Recent[i]
	now = r.Tokens.max(now)
	a.Main = a.Main.plus(now.minus(r.Tokens))
	r.Tokens = now
}

// setTold keeps what the CLI says of a finished sub-agent.
func (a *Agent) setTold(u *wire.TaskUsage) {
	a.ToldTokens, a.ToldTools, a.ToldMillis = count(u.TotalTokens), count(u.ToolUses), count(u.DurationMs)
}

// absorb adds another sub-agent's figures.
func (a *Agent) absorb(o *Agent) {
	a.Main = a.Main.plus(o.Main)
	a.Messages += o.Messages
	a.ToldTokens += o.ToldTokens
	a.ToldTools += o.ToldTools
	a.ToldMillis += o.ToldMillis
}
