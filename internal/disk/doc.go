// Package disk finds what CLIs keep on this machine's disk, their conversations, and the
// folders that agents may work in: for the hub about its own machine, and for a node
// about the machine that it is.
package disk
