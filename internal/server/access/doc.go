// Package access decides which clients may talk to the server and what each may do.
//
// There are two ways in. The Unix socket is for the user that the server runs
// as: the kernel names the process at the other end, and nothing else is asked. TCP is
// for browsers and for programs that cannot use a socket; it checks Host and
// Origin of every request, so that a web page cannot reach it through a user's
// browser, bounds connections, and asks for a token. It is open beyond loopback
// only if it is told so.
//
// What a client may do is a set of [Scopes]. A process that a run has started,
// at any depth, may look and prompt, but neither answer questions nor
// administer: an agent shall not approve its own requests by accident. It is no
// boundary against a program of the same user that means harm.
//
// A [TokenStore] keeps the tokens, and one-time codes that are exchanged for them. When
// a token is revoked or expires, [Watch] tells the handlers that serve its bearer.
//
// [Guard.Checked] belongs around everything that is served, [Guard.Authenticated]
// around handlers that need the client's identity, [Guard.Admitted] around WebSockets whose
// first line may hold the token. Without them a request has no identity, and
// [Require] refuses it.
package access
