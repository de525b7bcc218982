// Package claudews carries lines between a controller and a CLI over the
// network, where package claude does so over a process's pipes.
//
// # CLIs that dial in
//
// A [Server] is an [http.Handler] for CLIs that were started with
//
//	claude --sdk-url=ws://host:port/ws/cli/NAME --print --verbose \
//	       --input-format=stream-json --output-format=stream-json
//
// which versions up to 2.1.120 can do; later ones refuse every host but the
// vendor's. Each CLI is a [Peer], a [claude.Transport] that survives the loss
// of its connection: the CLI reconnects, and the Peer continues. With
// CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1 in its environment the CLI sends
// its lines with HTTP POST and only listens on the WebSocket; the same handler
// serves both. docs/hybrid-post.md describes what the versions do then.
//
// The effect of a reconnect depends on the CLI. 2.1.37 retries for 5 s only and
// loses what it wrote meanwhile; 2.1.120 retries for ten minutes and sends its
// last 1000 lines again, of which a Peer drops those that it knows. No version
// keeps control requests. The Peer compares the last line that the CLI says it
// wrote with what it has received, and reports a gap as an [Event]; after it, and
// after every reconnect, an initialize request recovers the open questions. In
// the other direction nothing is acknowledged: see [Peer.Write].
//
// A CLI exits with code 0 on an HTTP error in response to its upgrade. So a Server
// responds with 403 only if a CLI must not connect, and with 404 on paths that are
// not its own; for everything else it accepts the connection and closes it with a
// code that makes the CLI reconnect. For the same reason a program that restarts
// should listen again within 5 s.
//
// # Dialing out
//
// [Dial] opens a plain WebSocket, [Connect] a session on a Direct Connect
// server (cc://host:port/TOKEN). Both return a [Client], a [claude.Transport]
// that does not reconnect.
package claudews
