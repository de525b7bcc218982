package audit

import (
	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// A Verdict is a decision in the form in which programs are told.
type Verdict struct {
	// Decision is allow, ask or deny. Where no rule says anything it is ask: the CLI decides whether it asks, and then a person answers.
	Decision api.RuleDecision `json:"decision"`
	// Rule is the one that decided; nil if none did.
	Rule *api.RuleRef `json:"rule"`
	// Reason says why, in one sentence.
	Reason string `json:"reason"`
	// Message is what the model is told, with deny.
	Message string `json:"message,omitempty"`
	// Enforced says who sees to it: cli, hub, both, or nobody. The hub decides about what the CLI asks and, with Hook, about every call.
	Enforced string `json:"enforced,omitempty"`
	Hook     bool   `json:"hook,omitempty"`
}

// Judge has an engine decide about a call.
func Judge(engine *policy.Engine, call policy.Call) Verdict {
	v := engine.Decide(call)
	out := Verdict{Decision: api.RuleDecision(v.Decision), Reason: v.Reason, Message: v.Message, Enforced: v.Enforced, Hook: engine.Enforce() == policy.EnforceHook}
	if v.Decision == "" {
		out.Decision = api.RuleAsk
	}
	if v.Rule != nil {
		out.Rule = &api.RuleRef{Rule: v.Rule.Text, Decision: api.RuleDecision(v.Rule.Decision), Scope: string(v.Rule.Scope), Source: v.Rule.Source, ID: v.Rule.ID}
	}
	return out
}
