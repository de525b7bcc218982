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

Here today are the hub (serve), a plain view of a session (attach), the rules of what agents may do
(policy), the tokens by which programs and browsers get in (token) and a simulated Claude Code CLI
(sim). The web console and more verbs are planned.`,
		Example: `  # keep sessions, and say where to reach them
  switchboard serve

  # look at one, and type into it
  switchboard attach --plain s5k2m7q3zr4t6w8xabcdy

  # which rules are in force, and what waits for confirmation
  switchboard policy show

  # a token for a program that looks and prompts
  switchboard token create --name dashboard --scopes observe,prompt

  # a simulated CLI that answers one prompt
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
	root.AddCommand(newServe(s), newAttach(s), newPolicy(s), newToken(s), newSim(s), newVersion(), newShim(), newDemo(s))
	return root
}
