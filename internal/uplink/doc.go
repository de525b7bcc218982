// Package uplink is how a program on another machine reaches a hub beside its HTTP API:
// the transport, over TLS with the hub's certificate checked or pinned, WebSockets on it,
// and a proxy that carries the links of local shims to the hub.
package uplink
