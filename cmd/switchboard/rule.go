package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
)

func newRule(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rule",
		Short: "List, add and remove the rules of a session",
		Long: `A session can have rules of its own, on top of those for all sessions (switchboard policy): what it may do
without asking, what it must ask for, and what it may not do.`,
		Example: `  switchboard rule ls blog
  switchboard rule add blog "Bash(git push:*)" --decision deny
  switchboard rule rm blog r4h2m6`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRuleLs(e), newRuleAdd(e), newRuleRm(e))
	return cmd
}

func newRuleLs(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "ls SESSION",
		Short:   "List the rules of a session",
		Long:    `Lists the rules that a session has of its own, with their ids.`,
		Example: `  switchboard rule ls blog`,
		Args:    oneSession,
	}, e, "one JSON object", func(_ context.Context, _ *client.Client, session *api.Session, _ []string) error {
		list := append([]api.SessionRule{}, session.Rules...)
		return v.table(e, map[string][]api.SessionRule{"rules": list}, e.view(false).Rules(list), "No rules of its own.")
	})
}

func newRuleAdd(e *env) *cobra.Command {
	v := &struct {
		smallFlags
		decision, message, lasts string
	}{}
	cmd := v.onOne(&cobra.Command{
		Use:   "add SESSION RULE",
		Short: "Add a rule to a session",
		Long: `Adds a rule to a session and prints its id. RULE is in Claude Code's rule language, such as
"Bash(git status:*)" or "Read(~/src/**)"; * stands for everything and needs --for, at most a day.`,
		Example: `  switchboard rule add blog "Bash(make test:*)"

  # with a reason that the agent is told
  switchboard rule add blog "Bash(rm:*)" --decision deny --message "Move files to the bin instead."

  # trust everything for ten minutes
  switchboard rule add blog "*" --for 10m`,
		Args: sessionAnd(1, 1, "a rule"),
	}, e, "the rule as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		if err := oneOf("--decision", v.decision, []string{"allow", "ask", "deny"}); err != nil {
			return usageError{err}
		}
		in := api.AddRule{Rule: args[0], Decision: api.RuleDecision(v.decision), Message: v.message}
		if v.lasts != "" {
			var d config.Duration
			if err := d.UnmarshalText([]byte(v.lasts)); err != nil {
				return usageError{fmt.Errorf("--for: %w", err)}
			}
			in.For = int64(time.Duration(d) / time.Second)
		}
		rule, err := c.AddRule(ctx, session.ID, in)
		if err != nil {
			return err
		}
		return e.result(v.json, rule, rule.ID)
	})
	f := cmd.Flags()
	f.StringVar(&v.decision, "decision", "allow", "`DECISION`: allow, ask or deny")
	f.StringVar(&v.message, "message", "", "with deny: `TEXT` that the agent is told")
	f.StringVar(&v.lasts, "for", "", "how long it applies, a `TIME` such as 10m or 1d (default as long as the session)")
	complete(cmd, "decision", "allow", "ask", "deny")
	return cmd
}

func newRuleRm(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "rm SESSION ID",
		Short:   "Remove a rule from a session",
		Long:    `Removes a rule that a session has of its own. switchboard rule ls lists them.`,
		Example: `  switchboard rule rm blog r4h2m6`,
		Args:    sessionAnd(1, 1, "the id of a rule"),
	}, e, "the rule as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		rule, err := c.RemoveRule(ctx, session.ID, args[0])
		if err != nil {
			return err
		}
		return e.result(v.json, rule, fmt.Sprintf("removed %s: %s %s", harmless(rule.ID), rule.Decision, harmless(rule.Rule)))
	})
}
