// Package hub keeps the sessions: it takes in the lines of their processes,
// writes them to the journal, folds them into what they mean, shows them to
// followers, and sends what people say.
//
// Each session that is in use has one goroutine, which owns its state and carries
// out what arrives in order: lines, messages, answers, losses of the link. What
// it does is first written to the journal and only then shown, sent or
// acknowledged. Sessions that are not in use have no goroutine and no state in
// memory; they are folded again from the journal when a client asks for them.
package hub
