package report

import (
	"context"
	"encoding/json"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxAudited is how many decisions are looked at for one page.
const maxAudited = 5000

// Audit lists what was decided about what agents wanted to do, the newest first:
// by rules, by a person, by a sandbox, or not at all since it was not asked any more. A page of
// a selection may have fewer items than asked for although there are more.
func (p *Reports) Audit(ctx context.Context, f api.AuditFilter) (*api.Audit, error) {
	limit := limited(f.Limit, 100, 500)
	out := &api.Audit{Items: []api.AuditItem{}, Next: f.Cursor}
	for looked := 0; ; {
		page, err := p.journal.Decisions(ctx, journal.DecisionQuery{
			Session: f.Session, Since: f.Since, Cursor: out.Next, Limit: limit - len(out.Items),
		})
		if err != nil {
			return nil, p.problem(err, f.Session)
		}
		for i := range page.Entries {
			e := &page.Entries[i]
			if item, ok := auditItem(e, page.Epochs[e.Session], f.Automatic); ok && (!f.Refused || item.Refusal != nil) {
				out.Items = append(out.Items, item)
			}
		}
		out.Next = page.Next
		looked += len(page.Entries)
		if out.Next == "" || len(out.Items) >= limit || looked >= maxAudited {
			return out, nil
		}
	}
}

// auditItem makes an item of an entry, if it is one that is wanted.
func auditItem(e *journal.Entry, epoch string, automatic *bool) (api.AuditItem, bool) {
	item := api.AuditItem{Session: e.Session, EventID: record.EventID(epoch, e.Seq), Time: e.Time, By: e.By, Source: string(e.Source)}
	byRule, bySomebody := false, false
	switch e.Kind {
	case api.KindDecision:
		var d api.Decision
		if json.Unmarshal(e.Data, &d) != nil {
			return item, false
		}
		byRule = true
		item.Decision, item.Tool, item.Title = string(d.Rule.Decision), d.Tool, wire.ActionTitle(d.Tool, d.Input)
		item.Rule, item.Reason = &d.Rule, d.Rule.Reason
	case api.KindSandboxRefused:
		r := new(api.SandboxRefusal)
		if json.Unmarshal(e.Data, r) != nil {
			return item, false
		}
		byRule = r.Rule != nil
		item.Decision, item.Title, item.Rule, item.Reason, item.Refusal = "refused", r.Path, r.Rule, r.Reason, r
		if r.Host != "" {
			item.Tool = policy.ToolNetwork
			item.Title = wire.ActionTitle(item.Tool, hostInput(r))
		}
		if item.Title == "" {
			item.Title = r.Reason // of many at once
		}
		if r.Rule != nil && item.Reason == "" {
			item.Reason = r.Rule.Reason
		}
	case api.KindQuestionSettled:
		var q api.Question
		if json.Unmarshal(e.Data, &q) != nil {
			return item, false
		}
		byRule = ruled(&q)
		bySomebody = q.State != api.QuestionCancelled && (q.From == string(journal.SourcePerson) || q.From == string(journal.SourceProgram))
		item.Decision, item.Tool, item.Title, item.Question = outcomeOf(&q), q.Tool, inOneLine(q.Title), q.ID
		item.By, item.Reason = q.By, q.Reason
		if q.From != "" {
			item.Source = q.From
		}
		if byRule {
			item.Rule = q.Rule
		}
		if a := q.Answer; a != nil && item.Reason == "" {
			item.Reason = a.Message
			if a.Note != "" {
				item.Reason = a.Note
			}
		}
	}
	if item.Source == "" {
		item.Source = string(journal.SourceHub)
	}
	if automatic != nil && (*automatic && !byRule || !*automatic && !bySomebody) {
		return item, false
	}
	return item, true
}

// hostInput returns a refused connection as the input of the tool by which it is asked
// about.
func hostInput(r *api.SandboxRefusal) json.RawMessage {
	input, _ := json.Marshal(map[string]any{"host": r.Host, "port": r.Port}) //nolint:errchkjson // plain data
	return input
}

// ruled reports whether a rule has answered a question.
func ruled(q *api.Question) bool {
	return q.Rule != nil && q.From == string(journal.SourceHub) && q.State != api.QuestionCancelled && q.Answer != nil
}

// outcomeOf says in a word how a question was settled.
func outcomeOf(q *api.Question) string {
	a := q.Answer
	switch {
	case q.State == api.QuestionCancelled:
		return string(api.QuestionCancelled)
	case a == nil:
		return string(q.State)
	case a.Outcome != "":
		return string(a.Outcome)
	default:
		return a.Decision
	}
}
