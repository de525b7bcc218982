package answer

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// describeHost fills in what a process in a sandbox asks.
func describeHost(q *api.Question, r *wire.CanUseToolRequest) {
	q.Title = wire.ActionTitle(r.ToolName, r.Input) + "?"
	if command, _ := wire.LookupString(r.Input, "command"); command != "" {
		q.Description = command
	}
	if len(r.PermissionSuggestions) > 0 {
		return
	}
	if rule := suggestedHost(r); rule != "" {
		update, _ := json.Marshal(map[string]any{ //nolint:errchkjson // plain data
			"type": "addRules", "rules": []any{ruleOf(rule)}, "behavior": wire.RuleBehaviorAllow, "destination": wire.UpdateDestinationSession,
		})
		q.Suggestions = []api.Suggestion{{Text: "allow " + rule, Update: update, Destination: string(wire.UpdateDestinationSession)}}
	}
}

// suggestedHost returns the rule about the host that is asked about, "" if no rule can
// name it.
func suggestedHost(r *wire.CanUseToolRequest) string {
	host, _ := wire.LookupString(r.Input, "host")
	return policy.NetworkRule(host)
}

// HostRule returns the rule of an update that allows a host in the session, "" for
// others.
func HostRule(u wire.PermissionUpdate) string {
	add, ok := u.(*wire.AddRules)
	if !ok || add.Behavior != wire.RuleBehaviorAllow || add.Destination != wire.UpdateDestinationSession || len(add.Rules) != 1 {
		return ""
	}
	if rule := textOf(add.Rules[0]); isHostRule(rule) {
		return rule
	}
	return ""
}

// isHostRule reports whether a rule is about hosts. The CLI knows none of these.
func isHostRule(rule string) bool {
	return (rule == "Network" || strings.HasPrefix(rule, "Network(")) && policy.CheckRule(rule) == nil
}

// hostAlways returns the rule of ours that allows a host from now on, where that is
// what always asks for. A rule of the client's own needs the scope admin; that which
// the question suggests does not, as with the CLI's own suggestions.
func hostAlways(admin bool, ask *wire.ControlRequest, request *wire.CanUseToolRequest, in *api.Always) (rule string, ours bool, err error) {
	shims := wire.IsSandboxRequest(ask.RequestID)
	suggested := request.ToolName == policy.ToolNetwork && in.Suggestion != nil && (shims || len(request.PermissionSuggestions) == 0)
	if !suggested && !shims && !isHostRule(in.Rule) {
		return "", false, nil
	}
	switch in.Destination {
	case "", string(wire.UpdateDestinationSession), destinationOwn:
	default:
		return "", true, record.Unfit("always: Claude Code keeps no rules about hosts; use destination switchboard, or add the rule to the rules file")
	}
	if suggested {
		rule, err = suggestion(request, *in.Suggestion)
		return rule, true, err
	}
	if !admin {
		return "", true, api.Errorf(http.StatusForbidden, api.CodeForbidden, "a rule that allows needs the scope admin")
	}
	return in.Rule, true, CheckRule(in.Rule, api.RuleAllow)
}

// suggestion returns one of the rules that a question about a host suggests: those of
// the request, or else that about the host.
func suggestion(request *wire.CanUseToolRequest, n int) (string, error) {
	rules := []string{suggestedHost(request)}
	if list := request.PermissionSuggestions; len(list) > 0 {
		rules = rules[:0]
		for _, u := range list {
			rules = append(rules, HostRule(u))
		}
	}
	if n < 0 || n >= len(rules) || rules[n] == "" {
		return "", record.Unfit("always: there is no suggestion %d that could be taken", n)
	}
	return rules[n], nil
}
