package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A conversation is what a name stands for: a session of the hub, else what a CLI has kept on disk.
type conversation struct {
	session    *api.Session
	transcript *api.Transcript
}

// kindConversation is what naming errors call conversations on disk.
const kindConversation = "conversation"

// leastConversation is how much of the id of a conversation must be there to look for it on disk.
const leastConversation = 4

// isConversation reports whether a text may be the id of a conversation, or the beginning of one.
func isConversation(text string) bool {
	letter := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
	}
	return len(text) >= leastConversation && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return !letter(r) })
}

// findConversation finds a session by any of its names, or a conversation on disk by its id or the beginning of it. One on disk that a session has
// is that session.
func findConversation(ctx context.Context, c *client.Client, name string) (*conversation, error) {
	session, err := naming.Session(ctx, c, name)
	if err == nil {
		return &conversation{session: session}, nil
	}
	if unknown, ok := errors.AsType[*naming.Error](err); !ok || len(unknown.Candidates) > 0 || !isConversation(name) {
		return nil, err
	}
	t, err := findTranscript(ctx, c, name)
	if err != nil {
		return nil, err
	}
	if t.Session != "" {
		session, err := c.Session(ctx, t.Session)
		if err != nil {
			return nil, err
		}
		// A session may have had several conversations. Another one than its own is not what it would continue.
		if session.Conversation == t.Conversation {
			return &conversation{session: session, transcript: t}, nil
		}
	}
	return &conversation{transcript: t}, nil
}

// findTranscript finds a conversation on disk by its id or the beginning of it.
func findTranscript(ctx context.Context, c *client.Client, name string) (*api.Transcript, error) {
	if !isConversation(name) {
		return nil, usageError{fmt.Errorf("%q isn't the id of a conversation, or the beginning of one (at least %d letters)", name, leastConversation)}
	}
	list, err := c.Transcripts(ctx, api.TranscriptFilter{Conversation: name, Limit: 10})
	if err != nil {
		return nil, err
	}
	unknown := &naming.Error{Name: name, Kind: kindConversation}
	for i := range list.Transcripts {
		t := &list.Transcripts[i]
		if t.Conversation == name || len(list.Transcripts) == 1 {
			return t, nil
		}
		unknown.Candidates = append(unknown.Candidates, strings.TrimSpace(t.Conversation+"  "+paint.CleanLine(t.Title, 60)))
	}
	unknown.Why = fmt.Sprintf("there is neither a session %q nor a conversation on disk whose id begins so (switchboard disk ls)", name)
	return nil, unknown
}

// A resumeVerb is the flags of resume.
type resumeVerb struct {
	place
	fresh, force, json bool
	model, mode        string
	dir, title         string
}

func newResume(s *surroundings) *cobra.Command {
	v := &resumeVerb{}
	cmd := &cobra.Command{
		Use:   "resume SESSION [PROMPT]…",
		Short: "Continue a session, or a conversation on disk",
		Long: `Starts a new agent for a session whose agent has stopped, and sends it the prompt, if there is one.
Prints the id of the session.

SESSION can also be the id of a conversation that was held in a plain terminal and is only on disk, or
the beginning of it (switchboard disk ls lists them): a session that continues it is created, in the same
folder. End it in the terminal first: only one program may continue a conversation.

A session whose agent is running is refused with code 5.`,
		Example: `  switchboard resume blog

  # and send a message
  switchboard resume blog "Where were we?"

  # a conversation from a terminal
  switchboard resume 0b1c2d3e`,
		Args:              someSessions,
		ValidArgsFunction: completeSessions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd, s, args[0], strings.Join(args[1:], " "))
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.fresh, "fresh", false, "start a new conversation in the session")
	f.BoolVar(&v.force, "force", false, "resume even if the old process may still be alive")
	f.StringVar(&v.model, "model", "", "another `MODEL`")
	f.StringVar(&v.mode, "mode", "", "another permission `MODE`: plan, dontAsk, default, acceptEdits, auto")
	f.StringVar(&v.dir, "dir", "", "on disk: the `FOLDER` to work in (default that of the conversation)")
	f.StringVar(&v.title, "title", "", "on disk: a title for the session")
	f.BoolVar(&v.json, "json", false, "print the session as one JSON object")
	register(cmd, "mode", completeModes)
	register(cmd, "model", completeModels(s, &v.place))
	return cmd
}

func (v *resumeVerb) run(cmd *cobra.Command, s *surroundings, name, prompt string) error {
	return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
		found, err := findConversation(ctx, c, name)
		if err != nil {
			return err
		}
		if found.session == nil {
			if v.fresh || v.force {
				return usageError{errors.New("--fresh and --force are for sessions of the hub; this is a conversation on disk")}
			}
			a := adoption{dir: v.dir, title: v.title, prompt: prompt, model: v.model, mode: v.mode}
			return a.adopt(ctx, s, c, found.transcript, v.json)
		}
		if v.dir != "" || v.title != "" {
			return usageError{errors.New("--dir and --title are for conversations on disk; this is a session of the hub")}
		}
		in := api.Resume{Fresh: v.fresh, Force: v.force, Prompt: prompt}
		if v.model != "" || v.mode != "" {
			options := api.SessionOptions{}
			if found.session.Options != nil {
				options = *found.session.Options
			}
			setOptions(&options, v.model, v.mode)
			in.Options = &options
		}
		session, err := c.Resume(ctx, found.session.ID, in)
		if err != nil {
			return err
		}
		return wroteSession(s, session, v.json, "goes on")
	})
}

// setOptions sets what is not empty.
func setOptions(o *api.SessionOptions, model, mode string) {
	if model != "" {
		o.Model = model
	}
	if mode != "" {
		o.PermissionMode = mode
	}
}

// wroteSession writes the id of a session, or all of it.
func wroteSession(s *surroundings, session *api.Session, asJSON bool, what string) error {
	if asJSON {
		return s.writeJSON(session)
	}
	if _, err := fmt.Fprintln(s.stdout, session.ID); err != nil {
		return err
	}
	s.hint("%s %s; watch it: switchboard attach %s", called(session.ID, session.Title), what, naming.Short(session.ID))
	return nil
}

// An adoption is how to continue a conversation on disk.
type adoption struct {
	dir, title, prompt, model, mode string
	fork                            bool
}

// adopt makes a session of a conversation on disk.
func (a *adoption) adopt(ctx context.Context, s *surroundings, c *client.Client, t *api.Transcript, asJSON bool) error {
	in := api.Adopt{Title: a.title, Prompt: a.prompt, Fork: a.fork}
	if a.dir != "" {
		dir, err := filepath.Abs(a.dir)
		if err != nil {
			return usageError{fmt.Errorf("--dir: %w", err)}
		}
		in.Dir = dir
	}
	setOptions(&in.Options, a.model, a.mode)
	made, err := c.Adopt(ctx, t.Conversation, in)
	if err != nil {
		return err
	}
	what := "continues the conversation; close it in the terminal first: a conversation has one driver"
	if a.fork {
		what = "continues a copy of the conversation"
	}
	return wroteSession(s, &made.Session, asJSON, what)
}

// A forkVerb is the flags of fork.
type forkVerb struct {
	place
	title, at, dir, model, mode string
	json                        bool
}

func newFork(s *surroundings) *cobra.Command {
	v := &forkVerb{}
	cmd := &cobra.Command{
		Use:   "fork SESSION [PROMPT]…",
		Short: "Continue a copy of a session in a new one",
		Long: `Creates a session that continues a copy of the conversation; the old one stays as it is. Prints the id of
the new session.

SESSION can also be the id of a conversation on disk, or the beginning of it (switchboard disk ls).`,
		Example: `  switchboard fork blog "Try it the other way."

  # up to a message; switchboard rewind blog lists them
  switchboard fork blog --at 0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9`,
		Args:              someSessions,
		ValidArgsFunction: completeSessions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd, s, args[0], strings.Join(args[1:], " "))
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.title, "title", "", "a title for it (default the old one and \"(fork)\")")
	f.StringVar(&v.at, "at", "", "the uuid of the last `MESSAGE` to keep (default all)")
	f.StringVar(&v.dir, "dir", "", "on disk: the `FOLDER` to work in (default that of the conversation)")
	f.StringVar(&v.model, "model", "", "on disk: the `MODEL`")
	f.StringVar(&v.mode, "mode", "", "on disk: the permission `MODE`: plan, dontAsk, default, acceptEdits, auto")
	f.BoolVar(&v.json, "json", false, "print the new session as one JSON object")
	register(cmd, "mode", completeModes)
	register(cmd, "model", completeModels(s, &v.place))
	return cmd
}

func (v *forkVerb) run(cmd *cobra.Command, s *surroundings, name, prompt string) error {
	return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
		found, err := findConversation(ctx, c, name)
		if err != nil {
			return err
		}
		if found.session == nil {
			if v.at != "" {
				return usageError{errors.New("--at is for sessions of the hub; this is a conversation on disk")}
			}
			a := adoption{dir: v.dir, title: v.title, prompt: prompt, model: v.model, mode: v.mode, fork: true}
			return a.adopt(ctx, s, c, found.transcript, v.json)
		}
		if v.dir != "" || v.model != "" || v.mode != "" {
			return usageError{errors.New("--dir, --model and --mode are for conversations on disk; this is a session of the hub")}
		}
		made, err := c.Fork(ctx, found.session.ID, api.Fork{Title: v.title, Prompt: prompt, At: v.at})
		if err != nil {
			return err
		}
		return wroteSession(s, &made.Session, v.json, "continues a copy of the conversation")
	})
}
