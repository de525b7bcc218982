// Package wire is the protocol that Claude Code speaks on its standard input
// and output, as Go types: one JSON object per line, in both directions.
//
// The package is pure: it starts nothing, opens nothing and imports only the
// standard library. It has four parts.
//
// Reading: [LineReader] and [Splitter] cut bytes into lines, [Peek] reads a
// line's header without decoding it, [Decode] turns a line into one of the
// types behind the sealed interface [Message]. A line of a type that this
// package does not know becomes [*Unknown]; a member that no field holds is
// kept and written back. JSON is read as the CLI itself reads it: names are
// case-sensitive, escapes in names are resolved, the last of several equal
// names wins.
//
// Writing: builders ([NewUser], [NewRequest], [NewPermission] and their kin) make
// lines that no CLI dies of; [Validate] checks the ones that others made; [Fit]
// adapts a line to a CLI's version or says why that version cannot take it.
//
// Judging: [ScopeOf] says which right a line needs, [ClassOf] whether it is
// kept for good, [Translate] turns the permission answers of older front ends
// into the real one, [Actions] names what a tool call does.
//
// Finding: [TranscriptPath], [ProjectDir] and [PlanDir] say where the CLI keeps
// its files.
//
// The types are generated from the tables in the folder schema, which also give
// the TypeScript declarations in protocol.d.ts.
package wire

//go:generate go run ./internal/gen
