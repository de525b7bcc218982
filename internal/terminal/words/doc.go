// Package words holds what every view of the terminal calls things: permission
// modes, and what a question asks.
package words
