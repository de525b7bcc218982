package v1

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// Tokens keeps the tokens of a server; *[access.Book] does. Errors that are meant
// for the client are *[api.Error].
type Tokens interface {
	// List returns all tokens.
	List(ctx context.Context) ([]api.Token, error)
	// Create makes one. Its text is in the answer alone.
	Create(ctx context.Context, in api.CreateToken) (*api.CreatedToken, error)
	// Revoke ends one, and what is open in its name.
	Revoke(ctx context.Context, id string) error
	// Code makes a one-time code, Login exchanges one for a token. A wrong one is
	// answered after a while.
	Code(ctx context.Context, in api.CreateCode) (*api.Code, error)
	Login(ctx context.Context, in api.Login) (*api.CreatedToken, error)
}

// noTokens is the answer of a server that keeps none.
func noTokens() *api.Error {
	e := api.Errorf(http.StatusNotFound, api.CodeNotFound, "This hub has no tokens")
	e.Hint = "Start the server with a data folder."
	return e
}

// accessRoutes are about who may do what.
func (s *Server) accessRoutes(h huma.API) {
	tags := []string{"access"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "list-tokens", Method: http.MethodGet, Path: "/v1/tokens",
		Summary: "List the tokens", Tags: tags, Description: "Their texts are not stored and cannot be shown. Expired tokens are listed for a week.",
	}, func(ctx context.Context, _ *none) (*answer[api.TokenList], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		list, err := s.tokens.List(ctx)
		if list == nil {
			list = []api.Token{}
		}
		return reply(&api.TokenList{Tokens: list}, err)
	}, api.CodeNotFound)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "create-token", Method: http.MethodPost, Path: "/v1/tokens",
		Summary: "Create a token", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "It can have only scopes that you have. Its text is shown once.",
	}, func(ctx context.Context, in *struct{ Body api.CreateToken }) (*answer[api.CreatedToken], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		if e := mayGive(ctx, in.Body.Scopes); e != nil {
			return nil, e
		}
		return reply(s.tokens.Create(ctx, in.Body))
	}, api.CodeNotFound, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "revoke-token", Method: http.MethodDelete, Path: "/v1/tokens/{id}",
		Summary: "Revoke a token", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "Closes its open streams and other connections.",
	}, func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"64" pattern:"^[A-Za-z0-9-]+$" doc:"The token's id: the part between the two underscores of its text" example:"k3v9m2"`
	},
	) (*none, error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		return done(s.tokens.Revoke(ctx, in.ID))
	}, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "create-code", Method: http.MethodPost, Path: "/v1/codes",
		Summary: "Create a one-time code for a browser", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "It can be exchanged for a token, once. It can have only scopes that you have.",
	}, func(ctx context.Context, in *struct {
		Body *api.CreateCode `required:"false"`
	},
	) (*answer[api.Code], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		code := value(in.Body)
		if len(code.Scopes) == 0 {
			id, _ := access.From(ctx) // admit has seen to it that there is one
			for _, scope := range id.Scopes.List() {
				code.Scopes = append(code.Scopes, scope.String())
			}
		}
		if e := mayGive(ctx, code.Scopes); e != nil {
			return nil, e
		}
		return reply(s.tokens.Code(ctx, code))
	}, api.CodeNotFound)
	public(s, h, huma.Operation{
		OperationID: "login", Method: http.MethodPost, Path: loginPath,
		Summary: "Exchange a one-time code for a token", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "Needs no token. A wrong code is answered after a delay.",
	}, func(ctx context.Context, in *struct{ Body api.Login }) (*answer[api.CreatedToken], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		return reply(s.tokens.Login(ctx, in.Body))
	}, api.CodeUnauthorized, api.CodeNotFound)
}

// mayGive says why somebody may not make a token with these scopes, or nil.
func mayGive(ctx context.Context, scopes []string) *api.Error {
	id, _ := access.From(ctx) // admit has seen to it that there is one
	for _, name := range scopes {
		if !slices.ContainsFunc(id.Scopes.List(), func(s wire.Scope) bool { return s.String() == name }) {
			e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "You cannot grant the scope %q", name)
			e.Detail = "You have: " + id.Scopes.String() + "."
			return e
		}
	}
	return nil
}
