// Package notify tells people elsewhere that a session needs them: by a signed
// webhook, or by a POST that ntfy understands.
//
// A [Sender] has a bounded queue and one goroutine per [Target]. [Sender.Notify]
// only puts a notification into the queues, so that it never blocks;
// what cannot be delivered is tried again with growing pauses, for a bounded
// number of times and a bounded age, and then given up, counted and logged.
// Nothing is kept over a restart: the hub has what is certain.
//
// What leaves the machine is by default the session's id, the kind of the
// notification and a link. [Target].Detail adds titles and texts. The addresses
// of targets may be secrets themselves, so that no more than the host of one is
// ever logged.
package notify
