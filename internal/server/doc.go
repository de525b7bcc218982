// Package server puts the hub together and lets it be reached: journal, launcher, hub, the ways in for agents and for front ends, the Unix
// socket and the port.
//
// [Start] starts all of it, [Server.Close] ends it in an order that loses nothing, and leaves agents running unless it is told otherwise.
// What each part does is in its own package; what a client may do is in package access.
package server
