// Package shim is the small process that owns a CLI: it holds the CLI's
// standard input and output and carries its lines to the hub over a link (see
// package link), so that the hub can crash, be killed or be upgraded while the
// agent lives on.
//
// [Main] is the process: it reads a [Spec] from a descriptor, arranges what
// belongs to the whole process (signals, the log file, orphaned grandchildren)
// and calls [Run]. Run starts the CLI and then does three things at once until
// it ends:
//
//   - it reads the CLI's lines, numbers them and keeps the durable ones until
//     the hub has journaled them. When the buffer is full it stops reading,
//     which stops the CLI;
//   - it keeps a link to the hub: it dials the hub's socket, proves to itself
//     that the hub is its own user's, and dials again for as long as it takes;
//   - it writes the hub's commands to the CLI in the order of their numbers,
//     each at most once.
//
// A CLI that has a sandbox is started in it. The shim runs the proxy to which the
// network of the sandbox leads, asks the hub about unknown hosts by lines of its
// own among those of the CLI, and takes the answers out of the hub's commands.
//
// The shim ends when its CLI has ended and the hub has journaled that, when the
// hub says that the run is gone, or when there was no hub for too long. In the
// last case the lines that no hub has journaled go into a spool file, which the
// next hub reads.
//
// [Tee] is the shim of a program that has a CLI of its own: the program and the
// CLI talk to each other undisturbed, and the hub gets a copy. [Wrap] is the whole
// life of such a process: it starts the CLI and ends as that does.
package shim
