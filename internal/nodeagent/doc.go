// Package nodeagent is a node: the process on another machine that runs a hub's agents.
// It dials the hub, owns the Unix socket that its shims connect to, carries their links to
// the hub, and answers what the hub asks about the machine. It can be restarted, and the
// hub be away, without the agents noticing. The protocol is package node's.
package nodeagent
