// Package lines serves front ends at the level of lines: clients that read what a
// CLI writes as it came, and say what a CLI would be sent. There are two dialects on
// one kind of connection.
//
// The raw relay (/ws) shows the lines of one session or of all. Front ends that were
// written for a relay which forwards everything to all work here unchanged; what is
// different is that nothing malformed reaches an agent, that every line is judged by
// what its sender may do, that no front end waits for another, and that lines say
// which session they are of. See docs/relay.md.
//
// Direct Connect (/sessions) is the official SDK's own way to drive an agent that
// runs elsewhere: POST /sessions makes a session and says where its WebSocket is. A
// client of it is a driver: it may register hooks and MCP servers, which the CLI then
// asks. See docs/direct-connect.md.
//
// In both, a prompt of another client is shown once, as it was sent, and a question that
// another client has answered is withdrawn by a control_cancel_request. A connection
// knows its own doings by the name that it acts under, which no other connection has.
//
// A connection has two goroutines, one that reads and one that waits for something to
// show, one for lines that must keep their order while there are some, and one for
// each request and answer under way, which are bounded. It holds no buffers while it
// waits. A message is a line, a write is a batch of messages.
package lines
