package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/shim"
)

// specDescriptor is where the shim finds its orders: never in arguments or the environment, which others can see.
const specDescriptor = 3

// newShim is the verb by which serve starts the process that owns an agent. It is not for people.
func newShim() *cobra.Command {
	return &cobra.Command{
		Use:    "shim",
		Short:  "Own one agent on behalf of serve, which starts this",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := shim.Main(cmd.Context(), os.NewFile(specDescriptor, "spec")); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
}
