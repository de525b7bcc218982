package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/turn"
	"github.com/switchboard-dev/switchboard/wire"
)

// conversationID is what the CLI's ids of conversations look like.
var conversationID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// open begins a session, or finds the one to continue, and sends the prompt. options says from where on its log is read: from its
// beginning for a new one, else as window says.
func (v *runCmd) open(ctx context.Context, c *client.Client, create *api.CreateSession, options client.RemoteOptions, window func(*api.Session) string) (*turn.Session, error) {
	if v.resume == "" && !v.resumeLast {
		created, err := c.Create(ctx, *create)
		if err != nil {
			return nil, err
		}
		return openCreated(ctx, c, created, options)
	}
	session, conversation, err := v.resumed(ctx, c, create.Dir)
	if err != nil {
		return nil, err
	}
	if session == nil {
		adopted, err := c.Adopt(ctx, conversation, api.Adopt{
			ClientID: create.ClientID, Dir: create.Dir, Title: create.Title, Prompt: create.Prompt, Fork: v.fork, Options: create.Options,
		})
		problem, ok := errors.AsType[*api.Error](err)
		switch {
		case err == nil:
			return openCreated(ctx, c, adopted, options)
		case ok && problem.Code == api.CodeOwned && problem.Session != "": // a session of ours has it
			if session, err = c.Session(ctx, problem.Session); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	if v.fork {
		created, err := c.Fork(ctx, session.ID, api.Fork{ClientID: create.ClientID, Title: create.Title, Prompt: create.Prompt})
		if err != nil {
			return nil, err
		}
		return openCreated(ctx, c, created, options)
	}
	return v.openExisting(ctx, c, session, create, options, window)
}

// openCreated opens a session that run has begun.
func openCreated(ctx context.Context, c *client.Client, created *api.Created, options client.RemoteOptions) (*turn.Session, error) {
	options.History = true
	remote, err := c.Open(ctx, created.ID, &options)
	if err != nil {
		return nil, err
	}
	o := &turn.Session{RemoteSession: remote, Begun: true}
	if len(created.Messages) > 0 {
		o.Message = &created.Messages[0]
		o.UUID = o.Message.UUID
	}
	return o, nil
}

// openExisting opens a session that there is.
func (v *runCmd) openExisting(ctx context.Context, c *client.Client, session *api.Session, create *api.CreateSession, options client.RemoteOptions, window func(*api.Session) string) (*turn.Session, error) {
	o := &turn.Session{Begun: session.State == api.StateEnded}
	if session.Cost != nil {
		o.Cost = session.Cost.USD
	}
	change := api.UpdateSession{}
	if v.title != "" {
		change.Title = &v.title
	}
	if model, mode := create.Options.Model, create.Options.PermissionMode; model != "" || mode != "" {
		if session.State == api.StateEnded {
			var given []string
			if model != "" {
				given = append(given, "model")
			}
			if mode != "" {
				given = append(given, "permission_mode")
			}
			resume := api.Resume{ClientID: create.ClientID, Options: changedOptions(session, &create.Options, given)}
			if _, err := c.Resume(ctx, session.ID, resume); err != nil {
				return nil, err
			}
		} else {
			if model != "" {
				change.Model = &model
			}
			if mode != "" {
				change.PermissionMode = new(wire.PermissionMode(mode))
			}
		}
	}
	if change != (api.UpdateSession{}) {
		if _, err := c.Update(ctx, session.ID, change); err != nil {
			return nil, err
		}
	}
	options.After, options.History = window(session), false
	if options.After == "" {
		options.History = true
	}
	var err error
	if o.RemoteSession, err = c.Open(ctx, session.ID, &options); err != nil {
		return nil, err
	}
	if create.Prompt == "" {
		return o, nil
	}
	o.Message, err = o.SendMessage(ctx, api.SendMessage{ClientID: create.ClientID, Text: create.Prompt})
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.UUID = o.Message.UUID
	return o, nil
}

// resumed returns the session that --resume or --continue means, or, if it is nil, the conversation on disk.
func (v *runCmd) resumed(ctx context.Context, c *client.Client, dir string) (session *api.Session, conversation string, err error) {
	if v.resume != "" {
		session, err = naming.Session(ctx, c, v.resume)
		if unknown, ok := errors.AsType[*naming.Error](err); ok && len(unknown.Candidates) == 0 && conversationID.MatchString(v.resume) {
			return nil, v.resume, nil
		}
		return session, "", err
	}
	list, err := c.List(ctx, api.SessionFilter{Dir: dir, Limit: 1})
	if err != nil {
		return nil, "", err
	}
	disk, err := c.Transcripts(ctx, api.TranscriptFilter{Dir: dir, Limit: 1})
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(disk.Transcripts) > 0 && disk.Transcripts[0].Session == "" &&
		(len(list.Sessions) == 0 || disk.Transcripts[0].Modified.After(list.Sessions[0].Updated)):
		// A person has worked here with Claude Code alone since.
		return nil, disk.Transcripts[0].Conversation, nil
	case len(list.Sessions) == 0:
		return nil, "", &naming.Error{Kind: naming.KindSession, Why: fmt.Sprintf("no session in %s yet to continue", dir)}
	}
	session, err = c.Session(ctx, list.Sessions[0].ID)
	return session, "", err
}

// runDetached begins a session and leaves it.
func (v *runCmd) runDetached(ctx context.Context, e *env, c *client.Client, create *api.CreateSession) error {
	o, err := v.open(ctx, c, create, client.RemoteOptions{}, func(s *api.Session) string { return s.LastEventID })
	if err != nil {
		return err
	}
	defer func() { _ = o.Close() }() // nothing was asked of it
	if !v.json {
		_, err := fmt.Fprintln(e.stdout, o.ID())
		return err
	}
	session, err := c.Session(ctx, o.ID())
	if err != nil {
		return err
	}
	return e.writeJSON(session)
}

// runPrint runs one turn and prints what came of it.
func (v *runCmd) runPrint(ctx context.Context, e *env, c *client.Client, create *api.CreateSession) error {
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends it at once
	// The reader of a pipe may leave (head, grep -q): that must be an error here, and not the end, since there is an agent to end first.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	opening, cancel := lingering(ctx)
	defer cancel()
	p := turn.NewPrinter(turn.Options{
		Out: e.stdout, Errs: e.stderr, OutTerminal: isTerminal(e.stdout), ErrsTerminal: isTerminal(e.stderr),
		Output: v.output, Wait: v.ask == askWait, Schema: v.schema != "", Keep: v.keep, Command: v.command,
	})
	session, err := v.open(opening, c, create, p.Remote(v.live), func(s *api.Session) string { return s.LastEventID })
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer func() { _ = session.Close() }() // what it returns was said before
	err = p.Run(ctx, session, stop)        // after stop a signal ends it at once
	if errors.Is(err, turn.ErrFailed) {
		return exitError(codeTurnFailed)
	}
	return interrupted(ctx, err)
}

// enders are the signals that end something that has to be put in order first. One that the parent process has had ignored (nohup) stays so.
func enders() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// openPatience is how long opening a session may go on after an interrupt.
const openPatience = 20 * time.Second

// lingering returns a context that ends a while after another one. What is begun with it comes to an end, so that there is no agent that no user was
// told of.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(openPatience, cancel)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, cancel
}

// interruptedOr returns the error of something that did not work, or that it was broken off.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exitError(codeInterrupted)
	}
	return err
}
