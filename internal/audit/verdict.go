package audit

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/terminal"
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

// Write writes a verdict for people, a line for each thing it says.
func (v *Verdict) Write(w io.Writer) error {
	var b strings.Builder
	switch {
	case v.Rule == nil && v.Decision == api.RuleAsk:
		b.WriteString("ask: no rule\n")
	default:
		fmt.Fprintf(&b, "%s\n", v.Decision)
	}
	if v.Rule != nil {
		fmt.Fprintf(&b, "rule: %s (%s)\n", v.Rule.Rule, where(v.Rule))
	}
	fmt.Fprintf(&b, "reason: %s\n", v.Reason)
	if v.Message != "" {
		fmt.Fprintf(&b, "the model is told: %s\n", v.Message)
	}
	if by := v.enforcer(); by != "" {
		fmt.Fprintf(&b, "enforced by: %s\n", by)
	}
	_, err := io.WriteString(w, terminal.Clean(b.String()))
	return err
}

// where says where a rule stands.
func where(r *api.RuleRef) string {
	if r.Source == "" {
		return r.Scope
	}
	return r.Scope + ", " + r.Source
}

// enforcer says in words who enforces a rule.
func (v *Verdict) enforcer() string {
	hub := "the hub, for what Claude Code asks"
	if v.Hook {
		hub = "the hub, which every call is brought to"
	}
	switch v.Enforced {
	case policy.EnforcedBoth:
		return "Claude Code itself, and " + hub
	case policy.EnforcedHub:
		return hub
	case "cli":
		return "Claude Code itself"
	default:
		return v.Enforced
	}
}
