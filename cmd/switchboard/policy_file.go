package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

func newPolicyFile(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onHub(&cobra.Command{
		Use:     "file",
		Short:   "Print the text of the rules file",
		Long:    `Prints the rules file as the running hub has it, for instance to edit a copy and replace it.`,
		Example: `  switchboard policy file > rules.toml`,
		Args:    noArguments,
	}, e, "one JSON object: path, text and hash", func(ctx context.Context, c *client.Client, _ []string) error {
		file, err := c.RulesFile(ctx)
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(file)
		}
		_, err = fmt.Fprint(e.stdout, e.answerText(file.Text))
		return err
	})
}

func newPolicyReplace(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onHub(&cobra.Command{
		Use:   "replace FILE",
		Short: "Replace the rules file of the hub",
		Long: `Replaces the text of the rules file with that of FILE; - is standard input. Rules that aren't valid are
refused. What the new rules deny applies at once, and what they newly allow waits for switchboard policy
confirm, as if you had edited the file.`,
		Example: `  switchboard policy file > rules.toml
  editor rules.toml
  switchboard policy replace rules.toml`,
		Args: oneRulesFile,
	}, e, "the rules as one JSON object", func(ctx context.Context, c *client.Client, args []string) error {
		name := args[0]
		if name != "-" {
			name = "@" + name
		}
		text, err := textOf(e, "FILE", name)
		if err != nil {
			return err
		}
		old, err := c.RulesFile(ctx)
		if err != nil {
			return err
		}
		replaced, err := c.ReplaceRules(ctx, api.ReplaceRules{Text: text, Hash: old.Hash})
		if err != nil {
			return err
		}
		line := "replaced " + harmless(replaced.File)
		if p := replaced.Pending; p != nil {
			line += fmt.Sprintf("; it allows more, and waits for switchboard policy confirm:\n  %s", strings.Join(p.Widens, "\n  "))
		}
		return e.result(v.json, replaced, e.answerText(line))
	})
}

func oneRulesFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("which file? Name the one with the new rules, or - for standard input")
	}
	return nil
}
