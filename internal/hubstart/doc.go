// Package hubstart sees to it that a hub runs: it uses the one that answers on
// the socket, and else starts one in the background, which outlives the caller.
//
// Two processes that start one at the same time end up with the same hub. They
// wait for each other at a lock file of this package; against a hub that is
// started by hand meanwhile the lock of the data folder decides, and the process
// that comes second uses the other's.
package hubstart
