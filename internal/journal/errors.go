package journal

import (
	"errors"
	"fmt"
)

// Errors that callers branch on.
var (
	// ErrNotFound means that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that another writer has written to the session since.
	ErrConflict = errors.New("another writer has written to this session")
	// ErrCursor means that a cursor is not one that a page came with.
	ErrCursor = errors.New("unknown cursor")
	// ErrClosed means that the journal was closed.
	ErrClosed = errors.New("the journal is closed")
)

// An UnavailableError says that nothing can be written at present, because the
// disk is full, read-only or fails. It may pass.
type UnavailableError struct {
	// Reason says what is wrong and what to do, in one sentence.
	Reason string
	Err    error
}

// Error returns the reason.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the journal cannot be written: %s", e.Reason)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// A TakenError says that a lease or a client id is held by another. It is
// an [ErrConflict].
type TakenError struct {
	// Lease is the lease that is held, with its holder; nil for a client id.
	Lease *Lease
	// ClientID is the client id that is taken, with its answer; nil for a lease.
	ClientID *ClientID
}

// Error names its holder.
func (e *TakenError) Error() string {
	if e.Lease != nil {
		return fmt.Sprintf("conversation %s is driven by run %d of session %s", e.Lease.Conversation, e.Lease.Run, e.Lease.Session)
	}
	return fmt.Sprintf("client id %q was used before", e.ClientID.ID)
}

// Is reports that a TakenError is an ErrConflict.
func (e *TakenError) Is(target error) bool { return target == ErrConflict }

// A FileError says that the file cannot be used as it is: damaged, made by a
// newer program, or in use.
type FileError struct {
	Path string
	// Reason says what is wrong, Hint what to do.
	Reason, Hint string
	Err          error
}

// Error returns reason and hint.
func (e *FileError) Error() string { return fmt.Sprintf("%s: %s; %s", e.Path, e.Reason, e.Hint) }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
