// Package transcript turns the events of one session into what a person reads: items such as a prompt, a text, a tool call with its
// result, a question, the end of a turn. Every view of a log is made of these items; none reads events by itself.
//
// A Conversation is a reducer. It knows no clock, starts nothing and reads nothing but what it is given; it belongs to one goroutine. It
// may be fed from the end backwards: older pages of events that are put in front give the same items as if all had been read from the
// beginning. What is being written at the moment comes from [fold.Partial].
package transcript
