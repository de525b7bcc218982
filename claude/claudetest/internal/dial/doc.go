// Package dial is the simulated CLI's way out: what a CLI up to 2.1.120 does with --sdk-url.
//
// A [Link] dials a server by WebSocket and dials again when the connection is lost, as often and with such pauses as the [Policy] of its
// version says. What comes in is a stream of bytes; what goes out are lines, by the same WebSocket or, with [Options.Post], in HTTP POSTs.
// Nothing here looks into a line further than its type, which decides when a POST may leave.
//
// The package imitates weaknesses as well: a 2.1.37 loses what it writes while it is away, and a link that has ended looks, from the side of
// the program, like an input that has ended in good order.
package dial
