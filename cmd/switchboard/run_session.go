package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/wire"
)

// An openSession is a session that run has begun, or continues.
type openSession struct {
	*client.RemoteSession
	// begun says that run started its process.
	begun bool
	// message is the prompt, nil if there was none. uuid is that of its line, "" if it is not known.
	message *api.Message
	uuid    string
	// cost is what the session had cost before.
	cost float64
}

// conversationID is what the CLI's ids of conversations look like.
var conversationID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// open begins a session, or finds the one to continue, and sends the prompt. options says from where on its log is read: from its
// beginning for a new one, else as window says.
func (v *runCmd) open(ctx context.Context, c *client.Client, create *api.CreateSession, options client.RemoteOptions, window func(*api.Session) string) (*openSession, error) {
	if v.resume == "" && !v.resumeLast {
		created, err := c.Create(ctx, *create)
		if err != nil {
			return nil, err
		}
		return begun(ctx, c, created, options)
	}
	session, conversation, err := v.meant(ctx, c, create.Dir)
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
			return begun(ctx, c, adopted, options)
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
		return begun(ctx, c, created, options)
	}
	return v.goOn(ctx, c, session, create, options, window)
}

// begun opens a session that run has begun.
func begun(ctx context.Context, c *client.Client, created *api.Created, options client.RemoteOptions) (*openSession, error) {
	options.History = true
	remote, err := c.Open(ctx, created.ID, &options)
	if err != nil {
		return nil, err
	}
	o := &openSession{RemoteSession: remote, begun: true}
	if len(created.Messages) > 0 {
		o.message = &created.Messages[0]
		o.uuid = o.message.UUID
	}
	return o, nil
}

// goOn opens a session that there is.
func (v *runCmd) goOn(ctx context.Context, c *client.Client, session *api.Session, create *api.CreateSession, options client.RemoteOptions, window func(*api.Session) string) (*openSession, error) {
	o := &openSession{begun: session.State == api.StateEnded}
	if session.Cost != nil {
		o.cost = session.Cost.USD
	}
	change := api.UpdateSession{}
	if v.title != "" {
		change.Title = &v.title
	}
	if v.model != "" || v.mode != "" {
		if session.State == api.StateEnded {
			resume := api.Resume{ClientID: create.ClientID, Options: changedOptions(session, v.model, v.mode)}
			if _, err := c.Resume(ctx, session.ID, resume); err != nil {
				return nil, err
			}
		} else {
			if v.model != "" {
				change.Model = &v.model
			}
			if v.mode != "" {
				mode := wire.PermissionMode(v.mode)
				change.PermissionMode = &mode
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
	o.message, err = o.SendMessage(ctx, api.SendMessage{ClientID: create.ClientID, Text: create.Prompt})
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.uuid = o.message.UUID
	return o, nil
}

// meant returns the session that --resume or --continue means, or, if it is nil, the conversation on disk.
func (v *runCmd) meant(ctx context.Context, c *client.Client, dir string) (session *api.Session, conversation string, err error) {
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
