// Package fold turns the lines between a Claude Code CLI and whoever drives it
// into what they mean: in which state the session is ([State]), what it asks
// ([Questions]), what is being written just now ([Partial]) and what it has cost
// ([Costs]).
//
// Each is a reducer: a plain value that is fed, in order, every [Line] of both
// directions (Apply) and every [Event] that no line tells of, such as the end
// of the process (Happened). Reducers are pure. They know no clock, start
// nothing and read nothing but what they are given, so the same log folded
// twice, in one go or in pieces, gives the same value; and a value that went
// through JSON goes on as if nothing had been. Their zero values are ready to
// use. None is safe for concurrent use; a copy of one shares memory with it, so
// only one of the two may go on; and what their methods return is valid until
// the next call, unless it says otherwise.
//
// What they keep is bounded, whatever the lines say. Where something had to be
// left out, a counter or a mark says so.
//
// State, Questions and Costs look at durable lines alone (see
// [wire.ClassOf]): a log that was kept without its live lines folds to the same
// values. Partial is made of the live ones.
//
// The rules follow what the CLIs do, not what they are said to do: they were
// measured on 2.1.37, 2.1.120 and 2.1.325, and testdata holds recordings of the
// three with what they fold to.
package fold
