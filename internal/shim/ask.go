package shim

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox/netproxy"
	"github.com/switchboard-dev/switchboard/wire"
)

// hubAway is how long a connection waits for an answer while there is no hub.
const hubAway = time.Minute

var (
	errHubAway = errors.New("there is no hub to ask")
	errEnded   = errors.New("the agent has ended")
)

// An asker asks the hub about hosts. A question is a control request among the
// lines of the CLI, as if that had asked, so that it is journaled, shown and
// answered like any other. The answer is a command of the hub's, which is taken
// here and not written to the CLI.
type asker struct {
	// Static after construction.
	carrier *carrier
	// prefix begins the ids of all questions of this run. The CLI cannot know
	// it, so that it can neither withdraw such a question nor have an answer to
	// one of its own requests taken away.
	prefix string

	mu sync.Mutex
	// Guarded by mu.
	next int
	open map[string]chan<- []byte // by request id: where the answer goes; has room for one
}

func newAsker(c *carrier) *asker {
	return &asker{carrier: c, prefix: wire.SandboxRequestPrefix + strings.ToLower(rand.Text()) + "-", open: map[string]chan<- []byte{}}
}

// networkInput is the input of a question.
type networkInput struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Command string `json:"command,omitempty"`
}

// ask asks the hub about a host and waits for the answer, or until ctx ends or
// there was no hub for too long. Then the question is withdrawn.
func (a *asker) ask(ctx context.Context, r netproxy.Request) (netproxy.Verdict, string, error) {
	if err := ctx.Err(); err != nil {
		return netproxy.Refuse, "", err
	}
	answer := make(chan []byte, 1)
	a.mu.Lock()
	a.next++
	id := a.prefix + strconv.Itoa(a.next)
	a.open[id] = answer
	a.mu.Unlock()
	line, err := networkQuestion(id, r)
	if err != nil {
		a.forget(id)
		return netproxy.Refuse, "", err
	}
	a.carrier.update(func() { a.carrier.out.Add(link.Line, line) })
	reply, err := a.await(ctx, answer)
	a.forget(id)
	if err != nil {
		a.withdraw(id)
		return netproxy.Refuse, "", err
	}
	return readAnswer(reply)
}

func networkQuestion(id string, r netproxy.Request) ([]byte, error) {
	input, err := json.Marshal(networkInput{r.Host, r.Port, r.Command})
	if err != nil {
		return nil, fmt.Errorf("asking about a host: %w", err)
	}
	line, err := wire.Encode(&wire.ControlRequest{RequestID: id, Request: &wire.CanUseToolRequest{ToolName: wire.ToolSandboxNetwork, Input: input, ToolUseID: id}})
	if err != nil {
		return nil, fmt.Errorf("asking about a host: %w", err)
	}
	return line, nil
}

func (a *asker) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
}

// withdraw tells the hub that an answer is of no more use.
func (a *asker) withdraw(id string) {
	if line, err := wire.NewCancel(id); err == nil { // it is made of an id alone
		a.carrier.update(func() { a.carrier.out.Add(link.Line, line) })
	}
}

// await waits for an answer.
func (a *asker) await(ctx context.Context, answer <-chan []byte) ([]byte, error) {
	asked := time.Now()
	timer := time.NewTimer(hubAway)
	defer timer.Stop()
	for {
		select {
		case line := <-answer:
			return line, nil
		case <-ctx.Done():
			return nil, errEnded
		case <-a.carrier.gone:
			return nil, errHubAway
		case <-timer.C:
		}
		connected, lost, _ := a.carrier.state()
		left := hubAway
		if !connected {
			if lost.Before(asked) {
				lost = asked
			}
			if left = hubAway - time.Since(lost); left <= 0 {
				return nil, errHubAway
			}
		}
		timer.Reset(left)
	}
}

// takes takes a command of the hub's if it answers a question of this run, also
// one that is withdrawn.
func (a *asker) takes(line []byte) bool {
	header, err := wire.Peek(line)
	if err != nil || string(header.Type) != "control_response" {
		return false
	}
	id := string(header.RequestID)
	if !strings.HasPrefix(id, a.prefix) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, ok := a.open[id]; ok {
		delete(a.open, id)
		answer <- line // has room
	}
	return true
}

// readAnswer returns what the hub's answer means. Only one that says to allow
// does.
func readAnswer(line []byte) (netproxy.Verdict, string, error) {
	m, err := wire.Decode(line)
	if err != nil {
		return netproxy.Refuse, "", errors.New("the hub's answer could not be read")
	}
	response, ok := m.(*wire.ControlResponse)
	if !ok {
		return netproxy.Refuse, "", errors.New("the hub's answer could not be read")
	}
	if response.Response.Subtype != "success" {
		return netproxy.Refuse, response.Response.Error, nil
	}
	result, err := wire.DecodePermission(response.Response.Response)
	if err != nil {
		return netproxy.Refuse, "", errors.New("the hub's answer could not be read")
	}
	switch r := result.(type) {
	case *wire.Allow:
		return netproxy.Allow, "", nil
	case *wire.Deny:
		return netproxy.Refuse, r.Message, nil
	default:
		return netproxy.Refuse, "", errors.New("the hub's answer could not be read")
	}
}
