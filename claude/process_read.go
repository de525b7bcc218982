package claude

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A batch is what one read of standard output brought: lines, or an error.
type batch struct {
	lines [][]byte
	err   error
}

// A pipeReader reads a pipe to its end, and once the process has ended not
// much longer than that.
type pipeReader struct {
	pipe   *os.File
	exited <-chan struct{}
}

func (r pipeReader) Read(b []byte) (int, error) {
	select {
	case <-r.exited:
		// Counted from each read, since the reader may have been slow to
		// come back for what is there.
		_ = r.pipe.SetReadDeadline(time.Now().Add(pipeGrace))
	default:
	}
	n, err := r.pipe.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// readLoop hands the lines of standard output to Read and ReadBatch, those of one
// read of the pipe at a time: a slow reader slows the CLI down, and at most two
// batches are in memory. It ends with the pipe.
func (p *Process) readLoop() {
	lines := wire.NewLineReader(pipeReader{p.stdout, p.exited}, p.command.MaxLine)
	var list [][]byte
	for first := true; ; first = false {
		// As many as before: most reads of a stream bring about as much.
		var err error
		list, err = lines.Batch(make([][]byte, 0, len(list)))
		var tooLong *wire.LineTooLongError
		over := err != nil && !errors.As(err, &tooLong)
		if first {
			p.silent = over
			close(p.firstLine)
		}
		if over {
			p.readErr = p.end(err)
			_ = p.stdout.Close() // it was only read
			close(p.readDone)
			return
		}
		p.deliver(batch{list, err})
	}
}

// deliver waits for a reader. During Close it does not wait long, unless a [Conn]
// reads; once that time is over, all further lines are dropped, so that no reader
// sees a hole.
func (p *Process) deliver(b batch) {
	select {
	case p.batches <- b:
		return
	case <-p.closing:
	}
	select {
	case <-p.dropped:
		return
	default:
	}
	timer := time.NewTimer(handoverGrace)
	defer timer.Stop()
	for before := p.reads.Load(); ; {
		select {
		case p.batches <- b:
			return
		case <-p.cut:
			close(p.dropped)
			return
		case <-timer.C:
		}
		now := p.reads.Load()
		if now == before && !p.returns.Load() {
			close(p.dropped)
			return
		}
		// The reader is at work on the lines of the batch before.
		before = now
		timer.Reset(handoverGrace)
	}
}

// Read implements [Transport]. After the last line it returns [io.EOF] if the
// CLI exited with code 0 or was closed by us, else an [*ExitError]. Whether an
// exit with code 0 left something open is not judged here.
//
// Lines that come while Close runs can still be read. If they are not, or not fast
// enough, they are dropped, and Read returns [ErrClosed] from then on.
func (p *Process) Read(ctx context.Context) ([]byte, error) {
	p.reads.Add(1)
	lines, err := p.nextBatch(ctx)
	if err != nil {
		return nil, err
	}
	p.ahead = lines
	line := p.ahead[0]
	p.ahead[0] = nil // it is the caller's
	p.ahead = p.ahead[1:]
	return line, nil
}

// ReadBatch is [Process.Read] for all lines that one read of the pipe brought, at
// least one. The lines share memory with each other.
func (p *Process) ReadBatch(ctx context.Context) ([][]byte, error) {
	p.reads.Add(1)
	return p.nextBatch(ctx)
}

// readBatch is ReadBatch for a [Conn], which comes back until there are no more: no
// line is dropped because it takes long with those before.
func (p *Process) readBatch(ctx context.Context) ([][]byte, error) {
	p.returns.Store(true)
	return p.nextBatch(ctx)
}

func (p *Process) nextBatch(ctx context.Context) ([][]byte, error) {
	select {
	case <-p.dropped:
		return nil, ErrClosed
	default:
	}
	if lines := p.ahead; len(lines) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.ahead = nil
		return lines, nil
	}
	select {
	case b := <-p.batches:
		return b.lines, b.err
	case <-p.readDone:
		return nil, p.readErr
	case <-p.dropped:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
