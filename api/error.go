package api

import "fmt"

// An Error is what the interface answers when it cannot do what it is asked to,
// in the form of RFC 9457.
type Error struct {
	// Status is the HTTP status.
	Status int `json:"status"`
	// Code is stable and for programs; see the Code constants.
	Code string `json:"code"`
	// Title says what went wrong, Detail more about it, Hint what to do.
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Question is the question that was settled already.
	Question *Question `json:"question,omitempty"`
	// Session is the session that stands in the way.
	Session string `json:"session,omitempty"`
}

// The codes. More may come.
const (
	CodeInvalid        = "invalid"          // 400/422: the request makes no sense
	CodeUnauthorized   = "unauthorized"     // 401
	CodeForbidden      = "forbidden"        // 403
	CodeNotFound       = "not_found"        // 404
	CodeAlreadySettled = "already_settled"  // 409: the question was answered before
	CodeConflict       = "conflict"         // 409: the state does not allow it
	CodeClientIDReused = "client_id_reused" // 409: the same client id with another request
	CodeOwned          = "owned"            // 409: another session drives the conversation
	CodeOffline        = "offline"          // 409/503: the agent, or the machine that it runs on, cannot be reached now
	CodeEnded          = "ended"            // 409: the session has no process
	CodeNotQueued      = "not_queued"       // 409: the message is on its way already
	CodeTooLarge       = "too_large"        // 413
	CodeTooMany        = "too_many"         // 429/503: a limit is reached; try again later
	CodeUnsupported    = "unsupported"      // 422: this version of the CLI cannot do it
	CodeRefused        = "refused_by_agent" // 422: the CLI answered with an error
	CodeStartFailed    = "start_failed"     // 502: the agent could not be started
	CodeTimeout        = "timeout"          // 504: the agent did not answer in time
	CodeStorage        = "storage"          // 503: the journal cannot be written
	CodeClosing        = "closing"          // 503: the hub is shutting down
	CodeInternal       = "internal"         // 500
)

// Error returns title, detail and hint.
func (e *Error) Error() string {
	s := e.Title
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errorf returns an Error with a formatted title.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Title: fmt.Sprintf(format, args...)}
}
