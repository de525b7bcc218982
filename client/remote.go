package client

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// ErrClosed is the error of a loop over a remote session that is closed.
var ErrClosed = errors.New("the remote session is closed")

// errBusy is the error of a second loop.
var errBusy = errors.New("another caller reads this remote session already; open another one")

// RemoteOptions are the choices of [Client.Open]. nil is valid: it begins now and
// leaves questions to others.
type RemoteOptions struct {
	// After is the id of the last event that you have. If empty, [RemoteSession.Frames]
	// begins with what comes after Open, or, with History, with the first event of
	// the log.
	After   string
	History bool
	// NoLive leaves out deltas and partial messages.
	NoLive bool
	// Answer, if not nil, is asked what to answer to each question of the session,
	// those that are open already too. Each call has a goroutine of its own, and may
	// take its time. When another client was faster, or the agent no longer wants to
	// know, its ctx ends with a *[SettledError] as its cause, and what it returns
	// does not count. An error leaves the question open, for others.
	Answer func(ctx context.Context, q api.Question) (api.Answer, error)
	// Failed, if not nil, is told when Answer returned an error, and when the server
	// refused the answer; the question is still open then.
	Failed func(q api.Question, err error)
	// Lost, if not nil, is told when a connection is lost or cannot be made, and when
	// the next attempt is.
	Lost func(err error, again time.Duration)
}

// A SettledError is why a question need not be answered any more.
type SettledError struct {
	// Question is the question as it was settled.
	Question api.Question
}

// Error names the client that was faster.
func (e *SettledError) Error() string {
	switch {
	case e.Question.State == api.QuestionCancelled:
		return "the question was withdrawn"
	case e.Question.By != "":
		return "the question was answered by " + e.Question.By
	}
	return "the question was answered already"
}

// A RemoteSession is a session of a server that feels like one of your own: what
// the agent says comes in, what you say goes out, and its questions come to a
// function of yours. Connections that are lost are made anew by themselves.
//
// Frames and Messages run in the goroutine that loops over them, and hold no
// queue: the server waits for a slow reader. Questions have a connection
// of their own, so that they do not wait for that. Its goroutines, one for questions
// and one for each that is being answered, are joined by Close. All methods are
// safe for concurrent use.
type RemoteSession struct {
	// Static after construction.
	client  *Client
	id      string
	opened  *api.Session
	options RemoteOptions
	ctx     context.Context //nolint:containedctx // the session's own life
	close   context.CancelCauseFunc
	tasks   sync.WaitGroup

	reading sync.Mutex // held by the goroutine that loops
	place   place      // of that loop; guarded by reading
}

// Open opens a session that there is: it looks at it and begins to follow its
// questions, if options.Answer is there. The session, the agent's and the remote
// one, goes on when ctx ends, which bounds Open alone.
func (c *Client) Open(ctx context.Context, session string, options *RemoteOptions) (*RemoteSession, error) {
	r := &RemoteSession{client: c, id: session}
	if options != nil {
		r.options = *options
	}
	snapshot, err := c.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	r.opened, r.id = snapshot, snapshot.ID
	switch {
	case r.options.After != "":
		r.place = place{after: r.options.After}
	case !r.options.History:
		r.place = place{after: snapshot.LastEventID}
	}
	r.ctx, r.close = context.WithCancelCause(context.WithoutCancel(ctx))
	if r.options.Answer != nil {
		a := &answerer{remote: r, open: map[string]context.CancelCauseFunc{}}
		r.tasks.Go(func() {
			r.close(a.run(r.ctx, snapshot)) // nothing happens if it is closed already
		})
	}
	return r, nil
}

// Close ends all loops and connections, and the contexts of all calls of Answer,
// and waits for these. Questions stay open, and the agent goes on. It returns what
// Err does. It must not be called by Answer itself.
func (r *RemoteSession) Close() error {
	r.close(ErrClosed)
	r.tasks.Wait()
	return r.Err()
}

// Done is closed when the remote session is over: it was closed, or questions
// cannot be followed any more, for a reason that does not pass by waiting.
func (r *RemoteSession) Done() <-chan struct{} { return r.ctx.Done() }

// Err returns that reason, an *[api.Error] for instance. It is nil as long as the
// session is not over, and if it was closed.
func (r *RemoteSession) Err() error {
	if err := r.over(); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// over returns why the remote session is over, nil if it is not.
func (r *RemoteSession) over() error { return context.Cause(r.ctx) }

// ID returns the session's id.
func (r *RemoteSession) ID() string { return r.id }

// Opened returns the session as it was when it was opened. It must not be changed.
func (r *RemoteSession) Opened() *api.Session { return r.opened }

// Frames returns what happens in the session, as [Client.Follow] does. A loop that
// was left is gone on with by the next one: none comes twice. Only one loop at a
// time is possible, over Frames or Messages; another ends with an error at once.
// When the remote session is closed the error is [ErrClosed], if it is over for
// another reason that of Err.
func (r *RemoteSession) Frames(ctx context.Context) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		if !r.reading.TryLock() {
			yield(api.Frame{}, errBusy)
			return
		}
		defer r.reading.Unlock()
		if err := r.over(); err != nil {
			yield(api.Frame{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.ctx, cancel)()
		f := follower{
			client: r.client, path: sessionPath(r.id, "/events"), place: &r.place,
			options: FollowOptions{NoLive: r.options.NoLive, Lost: r.options.Lost},
			yield: func(f api.Frame, err error) bool {
				if over := r.over(); err != nil && over != nil {
					err = over
				}
				return yield(f, err)
			},
		}
		f.run(ctx)
	}
}

// Messages returns what the agent's CLI says, as the types of package wire: lines
// that are kept and, unless NoLive is set, those that are not, such as token
// deltas. All else, and lines that are no JSON, is left out; see
// [RemoteSession.Frames], whose rules for loops hold here too.
func (r *RemoteSession) Messages(ctx context.Context) iter.Seq2[wire.Message, error] {
	return func(yield func(wire.Message, error) bool) {
		for frame, err := range r.Frames(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			e := frame.Event
			if e == nil || len(e.Line) == 0 || e.Kind != api.KindLine && e.Kind != api.KindLive {
				continue
			}
			message, err := wire.Decode(e.Line)
			if err != nil {
				continue
			}
			if !yield(message, nil) {
				return
			}
		}
	}
}

// Snapshot returns the session as it is now.
func (r *RemoteSession) Snapshot(ctx context.Context) (*api.Session, error) {
	return r.client.Session(ctx, r.id)
}

// Send sends a text to the agent, which gets it when it is idle. It is sent again,
// and arrives once, if the connection is lost meanwhile.
func (r *RemoteSession) Send(ctx context.Context, text string) (*api.Message, error) {
	return r.SendMessage(ctx, api.SendMessage{Text: text})
}

// Steer sends a text into the running turn.
func (r *RemoteSession) Steer(ctx context.Context, text string) (*api.Message, error) {
	return r.SendMessage(ctx, api.SendMessage{Text: text, Mode: "steer"})
}

// SendMessage sends a message to the agent. It is sent again, and arrives once, if
// the connection is lost meanwhile.
func (r *RemoteSession) SendMessage(ctx context.Context, m api.SendMessage) (*api.Message, error) {
	if m.ClientID == "" {
		m.ClientID = newID()
	}
	return insist(ctx, r, func(ctx context.Context) (*api.Message, error) { return r.client.Send(ctx, r.id, m) })
}

// TakeBack takes a message back that is still queued, by its client id.
func (r *RemoteSession) TakeBack(ctx context.Context, clientID string) (*api.Message, error) {
	return r.client.TakeBack(ctx, r.id, clientID)
}

// Answer answers a question of the session. It is sent again, and counts once, if
// the connection is lost meanwhile; see [Client.Answer].
func (r *RemoteSession) Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error) {
	if a.ClientID == "" {
		a.ClientID = newID()
	}
	return insist(ctx, r, func(ctx context.Context) (*api.Question, error) { return r.client.Answer(ctx, question, a) })
}

// Interrupt stops the current turn and returns when it has ended. It is not sent a
// second time: a late one would stop another turn.
func (r *RemoteSession) Interrupt(ctx context.Context) (*api.Interrupted, error) {
	return r.client.Interrupt(ctx, r.id, api.Interrupt{})
}

// Update changes the session's title, model, permission mode or thinking.
func (r *RemoteSession) Update(ctx context.Context, in api.UpdateSession) (*api.Session, error) {
	return r.client.Update(ctx, r.id, in)
}

// SetModel changes the model; empty is the default one.
func (r *RemoteSession) SetModel(ctx context.Context, model string) error {
	_, err := r.Update(ctx, api.UpdateSession{Model: &model})
	return err
}

// SetPermissionMode changes the permission mode.
func (r *RemoteSession) SetPermissionMode(ctx context.Context, mode wire.PermissionMode) error {
	_, err := r.Update(ctx, api.UpdateSession{PermissionMode: &mode})
	return err
}

// Stop ends the agent's process. The session stays: the next message resumes it.
func (r *RemoteSession) Stop(ctx context.Context) (*api.Session, error) {
	return r.client.Stop(ctx, r.id, api.Stop{})
}

// insist repeats a request that can be repeated until the server has said
// something about it, ctx ends or the session is closed.
func insist[T any](ctx context.Context, r *RemoteSession, request func(context.Context) (*T, error)) (*T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	pause := backoff{first: r.client.retry}
	for {
		// The session's end cancels ctx in a goroutine of its own: a request that is
		// made after Close must not overtake it.
		if err := r.over(); err != nil {
			return nil, err
		}
		out, err := request(ctx)
		switch {
		case err == nil:
			return out, nil
		case r.over() != nil:
			return nil, r.over()
		case ctx.Err() != nil || lasting(err):
			return nil, err
		}
		wait := pause.next()
		if r.options.Lost != nil {
			r.options.Lost(err, wait)
		}
		if sleep(ctx, wait) != nil {
			return nil, err
		}
	}
}
