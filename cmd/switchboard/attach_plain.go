package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// attach shows a session on the surroundings' streams.
func attach(ctx context.Context, s *surroundings, c *client.Client, session string) error {
	err := terminal.Attach(ctx, follower{c, s.stderr}, session, &terminal.Options{
		In: s.stdin, Out: s.stdout, Hints: isTerminal(s.stdin) && isTerminal(s.stdout), Wait: !isTerminal(s.stdin),
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return exitError(codeInterrupted)
	}
	return err
}

// connect returns a client of the server at a socket. That there is none is said here, in words that tell what to do.
func connect(socket string) (*client.Client, error) {
	if _, err := os.Stat(socket); errors.Is(err, fs.ErrNotExist) {
		return nil, &noServerError{socket}
	}
	return client.New(&client.Options{Socket: socket})
}

// A follower is a client in the form that package terminal wants.
type follower struct {
	*client.Client
	stderr io.Writer
}

// Follow follows without live lines. When the server is away it says so, once, and waits for the next one.
func (f follower) Follow(ctx context.Context, id string) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		lost := false // this and what follows run in one goroutine
		options := &client.FollowOptions{NoLive: true, Lost: func(err error, _ time.Duration) {
			if !lost && ctx.Err() == nil {
				fmt.Fprintf(f.stderr, "switchboard: the hub is away (%s); waiting for it\n", terminal.Clean(err.Error()))
			}
			lost = true
		}}
		for frame, err := range f.Client.Follow(ctx, id, options) {
			lost = false
			if !yield(frame, err) {
				return
			}
		}
	}
}
