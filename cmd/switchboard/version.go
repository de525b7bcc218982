package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// A build is what the command version tells.
type build struct {
	Version   string   `json:"version"`   // of the module; devel, with the commit if it is known, for a build from a working copy
	Go        string   `json:"go"`        // that it was built with
	Platform  string   `json:"platform"`  // that it was built for
	Simulates []string `json:"simulates"` // versions of the CLI that sim knows
}

// buildVersion returns the module's version as the Go command wrote it into the program; of a build from a working copy the commit, as far as it
// is known.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return develVersion
	}
	return versionOf(info)
}

// develVersion is the version of a build of which nothing is known.
const develVersion = "devel"

// versionOf returns the version of a build.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
			commit = "-" + setting.Value[:12]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = " (modified)"
		}
	}
	return develVersion + commit + changed
}

func newVersion() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this build",
		Example: `  switchboard version
  switchboard version --json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := build{
				Version: buildVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Simulates: claudetest.SimVersions(),
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "switchboard %s, built with %s for %s\nsimulates Claude Code %s\n",
				b.Version, b.Go, b.Platform, strings.Join(b.Simulates, ", "))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
