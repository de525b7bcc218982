package claude

import (
	"errors"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// A LoginError reports that the CLI has no valid login: it never had one, the
// login has expired or the account may not be used. A person has to log in,
// with "claude auth login" or "/login" in a terminal, or the program has to pass
// a key on; see [Options].PassAPIKey.
type LoginError struct {
	// Reason is the CLI's own text, such as "Not logged in · Please run /login".
	Reason string
	// Kind is the CLI's own word for what is wrong. It is empty if it told none.
	Kind wire.AssistantError
	// Err is how it showed: a [*ResultError] if a turn failed because of it, an
	// [*ExitError] if the CLI ended because of it.
	Err error
}

// Error gives the CLI's reason and says what to do.
func (e *LoginError) Error() string {
	s := "claude has no valid login"
	if e.Reason != "" {
		s += ": " + oneLine(e.Reason)
	}
	return s + `; log in with "claude auth login", or set PassAPIKey if a key is to be used`
}

// Unwrap returns Err.
func (e *LoginError) Unwrap() error { return e.Err }

// A ConversationNotFoundError reports that there is nothing to resume: the CLI
// knows no conversation, or no message in it, by that name. A new conversation
// can be started in its place.
type ConversationNotFoundError struct {
	// Reason is the CLI's own text, which names what was not found.
	Reason string
	// Message tells that the conversation was found and that it was the message
	// of [Options].ResumeSessionAt that was not.
	Message bool
	// Err is how it showed, mostly an [*ExitError].
	Err error
}

// Error gives the CLI's reason.
func (e *ConversationNotFoundError) Error() string {
	return "there is nothing to resume: " + oneLine(e.Reason)
}

// Unwrap returns Err.
func (e *ConversationNotFoundError) Unwrap() error { return e.Err }

// A ConversationInUseError reports that the conversation could not be started
// under the id of [Options].SessionID, since there is one, or that another
// process of the CLI holds it.
type ConversationInUseError struct {
	// Reason is the CLI's own text.
	Reason string
	// Err is how it showed, mostly an [*ExitError].
	Err error
}

// Error gives the CLI's reason.
func (e *ConversationInUseError) Error() string {
	return "the conversation is in use: " + oneLine(e.Reason)
}

// Unwrap returns Err.
func (e *ConversationInUseError) Unwrap() error { return e.Err }

// A ResultError reports a turn that failed. The session goes on: the next prompt
// is tried again.
type ResultError struct {
	// Subtype is how the turn ended, such as
	// [wire.ResultSubtypeErrorMaxTurns]. It is success for a turn that failed
	// at the API: the CLI itself did what it could.
	Subtype wire.ResultSubtype
	// Kind is the class of the API's failure, such as
	// [wire.AssistantErrorRateLimit]. It is empty if the API did not fail.
	Kind wire.AssistantError
	// Status is the HTTP status of that failure, 0 if it is not known.
	Status int
	// Reason says in more detail why the turn ended; newer versions tell it.
	Reason wire.TerminalReason
	// Text is what the CLI says about it, for people. It may be empty.
	Text string
	// Result is the whole result, shared and read only.
	Result *wire.Result
}

// Error says how the turn ended and gives the CLI's text.
func (e *ResultError) Error() string {
	var s string
	switch e.Subtype {
	case wire.ResultSubtypeErrorMaxTurns:
		s = "the turn was ended at its limit of model calls (MaxTurns)"
	case wire.ResultSubtypeErrorMaxBudgetUSD:
		s = "the turn was ended because the budget is used up (MaxBudgetUSD)"
	case wire.ResultSubtypeErrorMaxStructuredOutputRetries:
		s = "the turn was ended because the model did not follow the schema (JSONSchema)"
	case wire.ResultSubtypeSuccess:
		s = "the turn failed at the API"
		if e.Kind != "" {
			s += " (" + string(e.Kind) + ")"
		}
	case wire.ResultSubtypeErrorDuringExecution:
		s = "the turn was interrupted or failed"
	default:
		s = "the turn failed (" + string(e.Subtype) + ")"
	}
	if e.Text != "" {
		s += ": " + oneLine(e.Text)
	}
	return s
}

// resultError returns why a turn failed, nil if it did not. kind is the error of
// the turn's last assistant message.
func resultError(r *wire.Result, kind wire.AssistantError) error {
	if r == nil || !r.Failed() {
		return nil
	}
	e := &ResultError{Subtype: r.Subtype, Kind: kind, Reason: r.TerminalReason, Text: failureText(r), Result: r}
	if r.APIErrorStatus != nil {
		e.Status = int(*r.APIErrorStatus)
	}
	switch {
	case needsLogin(r, kind):
		return &LoginError{Reason: e.Text, Kind: kind, Err: e}
	case isNotFound(e.Text):
		return &ConversationNotFoundError{Reason: e.Text, Message: strings.Contains(e.Text, noMessage), Err: e}
	}
	return e
}

// failureText is what a failed result says, without what is not for people.
func failureText(r *wire.Result) string {
	var texts []string
	for _, s := range r.Errors {
		if !strings.HasPrefix(s, "[ede_diagnostic]") {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 && r.Result != "" {
		return r.Result
	}
	return strings.Join(texts, "; ")
}

// The CLI's own words, the same from 2.1.37 to 2.1.325, where it has no code.
const (
	noConversation = "No conversation found"
	noMessage      = "No message found with message.uuid"
	noResumable    = "--resume requires a valid session ID"
	loginHint      = "Please run /login"
	idTaken        = "Session ID"
	alreadyInUse   = "is already in use"
)

func isNotFound(text string) bool {
	return strings.Contains(text, noConversation) || strings.Contains(text, noMessage) || strings.Contains(text, noResumable)
}

// needsLogin reports whether a turn failed because of the login.
func needsLogin(r *wire.Result, kind wire.AssistantError) bool {
	switch kind { //nolint:exhaustive // the others have nothing to do with it
	case wire.AssistantErrorAuthenticationFailed, wire.AssistantErrorOAuthOrgNotAllowed,
		wire.AssistantErrorAccountOnHold, wire.AssistantErrorVerificationRequired,
		wire.AssistantErrorCloudCredentialError:
		return true
	}
	if r.StartupFailureReason == wire.StartupFailureReasonGatewaySignInRequired {
		return true
	}
	if r.Subtype == wire.ResultSubtypeSuccess && strings.Contains(r.Result, loginHint) {
		return true // older ones, which tell no kind
	}
	return r.APIErrorStatus != nil && *r.APIErrorStatus == 401
}

// trouble is what the lines of a CLI tell about why it will end: the exit code
// itself says next to nothing. The zero value is ready to use, and all methods
// are safe for concurrent use.
type trouble struct {
	mu     sync.Mutex
	kind   wire.AssistantError // of the last message, until a turn succeeds
	result *wire.Result        // the last one, if it failed
	auth   *wire.AuthStatus    // the last one, if it failed
}

// observe reads a message of the CLI. Only results, assistant messages with an error and the
// states of a login matter.
func (t *trouble) observe(m wire.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m := m.(type) { //nolint:gochecksumtype // the others say nothing about it
	case *wire.Assistant:
		if m.Error != "" {
			t.kind = m.Error
		}
	case *wire.AuthStatus:
		t.auth = nil
		if m.Error != "" {
			t.auth = m
		}
	case *wire.Result:
		t.result = m
		if !m.Failed() {
			t.result, t.kind, t.auth = nil, "", nil
		}
	}
}

// explain returns a better error for the end of a connection, or for a start
// that failed, than the bare one; the bare one if there is none.
func (t *trouble) explain(err error) error {
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	t.mu.Lock()
	result, kind, auth := t.result, t.kind, t.auth
	t.mu.Unlock()
	exit, exited := errors.AsType[*ExitError](err)
	if exited && exit.Signal != "" {
		return err // whatever was said before, this is what happened
	}
	if exited && result != nil && exit.Result == nil {
		told := *exit
		told.Result = result
		exit, err = &told, &told
	}
	if result != nil {
		switch why := resultError(result, kind).(type) { //nolint:errorlint // made here, not wrapped
		case *LoginError:
			return &LoginError{Reason: why.Reason, Kind: why.Kind, Err: err}
		case *ConversationNotFoundError:
			return &ConversationNotFoundError{Reason: why.Reason, Message: why.Message, Err: err}
		}
		if result.StartupFailureReason == wire.StartupFailureReasonSessionHeldByBackground {
			return &ConversationInUseError{Reason: failureText(result), Err: err}
		}
	}
	if auth != nil {
		return &LoginError{Reason: auth.Error, Err: err}
	}
	if refused, ok := errors.AsType[*ControlError](err); ok && (refused.Code == "auth_failed" || strings.Contains(refused.Message, loginHint)) {
		return &LoginError{Reason: refused.Message, Err: err}
	}
	if exited {
		return explainStderr(exit, err)
	}
	return err
}

// explainStderr recognises what a CLI prints to standard error alone, which is
// what it does before it has read its first line.
func explainStderr(exit *ExitError, err error) error {
	last := exit.Stderr
	switch {
	case isNotFound(last):
		return &ConversationNotFoundError{Reason: last, Message: strings.Contains(last, noMessage), Err: err}
	case strings.Contains(last, idTaken) && strings.Contains(last, alreadyInUse): // not a port, or a file
		return &ConversationInUseError{Reason: last, Err: err}
	case strings.Contains(last, loginHint):
		return &LoginError{Reason: last, Err: err}
	}
	return err
}
