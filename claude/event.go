package claude

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/switchboard-dev/switchboard/wire"
)

// NewestEvent stands for the newest line: a reader that starts after it gets only what
// comes.
const NewestEvent = -1

// An Event is something that the CLI said.
type Event struct {
	// Number is that of its line. It grows from event to event, but not by one:
	// lines that are no events have numbers too.
	Number int64
	// Header is the line's header.
	Header wire.Header
	// Raw is the line. Like the header it is shared by all readers and must not be
	// changed. An event that is kept may keep the lines around it in memory.
	Raw []byte

	tooLong *wire.LineTooLongError
	segment *segment
}

// Message decodes the event, once for all readers that keep up. Most are
// *wire.Assistant, *wire.User, *wire.StreamEvent, *wire.Result and *wire.Init; what
// is not known is a *wire.Unknown. The message is shared and must not be changed.
// The error tells that the line is not a message at all, which only noise is.
func (e Event) Message() (wire.Message, error) {
	return Line{Number: e.Number, Bytes: e.Raw, TooLong: e.tooLong, segment: e.segment}.Message()
}

// Delta returns the piece of text that a stream event adds, without decoding the
// rest. It reports false for every other event.
func (e Event) Delta() (wire.DeltaPeek, bool) { return e.Header.Delta() }

// Events returns what the CLI said behind the line with the number after, and
// what it says from then on. Any number of readers may run, each at its own pace.
// With 0 a reader begins as far back as the session's buffer reaches, with
// [NewestEvent] at what comes next.
//
// In the place of what is no longer kept because the reader was too slow comes a
// [*LaggedError], and the loop goes on behind it. The sequence ends with the
// session: just so if the CLI ended in good order or the session was closed,
// otherwise with the error that says why. The end of ctx ends it with its cause.
//
// Lines that carry control requests and answers, keep_alive and streamlined lines
// are left out; [Session.Lines] has them all.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for l, err := range s.Lines(ctx, after) {
			if err != nil {
				if s.orderly(err) {
					return
				}
				if !yield(Event{}, err) {
					return
				}
				continue
			}
			if !isEvent(&l) {
				continue
			}
			if !yield(Event{l.Number, l.Header, l.Bytes, l.TooLong, l.segment}, nil) {
				return
			}
		}
	}
}

// orderly reports whether an error is a good end of the session.
func (s *Session) orderly(err error) bool {
	if errors.Is(err, io.EOF) {
		return true
	}
	return errors.Is(err, ErrClosed) && errors.Is(s.Err(), ErrClosed)
}

// Lines returns every line that the CLI wrote behind the one with the number
// after, as [Conn.Lines] does; it also takes [NewestEvent]. Its last error says
// why the session ended.
func (s *Session) Lines(ctx context.Context, after int64) iter.Seq2[Line, error] {
	return s.lines(ctx, after, nil)
}

// lines is Lines, with a function that is called before it waits; see Conn.lines.
func (s *Session) lines(ctx context.Context, after int64, pause func() bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if after == NewestEvent {
			after = s.conn.backlog.newest()
		}
		for l, err := range s.conn.lines(ctx, after, pause) {
			if err != nil {
				err = s.whyEnded(err)
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// whyEnded returns the session's error if the one given says that the connection has
// ended, and not what a reader's context says.
func (s *Session) whyEnded(err error) error {
	if end := s.conn.Err(); end != nil && errors.Is(err, end) {
		if why := s.Err(); why != nil {
			return why
		}
	}
	return err
}

var streamlined = []byte("streamlined_")

// isEvent reports whether a line is shown as an event. One that is too long is:
// its message is the error that says so.
func isEvent(l *Line) bool {
	t := l.Header.Type
	if len(t) > 0 && t[0] == 's' {
		return !bytes.HasPrefix(t, streamlined)
	}
	switch string(t) {
	case "control_request", "control_response", "control_cancel_request", "keep_alive", "control_request_progress":
		return false
	}
	return true
}
