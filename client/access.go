package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchboard-dev/switchboard/api"
)

// Tokens lists the server's tokens, without their secrets. This, and all else
// about tokens, needs the right admin.
func (c *Client) Tokens(ctx context.Context) (*api.TokenList, error) {
	return call[api.TokenList](ctx, c, http.MethodGet, "/v1/tokens", nil, nil)
}

// CreateToken makes a token. Its text is in the answer, and shown this once.
func (c *Client) CreateToken(ctx context.Context, in api.CreateToken) (*api.CreatedToken, error) {
	return call[api.CreatedToken](ctx, c, http.MethodPost, "/v1/tokens", nil, in)
}

// RevokeToken takes a token back. What is connected with it is cut.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/v1/tokens/"+url.PathEscape(id), nil, nil, nil)
}

// RevokeDevices takes the tokens of all browsers and other devices back, but the
// client's own.
func (c *Client) RevokeDevices(ctx context.Context) (*api.RevokedTokens, error) {
	return call[api.RevokedTokens](ctx, c, http.MethodDelete, "/v1/devices", nil, nil)
}

// OpenPhone has the hub listen for phones and other devices in the network, with TLS.
// It ends with the hub, or with [Client.ClosePhone].
func (c *Client) OpenPhone(ctx context.Context, in api.OpenPhone) (*api.Phone, error) {
	return call[api.Phone](ctx, c, http.MethodPost, "/v1/phone", nil, in)
}

// ClosePhone ends what [Client.OpenPhone] began, and cuts connections of such devices.
func (c *Client) ClosePhone(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/v1/phone", nil, nil, nil)
}

// CreateCode makes a one-time code, with which a browser or another device gets a
// token of its own; see [Client.Login].
func (c *Client) CreateCode(ctx context.Context, in api.CreateCode) (*api.Code, error) {
	return call[api.Code](ctx, c, http.MethodPost, "/v1/codes", nil, in)
}

// Login exchanges a one-time code for a token. It needs no token itself, and the
// client does not begin to use the new one: make another client with it.
func (c *Client) Login(ctx context.Context, in api.Login) (*api.CreatedToken, error) {
	return call[api.CreatedToken](ctx, c, http.MethodPost, "/v1/login", nil, in)
}

// Logout ends the client's own token, if it was got by [Client.Login].
func (c *Client) Logout(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/v1/logout", nil, nil, nil)
}
