package report

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/transcript"
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
	timeRefusal  = "refusal"
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
	t := &teller{story: story{epoch: r.session.Epoch}, calls: map[string]int{}, items: []api.TimelineItem{}}
	if t.turns, err = p.turnsOf(ctx, id, r.after); err != nil {
		return nil, err
	}
	bytes, beyond := 0, 0
	for n := 0; n < timelineEntries && bytes < timelineBytes; n++ {
		if len(t.items) >= limit {
			// A page does not end between an interrupt and the result that it explains, if there is one.
			if beyond++; !t.talk.Interrupted() || beyond > timelineAhead {
				break
			}
		}
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
		_, items := t.next(e)
		for _, it := range items {
			t.finish(it)
		}
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
	story
	turns map[int64]float64 // what turns cost, by entry
	items []api.TimelineItem
	calls map[string]int // the items of tool calls without a result
}

// add adds an item.
func (t *teller) add(e *api.Event, kind, title string) *api.TimelineItem {
	t.items = append(t.items, api.TimelineItem{EventID: e.ID, Seq: e.Seq, Run: e.Run, Time: e.Time, Kind: kind, Title: inOneLine(title), By: e.By})
	return &t.items[len(t.items)-1]
}

// tell adds what an entry tells.
func (t *teller) tell(entry *journal.Entry) {
	e, items := t.next(entry)
	t.process(e)
	for _, it := range items {
		switch it.Kind {
		case transcript.KindTool:
			t.call(e, it)
			t.finish(it)
		case transcript.KindQuestion:
			t.question(e, it.Question)
		case transcript.KindPrompt, transcript.KindResult, transcript.KindState, transcript.KindNotice, transcript.KindRefusal:
			if begun(e, it) {
				t.item(e, it)
			}
		case transcript.KindText, transcript.KindThinking, transcript.KindUnknown:
		}
	}
}

// item adds an item that is told once.
func (t *teller) item(e *api.Event, it *transcript.Item) {
	switch it.Kind { //nolint:exhaustive // the others are told by tell
	case transcript.KindPrompt:
		t.add(e, timePrompt, it.Text)
	case transcript.KindResult:
		what, why := resultWords(it)
		item := t.add(e, timeTurn, titled(what, why))
		item.Failed, item.Millis, item.USD = it.Failed || it.Result.Interrupted, it.Result.Duration.Milliseconds(), t.turns[e.Seq]
		item.By = it.Author
	case transcript.KindState:
		kind := stateKind(e)
		if unenforced(e, it) {
			kind = timeNotice
		}
		if kind == "" {
			return
		}
		what, text := stateWords(e, it)
		if e.Kind == api.KindNotice {
			what = ""
		}
		t.add(e, kind, titled(what, text)).Failed = e.Kind == api.KindRunEnded && it.Level != transcript.LevelInfo || unenforced(e, it)
	case transcript.KindNotice:
		if it.Label == transcript.CompactedLabel {
			t.add(e, timeNotice, titled(stateWords(e, it)))
		}
	case transcript.KindRefusal:
		t.add(e, timeRefusal, capital(it.Text)).Failed = true
	}
}

// unenforced reports whether an item tells that nothing enforces the sandbox of a
// run.
func unenforced(e *api.Event, it *transcript.Item) bool {
	return e.Kind == api.KindRunLaunched && it.Level == transcript.LevelBad
}

// stateKind returns what an event of the hub is in a timeline; empty if it is not
// told there, or told by process.
func stateKind(e *api.Event) string {
	switch e.Kind {
	case api.KindRunEnded:
		return timeRun
	case api.KindGap, api.KindOversize:
		return timeGap
	case api.KindTurn:
		return timeState
	case api.KindBudget, api.KindHoldOver:
		return timeBudget
	case api.KindHold:
		if d, ok := dataAs[record.Hold](e.Data); ok && d.Changed {
			return ""
		}
		return timeBudget
	case api.KindMode:
		return timeMode
	case api.KindRuleAdded, api.KindRuleRemoved, api.KindNotice:
		return timeNotice
	}
	return ""
}

// process adds what happened to the process and the link to it, and what rules
// decided without a question: a transcript tells these elsewhere, or not at all.
func (t *teller) process(e *api.Event) {
	switch e.Kind {
	case api.KindCreated:
		if d, ok := dataAs[record.Created](e.Data); ok {
			t.add(e, timeRun, "Session created in "+d.Dir)
		}
	case api.KindRunStarted:
		if d, ok := dataAs[record.RunStarted](e.Data); ok {
			t.add(e, timeRun, runTitle(&d))
		}
	case api.KindLinkLost:
		if d, ok := dataAs[record.LinkLost](e.Data); ok {
			t.add(e, timeState, "Connection lost: "+d.Reason)
		}
	case api.KindLinkUp:
		if d, ok := dataAs[record.RunFound](e.Data); ok && d.Back {
			t.add(e, timeState, "Connected again")
		}
	case api.KindDecision:
		if d, ok := dataAs[api.Decision](e.Data); ok {
			t.add(e, timeDecision, outcomeWords(string(d.Rule.Decision))+": "+wire.ActionTitle(d.Tool, d.Input)).By = byRule(&d.Rule)
		}
	}
}

// question adds what is asked, or how it was settled.
func (t *teller) question(e *api.Event, q *api.Question) {
	switch e.Kind {
	case api.KindQuestionOpened:
		t.add(e, timeQuestion, questionTitle(q)).By = ""
	case api.KindQuestionSettled:
		t.add(e, timeDecision, settledTitle(q)).By = decidedBy(q)
	}
}

// call adds a tool call, unless a question tells of it.
func (t *teller) call(e *api.Event, it *transcript.Item) {
	tool := it.Tool
	if !called(e, it) || tool.Name == toolExitPlan || tool.Name == toolAskUser {
		return
	}
	title := wire.ActionTitle(tool.Name, tool.Input)
	for _, member := range []string{"file_path", "notebook_path", "path"} {
		if path, ok := wire.LookupString(tool.Input, member); ok && path == title {
			title = tool.Name + " " + title // what is done to the file
		}
	}
	t.add(e, timeTool, title)
	t.calls[tool.ID] = len(t.items) - 1
}

// finish notes how a call ended, unless it is on the page before.
func (t *teller) finish(it *transcript.Item) {
	if it.Tool == nil || !finished(it) {
		return
	}
	at, told := t.calls[it.Tool.ID]
	if !told {
		return
	}
	delete(t.calls, it.Tool.ID)
	item := &t.items[at]
	item.Failed, item.Millis = it.Failed, max(0, it.Tool.Ended.Sub(item.Time).Milliseconds())
}
