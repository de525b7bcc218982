// Package servertest is the lab for tests of what stands in front of a hub: a real hub on a journal in a temporary folder, whose agents are
// simulated CLIs in the process of the test.
package servertest
