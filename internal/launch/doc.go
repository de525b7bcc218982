// Package launch starts agents for the hub: it finds the CLI, chooses its
// options and environment, and starts a shim that runs it and outlives the hub.
//
// A shim is this very program with the word shim. It gets a session of its own,
// /dev/null as input and a log file as output, so that nothing of the hub keeps
// it alive or ends it. What it is to run, and the token that it shows to the
// hub, come by a pipe: arguments and environments can be read by others.
//
// # What is on disk
//
//	<data-dir>/run/cli/<session>-<run>/shim.json          which process the shim is
//	<data-dir>/run/cli/<session>-<run>/switchboard-cli-*  settings for the CLI
//	<data-dir>/shims/<session>-<run>.log                  what the shim has to say
//
// The folder of a run is made before anything is started and removed by the
// shim when everything that belongs to the run has ended. One that is left
// belongs to a shim that was killed. shim.json is written while the shim still
// waits for the pipe: a folder without it means that the hub died first, and
// that the shim, seeing the end of the pipe, has ended without having done
// anything. So [Launcher.SweepAll] knows from the folders alone what to look
// for and what to leave in peace.
package launch
