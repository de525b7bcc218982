package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// preferenceRoutes are about what new sessions of the client's person begin with.
func (s *Server) preferenceRoutes(h huma.API) {
	tags := []string{"preferences"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-preferences", Method: http.MethodGet, Path: "/v1/preferences",
		Summary: "Show what your new sessions begin with", Tags: tags,
		Description: "Your own alone. The member effective says what holds in the folder dir: what you prefer there, then what you prefer in all folders. " +
			"A client applies it to what its create-session leaves open.",
	}, func(ctx context.Context, in *struct {
		Dir string `query:"dir" maxLength:"4096" doc:"A folder, an absolute path"`
	},
	) (*answer[api.PreferenceList], error) {
		return reply(s.hub.Preferences(ctx, person(ctx), in.Dir))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "save-preferences", Method: http.MethodPut, Path: "/v1/preferences",
		Summary: "Remember what your new sessions begin with", Tags: tags,
		Description: "In a folder, or in all folders without dir. Replaces what was remembered there; an empty request forgets it. The mode bypassPermissions is rejected: choose it for each session.",
	}, func(ctx context.Context, in *struct{ Body api.SavePreferences }) (*answer[api.SavedPreferences], error) {
		return reply(s.hub.SavePreferences(ctx, actor(ctx), person(ctx), in.Body))
	}, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "forget-preferences", Method: http.MethodDelete, Path: "/v1/preferences",
		Summary: "Forget what your new sessions begin with", Tags: tags,
		Description: "What you prefer in the folder dir; without dir, what you prefer in all folders, and folders keep their own. With all, everything.",
	}, func(ctx context.Context, in *struct {
		Dir string `query:"dir" maxLength:"4096" doc:"A folder, an absolute path"`
		All bool   `query:"all" doc:"Everything that is remembered for you"`
	},
	) (*answer[api.ForgottenPreferences], error) {
		return reply(s.hub.ForgetPreferences(ctx, actor(ctx), person(ctx), in.Dir, in.All))
	}, api.CodeStorage)
}

// person returns the person that makes a request.
func person(ctx context.Context) string {
	id, _ := access.From(ctx) // admit has seen to it that there is one
	return id.Person()
}
