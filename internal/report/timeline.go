package report

import (
	"context"
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// The kinds of items of a timeline.
const (
	timeTurn     = "turn"
	timePrompt   = "prompt"
	timeTool     = "tool"
	timeQuestion = "question"
	timeDecision = "decision"
	timeState    = "state"
	timeRun      = "run"
	timeGap      = "gap"
	timeBudget   = "budget"
	timeMode     = "mode"
	timeNotice   = "notice"
)

// How many entries are looked at for one page of a timeline, and how far beyond
// its end the results of tool calls are looked for.
const (
	timelineEntries = 10_000
	timelineBytes   = 64 << 20
	timelineAhead   = 500
)

// Timeline tells what happened in a session after an event, the oldest first: an
// item or more for each thing, some more than limit if one entry tells several. A
// tool call is told where it was made, with what its result says if that came
// soon enough. A page may have fewer items than asked for, even none, although
// there are more: go on after Next.
func (p *Reports) Timeline(ctx context.Context, id, after string, limit int) (*api.Timeline, error) {
	r, err := p.read(ctx, id)
	if err != nil {
		return nil, err
	}
	var verdict string
	if r.after, verdict = record.Place(after, r.session.Epoch, r.session.Seq); verdict != record.ResumeOK {
		return nil, record.Unfit("after: %.80q isn't an event of this session; start again without it", after)
	}
	limit = limited(limit, 200, 1000)
	t := &teller{epoch: r.session.Epoch, calls: map[string]call{}, prompts: map[string]bool{}, items: []api.TimelineItem{}}
	if t.turns, err = p.turnsOf(ctx, id, r.after); err != nil {
		return nil, err
	}
	bytes := 0
	// A page does not end between an interrupt and the result that it explains.
	for n := 0; n < timelineEntries && bytes < timelineBytes && (len(t.items) < limit || t.interrupted); n++ {
		e, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		bytes += len(e.Line) + len(e.Data)
		t.tell(e)
	}
	out := &api.Timeline{Next: record.EventID(r.session.Epoch, r.after), More: r.after < r.session.Seq}
	for n := 0; n < timelineAhead && len(t.calls) > 0; n++ {
		e, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		t.results(e)
	}
	out.Items = t.items
	return out, nil
}

// turnsOf returns what the turns of a session cost that ended after an entry, by
// their results' entries.
func (p *Reports) turnsOf(ctx context.Context, id string, after int64) (map[int64]float64, error) {
	list, err := p.journal.Turns(ctx, id)
	if err != nil {
		return nil, p.problem(err, id)
	}
	turns := make(map[int64]float64)
	for i := range list {
		if list[i].Seq > after {
			turns[list[i].Seq] = list[i].CostUSD
		}
	}
	return turns, nil
}

// A teller makes the items of a timeline out of entries.
type teller struct {
	epoch string
	turns map[int64]float64 // what turns cost, by entry
	items []api.TimelineItem

	actions     wire.Actions
	calls       map[string]call // those without a result
	prompts     map[string]bool // those that were told, by uuid
	interrupted bool            // an interrupt was sent in this turn
}

// A call is a tool call that was told.
type call struct {
	item  int
	since time.Time
}

// add adds an item.
func (t *teller) add(e *journal.Entry, kind, title string) *api.TimelineItem {
	t.items = append(t.items, api.TimelineItem{
		EventID: record.EventID(t.epoch, e.Seq), Seq: e.Seq, Run: e.Run, Time: e.Time, Kind: kind, Title: inOneLine(title), By: e.By,
	})
	return &t.items[len(t.items)-1]
}

// tell adds what an entry tells.
func (t *teller) tell(e *journal.Entry) {
	switch e.Kind {
	case api.KindLine, api.KindHistory:
		t.line(e)
	case api.KindSent:
		t.sent(e)
	case api.KindQuestionOpened:
		if q, ok := dataAs[api.Question](e); ok {
			t.add(e, timeQuestion, questionTitle(&q)).By = ""
		}
	case api.KindQuestionSettled:
		if q, ok := dataAs[api.Question](e); ok {
			t.add(e, timeDecision, settledTitle(&q)).By = decidedBy(&q)
		}
	case api.KindDecision:
		if d, ok := dataAs[api.Decision](e); ok {
			t.add(e, timeDecision, outcomeWords(string(d.Rule.Decision))+": "+wire.ActionTitle(d.Tool, d.Input)).By = "rule " + d.Rule.Rule
		}
	case api.KindCreated:
		if d, ok := dataAs[record.Created](e); ok {
			t.add(e, timeRun, "Session created in "+d.Dir)
		}
	case api.KindRunStarted:
		if d, ok := dataAs[record.RunStarted](e); ok {
			t.add(e, timeRun, runTitle(&d))
		}
	case api.KindRunEnded:
		if d, ok := dataAs[api.Ended](e); ok {
			t.add(e, timeRun, "Process ended: "+d.Reason).Failed = d.Unfinished || d.Signal != "" || d.Code != nil && *d.Code != 0
		}
	default:
		t.rest(e)
	}
}

// rest adds what the entries tell that come seldom.
func (t *teller) rest(e *journal.Entry) {
	switch e.Kind {
	case api.KindLinkLost:
		if d, ok := dataAs[record.LinkLost](e); ok {
			t.add(e, timeState, "Connection lost: "+d.Reason)
		}
	case api.KindLinkUp:
		if d, ok := dataAs[record.RunFound](e); ok && d.Back {
			t.add(e, timeState, "Connected again")
		}
	case api.KindGap:
		if d, ok := dataAs[api.Gap](e); ok {
			title := "Lines are missing: "
			if !d.Certain {
				title = "Lines may be missing: "
			}
			t.add(e, timeGap, title+d.Reason)
		}
	case api.KindTurn:
		if d, ok := dataAs[api.TurnChange](e); ok {
			t.add(e, timeState, "Turn "+d.State+": "+d.Reason)
		}
	case api.KindOversize:
		t.add(e, timeGap, "A line was too long to be kept")
	case api.KindBudget:
		if d, ok := dataAs[record.Budget](e); ok {
			t.add(e, timeBudget, budget.Sentence(d.BudgetUse))
		}
	case api.KindHold:
		if d, ok := dataAs[record.Hold](e); ok && !d.Changed {
			t.add(e, timeBudget, "Queue paused: "+d.Reason)
		}
	case api.KindHoldOver:
		t.add(e, timeBudget, "Goes on")
	case api.KindMode:
		if d, ok := dataAs[api.ModeChange](e); ok {
			t.add(e, timeMode, "Permission mode "+d.Mode)
		}
	case api.KindRuleAdded:
		if d, ok := dataAs[api.SessionRule](e); ok {
			t.add(e, timeNotice, "Rule added: "+string(d.Decision)+" "+d.Rule)
		}
	case api.KindRuleRemoved:
		t.add(e, timeNotice, "Rule removed")
	case api.KindNotice:
		if d, ok := dataAs[api.Notice](e); ok {
			t.add(e, timeNotice, d.Text)
		}
	}
}

// line adds what a line of the CLI tells.
func (t *teller) line(e *journal.Entry) {
	switch m := messageOfLine(e.Line).(type) { //nolint:gochecksumtype // the others tell nothing
	case *wire.Assistant:
		t.called(e, m)
	case *wire.User:
		if e.Kind == api.KindHistory && isPrompt(m) {
			t.add(e, timePrompt, promptText(m))
			return
		}
		t.finished(e, m)
	case *wire.Result:
		item := t.add(e, timeTurn, resultTitle(m, t.interrupted))
		item.Failed, item.Millis, item.USD = m.Failed() || t.interrupted, m.DurationMs, t.turns[e.Seq]
		t.interrupted = false
	case *wire.CompactBoundary:
		t.add(e, timeNotice, "The conversation was compacted")
	}
}

// called adds tool calls.
func (t *teller) called(e *journal.Entry, m *wire.Assistant) {
	for _, a := range t.actions.Of(m) {
		if a.Phase != wire.ActionStarted {
			t.finish(&a, e.Time)
			continue
		}
		if a.Tool == toolExitPlan || a.Tool == toolAskUser {
			continue // told as a question
		}
		if _, told := t.calls[a.ID]; told {
			continue
		}
		title := a.Title
		if a.Kind == wire.ActionFileChange {
			title = a.Tool + " " + title
		}
		t.add(e, timeTool, title)
		t.calls[a.ID] = call{item: len(t.items) - 1, since: e.Time}
	}
}

// results looks for results of calls that were told.
func (t *teller) results(e *journal.Entry) {
	if e.Kind != api.KindLine && e.Kind != api.KindHistory {
		return
	}
	if m, ok := messageOfLine(e.Line).(*wire.User); ok {
		t.finished(e, m)
	}
}

func (t *teller) finished(e *journal.Entry, m *wire.User) {
	for _, a := range t.actions.Of(m) {
		t.finish(&a, e.Time)
	}
}

// finish notes how a call ended.
func (t *teller) finish(a *wire.Action, at time.Time) {
	c, told := t.calls[a.ID]
	if !told {
		return // it is on the page before
	}
	delete(t.calls, a.ID)
	item := &t.items[c.item]
	item.Failed, item.Millis = a.Phase == wire.ActionFailed, max(0, at.Sub(c.since).Milliseconds())
}

// sent adds what a line to the CLI tells.
func (t *teller) sent(e *journal.Entry) {
	h, err := wire.Peek(e.Line)
	if err != nil {
		return
	}
	switch {
	case string(h.RequestSubtype) == "interrupt":
		t.interrupted = true
	case string(h.Type) == "user":
		m, ok := messageOfLine(e.Line).(*wire.User)
		if !ok || !isPrompt(m) || e.UUID != "" && t.prompts[e.UUID] {
			return // also what is sent once more after a reconnect
		}
		if beginsTurn(e) {
			t.interrupted = false // there was nothing to interrupt
		}
		t.prompts[e.UUID] = true
		t.add(e, timePrompt, promptText(m))
	}
}

// dataAs returns the data of an entry.
func dataAs[T any](e *journal.Entry) (v T, ok bool) {
	ok = json.Unmarshal(e.Data, &v) == nil
	return v, ok
}
