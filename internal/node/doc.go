// Package node is the protocol between a hub and its nodes, the other machines on
// which its agents run: the form of messages, the proof of a node's identity, and the
// bounds of both. It is pure: no input or output, no clocks, no goroutines. Its
// functions are safe for concurrent use.
//
// # The connections
//
// A node dials the hub, over TLS unless the hub is on the same machine. It has one
// control connection, a WebSocket at [ControlPath] with the subprotocol
// [Subprotocol], and one connection at [LinkPath] for each of its shims: the shim's own
// link, see package link, carried as it is.
//
// Messages of the control connection are text frames of at most [MaxMessage] bytes,
// one JSON object each, see [Message]. Unknown messages and members are ignored.
//
// # The handshake
//
// The hub begins with [Challenge]. The node answers with [Hello], signed with the
// Ed25519 key that it made when it joined, see [Sign]; the hub answers with [Welcome] or
// [Refused]. The signature covers the hub's nonce and id, the node's id, and the host
// that the node has dialed: a hello that another server has asked for is worth nothing
// to this hub, nor is an old one.
//
// The ticket of the welcome is what requests at [LinkPath] show, beside the shim's own
// token. It is valid as long as the control connection, and for [TicketGrace] after that
// was lost, so that links can be opened again meanwhile. Links that are open do not
// need the control connection.
//
// # Calls
//
// The hub sends [Call], and the node one [Answer] with the same id, in any order. A call
// whose caller has given up is [Cancel]led; its answer comes nevertheless. What is long
// is read in pieces: a call opens a stream and answers with its handle ([Opened]), which
// [MethodNext] reads and [MethodClose] closes. Handles, and calls without an answer, end
// with the connection.
//
// A start ([MethodStart]) is for one run, and starts it at most once: a node registers it
// before it reads the next message, and answers the same start again with what became of
// the first one, also over another connection and after a restart of the node. A node
// reads a connection to its end before it opens the next, so that no start is left over
// that it has not seen.
//
// The node sends [Facts] at intervals and when they change, and [Exited] when the shim of
// a run has ended. Both are hints: the hub asks before it acts on them.
//
// The hub sends [Ping] at intervals of [PingEvery], and the node answers with [Pong],
// from which the hub knows how much the clocks differ. Either end gives a connection up
// on which it has heard nothing for [DeadAfter].
package node
