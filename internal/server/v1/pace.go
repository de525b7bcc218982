package v1

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyPause is how long a client may pause while it sends a request's body.
const bodyPause = 30 * time.Second

// chunkSize is how much is written under one deadline. A client that takes less
// than this in Options.WriteTimeout is cut.
const chunkSize = 64 << 10

// A pacedBody gives each read of a request's body a deadline of its own, and
// takes it away afterwards: a deadline that passes while the request is being
// worked on would end its context, as if the client had left.
//
// It stays where a read has failed, and where the client does not read: the HTTP server reads
// some of what is left by itself, and would wait for ever.
type pacedBody struct {
	io.ReadCloser

	ctl    *http.ResponseController
	header http.Header // of the answer
	ended  bool        // there is nothing more to be read
}

// newPacedBody begins to pace the body of a request that w answers.
func newPacedBody(body io.ReadCloser, w http.ResponseWriter) *pacedBody {
	b := &pacedBody{ReadCloser: body, ctl: http.NewResponseController(w), header: w.Header()}
	b.wait()
	return b
}

// wait gives the client time for the next part. A writer without deadlines, as
// tests have them, does without.
func (b *pacedBody) wait() { _ = b.ctl.SetReadDeadline(time.Now().Add(bodyPause)) }

// Read reads a part of the body.
func (b *pacedBody) Read(p []byte) (int, error) {
	b.wait()
	n, err := b.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.ended = true
	case err != nil:
		// What is left of the body must not be taken for another request.
		b.header.Set("Connection", "close")
		return n, err
	}
	_ = b.ctl.SetReadDeadline(time.Time{})
	return n, err
}

// over is called when the request was answered.
func (b *pacedBody) over() {
	if !b.ended {
		b.wait()
	}
}

// A pacedWriter writes in pieces, each with a deadline of its own: a client that
// reads slowly is no stuck one. The deadline of the last piece stays in force
// for what the HTTP server still writes by itself; [access.Guard.Checked] takes
// it away when the next request comes.
type pacedWriter struct {
	http.ResponseWriter

	ctl     *http.ResponseController
	timeout time.Duration
	failed  bool // a write has failed: the client does not read
	begun   bool // the status was sent
}

// Unwrap returns the writer inside.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the status, once. huma tries a second one when an answer could
// not be written, or unify has chosen another, which the HTTP server would log.
func (w *pacedWriter) WriteHeader(status int) {
	if w.failed || w.begun {
		return
	}
	w.begun = status >= http.StatusOK || status == http.StatusSwitchingProtocols
	w.ResponseWriter.WriteHeader(status)
}

// Write writes all of p, or fails.
func (w *pacedWriter) Write(p []byte) (int, error) {
	done := 0
	for {
		n := min(len(p)-done, chunkSize)
		_ = w.ctl.SetWriteDeadline(time.Now().Add(w.timeout)) // as in wait
		m, err := w.ResponseWriter.Write(p[done : done+n])
		done += m
		if err != nil || done == len(p) {
			w.failed = w.failed || err != nil
			return done, err
		}
	}
}
