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
// of its connection: the CLI comes back by itself, and the Peer goes on. With
// CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1 in its environment the CLI sends
// its lines by HTTP POST and only listens on the WebSocket; the same handler
// serves both. What the versions do then is in docs/hybrid-post.md.
//
// What a reconnect means depends on the CLI. 2.1.37 comes back for 5 s only and
// loses what it wrote meanwhile; 2.1.120 comes back for ten minutes and sends
// its last 1000 lines again, which a Peer drops where it knows them. No version
// keeps control requests. What the CLI says it wrote last is compared with what
// has been received, and a hole is told as an [Event], never passed over; after
// it, and after every reconnect, an initialize request recovers the questions
// that are open. In the other direction nothing is acknowledged: see
// [Peer.Write].
//
// A CLI takes an HTTP error on its upgrade for the end, and exits with code 0.
// So a Server answers 403 only where a CLI must not come in, and 404 on paths
// that are not its own; for everything else it accepts the connection and
// closes it with a code that makes the CLI come back. For the same reason a
// program that restarts should listen again within 5 s.
//
// # Dialling out
//
// [Dial] opens a plain WebSocket, [Connect] a session on a Direct Connect
// server (cc://host:port/TOKEN). Both give a [Client], a [claude.Transport]
// that does not reconnect.
package claudews
