// Package since finds out which versions of the Claude Code CLI have which flags, control requests, hook events and members of the initialize
// request.
//
// [Probe] asks one installed CLI for all of them, in an environment of its own and with the simulated model. [Plan] says which of the published
// versions to ask next, and [Table] makes of the findings what package wire generates its table from (wire/schema/features.tsv). The command
// beside this package, `make since`, downloads the versions and remembers what was found.
//
// A feature is tried in one of four ways, which the table names:
//
//   - flag: the CLI is started with the flag and with one that no version has. Its complaint names the first that it does not know, and it
//     ends before it does anything.
//   - answer: the control request is sent, with a body that changes nothing. Most versions answer a request that they do not know with an
//     error, which is compared with the answer to a request that no version has; the oldest never answer it.
//   - turn: a turn with the simulated model shows whether a member of the initialize request has its effect.
//   - name: the program is searched for the name by which it would read or write the feature. That is the way for what a CLI
//     leaves out in silence and what cannot be provoked at will, such as most hook events. A program without the name does not have the
//     feature; on the pinned versions, programs with it all do.
package since
