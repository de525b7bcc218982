package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Talk holds a conversation with a CLI over any transport: it sends what was built and fitted by package wire, one turn at a time, and
// answers what the CLI asks. It does what the suite and the play program need and no more; it is not safe for concurrent use.
type Talk struct {
	// Transport is the way to the CLI.
	Transport claude.Transport

	// Version is the CLI's version, which every line is fitted to. The zero value is treated as the oldest.
	Version wire.Version

	// Permit decides what a tool may do. If nil, everything is denied.
	Permit func(*wire.CanUseToolRequest) wire.PermissionResult

	// Insist is for transports on which an answer can be lost. If nothing comes for this long while it is not known whether an answer was
	// taken, the CLI is asked with another initialize request which questions are open, and those are answered again. If zero, an answer is
	// sent once.
	//
	// 2.1.37 with hybrid POST needs it: it takes an answer only after it has seen the reply to the POST that brought its question, and the
	// two come on different connections. An answer must not be sent again without asking: with the tool call's id in it, 2.1.37 would run
	// the tool a second time.
	Insist time.Duration

	// Saw gets every line, sent or received, before it is acted upon. It may be nil.
	Saw func(sent bool, line []byte)

	requests int    // number of requests made
	inDoubt  bool   // an answer was sent and nothing shows yet that it was taken
	inquiry  string // id of the request that asks which questions are open; empty if none does
}

// A Turn is what came between a prompt and its result.
type Turn struct {
	Messages []wire.Message            // everything received, in order, the result included
	Asked    []*wire.CanUseToolRequest // the questions for permission
	Result   *wire.Result              // the last message
}

// Initialize makes the first request, which must come before any prompt, and returns its answer.
func (t *Talk) Initialize(ctx context.Context) (*wire.ControlResponse, error) {
	return t.Request(ctx, &wire.InitializeRequest{})
}

// Request makes a control request and waits for its answer, which may report an error. Questions that come meanwhile are answered.
func (t *Talk) Request(ctx context.Context, request wire.Request) (*wire.ControlResponse, error) {
	id, err := t.request(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("requesting %s: %w", request.RequestSubtype(), err)
	}
	for {
		message, err := t.receive(ctx)
		if err != nil {
			return nil, fmt.Errorf("waiting for the answer to %s: %w", request.RequestSubtype(), err)
		}
		if response, ok := message.(*wire.ControlResponse); ok && response.Response.RequestID == id {
			return response, nil
		}
		if _, err := t.answer(ctx, message); err != nil {
			return nil, err
		}
	}
}

// request sends a control request and returns its id.
func (t *Talk) request(ctx context.Context, request wire.Request) (string, error) {
	t.requests++
	id := fmt.Sprintf("talk-%d", t.requests)
	line, err := wire.NewRequest(id, request)
	if err != nil {
		return "", err
	}
	return id, t.send(ctx, line)
}

// Turn sends a prompt and follows its turn to the result, answering what the CLI asks. What has come so far is returned also with an error.
func (t *Talk) Turn(ctx context.Context, prompt string) (*Turn, error) {
	turn := &Turn{}
	line, err := wire.NewUser(wire.TextContent(prompt), nil)
	if err != nil {
		return turn, err
	}
	if err := t.send(ctx, line); err != nil {
		return turn, fmt.Errorf("sending a prompt: %w", err)
	}
	for {
		message, err := t.receive(ctx)
		if err != nil {
			return turn, fmt.Errorf("waiting for the end of the turn: %w", err)
		}
		turn.Messages = append(turn.Messages, message)
		if result, ok := message.(*wire.Result); ok {
			turn.Result = result
			return turn, nil
		}
		question, err := t.answer(ctx, message)
		if err != nil {
			return turn, err
		}
		if question != nil {
			turn.Asked = append(turn.Asked, question)
		}
	}
}

// answer answers a message if it is a request, and returns it if it asked for permission.
func (t *Talk) answer(ctx context.Context, message wire.Message) (*wire.CanUseToolRequest, error) {
	if response, ok := message.(*wire.ControlResponse); ok && t.inquiry != "" && response.Response.RequestID == t.inquiry {
		t.inquiry, t.inDoubt = "", false
		for i := range response.Response.PendingPermissionRequests {
			// It was handed out before, so it is not returned again.
			if _, err := t.answer(ctx, &response.Response.PendingPermissionRequests[i]); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	request, ok := message.(*wire.ControlRequest)
	if !ok {
		return nil, nil
	}
	question, ok := request.Request.(*wire.CanUseToolRequest)
	if !ok {
		line, err := wire.NewError(request.RequestID, "this client does not answer "+request.Request.RequestSubtype(), wire.ErrorCodeUnsupported)
		if err == nil {
			err = t.send(ctx, line)
		}
		return nil, err
	}
	var decision wire.PermissionResult = &wire.Deny{}
	if t.Permit != nil {
		decision = t.Permit(question)
	}
	line, err := wire.NewPermission(request, decision)
	if err == nil {
		err = t.send(ctx, line)
	}
	if err != nil {
		return question, fmt.Errorf("answering a question for %s: %w", question.ToolName, err)
	}
	t.inDoubt = true
	return question, nil
}

// send fits a line to the CLI's version and sends it.
func (t *Talk) send(ctx context.Context, line []byte) error {
	line, _, err := wire.Fit(line, t.Version)
	if err != nil {
		return err
	}
	if t.Saw != nil {
		t.Saw(true, line)
	}
	return t.Transport.Write(ctx, line)
}

// receive returns the next message.
func (t *Talk) receive(ctx context.Context) (wire.Message, error) {
	line, err := t.read(ctx)
	if errors.Is(err, io.EOF) {
		// In good order or not, the CLI has ended before what was waited for.
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if t.Saw != nil {
		t.Saw(false, line)
	}
	message, err := wire.Decode(line)
	switch message.(type) { //nolint:gochecksumtype // only these show that the CLI has gone on
	case *wire.User, *wire.Result:
		t.inDoubt = false
	}
	return message, err
}

// read returns the next line. If it is long in coming after an answer, the CLI is asked whether it got the answer.
func (t *Talk) read(ctx context.Context) ([]byte, error) {
	if !t.inDoubt || t.Insist == 0 || t.inquiry != "" {
		return t.Transport.Read(ctx)
	}
	short, cancel := context.WithTimeout(ctx, t.Insist)
	line, err := t.Transport.Read(short)
	cancel()
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return line, err
	}
	if t.inquiry, err = t.request(ctx, &wire.InitializeRequest{}); err != nil {
		return nil, fmt.Errorf("asking which questions are open: %w", err)
	}
	return t.Transport.Read(ctx)
}
