package transcript

import (
	"math"
	"slices"
	"sort"
)

// A part is what a stretch of events tells: a page, or all that was read.
type part struct {
	items     []*entry // those to show, by place
	known     map[string]*entry
	lines     map[string][]*entry // by the uuid of their line
	retracted map[string]bool
	kids      map[string]int    // how many items belong to an agent, by the tool call that started it
	tasks     map[string]*entry // by the tool call that started them
	running   map[string]*entry // tool calls without a result since the last end of a turn
	results   []*entry          // ends of turns, by place
	ends      bool              // a turn has ended, the last one
	ended     int64             // at this place
	retries   []*entry          // attempts to repeat requests, by place
	facts     facts

	interrupts []interrupt // by place

	newest int             // the run of the newest event
	gone   map[string]bool // keys of prompts that were dropped
	left   []string        // the same, the oldest first

	next int64 // the place of the next event
	sub  int64 // how many entries it has

	// What the last event did.
	touched []*entry
	moved   bool // items went away, or came elsewhere than at the end
}

// An interrupt is a request to stop a turn, or the CLI's word that it was stopped: its place, and the name of its sender.
type interrupt struct {
	place int64
	by    string
	told  bool // by the CLI
}

// interrupter says which user has interrupted a turn, by its end, and whether the CLI has told that it was before that.
func (p *part) interrupter(end *entry) (by string, told bool) {
	begin := int64(math.MinInt64)
	if i := p.resultIndex(end); i > 0 {
		begin = p.results[i-1].place
	}
	for _, i := range p.interrupts {
		if i.place > begin && i.place < end.place {
			by, told = later(by, i.by), told || i.told
		}
	}
	return by, told
}

// turnEnd returns the place of the last end of a turn; before all others if there is none.
func (p *part) turnEnd() int64 {
	if n := len(p.results); n > 0 {
		return p.results[n-1].place
	}
	return math.MinInt64
}

// Places leave room for this many entries of one event. Further ones share the last place, in their order.
const subPlaces = 1 << 12

func (p *part) begin() {
	if p.known == nil {
		p.known = map[string]*entry{}
		p.lines = map[string][]*entry{}
		p.retracted = map[string]bool{}
		p.kids = map[string]int{}
		p.tasks = map[string]*entry{}
		p.running = map[string]*entry{}
	}
	p.next++
	p.sub = 0
	p.touched, p.moved = p.touched[:0], false
}

// add takes an entry. If one of its key is known, that learns what it tells.
func (p *part) add(s stamp, e *entry) *entry {
	e.Event, e.Time, e.run = s.event, s.at, s.run
	e.place = p.next*subPlaces + min(p.sub, subPlaces-1)
	p.sub++
	if p.gone[e.key] {
		return e
	}
	if e.attempt > 0 && (e.key == "" || p.known[e.key] == nil) {
		p.retries = append(p.retries, e)
		p.supersede(len(p.retries) - 1)
	}
	if e.key == "" {
		e.ID = e.Event + "." + itoa(p.sub)
		if e.Event == "" {
			e.ID = "live." + itoa(p.next) + "." + itoa(p.sub)
		}
		p.refresh(e)
		return e
	}
	e.ID = e.key
	old := p.known[e.key]
	if old == nil {
		p.known[e.key] = e
		p.note(e)
		p.refresh(e)
		return e
	}
	p.merge(old, e)
	p.note(old)
	p.refresh(old)
	return old
}

// merge adds to an entry what a later one tells, and keeps account of whom it belongs to.
func (p *part) merge(e, b *entry) {
	before := e.Parent
	e.merge(b)
	if e.in && e.Parent != before {
		if before != "" {
			p.kids[before]--
		}
		p.kids[e.Parent]++
		p.touch(p.known[toolKey(before)])
		p.touch(p.known[toolKey(e.Parent)])
	}
}

// supersede has a later attempt to repeat a request stand for the one before it: one row says how far it has come.
func (p *part) supersede(i int) {
	if i == 0 || i >= len(p.retries) || p.retries[i-1].attempt >= p.retries[i].attempt {
		return
	}
	p.retries[i-1].superseded = true
	p.refresh(p.retries[i-1])
}

// touch says that an item looks otherwise now.
func (p *part) touch(e *entry) {
	if e != nil && e.in {
		p.touched = append(p.touched, e)
	}
}

// over says that a turn has ended: calls without a result will not get one.
func (p *part) over() {
	p.ends, p.ended = true, p.next*subPlaces
	for key, e := range p.running {
		p.touch(e)
		if !p.background(e.Parent) {
			delete(p.running, key)
		}
	}
}

// note keeps account of an entry under other names.
func (p *part) note(e *entry) {
	if e.task.tool != "" {
		p.tasks[e.task.tool] = e
	}
	if e.line != "" && !slices.Contains(p.lines[e.line], e) {
		p.lines[e.line] = append(p.lines[e.line], e)
	}
	if e.called && !e.answered && !e.refused {
		p.running[e.key] = e
	} else if e.called {
		delete(p.running, e.key)
	}
	p.facts.note(e)
}

// refresh puts an entry among the items, or takes it away.
func (p *part) refresh(e *entry) {
	switch wants := e.wants(p.retracted); {
	case wants && !e.in:
		p.insert(e)
	case !wants && e.in:
		p.remove(e)
	case e.in:
		p.touched = append(p.touched, e)
	}
}

// index returns where an entry stands, or would.
func (p *part) index(e *entry) int {
	if n := len(p.items); n == 0 || p.items[n-1].place < e.place {
		return n
	}
	i := sort.Search(len(p.items), func(i int) bool { return p.items[i].place >= e.place })
	for e.in && p.items[i] != e { // of the same place
		i++
	}
	return i
}

func (p *part) insert(e *entry) {
	i := p.index(e)
	for i < len(p.items) && p.items[i].place == e.place {
		i++
	}
	p.moved = p.moved || i < len(p.items)
	p.items = slices.Insert(p.items, i, e)
	e.in = true
	p.touched = append(p.touched, e)
	if e.Parent != "" {
		p.kids[e.Parent]++
		p.touch(p.known[toolKey(e.Parent)])
	}
	if e.Kind == KindResult {
		p.results = slices.Insert(p.results, p.resultIndex(e), e)
	}
}

func (p *part) remove(e *entry) {
	i := p.index(e)
	p.items = slices.Delete(p.items, i, i+1)
	e.in, p.moved = false, true
	if e.Parent != "" {
		p.kids[e.Parent]--
		p.touch(p.known[toolKey(e.Parent)])
	}
	if e.Kind == KindResult {
		if i := slices.Index(p.results, e); i >= 0 {
			p.results = slices.Delete(p.results, i, i+1)
		}
	}
}

func (p *part) resultIndex(e *entry) int {
	return sort.Search(len(p.results), func(i int) bool { return p.results[i].place >= e.place })
}

// retract takes back what a line said.
func (p *part) retract(uuids []string) {
	for _, uuid := range uuids {
		if uuid == "" || p.retracted[uuid] {
			continue
		}
		p.retracted[uuid] = true
		for _, e := range p.lines[uuid] {
			p.refresh(e)
		}
	}
}

// MaxDepth is how deep agents are told apart.
const MaxDepth = 8

// depth returns how many agents stand above what belongs to a tool call.
func (p *part) depth(parent string) int {
	depth := 0
	for parent != "" && depth < MaxDepth {
		depth++
		e := p.known[toolKey(parent)]
		if e == nil {
			break
		}
		parent = e.Parent
	}
	return depth
}

// background reports whether an agent may go on when the turn is over.
func (p *part) background(tool string) bool {
	task := p.tasks[tool]
	return tool != "" && task != nil && !task.task.ended()
}

// cost returns what a turn cost, and whether that is known: the CLI tells what its process has cost so far, so it depends on the turn
// before. A process may also begin anew, or go on from what an earlier one has saved.
func (p *part) cost(e *entry) (float64, bool) {
	total := e.result.Total
	i := p.resultIndex(e)
	if i == 0 {
		return total, p.facts.begun
	}
	if before := p.results[i-1].result.Total; total >= before {
		return total - before, true
	}
	return total, true
}

// prepend puts an older part in front. It returns how many items came.
func (p *part) prepend(old *part) int {
	boundary := (old.next + 1) * subPlaces
	for key, o := range old.known {
		n := p.known[key]
		if n == nil {
			p.known[key] = o
			continue
		}
		if n.in {
			p.remove(n)
		}
		p.forget(n)
		old.merge(o, n)
		p.known[key] = o
	}
	for uuid := range old.retracted {
		p.retracted[uuid] = true
	}
	for uuid, list := range old.lines {
		p.lines[uuid] = append(p.lines[uuid], list...)
	}
	for parent, n := range old.kids {
		p.kids[parent] += n
	}
	for tool, task := range old.tasks {
		if _, known := p.tasks[tool]; !known {
			p.tasks[tool] = task
		}
	}
	if !p.ends {
		p.ends, p.ended = old.ends, old.ended
	}
	for key, e := range old.running {
		if !e.answered && !e.refused {
			p.running[key] = e
		}
	}
	p.items = append(old.items, p.items...)
	p.results = append(old.results, p.results...)
	p.interrupts = append(old.interrupts, p.interrupts...)
	first := len(old.retries)
	p.retries = append(old.retries, p.retries...)
	p.supersede(first)
	// What became of entries by what was told later, or earlier, of them.
	for key := range old.known {
		e := p.known[key]
		p.relearn(e)
		p.refresh(e)
	}
	for uuid := range p.retracted {
		for _, e := range p.lines[uuid] {
			p.refresh(e)
		}
	}
	p.facts.older(&old.facts)
	for key := range old.known {
		p.facts.note(p.known[key])
	}
	return sort.Search(len(p.items), func(i int) bool { return p.items[i].place >= boundary })
}

// forget takes an entry out of what it is known by besides its key: another one stands for it now.
func (p *part) forget(e *entry) {
	if e.task.tool != "" && p.tasks[e.task.tool] == e {
		delete(p.tasks, e.task.tool)
	}
	if list := p.lines[e.line]; e.line != "" {
		p.lines[e.line] = slices.DeleteFunc(list, func(o *entry) bool { return o == e })
	}
}

// relearn puts an entry under the names that it got by merging.
func (p *part) relearn(e *entry) {
	if e.task.tool != "" {
		p.tasks[e.task.tool] = e
	}
	if e.line != "" && !slices.Contains(p.lines[e.line], e) {
		p.lines[e.line] = append(p.lines[e.line], e)
	}
}
