package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Unfit returns the error for a request that cannot be right.
func Unfit(format string, args ...any) error {
	return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, format, args...)
}

// Problem turns an error of the journal, on behalf of the session id, into one
// for a client. An *[api.Error] and the end of a context stay as they are; an
// error that is not known is logged.
func Problem(log *slog.Logger, err error, id string) error {
	if err == nil {
		return nil
	}
	var known *api.Error
	var full *journal.UnavailableError
	var taken *journal.TakenError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &full):
		return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "the journal cannot be written", Detail: full.Reason, Hint: "free some disk space; nothing is lost meanwhile"}
	case errors.As(err, &taken):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: taken.Error()}
	case errors.Is(err, journal.ErrCursor):
		return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "the cursor isn't valid", Hint: "use the cursor of the previous page, or none"}
	case errors.Is(err, journal.ErrNotFound):
		return &api.Error{Status: http.StatusNotFound, Code: api.CodeNotFound, Title: fmt.Sprintf("there is no session %q", id)}
	case errors.Is(err, journal.ErrClosed):
		return Closing()
	}
	log.Error("unexpected", "session", id, "err", err)
	return &api.Error{Status: http.StatusInternalServerError, Code: api.CodeInternal, Title: "something went wrong in the hub", Detail: err.Error()}
}

// Closing returns the error for a request that comes too late for a hub.
func Closing() error {
	return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeClosing, Title: "the hub is shutting down", Hint: "try again in a moment"}
}

// CheckFolder refuses what cannot be the path of a folder. It may be empty.
func CheckFolder(dir string) error {
	if dir != "" && !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return Unfit("dir: expected an absolute path, got %.200q", dir)
	}
	return nil
}
