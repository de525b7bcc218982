//go:build linux || darwin

package e2e

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestNodeCuts holds that a connection between a node and its hub that is cut, goes
// silent, stalls or is slow loses nothing. What is troubled carries TLS: the control
// connection and the links alike.
func TestNodeCuts(t *testing.T) {
	t.Parallel()
	for _, test := range troubles() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newNodePair(t, nil)
			other := l.bystander()
			s := l.first.mustCreate(nil)
			if err := s.turn(l.ctx(), "zeroth", saying("nothing")); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var trouble sync.WaitGroup
			trouble.Go(func() { test.trouble(ctx, t, l.front) })
			err := s.tell(l.ctx())
			cancel()
			trouble.Wait()
			l.front.rate.Store(0)
			if err != nil {
				t.Fatal(err)
			}
			s.single()
			l.finish(s, other)
		})
	}
}

// TestNodeAway cuts a node off for good: its agent works on, its session is offline
// and not ended, prompts wait; what it wrote comes when it is back.
func TestNodeAway(t *testing.T) {
	t.Parallel()
	l := newNodePair(t, nil)
	canary, s := l.mustCreate(nil), l.first.mustCreate(nil)
	for _, each := range []*session{canary, s} {
		if err := each.turn(l.ctx(), "first", saying("one")); err != nil {
			t.Fatal(err)
		}
	}
	message, err := s.send(l.ctx(), "second", "@slow 5ms\n"+asking("two"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.awaitState(l.ctx(), api.StateRunning, api.StateRequiresAction); err != nil {
		t.Fatal(err)
	}
	l.first.kill()
	if _, err := s.awaitState(l.ctx(), api.StateOffline); err != nil {
		t.Fatal(err)
	}
	if err := l.first.awaitState(api.NodeOffline); err != nil {
		t.Fatal(err)
	}
	// A hub that is started while the node is away ends nothing either.
	l.kill()
	l.start()
	queued, err := s.send(l.ctx(), "third", saying("three"))
	if err != nil {
		t.Fatal(err)
	}
	// The hub looks what became of processes without a link. When it has found out that
	// another one, which was lost later and is dead, is so, it has looked at this one too.
	for _, pid := range carriers("HOME=" + l.home) {
		if slices.Contains(commandLine(pid), "shim") {
			terminate(pid)
		}
	}
	if _, err := canary.awaitState(l.ctx(), api.StateEnded); err != nil {
		t.Fatal(err)
	}
	if snapshot, err := s.snapshot(l.ctx()); err != nil || snapshot.State != api.StateOffline {
		t.Errorf("the session is %s, %v; want offline", snapshot.State, err)
	}
	if n := len(l.first.shims()); n != 1 {
		t.Errorf("%d shims run on the node, want 1", n)
	}
	l.first.start()
	if err := s.allow(l.ctx(), 1); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*api.Message{message, queued} {
		if err := s.awaitTurn(l.ctx(), 0, m); err != nil {
			t.Fatal(err)
		}
	}
	s.single()
	l.verdict(s)
}
