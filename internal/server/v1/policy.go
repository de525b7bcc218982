package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// OfRule is a request about a rule of a session.
type OfRule struct {
	OfSession
	Rule string `path:"rule" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"The rule's id" example:"r4h2m6"`
}

// policyRoutes are about what agents may do, and how much.
func (s *Server) policyRoutes(h huma.API) {
	tags := []string{"rules"}
	operation(s, h, wire.ScopeApprove, huma.Operation{
		OperationID: "add-rule", Method: http.MethodPost, Path: "/v1/sessions/{id}/rules",
		Summary: "Add a rule to a session", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "A rule that allows, and the rule *, need the scope admin.",
	}, func(ctx context.Context, in *about[api.AddRule]) (*answer[api.SessionRule], error) {
		if _, e := access.Require(ctx, scopeOfRule(in.Body)); e != nil {
			return nil, e
		}
		return reply(s.hub.AddRule(ctx, actor(ctx), in.ID, in.Body))
	}, api.CodeClientIDReused, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeApprove, huma.Operation{
		OperationID: "remove-rule", Method: http.MethodDelete, Path: "/v1/sessions/{id}/rules/{rule}",
		Summary: "Remove a rule from a session", Tags: tags,
		Description: "To remove one that denies or asks needs the scope admin: more is allowed without it.",
	}, func(ctx context.Context, in *OfRule) (*answer[api.SessionRule], error) {
		return reply(s.hub.RemoveRule(ctx, actor(ctx), in.ID, in.Rule))
	}, api.CodeStorage)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-policy", Method: http.MethodGet, Path: "/v1/policy",
		Summary: "Show the rules that are in force for all sessions", Tags: tags,
		Description: "Those of the rules file, of built-in sets and of this server itself, and a change of the file that waits for confirmation.",
	}, func(ctx context.Context, _ *none) (*answer[api.Policy], error) {
		return reply(listed(s.hub.Policy(ctx)))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "confirm-policy", Method: http.MethodPost, Path: "/v1/policy/confirm",
		Summary: "Confirm a change of the rules file that allows more", Tags: tags,
		Description: "A sum that is not that of the change that waits is refused with the code conflict: look again at what it would allow.",
	}, func(ctx context.Context, in *struct{ Body api.ConfirmPolicy }) (*answer[api.Policy], error) {
		return reply(listed(s.hub.ConfirmPolicy(ctx, actor(ctx), in.Body)))
	}, api.CodeConflict, api.CodeStorage)
	s.fileRoutes(h, tags)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "release-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/release",
		Summary: "Let a session go on that a budget or a rate limit holds back", Tags: []string{"sessions"},
		Description: "Without a body everything that holds it back is released, and a budget gets as much again as it has.",
	}, func(ctx context.Context, in *optional[api.Release]) (*answer[api.Session], error) {
		return reply(s.hub.Release(ctx, actor(ctx), in.ID, value(in.Body)))
	}, api.CodeConflict, api.CodeClientIDReused, api.CodeStorage)
}

// maxRules is how long a request with the text of a rules file may be. Escapes
// make it longer than the text itself.
const maxRules = 4 << 20

// fewAtOnce says how many requests of the two that judge calls may be under way.
const fewAtOnce = "Of explain-call and test-rules a token may have four under way; more are refused with the code too_many."

// fileRoutes are about the rules file.
func (s *Server) fileRoutes(h huma.API, tags []string) {
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "get-rules-file", Method: http.MethodGet, Path: "/v1/policy/file",
		Summary: "Show the text of the rules file", Tags: tags,
		Description: "With its hash, which replace-rules-file wants to see.",
	}, func(ctx context.Context, _ *none) (*answer[api.RulesFile], error) {
		return reply(s.hub.RulesFile(ctx))
	}, api.CodeNotFound, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "replace-rules-file", Method: http.MethodPut, Path: "/v1/policy/file",
		Summary: "Put another text into the rules file", Tags: tags, MaxBodyBytes: maxRules,
		Description: "hash is that of the text that you have seen: if somebody has changed the file since, the code is conflict. " +
			"A text that is wrong is refused with the line. What allows more than before waits for confirm-policy.",
	}, func(ctx context.Context, in *struct{ Body api.ReplaceRules }) (*answer[api.Policy], error) {
		return reply(listed(s.hub.ReplaceRules(ctx, actor(ctx), in.Body)))
	}, api.CodeNotFound, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "explain-call", Method: http.MethodPost, Path: "/v1/policy/explain",
		Summary: "Say what the rules would decide about a call, and why", Tags: tags, Description: "Nothing is done. " + fewAtOnce,
		Middlewares: huma.Middlewares{s.judge.middleware},
	}, func(ctx context.Context, in *struct{ Body api.ExplainCall }) (*answer[api.Decision], error) {
		return reply(judging(ctx, s.judge, func() (*api.Decision, error) { return s.hub.Explain(ctx, in.Body) }))
	}, api.CodeNotFound, api.CodeTooMany)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "test-rules", Method: http.MethodPost, Path: "/v1/policy/test",
		Summary: "Say what rules would have decided about the calls of sessions", Tags: tags,
		Description: "Nothing is changed. A great many calls are not all looked at; then incomplete says so. " + fewAtOnce,
		Middlewares: huma.Middlewares{s.judge.middleware},
	}, func(ctx context.Context, in *struct {
		Body *api.TestRules `required:"false"`
	},
	) (*answer[api.RulesTested], error) {
		return reply(judging(ctx, s.judge, func() (*api.RulesTested, error) { return s.hub.TestRules(ctx, value(in.Body)) }))
	}, api.CodeNotFound, api.CodeTooMany)
}

// scopeOfRule returns the right that is needed to add a rule: whoever may answer
// questions may have more of them asked or denied, but not fewer. The hub, which
// alone knows what a rule does, looks at it again.
func scopeOfRule(in api.AddRule) wire.Scope {
	if in.Decision == api.RuleAllow || in.Rule == "*" {
		return wire.ScopeAdmin
	}
	return wire.ScopeApprove
}

// listed sees to it that lists are lists, even if they are empty.
func listed(p *api.Policy, err error) (*api.Policy, error) {
	if err != nil {
		return nil, err
	}
	if p.Rules == nil {
		p.Rules = []api.PolicyRule{}
	}
	if p.Pending != nil && p.Pending.Widens == nil {
		p.Pending.Widens = []string{}
	}
	return p, nil
}
