package claudetest

import (
	"slices"
	"strings"
)

// rank is the order in which prompts are worked off, where priorities count.
func (p prompt) rank() int {
	switch p.priority {
	case "now":
		return 0
	case "later":
		return 2
	}
	return 1
}

// batch takes the prompts of the next turn out of the queue, nil for none. Commands, and prompts that ask nothing, stand alone. mu is held.
func (e *engine) batch() []prompt {
	if len(e.queue) == 0 {
		return nil
	}
	if !e.quirks.MergesQueue {
		taken := slices.Clone(e.queue[:1])
		e.queue = slices.Delete(e.queue, 0, 1)
		return taken
	}
	first := 0
	for i, p := range e.queue {
		if p.rank() < e.queue[first].rank() {
			first = i
		}
	}
	end := first + 1
	alone := func(p prompt) bool { return p.command() || !p.query }
	for end < len(e.queue) && !alone(e.queue[first]) && !alone(e.queue[end]) && e.queue[end].rank() == e.queue[first].rank() {
		end++
	}
	taken := slices.Clone(e.queue[first:end])
	e.queue = slices.Delete(e.queue, first, end)
	return taken
}

// foldQueue takes what came while a tool ran into the running turn. The oldest version takes commands for texts there.
func (e *engine) foldQueue(t *turn, th *thread) {
	e.mu.Lock()
	var folded []prompt
	e.queue = slices.DeleteFunc(e.queue, func(p prompt) bool {
		stays := e.quirks.CommandsWait && p.command() || e.quirks.MergesQueue && p.priority == "later"
		if !stays {
			folded = append(folded, p)
		}
		return !stays
	})
	t.prompts = append(t.prompts, folded...)
	t.folded = append(t.folded, folded...)
	e.mu.Unlock()
	e.foldNotices(th)
	for _, p := range folded {
		if e.flags.ReplayUserMessages {
			e.emit(e.echo(p, true))
		}
		e.lifecycle(p.uuid, "started")
		th.attach(members{"type", "text", "text", asReminder("The user sent a new message while you were working:\n" + p.text)})
		e.storeMessage(th, "user", p.content, p.uuid)
	}
}

// mergedContent is the content of one message for several prompts.
func mergedContent(prompts []prompt) any {
	if len(prompts) == 1 {
		return orText(prompts[0].content)
	}
	var texts []string
	for _, p := range prompts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n")
}
