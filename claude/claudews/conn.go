package claudews

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
)

// readBuffer is how much is read from a CLI at once: a CLI that streams writes
// many short frames.
const readBuffer = 32 << 10

// A batchConn is the network connection below a server's WebSocket. The library
// reads frames from a buffer above it, so Read is called only when every frame
// that came with the last call was read: the lines in them are a batch, which is
// handed on before Read blocks.
type batchConn struct {
	net.Conn

	// flush hands a batch on. It is set before the connection is shared, and nil
	// until then.
	flush func() error
}

// Read implements [net.Conn].
func (c *batchConn) Read(p []byte) (int, error) {
	if c.flush != nil {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// A hijacker gives the library a batchConn with a read buffer of readBuffer bytes.
type hijacker struct {
	http.ResponseWriter

	conn *batchConn // set by Hijack
}

// Unwrap returns the wrapped writer, for [http.ResponseController].
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = &batchConn{Conn: conn}
	// The library takes what is buffered here and resets the reader to the
	// connection.
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	r := bufio.NewReaderSize(bytes.NewReader(bytes.Clone(early)), readBuffer)
	_, _ = r.Peek(len(early)) // fills the buffer; all of it is there
	return h.conn, bufio.NewReadWriter(r, bufio.NewWriter(h.conn)), nil
}
