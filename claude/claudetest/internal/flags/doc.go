// Package flags reads the command line of a Claude Code CLI, for the simulated
// one: the same flags, checks, words and exit codes as the version imitated.
// Which version has which flag, and what it says, was measured on 2.1.37,
// 2.1.120 and 2.1.325.
//
// Flags for terminals, clouds and other processes are accepted where the version
// accepts them and mean nothing here. Not imitated are the subcommands, the help
// text, checks that read files, and the stack traces that 2.1.37 and 2.1.120
// print for bad amounts.
package flags
