package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// The groups of commands, in the order in which the help lists them.
const (
	groupCommon   = "common"
	groupSessions = "sessions"
	groupLooking  = "looking"
	groupHub      = "hub"
	groupOther    = "other"
)

// groups returns them with their headings.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupCommon, Title: "Common commands:"},
		{ID: groupSessions, Title: "Sessions:"},
		{ID: groupLooking, Title: "Looking:"},
		{ID: groupHub, Title: "Hub:"},
		{ID: groupOther, Title: "Other:"},
	}
}

// A grouped is a command with the group that the help lists it in; hidden ones have none.
type grouped struct {
	group string
	cmd   *cobra.Command
}

// verbs returns all of them, in the order in which the help lists them.
func verbs(s *surroundings) []grouped {
	return []grouped{
		{groupCommon, newRun(s)},
		{groupCommon, newLs(s)},
		{groupCommon, newAttach(s)},
		{groupCommon, newConsole(s)},
		{groupCommon, newSend(s)},
		{groupCommon, newQuestions(s)},
		{groupCommon, newAllow(s)},
		{groupCommon, newDeny(s)},
		{groupCommon, newAnswer(s)},
		{groupCommon, newLogs(s)},
		{groupCommon, newWait(s)},
		{groupCommon, newStop(s)},
		{groupCommon, newDoctor(s)},

		{groupSessions, newInterrupt(s)},
		{groupSessions, newResume(s)},
		{groupSessions, newFork(s)},
		{groupSessions, newRewind(s)},
		{groupSessions, newArchive(s)},
		{groupSessions, newRm(s)},
		{groupSessions, newHandback(s)},
		{groupSessions, newDisk(s)},
		{groupSessions, newWrap(s)},

		{groupLooking, newStatus(s)},
		{groupLooking, newShow(s)},
		{groupLooking, newSearch(s)},
		{groupLooking, newExport(s)},
		{groupLooking, newCost(s)},

		{groupHub, newServe(s)},
		{groupHub, newBackup(s)},
		{groupHub, newPolicy(s)},
		{groupHub, newToken(s)},

		{groupOther, newSim(s)},
		{groupOther, newVersion()},

		{"", newShim()},
		{"", newDemo(s)},
		{"", helpExitCodes()},
		{"", helpSessions()},
	}
}

// colorChoices are the values of --color.
func colorChoices() []string { return []string{"auto", "always", "never"} }

// newRoot returns the command that all others hang on.
func newRoot(s *surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "switchboard",
		Short: "Run, watch and steer Claude Code agents",
		Long:  "Run, watch and steer many Claude Code agents from one place.",
		Example: `  switchboard run "Fix the tests"           # an agent in this folder, shown live
  switchboard run --simulated "Fix a bug"   # try it without an account`,
		Args:          knownCommand,
		SilenceErrors: true, // run says them, once
		SilenceUsage:  true, // an error is easier to see without it
		Version:       buildVersion(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !isTerminal(s.stdout) {
				return cmd.Help()
			}
			return (&statusVerb{}).overview(cmd.Context(), s)
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra looks at them only when the command has begun
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
	all := verbs(s)
	for _, v := range all {
		v.cmd.GroupID = v.group
		root.AddCommand(v.cmd)
	}
	root.SetUsageFunc(usage(root, all))
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	return root
}
