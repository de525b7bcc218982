// Package claude starts Claude Code and talks to it.
//
// [Find] locates the CLI and asks for its version, [CLI.Start] starts it with
// [Options] and returns a [Process]. A Process is a [Transport]: it carries
// lines, one JSON object each, between the program and the CLI. What the lines
// mean is the business of package wire; other transports, for CLIs that dial
// in, are in package claudews.
//
//	cli, err := claude.Find(ctx, nil)
//	if err != nil {
//		return err
//	}
//	p, err := cli.Start(ctx, &claude.Options{Dir: dir})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//
// # What a CLI is told and given
//
// Every option becomes one argument of the form --flag=value, checked against
// the version of the CLI before anything is started. Prompts are never
// arguments, because everyone on the machine can read those; settings and MCP
// configurations go into files that only the user can read and that Close
// removes.
//
// The environment is the one of the program without the variables that
// [StrippedEnv] lists, or exactly [Options].Env, plus a few of ours. One of
// them is the marker [MarkerEnv].
//
// # What is left behind
//
// Nothing, if the program calls [Process.Close] on Linux: it ends the input,
// waits, sends SIGTERM, waits, sends SIGKILL, and then ends what the CLI has
// started. The CLI runs shell commands in sessions of their own, which no
// process group reaches. They are found by the marker, which every process
// inherits with its environment, and by their descent as long as it can be
// seen. On macOS there is only the descent, so that what a CLI that died by
// itself has started is not found. On Windows the tree is ended by taskkill,
// but only if the CLI does not end by itself when it is asked to.
//
// If the program itself is killed, the CLI is told so by the kernel on Linux
// (PDEATHSIG) and ends. 2.1.325 takes its tools with it; 2.1.37 and 2.1.120
// leave a running tool behind, and [Sweep] with the run's marker ends it. On
// other systems a CLI notices the end of its input, finishes its turn and ends.
// What is also left behind then is the private directory with the settings,
// named switchboard-cli-* in [Options].TempDir.
package claude
