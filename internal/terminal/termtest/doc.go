// Package termtest runs a program on a real pseudo-terminal, types what a person would type, and reads what that person would see.
//
// [Start] is all that most tests need:
//
//	term := termtest.Start(t, termtest.Options{Args: []string{program, "run", "--simulated", "hello"}, Env: env})
//	term.WaitFor("Allow this?")
//	term.Type("y")
//	if code := term.Exit(); code != 0 { … }
//
// The terminal is an emulator of our own, see [Emulator]: it knows what a current xterm knows and our programs use, answers the questions that
// programs ask a terminal, and keeps a record of what no text of an agent may ever cause: titles, clipboard writes, bells and sequences that
// it does not know, see [Screen]. It can be used alone, with [Render], to see what a text does to a terminal.
//
// A terminal can be recorded in the asciicast format ([Options.Record]); [SVG] makes a picture of such a recording.
package termtest
