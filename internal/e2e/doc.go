// Package e2e holds the tests of the program as a whole: they build switchboard,
// start it, kill it at the worst moments, start it again, and compare what the
// simulated CLI says it wrote and read with what the journal holds.
//
// Everything is in test files; package conformance finds the real CLIs. A lab is
// a folder with a hub of its own in it, a follower is a subscriber that outlives
// the hub, and the judge decides whether something was lost or done twice. Tests
// of later parts use the same three.
//
//	go test ./internal/e2e                       what make e2e runs
//	SWITCHBOARD_SOAK=1 go test ./internal/e2e    1 000 random kills and the full load
//	SWITCHBOARD_SEED=n                           the random kills of a run that failed
package e2e
