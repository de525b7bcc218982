// Package api holds the requests, answers and events of Switchboard's HTTP
// interface, /v1, as Go types. The server and the client package both use them,
// so a program in Go reads exactly what the server wrote.
//
// /v1 only grows: a client ignores members, kinds of events and codes that it does
// not know.
package api
