package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/wire"
)

func newMode(e *env) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onOne(&cobra.Command{
		Use:   "mode SESSION [MODE]",
		Short: "Show or change the permission mode of a session",
		Long: `Changes the permission mode of a running agent, or prints it.

Modes, from the safest to the most dangerous: plan, dontAsk, default, acceptEdits, auto,
bypassPermissions. The last one needs claude.dangerously_skip_permissions in the configuration.`,
		Example: `  switchboard mode blog
  switchboard mode blog acceptEdits`,
		Args: sessionAnd(0, 1, "a mode"),
	}, e, "the session as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		if len(args) == 0 {
			return e.result(v.json, session, harmless(session.PermissionMode))
		}
		changed, err := c.Update(ctx, session.ID, api.UpdateSession{PermissionMode: new(wire.PermissionMode(args[0]))})
		if err != nil {
			return err
		}
		return e.result(v.json, changed, fmt.Sprintf("%s is in the mode %s", named(changed), harmless(changed.PermissionMode)))
	})
	cmd.ValidArgsFunction = secondOf(cmd.ValidArgsFunction, completeModes)
	return cmd
}

func newModel(e *env) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onOne(&cobra.Command{
		Use:   "model SESSION [MODEL]",
		Short: "Show or change the model of a session",
		Long:  `Changes the model of a running agent, or prints it. The model "default" is Claude Code's own choice.`,
		Example: `  switchboard model blog
  switchboard model blog sonnet`,
		Args: sessionAnd(0, 1, "a model"),
	}, e, "the session as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		if len(args) == 0 {
			return e.result(v.json, session, harmless(session.Model))
		}
		model := args[0]
		if model == "default" {
			model = ""
		}
		changed, err := c.Update(ctx, session.ID, api.UpdateSession{Model: &model})
		if err != nil {
			return err
		}
		return e.result(v.json, changed, fmt.Sprintf("%s uses the model %s from now on", named(changed), harmless(args[0])))
	})
	cmd.ValidArgsFunction = secondOf(cmd.ValidArgsFunction, completeModels(e, &v.hubFlags))
	return cmd
}

func newThinking(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:   "thinking SESSION TOKENS",
		Short: "Limit how much a session thinks",
		Long:  `Sets the maximum number of tokens that a running agent thinks with; 0 turns thinking off.`,
		Example: `  switchboard thinking blog 8000
  switchboard thinking blog 0`,
		Args: sessionAnd(1, 1, "a number of tokens"),
	}, e, "the session as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		tokens, err := strconv.Atoi(args[0])
		if err != nil || tokens < 0 || tokens > math.MaxInt32 {
			return usageError{fmt.Errorf("%q isn't a number of tokens; use 0 or more", args[0])}
		}
		changed, err := c.Update(ctx, session.ID, api.UpdateSession{MaxThinkingTokens: &tokens})
		if err != nil {
			return err
		}
		return e.result(v.json, changed, fmt.Sprintf("%s thinks with at most %d tokens from now on", named(changed), tokens))
	})
}

func newRename(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "rename SESSION TITLE…",
		Short:   "Give a session another title",
		Long:    `Gives a session another title. Commands find it by that, too.`,
		Example: `  switchboard rename s5k2m7 Fix the slugs`,
		Args:    sessionAnd(1, math.MaxInt, "a title"),
	}, e, "the session as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		changed, err := c.Update(ctx, session.ID, api.UpdateSession{Title: new(strings.Join(args, " "))})
		if err != nil {
			return err
		}
		return e.result(v.json, changed, "renamed "+named(changed))
	})
}

func newRetry(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "retry SESSION",
		Short:   "Send the prompt of a failed turn again",
		Long:    `Sends the prompt of the turn that failed again, as a new message. A session that didn't fail is refused with code 5.`,
		Example: `  switchboard retry blog`,
		Args:    oneSession,
	}, e, "the message as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, _ []string) error {
		message, err := c.Retry(ctx, session.ID)
		if err != nil {
			return err
		}
		return e.result(v.json, message, "sent again to "+named(session))
	})
}

func newRelease(e *env) *cobra.Command {
	v := &struct {
		smallFlags
		release api.Release
		time    string
	}{}
	cmd := v.onOne(&cobra.Command{
		Use:   "release SESSION [HOLD]",
		Short: "Let a session continue that a budget or a rate limit holds",
		Long: `Releases the queue of a session. Without HOLD it releases all holds; switchboard show lists them.

A budget gets its amount once more, or what --usd, --turns and --time say. --at-reset has the queue continue
automatically when the rate limit resets.`,
		Example: `  switchboard release blog

  # five more dollars
  switchboard release blog --usd 5

  # continue when the rate limit resets
  switchboard release blog --at-reset`,
		Args: sessionAnd(0, 1, "one hold"),
	}, e, "the session as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		in := v.release
		if len(args) == 1 {
			in.Hold = args[0]
		}
		if v.time != "" {
			var d config.Duration
			if err := d.UnmarshalText([]byte(v.time)); err != nil {
				return usageError{fmt.Errorf("--time: %w", err)}
			}
			in.Seconds = int64(time.Duration(d) / time.Second)
		}
		if in.USD < 0 || in.Turns < 0 {
			return usageError{errors.New("--usd and --turns must not be below 0")}
		}
		if len(session.Holds) == 0 && !v.json {
			return e.result(false, nil, "nothing holds "+named(session))
		}
		released, err := c.Release(ctx, session.ID, in)
		if err != nil {
			return err
		}
		what := "released "
		if in.AtReset {
			what = "continues at the reset: "
		}
		return e.result(v.json, released, what+named(released))
	})
	f := cmd.Flags()
	f.Float64Var(&v.release.USD, "usd", 0, "how many more `USD` may be used")
	f.Int64Var(&v.release.Turns, "turns", 0, "how many more turns")
	f.StringVar(&v.time, "time", "", "how much more `TIME`, e.g. 2h")
	f.BoolVar(&v.release.AtReset, "at-reset", false, "continue when the rate limit resets, not now")
	return cmd
}

func newControl(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:   "control SESSION REQUEST",
		Short: "Send Claude Code a control request of its own protocol",
		Long: `Sends a control request to the agent and prints the answer. REQUEST is a JSON object with a subtype, @FILE,
or - for standard input. It is checked, and fitted to the version of Claude Code. The other commands are
easier: this one is for what has none.`,
		Example: `  switchboard control blog '{"subtype":"list_models"}'`,
		Args:    sessionAnd(1, 1, "a request"),
	}, e, "the answer in one line, as without a terminal", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		request, err := jsonArgument(e, "REQUEST", args[0])
		if err != nil {
			return err
		}
		answer, err := c.Control(ctx, session.ID, api.Control{Request: request})
		if err != nil {
			return err
		}
		return v.told(e, answer, "")
	})
}

// secondOf completes the first argument with one function, the second with another.
func secondOf(first, second cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return first(cmd, args, typed)
		case 1:
			return second(cmd, args, typed)
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}
