package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchboard-dev/switchboard/api"
)

// Relays lists the relays of other programs that the hub is attached to. This, and all
// else about relays, needs the right admin.
func (c *Client) Relays(ctx context.Context) (*api.RelayList, error) {
	return call[api.RelayList](ctx, c, http.MethodGet, "/v1/relays", nil, nil)
}

// AttachRelay has the hub show the agents of another program's relay as sessions. It does
// not wait for the connection.
func (c *Client) AttachRelay(ctx context.Context, in api.AttachRelay) (*api.Relay, error) {
	return call[api.Relay](ctx, c, http.MethodPost, "/v1/relays", nil, in)
}

// DetachRelay detaches the hub from a relay. Its sessions end here; their agents go on.
func (c *Client) DetachRelay(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/v1/relays/"+url.PathEscape(id), nil, nil, nil)
}
