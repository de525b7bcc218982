package since

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// A session is a running CLI that is written to directly: what a probe sends is not fitted to a version, since that is what it is to find out.
type session struct {
	process *claude.Process
	answers map[string]answer // by the id of their request; the first one counts
	results int               // turns that have ended
	ended   error             // why there are no more lines; nil while there are
}

// An answer is what a CLI says to a control request.
type answer struct {
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Error     string          `json:"error"`
	ErrorCode string          `json:"error_code"`
	Response  json.RawMessage `json:"response"`
}

// start starts the CLI with further arguments and waits for the answer to its first request.
func (p *prober) start(ctx context.Context, initialize string, args ...string) (*session, error) {
	all := append([]string{}, p.cli.Args...)
	all = append(all, "--output-format=stream-json", "--input-format=stream-json", "--verbose")
	command := &claude.Command{Args: append(all, args...), Env: p.env, Dir: p.dir, InputGrace: 2 * time.Second, TermGrace: time.Second}
	process, err := command.Start(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{process: process, answers: map[string]answer{}}
	if initialize != "" {
		initialize = "," + initialize
	}
	s.request(ctx, "initialize", "initialize", initialize)
	if !s.await(ctx, time.Minute, func() bool { return s.answered("initialize") }) {
		return nil, errors.Join(fmt.Errorf("the CLI has not answered initialize (%v): %s", s.ended, strings.TrimSpace(process.Stderr())), s.close())
	}
	return s, nil
}

// request sends a control request; rest are further members, with a comma before them. A CLI that has ended is found out by await.
func (s *session) request(ctx context.Context, id, subtype, rest string) {
	s.send(ctx, `{"type":"control_request","request_id":"`+id+`","request":{"subtype":"`+subtype+`"`+rest+`}}`)
}

// send sends a line.
func (s *session) send(ctx context.Context, line string) {
	if err := s.process.Write(ctx, []byte(line)); err != nil && s.ended == nil && ctx.Err() != nil {
		s.ended = err
	}
}

func (s *session) answered(id string) bool {
	_, ok := s.answers[id]
	return ok
}

// await reads lines until the condition holds, and reports whether it does. It gives up when the CLI has ended, or after the time.
func (s *session) await(ctx context.Context, limit time.Duration, condition func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !condition() {
		if !s.read(ctx) {
			return condition()
		}
	}
	return true
}

// quiet reads lines until none has come for a time, or the CLI has ended.
func (s *session) quiet(ctx context.Context, pause time.Duration) {
	for {
		ctx, cancel := context.WithTimeout(ctx, pause)
		more := s.read(ctx)
		cancel()
		if !more {
			return
		}
	}
}

// read reads one line.
func (s *session) read(ctx context.Context) bool {
	line, err := s.process.Read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.ended = err
		}
		return false
	}
	var parsed struct {
		Type     string `json:"type"`
		Response answer `json:"response"`
	}
	if err := json.Unmarshal(line, &parsed); err != nil {
		return true // not a line of the protocol
	}
	switch parsed.Type {
	case "result":
		s.results++
	case "control_response":
		if !s.answered(parsed.Response.RequestID) {
			s.answers[parsed.Response.RequestID] = parsed.Response
		}
	}
	return true
}

// turn has the CLI work on a prompt and reports whether the turn has ended.
func (s *session) turn(ctx context.Context, prompt string) (bool, error) {
	content, err := json.Marshal(prompt)
	if err != nil {
		return false, err
	}
	before := s.results
	s.send(ctx, `{"type":"user","session_id":"","parent_tool_use_id":null,"message":{"role":"user","content":`+string(content)+`}}`)
	return s.await(ctx, time.Minute, func() bool { return s.results > before }), nil
}

// close ends the CLI and all that it has started.
func (s *session) close() error {
	if err := s.process.Close(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("ending the CLI: %w", err)
	}
	return nil
}
