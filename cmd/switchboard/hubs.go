package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

func newHub(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "List the hubs you are logged in to, and choose one",
		Long: `Commands use the hub of this machine, named local, unless another one is current. switchboard login adds a
hub. For one command --hub NAME chooses, for a shell ` + envHub + `; either can be an address, too, with the
token in ` + envToken + `, and then no login is needed.`,
		Example: `  switchboard hub ls

  # use it from now on
  switchboard hub use work

  # for one command
  switchboard ls --hub work

  # the hub of this machine again
  switchboard hub use local

  # without a login
  ` + envHub + `=https://hub.example.com ` + envToken + `="$(cat token.txt)" switchboard ls`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHubLs(e), newHubUse(e), newHubRm(e))
	return cmd
}

// A hubEntry is a hub as hub ls prints it: without its token.
type hubEntry struct {
	Name    string    `json:"name"`
	URL     string    `json:"url,omitempty"`
	Pin     string    `json:"pin,omitempty"`
	Current bool      `json:"current"`
	Added   time.Time `json:"added,omitzero"`
}

func newHubLs(e *env) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List hubs",
		Long: `Lists the hub of this machine and those that you are logged in to. A star marks the one that commands use;
` + envHub + ` counts if it is set. The fingerprint is that of a hub that has made its certificate itself. Tokens
are not shown. No hub is contacted.`,
		Example: `  switchboard hub ls

  # the names
  switchboard hub ls -q`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			list, err := hubEntries(e)
			if err != nil {
				return err
			}
			rows := make([]terminal.KnownHub, len(list))
			for i, hub := range list {
				rows[i] = terminal.KnownHub{Name: hub.Name, URL: hub.URL, Pin: hub.Pin, Current: hub.Current, Added: hub.Added}
			}
			return printList(e, *l, list, struct {
				Hubs []hubEntry `json:"hubs"`
			}{list}, func(h *hubEntry) string { return h.Name }, "", func() ([]string, error) { return e.view(false).Hubs(rows), nil })
		},
	}
	cmd.Flags().BoolVarP(&l.quiet, "quiet", "q", false, "print names only")
	cmd.Flags().BoolVar(&l.json, "json", false, "print one JSON object")
	return cmd
}

// hubEntries returns all hubs, that of this machine first.
func hubEntries(e *env) ([]hubEntry, error) {
	hubs, err := config.LoadHubs(config.HubsFile(e.getenv))
	if err != nil {
		return nil, usageError{err}
	}
	current := e.getenv(envHub)
	if current == "" {
		current = hubs.Current
	}
	list := []hubEntry{{Name: config.LocalHub, Current: current == "" || current == config.LocalHub}}
	for _, name := range hubs.Names() {
		hub := hubs.Hubs[name]
		list = append(list, hubEntry{Name: name, URL: hub.URL, Pin: hub.Pin, Added: hub.Added, Current: current == name || current == hub.URL})
	}
	return list, nil
}

// oneHub asks for the name of a hub.
func oneHub(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("which hub? Name one; switchboard hub ls lists them")
	}
	return nil
}

func newHubUse(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "use HUB",
		Short: "Make a hub the one that commands use",
		Long: `Makes a hub the current one: commands use it unless --hub or ` + envHub + ` names another. local is the hub of
this machine.`,
		Example: `  switchboard hub use work

  switchboard hub use local`,
		Args:              oneHub,
		ValidArgsFunction: firstOnly(completeHubs(e)),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			err := config.ChangeHubs(config.HubsFile(e.getenv), func(hubs *config.Hubs) error {
				if name == config.LocalHub {
					hubs.Current = ""
					return nil
				}
				if _, has := hubs.Hubs[name]; !has {
					return &unknownHubError{name, "hub use"}
				}
				hubs.Current = name
				return nil
			})
			if err != nil {
				return err
			}
			if named := e.getenv(envHub); named != "" && named != name {
				fmt.Fprintf(e.stderr, "switchboard: %s is set to %s, which goes before\n", envHub, terminal.Clean(withoutFragment(named)))
			}
			_, err = fmt.Fprintf(e.stdout, "Commands use the hub %s now.\n", name)
			return err
		},
	}
}

func newHubRm(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "rm HUB…",
		Aliases: []string{"remove"},
		Short:   "Forget hubs, without telling them",
		Long: `Forgets the address, token and fingerprint of hubs. The hubs are not contacted, and the tokens stay valid:
switchboard logout ends them, too.`,
		Example: `  switchboard hub rm work`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which hub? Name some; switchboard hub ls lists them")
			}
			return nil
		},
		ValidArgsFunction: completeHubs(e),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.each(args, func(name string) error {
				if name == config.LocalHub {
					return usageError{errors.New("the hub of this machine can't be removed; stop it instead")}
				}
				if err := forgetHub(config.HubsFile(e.getenv), name); err != nil {
					return err
				}
				_, err := fmt.Fprintf(e.stdout, "removed %s\n", name)
				return err
			})
		},
	}
}
