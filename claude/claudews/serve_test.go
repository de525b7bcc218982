package claudews

import (
	"context"
	"errors"
	"slices"
	"strings"
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

// Lines are offered to the owner by who reads them, but only while nothing that came
// earlier waits or is being worked on: their order stays.
func TestOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order, offered []string
		l := newLab(t, ServerOptions{Offer: func(_ *Peer, lines []Line) bool {
			for _, line := range lines {
				if strings.Contains(string(line.Bytes), "slow") {
					return false
				}
			}
			for _, line := range lines {
				order, offered = append(order, string(line.Bytes)), append(offered, string(line.Bytes))
			}
			return true
		}})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.frame(websocket.MessageText, "{\"n\":0}\n") // nobody has been told yet that the CLI is there
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gate := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- p.Serve(ctx, func(lines []Line) error {
				for _, line := range lines {
					if strings.Contains(string(line.Bytes), "slow") {
						<-gate
					}
					order = append(order, string(line.Bytes))
				}
				return nil
			})
		}()
		synctest.Wait()
		for _, text := range []string{`{"n":1}`, `{"n":"slow"}`, `{"n":2}`, `{"n":3}`} {
			c.frame(websocket.MessageText, text+"\n")
			synctest.Wait()
		}
		close(gate)
		synctest.Wait()
		c.frame(websocket.MessageText, "{\"n\":4}\n{\"n\":5}\n")
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		if want := []string{`{"n":0}`, `{"n":1}`, `{"n":"slow"}`, `{"n":2}`, `{"n":3}`, `{"n":4}`, `{"n":5}`}; !slices.Equal(order, want) {
			t.Errorf("the order is %q, want %q", order, want)
		}
		if want := []string{`{"n":1}`, `{"n":4}`, `{"n":5}`}; !slices.Equal(offered, want) {
			t.Errorf("%q were taken from who reads, want %q", offered, want)
		}
	})
}

// What was taken by Offer was received: a CLI that comes back and names it has lost
// nothing, and what it repeats is not given again.
func TestOfferIsReceived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offered []string
		l := newLab(t, ServerOptions{Offer: func(_ *Peer, lines []Line) bool {
			for _, line := range lines {
				offered = append(offered, string(line.Bytes))
			}
			return true
		}})
		c := l.cli()
		c.dial()
		p := l.accept()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- p.Serve(ctx, func([]Line) error { return nil }) }()
		synctest.Wait()
		c.frame(websocket.MessageText, line("a1")+"\n")
		synctest.Wait()
		if key, ok := l.server.KeyOf("a1"); !ok || key != p.Key() {
			t.Errorf("the server says that %q, %v has sent a1", key, ok)
		}
		if want := []string{line("a1")}; !slices.Equal(offered, want) {
			t.Errorf("%q were offered, want %q", offered, want)
		}
		cancel()
		<-done
	})
}
