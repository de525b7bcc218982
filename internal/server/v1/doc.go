// Package v1 serves the HTTP interface /v1 of the hub: requests and answers in
// JSON, described by an OpenAPI document that is made from the code, and streams
// of events.
//
// It holds no state of its own. Each operation names the right that it needs
// when it is registered; there is no way to register one without.
//
// A stream of events is one goroutine that asks the hub's cursor for what comes
// next and writes it, as server-sent events or to a WebSocket; a WebSocket has a
// second one that reads. A client that does not read fills its connection, the
// write runs into its deadline, and the stream ends; the client comes back with
// the id of the last event that it has got.
//
// WebSockets outlive their requests: the HTTP server does not know of them, and
// [Server.Wait] waits for them instead.
package v1
