// Package fold derives state from the lines between a Claude Code CLI and its
// controller: the state of the session ([State]), its questions ([Questions]),
// the messages being written ([Partial]) and the costs ([Costs]).
//
// Each is a reducer: a plain value that is fed, in order, every [Line] of both
// directions (Apply) and every [Event] that no line reports, such as the end
// of the process (Happened). Reducers are pure. They use no clock, start
// nothing and read nothing but their input, so the same log folded twice, at
// once or in pieces, gives the same value; and a value restored from JSON
// continues where it was. Their zero values are ready to use. None is safe for
// concurrent use. A copy shares memory with the original, so only one of the two
// may be used further. What their methods return is valid until the next call,
// unless stated otherwise.
//
// Their size is bounded, whatever the lines say. If something had to be left out,
// a counter or a mark says so.
//
// State, Questions and Costs use durable lines only (see [wire.ClassOf]): a log
// stored without its live lines folds to the same values. Partial is made from the
// live ones.
//
// The rules follow the observed behavior of the CLIs, measured on 2.1.37, 2.1.120
// and 2.1.325; testdata has recordings of the three with the expected results.
package fold
