//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// A linkClient is a simulated CLI and its shim in one process: what 1 000
// sessions are made of, and what speaks the protocol's previous version. It is
// written against the protocol, not with the shim's own code.
type linkClient struct {
	socket, token string
	hello         link.Hello
	version       int // to be spoken
	sim           *claudetest.Sim

	mu        sync.Mutex
	out       *link.Outgoing
	commands  link.Commands
	texts     []link.Message
	connected bool
	wake      chan struct{}
	work      chan struct{}
}

// newLinkClient returns a client for a run that the hub expects. Its simulated
// CLI writes its record to record.
func newLinkClient(socket string, run expected, version int, record io.Writer) *linkClient {
	return &linkClient{
		socket: socket, token: run.Token, version: version,
		hello: link.Hello{Version: version, Session: run.Session, Run: run.Run, Instance: "i-" + run.Session, PID: run.PID, PIDStart: run.PIDStart},
		sim: claudetest.StartSim(&claudetest.SimOptions{
			Args: []string{
				"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
				"--include-partial-messages", "--replay-user-messages", "--permission-mode=default",
			},
			Env: []string{"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"}, Record: record,
		}),
		out: link.NewOutgoing(0, 0), wake: make(chan struct{}, 1), work: make(chan struct{}, 1),
	}
}

// An expected is a run that the hub waits for.
type expected struct {
	Session  string `json:"session"`
	Run      int    `json:"run"`
	Token    string `json:"token"`
	PID      int    `json:"pid"`
	PIDStart string `json:"pid_start"`
	// Record is where the simulated CLI's record goes.
	Record string `json:"record"`
}

// run carries lines until ctx ends, over as many connections as it takes.
func (c *linkClient) run(ctx context.Context) error {
	var workers sync.WaitGroup
	defer workers.Wait()
	defer func() { _ = c.sim.Close() }() // always nil
	workers.Go(func() { c.read(ctx) })
	workers.Go(func() { c.write(ctx) })
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := c.connect(ctx)
		if errors.Is(err, errGone) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// errGone says that the hub does not want the run any more.
var errGone = errors.New("the hub says that the run is gone")

// read takes the lines that the CLI writes.
func (c *linkClient) read(ctx context.Context) {
	for {
		line, err := c.sim.Read(ctx)
		if err != nil {
			return
		}
		header, err := wire.Peek(line)
		class := wire.Durable
		if err == nil {
			class = wire.ClassOf(header)
		}
		c.update(func() {
			switch class {
			case wire.Durable:
				c.out.Add(link.Line, line)
				if string(header.Type) == "result" {
					c.out.SettleAll()
				}
			case wire.Live:
				c.out.AddLive(line, string(header.ParentToolUseID), true)
			case wire.Consumed:
			}
		})
	}
}

// write gives the CLI what the hub sends.
func (c *linkClient) write(ctx context.Context) {
	for {
		var order link.Order
		var found bool
		c.update(func() { order, found = c.commands.Begin() })
		if !found {
			select {
			case <-c.work:
				continue
			case <-ctx.Done():
				return
			}
		}
		reason := ""
		if order.Number == 0 {
			_ = c.sim.CloseInput() // always nil
		} else if err := c.sim.Write(ctx, order.Line); err != nil {
			reason = err.Error()
		}
		c.update(func() { c.say(c.commands.Done(reason)) })
	}
}

func (c *linkClient) update(change func()) {
	c.mu.Lock()
	change()
	pending, work := c.connected && (len(c.texts) > 0 || c.out.Pending()), c.commands.Waiting() > 0
	c.mu.Unlock()
	for flag, set := range map[chan struct{}]bool{c.wake: pending, c.work: work} {
		if !set {
			continue
		}
		select {
		case flag <- struct{}{}:
		default:
		}
	}
}

// say is to be called within update.
func (c *linkClient) say(m link.Message) {
	if m != nil && c.connected {
		c.texts = append(c.texts, m)
	}
}

// connect makes one connection and serves it to its end.
func (c *linkClient) connect(ctx context.Context) error {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.socket)
	}}
	defer transport.CloseIdleConnections()
	ws, response, err := websocket.Dial(ctx, "http://switchboard"+link.Path, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token}},
		Subprotocols: []string{link.Subprotocol},
	})
	if response != nil && response.Body != nil {
		defer func() { _ = response.Body.Close() }() // the library has read what there was
	}
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }() // there is nothing to say
	ws.SetReadLimit(link.MaxFrame)
	if err := c.shakeHands(ctx, ws); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer func() {
		cancel()
		workers.Wait()
		c.update(func() {
			c.connected, c.texts = false, nil
			c.out.Disconnect()
			c.commands.Cut()
		})
	}()
	workers.Go(func() {
		defer cancel()
		c.send(ctx, ws)
	})
	var decoder link.Decoder
	for {
		kind, frame, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			err = c.handle(frame)
		} else {
			err = c.receive(&decoder, frame)
		}
		if err != nil {
			return err
		}
	}
}

func (c *linkClient) shakeHands(ctx context.Context, ws *websocket.Conn) error {
	hello := c.hello
	c.update(func() {
		hello.Next, hello.Oldest = c.out.Next(), c.out.Oldest()
		c.commands.Fill(&hello)
	})
	if err := ws.Write(ctx, websocket.MessageText, link.AppendMessage(nil, &hello, c.version)); err != nil {
		return err
	}
	_, frame, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	message, err := link.ParseMessage(frame)
	if err != nil {
		return err
	}
	switch m := message.(type) {
	case *link.Welcome:
		if m.Version != c.version {
			return fmt.Errorf("the hub wants to speak version %d, not %d", m.Version, c.version)
		}
		c.update(func() {
			if err = c.out.Connect(m.Have); err == nil {
				c.connected = true
			}
		})
		return err
	case *link.Gone:
		return fmt.Errorf("%w: %s", errGone, m.Reason)
	default:
		return fmt.Errorf("the hub answers hello with %T", m)
	}
}

func (c *linkClient) send(ctx context.Context, ws *websocket.Conn) {
	for {
		var texts []link.Message
		var frame []byte
		more := false
		c.update(func() {
			texts, c.texts = c.texts, nil
			frame = c.out.AppendFrame(nil)
			more = c.out.Pending()
		})
		for _, m := range texts {
			if ws.Write(ctx, websocket.MessageText, link.AppendMessage(nil, m, c.version)) != nil {
				return
			}
		}
		if len(frame) > 0 && ws.Write(ctx, websocket.MessageBinary, frame) != nil {
			return
		}
		if more {
			continue
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (c *linkClient) handle(frame []byte) error {
	message, err := link.ParseMessage(frame)
	if err != nil {
		return err
	}
	switch m := message.(type) {
	case *link.Ack:
		c.update(func() { err = c.out.Ack(m.Have) })
	case *link.Ping:
		c.update(func() { c.say(&link.Pong{}) })
	case *link.Gone:
		err = fmt.Errorf("%w: %s", errGone, m.Reason)
	case *link.Stop, *link.CloseInput:
		c.update(func() { c.commands.CloseInput() })
	default: // nothing that concerns a client
	}
	return err
}

func (c *linkClient) receive(decoder *link.Decoder, frame []byte) error {
	decoder.Push(frame)
	for {
		record, found, err := decoder.Next()
		if err != nil || !found {
			return err
		}
		if record.Kind != link.Outbox {
			continue
		}
		line := append([]byte(nil), record.Bytes...)
		c.update(func() { c.say(c.commands.Accept(link.Order{Number: record.Number, Line: line})) })
	}
}
