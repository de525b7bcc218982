package main

import (
	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func newSandbox(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Check what the system can enforce, and show a session's sandbox",
		Long: `Agents run in a sandbox where the system has one: what rules deny, and Switchboard's own files, are then out
of reach for every program that an agent starts. A session's mode says what is enforced:

  off        nothing
  deny-only  what rules deny; the default where a sandbox works
  strict     also, only the session's folder can be written, and hosts that no rule names are asked about

On Linux it takes bubblewrap, or Landlock for strict sandboxes; on macOS it is a part of the system.
docs/sandbox.md says what is protected against what.`,
		Example: `  switchboard sandbox check
  switchboard sandbox explain --mode strict

  # a session in a strict sandbox, without questions about commands
  switchboard run --sandbox strict --sandbox-auto-allow "Fix the tests"

  # for all sessions in this folder
  switchboard prefs set --sandbox strict`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSandboxCheck(e), newSandboxExplain(e))
	return cmd
}

func newSandboxCheck(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		json bool
	}{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Try which sandboxes work on this machine",
		Long: `Tries every enforcer on this machine by starting a program in it, says why others don't work, and which one
sessions get with the settings as they are. It needs no hub.

Exit code 0 if a sandbox works, 1 if none does.`,
		Example: `  switchboard sandbox check

  # in a script
  switchboard sandbox check --json | jq -r .strict`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := v.load(e, nil)
			if err != nil {
				return usageError{err}
			}
			check := checkSandbox(cmd.Context(), e, c)
			if v.json {
				err = e.writeJSON(check)
			} else {
				err = writeLines(e.stdout, checkLines(e, check))
			}
			if err == nil && check.DenyOnly == "none" && check.Strict == "none" {
				err = exitError(codeFailed)
			}
			return err
		},
	}
	v.localFlags(cmd, "sandbox check", "")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// checkLines shows which sandboxes work.
func checkLines(e *env, check *launch.SandboxCheck) []string {
	var rows [][2]string
	for _, each := range check.Enforcers {
		text := "doesn't work: " + each.Why
		switch {
		case each.DenyOnly && each.Strict:
			text = "works"
		case each.Strict:
			text = "works for strict sandboxes; for others not: " + each.Why
		}
		rows = append(rows, [2]string{each.Name, paint.CleanLine(text, 0)})
	}
	used := func(mode, name string) {
		if name == "none" {
			name = "nothing"
		}
		rows = append(rows, [2]string{mode, "enforced by " + name})
	}
	used("deny-only", check.DenyOnly)
	used("strict", check.Strict)
	return e.view(false).Pairs(rows...)
}
