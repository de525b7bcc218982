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
		Description: "Removing a rule that denies or asks needs the scope admin, since it allows more.",
	}, func(ctx context.Context, in *OfRule) (*answer[api.SessionRule], error) {
		return reply(s.hub.RemoveRule(ctx, actor(ctx), in.ID, in.Rule))
	}, api.CodeStorage)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-policy", Method: http.MethodGet, Path: "/v1/policy",
		Summary: "Show the rules in force for all sessions", Tags: tags,
		Description: "From the rules file, built-in sets and the hub itself, with a change of the file that waits for confirmation.",
	}, func(ctx context.Context, _ *none) (*answer[api.Policy], error) {
		return reply(listed(s.hub.Policy(ctx)))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "confirm-policy", Method: http.MethodPost, Path: "/v1/policy/confirm",
		Summary: "Confirm a change of the rules file that allows more", Tags: tags,
		Description: "If the sum is not that of the pending change, the code is conflict: check again what it would allow.",
	}, func(ctx context.Context, in *struct{ Body api.ConfirmPolicy }) (*answer[api.Policy], error) {
		return reply(listed(s.hub.ConfirmPolicy(ctx, actor(ctx), in.Body)))
	}, api.CodeConflict, api.CodeStorage)
	s.fileRoutes(h, tags)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "release-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/release",
		Summary: "Release a session held by a budget or a rate limit", Tags: []string{"sessions"},
		Description: "Without a body all holds are released, and each budget gets its amount once more.",
	}, func(ctx context.Context, in *optional[api.Release]) (*answer[api.Session], error) {
		return reply(s.hub.Release(ctx, actor(ctx), in.ID, value(in.Body)))
	}, api.CodeConflict, api.CodeClientIDReused, api.CodeStorage)
}

// maxRules is how long a request with the text of a rules file may be. Escapes
// make it longer than the text itself.
const maxRules = 4 << 20

// fewAtOnce says how many requests of the two that judge calls may be under way.
const fewAtOnce = "A token may run four of explain-call and test-rules at a time; more get the code too_many."

// fileRoutes are about the rules file.
func (s *Server) fileRoutes(h huma.API, tags []string) {
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "get-rules-file", Method: http.MethodGet, Path: "/v1/policy/file",
		Summary: "Show the text of the rules file", Tags: tags,
		Description: "With its hash, which replace-rules-file needs.",
	}, func(ctx context.Context, _ *none) (*answer[api.RulesFile], error) {
		return reply(s.hub.RulesFile(ctx))
	}, api.CodeNotFound, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "replace-rules-file", Method: http.MethodPut, Path: "/v1/policy/file",
		Summary: "Replace the text of the rules file", Tags: tags, MaxBodyBytes: maxRules,
		Description: "hash is that of the text you have read: if the file has changed since, the code is conflict. " +
			"Invalid rules are rejected with the line number. Rules that allow more than before wait for confirm-policy.",
	}, func(ctx context.Context, in *struct{ Body api.ReplaceRules }) (*answer[api.Policy], error) {
		return reply(listed(s.hub.ReplaceRules(ctx, actor(ctx), in.Body)))
	}, api.CodeNotFound, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "explain-call", Method: http.MethodPost, Path: "/v1/policy/explain",
		Summary: "Explain what the rules decide about a call", Tags: tags, Description: "Changes nothing. " + fewAtOnce,
		Middlewares: huma.Middlewares{s.judge.middleware},
	}, func(ctx context.Context, in *struct{ Body api.ExplainCall }) (*answer[api.Decision], error) {
		return reply(judging(ctx, s.judge, func() (*api.Decision, error) { return s.hub.Explain(ctx, in.Body) }))
	}, api.CodeNotFound, api.CodeTooMany)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "test-rules", Method: http.MethodPost, Path: "/v1/policy/test",
		Summary: "Replay the calls of sessions against rules", Tags: tags,
		Description: "Changes nothing. If there are too many calls to check, incomplete says so. " + fewAtOnce,
		Middlewares: huma.Middlewares{s.judge.middleware},
	}, func(ctx context.Context, in *struct {
		Body *api.TestRules `required:"false"`
	},
	) (*answer[api.RulesTested], error) {
		return reply(judging(ctx, s.judge, func() (*api.RulesTested, error) { return s.reports.TestRules(ctx, value(in.Body)) }))
	}, api.CodeNotFound, api.CodeTooMany)
}

// scopeOfRule returns the right that is needed to add a rule: a client that may answer
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
