// Package ingress is where agents come in: shims over the link (see package
// link), and CLIs that dial in by themselves (see package claudews). It takes
// lines off their connections and gives them to the hub, and it sends what the
// hub has for them. It decides nothing about sessions.
//
// # From a connection to the hub
//
// Reading and committing overlap: while the hub journals one batch, the next is
// being read, and becomes a batch as large as what has arrived meanwhile. That
// is all the batching there is; no timer holds a line back. What waits is
// bounded, and when it is full the connection is not read further, which is how
// a slow disk makes an agent wait. Live lines are exempt: they are left out
// instead of making the reader wait, and the next one says so.
//
// All that the hub is told about one connection it is told by one goroutine, in
// the order in which it came. That goroutine and the one that writes exist only
// while they have something to do, so that a thousand idle links cost a thousand
// goroutines, each waiting in a read.
//
// # Kinds of agents
//
// [Link] serves shims: numbered lines, acknowledged when they are journaled, and
// numbered commands, each written at most once.
//
// [Dial] serves CLIs that were started with --sdk-url. They number nothing: a
// POST is answered when its lines are journaled, what comes over the WebSocket is
// not acknowledged at all, and a command counts as written when the network took
// it. What is known to be missing is told to the hub as a gap.
//
// [Foreign] carries the lines of an agent of another program, which package relays
// finds behind that program's relay.
package ingress
