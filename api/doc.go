// Package api holds the requests, answers and events of Switchboard's HTTP
// interface, /v1, as Go types. The server and the client package both use them,
// so a program in Go reads exactly what the server wrote.
//
// /v1 only grows: a client ignores members, kinds of events and codes that it does
// not know.
//
// openapi.json describes the interface for other languages, v1.d.ts declares it for
// TypeScript. Both are made from the server's code.
package api

//go:generate go run ../internal/apigen
