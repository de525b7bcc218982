// Package direct serves Direct Connect, the official SDK's own way to drive an
// agent that runs elsewhere: POST /sessions makes a session and says where its
// WebSocket is, and the lines of the protocol go over that in both directions.
// The SDK's transport for browsers works on the same address.
//
// A client is one front end among others. It is shown what the CLI writes, byte
// for byte, and may send what a program that owns the CLI would send; the hub
// judges, journals and delivers it. What a client cannot see of its own are the
// others, so this package tells it of them in words that it knows: a prompt of
// somebody else is shown as it was sent, a question that somebody else has
// answered is withdrawn by a control_cancel_request.
//
// One connection has two goroutines, one that reads and one that writes, a third
// for lines that must keep their order, and one for each request that waits for
// the CLI, which are bounded. All of them end with the connection.
package direct
