package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchboard-dev/switchboard/api"
)

// Nodes lists the machines on which the hub's agents can run, beside its own.
func (c *Client) Nodes(ctx context.Context) (*api.NodeList, error) {
	return call[api.NodeList](ctx, c, http.MethodGet, "/v1/nodes", nil, nil)
}

// Node returns one of them, by its name or id.
func (c *Client) Node(ctx context.Context, node string) (*api.Node, error) {
	return call[api.Node](ctx, c, http.MethodGet, nodePath(node, ""), nil, nil)
}

// InviteNode makes an invitation, with which a machine becomes a node. This, and all
// that follows but JoinNode, needs the right admin.
func (c *Client) InviteNode(ctx context.Context, in api.InviteNode) (*api.NodeInvitation, error) {
	return call[api.NodeInvitation](ctx, c, http.MethodPost, "/v1/nodes/invitations", nil, in)
}

// JoinNode exchanges an invitation for the identity of a node. It needs no token.
func (c *Client) JoinNode(ctx context.Context, in api.JoinNode) (*api.JoinedNode, error) {
	return call[api.JoinedNode](ctx, c, http.MethodPost, "/v1/nodes/join", nil, in)
}

// DrainNode says whether a node takes new sessions.
func (c *Client) DrainNode(ctx context.Context, node string, draining bool) (*api.Node, error) {
	return call[api.Node](ctx, c, http.MethodPost, nodePath(node, "/drain"), nil, api.DrainNode{Draining: draining})
}

// RevokeNode takes a node's right to connect, for good. Its connections are cut at once;
// its agents go on without the hub until they are forgotten.
func (c *Client) RevokeNode(ctx context.Context, node string) (*api.Node, error) {
	return call[api.Node](ctx, c, http.MethodPost, nodePath(node, "/revoke"), nil, nil)
}

// ForgetNode revokes a node, ends its sessions' runs in the hub and removes it from the
// list.
func (c *Client) ForgetNode(ctx context.Context, node string) error {
	return c.do(ctx, http.MethodDelete, nodePath(node, ""), nil, nil, nil)
}

// nodePath returns the path of what concerns a node.
func nodePath(node, rest string) string { return "/v1/nodes/" + url.PathEscape(node) + rest }
