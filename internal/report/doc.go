// Package report has the projections of the journal: what was said and done in a session (export, timeline, search), what
// was decided and by which rules, what agents have cost, which of their lines were not understood, which conversations are on the disk,
// and a copy of the whole. It reads and never writes, so it needs no session of the hub; the one exception, how many lines a session in
// memory did not understand since its fold was stored, it is given as a function.
package report
