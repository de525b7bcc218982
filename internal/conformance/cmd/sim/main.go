// Command sim is the simulated CLI as a program of its own, which the conformance
// suite installs in many versions with [claudetest.InstallProgram]. The suite's
// own binary has the race detector and takes several times as long to start; the
// tests of claudetest look for races in the simulated CLI.
package main

import (
	"fmt"
	"os"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

func main() {
	code, ran := claudetest.RunInstalled(os.Args)
	if !ran {
		fmt.Fprintln(os.Stderr, "sim: no options lie beside it: install it with claudetest.InstallProgram")
		code = 2
	}
	os.Exit(code)
}
