package claudews

import (
	"context"
	"errors"
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
			done <- p.Serve(ctx, func(lines []Line) error {
				for _, line := range lines {
					got = append(got, string(line.Bytes))
				}
				return nil
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
