package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A Conversation is what has been read of one session. Its zero value is ready to use. It belongs to one goroutine.
type Conversation struct {
	part
	live live

	first, last id    // the oldest and the newest event that was read
	front       int64 // the place before the oldest event

	seeded bool
	seed   id      // the newest event that a snapshot told of
	usd    float64 // what a snapshot said, with what was forgotten since, and
	turns  int64
	since  int64 // the place after which ends of turns are added to it
}

// An id is that of an event.
type id struct {
	text, epoch string
	seq         int64
}

func idOf(e *api.Event) id {
	epoch, number, _ := strings.Cut(e.ID, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		seq = e.Seq
	}
	return id{text: e.ID, epoch: epoch, seq: seq}
}

// before reports whether an event is known to come before another.
func (i id) before(o id) bool { return i.epoch == o.epoch && i.seq > 0 && o.seq > 0 && i.seq < o.seq }

// Seed takes what a snapshot of the session tells: state, cost, open questions and so on. It adds no items. Events that the snapshot knows
// already change the items only, whether they are read after it or put in front. A snapshot that is older than what was read is left alone.
func (c *Conversation) Seed(s *api.Session) {
	at := idOf(&api.Event{ID: s.LastEventID})
	if s.LastEventID != "" && at.before(c.last) {
		return
	}
	c.part.begin()
	f := &c.facts
	turn := f.state.TurnStarted
	f.state = State{
		Session: s.State, Title: s.Title, Dir: s.Dir, Model: s.Model, Mode: s.PermissionMode, Todos: f.state.Todos, TurnStarted: turn,
		Context: s.Context, RateLimit: f.state.RateLimit, Retry: s.Retry, Tasks: s.Tasks, Sandbox: s.Sandbox, Result: s.Result, Ended: s.Ended,
		Suggestion: f.state.Suggestion, Doing: f.state.Doing, Offline: s.State == api.StateOffline,
	}
	f.session(s.State, s.Updated)
	f.learn(factTitle | factDir | factModel | factMode | factContext | factRetry | factTasks | factSandbox | factResult | factEnded)
	c.seeded, c.since = true, c.next*subPlaces+subPlaces
	if s.Cost != nil {
		c.usd, c.turns = s.Cost.USD, s.Cost.Turns
	}
	r := &reader{part: &c.part, session: s.ID}
	for i := range s.Questions {
		q := s.Questions[i]
		r.item(entry{key: bounded("question:", q.ID), Item: Item{Kind: KindQuestion, Question: &q}})
	}
	for i := range s.Messages {
		m := s.Messages[i]
		kept := m
		kept.Content, kept.Line = nil, nil
		r.item(entry{key: promptKey(later(m.ID, m.UUID)), said: m.Text, Item: Item{Kind: KindPrompt, Message: &kept}})
	}
	for i := range s.Holds {
		h := s.Holds[i]
		r.item(entry{key: bounded("hold:", h.ID), hold: &h, Item: Item{Kind: KindState}})
	}
	if len(s.Partial) > 0 && len(c.live.blocks) == 0 {
		c.live.replace(s.Partial, stamp{at: s.Updated})
	}
	c.seed = at
}

// Frame takes a frame of a stream.
func (c *Conversation) Frame(f api.Frame) Changed {
	switch f.Type {
	case api.FrameEvent, api.FrameLive:
		if f.Event != nil {
			return c.Event(f.Event)
		}
	case api.FramePartial:
		if f.Partial != nil {
			return c.apply(func() { c.live.replace(f.Partial.Messages, stamp{}) })
		}
	case api.FrameResume:
		if f.Resume != nil && f.Resume.Resume == "reset" {
			*c = Conversation{}
			return Changed{Reset: true, State: true}
		}
	case api.FrameHeartbeat, api.FrameClosing:
	}
	return Changed{}
}

// Event takes the next event. One that was read already changes nothing.
func (c *Conversation) Event(e *api.Event) Changed {
	if e.ID != "" {
		at := idOf(e)
		if c.last.text == at.text || at.before(c.last) {
			return Changed{}
		}
		c.last = at
		if c.first.text == "" {
			c.first = at
		}
	}
	if at := idOf(e); e.ID == "" || at.epoch != c.seed.epoch || at.seq > c.seed.seq {
		return c.apply(func() { c.read(e) })
	}
	// A snapshot has told of it already, and of what came after it: it says nothing new about the state.
	return c.apply(func() {
		state := c.facts.state
		c.read(e)
		c.facts.state = state
		c.since = c.next*subPlaces + subPlaces
	})
}

// read takes an event into the part, and into what is being written.
func (c *Conversation) read(e *api.Event) {
	c.newest = max(c.newest, e.Run)
	r := &reader{part: &c.part, stamp: stamp{event: e.ID, at: e.Time, run: e.Run}, session: e.Session}
	switch e.Kind {
	case api.KindLive, api.KindLine:
		line := fold.NewLine(e.Line, false)
		stream := string(line.Header.Type) == "stream_event"
		if stream || e.Kind == api.KindLine {
			c.live.line(line, r.stamp)
		}
		if stream {
			c.facts.stream(line)
			return
		}
	case api.KindRunStarted, api.KindRunEnded:
		c.live.clear()
	}
	r.event(e)
}

// apply does something, and finds out what it changed.
func (c *Conversation) apply(do func()) Changed {
	c.part.begin()
	c.facts.changed = false
	c.live.touched, c.live.changed = c.live.touched[:0], false
	items, all := len(c.items), c.Len()
	do()
	changed := Changed{State: c.facts.changed, Reset: c.moved || c.Len() < all, Appended: max(c.Len()-all, 0)}
	for _, e := range c.touched {
		if e.in {
			if i := c.index(e); i < items {
				changed.Items = append(changed.Items, i)
			}
		}
	}
	if c.live.changed || len(c.items) != items { // what is being written stands elsewhere now
		for i := items; i < min(all, c.Len()); i++ {
			changed.Items = append(changed.Items, i)
		}
	} else {
		for _, b := range c.live.touched {
			if i := slices.Index(c.live.items, b); i >= 0 {
				changed.Items = append(changed.Items, len(c.items)+i)
			}
		}
	}
	slices.Sort(changed.Items)
	changed.Items = slices.Compact(changed.Items)
	return changed
}

// Prepend takes an older page of events, in their order, and returns how many items came in front. Those that were there may have changed,
// and some may be gone, where what was told of them belongs to one in front: all are to be looked at again.
func (c *Conversation) Prepend(events []api.Event) int {
	c.part.begin() // it may be new
	c.next--
	for len(events) > 0 && c.first.text != "" && !idOf(&events[len(events)-1]).before(c.first) && idOf(&events[len(events)-1]).epoch == c.first.epoch {
		events = events[:len(events)-1]
	}
	if len(events) == 0 {
		return 0
	}
	old := part{next: c.front - int64(len(events))}
	c.front = old.next
	for i := range events {
		e := &events[i]
		old.begin()
		(&reader{part: &old, stamp: stamp{event: e.ID, at: e.Time, run: e.Run}, session: e.Session}).event(e)
	}
	c.first = idOf(&events[0])
	if c.last.text == "" {
		c.last = idOf(&events[len(events)-1])
	}
	return c.part.prepend(&old)
}

// FirstEventID returns the id of the oldest event that was read, to ask for the page before it; empty if none was.
func (c *Conversation) FirstEventID() string { return c.first.text }

// Len returns how many items there are. Those that are being written stand at the end.
func (c *Conversation) Len() int { return len(c.items) + len(c.live.items) }

// Item returns an item. It is valid until the conversation changes.
func (c *Conversation) Item(i int) *Item {
	if i < len(c.items) {
		return c.items[i].view(&c.part)
	}
	b := c.live.items[i-len(c.items)]
	b.Depth = c.depth(b.Parent)
	return &b.Item
}

// Find returns the index of the item with an id, or -1.
func (c *Conversation) Find(id string) int {
	if e := c.known[id]; e != nil {
		if e.in {
			return c.index(e)
		}
	} else if i := slices.IndexFunc(c.items, func(e *entry) bool { return e.ID == id }); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(c.live.items, func(b *block) bool { return b.ID == id }); i >= 0 {
		return len(c.items) + i
	}
	return -1
}

// maxBetween is how many items may stand between a tool call and the question about it.
const maxBetween = 50

// QuestionsOf returns the indexes of the questions about a tool call, which stand after it.
func (c *Conversation) QuestionsOf(i int) []int {
	it := c.Item(i)
	if it.Tool == nil || it.Tool.ID == "" {
		return nil
	}
	var list []int
	for k := i + 1; k < min(len(c.items), i+maxBetween); k++ {
		if q := c.items[k].Question; q != nil && q.ToolUseID == it.Tool.ID {
			list = append(list, k)
		}
	}
	return list
}

// Question returns a question that was read or that a snapshot told of, or nil.
func (c *Conversation) Question(id string) *api.Question {
	if e := c.known[bounded("question:", id)]; e != nil {
		return e.Question
	}
	return nil
}

// State returns what the session is doing.
func (c *Conversation) State() State {
	s := c.facts.snapshot()
	s.LastEventID = c.last.text
	s.USD, s.Turns = c.usd, c.turns
	for _, e := range c.results {
		if c.counts(e) {
			usd, _ := c.cost(e)
			s.USD += usd
			s.Turns++
		}
	}
	return s
}

// counts reports whether the cost of a turn is to be added to what is known of all before it.
func (c *Conversation) counts(e *entry) bool { return !e.counted && (!c.seeded || e.place >= c.since) }
