package hub_test

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestUnknownVersion plays a CLI that dials in and does not tell its version before its first turn. It is not asked for what the oldest never
// answers, until its answer to initialize shows that it is newer; then it says itself what it does not know.
func TestUnknownVersion(t *testing.T) {
	l := newLab(t)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	cli := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, cli)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	first, err := wire.Peek(cli.await(t, 1).Line)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		_, err := l.hub.Control(l.ctx(), person, created.ID, &wire.ListModelsRequest{})
		return err
	}
	if err := ask(); code(err) != api.CodeUnsupported || !strings.Contains(err.Error(), "unknown version") {
		t.Errorf("before the answer: %v", err)
	}
	answer := func(id, body string) {
		t.Helper()
		text := `{"type":"control_response","response":{"request_id":"` + id + `",` + body + `}}`
		if err := a.Receive(l.ctx(), []hub.Item{line(text)}); err != nil {
			t.Fatal(err)
		}
	}
	answer(string(first.RequestID), `"subtype":"success","response":{"commands":[],"pid":7}`)
	got := make(chan error, 1)
	go func() { got <- ask() }()
	asked, err := wire.Peek(cli.await(t, 2).Line)
	if err != nil || string(asked.RequestSubtype) != "list_models" {
		t.Fatalf("asked for %s, %v", asked.RequestSubtype, err)
	}
	answer(string(asked.RequestID), `"subtype":"error","error":"Unsupported control request subtype: list_models"`)
	if err := <-got; code(err) != api.CodeUnsupported || strings.Contains(err.Error(), "unknown version") {
		t.Errorf("the CLI does not know the request: %v", err)
	}
}
