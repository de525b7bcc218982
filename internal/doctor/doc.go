// Package doctor looks for what keeps Switchboard from working on a machine, and says how to fix it.
//
// [Run] makes a [Report] of a [Machine]. A machine is functions, so that tests can have any; [Here] has those that need nothing but the system. What is
// found are [Finding]s: what was looked at, what was found, why it matters, and the command that fixes it.
//
// [RunRemote] looks at a hub on another machine, a [Remote], instead.
//
// On the own machine, nothing is changed, nothing is sent anywhere but to the hub's own socket and to the loopback ports that a hub may have, and no secret is read: of
// credentials it looks only whether they are there. It does not ask a Claude Code whether it is logged in, either: "claude auth status" looks up names
// on the network (2.1.120) and writes into the user's folder (all versions that have it).
package doctor
