package v1

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// Page is the part of a request for a list that says which page is wanted.
type Page struct {
	Cursor string `query:"cursor" maxLength:"256" doc:"Where the previous page ended: its member next"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of results; default 100"`
}

// defaultPage is how long a page is if nothing else is asked for.
const defaultPage = 100

// limit returns how much is wanted.
func (p *Page) limit() int {
	if p.Limit == 0 {
		return defaultPage
	}
	return p.Limit
}

// libraryRoutes are about what has happened.
func (s *Server) libraryRoutes(h huma.API) {
	tags := []string{"library"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-timeline", Method: http.MethodGet, Path: "/v1/sessions/{id}/timeline",
		Summary: "Show the timeline of a session", Tags: tags,
		Description: "Turns, prompts, tools, questions, decisions and runs, oldest first. cursor accepts the id of any event.",
	}, func(ctx context.Context, in *struct {
		OfSession
		Page
		After string `query:"after" maxLength:"128" doc:"Same as cursor"`
	},
	) (*answer[api.Timeline], error) {
		after := in.After
		if in.Cursor != "" {
			after = in.Cursor
		}
		line, err := s.reports.Timeline(ctx, in.ID, after, in.limit())
		if err == nil && line.Items == nil {
			line.Items = []api.TimelineItem{}
		}
		return reply(line, err)
	})
	s.exportRoute(h, tags)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "search", Method: http.MethodGet, Path: "/v1/search",
		Summary: "Search messages, newest first", Tags: tags,
		Description: "All words must occur; WORD* matches a prefix. The latest messages may not be found yet.",
	}, func(ctx context.Context, in *struct {
		Text    string `query:"q" required:"true" minLength:"1" maxLength:"1024" doc:"The words" example:"failing test"`
		Session string `query:"session" maxLength:"64" doc:"Only messages of this session"`
		Page
	},
	) (*answer[api.SearchResult], error) {
		found, err := s.reports.Search(ctx, api.SearchFilter{Text: in.Text, Session: in.Session, Cursor: in.Cursor, Limit: in.limit()})
		if err == nil && found.Hits == nil {
			found.Hits = []api.SearchHit{}
		}
		return reply(found, err)
	}, api.CodeStorage)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-audit", Method: http.MethodGet, Path: "/v1/audit",
		Summary: "List decisions about agents' calls, newest first", Tags: tags,
		Description: "Made by rules and by people, including answers to questions, and what sandboxes refused.",
	}, func(ctx context.Context, in *struct {
		Session   string    `query:"session" maxLength:"64" doc:"Only decisions in this session"`
		Automatic string    `query:"automatic" enum:"true,false" doc:"Only decisions by rules (true) or by people (false)"`
		Refused   bool      `query:"refused" doc:"Only what sandboxes refused"`
		Since     time.Time `query:"since" doc:"Only decisions since then" example:"2026-01-31T00:00:00Z"`
		Page
	},
	) (*answer[api.Audit], error) {
		f := api.AuditFilter{Session: in.Session, Refused: in.Refused, Since: in.Since, Cursor: in.Cursor, Limit: in.limit()}
		if in.Automatic != "" {
			f.Automatic = new(in.Automatic == "true")
		}
		audit, err := s.reports.Audit(ctx, f)
		if err == nil && audit.Items == nil {
			audit.Items = []api.AuditItem{}
		}
		return reply(audit, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-costs", Method: http.MethodGet, Path: "/v1/costs",
		Summary: "Sum up the costs of agents", Tags: tags,
		Description: "In US dollars, as reported by the CLI.",
	}, func(ctx context.Context, in *struct {
		By    string    `query:"by" enum:"session,dir,day,model" doc:"How to group the costs; default: session"`
		Since time.Time `query:"since" doc:"Only what was spent since then" example:"2026-01-31T00:00:00Z"`
	},
	) (*answer[api.Costs], error) {
		costs, err := s.reports.Costs(ctx, api.CostFilter{By: in.By, Since: in.Since})
		if err == nil && costs.Items == nil {
			costs.Items = []api.CostItem{}
		}
		return reply(costs, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-drift", Method: http.MethodGet, Path: "/v1/drift",
		Summary: "Count unrecognized parts of the CLIs' lines", Tags: tags,
		Description: "It is passed on and stored anyway. A newer hub may recognize it.",
	}, func(ctx context.Context, _ *none) (*answer[api.Drift], error) {
		drift, err := s.reports.Drift(ctx)
		if err == nil && drift.Items == nil {
			drift.Items = []api.DriftItem{}
		}
		return reply(drift, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-budgets", Method: http.MethodGet, Path: "/v1/budgets",
		Summary: "Show budgets and how much of them is used", Tags: tags,
		Description: "From the hub's configuration. A session's snapshot has those that concern it.",
	}, func(ctx context.Context, _ *none) (*answer[api.Budgets], error) {
		budgets, err := s.hub.Budgets(ctx)
		if err == nil && budgets.Budgets == nil {
			budgets.Budgets = []api.BudgetUse{}
		}
		return reply(budgets, err)
	})
}

// exported returns the content type and the ending of a file in a format.
func exported(format string) (kind, extension string) {
	switch format {
	case "events":
		return "application/jsonl", ".events.jsonl"
	case "markdown":
		return "text/markdown; charset=utf-8", ".md"
	}
	return "application/jsonl", ".jsonl"
}

func (s *Server) exportRoute(h huma.API, tags []string) {
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "export-session", Method: http.MethodGet, Path: "/v1/sessions/{id}/export",
		Summary: "Download a session", Tags: tags,
		Description: "jsonl: every line from and to the CLI, unchanged, without values of environments, MCP servers and settings. events: the log, one Event per line. markdown: for people. " +
			"If a download fails midway, the connection is cut, so that it cannot be mistaken for a complete one.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The session, as a file",
			Headers:     map[string]*huma.Param{"Content-Disposition": {Description: "A name for the file", Schema: &huma.Schema{Type: huma.TypeString}}},
			Content:     map[string]*huma.MediaType{"application/jsonl": text, "text/markdown": text},
		}},
	}, func(ctx context.Context, in *struct {
		OfSession
		Format string `query:"format" default:"jsonl" enum:"jsonl,events,markdown" doc:"How to handle it"`
	},
	) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(c huma.Context) {
			_, w := humago.Unwrap(c)
			s.export(ctx, w, in.ID, in.Format)
		}}, nil
	})
}

// export writes a session.
func (s *Server) export(ctx context.Context, w http.ResponseWriter, id, format string) {
	kind, extension := exported(format)
	d := &download{w: w, kind: kind, name: id + extension}
	s.download(ctx, "export-session", d, s.reports.Export(ctx, id, format, d))
}

// download ends a download that failed, or did not.
func (s *Server) download(ctx context.Context, operation string, d *download, err error) {
	switch {
	case err == nil:
		_, _ = d.Write(nil) // nothing may have been written
	case !d.begun:
		access.WriteProblem(d.w, (*api.Error)(s.problem(ctx, operation, err)))
	default:
		if !errors.Is(err, context.Canceled) && d.failed == nil {
			_ = s.problem(ctx, operation, err) // for the log alone
		}
		// The client must not take what it has for the whole.
		panic(http.ErrAbortHandler)
	}
}

// A download begins to answer with the first byte.
type download struct {
	w          http.ResponseWriter
	kind, name string

	begun  bool
	failed error
}

var _ io.Writer = (*download)(nil)

// Write writes a part of the file.
func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.w.Header()
		h.Set("Content-Type", d.kind)
		// The name is ours, or made of the session's id: nothing in it would have
		// to be quoted.
		h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
		// What agents write is data: a browser that shows it anyway must not run it.
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		d.w.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := d.w.Write(p)
	if err != nil {
		d.failed = err
	}
	return n, err
}

// OfConversation is a request about a conversation on disk.
type OfConversation struct {
	Conversation string `path:"conversation" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"The CLI's session_id" example:"0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"`
}

// OnNode selects a machine.
type OnNode struct {
	Node string `query:"node" maxLength:"64" doc:"The machine: a name or id of list-nodes; default: the hub's own"`
}

// diskRoutes are about what the CLI has written to disk, and about folders. They
// show more of the machine than its sessions.
func (s *Server) diskRoutes(h huma.API) {
	tags := []string{"library"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "list-transcripts", Method: http.MethodGet, Path: "/v1/transcripts",
		Summary: "List the CLI's conversations on disk, newest first", Tags: tags,
		Description: "Includes conversations held without the hub. With q, only those with a message that contains all words. " +
			"This reads files, some for each page, so a page may have fewer results than requested, even none, and still have a next one.",
	}, func(ctx context.Context, in *struct {
		Dir          string `query:"dir" maxLength:"4096" doc:"Only those in this folder, an absolute path"`
		Conversation string `query:"conversation" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"Only those whose id has this prefix" example:"0b1c2d3e"`
		Text         string `query:"q" maxLength:"1024" doc:"Words in their messages" example:"failing test"`
		OnNode
		Page
	},
	) (*answer[api.TranscriptList], error) {
		list, err := s.reports.Transcripts(ctx, api.TranscriptFilter{Dir: in.Dir, Conversation: in.Conversation, Text: in.Text, Node: in.Node, Cursor: in.Cursor, Limit: in.limit()})
		if err == nil && list.Transcripts == nil {
			list.Transcripts = []api.Transcript{}
		}
		return reply(list, err)
	}, api.CodeNotFound, api.CodeConflict, api.CodeOffline)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "get-transcript", Method: http.MethodGet, Path: "/v1/transcripts/{conversation}",
		Summary: "Read a conversation on disk", Tags: tags,
		Description: "Leaves out lines discarded by a rewind.",
	}, func(ctx context.Context, in *struct {
		OfConversation
		Dir    string `query:"dir" maxLength:"4096" doc:"Its working folder; needed if it cannot be determined otherwise"`
		Cursor int    `query:"cursor" minimum:"0" maximum:"1000000000" doc:"The number of the first line: the member next of the previous page"`
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of lines; default 100"`
		OnNode
	},
	) (*answer[api.TranscriptPage], error) {
		limit := in.Limit
		if limit == 0 {
			limit = defaultPage
		}
		return reply(s.reports.Transcript(ctx, in.Node, in.Conversation, in.Dir, in.Cursor, limit))
	}, api.CodeNotFound, api.CodeConflict, api.CodeOffline)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "adopt-transcript", Method: http.MethodPost, Path: "/v1/transcripts/{conversation}/adopt",
		Summary: "Start a session that continues a conversation on disk", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "If a live session has it, the code is owned.",
	}, func(ctx context.Context, in *struct {
		OfConversation
		Body *api.Adopt `required:"false"`
	},
	) (*answer[api.Created], error) {
		session, err := s.reports.Adopt(ctx, in.Conversation, value(in.Body))
		if err != nil {
			return nil, err
		}
		return reply(s.hub.Create(ctx, actor(ctx), session))
	}, ofStart()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "list-folders", Method: http.MethodGet, Path: "/v1/folders",
		Summary: "Suggest folders to work in", Tags: tags,
		Description: "Without a prefix, recent folders of sessions and conversations; with one, also matching folders on disk.",
	}, func(ctx context.Context, in *struct {
		Prefix string `query:"prefix" maxLength:"4096" doc:"The beginning of an absolute path" example:"/home/anna/pro"`
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of results; default 100"`
		OnNode
	},
	) (*answer[api.Folders], error) {
		limit := in.Limit
		if limit == 0 {
			limit = defaultPage
		}
		folders, err := s.reports.Folders(ctx, in.Node, in.Prefix, limit)
		if err == nil && folders.Folders == nil {
			folders.Folders = []api.Folder{}
		}
		return reply(folders, err)
	}, api.CodeNotFound, api.CodeConflict, api.CodeOffline)
}
