// Package compose is the composer of the terminal: a text of several lines that a person writes to an agent, with history, completion of
// commands and files, attachments and the editor of their choice. It also has the text field that questions are answered with.
//
// The models are values in the manner of Bubble Tea: Update returns another one, and nothing but commands does any input or output.
package compose
