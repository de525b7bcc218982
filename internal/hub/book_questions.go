package hub

import (
	"encoding/json"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A questionData is what is kept of a question beside the CLI's request: the data
// of its row.
type questionData struct {
	Answer   *api.Answer      `json:"answer,omitempty"`
	Plan     *api.Plan        `json:"plan,omitempty"`
	Rule     *api.RuleRef     `json:"rule,omitempty"`
	Stale    bool             `json:"stale,omitempty"`
	Deadline int              `json:"deadline,omitempty"`
	From     string           `json:"from,omitempty"`
	Delivery api.MessageState `json:"delivery,omitempty"`
}

// dataOf returns what is kept of a question.
func dataOf(row *journal.Question) questionData {
	var d questionData
	if len(row.Data) == 0 || json.Unmarshal(row.Data, &d) != nil {
		return questionData{}
	}
	if d.Answer == nil && row.State != string(api.QuestionOpen) {
		// Journals once held the answer itself here.
		if a := new(api.Answer); json.Unmarshal(row.Data, a) == nil && a.Decision != "" {
			d.Answer = a
		}
	}
	return d
}

// questionEntry folds the opening, a change or the end of a question.
func (b *book) questionEntry(e *journal.Entry, c *changes) error {
	var d settledData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	data, err := json.Marshal(questionData{
		Answer: d.Answer, Plan: d.Plan, Rule: d.Rule, Stale: d.Stale, Deadline: d.Deadline, From: d.From, Delivery: d.Delivery,
	})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(b.Questions, func(q journal.Question) bool { return q.ID == d.ID })
	switch {
	case e.Kind == api.KindQuestionOpened:
		if i >= 0 {
			return nil
		}
		q := journal.Question{
			ID: d.ID, Session: b.ID, Run: d.Run, RequestID: d.RequestID, Kind: string(d.Kind), State: string(api.QuestionOpen),
			Opened: e.Seq, Ask: slices.Clone(d.Request), OpenedAt: e.Time, Data: data,
		}
		b.Questions = append(b.Questions, q)
		c.question(q)
		return nil
	case i < 0:
		b.settledLate(d, c)
		return nil
	case e.Kind == api.KindQuestionChanged:
		b.Questions[i].Data = data
		c.question(b.Questions[i])
		return nil
	}
	q := b.Questions[i]
	q.State, q.Settled, q.SettledAt, q.By, q.Reason = string(d.State), e.Seq, e.Time, e.By, d.Reason
	q.Answer, q.Data = slices.Clone(d.Line), data
	b.Questions = slices.Delete(b.Questions, i, i+1)
	if d.Intent != nil {
		b.Intent = d.Intent
	}
	if d.Kind == api.QuestionPlan {
		b.Outline.settled(&d.Question, e)
	}
	if q.State == string(api.QuestionAnswered) {
		b.remember(q)
	}
	c.question(q)
	return nil
}

// remember keeps an answered question, whose answer may have to be sent again. One
// whose answer is under way is forgotten last: else nobody would be told that it
// has arrived.
func (b *book) remember(q journal.Question) {
	b.Recent = append(b.Recent, q)
	size := 0
	for i := range b.Recent {
		size += recentSize(&b.Recent[i])
	}
	for len(b.Recent) > mostRecent || size > mostRecentBytes && len(b.Recent) > 1 {
		i := slices.IndexFunc(b.Recent[:len(b.Recent)-1], func(q journal.Question) bool { return !b.underWay(&q) })
		if i < 0 {
			if len(b.Recent) <= mostUnderWay && size <= mostUnderWayBytes {
				return
			}
			i = 0
		}
		size -= recentSize(&b.Recent[i])
		b.Recent = slices.Delete(b.Recent, i, i+1)
	}
}

// recentSize is what a question counts among those that are remembered.
func recentSize(q *journal.Question) int { return len(q.Ask) + len(q.Answer) + len(q.Data) }

// underWay reports whether the answer to a question may still arrive.
func (b *book) underWay(q *journal.Question) bool {
	d := dataOf(q)
	return q.Run == b.Run && (d.Delivery == api.MessageSent || d.Delivery == api.MessageQueued)
}

// delivered folds how far an answer has come.
func (b *book) delivered(requestID string, state api.MessageState, c *changes) {
	q := b.recent(requestID)
	if q == nil {
		return
	}
	d := dataOf(q)
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
func (b *book) settledLate(d settledData, c *changes) {
	i := slices.IndexFunc(b.Recent, func(q journal.Question) bool { return q.ID == d.ID })
	if i < 0 {
		return
	}
	q := b.Recent[i]
	q.State, q.Reason = string(d.State), d.Reason
	b.Recent = slices.Delete(b.Recent, i, i+1)
	c.question(q)
}

// rule folds the beginning or the end of a rule of the session's own.
func (b *book) rule(e *journal.Entry) error {
	if e.Kind == api.KindRuleAdded {
		var r api.SessionRule
		if err := json.Unmarshal(e.Data, &r); err != nil {
			return err
		}
		b.Rules = append(slices.Clip(b.Rules), r)
		return nil
	}
	var r api.RuleRemoved
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	b.Rules = slices.DeleteFunc(slices.Clone(b.Rules), func(v api.SessionRule) bool { return v.ID == r.ID })
	return nil
}
