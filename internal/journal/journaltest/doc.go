// Package journaltest holds an implementation of [journal.Journal] to its
// promises, and makes journals that tests of other packages need.
package journaltest
