package main

import (
	"github.com/spf13/cobra"
)

// newRoot returns the command that all verbs hang on.
func newRoot(s *surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "switchboard",
		Short: "Run, watch and steer Claude Code agents",
		Long: `Switchboard runs, watches and steers many Claude Code agents from one place.

Here today is a simulated Claude Code CLI. The hub and its front ends are planned.`,
		Example: `  # a simulated CLI that answers one prompt
  echo '{"type":"user","message":{"role":"user","content":"@say hello"}}' |
    switchboard sim --print --verbose --input-format stream-json --output-format stream-json

  # the same program as somebody else's claude
  ln -s "$(command -v switchboard)" ./claude

  # completions for this shell
  source <(switchboard completion bash)`,
		Args:          cobra.NoArgs,
		SilenceErrors: true, // run says them, once
		SilenceUsage:  true, // an error is easier to see without it
		Version:       buildVersion(),
		// Without a verb there is nothing to do but to say which ones there are.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.AddCommand(newSim(s), newVersion())
	return root
}
