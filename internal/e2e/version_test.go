//go:build linux

package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// TestPreviousVersion holds that a hub that was upgraded gets on with shims that
// speak the version of the protocol before, over kills as well.
func TestPreviousVersion(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	run := l.prepare(1, false)[0]
	record, err := os.Create(run.Record)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = record.Close() }() // written line by line
	l.start()
	s := &session{lab: l, id: run.Session, dir: filepath.Join(l.root, "w"), record: run.Record, follower: l.follow(run.Session)}
	ctx, cancel := context.WithCancel(t.Context())
	var client sync.WaitGroup
	client.Go(func() {
		if err := newLinkClient(l.socket(), run, link.OldestVersion, record).run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the client ended: %v", err)
		}
	})
	defer client.Wait()
	defer cancel()
	if err := s.turn(l.ctx(), "zeroth", saying("nothing")); err != nil {
		t.Fatal(err)
	}
	l.kill()
	l.start()
	if err := s.tell(l.ctx()); err != nil {
		t.Fatal(err)
	}
	l.kill()
	l.start()
	if err := s.conclude(l.ctx()); err != nil {
		t.Fatal(err)
	}
	l.verdict(s)
}
