//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A follower is a subscriber of a session that outlives the hub: it comes back
// with the id of the last event it has got, and notes whatever a subscriber must
// never see: an event twice, out of order, or a silent hole.
type follower struct {
	lab     *lab
	session string
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	events  []api.Event
	live    int
	joined  int      // how often a stream was opened
	wrong   []string // what a subscriber must not see
	changed chan struct{}
}

// follow subscribes to a session from its first event on, until the test ends.
func (l *lab) follow(session string) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{lab: l, session: session, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go func() { // close waits for it
		defer close(f.done)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for ctx.Err() == nil {
			f.stream(ctx) // it ends when the hub does
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	l.t.Cleanup(f.close)
	return f
}

func (f *follower) close() {
	f.cancel()
	<-f.done
}

// stream reads one stream to its end.
func (f *follower) stream(ctx context.Context) {
	request, err := f.lab.request(ctx, http.MethodGet, "/v1/sessions/"+f.session+"/events", http.NoBody)
	if err != nil {
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	f.mu.Lock()
	if n := len(f.events); n > 0 {
		request.Header.Set("Last-Event-ID", f.events[n-1].ID)
	}
	f.mu.Unlock()
	answer, err := f.lab.http.Do(request)
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode != http.StatusOK {
		return
	}
	f.update(func() { f.joined++ })
	reader := bufio.NewReader(answer.Body)
	var name, id string
	var data []byte
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return // what is cut off is no event
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if len(data) > 0 {
				f.take(api.FrameType(name), id, data)
			}
			name, id, data = "", "", nil
		case string(field) == "event":
			name = string(value)
		case string(field) == "id":
			id = string(value)
		case string(field) == "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
}

// take takes in a frame.
func (f *follower) take(kind api.FrameType, id string, data []byte) {
	f.update(func() {
		complain := func(format string, args ...any) { f.wrong = append(f.wrong, fmt.Sprintf(format, args...)) }
		switch kind {
		case api.FrameResume:
			var verdict api.Verdict
			if err := json.Unmarshal(data, &verdict); err != nil || verdict.Resume != "ok" {
				complain("the stream resumed with %s", data)
			}
		case api.FrameEvent:
			var event api.Event
			if err := json.Unmarshal(data, &event); err != nil {
				complain("an event that cannot be read: %v: %.200s", err, data)
				return
			}
			last := int64(0)
			if n := len(f.events); n > 0 {
				last = f.events[n-1].Seq
			}
			if event.Seq != last+1 {
				complain("event %d came after %d", event.Seq, last)
			}
			if event.ID != id {
				complain("event %q came with the id %q", event.ID, id)
			}
			f.events = append(f.events, event)
		case api.FrameLive:
			f.live++
		case api.FramePartial, api.FrameClosing:
		default:
			complain("a frame of the unknown type %q", kind)
		}
	})
}

func (f *follower) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// mark returns how many events have come.
func (f *follower) mark() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.events)
}

// await waits until what has come satisfies want, and returns it.
func (f *follower) await(ctx context.Context, what string, want func(events []api.Event) bool) ([]api.Event, error) {
	return f.awaitFrom(ctx, 0, what, want)
}

// awaitFrom is await for the events behind a mark.
func (f *follower) awaitFrom(ctx context.Context, mark int, what string, want func(events []api.Event) bool) ([]api.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		f.mu.Lock()
		events, changed := slices.Clip(f.events[mark:]), f.changed
		f.mu.Unlock()
		if want(events) {
			return events, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return events, fmt.Errorf("waiting for %s of session %s: %w; it has:\n%s", what, f.session, ctx.Err(), summary(events))
		}
	}
}

// lives returns how many live lines have come.
func (f *follower) lives() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// faults returns what a subscriber must not see.
func (f *follower) faults() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.wrong)
}

// summary is a list of events for people, its end if it is long.
func summary(events []api.Event) string {
	var text bytes.Buffer
	const enough = 40
	if len(events) > enough {
		fmt.Fprintf(&text, "  … %d before\n", len(events)-enough)
		events = events[len(events)-enough:]
	}
	for _, e := range events {
		content := e.Line
		if content == nil {
			content = e.Data
		}
		fmt.Fprintf(&text, "  %d run %d %s %.160s\n", e.Seq, e.Run, e.Kind, content)
	}
	return text.String()
}
