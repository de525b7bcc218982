// Package pane is the part of a view that belongs to one session and takes a person's keys: the composer, the question that is shown, and what keeps
// a key that is meant for one from reaching the other. Package live shows one pane inline, below the transcript; package screen shows the pane of the
// session that is open, beside its lists.
//
// A [Pane] belongs to the goroutine of its Bubble Tea program. What it sends to the hub goes as commands of [Jobs], whose results come back as a [Msg].
// A [Stream] brings frames in batches, bounded in size and rate, and says when the connection is lost.
package pane
