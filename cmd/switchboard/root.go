package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// The groups of verbs, in the order in which the help lists them.
const (
	groupSessions  = "sessions"
	groupQuestions = "questions"
	groupLooking   = "looking"
	groupServer    = "server"
	groupOther     = "other"
)

// groups returns them with their headings.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupSessions, Title: "Sessions:"},
		{ID: groupQuestions, Title: "Questions:"},
		{ID: groupLooking, Title: "Looking:"},
		{ID: groupServer, Title: "Server:"},
		{ID: groupOther, Title: "Other:"},
	}
}

// A grouped is a command with the group that the help lists it in; hidden ones have none.
type grouped struct {
	group string
	cmd   *cobra.Command
}

// verbs returns all of them. Within a group the help sorts them by name.
func verbs(s *surroundings) []grouped {
	return []grouped{
		{groupSessions, newRun(s)},
		{groupSessions, newAttach(s)},
		{groupSessions, newSend(s)},
		{groupSessions, newInterrupt(s)},
		{groupSessions, newStop(s)},
		{groupSessions, newResume(s)},
		{groupSessions, newFork(s)},
		{groupSessions, newRewind(s)},
		{groupSessions, newArchive(s)},
		{groupSessions, newHandback(s)},
		{groupSessions, newDisk(s)},
		{groupSessions, newWrap(s)},

		{groupQuestions, newQuestions(s)},
		{groupQuestions, newAllow(s)},
		{groupQuestions, newDeny(s)},
		{groupQuestions, newAnswer(s)},

		{groupLooking, newLs(s)},
		{groupLooking, newShow(s)},
		{groupLooking, newLogs(s)},
		{groupLooking, newSearch(s)},
		{groupLooking, newExport(s)},
		{groupLooking, newCost(s)},

		{groupServer, newServe(s)},
		{groupServer, newConsole(s)},
		{groupServer, newBackup(s)},
		{groupServer, newPolicy(s)},
		{groupServer, newToken(s)},

		{groupOther, newDoctor(s)},
		{groupOther, newSim(s)},
		{groupOther, newVersion()},

		{"", newShim()},
		{"", newDemo(s)},
	}
}

// colorChoices are the values of --color.
func colorChoices() []string { return []string{"auto", "always", "never"} }

// newRoot returns the command that all verbs hang on.
func newRoot(s *surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "switchboard",
		Short: "Run, watch and steer Claude Code agents",
		Long: `Switchboard runs, watches and steers many Claude Code agents from one place.

A SESSION is named by its id, the beginning of it (three letters will do), its title or the beginning
of that, or - for the one that was updated last. A QUESTION is named by its id or the beginning of it,
by the session that asks it, or - for the one that has waited longest.

Exit codes: 0 done, 1 tried in vain, 2 usage, 3 no such session or question, or several, 4 no server,
5 somebody was faster, 6 the agent's turn failed, 130 interrupted.`,
		Example: `  # an agent in this folder, shown live
  switchboard run "Mend the tests"

  # which sessions there are, and what they ask
  switchboard ls
  switchboard questions

  # allow what has waited longest
  switchboard allow -

  # look at the session that was updated last, and type into it
  switchboard attach -

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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra looks at them only when the verb has begun
				return usageError{err}
			}
			if !slices.Contains(colorChoices(), s.color) {
				return usageError{fmt.Errorf("--color is %q; it can be auto, always or never", s.color)}
			}
			return nil
		},
	}
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.PersistentFlags().StringVar(&s.color, "color", "auto", "when to use colours: auto, always or never")
	complete(root, "color", colorChoices()...)
	root.AddGroup(groups()...)
	for _, v := range verbs(s) {
		v.cmd.GroupID = v.group
		root.AddCommand(v.cmd)
	}
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	return root
}
