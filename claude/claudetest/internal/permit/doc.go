// Package permit decides whether a Claude Code CLI would ask before it runs a
// tool. It is the permission order of the simulated CLI: rules that deny, rules
// that ask, the mode, rules that allow (settings, --allowedTools, and what
// answers taught it), tools that are never asked about, and then the question
// with the suggestions that the real CLI would make. Hooks come before all of
// this and are not its business. It reads no files and runs nothing.
//
// What it says was measured on 2.1.37, 2.1.120 and 2.1.325. It does not imitate:
// symbolic links, paths other than those of Unix, shells beyond simple commands
// joined by && || ; | and new lines, "cd" before a relative path, hosts that
// WebFetch may read unasked, rules for skills and agents, sandboxing, managed
// settings that forbid modes, the classifier of mode auto (it always refuses, as
// behind a foreign API address), and the settings file that an update with such
// a destination is written to.
package permit
