package hub_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Receive returns when its context ends, also while the journal cannot be written:
// else a server could not be ended while the disk is full. What the session has begun
// to take in is written later, in its place.
func TestReceiveLeavesFullDisk(t *testing.T) {
	full := &fullJournal{}
	l := newLab(t)
	l.close()
	l.openWith(full)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	full.set(&journal.UnavailableError{Reason: "the disk is full", Err: errors.New("no space")})
	said := func(text string) []hub.Item {
		return []hub.Item{line(`{"type":"assistant","uuid":"u-` + text + `","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`)}
	}
	for _, text := range []string{"first", "second"} { // the second finds that the session waits already
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- a.Receive(ctx, said(text)) }()
		for ctx := l.ctx(); text == "first" && full.refusals() < 2; {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatal("the session does not try to write")
			}
		}
		cancel()
		select {
		case err := <-left:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", text, err)
			}
		case <-l.ctx().Done():
			t.Fatalf("%s: Receive does not return", text)
		}
	}
	full.set(nil)
	if err := a.Receive(l.ctx(), said("third")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.events(created.ID) {
		if e.Kind == api.KindLine {
			got = append(got, string(e.Line))
		}
	}
	// The second was withdrawn, since the session had not begun with it.
	if len(got) != 2 || got[0] != string(said("first")[0].Bytes) || got[1] != string(said("third")[0].Bytes) {
		t.Errorf("the log has %q", got)
	}
	l.sameProjections(created.ID)
}
