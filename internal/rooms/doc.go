// Package rooms holds the rules of this repository as tests, so that a rule
// that is broken is a test that fails and says what to do.
//
// The rooms are the packages, and the table in table_test.go says which of them
// may import which: imports point downward only. The same table stands in
// docs/architecture.md for people, and a test compares the two. Beside it the
// package checks that
//
//   - every package says what it is for, in doc.go or, for a command, main.go;
//   - no file uses cgo;
//   - links in the documentation lead to files and headings that exist, and a
//     word after make in it is one that the Makefile knows;
//   - the Go program in the README works, the tests that docs/testing.md shows
//     pass, and the pieces of Go in docs/sdk.md are parts of examples that do;
//   - docs/sdk-parity.md names nothing of the SDK that is not there, and leaves
//     out none of its options, methods, hooks, requests and messages;
//   - the functions exist that docs/architecture.md names on the ways of a line,
//     a prompt and a question, and a line has at most 12 hops;
//   - README, Makefile and .ci/run agree on how the project is tested;
//   - every module we depend on has its reasons written down in docs/decisions;
//   - documentation, help texts, messages and the console's texts have none of
//     the phrases that words_test.go lists with their replacements.
//
// Files are read without regard to build constraints: a rule holds on every
// system. Each check is a function over a file system, and is tried on small
// made-up trees that break it.
//
// The package has no code besides its tests.
package rooms
