package rulefile

import (
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// Status says which rules are in force, and what is the matter with the file.
func (b *Book) Status() api.Policy {
	b.mu.Lock()
	engine, waits := b.inForce, b.pending
	status := api.Policy{File: b.options.File, Missing: b.seen.missing, Loaded: b.loaded, Problem: b.problem}
	b.mu.Unlock()

	status.Enforce = engine.Enforce()
	status.Rules = list(engine)
	if waits != nil {
		change := waits.change
		change.Widens = slices.Clone(change.Widens)
		status.Pending = &change
	}
	return status
}

// list returns all rules of an engine.
func list(engine *policy.Engine) []api.PolicyRule {
	rules := engine.Rules("")
	out := make([]api.PolicyRule, 0, len(rules))
	for i := range rules {
		r := &rules[i]
		out = append(out, api.PolicyRule{
			Rule: r.Text, Decision: api.RuleDecision(r.Decision), Scope: string(r.Scope), Source: r.Source, Message: r.Message, Expires: r.Expires,
			Enforced: policy.Enforced(*r),
		})
	}
	return out
}
