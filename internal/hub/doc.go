// Package hub keeps the sessions: it takes in the lines of their processes,
// writes them to the journal, folds them into what they mean, shows them to
// whoever follows, and sends what people say.
//
// Each session that is in use has one goroutine, which owns its state and works
// through what arrives in order: lines, messages, answers, losses of the link.
// Whatever it does is first written to the journal and only then shown, sent or
// acknowledged. Sessions that nobody uses have no goroutine and no state in
// memory; they are folded again from the journal when somebody asks.
package hub
