package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// Relays attaches the hub to relays of other programs. Its methods may be called
// concurrently; their errors are of type *[api.Error] if a client can act on them.
type Relays interface {
	List(ctx context.Context) ([]api.Relay, error)
	Attach(ctx context.Context, in api.AttachRelay) (*api.Relay, error)
	Detach(ctx context.Context, id string) error
}

// noRelays is the answer of a server that cannot be attached to relays.
func noRelays() *api.Error {
	return api.Errorf(http.StatusNotFound, api.CodeNotFound, "This hub can't be attached to relays")
}

// relayRoutes are about relays of other programs.
func (s *Server) relayRoutes(h huma.API) {
	tags := []string{"relays"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "list-relays", Method: http.MethodGet, Path: "/v1/relays",
		Summary: "List the relays of other programs that the hub is attached to", Tags: tags,
		Description: "With the state of their connections, and the sessions that they show.",
	}, func(ctx context.Context, _ *none) (*answer[api.RelayList], error) {
		if s.relays == nil {
			return nil, noRelays()
		}
		list, err := s.relays.List(ctx)
		if list == nil {
			list = []api.Relay{}
		}
		return reply(&api.RelayList{Relays: list}, err)
	}, api.CodeNotFound)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "attach-relay", Method: http.MethodPost, Path: "/v1/relays",
		Summary: "Show the agents of another program's relay as sessions", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "The hub connects as a front end of that relay, and again whenever the connection is lost, also after a restart. " +
			"Its sessions have the transport relay: they can be read, prompted, interrupted and answered, but not started, configured or stopped.",
	}, func(ctx context.Context, in *struct{ Body api.AttachRelay }) (*answer[api.Relay], error) {
		if s.relays == nil {
			return nil, noRelays()
		}
		return reply(s.relays.Attach(ctx, in.Body))
	}, api.CodeNotFound, api.CodeConflict)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "detach-relay", Method: http.MethodDelete, Path: "/v1/relays/{id}",
		Summary: "Detach the hub from a relay", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "Its sessions end here and keep their logs. Their agents are not affected.",
	}, func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"The relay's id" example:"r4k9x2"`
	},
	) (*none, error) {
		if s.relays == nil {
			return nil, noRelays()
		}
		return done(s.relays.Detach(ctx, in.ID))
	}, api.CodeConflict)
}
