package talk

import (
	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// A Printer prints a log in its order, each item once nothing about it can change any more. At the end of the log it also prints what still
// goes on, and prints it again when it is over. It belongs to one goroutine.
type Printer struct {
	// Print is called with each item to print.
	Print func(*transcript.Item) error
	// Changed, if not nil, is called with a printed question that is still open, and of which something else is known now.
	Changed func(*transcript.Item) error
	// Live says that the end of the log is reached: what still goes on is not waited for.
	Live bool

	talk       transcript.Conversation
	printed    int             // how many items are
	unfinished map[string]bool // ids of those among them that were going on
	early      map[string]bool // ids of those further on that are printed
}

// Talk returns what was read. It must be changed by the printer's methods only.
func (p *Printer) Talk() *transcript.Conversation { return &p.talk }

// Reset forgets everything: the log begins anew.
func (p *Printer) Reset() { *p = Printer{Print: p.Print, Changed: p.Changed, Live: p.Live} }

// Last prepends an older page of events, of which the newest items are to be printed at most.
func (p *Printer) Last(events []api.Event, items int) {
	p.talk.Prepend(events)
	p.printed = max(0, p.talk.Len()-items)
}

// Page takes the next events. What they tell of each other is known before any of it is printed.
func (p *Printer) Page(events []api.Event) error {
	for i := range events {
		p.talk.Event(&events[i])
	}
	return p.Next()
}

// Event takes the next event, and prints what can be printed now.
func (p *Printer) Event(e *api.Event) error {
	for _, i := range p.talk.Event(e).Items {
		if i >= p.printed || i >= p.talk.Len() {
			continue
		}
		it := p.talk.Item(i)
		var err error
		switch {
		case !p.unfinished[it.ID]:
		case !going(it):
			delete(p.unfinished, it.ID)
			err = p.Print(it)
		case it.Question != nil && p.Changed != nil:
			err = p.Changed(it)
		}
		if err != nil {
			return err
		}
	}
	return p.Next()
}

// Next prints the items that can be printed now.
func (p *Printer) Next() error {
	p.printed = min(p.printed, p.talk.Len())
	for p.printed < p.talk.Len() {
		it := p.talk.Item(p.printed)
		if going(it) {
			if !p.Live || it.Streaming {
				return nil // what comes next has the rest
			}
			if p.unfinished == nil {
				p.unfinished = map[string]bool{}
			}
			p.unfinished[it.ID] = true
		}
		for _, q := range p.talk.QuestionsOf(p.printed) { // the answer comes before what it led to
			if err := p.asked(p.talk.Item(q)); err != nil {
				return err
			}
		}
		it = p.talk.Item(p.printed)
		p.printed++
		if p.early[it.ID] {
			delete(p.early, it.ID)
			continue
		}
		if err := p.Print(it); err != nil {
			return err
		}
	}
	return nil
}

// asked prints a question before the tool that it is about, unless it is still open.
func (p *Printer) asked(it *transcript.Item) error {
	if going(it) || p.early[it.ID] {
		return nil
	}
	if p.early == nil {
		p.early = map[string]bool{}
	}
	p.early[it.ID] = true
	return p.Print(it)
}

// going reports whether an item will change.
func going(it *transcript.Item) bool {
	return it.Streaming || it.Tool != nil && it.Tool.State == transcript.ToolRunning ||
		it.Question != nil && it.Question.State == api.QuestionOpen
}
