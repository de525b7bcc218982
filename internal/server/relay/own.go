package relay

import "sync"

// mostOwn is how many prompts and answers of a front end are remembered until they
// are seen in the log. It bounds memory; who has more under way is shown one of
// them as if it were another's.
const mostOwn = 1024

// An own is what a front end has said and has not been seen in the log yet: it is
// not shown to the one that it is from. The zero value is ready to use. Its
// methods are safe for concurrent use.
type own struct {
	mu      sync.Mutex
	prompts map[string]struct{}      // by uuid
	answers map[question]*ownAnswers // by what they answer
}

// ownAnswers are the answers of one front end to one question.
type ownAnswers struct {
	under   int  // under way
	won     bool // one was accepted
	settled bool // that the question is settled was seen while one was under way
}

// prompt notes that a prompt is about to be sent.
func (o *own) prompt(uuid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.prompts == nil {
		o.prompts = map[string]struct{}{}
	}
	for old := range o.prompts {
		if len(o.prompts) < mostOwn {
			break
		}
		delete(o.prompts, old)
	}
	o.prompts[uuid] = struct{}{}
}

// mine reports whether a prompt is one of the front end's own, once.
func (o *own) mine(uuid string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, mine := o.prompts[uuid]
	delete(o.prompts, uuid)
	return mine
}

// answer notes that an answer is about to be given.
func (o *own) answer(q question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.answers[q]
	if a == nil {
		if o.answers == nil {
			o.answers = map[question]*ownAnswers{}
		}
		for old, a := range o.answers {
			if len(o.answers) < mostOwn {
				break
			}
			if a.under == 0 {
				delete(o.answers, old)
			}
		}
		a = &ownAnswers{}
		o.answers[q] = a
	}
	a.under++
}

// answered notes what became of an answer. It reports whether the front end has
// to be told now that somebody else has settled the question.
func (o *own) answered(q question, won bool) (tell bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.answers[q]
	if a == nil {
		return false
	}
	a.under--
	a.won = a.won || won
	if a.under > 0 || a.won && !a.settled {
		return false
	}
	delete(o.answers, q)
	return a.settled && !a.won
}

// settled notes that a question was settled. It reports whether that was the front
// end itself, or cannot be told before its answer is through.
func (o *own) settled(q question) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.answers[q]
	if a == nil {
		return false
	}
	if a.settled = true; a.under == 0 {
		delete(o.answers, q)
	}
	return true
}
