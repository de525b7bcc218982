// Package policy turns rules into decisions about what an agent may do.
//
// Rules are written in Claude Code's own language: Bash(git status:*),
// Edit(src/**), WebFetch(domain:example.com), mcp__server__tool. Each one allows,
// denies, or has a person asked; deny beats ask, ask beats allow, wherever the
// rules stand. docs/rules.md has the whole of it as a table, each row of which is
// a test of this package.
//
// Two principles decide what the language leaves open. An allow rule is read as
// narrowly as it can be: whatever is not certainly covered is asked. A deny or
// ask rule is read generously. So a path has to be inside an allow rule's folder
// both as it is written and with all links followed, while either is enough for a
// deny rule; and a shell command is allowed only if each of its simple commands
// is, while one is enough to deny it. A rule that allows every command, beside
// others that deny some commands or files, allows only what can be known for
// certain.
//
// The package starts no goroutine and keeps no state: an [Engine] never changes
// and may be used by many goroutines at once. What it needs to know of the file
// system it learns through a [Resolver].
package policy
