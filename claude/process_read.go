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
	// output is for a receiver that reads on by itself; readLoop has ended then.
	output *output
}

// A deadlineReader is a pipe.
type deadlineReader interface {
	io.Reader
	SetReadDeadline(t time.Time) error
}

// A pipeReader reads a pipe to its end, and once the process has ended not
// much longer than that.
type pipeReader struct {
	pipe   deadlineReader
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

// An output is standard output, for the one who reads it.
type output struct {
	pipe    *outPipe
	patient pipeReader
	lines   *wire.LineReader // of Read
	looking bool             // Read does not wait
	wide    bool             // the pipe has been made wider for a flood
	calm    int              // how many reads in a row have brought little since
}

func (p *Process) newOutput() *output {
	o := &output{pipe: p.stdout, patient: pipeReader{p.stdout, p.exited}}
	o.lines = wire.NewLineReader(o, p.command.MaxLine)
	return o
}

// Read is for lines.
func (o *output) Read(b []byte) (int, error) {
	if o.looking {
		return o.pipe.look(b)
	}
	return o.patient.Read(b)
}

// wait returns what is there as soon as there is something, in the place given.
func (o *output) wait(place [][]byte) ([][]byte, error) {
	o.looking = false
	return o.batch(place)
}

// look returns what is there, and os.ErrDeadlineExceeded if that is nothing.
func (o *output) look(place [][]byte) ([][]byte, error) {
	o.looking = true
	return o.batch(place)
}

// batch reads, and has the pipe hold more while much comes.
func (o *output) batch(place [][]byte) ([][]byte, error) {
	clear(place) // or it would keep lines alive while there is nothing to read
	lines, err := o.lines.Batch(place[:0])
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	switch {
	case size >= floodBytes:
		o.calm = 0
		if !o.wide {
			o.wide = true
			o.pipe.setSize(floodPipe)
		}
	case o.wide:
		if o.calm++; o.calm >= calmReads {
			o.wide = false
			o.pipe.setSize(pipeBytes)
		}
	}
	return lines, err
}

const (
	// floodBytes is how much a read brings if the CLI writes faster than it is read.
	floodBytes = 16 << 10
	// pipeBytes is how much a CLI can write before somebody reads. The usual 64 KiB
	// hold sixteen messages of a few kilobytes, since each takes a page or more.
	pipeBytes = 128 << 10
	// floodPipe is as much in a flood, in which it and the reader would mostly wait for
	// each other. What all pipes of a user hold is limited (to 64 MiB, beyond which new
	// ones get 8 KiB), so only those that need it have that much.
	floodPipe = 1 << 20
	// calmReads is how many reads in a row bring less when the flood is over.
	calmReads = 256
)

// readLoop hands the lines of standard output to Read, those of one read of the
// pipe at a time: a reader that is slow slows the CLI down, and nothing more is
// kept in between. It ends with the pipe, or when it has found somebody who reads
// on.
func (p *Process) readLoop() {
	out := p.newOutput()
	for first := true; ; first = false {
		list, err := out.wait(nil)
		over := isOver(err)
		if first {
			p.silent = over
			close(p.firstLine)
		}
		if over {
			p.outputOver(err)
			return
		}
		b := batch{lines: list, err: err}
		if p.returns.Load() {
			b.output = out
		}
		if p.deliver(b) && b.output != nil {
			return
		}
	}
}

// isOver reports whether an error is the end, and not only of a line.
func isOver(err error) bool {
	var tooLong *wire.LineTooLongError
	return err != nil && !errors.As(err, &tooLong)
}

// outputOver notes how standard output has ended.
func (p *Process) outputOver(err error) {
	p.readErr = p.end(err)
	_ = p.stdout.Close() // it was only read
	close(p.readDone)
}

// deliver waits for a Read. During Close it does not wait long, and after it
// has waited in vain all further lines are dropped, so that no Read sees a
// hole. It reports whether somebody got them.
func (p *Process) deliver(r batch) bool {
	select {
	case p.batches <- r:
		return true
	case <-p.closing:
	}
	select {
	case <-p.dropped:
		return false
	default:
	}
	timer := time.NewTimer(handoverGrace)
	defer timer.Stop()
	for before := p.reads.Load(); ; {
		select {
		case p.batches <- r:
			return true
		case <-p.cut:
			close(p.dropped)
			return false
		case <-timer.C:
		}
		now := p.reads.Load()
		if now == before && !p.returns.Load() {
			close(p.dropped)
			return false
		}
		// Somebody is at work on the lines of the batch before.
		before = now
		timer.Reset(handoverGrace)
	}
}

// Read implements [Transport]. After the last line it returns [io.EOF] if the
// CLI exited with code 0 or was closed by us, else an [*ExitError]. Whether an
// exit with code 0 left something open is not judged here.
//
// Lines that come while Close runs are still handed to whoever reads. If
// nobody does, or not fast enough, they are dropped, and Read returns
// [ErrClosed] from then on.
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

// readBatch is Read for all lines that are there, at least one, for a [Conn], which
// comes back until there are no more. They may share memory with each other; the
// slice is used again for the following batch.
func (p *Process) readBatch(ctx context.Context) ([][]byte, error) {
	p.returns.Store(true)
	if p.output == nil || len(p.ahead) > 0 {
		return p.nextBatch(ctx)
	}
	select {
	case <-p.readDone:
		return nil, p.readErr
	default:
	}
	var err error
	p.place, err = p.output.wait(p.place)
	if isOver(err) {
		p.outputOver(err)
		return nil, p.readErr
	}
	return p.place, err
}

// tryBatch is readBatch for what is there already: it fails with errNothing if that
// is nothing, or the end, which is for readBatch to tell.
func (p *Process) tryBatch() ([][]byte, error) {
	if p.output == nil || len(p.ahead) > 0 {
		return nil, errNothing
	}
	var err error
	p.place, err = p.output.look(p.place)
	if isOver(err) {
		return nil, errNothing
	}
	return p.place, err
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
	case r := <-p.batches:
		p.output = r.output
		return r.lines, r.err
	case <-p.readDone:
		return nil, p.readErr
	case <-p.dropped:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
