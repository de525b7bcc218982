// Package api holds the requests, responses and events of Switchboard's HTTP
// API, /v1, as Go types. The hub and the client package both use them, so a Go
// program reads exactly what the hub wrote.
//
// /v1 only grows: a client ignores members, kinds of events and codes that it does
// not know.
//
// openapi.json describes the API for other languages, v1.d.ts declares it for
// TypeScript. Both are generated from the hub's code.
package api

//go:generate go run ../internal/apigen
