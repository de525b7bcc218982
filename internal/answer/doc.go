// Package answer is the pure part of questions: how a question's row in the journal is shown to clients, and which line an answer of a client
// comes to. It decides nothing that depends on a session's state; the hub does that, before and after.
package answer
