//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// errSilent says that nobody has given up a silent connection yet.
var errSilent = errors.New("nobody has dialled again")

// A trouble is what a network does to connections until ctx ends.
type trouble struct {
	name    string
	trouble func(ctx context.Context, t *testing.T, p *proxy)
}

// troubles are all of them.
func troubles() []trouble {
	return []trouble{
		{"cut", func(ctx context.Context, t *testing.T, p *proxy) {
			random := rand.New(rand.NewPCG(seed(t), 0))
			for {
				timer := time.NewTimer(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
				select {
				case <-timer.C:
					p.cut()
				case <-ctx.Done():
					timer.Stop()
					return
				}
			}
		}},
		{"half-open", func(ctx context.Context, t *testing.T, p *proxy) {
			// Both sides find out by themselves, after a time that is theirs,
			// and the old connection is never heard of again.
			before := p.accepted.Load()
			_ = p.silence()
			if err := eventually(patience, func() error {
				if p.accepted.Load() == before && ctx.Err() == nil {
					return errSilent
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}},
		{"stalled", func(ctx context.Context, _ *testing.T, p *proxy) {
			// Nothing passes for some seconds, and then all of it at once.
			release := p.silence()
			defer release()
			timer := time.NewTimer(3 * time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}},
		{"slow", func(_ context.Context, _ *testing.T, p *proxy) { p.rate.Store(30_000) }},
	}
}

// TestCuts holds that a link that is cut, goes silent or is slow loses nothing:
// with shims over the hub's socket, with CLIs that dial in over TCP.
func TestCuts(t *testing.T) {
	t.Parallel()
	for _, test := range troubles() {
		for _, transport := range []string{"shim", "websocket"} {
			t.Run(test.name+"/"+transport, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, nil)
				l.start()
				var p *proxy
				var s *session
				if transport == "shim" {
					p = l.takeSocket()
					s = l.mustCreate(nil)
				} else {
					p = l.tcpProxy()
					s = l.createDialled(transport, p)
				}
				if err := s.turn(l.ctx(), "zeroth", saying("nothing")); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var trouble sync.WaitGroup
				trouble.Go(func() { test.trouble(ctx, t, p) })
				err := s.tell(l.ctx())
				cancel()
				trouble.Wait()
				p.rate.Store(0)
				if err != nil {
					t.Fatal(err)
				}
				if transport == "shim" {
					l.giveSocket(p)
				}
				l.verdict(s)
				l.start()
				if err := s.conclude(l.ctx()); err != nil {
					t.Fatal(err)
				}
				l.verdict(s)
			})
		}
	}
}
