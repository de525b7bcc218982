// Package relays connects the hub, as a front end, to relays of other programs: servers
// that pass lines between one Claude Code and all clients that connect to them. What it
// finds there becomes sessions, see [ingress.Foreign].
//
// # One connection, many sessions
//
// A relay forwards raw lines. A line with a session_id belongs to that session; one
// without belongs to the session whose line came before. A relay has one agent behind it
// as a rule: if another session speaks, the one before is gone as far as the relay is
// concerned, and is put offline. If it speaks again after all, or if the relay announces
// several agents, all of them stay.
//
// A relay also forwards to all front ends what one of them wrote. Lines of this hub that
// come back are dropped; those of other front ends are recorded as a program's.
//
// # Trust
//
// What a relay sends is untrusted. Frames, sessions and their rate are bounded, lines name
// sessions of the same relay only, and nothing is answered by a rule unless a person said
// so when the relay was attached.
package relays
