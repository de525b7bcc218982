package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Receive takes in what a link brought. It returns when all of it is in the journal
// and shown, live lines when they are shown: that is the link's back-pressure. If ctx
// ends first, what the session has begun to take in still counts; items must not be
// changed then.
func (l *RunLink) Receive(ctx context.Context, items []Item) error {
	done := make(chan error, 1)
	d := l.delivery(items, func(err error) { done <- err })
	if err := l.session.enqueue(&d.op); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		l.session.withdraw(&d.op, ctx.Err())
		select {
		case err := <-done:
			return err
		default:
			return ctx.Err()
		}
	}
}

// Deliver is Receive for a link that does not wait: done is called with the outcome,
// by a goroutine of the hub, or by the caller's if the session is not in use any more.
// It must not block, and may call Deliver. Items must not be changed before. A link
// delivers the next items when these are done: that keeps their order.
func (l *RunLink) Deliver(items []Item, done func(error)) {
	if err := l.session.enqueue(&l.delivery(items, done).op); err != nil {
		done(err)
	}
}

// A delivery is what a link brought, on its way into the session. An item may need
// something that has to be read from a disk. Then the operation ends before it, a
// goroutine reads that, and another operation goes on: no step waits for it.
type delivery struct {
	op      op // the first, which can be withdrawn
	link    *RunLink
	arrived time.Time
	done    func(error)

	// Owned by loop; by the goroutine that reads while that is under way.
	items []Item       // that are not taken in yet
	read  func() finds // reads what the first of them needs; nil if it needs nothing
	finds *finds       // what was read for it
	// lost says that the link was lost meanwhile, cause why.
	lost  bool
	cause error
}

// finds are what was read for an item.
type finds struct {
	lines map[[32]byte]int                  // of the run, see RunLink.seen; nil if they were not read
	plans map[string]*PlanFile              // by the id of the request that asks about them
	links map[string]map[string]policy.Link // of the machine that the agent runs on, by the id of the request
	owned error                             // why the CLI may not have the conversation that it names, see claimed
}

// delivery returns the delivery of items.
func (l *RunLink) delivery(items []Item, done func(error)) *delivery {
	d := &delivery{link: l, arrived: time.Now(), items: items, done: done}
	d.op = op{do: d.take, then: d.taken, lines: true}
	return d
}

// take takes in items up to one for which something has to be read.
func (d *delivery) take(st *step) error {
	d.link.paused = nil
	err := d.takeItems(st)
	if d.lost && d.link.paused == nil {
		st.lost(d.link, d.cause)
	}
	return err
}

func (d *delivery) takeItems(st *step) error {
	l := d.link
	durable := 0
	for i := range d.items {
		if d.items[i].Kind != link.Live {
			durable++
		}
	}
	st.entries, st.shown = slices.Grow(st.entries, durable), slices.Grow(st.shown, len(d.items))
	for ; len(d.items) > 0; d.items = d.items[1:] {
		if l.over {
			return ErrReplaced
		}
		v := &d.items[0]
		var line *fold.Line
		if v.Kind == link.Line && v.Gap == nil {
			line = st.folded(v)
		}
		if d.finds == nil {
			if d.read = st.toRead(l, v, line); d.read != nil {
				l.paused = d
				return nil
			}
		}
		err := st.itemWith(l, v, line, d.finds)
		if d.finds = nil; err != nil {
			return err
		}
	}
	st.then(func() { l.hub.metrics.Shown(time.Since(d.arrived)) })
	return nil
}

// taken goes on after an operation.
func (d *delivery) taken(err error) {
	if err != nil || d.read == nil {
		d.done(err)
		return
	}
	d.link.hub.tasks.Go(func() {
		found := d.read()
		d.read, d.finds = nil, &found
		err := ErrClosed
		if d.link.hub.ctx.Err() == nil { // else it was not read to its end
			err = d.link.session.enqueue(&op{do: d.take, then: d.taken, lines: true})
		}
		if err != nil {
			d.done(err)
		}
	})
}

// toRead returns what has to be read from a disk before an item can be taken in, nil if
// nothing has to. line is the item's, nil if it is none of the CLI.
func (st *step) toRead(l *RunLink, v *Item, line *fold.Line) func() finds {
	s := st.s
	if line == nil || !l.dialled && v.Number != 0 && v.Number <= s.run.Have {
		return nil
	}
	lines := l.dialled && v.Repeat && l.seen == nil
	plans, claimed, follow := st.plansAsked(line), st.claimed(l, line), st.toFollow(l, line)
	if !lines && len(plans) == 0 && claimed == "" && follow == nil {
		return nil
	}
	node := s.projection.Node
	return func() finds {
		f := finds{plans: s.hub.readPlans(node, s.id, plans), owned: s.hub.ownedByOthers(claimed, s.id)}
		if follow != nil {
			f.links = s.hub.followed(s.id, follow)
		}
		if lines {
			f.lines = s.hub.linesOf(s.id, l.run)
		}
		return f
	}
}

// itemWith takes in one item with what was read for it; f may be nil.
func (st *step) itemWith(l *RunLink, v *Item, line *fold.Line, f *finds) error {
	if f != nil {
		if f.owned != nil {
			return st.keepOff(f.owned)
		}
		if f.lines != nil {
			l.seen = f.lines
		}
		st.s.plans.files, st.s.follow.answers = f.plans, f.links
		defer func() { st.s.plans.files, st.s.follow.answers = nil, nil }()
	}
	return st.item(l, v, line)
}

// ErrReplaced means that another connection has taken the place of this one.
var ErrReplaced = errors.New("another connection has taken the place of this one")

// item takes in one item; line is its line, as for toRead.
func (st *step) item(l *RunLink, v *Item, line *fold.Line) error {
	s := st.s
	if v.Kind == link.Live {
		st.live(l, v)
		return nil
	}
	if l.dialled {
		if !v.Repeat && v.Kind == link.Line {
			l.seen = nil // nothing is repeated any more
		}
		if v.Repeat && v.Kind == link.Line && l.known(v) {
			st.shown = append(st.shown, shown{entry: -1, live: v, line: line})
			return nil
		}
	} else if v.Number != 0 {
		if v.Number <= s.run.Have {
			return nil // it came twice
		}
		if v.Number > s.run.Have+1 {
			st.event(api.KindGap, Actor{}, api.Gap{From: s.run.Have + 1, To: v.Number - 1, Certain: true, Reason: "lines did not arrive"})
		}
	}
	if v.Gap != nil {
		st.gap(v.Gap)
		return nil
	}
	s.run.Have = max(s.run.Have+1, v.Number)
	st.touch()
	switch v.Kind {
	case link.Line:
		return st.line(l, line)
	case link.Program:
		st.program(v.Bytes)
	case link.TooLong:
		st.add(journal.Entry{Kind: api.KindOversize, Source: journal.SourceAgent, Data: objectOr(v.Bytes)}, nil)
	case link.Happened:
		st.processEvent(v.Bytes)
	case link.Live, link.Outbox: // a live line was taken in above, the other is for the CLI
		fallthrough
	default: // of a newer shim
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "unknown_record", Text: "the shim sent something that this hub does not know"})
	}
	return nil
}

// live takes in a live line.
func (st *step) live(l *RunLink, v *Item) {
	at := [2]int64{v.Number, v.K}
	line := st.folded(v)
	if !l.dialled {
		if last := st.s.links.lastLive; at[0] < last[0] || at[0] == last[0] && at[1] <= last[1] {
			return // sent again after a reconnect
		}
		st.s.links.lastLive = at
	} else {
		st.remember(line.Header.UUID)
		st.s.heard(st.now)
		st.found(line)
	}
	line.Valid() // checked here, and not while followers wait for it
	st.shown = append(st.shown, shown{entry: -1, live: v, line: line})
	st.bytes += len(v.Bytes)
}

// gap takes in that lines are missing.
func (st *step) gap(g *api.Gap) {
	st.s.heard(st.now)
	st.event(api.KindGap, Actor{}, *g)
}

// objectOr returns b if it is a JSON object, else an empty one.
func objectOr(b []byte) json.RawMessage {
	if _, err := wire.Peek(b); err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// line takes in a durable line of the CLI.
func (st *step) line(l *RunLink, folded *fold.Line) error {
	s, line, h := st.s, folded.Raw, folded.Header
	known := len(st.rows.conversations)
	entry := journal.Entry{Kind: api.KindLine, Source: journal.SourceAgent, UUID: string(h.UUID), Line: line}
	if l.dialled {
		entry.Data = salvaged(folded)
	}
	st.add(entry, folded)
	if l.dialled {
		st.remember(h.UUID)
		st.touch()
		if string(h.Type) != "control_response" { // which any CLI sends at any time
			s.heard(st.now)
		}
	}
	switch string(h.Type) {
	case "control_request":
		if !l.tee {
			st.refuse(line)
		}
	case "control_response":
		st.answered(l, string(h.RequestID), line)
	case "control_cancel_request":
		st.dropHook(string(h.RequestID)) // other questions are folded
		st.tooLate(string(h.RequestID))
	case "assistant":
		if bytes.Contains(line, []byte(`"`+answer.ToolEnterPlan+`"`)) {
			s.plans.tool = answer.ToolEnterPlan
		}
	case "result":
		if s.turnTaken() {
			st.closeInput(l)
		}
	}
	if len(st.rows.conversations) > known && s.projection.Ended == nil { // else no code would ever give it back
		return st.lease(l)
	}
	return nil
}

// turnOver is why a process ends where each turn gets one of its own.
const turnOver = "a new process is used for each turn"

// closeInput lets a process end whose turn is over.
func (st *step) closeInput(l *RunLink) {
	if st.s.process.stopping == "" { // else a client stops it, which is more
		st.s.process.stopping = turnOver
	}
	st.then(func() { l.sender.CloseInput() })
}

// program takes in a line that a program wrote to its own CLI: the hub sees it
// as if it had sent it.
func (st *step) program(line []byte) {
	h, err := wire.Peek(line)
	if err != nil {
		h = wire.Header{}
	}
	id := newID("c")
	if string(h.Type) == typeEnvironment {
		line = record.ShownLine(line) // as in step.send
	}
	data, _ := json.Marshal(record.Sent{Command: id, Kind: commandProgram}) //nolint:errchkjson // cannot fail
	st.add(journal.Entry{Kind: api.KindSent, Source: journal.SourceProgram, UUID: string(h.UUID), Line: line, Data: data}, nil)
	st.event(api.KindCommand, Actor{}, api.CommandFate{ID: id, Kind: commandProgram, State: api.MessageWritten, RequestID: string(h.RequestID)})
}

// processEvent takes in what a shim tells of its process.
func (st *step) processEvent(raw []byte) {
	e, err := link.ParseEvent(raw)
	if err != nil {
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "shim_event", Text: "the shim told something that could not be read"})
		return
	}
	switch e.Event {
	case link.EventStarted:
		st.event(api.KindRunLaunched, Actor{}, record.RunFound{Version: e.Version, PID: e.CLIPID, Simulated: st.s.projection.Simulated})
	case link.EventStopping:
		text := "the agent is being ended"
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "stopping", Text: text})
	case link.EventExited:
		reason := e.Reason
		if st.s.process.stopping != "" && (e.Requested || reason == "") {
			reason = st.s.process.stopping
		}
		if reason == "" {
			reason = "the process ended"
		}
		st.endRun(api.Ended{Reason: reason, Code: e.Code, Signal: e.Signal, Stderr: e.Stderr}, true)
	case link.EventRefused:
		st.refused(e.Refusal)
	case link.EventGap:
		st.gap(&api.Gap{Certain: true, Reason: fmt.Sprintf("%d lines of a program were not copied: %s", e.Lines, e.Reason)})
	default:
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "shim_event", Text: fmt.Sprintf("the shim told something that this hub does not know: %.40q", e.Event)})
	}
}

// A lineBlock is memory for lines as they are folded. Steps use it again.
type lineBlock struct {
	lines [64]fold.Line
	used  int
}

// folded returns the line of an item to be folded. It is valid until the step is over.
func (st *step) folded(v *Item) *fold.Line {
	n := len(st.blocks)
	if n == 0 || st.blocks[n-1].used == len(st.blocks[n-1].lines) {
		b, ok := st.s.hub.lineBlocks.Get().(*lineBlock)
		if !ok {
			b = new(lineBlock)
		}
		st.blocks = append(st.blocks, b)
		n++
	}
	b := st.blocks[n-1]
	l := &b.lines[b.used]
	b.used++
	if v.Header == nil {
		l.Reset(v.Bytes, false)
	} else {
		*l = *fold.PeekedLine(v.Bytes, v.Header, nil)
	}
	return l
}

// free lets other steps use the memory of the lines. The step is over.
func (st *step) free() {
	for _, b := range st.blocks {
		clear(b.lines[:b.used]) // nothing else holds what they refer to
		b.used = 0
		st.s.hub.lineBlocks.Put(b)
	}
	st.blocks = nil
}
