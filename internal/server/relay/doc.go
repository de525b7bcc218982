// Package relay serves the raw relay: a WebSocket on which a front end sees the
// lines of agents as they came, and says lines as a CLI would be sent them.
// Front ends that were written for a relay which forwards everything to
// everybody work here unchanged; what is different is that nothing malformed
// reaches an agent, that every line is judged by what its sender may do, and that
// nobody waits for anybody else. See docs/relay.md.
//
// A front end costs two goroutines, one that waits for its lines and one that
// waits for something to show it, and no buffers while it waits. Lines are not
// copied for a front end but into what one write(2) takes, which is as many of
// them as there are: a message is a line, a write is a batch of messages.
package relay
