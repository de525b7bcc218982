// Package eventlog reads the log of a session by the positions of its events, finds prompts and replies in it, and prints it: as the lines of
// the CLI, as events, or as the items of the conversation.
package eventlog
