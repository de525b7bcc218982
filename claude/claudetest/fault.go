package claudetest

import (
	"fmt"
	"net/http"
)

// An APIError is an error as the Messages API reports it: with an HTTP status as the answer (see [Reply.Error]), or as an event in the middle
// of a stream (see [ErrorAfter]).
type APIError struct {
	// Status is the HTTP status, from 400 to 599. Anything else is a mistake in the script and answered as a 500 that says so.
	Status int

	// Type is the error's type. If empty, the one that the API has for the status, such as "overloaded_error" for 529.
	Type string

	// Message is the error's text. If empty, a short one that fits the status.
	Message string
}

// Fail returns a reply that is an error: the HTTP status with the API's error body instead of a message. An empty message is replaced by a
// short one that fits the status. Fail panics if the status is not from 400 to 599, which is a mistake in the script.
func Fail(status int, message string) Reply {
	if !isErrorStatus(status) {
		panic(fmt.Sprintf("claudetest: %d is not the HTTP status of an error", status))
	}
	return Reply{Error: &APIError{Status: status, Message: message}}
}

func isErrorStatus(status int) bool { return 400 <= status && status <= 599 }

// complete fills in what the script left open.
func (e APIError) complete() APIError {
	if !isErrorStatus(e.Status) {
		return APIError{
			Status: http.StatusInternalServerError, Type: "api_error",
			Message: fmt.Sprintf("the script of the simulated model asks for an error with the HTTP status %d", e.Status),
		}
	}
	kind, text := "api_error", http.StatusText(e.Status)
	switch e.Status {
	case http.StatusBadRequest:
		kind, text = "invalid_request_error", "The simulated model does not take this request"
	case http.StatusUnauthorized:
		kind, text = "authentication_error", "invalid x-api-key"
	case http.StatusPaymentRequired:
		kind, text = "billing_error", "There is a problem with the billing of this account"
	case http.StatusForbidden:
		kind, text = "permission_error", "This key may not use the resource"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusTooManyRequests:
		kind, text = "rate_limit_error", "This request would exceed the rate limit of the account"
	case http.StatusInternalServerError:
		text = "Internal server error"
	case http.StatusGatewayTimeout:
		kind = "timeout_error"
	case statusOverloaded:
		kind, text = "overloaded_error", "Overloaded"
	default:
		if e.Status < 500 {
			kind = "invalid_request_error"
		}
		if text == "" {
			text = "Error"
		}
	}
	if e.Type == "" {
		e.Type = kind
	}
	if e.Message == "" {
		e.Message = text
	}
	return e
}

// statusOverloaded is the API's own status for "too busy", which net/http has no name for.
const statusOverloaded = 529

// apiError is an error on the wire. The order of its members is the API's: some CLIs show the body to the user as it came.
type apiError struct {
	Type      string         `json:"type"`
	Error     apiErrorDetail `json:"error"`
	RequestID string         `json:"request_id"`
}

type apiErrorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// body returns the error in the form the API gives it, in an answer and in an event alike.
func (e APIError) body(requestID string) apiError {
	return apiError{Type: "error", Error: apiErrorDetail{Type: e.Type, Message: e.Message}, RequestID: requestID}
}

// A Fault is something that goes wrong in the middle of a reply; [CutAfter], [MalformedAfter], [ErrorAfter] and
// [HoldAfter] make one. The zero Fault is
// none.
//
// A fault happens after so many events of the stream: 0 is before the first one, and a message of fewer events has its fault at its end. As
// there are no events in an answer that is not streamed, each constructor says what happens there.
type Fault struct {
	kind  faultKind
	after int
	raw   string
	err   APIError
	until <-chan struct{}
}

type faultKind int

const (
	faultNone faultKind = iota
	faultCut
	faultMalformed
	faultError
	faultHold
)

// CutAfter closes the connection after so many events of the stream, without the end that a complete answer has. An answer that is not
// streamed is cut where its content would begin.
//
// Like any handler that gives up, [Model.ServeHTTP] then panics with [http.ErrAbortHandler]; net/http's server knows what it means.
func CutAfter(events int) Fault { return Fault{kind: faultCut, after: max(events, 0)} }

// MalformedAfter writes raw bytes into the stream after so many events, and then goes on in good order. If raw is empty, it is an event whose
// data is half a JSON object. An answer that is not streamed consists of the raw bytes alone.
func MalformedAfter(events int, raw string) Fault {
	return Fault{kind: faultMalformed, after: max(events, 0), raw: raw}
}

// ErrorAfter sends an error event after so many events and ends the stream, which is how the API reports what goes wrong after it has begun
// to answer. An answer that is not streamed fails with the error's status.
func ErrorAfter(events int, e APIError) Fault {
	return Fault{kind: faultError, after: max(events, 0), err: e.complete()}
}

// HoldAfter stops the stream after so many events until the channel is closed, and then continues in good order. It is for tests in which
// something has to happen in the middle of a message. An answer that is not streamed is held as a whole. The CLI's going away ends the wait.
func HoldAfter(events int, until <-chan struct{}) Fault {
	return Fault{kind: faultHold, after: max(events, 0), until: until}
}

const (
	malformedEvent = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_de\n\n"
	malformedBody  = `{"id":"msg_malformed","type":"message","content":[{"type":"te`
)
