package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// FollowOptions say where to begin and what to leave out. nil means from the
// beginning, with everything.
type FollowOptions struct {
	// After is the id of the last event that you have, such as the LastEventID of
	// a snapshot. Empty means from the beginning, "now" only what comes from now
	// on.
	After string
	// NoLive leaves out deltas and partial messages.
	NoLive bool
	// Kinds leaves out all events but those of these kinds, see the Kind constants
	// of package api. If empty, all come.
	Kinds []string
	// Types leaves out lines of the CLI but those of these types, such as
	// "assistant" or "result". If empty, all come.
	Types []string
	// Messages leaves out all but the conversation: what was said by either side,
	// questions, messages and states.
	Messages bool
	// Lost, if not nil, is told when the connection is lost or cannot be made,
	// and when the next attempt is.
	Lost func(err error, again time.Duration)
}

// The pause between two attempts to connect: it doubles from shortestPause, or
// what the options say, to longestPause, and is drawn between its half and its
// whole so that many clients of a server that was restarted do not come at once.
const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second
)

// A backoff is the pause before the next attempt.
type backoff struct{ first, pause time.Duration }

// next returns how long to wait, and makes the next pause longer.
func (b *backoff) next() time.Duration {
	if b.pause == 0 {
		b.pause = b.first
	}
	wait := b.pause/2 + rand.N(b.pause/2+1) //nolint:gosec // spreads clients, guards nothing
	b.pause = min(2*b.pause, max(longestPause, b.first))
	return wait
}

// reset begins with the shortest pause again.
func (b *backoff) reset() { b.pause = 0 }

// sleep waits, and returns early with ctx's error if that ends.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Follow returns the frames of a session's events, and goes on until ctx ends or
// the loop is left. When the connection is lost it connects again, as often as
// it takes, and goes on after the last event that it has given: none comes
// twice, and none is missing unless a frame says so.
//
// The first frame after each connect is an [api.FrameResume]. Its verdict is
// "ok" if the stream goes on; "gap" if something between was removed; and
// "reset" if the log is another one: forget what you have, it begins anew.
// An [api.FramePartial] replaces all that came before of messages that are being
// written. An [api.FrameClosing] says why a server ends the stream.
//
// An error is the last thing that comes: that of ctx, or an *[api.Error] that
// does not pass by waiting, such as that there is no such session.
func (c *Client) Follow(ctx context.Context, session string, options *FollowOptions) iter.Seq2[api.Frame, error] {
	return c.follow(ctx, sessionPath(session, "/events"), false, options)
}

// Watch returns the frames of the events of all sessions, those that are made
// later too, in the order in which they were written down. It is like
// [Client.Follow] but for the places to begin at: After is an [api.Frame]'s
// Position, as is the LastEventID of a verdict. Each session with something open
// has an [api.FramePartial] of its own.
func (c *Client) Watch(ctx context.Context, options *FollowOptions) iter.Seq2[api.Frame, error] {
	return c.follow(ctx, "/v1/events", true, options)
}

func (c *Client) follow(ctx context.Context, path string, all bool, options *FollowOptions) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		f := follower{client: c, path: path, all: all, yield: yield}
		if options != nil {
			f.options = *options
		}
		f.place = &place{after: f.options.After}
		f.run(ctx)
	}
}

// A follower is one loop over Follow or Watch.
type follower struct {
	client  *Client
	path    string
	all     bool // it follows all sessions
	options FollowOptions
	yield   func(api.Frame, error) bool
	place   *place
	// got says that something came on this connection.
	got bool
}

// errLeft says that the loop was left.
var errLeft = errors.New("the loop was left")

func (f *follower) run(ctx context.Context) {
	pause := backoff{first: f.client.retry}
	for {
		f.got = false
		err := f.connect(ctx)
		switch {
		case errors.Is(err, errLeft):
			return
		case ctx.Err() != nil:
			f.yield(api.Frame{}, ctx.Err())
			return
		case lasting(err):
			f.yield(api.Frame{}, err)
			return
		}
		if f.got {
			pause.reset()
		}
		wait := pause.next()
		if f.options.Lost != nil {
			f.options.Lost(err, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			f.yield(api.Frame{}, err)
			return
		}
	}
}

// query is what a connection asks for.
func (f *follower) query() url.Values {
	q := url.Values{}
	set(q, "after", f.place.after)
	set(q, "kinds", strings.Join(f.options.Kinds, ","))
	set(q, "types", strings.Join(f.options.Types, ","))
	if f.options.NoLive {
		q.Set("live", "false")
	}
	if f.options.Messages {
		q.Set("messages", "true")
	}
	return q
}

// lasting reports whether an error will be the same the next time.
func lasting(err error) bool {
	if _, ok := errors.AsType[*PinError](err); ok {
		return true
	}
	var e *api.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return e.Status < 500
}

// connect opens the stream once and gives its frames until it ends.
func (f *follower) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := f.client.request(ctx, http.MethodGet, f.path, f.query(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if f.place.last != "" {
		req.Header.Set("Last-Event-ID", f.place.last)
	}

	// A dead connection may just be silent.
	silence := f.client.silence
	watch := time.AfterFunc(silence, func() {
		cancel(fmt.Errorf("nothing was heard of the server for %v", silence))
	})
	defer watch.Stop()
	res, err := f.client.http.Do(req)
	if err != nil {
		return because(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return problem(res)
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return &api.Error{Status: http.StatusNotAcceptable, Code: api.CodeInvalid, Title: "This server sends no streams", Detail: "It sent " + kind + "."}
	}
	in := newFrameReader(res.Body, func() { watch.Reset(silence) })
	for {
		frame, err := in.next()
		if errors.Is(err, io.EOF) {
			return errors.New("the server ended the stream")
		}
		if err != nil {
			return because(ctx, fmt.Errorf("reading the stream: %w", err))
		}
		f.got = true
		if f.all {
			frame.Position = in.id
		}
		if !f.place.take(&frame) {
			continue
		}
		// The reader may take its time: that is not the server's silence.
		watch.Stop()
		if !f.yield(frame, nil) {
			return errLeft
		}
		watch.Reset(silence)
	}
}

// because returns why a context was ended, if it was, else the error that came
// of it.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// A place is how far a follower has come.
type place struct {
	after string // where the first connect begins
	last  string // the id of the last event; empty before the first
	epoch string // of last
	seq   int64  // of last
}

// take notes a frame and reports whether it is to be given: an event that was
// given already is not.
func (p *place) take(f *api.Frame) bool {
	switch {
	case f.Type == api.FrameResume && f.Resume != nil:
		switch {
		case f.Resume.Resume == "reset":
			*p = place{}
		case p.after == "now" && p.last == "":
			// From here on there is a place to come back to: "now" would be later
			// then.
			*p = place{}
			p.set(f.Resume.LastEventID)
		}
	case f.Type == api.FrameEvent && f.Event != nil:
		id := f.Event.ID
		if f.Position != "" {
			id = f.Position
		}
		epoch, seq, ok := cutID(id)
		if ok && epoch == p.epoch && seq <= p.seq {
			return false
		}
		p.set(id)
	}
	return true
}

func (p *place) set(id string) {
	if id == "" {
		return
	}
	p.last = id
	p.epoch, p.seq, _ = cutID(id)
}

// cutID takes an event's id apart. Ids of another form are not compared.
func cutID(id string) (epoch string, seq int64, ok bool) {
	epoch, number, ok := strings.Cut(id, ":")
	if !ok {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	return epoch, seq, err == nil
}
