// Package live shows a session inline, in the lines of a terminal that follow
// the prompt of the shell: what is finished is printed and stays in the
// scrollback, and below it is a part that changes, with what the agent is
// writing, the tools that run, its to-do list, and the question or the composer.
//
// [View] is a Bubble Tea program around one model, which belongs to the
// program's goroutine. One goroutine follows the session; what is to be sent to
// the hub goes as commands. Everything an agent wrote is drawn by packages talk
// and paint, which see to it that it cannot harm the terminal.
package live
