// Package terminal shows a session in a terminal, or to whatever else reads lines of text, and takes what people type there.
//
// So far it does so in plain text, see [Attach]: one line for each thing that happens, and nothing that moves. What an agent writes is shown as
// text and never reaches the terminal as a command to it: control characters are made visible, and further lines stand further in, so that
// no answer can pass for a question of ours.
package terminal
