package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxHeld is the longest line that is held back to see whether it may pass.
const maxHeld = 64 << 20

var errGateClosed = errors.New("nothing more can be written there")

// A gate passes one direction of a byte stream on, as it comes. Lines can be
// put in between its lines, and while there is a reason to look at lines before
// they pass, they are held until they are whole.
type gate struct {
	// Static after construction.
	w io.Writer
	// filter returns nil if there is nothing to look for, else a function that
	// reports whether a line may not pass. passed is given all that passes, before
	// it does: the other end can answer before a write has returned, and the answer
	// must not be known here before the question. It must not wait for anything.
	// Both are called with mu held.
	filter func() func(line []byte) (swallow bool)
	passed func(chunk []byte)

	mu sync.Mutex
	// Guarded by mu.
	boundary *sync.Cond // a line has ended, or the gate is closed
	midLine  bool       // what has passed ends within a line
	held     []byte     // the beginning of a line that has not passed
	err      error      // why nothing passes any more
}

func newGate(w io.Writer) *gate {
	g := &gate{w: w}
	g.boundary = sync.NewCond(&g.mu)
	return g
}

// pass passes a chunk on.
func (g *gate) pass(chunk []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	swallow := g.filter()
	if swallow != nil && g.midLine {
		// The line that has begun to pass passes to its end.
		end := bytes.IndexByte(chunk, '\n') + 1
		if end == 0 {
			end = len(chunk)
		}
		if err := g.put(chunk[:end]); err != nil {
			return err
		}
		chunk = chunk[end:]
	}
	if swallow == nil && len(g.held) == 0 {
		return g.put(chunk)
	}
	looked := len(g.held) // there is no end of a line up to here
	g.held = append(g.held, chunk...)
	for {
		end := bytes.IndexByte(g.held[looked:], '\n') + 1
		if end == 0 {
			break
		}
		end, looked = looked+end, 0
		if swallow == nil || !swallow(bytes.TrimRight(g.held[:end], "\r\n")) {
			if err := g.put(g.held[:end]); err != nil {
				return err
			}
		}
		g.held = g.held[end:]
	}
	if swallow == nil || len(g.held) > maxHeld {
		return g.flush()
	}
	if len(g.held) == 0 {
		g.held = nil
	}
	return nil
}

// flush passes on what is held.
func (g *gate) flush() error {
	held := g.held
	g.held = nil
	return g.put(held)
}

// put writes what passes.
func (g *gate) put(chunk []byte) error {
	if g.err != nil {
		return g.err
	}
	if len(chunk) == 0 {
		return nil
	}
	g.passed(chunk)
	if _, err := g.w.Write(chunk); err != nil {
		g.shut(err)
		return err
	}
	g.midLine = chunk[len(chunk)-1] != '\n'
	if !g.midLine {
		g.boundary.Broadcast()
	}
	return nil
}

func (g *gate) shut(err error) {
	if g.err == nil {
		g.err = fmt.Errorf("%w: %w", errGateClosed, err)
	}
	g.boundary.Broadcast()
}

// close passes on what is held and lets nothing more through.
func (g *gate) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.flush()
	if g.err == nil && g.midLine {
		// The end of the stream ends a line, too: a CLI takes what it is given so.
		g.midLine = false
		g.passed([]byte{'\n'})
	}
	g.shut(io.EOF)
	return err
}

// inject puts a line in between. It waits for the end of the line that is
// passing, and then asks build for the line, with mu held; build may refuse, and
// return nil to write nothing.
func (g *gate) inject(ctx context.Context, build func() ([]byte, error)) error {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.boundary.Broadcast()
	})
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.midLine && g.err == nil && ctx.Err() == nil {
		g.boundary.Wait()
	}
	if g.err != nil {
		return g.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := build()
	if err != nil || line == nil {
		return err
	}
	if _, err := g.w.Write(append(bytes.Clone(line), '\n')); err != nil {
		g.shut(err)
		return err
	}
	return nil
}
