package claudews

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"
)

// What Receive has not returned yet of lines that came together is given to Serve.
func TestServeAfterReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.frame(websocket.MessageText, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
		synctest.Wait()
		line, err := p.Receive(t.Context())
		if err != nil || string(line.Bytes) != `{"n":1}` {
			t.Fatalf("received %q, %v", line.Bytes, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string
		done := make(chan error, 1)
		go func() {
			done <- p.Serve(ctx, func(lines []Line) (<-chan struct{}, error) {
				for _, line := range lines {
					got = append(got, string(line.Bytes))
				}
				return nil, nil
			})
		}()
		synctest.Wait()
		c.frame(websocket.MessageText, "{\"n\":4}\n")
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		if len(got) != 3 || got[0] != `{"n":2}` || got[2] != `{"n":4}` {
			t.Errorf("served %q", got)
		}
	})
}

// While an owner has too many lines, they wait in the inbox, and the CLI is answered; what
// comes afterwards is given to the owner in its order.
func TestServeFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		var mu sync.Mutex
		var got []string
		full := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- p.Serve(ctx, func(lines []Line) (<-chan struct{}, error) {
				mu.Lock()
				defer mu.Unlock()
				for _, line := range lines {
					got = append(got, string(line.Bytes))
				}
				return full, nil // closed later, and for ever
			})
		}()
		served := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(got)
		}
		for n := range 10 {
			c.frame(websocket.MessageText, fmt.Sprintf("{\"n\":%d}\n", n))
			synctest.Wait()
		}
		if n := served(); n != 1 {
			t.Errorf("%d lines were given to an owner that is full", n)
		}
		if err := c.ws.Ping(t.Context()); err != nil {
			t.Errorf("the CLI is not answered: %v", err)
		}
		close(full)
		if n := served(); n != 10 {
			t.Errorf("%d lines were given afterwards", n)
		}
		c.frame(websocket.MessageText, "{\"n\":10}\n")
		if n := served(); n != 11 {
			t.Errorf("%d lines were given at last", n)
		}
		for n, line := range got {
			if line != fmt.Sprintf(`{"n":%d}`, n) {
				t.Errorf("%s is line %d", line, n)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		c.frame(websocket.MessageText, "{\"n\":11}\n")
		if n := served(); n != 11 {
			t.Error("a line was given after Serve had returned")
		}
		reads(t, p, `{"n":11}`)
	})
}

// An error of the owner ends Serve, and what comes later waits for another reader.
func TestServeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		broken := errors.New("broken")
		done := make(chan error, 1)
		go func() {
			done <- p.Serve(t.Context(), func([]Line) (<-chan struct{}, error) { return nil, broken })
		}()
		synctest.Wait()
		c.frame(websocket.MessageText, "{\"n\":1}\n")
		if err := <-done; !errors.Is(err, broken) {
			t.Errorf("Serve returned %v", err)
		}
		c.frame(websocket.MessageText, "{\"n\":2}\n")
		reads(t, p, `{"n":2}`)
	})
}
