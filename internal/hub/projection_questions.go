package hub

import (
	"encoding/json"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A questionProjection is what people are asked: the one table of questions that the hub
// reads. What the CLI waits for is another thing. The reducer of lines keeps that
// ([fold.Questions]), and the hub learns of it by changes alone, see step.react: a plan
// outlives the process that asked, a hook is held open of which the reducer knows
// nothing, and an answer that the CLI throws away has settled a question for people.
type questionProjection struct {
	// Questions holds the open ones.
	Questions []journal.Question `json:"questions,omitempty"`
	// Recent holds those that were answered in this run, whose answers may have
	// to be sent again.
	Recent []journal.Question `json:"recent,omitempty"`
}

// maxRecent and maxRecentBytes are how many answered questions a projection
// remembers, maxUnderWay and maxUnderWayBytes how many whose answers have not
// arrived.
const (
	maxRecent        = 64
	maxRecentBytes   = 256 << 10
	maxUnderWay      = 4096
	maxUnderWayBytes = 16 << 20
)

// questionEntry folds the opening, a change or the end of a question.
func (p *projection) questionEntry(e *journal.Entry, c *changes) error {
	var d settledData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	data, err := json.Marshal(answer.Data{
		Answer: d.Answer, Plan: d.Plan, Rule: d.Rule, Stale: d.Stale, Deadline: d.Deadline, From: d.From, Delivery: d.Delivery,
	})
	if err != nil {
		return err
	}
	i := p.questionIndex(d.ID)
	switch {
	case e.Kind == api.KindQuestionOpened:
		if i >= 0 {
			return nil
		}
		q := journal.Question{
			ID: d.ID, Session: p.ID, Run: d.Run, RequestID: d.RequestID, Kind: string(d.Kind), State: string(api.QuestionOpen),
			Opened: e.Seq, Ask: slices.Clone(d.Request), OpenedAt: e.Time, Data: data,
		}
		p.Questions = append(p.Questions, q)
		c.question(q)
		return nil
	case i < 0:
		p.settledLate(d, c)
		return nil
	case e.Kind == api.KindQuestionChanged:
		p.Questions[i].Data = data
		c.question(p.Questions[i])
		return nil
	}
	q := p.Questions[i]
	q.State, q.Settled, q.SettledAt, q.By, q.Reason = string(d.State), e.Seq, e.Time, e.By, d.Reason
	q.Answer, q.Data = slices.Clone(d.Line), data
	p.Questions = slices.Delete(p.Questions, i, i+1)
	if d.Intent != nil {
		p.Intent = d.Intent
	}
	if d.Kind == api.QuestionPlan {
		p.Outline.settled(&d.Question, e)
	}
	if q.State == string(api.QuestionAnswered) {
		p.remember(q)
	}
	c.question(q)
	return nil
}

// questionIndex returns the place of an open question, -1 if it is not open.
func (p *projection) questionIndex(id string) int {
	return slices.IndexFunc(p.Questions, func(q journal.Question) bool { return q.ID == id })
}

// question returns an open question.
func (p *projection) question(id string) (row journal.Question, open bool) {
	i := p.questionIndex(id)
	if i < 0 {
		return journal.Question{}, false
	}
	return p.Questions[i], true
}

// asked returns the open question that a request of this run's CLI asks.
func (p *projection) asked(requestID string) (row journal.Question, open bool) {
	for _, q := range p.Questions {
		if q.RequestID == requestID && q.Run == p.Run {
			return q, true
		}
	}
	return journal.Question{}, false
}

// recent returns the question with this request id that was answered in this
// run, nil if there is none.
func (p *projection) recent(requestID string) *journal.Question {
	for i := range p.Recent {
		if p.Recent[i].RequestID == requestID && p.Recent[i].Run == p.Run {
			return &p.Recent[i]
		}
	}
	return nil
}

// remember keeps an answered question, whose answer may have to be sent again. One
// whose answer is under way is forgotten last: else no client would be told that it
// has arrived.
func (p *projection) remember(q journal.Question) {
	p.Recent = append(p.Recent, q)
	size := 0
	for i := range p.Recent {
		size += recentSize(&p.Recent[i])
	}
	for len(p.Recent) > maxRecent || size > maxRecentBytes && len(p.Recent) > 1 {
		i := slices.IndexFunc(p.Recent[:len(p.Recent)-1], func(q journal.Question) bool { return !p.underWay(&q) })
		if i < 0 {
			if len(p.Recent) <= maxUnderWay && size <= maxUnderWayBytes {
				return
			}
			i = 0
		}
		size -= recentSize(&p.Recent[i])
		p.Recent = slices.Delete(p.Recent, i, i+1)
	}
}

// recentSize is what a question counts among those that are remembered.
func recentSize(q *journal.Question) int { return len(q.Ask) + len(q.Answer) + len(q.Data) }

// underWay reports whether the answer to a question may still arrive.
func (p *projection) underWay(q *journal.Question) bool {
	d := answer.DataOf(q)
	return q.Run == p.Run && (d.Delivery == api.MessageSent || d.Delivery == api.MessageQueued)
}

// delivered folds how far an answer has come.
func (p *projection) delivered(requestID string, state api.MessageState, c *changes) {
	q := p.recent(requestID)
	if q == nil {
		return
	}
	d := answer.DataOf(q)
	if d.Delivery == state || d.Delivery == api.MessageWritten {
		return // it was written before; a second time changes nothing
	}
	d.Delivery = state
	data, err := json.Marshal(d)
	if err != nil {
		return
	}
	q.Data = data
	c.question(*q)
}

// settledLate folds that an answer came too late to count.
func (p *projection) settledLate(d settledData, c *changes) {
	i := slices.IndexFunc(p.Recent, func(q journal.Question) bool { return q.ID == d.ID })
	if i < 0 {
		return
	}
	q := p.Recent[i]
	q.State, q.Reason = string(d.State), d.Reason
	p.Recent = slices.Delete(p.Recent, i, i+1)
	c.question(q)
}

// rule folds the beginning or the end of a rule of the session's own.
func (p *projection) rule(e *journal.Entry) error {
	if e.Kind == api.KindRuleAdded {
		var r api.SessionRule
		if err := json.Unmarshal(e.Data, &r); err != nil {
			return err
		}
		p.Rules = append(slices.Clip(p.Rules), r)
		return nil
	}
	var r api.RuleRemoved
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(v api.SessionRule) bool { return v.ID == r.ID })
	return nil
}
