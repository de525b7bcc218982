// Package journal is the durable log of the hub and the tables that are derived
// from it: sessions, runs, the outbox, questions, costs.
//
// [Open] opens the one that is kept in a folder, in SQLite. Others may come; what
// they must promise is written at [Journal] and tested by package journaltest.
package journal
