// Package sandbox has the operating system hold what rules deny: the processes
// of an agent do not see, or cannot write, what they must not, whatever program
// they run.
//
// Three steps lead from rules to a process. The hub derives a [Policy] from the
// rules of a session: patterns, which mean nothing without a machine. The
// launcher, on the machine where the agent runs, resolves it into a [Profile] of
// paths and addresses. The shim starts the CLI by an [Enforcer], which turns the
// profile into what its system understands.
package sandbox
