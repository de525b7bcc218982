// Package link is the protocol between a shim and the hub: the form of its
// frames and the bookkeeping of both ends. It is pure: no input or output, no
// clocks, no goroutines. Nothing in it is safe for concurrent use.
//
// # The carrier
//
// A link is a WebSocket on the hub's Unix socket: path [Path], subprotocol
// [Subprotocol], the run's token as "Authorization: Bearer". Nothing but the
// dialler depends on the socket being a Unix one. No extension is used.
//
// Link control is JSON in text frames, one object each, see [Message]. Lines go
// in binary frames of at most [MaxFrame] bytes, which hold records:
//
//	kind     1 byte    what it is, see [Kind]
//	flags    1 byte    1: more of this line follows in the next record
//	                   2: live lines were left out before this one
//	number   uvarint   see below
//	k        uvarint   live lines only
//	length   uvarint
//	bytes
//
// A frame holds any number of records, and a line any number of records, in one
// frame or several. The records of a line follow each other without others in
// between (in their direction), with the same kind, number and k. Text frames
// may come between any two binary frames. A line that a cut connection has left
// unfinished is sent again from its beginning on the next.
//
// # Lines
//
// Everything durable of a run is numbered 1, 2, 3 … without holes: lines of the
// CLI (L), among them what the shim asks for the CLI's sandbox and withdraws, lines that a program wrote to a CLI that it owns (P, only with a
// tee), lines that were too long to carry (O, [Oversize]) and what happened to
// the shim (E, [Event]). A kind that is unknown is durable, too. The shim keeps
// them until the hub has journaled them, which an ack tells; [Outgoing] is its
// side, [Incoming] the hub's.
//
// Live lines (V) have a place instead: the k-th one after durable line n. They
// are never acknowledged and never make the CLI wait: when they pile up they
// are left out, and the next one is flagged. Those of a message that is still
// being written are sent again after a reconnect, at their old place, so that a
// new hub can rebuild what is being written; a hub that has them already sees
// that from n and k.
//
// # Commands
//
// Lines to the CLI (C) have the numbers of the hub's outbox. Numbers only rise,
// and may have holes: what has become pointless while the link was down is never
// sent. The shim writes them in order, each at most once, and says "written"
// with the highest number that is written, which speaks for all lower ones that
// were sent, except those for which "failed" has come before. A number that is
// already written is "refused": to the hub that is as good as written. When a
// link is cut, commands that the shim has received and not begun to write are
// forgotten, so that the hub alone decides what is sent again. One that is being
// written at that moment (the CLI may be slow to read) is named in the next
// hello as writing and must not be given up: its "written" or "failed" follows.
// [Commands] is the shim's side. An answer to a question of the shim's own counts as
// written when the shim has taken it.
//
// # The course of a link
//
// The shim says [Hello]; the hub answers [Welcome], [Gone] or [OwnedBy]. The
// shim then sends all durable lines after Welcome.Have that it has, and the
// live lines to be repeated between them, and goes on with new ones. The hub
// sends commands from Welcome on.
//
//   - If Have is less than Oldest-1, the hub has lost lines that it had
//     acknowledged (a restored backup): it notes a gap and goes on at Oldest.
//   - If Have is Next or more, or the run is unknown or has ended, the hub says
//     gone, and the shim ends its CLI.
//   - If another instance holds the run, the hub says owned_by; the shim tries
//     again, less and less often.
//   - If Written is more than the hub has ever sent (a restored backup), the hub
//     goes on above it.
//
// Either side may send ping, to be answered with pong. A side that has heard nothing
// for [PingAfter] sends one, and a side that has heard nothing for [DeadAfter] drops
// the connection. Unknown messages and members are ignored.
//
// # Versions
//
// The version is [Version]; [OldestVersion] is also spoken, because shims
// outlive the upgrade of a hub. Hello carries the shim's; Welcome the one to be
// spoken, the lower of both. Version 0 differs in this: its hello has neither
// oldest nor writing nor failed (Oldest is 0 then: a gap shows only when the
// first line comes, and [Incoming] tells), "written" names one number each in
// place of up_to, and there is no "refused", for which it says written.
package link
