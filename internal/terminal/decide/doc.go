// Package decide makes answers to agents' questions out of what was written, as arguments of a command or in a line that begins with a slash: which
// option, which outcome of a plan, what to fill into a form. It checks what it can before anything is sent, and does nothing itself.
package decide
