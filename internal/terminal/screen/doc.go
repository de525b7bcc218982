// Package screen is the full-screen view behind switchboard attach: a list of sessions, the conversation of one of them, and a place to write.
//
// It reads only what it shows. A conversation is opened at its end, by its last page of events; each page further back is read when the user scrolls
// to it. The list is read once and then kept by the stream of all sessions. What is open is followed from the last event that was read.
//
// The model is a Bubble Tea one: keys and frames come in as messages, and all reading and sending is done by commands. Nothing here writes to the
// terminal but Bubble Tea, and everything that an agent wrote is cleaned before it is drawn.
package screen
