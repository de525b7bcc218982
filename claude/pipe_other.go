//go:build !linux

package claude

import (
	"os"
	"time"
)

// An outPipe is our end of the pipe on which a CLI writes.
type outPipe struct{ file *os.File }

// newOutPipe makes a pipe. theirs is the CLI's end.
func newOutPipe() (theirs *os.File, ours *outPipe, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return w, &outPipe{r}, nil
}

// Read waits until there is something to read, or the deadline.
func (p *outPipe) Read(b []byte) (int, error) { return p.file.Read(b) }

// look would be Read without waiting; here nothing is ever seen so.
func (p *outPipe) look([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// SetReadDeadline ends the waiting of Read at a time, except on Windows.
func (p *outPipe) SetReadDeadline(t time.Time) error { return p.file.SetReadDeadline(t) }

// Close may be called while somebody reads, who gets os.ErrClosed.
func (p *outPipe) Close() error { return p.file.Close() }

// setSize does nothing: pipes have the size that the system gives them.
func (p *outPipe) setSize(int) {}
