// Package wsconn is the server's end of a WebSocket: what the raw relay, Direct
// Connect, the streams of /v1 and the links of shims have in common.
//
// The library github.com/coder/websocket does the handshake, reads messages and
// answers control frames. Messages are framed here, so that many of them leave in
// one write, each piece of a write has a deadline of its own, and a ping or the
// answer to one never waits behind a message. An idle connection holds one small
// read buffer and no goroutine.
package wsconn
