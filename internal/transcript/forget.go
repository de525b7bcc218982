package transcript

import (
	"maps"
	"slices"
)

// maxForgotten is how many prompts that were dropped are known by their names.
const maxForgotten = 1000

// Forget drops what is over, for a reader that looks at an item when an event has changed it, and then no more: of the items, tool calls
// without a result and open questions stay. So a log of any length needs little memory. Indexes move, and nothing can be put in front any
// more; State tells the same. What a log tells later of an item that was dropped is an item of its own, except of a prompt, where it is left
// out.
func (c *Conversation) Forget() {
	for _, e := range c.results {
		if c.counts(e) {
			usd, _ := c.cost(e)
			c.usd += usd
			c.turns++
		}
		e.counted = true
	}
	c.part.drop()
}

// Interrupted reports whether the turn that goes on was interrupted, and has not ended yet.
func (c *Conversation) Interrupted() bool {
	n := len(c.interrupts)
	return n > 0 && c.interrupts[n-1].place > c.part.turnEnd()
}

// finished reports whether nothing more is expected of an entry. A call gets its result from the process that made it, and is made in the turn
// in which something is told of it.
func (p *part) finished(e *entry) bool {
	switch {
	case e.called && !e.answered && e.run == p.newest, e.Kind == KindTool && !e.shows && e.place > p.turnEnd(), e.task.id != "" && !e.task.ended():
		return false
	}
	return !p.facts.has(e)
}

// drop forgets the entries of which nothing more is expected, and all that is known by them.
func (p *part) drop() {
	p.items = slices.DeleteFunc(p.items, func(e *entry) bool {
		e.in = !p.finished(e)
		return !e.in
	})
	for key, e := range p.known {
		if !p.finished(e) {
			continue
		}
		delete(p.known, key)
		if e.Kind == KindPrompt {
			p.leave(key)
		}
	}
	for uuid, list := range p.lines {
		if list = slices.DeleteFunc(list, p.finished); len(list) > 0 {
			p.lines[uuid] = list
		} else {
			delete(p.lines, uuid)
		}
	}
	maps.DeleteFunc(p.retracted, func(uuid string, _ bool) bool { return p.lines[uuid] == nil })
	maps.DeleteFunc(p.kids, func(tool string, _ int) bool { return p.known[toolKey(tool)] == nil })
	maps.DeleteFunc(p.tasks, func(_ string, e *entry) bool { return p.finished(e) })
	maps.DeleteFunc(p.running, func(_ string, e *entry) bool { return p.finished(e) })
	end := p.turnEnd()
	p.interrupts = slices.DeleteFunc(p.interrupts, func(i interrupt) bool { return i.place < end })
	// What the next one cost depends on the last one, and so does which attempt it stands for.
	p.results = slices.Delete(p.results, 0, max(len(p.results)-1, 0))
	p.retries = slices.Delete(p.retries, 0, max(len(p.retries)-1, 0))
}

// leave remembers the name of an entry that was dropped.
func (p *part) leave(key string) {
	if p.gone == nil {
		p.gone = map[string]bool{}
	}
	p.gone[key] = true
	if p.left = append(p.left, key); len(p.left) > maxForgotten {
		delete(p.gone, p.left[0])
		p.left = p.left[1:]
	}
}
