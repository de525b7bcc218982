package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func newPreset(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preset",
		Short: "List and show presets for new sessions",
		Long: `A preset is a set of session options with a name, in the hub's configuration file:

  [preset.review]
  description = "Reads, and changes nothing"
  permission_mode = "plan"
  max_budget_usd = 2
  fresh = true

The options are those of the API; docs/running.md describes them. The hub reads the file when it starts.`,
		Example: `  switchboard preset ls
  switchboard preset show review

  # start a session with it; flags win over it
  switchboard run --preset review --max-budget 5 "Review the last commit."`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPresetLs(e), newPresetShow(e))
	return cmd
}

func newPresetLs(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		listFlags
	}{}
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List the presets of the hub",
		Long:    `Lists the presets of the running hub, by name.`,
		Example: `  switchboard preset ls`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Presets(ctx)
				if err != nil {
					return err
				}
				return printList(e, v.listFlags, list.Presets, list, func(p *api.Preset) string { return p.Name },
					"No presets. Add a table [preset.NAME] to the configuration and restart the hub.", func() ([]string, error) {
						return e.view(false).Presets(list.Presets), nil
					})
			})
		},
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	v.flags(cmd)
	v.add(cmd, "one JSON object")
	return cmd
}

func newPresetShow(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		json bool
	}{}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show the options of a preset",
		Long: `Shows the options of a preset. Values that may be secrets are hidden: of variables, MCP servers, settings
and raw flags only the names are shown.`,
		Example: `  switchboard preset show review`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which preset? Name one; switchboard preset ls lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Presets(ctx)
				if err != nil {
					return err
				}
				at := slices.IndexFunc(list.Presets, func(p api.Preset) bool { return p.Name == args[0] })
				if at < 0 {
					return &naming.Error{Kind: "preset", Why: fmt.Sprintf("no preset %q; switchboard preset ls lists them", paint.CleanLine(args[0], 64))}
				}
				if v.json {
					return e.writeJSON(&list.Presets[at])
				}
				lines, err := presetLines(e, &list.Presets[at])
				if err != nil {
					return err
				}
				return writeLines(e.stdout, lines)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.ValidArgsFunction = firstOnly(completePresets(e, &v.hubFlags))
	return cmd
}

// presetLines shows a preset: an option in a line, as JSON.
func presetLines(e *env, p *api.Preset) ([]string, error) {
	raw, err := json.Marshal(p.Options)
	if err != nil {
		return nil, err
	}
	var options map[string]json.RawMessage
	if err := json.Unmarshal(raw, &options); err != nil {
		return nil, err
	}
	rows := [][2]string{{"name", p.Name}}
	if p.Description != "" {
		rows = append(rows, [2]string{"description", p.Description})
	}
	for _, name := range api.OptionNames() {
		switch hidden, isHidden := p.Hidden[name]; {
		case isHidden:
			rows = append(rows, [2]string{name, strings.Join(hidden, ", ") + " (hidden)"})
		case options[name] != nil:
			rows = append(rows, [2]string{name, string(options[name])})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Hidden)) { // of a newer hub
		if !slices.Contains(api.OptionNames(), name) {
			rows = append(rows, [2]string{name, "(hidden)"})
		}
	}
	return e.view(false).Pairs(rows...), nil
}

// completePresets completes with the names of presets.
func completePresets(e *env, p *hubFlags) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
		list, err := c.Presets(ctx)
		if err != nil {
			return nil
		}
		var found []cobra.Completion
		for i := range list.Presets {
			found = append(found, offer(list.Presets[i].Name, list.Presets[i].Description))
		}
		return found
	})
}

// presets returns the presets of the configuration as the hub wants them.
func presets(c *config.Config) []hub.Preset {
	list := make([]hub.Preset, len(c.Presets))
	for i, p := range c.Presets {
		list[i] = hub.Preset{Name: p.Name, Description: p.Description, Options: p.Options}
	}
	return list
}
