// Package conformance judges what this project believes about the Claude Code CLI by the real program.
//
// Its tests drive pinned versions of the CLI from npm, over every transport each of them has, against the simulated model of package
// claudetest: no account, no key, nothing that leaves the machine. The package itself installs those CLIs into the user's cache folder and
// says where their program is; commands below it do so from a Makefile (cmd/clis) and play a conversation for a person to read (cmd/play).
package conformance
