package v1

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// A problem is an [api.Error] in the form that huma sends.
type problem api.Error

// Error returns title, detail and hint.
func (p *problem) Error() string { return (*api.Error)(p).Error() }

// GetStatus returns the HTTP status.
func (p *problem) GetStatus() int { return p.Status }

// ContentType returns that of RFC 9457.
func (p *problem) ContentType(string) string { return access.ProblemType }

// Unwrap returns the error for middleware.
func (p *problem) Unwrap() error { return (*api.Error)(p) }

// asProblem returns what the client is told about an error. unexpected says that
// it is a fault of ours, which the client is not told about.
func asProblem(err error) (p *problem, unexpected bool) {
	var known *api.Error
	switch {
	case errors.As(err, &known):
		e := *known
		if e.Status < 400 || e.Status > 599 {
			e.Status = http.StatusInternalServerError
		}
		return (*problem)(&e), false
	case errors.Is(err, context.DeadlineExceeded):
		return (*problem)(api.Errorf(http.StatusGatewayTimeout, api.CodeTimeout, "The request timed out")), false
	case errors.Is(err, context.Canceled), errors.Is(err, hub.ErrClosed):
		// The client has left, or the server is leaving.
		return (*problem)(closing()), false
	}
	e := api.Errorf(http.StatusInternalServerError, api.CodeInternal, "Something went wrong in the hub")
	e.Hint = "The server's log says more."
	return (*problem)(e), true
}

func closing() *api.Error {
	e := api.Errorf(http.StatusServiceUnavailable, api.CodeClosing, "The hub is shutting down")
	e.Hint = "Try again in a moment."
	return e
}

// unify turns the errors that huma makes, of requests that do not fit their
// schema, into ours.
func unify(c huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	e := &api.Error{Status: m.Status, Code: api.CodeInvalid, Title: "The request isn't valid", Detail: describe(m)}
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		e.Code, e.Title = api.CodeTooLarge, "The request is too large"
	case http.StatusRequestTimeout:
		e.Code, e.Title = api.CodeTimeout, "The request did not arrive in time"
	case http.StatusUnsupportedMediaType:
		e.Title, e.Hint = "The request is not JSON", "Send it with the header \"Content-Type: application/json\"."
	case http.StatusInternalServerError:
		// huma's only one is a body that could not be read to its end, which is the
		// client's fault. huma sets its own status afterwards, which comes too late.
		e.Status, e.Title = http.StatusBadRequest, "The request did not arrive whole"
		c.SetStatus(e.Status)
	}
	return (*problem)(e), nil
}

// describe says what is wrong with a request, without the values: they may be
// long, or not for the client.
func describe(m *huma.ErrorModel) string {
	const most = 10
	parts := make([]string, 0, most)
	for i, d := range m.Errors {
		switch {
		case d == nil:
			continue
		case i == most:
			return strings.Join(append(parts, "and more"), "; ")
		case d.Location == "":
			parts = append(parts, d.Message)
		default:
			parts = append(parts, d.Location+": "+d.Message)
		}
	}
	if len(parts) == 0 {
		return m.Detail
	}
	return strings.Join(parts, "; ")
}
