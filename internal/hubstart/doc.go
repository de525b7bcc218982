// Package hubstart sees to it that a hub runs: it uses the one that answers on
// the socket, and else starts one in the background, which lives on.
//
// Two who start one at the same time end up with the same hub. They wait for
// each other at a lock file of this package; against a hub that somebody starts
// by hand meanwhile the lock of the data folder decides, and the loser uses the
// winner's.
package hubstart
