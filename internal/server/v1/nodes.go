package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// Nodes knows the other machines on which agents run. A node is named by its name or
// id. Its methods may be called concurrently; their errors are of type *[api.Error] if a
// client can act on them.
type Nodes interface {
	List(ctx context.Context) ([]api.Node, error)
	Get(ctx context.Context, node string) (*api.Node, error)
	// Invite makes a one-time code, Join exchanges one for the identity of a node. A
	// wrong one is answered after a while.
	Invite(ctx context.Context, in api.InviteNode) (*api.NodeInvitation, error)
	Join(ctx context.Context, in api.JoinNode) (*api.JoinedNode, error)
	// Drain says whether a node takes new sessions. Revoke takes its right to connect
	// and cuts its connections. Forget does that, ends its runs and removes it.
	Drain(ctx context.Context, node string, draining bool) (*api.Node, error)
	Revoke(ctx context.Context, node string) (*api.Node, error)
	Forget(ctx context.Context, node string) error
}

// AboutNode is a request about a node.
type AboutNode struct {
	Node string `path:"node" maxLength:"63" pattern:"^[a-z0-9][a-z0-9.-]*$" doc:"The node's name or id" example:"gpu-1"`
}

// noNodes is the answer of a server that has no nodes.
func noNodes() *api.Error {
	e := api.Errorf(http.StatusNotFound, api.CodeNotFound, "This hub has no nodes")
	e.Hint = "Start the hub with a data folder."
	return e
}

// nodeRoutes are about other machines on which agents run.
func (s *Server) nodeRoutes(h huma.API) {
	tags := []string{"nodes"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-nodes", Method: http.MethodGet, Path: "/v1/nodes",
		Summary: "List the machines that agents can run on, beside the hub's own", Tags: tags,
		Description: "In the order of their names, with what they told about themselves last.",
	}, func(ctx context.Context, _ *none) (*answer[api.NodeList], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		list, err := s.nodes.List(ctx)
		if list == nil {
			list = []api.Node{}
		}
		return reply(&api.NodeList{Nodes: list}, err)
	}, api.CodeNotFound)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-node", Method: http.MethodGet, Path: "/v1/nodes/{node}",
		Summary: "Show a machine that agents can run on", Tags: tags,
		Description: "With what it told about itself last.",
	}, func(ctx context.Context, in *AboutNode) (*answer[api.Node], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return reply(s.nodes.Get(ctx, in.Node))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "invite-node", Method: http.MethodPost, Path: "/v1/nodes/invitations",
		Summary: "Invite a machine to run agents", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "The answer has the command to run there. Its code works once.",
	}, func(ctx context.Context, in *struct {
		Body *api.InviteNode `required:"false"`
	},
	) (*answer[api.NodeInvitation], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return reply(s.nodes.Invite(ctx, value(in.Body)))
	}, api.CodeNotFound, api.CodeConflict)
	public(s, h, huma.Operation{
		OperationID: "join-node", Method: http.MethodPost, Path: joinPath,
		Summary: "Exchange an invitation for the identity of a node", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "Needs no token. A wrong code is answered after a delay.",
	}, func(ctx context.Context, in *struct{ Body api.JoinNode }) (*answer[api.JoinedNode], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return reply(s.nodes.Join(ctx, in.Body))
	}, api.CodeUnauthorized, api.CodeNotFound, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "drain-node", Method: http.MethodPost, Path: "/v1/nodes/{node}/drain",
		Summary: "Start no new sessions on a machine, or start them again", Tags: tags,
		Description: "Sessions that it has go on.",
	}, func(ctx context.Context, in *struct {
		AboutNode
		Body api.DrainNode
	},
	) (*answer[api.Node], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return reply(s.nodes.Drain(ctx, in.Node, in.Body.Draining))
	}, api.CodeConflict, api.CodeStorage)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "revoke-node", Method: http.MethodPost, Path: "/v1/nodes/{node}/revoke",
		Summary: "Take a machine's right to connect", Tags: tags,
		Description: "For good. Its connections are cut at once; its sessions are offline until it is forgotten.",
	}, func(ctx context.Context, in *AboutNode) (*answer[api.Node], error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return reply(s.nodes.Revoke(ctx, in.Node))
	}, api.CodeStorage)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "forget-node", Method: http.MethodDelete, Path: "/v1/nodes/{node}",
		Summary: "Remove a machine, and end its sessions' runs", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "It is revoked. The logs of its sessions stay. Processes that still run there are not ended.",
	}, func(ctx context.Context, in *AboutNode) (*none, error) {
		if s.nodes == nil {
			return nil, noNodes()
		}
		return done(s.nodes.Forget(ctx, in.Node))
	}, api.CodeStorage)
}
