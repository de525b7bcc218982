// Package wire is the protocol that Claude Code speaks on its standard input
// and output, as Go types: one JSON object per line, in both directions.
//
// The package is pure: it starts nothing, opens nothing and imports only the
// standard library. It has four parts.
//
// Reading: [LineReader] and [Splitter] split bytes into lines, [Peek] reads a
// line's header without decoding it, [Decode] turns a line into one of the
// types behind the sealed interface [Message]. A line of a type that this
// package does not know becomes [*Unknown]; a member that no field holds is
// kept and written back. JSON is read as the CLI itself reads it: names are
// case-sensitive, escapes in names are resolved, the last of several equal
// names wins.
//
// Writing: builders such as [NewUser], [NewRequest] and [NewPermission] make lines
// that every CLI accepts; [Validate] checks lines from elsewhere; [Fit] adapts a
// line to a CLI's version or says why that version cannot take it.
//
// Judging: [ScopeOf] returns the scope that a line needs, [ClassOf] whether it is
// stored, [Translate] converts the permission answers of older front ends,
// [Actions] names what a tool call does.
//
// Finding: [TranscriptPath], [ProjectDir] and [PlanDir] return where the CLI
// stores its files.
//
// The types are generated from the tables in the folder schema, and so are the
// TypeScript declarations in protocol.d.ts.
package wire

//go:generate go run ./internal/gen
