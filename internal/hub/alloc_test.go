package hub_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A live line costs next to no allocations between its link and its followers: what is
// needed for each is used again, or shared by those of a batch.
func TestLiveLinesAllocate(t *testing.T) {
	ctx := context.Background()
	j, err := journal.Open(ctx, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	h, err := hub.New(ctx, hub.Options{Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	created, err := h.Create(ctx, person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := h.AttachDialled(ctx, hub.DialHello{Session: created.ID, Run: 1}, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	cursor, err := h.Follow(ctx, created.ID, hub.FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	for range 2 { // to the live edge
		if _, err := cursor.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	const lines = 256
	batch := make([]hub.Item, lines)
	for i := range batch {
		batch[i] = hub.Item{Record: link.Record{Kind: link.Live, Bytes: fmt.Appendf(nil,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}},"session_id":"c1","uuid":"u%d"}`, i)}}
	}
	if n := testing.AllocsPerRun(20, func() {
		if err := a.Receive(ctx, batch); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < lines; {
			frames, err := cursor.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got += len(frames)
		}
	}) / lines; n > 1.5 { // one is the uuid, which is remembered
		t.Errorf("%.2f allocations for each line", n)
	}
}
