// Package nodes is the hub's door for nodes, the other machines on which its agents run:
// which machines are enrolled, how one is invited and joins, the connections that they
// open, and what the hub asks them over these. The protocol is package node's.
package nodes
