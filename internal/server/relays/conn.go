package relays

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxFrame is the longest message and the longest line that is taken from a relay. A
	// longer message ends the connection.
	maxFrame = 64 << 20
	// chunk is how much of a message is read at once.
	chunk = 64 << 10
	// writeTime is how long a relay may take for a line.
	writeTime = 20 * time.Second
	// pingEvery is how often a connection is tried on which nothing may come for long.
	pingEvery = 30 * time.Second
	// drainTime is how long the hub may take for what came before the end.
	drainTime = 5 * time.Second
	// maxEchoes is of how many lines it is known that this hub has sent them.
	maxEchoes = 256
)

// A conn is one connection to a relay. Its goroutine, that of the relay, reads it.
type conn struct {
	// Static after construction.
	relay  *relay
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	life   context.Context // ends when the hub has had its time to take what came
	end    context.CancelFunc
	ws     *websocket.Conn
	pings  sync.WaitGroup

	// Owned by the goroutine that reads.
	splitter wire.Splitter
	agents

	// Guarded by mu.
	mu     sync.Mutex
	echoes map[[sha256.Size]byte]int // how often a line was sent that has not come back
	order  [][sha256.Size]byte
}

func newConn(ctx context.Context, r *relay, ws *websocket.Conn) *conn {
	c := &conn{relay: r, ws: ws, splitter: wire.Splitter{Max: maxFrame, Frames: true}, echoes: map[[sha256.Size]byte]int{}}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(c.ctx, func() { time.AfterFunc(drainTime, c.end) })
	c.agents = newAgents(c)
	ws.SetReadLimit(maxFrame)
	return c
}

// serve reads until the connection ends, and returns why it did.
func (c *conn) serve() error {
	c.pings.Go(c.ping) // joined by close
	if err := c.begin(); err != nil {
		return err
	}
	buffer := make([]byte, chunk)
	for {
		_, r, err := c.ws.Reader(c.ctx)
		if err != nil {
			return c.why(err)
		}
		for {
			n, err := r.Read(buffer)
			if n > 0 {
				c.splitter.Push(buffer[:n])
				if err := c.lines(); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return c.why(err)
			}
		}
	}
}

// why returns the cause of an error of the connection.
func (c *conn) why(err error) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// close ends the connection after serve, and returns the session that was shown last.
func (c *conn) close(cause error) (last string) {
	c.cancel(cause)
	c.pings.Wait()
	last = c.leaveAll(cause)
	c.end()
	_ = c.ws.CloseNow() // it may be closed already
	return last
}

// ping finds out whether the relay is there. A relay that does not answer pings in time is
// gone, or its network is.
func (c *conn) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, pingEvery)
		err := c.ws.Ping(ctx)
		cancel()
		if err != nil && c.ctx.Err() == nil {
			c.cancel(fmt.Errorf("the relay does not answer: %w", err))
			return
		}
	}
}

// write writes a line to the relay.
func (c *conn) write(ctx context.Context, line []byte) error {
	c.sent(line)
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, append(bytes.Clone(line), '\n'))
}

// sent notes that a line is about to be written: the relay sends it to all its front ends.
func (c *conn) sent(line []byte) {
	key := sha256.Sum256(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.echoes[key]++
	c.order = append(c.order, key)
	if len(c.order) > maxEchoes {
		c.forget(c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
}

// forget counts down a line. mu is held.
func (c *conn) forget(key [sha256.Size]byte) {
	if c.echoes[key]--; c.echoes[key] <= 0 {
		delete(c.echoes, key)
	}
}

// echoed reports whether a line is one of this hub that comes back.
func (c *conn) echoed(line []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.order) == 0 {
		return false
	}
	key := sha256.Sum256(line)
	i := slices.Index(c.order, key)
	if i < 0 {
		return false
	}
	c.order = slices.Delete(c.order, i, i+1)
	c.forget(key)
	return true
}

// lines takes in the lines that are whole, and waits where the hub is behind.
func (c *conn) lines() error {
	for {
		line, err := c.splitter.Next()
		tooLong := new(wire.LineTooLongError)
		switch {
		case errors.As(err, &tooLong):
			if a := c.current; a != nil {
				a.foreign.TooLong(tooLong)
			} else {
				c.relay.dropped.Add(1)
			}
		case err != nil:
			return err
		case line == nil:
			return c.flush()
		default:
			if err := c.line(bytes.Clone(line)); err != nil {
				return err
			}
		}
	}
}

// line takes in a line, which is the hub's to keep. An error ends the connection.
func (c *conn) line(line []byte) error {
	h, err := wire.Peek(line)
	if err != nil {
		c.garbage(line)
		return nil //nolint:nilerr // a line that is not JSON is kept
	}
	if c.echoed(line) {
		return nil
	}
	switch string(h.Type) {
	case "status":
		return c.status(line, &h)
	case "keep_alive", "auth", "update_environment_variables":
		return nil // of front ends; the latter two hold secrets
	}
	prompt := promptOfFrontEnd(&h, line)
	a, err := c.of(&h, prompt)
	c.announced = false
	if a == nil || err != nil {
		return err
	}
	if prompt {
		c.touched(a)
		a.foreign.Program(line)
		return nil
	}
	a.take(line, &h)
	return nil
}

// garbage takes in a line that is not JSON. It belongs to the session that spoke last,
// whatever it seems to say; the hub adds to its entry what could be read of it.
func (c *conn) garbage(line []byte) {
	a := c.current
	if a == nil {
		c.relay.dropped.Add(1)
		return
	}
	a.foreign.Line(line, nil)
	c.touched(a)
}

// status takes in a line of the relay itself.
func (c *conn) status(line []byte, h *wire.Header) error {
	text, _ := wire.LookupString(line, "text")
	switch {
	case len(h.Subtype) > 0: // of a hub, for the front end that wrote something
		if string(h.Subtype) == "refused" && c.current != nil && text != "" {
			c.current.foreign.Notice(api.Notice{Code: "relay_refused", Text: "The relay refused a line: " + cut(text)})
			c.touched(c.current)
		}
		return nil
	case strings.Contains(text, "disconnected"):
		c.gone(conversationOf(h))
		return nil
	case strings.Contains(text, "connected"):
		c.announced = strings.Contains(text, "is connected")
		if c.current == nil {
			_, err := c.placeholder()
			return err
		}
	}
	return nil
}

// cut shortens what a relay says about itself.
func cut(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
