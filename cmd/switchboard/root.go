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
	groupSteering = "steering"
	groupLooking  = "looking"
	groupHub      = "hub"
	groupOther    = "other"
)

// groups returns them with their headings.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupCommon, Title: "Common commands:"},
		{ID: groupSessions, Title: "Sessions:"},
		{ID: groupSteering, Title: "Steering:"},
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

// commands returns all of them, in the order in which the help lists them.
func commands(e *env) []grouped {
	return []grouped{
		{groupCommon, newRun(e)},
		{groupCommon, newLs(e)},
		{groupCommon, newAttach(e)},
		{groupCommon, newConsole(e)},
		{groupCommon, newSend(e)},
		{groupCommon, newQuestions(e)},
		{groupCommon, newAllow(e)},
		{groupCommon, newDeny(e)},
		{groupCommon, newAnswer(e)},
		{groupCommon, newLogs(e)},
		{groupCommon, newWait(e)},
		{groupCommon, newStop(e)},
		{groupCommon, newDoctor(e)},

		{groupSessions, newInterrupt(e)},
		{groupSessions, newResume(e)},
		{groupSessions, newFork(e)},
		{groupSessions, newRewind(e)},
		{groupSessions, newArchive(e)},
		{groupSessions, newRm(e)},
		{groupSessions, newHandback(e)},
		{groupSessions, newDisk(e)},
		{groupSessions, newWrap(e)},

		{groupSteering, newRetry(e)},
		{groupSteering, newMode(e)},
		{groupSteering, newModel(e)},
		{groupSteering, newThinking(e)},
		{groupSteering, newRename(e)},
		{groupSteering, newEnv(e)},
		{groupSteering, newQueue(e)},
		{groupSteering, newRule(e)},
		{groupSteering, newRelease(e)},
		{groupSteering, newMCP(e)},
		{groupSteering, newControl(e)},

		{groupLooking, newStatus(e)},
		{groupLooking, newShow(e)},
		{groupLooking, newSearch(e)},
		{groupLooking, newExport(e)},
		{groupLooking, newCost(e)},
		{groupLooking, newBudgets(e)},
		{groupLooking, newAudit(e)},
		{groupLooking, newTimeline(e)},
		{groupLooking, newContext(e)},
		{groupLooking, newEvents(e)},
		{groupLooking, newFiles(e)},
		{groupLooking, newFolders(e)},
		{groupLooking, newDrift(e)},

		{groupHub, newServe(e)},
		{groupHub, newLogin(e)},
		{groupHub, newLogout(e)},
		{groupHub, newHub(e)},
		{groupHub, newNode(e)},
		{groupHub, newBackup(e)},
		{groupHub, newPolicy(e)},
		{groupHub, newPrefs(e)},
		{groupHub, newPreset(e)},
		{groupHub, newSandbox(e)},
		{groupHub, newToken(e)},
		{groupHub, newRelay(e)},

		{groupOther, newSim(e)},
		{groupOther, newVersion()},

		{"", newShim()},
		{"", newDemo(e)},
		{"", helpExitCodes()},
		{"", helpSessions()},
	}
}

// colorChoices are the values of --color.
func colorChoices() []string { return []string{"auto", "always", "never"} }

// newRoot returns the command that all others hang on.
func newRoot(e *env) *cobra.Command {
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
			if !isTerminal(e.stdout) {
				return cmd.Help()
			}
			return (&statusCmd{}).overview(cmd, e)
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra looks at them only when the command has begun
				return usageError{err}
			}
			if !slices.Contains(colorChoices(), e.color) {
				return usageError{fmt.Errorf("--color is %q; it can be auto, always or never", e.color)}
			}
			return nil
		},
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "when to use colours: auto, always or never")
	complete(root, "color", colorChoices()...)
	root.AddGroup(groups()...)
	all := commands(e)
	for _, v := range all {
		v.cmd.GroupID = v.group
		completeHubFlag(v.cmd, completeHubs(e))
		root.AddCommand(v.cmd)
	}
	root.SetUsageFunc(usage(root, all))
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	return root
}
