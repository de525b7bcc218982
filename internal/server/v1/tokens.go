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

// Tokens keeps the tokens of a server; *[access.TokenStore] does. Errors that are meant
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
	Login(ctx context.Context, in api.Login) (*api.CreatedToken, *http.Cookie, error)
	// RevokeDevices ends the tokens of all devices but that of the one that asks,
	// Logout that of the one that asks. Cookies may be nil.
	RevokeDevices(ctx context.Context) ([]string, error)
	Logout(ctx context.Context) (*http.Cookie, error)
}

// cookied is an answer that sets a cookie, if that is not empty.
type cookied[T any] struct {
	SetCookie string `header:"Set-Cookie"`
	Body      *T
}

// cookieText returns the header that sets a cookie; none for nil.
func cookieText(c *http.Cookie) string {
	if c == nil {
		return ""
	}
	return c.String()
}

// noTokens is the answer of a server that keeps none.
func noTokens() *api.Error {
	e := api.Errorf(http.StatusNotFound, api.CodeNotFound, "This hub has no tokens")
	e.Hint = "Start the hub with a data folder."
	return e
}

// A Phone lets devices in the network reach the server.
type Phone interface {
	// OpenPhone has the server listen for them, instead of where it did before;
	// ClosePhone ends that and cuts their connections.
	OpenPhone(ctx context.Context, in api.OpenPhone) (*api.Phone, error)
	ClosePhone(ctx context.Context) error
}

// noPhone is the answer of a server that cannot be reached by other devices.
func noPhone() *api.Error {
	return api.Errorf(http.StatusNotFound, api.CodeNotFound, "This hub can't listen for other devices")
}

// phoneRoutes are about devices in the network.
func (s *Server) phoneRoutes(h huma.API) {
	tags := []string{"access"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "open-phone", Method: http.MethodPost, Path: "/v1/phone",
		Summary: "Listen for phones in the network", Tags: tags,
		Description: "With TLS and a certificate that the hub makes once. It ends with the hub. Asked again with another address, the hub listens there instead.",
	}, func(ctx context.Context, in *struct {
		Body *api.OpenPhone `required:"false"`
	},
	) (*answer[api.Phone], error) {
		if s.phone == nil {
			return nil, noPhone()
		}
		return reply(s.phone.OpenPhone(ctx, value(in.Body)))
	}, api.CodeNotFound, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "close-phone", Method: http.MethodDelete, Path: "/v1/phone",
		Summary: "Stop listening for phones in the network", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "Their connections are cut. Their tokens stay valid.",
	}, func(ctx context.Context, _ *none) (*none, error) {
		if s.phone == nil {
			return nil, noPhone()
		}
		return done(s.phone.ClosePhone(ctx))
	}, api.CodeNotFound)
}

// accessRoutes are about tokens and their rights.
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
		OperationID: "revoke-devices", Method: http.MethodDelete, Path: "/v1/devices",
		Summary: "Revoke the tokens of all other devices", Tags: tags,
		Description: "Those that one-time codes were exchanged for, except the one that asks.",
	}, func(ctx context.Context, _ *none) (*answer[api.RevokedTokens], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		ids, err := s.tokens.RevokeDevices(ctx)
		return reply(&api.RevokedTokens{Revoked: ids}, err)
	}, api.CodeNotFound, api.CodeStorage)
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
		Description: "Needs no token. A wrong code is answered after a delay. A browser asks for a cookie: then the token in the answer " +
			"works only together with it, and the token of an earlier login of this browser is replaced.",
	}, func(ctx context.Context, in *struct{ Body api.Login }) (*cookied[api.CreatedToken], error) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		made, cookie, err := s.tokens.Login(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		return &cookied[api.CreatedToken]{SetCookie: cookieText(cookie), Body: made}, nil
	}, api.CodeUnauthorized, api.CodeNotFound)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "logout", Method: http.MethodPost, Path: "/v1/logout",
		Summary: "End the token of this device", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "Its cookie is removed, and connections that are open in its name are ended. A token that no one-time code was exchanged for stays valid: revoke it instead.",
	}, func(ctx context.Context, _ *none) (*struct {
		SetCookie string `header:"Set-Cookie"`
	}, error,
	) {
		if s.tokens == nil {
			return nil, noTokens()
		}
		cookie, err := s.tokens.Logout(ctx)
		if err != nil {
			return nil, err
		}
		return &struct {
			SetCookie string `header:"Set-Cookie"`
		}{cookieText(cookie)}, nil
	}, api.CodeNotFound, api.CodeStorage)
}

// mayGive says why a client may not make a token with these scopes, or nil.
func mayGive(ctx context.Context, scopes []string) *api.Error {
	id, _ := access.From(ctx) // admit has seen to it that there is one
	for _, name := range scopes {
		if !slices.ContainsFunc(id.Scopes.List(), func(s wire.Scope) bool { return s.String() == name }) {
			e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "You can't grant the scope %q", name)
			e.Detail = "You have: " + id.Scopes.String() + "."
			return e
		}
	}
	return nil
}
