package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// findTranscript finds a conversation on disk by its id or the beginning of it.
func findTranscript(ctx context.Context, c *client.Client, node, name string) (*api.Transcript, error) {
	if !naming.IsConversation(name) {
		return nil, usageError{fmt.Errorf("%q isn't the id of a conversation, or the beginning of one (at least 4 letters)", name)}
	}
	return naming.Transcript(ctx, c, node, name)
}

// An adoption is how to continue a conversation: the flags that resume, fork and disk adopt share.
type adoption struct {
	hubFlags
	optionFlags

	dir, title, prompt string
	node               string // of a conversation on disk; "" if it is on the hub's own
	fork, json         bool
}

// adoptionFlags adds them, without those of some options. What is said about each differs: some commands have them for conversations on disk only.
func (a *adoption) adoptionFlags(cmd *cobra.Command, e *env, dir, title, document string, without ...string) {
	a.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&a.dir, "dir", "", dir+" to work in (default that of the conversation)")
	f.StringVar(&a.title, "title", "", title)
	f.BoolVar(&a.json, "json", false, "print "+document+" as one JSON object")
	a.add(cmd, e, &a.hubFlags, without...)
}

// adopt makes a session of a conversation on disk.
func (a *adoption) adopt(ctx context.Context, cmd *cobra.Command, e *env, c *client.Client, t *api.Transcript) error {
	options, given, err := a.read(cmd, e)
	if err != nil {
		return usageError{err}
	}
	in := api.Adopt{Title: a.title, Prompt: a.prompt, Fork: a.fork, Options: options, Preset: a.preset, Node: a.node}
	if a.preset != "" {
		in.Except = exceptions(&options, given)
	}
	if a.dir != "" {
		dir, err := a.dirOn(e, a.node, "--dir", a.dir)
		if err != nil {
			return usageError{err}
		}
		in.Dir = dir
	}
	made, err := c.Adopt(ctx, t.Conversation, in)
	if err != nil {
		return err
	}
	what := "continues the conversation; close it in the terminal first: a conversation has one driver"
	if a.fork {
		what = "continues a copy of the conversation"
	}
	return a.print(e, &made.Session, what)
}

// print prints the id of a session, or all of it.
func (a *adoption) print(e *env, session *api.Session, what string) error {
	if err := e.result(a.json, session, session.ID); err != nil || a.json {
		return err
	}
	e.hint("%s %s; watch it: switchboard attach %s", nameAndTitle(session.ID, session.Title), what, naming.Short(session.ID))
	return nil
}

// A resumeCmd is the flags of resume.
type resumeCmd struct {
	adoption
	newConversation, force bool
}

func newResume(e *env) *cobra.Command {
	v := &resumeCmd{}
	cmd := &cobra.Command{
		Use:   "resume SESSION [PROMPT]…",
		Short: "Continue a session, or a conversation on disk",
		Long: `Starts a new agent for a session whose agent has stopped, and sends it the prompt, if there is one.
Prints the id of the session.

SESSION can also be the id of a conversation that was held in a plain terminal and is only on disk, or
the beginning of it (switchboard disk ls lists them): a session that continues it is created, in the same
folder. End it in the terminal first: only one program may continue a conversation.

Session options that are given replace those of the session; the others stay as they are.

A session whose agent is running is refused with code 5.`,
		Example: `  switchboard resume blog

  # and send a message
  switchboard resume blog "Where were we?"

  # with another limit, and a variable whose value is the one of this shell
  switchboard resume blog --max-budget 5 --env API_TOKEN

  # a conversation from a terminal
  switchboard resume 0b1c2d3e`,
		Args:              someSessions,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args) },
	}
	// Here --fresh is about the conversation of the session, not of each turn.
	v.adoptionFlags(cmd, e, "on disk: the `FOLDER`", "on disk: a title for the session", "the session", "fresh")
	cmd.Flags().BoolVar(&v.newConversation, "fresh", false, "start a new conversation in the session")
	cmd.Flags().BoolVar(&v.force, "force", false, "resume even if the old process may still be alive")
	return cmd
}

func (v *resumeCmd) run(cmd *cobra.Command, e *env, args []string) error {
	v.prompt = strings.Join(args[1:], " ")
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		session, onDisk, err := naming.Conversation(ctx, c, args[0])
		switch {
		case err != nil:
			return err
		case session == nil && (v.newConversation || v.force):
			return usageError{errors.New("--fresh and --force are for sessions of the hub; this is a conversation on disk")}
		case session == nil:
			return v.adopt(ctx, cmd, e, c, onDisk)
		case v.dir != "" || v.title != "" || v.preset != "":
			return usageError{errors.New("--dir, --title and --preset are for conversations on disk; this is a session of the hub")}
		}
		options, given, err := v.read(cmd, e)
		if err != nil {
			return usageError{err}
		}
		in := api.Resume{Fresh: v.newConversation, Force: v.force, Prompt: v.prompt, Options: changedOptions(session, &options, given)}
		resumed, err := c.Resume(ctx, session.ID, in)
		if err != nil {
			return err
		}
		return v.print(e, resumed, "goes on")
	})
}

// A forkCmd is the flags of fork.
type forkCmd struct {
	adoption
	at string
}

func newFork(e *env) *cobra.Command {
	v := &forkCmd{adoption: adoption{fork: true}}
	cmd := &cobra.Command{
		Use:   "fork SESSION [PROMPT]…",
		Short: "Continue a copy of a session in a new one",
		Long: `Creates a session that continues a copy of the conversation; the old one stays as it is. Prints the id of
the new session.

Session options that are given replace those of the old session; the others are the same.

SESSION can also be the id of a conversation on disk, or the beginning of it (switchboard disk ls).`,
		Example: `  switchboard fork blog "Try it the other way."

  # up to a message; switchboard rewind blog lists them
  switchboard fork blog --at 0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9`,
		Args:              someSessions,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args) },
	}
	v.adoptionFlags(cmd, e, "on disk: the `FOLDER`", "a title for it (default the old one and \"(fork)\")", "the new session")
	cmd.Flags().StringVar(&v.at, "at", "", "the uuid of the last `MESSAGE` to keep (default all)")
	return cmd
}

func (v *forkCmd) run(cmd *cobra.Command, e *env, args []string) error {
	v.prompt = strings.Join(args[1:], " ")
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		session, onDisk, err := naming.Conversation(ctx, c, args[0])
		switch {
		case err != nil:
			return err
		case session == nil && v.at != "":
			return usageError{errors.New("--at is for sessions of the hub; this is a conversation on disk")}
		case session == nil:
			return v.adopt(ctx, cmd, e, c, onDisk)
		case v.dir != "" || v.preset != "":
			return usageError{errors.New("--dir and --preset are for conversations on disk; this is a session of the hub")}
		}
		options, given, err := v.read(cmd, e)
		if err != nil {
			return usageError{err}
		}
		made, err := c.Fork(ctx, session.ID, api.Fork{Title: v.title, Prompt: v.prompt, At: v.at, Options: changedOptions(session, &options, given)})
		if err != nil {
			return err
		}
		return v.print(e, &made.Session, "continues a copy of the conversation")
	})
}
