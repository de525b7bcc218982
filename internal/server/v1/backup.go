package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// backupRoute is about the journal as a whole.
func (s *Server) backupRoute(h huma.API) {
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "get-backup", Method: http.MethodGet, Path: "/v1/backup",
		Summary: "Download a copy of the journal", Tags: []string{"library"},
		Description: "A consistent copy of all sessions, in one file. To restore it, replace journal.db with it while no hub runs. " +
			"It contains everything said in all sessions, including what other operations hide because it may be secret. " +
			"If a download fails midway, the connection is cut, so that it cannot be mistaken for a complete one.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The journal, as a file",
			Headers:     map[string]*huma.Param{"Content-Disposition": {Description: "A name for the file", Schema: &huma.Schema{Type: huma.TypeString}}},
			Content:     map[string]*huma.MediaType{"application/vnd.sqlite3": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, func(ctx context.Context, _ *none) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(c huma.Context) {
			_, w := humago.Unwrap(c)
			d := &download{w: w, kind: "application/vnd.sqlite3", name: "switchboard-journal.db"}
			s.download(ctx, "get-backup", d, s.reports.Backup(ctx, d))
		}}, nil
	}, api.CodeStorage)
}
