package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// A Hub is what [Attach] needs of a server. Package client has it.
type Hub interface {
	// Session returns a snapshot.
	Session(ctx context.Context, id string) (*api.Session, error)
	// Send sends a message.
	Send(ctx context.Context, id string, m api.SendMessage) (*api.Message, error)
	// Interrupt stops the turn and returns when it has ended.
	Interrupt(ctx context.Context, id string, i api.Interrupt) (*api.Interrupted, error)
	// Stop ends the process.
	Stop(ctx context.Context, id string, s api.Stop) (*api.Session, error)
	// Questions lists questions, Answer answers one.
	Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error)
	Answer(ctx context.Context, id string, a api.Answer) (*api.Question, error)
	// AddRule adds a rule to the session, RemoveRule removes one.
	AddRule(ctx context.Context, id string, in api.AddRule) (*api.SessionRule, error)
	RemoveRule(ctx context.Context, id, rule string) (*api.SessionRule, error)
	// Release lets a session go on that is held back.
	Release(ctx context.Context, id string, in api.Release) (*api.Session, error)
	// Follow returns the session's events from the first on, without live ones, until ctx ends. It reconnects automatically.
	Follow(ctx context.Context, id string) iter.Seq2[api.Frame, error]
}

// Options are the choices of [Attach].
type Options struct {
	// In is read line by line: messages, and commands that begin with a slash. If nil, nothing is read and Attach follows until ctx ends.
	In io.Reader
	// Out gets the events.
	Out io.Writer
	// Hints says what can be typed; for people, not for programs.
	Hints bool
	// Wait lets the end of In wait for the end of what was begun: for input that comes from a file or another program. Otherwise the end
	// of In ends Attach.
	Wait bool
}

// A TurnError says that the session did not come to a good end.
type TurnError struct {
	// Reason says why.
	Reason string
}

// Error returns the reason.
func (e *TurnError) Error() string { return e.Reason }

// help is what /help says.
const help = `What you type is sent as a message. Commands:
/allow ID            allow it, approve the plan, accept the form as it comes
/allow ID N [PLACE]  always allow what suggestion N says; PLACE: session, local, project or user
/deny ID [why]       deny it; the reason is shown to the agent
/abort ID [why]      deny it and stop the turn
/answer ID TEXT      a choice: numbers or words, or - to skip, a semicolon between questions;
                     "2" in quotation marks is words of your own, and not the second option
                     a plan: an outcome, then what to change, or bypass, compact, no-prompts
                     a form: a JSON object; a dialog: JSON or a word
/rule DECISION RULE  allow, ask or deny from now on: /rule deny Bash(git push:*), /rule allow * for 30m
/unrule ID           remove a rule of this session
/release [ID]        continue a session that is held back
/interrupt           stop the turn
/stop                stop the agent
/quit                leave; the agent keeps running
An ID may be cut short. A message that begins with a slash is sent as //…`

// errQuit is the cause of a context that ends because the user wants to leave.
var errQuit = errors.New("quit")

// Attach shows a session's log in plain text and follows it, and sends what comes in. It returns nil when the user leaves, and, if
// [Options].Wait is set, when the input has ended and the session has nothing more to do; then a *[TurnError] if the last turn failed. It
// returns ctx's error if that ends. With Wait the first message or command that does not work ends it too; otherwise that is said in Out.
//
// It starts two goroutines. The one that follows has ended when Attach returns; the one that reads In ends with its next line, or with In.
func Attach(ctx context.Context, hub Hub, session string, o *Options) error {
	snapshot, err := hub.Session(ctx, session)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attachment{hub: hub, session: session, view: newView(o.Out, o.Hints), leave: cancel, strict: o.Wait, done: make(chan struct{})}
	a.view.reset(seqOf(snapshot.LastEventID))
	if o.Hints {
		a.view.say("This is session %s. Type a message, or /help.", session)
	} else {
		a.view.say("This is session %s.", session)
	}
	if o.In != nil {
		go a.read(inner, o.In)
	}

	frames := make(chan followed)
	var following sync.WaitGroup
	following.Go(func() { a.follow(inner, frames) })
	err = a.show(inner, frames, o.Wait)
	left := context.Cause(inner) // nil unless the user left
	cancel(nil)
	following.Wait()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case left != nil:
		err = left
	}
	if errors.Is(err, errQuit) {
		err = nil
	}
	return errors.Join(err, a.view.failed())
}

// An attachment is one call of Attach.
type attachment struct {
	// Static after construction.
	hub     Hub
	session string
	view    *view
	leave   context.CancelCauseFunc
	strict  bool          // the first thing that does not work ends it
	done    chan struct{} // closed when the input has ended
}

// A followed is what following gave.
type followed struct {
	frame api.Frame
	err   error
}

// follow hands on what the hub sends.
func (a *attachment) follow(ctx context.Context, frames chan<- followed) {
	for frame, err := range a.hub.Follow(ctx, a.session) {
		select {
		case frames <- followed{frame, err}:
		case <-ctx.Done():
			return
		}
	}
	select {
	case frames <- followed{err: io.ErrUnexpectedEOF}:
	case <-ctx.Done():
	}
}

// show writes what happens until there is nothing more to wait for.
func (a *attachment) show(ctx context.Context, frames <-chan followed, wait bool) error {
	done := a.done
	ended := false // the input has
	seen, until := int64(0), int64(-1)
	var verdict error // how the session stood at until
	look := func() error {
		until = -1
		s, err := a.hub.Session(ctx, a.session)
		if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code != api.CodeClosing {
			return err
		}
		if err == nil && settled(s) {
			until, verdict = seqOf(s.LastEventID), judge(s)
		}
		return nil // a server that is away comes back, and the stream with it
	}
	for {
		if ended && until >= 0 && seen >= until {
			return verdict
		}
		select {
		case f := <-frames:
			if f.err != nil {
				return f.err
			}
			//nolint:exhaustive // there are no live ones here, and closing comes before a reconnect
			switch f.frame.Type {
			case api.FrameResume:
				switch r := f.frame.Resume; {
				case r == nil || r.Resume == "ok":
				case r.Resume == "gap":
					a.view.say("Something was removed from the log here.")
				default:
					a.view.say("The log has changed; it starts over here.")
					if err := a.again(ctx); err != nil {
						return err
					}
					seen = 0
				}
				if ended {
					if err := look(); err != nil {
						return err
					}
				}
			case api.FrameEvent:
				e := f.frame.Event
				a.view.event(e)
				seen = e.Seq
				if ended && tellsEnd(e) {
					if err := look(); err != nil {
						return err
					}
				}
			}
		case <-done:
			done, ended = nil, true
			if !wait {
				return nil
			}
			if err := look(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tellsEnd reports whether an event can mean that a session has nothing left to do. Its state may be that of the end before the hub knows that its
// last message was written, and a message may be taken out of the queue of one that is idle.
func tellsEnd(e *api.Event) bool {
	switch e.Kind {
	case api.KindState, api.KindTurn, api.KindMessage, api.KindRunEnded, api.KindQuestionChanged, api.KindQuestionSettled:
		return true
	}
	return false
}

// again has the log shown from its beginning.
func (a *attachment) again(ctx context.Context) error {
	edge := int64(0)
	switch s, err := a.hub.Session(ctx, a.session); {
	case err == nil:
		edge = seqOf(s.LastEventID)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	a.view.reset(edge)
	return nil
}

// settled reports whether a session has nothing to do. A question whose process has ended can wait for ever.
func settled(s *api.Session) bool {
	asks := slices.ContainsFunc(s.Questions, func(q api.Question) bool { return !q.Stale })
	return len(s.Messages) == 0 && !asks && (s.State == api.StateIdle || s.State == api.StateEnded)
}

// judge says whether a session that has nothing to do came to a good end.
func judge(s *api.Session) error {
	switch {
	case s.State == api.StateEnded && s.Ended != nil && s.Ended.Unfinished:
		return &TurnError{"the agent ended before its work was done: " + s.Ended.Reason}
	case s.Result != nil && s.Result.Failed && !s.Result.Interrupted:
		return &TurnError{"the last turn failed" + words.Failure(s.Result.Subtype)}
	default:
		return nil
	}
}

// seqOf returns the number in an event's id.
func seqOf(id string) int64 {
	_, number, _ := strings.Cut(id, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

// maxInput bounds a line that is typed or piped.
const maxInput = 16 << 20

// read does what comes in, line by line.
func (a *attachment) read(ctx context.Context, in io.Reader) {
	defer close(a.done)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		if ctx.Err() != nil {
			return
		}
		if err := a.obey(ctx, lines.Text()); err != nil {
			if a.strict || errors.Is(err, errQuit) {
				a.leave(err)
				return
			}
			if ctx.Err() == nil {
				a.view.say("That failed: %v", err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		a.leave(fmt.Errorf("reading the input: %w", err))
	}
}

// obey does what one line says.
func (a *attachment) obey(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	text, escaped := strings.CutPrefix(line, "//")
	switch {
	case line == "":
		return nil
	case escaped:
		return a.send(ctx, "/"+text)
	case !strings.HasPrefix(line, "/"):
		return a.send(ctx, line)
	}
	command, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch command {
	case "/allow", "/deny", "/abort", "/answer":
		return a.answer(ctx, command, rest)
	case "/rule":
		return a.rule(ctx, rest)
	case "/unrule":
		return a.unrule(ctx, rest)
	case "/release":
		return a.release(ctx, rest)
	case "/interrupt":
		done, err := a.hub.Interrupt(ctx, a.session, api.Interrupt{})
		if err == nil && !done.Was {
			a.view.say("No turn was running.")
		}
		return err
	case "/stop":
		_, err := a.hub.Stop(ctx, a.session, api.Stop{})
		return err
	case "/quit":
		return errQuit
	case "/help":
		a.view.say("%s", help)
		return nil
	default:
		return fmt.Errorf("unknown command %s; /help lists them; to send it as a message write /%s", command, line)
	}
}

// send sends a message.
func (a *attachment) send(ctx context.Context, text string) error {
	_, err := a.hub.Send(ctx, a.session, api.SendMessage{Text: text})
	return err
}
