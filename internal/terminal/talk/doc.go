// Package talk draws the items of a transcript as lines for a terminal.
package talk
