package v1

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	schemaPrefix = "#/components/schemas/"
	loginPath    = "/v1/login"
	joinPath     = "/v1/nodes/join"
)

var errorType = reflect.TypeFor[api.Error]()

// register registers all operations and returns the document about them.
func (s *Server) register() *huma.OpenAPI {
	registry := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	tighten(registry)
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       "Switchboard",
				Version:     "v1",
				Description: "Runs, watches and steers Claude Code agents. The API only grows: ignore members, kinds and codes that you do not know.",
				License:     &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
			},
			Servers: []*huma.Server{{URL: "/", Description: "The hub that serves this document."}},
			Tags: []*huma.Tag{
				{Name: "sessions", Description: "Agents: starting, steering and ending them."},
				{Name: "messages", Description: "Messages to agents."},
				{Name: "questions", Description: "Questions of agents, and answers."},
				{Name: "events", Description: "The logs of sessions, as pages and as streams."},
				{Name: "control", Description: "Requests to the CLI itself."},
				{Name: "library", Description: "History: search, timelines, exports, decisions, costs, conversations on disk."},
				{Name: "rules", Description: "What agents may do without asking."},
				{Name: "preferences", Description: "What new sessions of a person begin with."},
				{Name: "access", Description: "Tokens, and one-time codes for them."},
				{Name: "relays", Description: "Relays of other programs, whose agents the hub shows."},
				{Name: "nodes", Description: "Other machines on which agents run."},
				{Name: "server", Description: "The hub itself."},
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token": {
						Type: "http", Scheme: "bearer",
						Description: "Over TCP: a token from switchboard token create. The Unix socket needs none. " +
							"Browsers cannot send the header with a WebSocket; they offer the sub-protocols \"switchboard.v1\" and \"sb.token.TOKEN\". " +
							"Scopes say what a token may do; the member x-scope of an operation names the scope it needs.",
					},
				},
			},
			Security: []map[string][]string{{"token": {}}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{unify},
	}
	h := humago.New(shortcut{s.operations, s}, config)
	s.routes(h)
	document := h.OpenAPI()
	// huma mentions its own errors, which are never sent.
	delete(registry.Map(), "ErrorModel")
	delete(registry.Map(), "ErrorDetail")
	return document
}

// Document returns the OpenAPI document about the interface, as it is served. It
// needs no server.
func Document() ([]byte, error) {
	strictNames()
	s := &Server{mux: http.NewServeMux(), operations: http.NewServeMux(), judge: newGate(func(string) {})}
	return writeDocument(s.register())
}

// strictNames has huma compare the names of members exactly, as all of this
// program does. It would otherwise take "Decision" for "decision", and check only
// one of the two when both are there. huma knows no setting of one server's own.
var strictNames = sync.OnceFunc(func() { huma.ValidateStrictCasing = true })

// An outcome is a way in which an operation may fail.
type outcome struct {
	status int
	code   string
	means  string
}

// outcomes are all of them, by the order of their status.
func outcomes() []outcome {
	return []outcome{
		{http.StatusBadRequest, api.CodeInvalid, "the body is missing or isn't valid JSON"},
		{http.StatusUnauthorized, api.CodeUnauthorized, "no valid token"},
		{http.StatusForbidden, api.CodeForbidden, "the token lacks a scope"},
		{http.StatusNotFound, api.CodeNotFound, "not found"},
		{http.StatusConflict, api.CodeAlreadySettled, "the question is already answered; the member question says how"},
		{http.StatusConflict, api.CodeConflict, "not possible in the current state"},
		{http.StatusConflict, api.CodeClientIDReused, "the client id was already used for another request"},
		{http.StatusConflict, api.CodeOwned, "another session, which the member session names, drives the conversation"},
		{http.StatusConflict, api.CodeOffline, "the agent cannot be reached right now"},
		{http.StatusConflict, api.CodeEnded, "the session has no process"},
		{http.StatusConflict, api.CodeNotQueued, "the message is already being sent"},
		{http.StatusRequestEntityTooLarge, api.CodeTooLarge, "the body is too large"},
		{http.StatusUnprocessableEntity, api.CodeInvalid, "the request is invalid"},
		{http.StatusUnprocessableEntity, api.CodeUnsupported, "this version of the CLI cannot do it"},
		{http.StatusUnprocessableEntity, api.CodeRefused, "the CLI answered with an error"},
		{http.StatusTooManyRequests, api.CodeUnauthorized, "too many wrong tokens or codes were tried at once; a valid one always works"},
		{http.StatusTooManyRequests, api.CodeTooMany, "a limit is reached; try again later"},
		{http.StatusInternalServerError, api.CodeInternal, "internal error; see the hub's log"},
		{http.StatusBadGateway, api.CodeStartFailed, "the agent could not be started"},
		{http.StatusServiceUnavailable, api.CodeClosing, "the hub is shutting down; reconnect"},
		{http.StatusServiceUnavailable, api.CodeStorage, "the journal cannot be written"},
		{http.StatusServiceUnavailable, api.CodeOffline, "the machine that the agent runs on is not connected"},
		{http.StatusGatewayTimeout, api.CodeTimeout, "the agent did not respond in time"},
	}
}

// ofAgent are the codes of what the agent has to do itself. There is a
// conflict if it belongs to another program.
func ofAgent() []string {
	return []string{api.CodeConflict, api.CodeOffline, api.CodeEnded, api.CodeUnsupported, api.CodeRefused, api.CodeTimeout, api.CodeStorage}
}

// ofStart are the codes of what starts an agent, with others.
func ofStart(more ...string) []string {
	return append(more, api.CodeNotFound, api.CodeConflict, api.CodeOffline, api.CodeClientIDReused, api.CodeOwned, api.CodeUnsupported, api.CodeStartFailed, api.CodeTimeout, api.CodeStorage)
}

// operation registers an operation with the right that it needs. A client that lacks it is
// sent away before the body is read. codes are those that the operation may fail
// with, beside those that come with its parts.
func operation[I, O any](s *Server, h huma.API, scope wire.Scope, op huma.Operation, handler func(context.Context, *I) (*O, error), codes ...string) {
	op.Extensions = map[string]any{"x-scope": scope.String()}
	admit := func(c huma.Context, next func(huma.Context)) {
		if e := s.admit(c.Context(), scope); e != nil {
			_, w := humago.Unwrap(c)
			access.WriteProblem(w, e)
			return
		}
		next(c)
	}
	op.Middlewares = append(huma.Middlewares{admit}, op.Middlewares...)
	admitted := func(ctx context.Context, in *I) (*O, error) {
		// Once more, as a body may take its time, and the token be revoked meanwhile.
		if _, e := access.Require(ctx, scope); e != nil {
			return nil, e
		}
		return handler(ctx, in)
	}
	serve(s, h, op, admitted, append(codes, api.CodeUnauthorized, api.CodeForbidden))
}

// public registers an operation that needs no right: the ways to get a token, and to
// become a node.
func public[I, O any](s *Server, h huma.API, op huma.Operation, handler func(context.Context, *I) (*O, error), codes ...string) {
	op.Extensions = map[string]any{"x-scope": wire.ScopeNone.String()}
	op.Middlewares = append(op.Middlewares, func(c huma.Context, next func(huma.Context)) {
		if s.closing.Err() != nil {
			_, w := humago.Unwrap(c)
			access.WriteProblem(w, closing())
			return
		}
		next(c)
	})
	serve(s, h, op, handler, codes)
}

func serve[I, O any](s *Server, h huma.API, op huma.Operation, handler func(context.Context, *I) (*O, error), codes []string) {
	// The deadlines are those of pacedBody. huma counts a body of just the limit as
	// too large.
	op.BodyReadTimeout = -1
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody
	}
	op.MaxBodyBytes++
	op.RejectUnknownQueryParameters = true

	codes = append(codes, api.CodeInvalid, api.CodeInternal, api.CodeClosing)
	if strings.Contains(op.Path, "{") {
		codes = append(codes, api.CodeNotFound)
	}
	_, body := reflect.TypeFor[I]().FieldByName("Body")
	if body {
		codes = append(codes, api.CodeTooLarge)
	}
	describeOutcomes(h, &op, body, codes)
	op.RequestBody = exampleOf(op.OperationID)
	huma.Register(h, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err == nil {
			return out, nil
		}
		return nil, s.problem(ctx, op.OperationID, err)
	})
}

// describeOutcomes puts the ways in which an operation may fail into its
// description, by status and code.
func describeOutcomes(h huma.API, op *huma.Operation, body bool, codes []string) {
	problem := func(description string) *huma.Response {
		return &huma.Response{
			Description: description,
			Content: map[string]*huma.MediaType{
				access.ProblemType: {Schema: h.OpenAPI().Components.Schemas.Schema(errorType, true, "Error")},
			},
		}
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	for _, o := range outcomes() {
		switch {
		case !slices.Contains(codes, o.code),
			o.status == http.StatusBadRequest && !body:
			continue
		}
		key, text := strconv.Itoa(o.status), "`"+o.code+"`: "+o.means
		if r := op.Responses[key]; r != nil {
			r.Description += "; " + text
			continue
		}
		op.Responses[key] = problem(text)
	}
	op.Responses["default"] = problem("The error, in the format of RFC 9457. More codes may be added")
	slices.Sort(codes)
	op.Extensions["x-codes"] = slices.Compact(codes)
}
