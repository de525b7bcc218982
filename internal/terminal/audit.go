package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// widest is how wide a column may become, in runes.
const widest = 60

// WriteAudit writes findings for people: a line each, and what they add up to.
func WriteAudit(w io.Writer, a *audit.Audit) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "LINE\tTOOL\tINPUT\tDECISION\tRULE\tHAPPENED")
	for _, f := range a.Findings() {
		rule := "-"
		if f.Rule != nil {
			rule = f.Rule.Rule
		}
		happened := strings.ReplaceAll(f.Happened, "_", " ")
		if f.By != "" {
			happened += " by " + f.By
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", f.Line, cell(f.Tool), cell(f.Title), f.Decision, cell(rule), cell(happened))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+a.Summary().String())
	return err
}

// cell makes a text, which may be an agent's, fit for a column.
func cell(text string) string {
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if runes := []rune(text); len(runes) > widest {
		text = string(runes[:widest-1]) + "…"
	}
	if text == "" {
		return "-"
	}
	return text
}

// WriteVerdict writes a verdict for people, a line for each thing it says.
func WriteVerdict(w io.Writer, v *audit.Verdict) error {
	var b strings.Builder
	switch {
	case v.Rule == nil && v.Decision == api.RuleAsk:
		b.WriteString("ask: no rule\n")
	default:
		fmt.Fprintf(&b, "%s\n", v.Decision)
	}
	if v.Rule != nil {
		fmt.Fprintf(&b, "rule: %s (%s)\n", v.Rule.Rule, standing(v.Rule))
	}
	fmt.Fprintf(&b, "reason: %s\n", v.Reason)
	if v.Message != "" {
		fmt.Fprintf(&b, "shown to the model: %s\n", v.Message)
	}
	if by := enforcer(v); by != "" {
		fmt.Fprintf(&b, "enforced by: %s\n", by)
	}
	_, err := io.WriteString(w, Clean(b.String()))
	return err
}

// standing says where a rule stands.
func standing(r *api.RuleRef) string {
	if r.Source == "" {
		return r.Scope
	}
	return r.Scope + ", " + r.Source
}

// enforcer names the program that enforces a rule, in words.
func enforcer(v *audit.Verdict) string {
	hub := "the hub, for what Claude Code asks"
	if v.Hook {
		hub = "the hub, which sees every call"
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
