package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// An eagerTransport has batches, which can be looked for.
type eagerTransport struct {
	*fakeTransport
	batches chan [][]byte // has room

	mu     sync.Mutex
	looked int // how often something was there when somebody looked
}

func newEagerTransport() *eagerTransport {
	return &eagerTransport{fakeTransport: newFakeTransport(), batches: make(chan [][]byte, 1000)}
}

func (e *eagerTransport) readBatch(context.Context) ([][]byte, error) {
	select {
	case b := <-e.batches:
		return b, nil
	default:
	}
	select {
	case b := <-e.batches:
		return b, nil
	case <-e.done:
		return nil, e.err
	}
}

func (e *eagerTransport) tryBatch() ([][]byte, error) {
	select {
	case b := <-e.batches:
		e.mu.Lock()
		defer e.mu.Unlock()
		e.looked++
		return b, nil
	default:
		return nil, errNothing
	}
}

func (e *eagerTransport) found() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.looked
}

// flood adds batches of twenty lines that are as large as in a flood, up to a line.
func (e *eagerTransport) flood(first, last int) {
	for ; first < last; first += 20 {
		var lines [][]byte
		for n := range 20 {
			lines = append(lines, []byte(lineOf(first+n, 1000)))
		}
		e.batches <- lines
	}
}

// numbers reads so many lines and checks that none is missing. What is to come in a
// flood while it reads is added by do.
func numbers(t *testing.T, c *Conn, upTo int, do func(n int)) {
	t.Helper()
	for l, err := range c.Lines(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"n":%d,`, l.Number); !strings.Contains(string(l.Bytes), want) {
			t.Fatalf("line %d is %.40q", l.Number, l.Bytes)
		}
		do(int(l.Number))
		if int(l.Number) == upTo {
			return
		}
	}
}

// TestLead checks that a quick reader reads the transport itself in a flood, and that
// the connection goes on when the reader has gone, without a pause.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEagerTransport()
		e.flood(1, 20)
		c := NewConn(e, nil)
		defer c.Close()
		numbers(t, c, 990, func(n int) {
			if n == 1 {
				e.flood(21, 1000)
			}
		})
		if n := e.found(); n < 40 {
			t.Errorf("the reader has read %d batches of 50 by itself", n)
		}
		start := time.Now()
		e.flood(1001, 1020)
		synctest.Wait()
		if newest := c.backlog.newest(); newest != 1020 || time.Since(start) != 0 {
			t.Errorf("when the reader was gone, lines came up to %d after %s, want 1020 at once", newest, time.Since(start))
		}
	})
}

// TestLeadIsTakenBack checks that a question is heard while the one who could read it
// does something else.
func TestLeadIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEagerTransport()
		asked := make(chan struct{})
		c := NewConn(e, &ConnOptions{Handler: func(context.Context, *wire.ControlRequest) ([]byte, error) {
			close(asked)
			return nil, nil
		}})
		defer c.Close()
		e.flood(1, 20)
		var start time.Time
		// So many that an offer which came too early is made again.
		numbers(t, c, 400, func(n int) {
			if n == 1 {
				e.flood(21, 400)
			}
			if n != 400 {
				return
			}
			start = time.Now()
			e.batches <- [][]byte{[]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`)}
			<-asked
		})
		if took := time.Since(start); took > 2*leadTick {
			t.Errorf("the question came after %s, want at most %s", took, 2*leadTick)
		}
		if e.found() == 0 {
			t.Error("the reader has never read by itself")
		}
	})
}

// TestLeadIsForTheQuick checks that a reader that does more with its lines than
// reading them costs does not read, and that one that sleeps holds up nobody.
func TestLeadIsForTheQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEagerTransport()
		e.flood(1, 20)
		c := NewConn(e, nil)
		defer c.Close()
		numbers(t, c, 6000, func(n int) {
			if n == 1 {
				e.flood(21, 6000)
			}
			if n%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		})
		if n := e.found(); n > 60 {
			t.Errorf("a reader with much to do has read %d batches of 300 by itself", n)
		}
	})
}

// TestLeadAtTheEnd checks that a reader with the right to read leaves the end to the
// connection.
func TestLeadAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEagerTransport()
		e.flood(1, 100)
		e.batches <- [][]byte{[]byte(lineOf(101, 1))}
		c := NewConn(e, nil)
		defer c.Close()
		lines := 0
		for l, err := range c.Lines(t.Context(), 0) {
			if err != nil {
				if !errors.Is(err, io.EOF) || lines != 101 {
					t.Errorf("%d lines and %v, want 101 and the end", lines, err)
				}
				break
			}
			if lines++; l.Number == 101 {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		<-c.Done()
	})
}

// TestLeadEndsWithItsContext checks that who reads and is told to stop leaves nothing
// undone.
func TestLeadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEagerTransport()
		e.flood(1, 100)
		c := NewConn(e, nil)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for l, err := range c.Lines(ctx, 0) {
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				break
			}
			if l.Number == 50 {
				cancel()
			}
		}
		time.Sleep(2 * leadTick) // of the bubble: the right may have been offered to one who was just going, and is taken back
		synctest.Wait()
		if newest := c.backlog.newest(); newest != 100 {
			t.Errorf("lines came up to %d, want 100", newest)
		}
		numbers(t, c, 100, func(int) {}) // all of them are there for others
	})
}
