package claude

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// A line decodes a line that must be a message.
func message(t *testing.T, line string) wire.Message {
	t.Helper()
	m, err := wire.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func result(t *testing.T, members string) *wire.Result {
	t.Helper()
	r, ok := message(t, `{"type":"result",`+members+`}`).(*wire.Result)
	if !ok {
		t.Fatal("not a result")
	}
	return r
}

func TestResultError(t *testing.T) {
	tests := []struct {
		name   string
		result string
		kind   wire.AssistantError
		want   string // what the error says; "" for none
		login  bool
		lost   bool // nothing to resume
	}{
		{"success", `"subtype":"success","is_error":false,"result":"x"`, "", "", false, false},
		{"not logged in", `"subtype":"success","is_error":true,"result":"Not logged in · Please run /login"`, wire.AssistantErrorAuthenticationFailed, "claude has no valid login: Not logged in", true, false},
		{"not logged in, no kind", `"subtype":"success","is_error":true,"result":"Not logged in · Please run /login"`, "", "claude auth login", true, false},
		{"401", `"subtype":"success","is_error":true,"result":"x","api_error_status":401`, "", "claude has no valid login: x", true, false},
		{"on hold", `"subtype":"success","is_error":true,"result":"x"`, wire.AssistantErrorAccountOnHold, "claude has no valid login: x", true, false},
		{"sign in", `"subtype":"error_during_execution","is_error":true,"errors":["y"],"startup_failure_reason":"gateway_signin_required"`, "", "claude has no valid login: y", true, false},
		{"overloaded", `"subtype":"success","is_error":true,"result":"API Error: 529","api_error_status":529`, wire.AssistantErrorServerError, "the turn failed at the API (server_error): API Error: 529", false, false},
		{"an API error without a kind", `"subtype":"success","is_error":true,"result":"API Error"`, "", "the turn failed at the API: API Error", false, false},
		{"turns", `"subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]`, "", "MaxTurns): Reached maximum", false, false},
		{"turns, older", `"subtype":"error_max_turns","is_error":false,"errors":[]`, "", "limit of model calls (MaxTurns)", false, false},
		{"budget", `"subtype":"error_max_budget_usd","is_error":false`, "", "MaxBudgetUSD", false, false},
		{"retries", `"subtype":"error_max_structured_output_retries","is_error":true`, "", "JSONSchema", false, false},
		{"interrupted", `"subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] x"]`, "", "the turn was interrupted or failed", false, false},
		{"of the future", `"subtype":"error_of_the_future","is_error":true,"errors":["a","b"]`, "", "the turn failed (error_of_the_future): a; b", false, false},
		{"nothing to resume", `"subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]`, "", "nothing to resume: No conversation found", false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := result(t, test.result)
			err := resultError(r, test.kind)
			if (err == nil) != (test.want == "") {
				t.Fatalf("the error is %v", err)
			}
			if err == nil {
				return
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "ede_diagnostic") {
				t.Errorf("the error is %q, expected %q in it", err, test.want)
			}
			login, isLogin := errors.AsType[*LoginError](err)
			_, isLost := errors.AsType[*ConversationNotFoundError](err)
			inner, isResult := errors.AsType[*ResultError](err)
			if isLogin != test.login || isLost != test.lost || !isResult || inner.Result != r || inner.Kind != test.kind {
				t.Errorf("the error is a %T", err)
			}
			if isLogin && login.Kind != test.kind {
				t.Errorf("its kind is %q", login.Kind)
			}
			if r.APIErrorStatus != nil && int64(inner.Status) != *r.APIErrorStatus {
				t.Errorf("its status is %d", inner.Status)
			}
		})
	}
	if err := resultError(nil, wire.AssistantErrorAuthenticationFailed); err != nil {
		t.Errorf("no result at all: %v", err)
	}
}

// What a CLI has said before it ended says more than its exit code.
func TestTroubleExplains(t *testing.T) {
	const (
		unauthorised = `{"type":"assistant","error":"authentication_failed","message":{"content":[]}}`
		notLoggedIn  = `{"type":"result","subtype":"success","is_error":true,"result":"Not logged in"}`
		good         = `{"type":"result","subtype":"success","is_error":false,"result":"x"}`
		overloaded   = `{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529"}`
		unknownID    = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]}`
		unknownUUID  = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No message found with message.uuid of: x"]}`
		held         = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["It is held."],"startup_failure_reason":"session_held_by_background"}`
		sandbox      = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No sandbox."],"startup_failure_reason":"sandbox_required_unavailable"}`
		authFailed   = `{"type":"auth_status","isAuthenticating":false,"output":[],"error":"The code is wrong."}`
		authGoesOn   = `{"type":"auth_status","isAuthenticating":true,"output":[]}`
	)
	exit := func() error { return &ExitError{Code: 1, Stderr: "some words"} }
	refused := func(code, text string) error {
		return fmt.Errorf("requesting initialize: %w", &ControlError{Subtype: "initialize", Code: code, Message: text})
	}
	tests := []struct {
		name  string
		lines []string
		err   error
		kind  string
		text  string
	}{
		{"nothing said", nil, exit(), "*claude.ExitError", "exited with code 1: some words"},
		{"no login", []string{unauthorised, notLoggedIn}, exit(), "*claude.LoginError", "no valid login: Not logged in"},
		{"a login that failed", []string{authGoesOn, authFailed}, io.ErrUnexpectedEOF, "*claude.LoginError", "The code is wrong."},
		{"a login that was tried again", []string{authFailed, authGoesOn}, exit(), "*claude.ExitError", "exited"},
		{"a login that worked in the end", []string{unauthorised, notLoggedIn, good}, exit(), "*claude.ExitError", "some words"},
		{"an error result", []string{overloaded}, exit(), "*claude.ExitError", "exited with code 1: API Error: 529"},
		{"killed after an error result", []string{unauthorised, notLoggedIn}, &ExitError{Code: -1, Signal: "killed"}, "*claude.ExitError", "killed"},
		{"an unknown conversation", []string{unknownID}, exit(), "*claude.ConversationNotFoundError", "nothing to resume: No conversation found"},
		{"an unknown message", []string{unknownUUID}, exit(), "*claude.ConversationNotFoundError", "nothing to resume: No message found"},
		{"an unknown title", nil, &ExitError{Code: 1, Stderr: "Error: --resume requires a valid session ID or session title"}, "*claude.ConversationNotFoundError", "--resume requires"},
		{"a conversation held elsewhere", []string{held}, exit(), "*claude.ConversationInUseError", "in use: It is held."},
		{"an id in use", nil, &ExitError{Code: 1, Stderr: "Error: Session ID x is already in use."}, "*claude.ConversationInUseError", "already in use"},
		{"a port in use", nil, &ExitError{Code: 1, Stderr: "MCP server x: port 3000 is already in use"}, "*claude.ExitError", "port 3000"},
		{"no login, on standard error", nil, &ExitError{Code: 1, Stderr: "Invalid API key · Please run /login"}, "*claude.LoginError", "Invalid API key"},
		{"a startup failure", []string{sandbox}, exit(), "*claude.ExitError", "exited with code 1 (sandbox_required_unavailable): No sandbox."},
		{"refused because of the login", nil, refused("auth_failed", "No."), "*claude.LoginError", "No."},
		{"refused for another reason", nil, refused("x", "No."), "*claude.ControlError", "the CLI refused initialize: No. (x)"},
		{"closed by us", []string{unauthorised, notLoggedIn}, ErrClosed, "", "closed"},
		{"something else", nil, io.ErrUnexpectedEOF, "", "unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var said trouble
			for _, line := range test.lines {
				said.observe(message(t, line))
			}
			err := said.explain(test.err)
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("the error is %v, expected %q in it", err, test.text)
			}
			found := ""
			if e, ok := errors.AsType[*ExitError](err); ok {
				found = fmt.Sprintf("%T", e)
			}
			if e, ok := errors.AsType[*ControlError](err); ok {
				found = fmt.Sprintf("%T", e)
			}
			for _, e := range []error{as[*LoginError](err), as[*ConversationNotFoundError](err), as[*ConversationInUseError](err)} {
				if e != nil {
					found = fmt.Sprintf("%T", e)
				}
			}
			if found != test.kind {
				t.Errorf("the error is a %s, expected a %s", found, test.kind)
			}
			if _, was := errors.AsType[*ExitError](test.err); was {
				if _, still := errors.AsType[*ExitError](err); !still {
					t.Error("how it exited is lost")
				}
			}
			if e, ok := errors.AsType[*ConversationNotFoundError](err); ok && e.Message != strings.Contains(test.name, "message") {
				t.Errorf("Message is %t", e.Message)
			}
		})
	}
	if err := (&trouble{}).explain(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	// The process's own error is shared and stays as it is.
	own, said := &ExitError{Code: 1}, trouble{}
	said.observe(message(t, overloaded))
	if err := said.explain(own); own.Result != nil || !errors.As(err, new(*ExitError)) {
		t.Errorf("it is now %+v", own)
	}
}

// as returns an error of a type as an error, nil if there is none.
func as[E error](err error) error {
	if e, ok := errors.AsType[E](err); ok {
		return e
	}
	return nil
}

func TestMismatchErrorText(t *testing.T) {
	e := &MismatchError{Raw: []byte(`{"a":1}`), Text: "text", Err: io.ErrUnexpectedEOF}
	if s := e.Error(); !strings.Contains(s, "unexpected EOF") || !strings.Contains(s, `{\"a\":1}`) || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("got %q", s)
	}
	e = &MismatchError{Text: strings.Repeat("ü", 300), Err: io.EOF}
	if s := e.Error(); len(s) > 400 || !strings.Contains(s, "üü") || !strings.Contains(s, "…") {
		t.Errorf("got %q", s)
	}
}

func TestLaggedErrorIsErrLagged(t *testing.T) {
	if err := fmt.Errorf("reading: %w", &LaggedError{Missed: 1}); !errors.Is(err, ErrLagged) || errors.Is(err, ErrClosed) {
		t.Errorf("%v is not ErrLagged, or is something else", err)
	}
}
