//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/wire"
)

// A watcher keeps what the stream of all sessions gives.
type watcher struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	ids     []string
	wrong   []string
}

// watch follows all sessions until the test ends.
func watch(t *testing.T, c *client.Client) *watcher {
	t.Helper()
	w := &watcher{changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		following.Wait()
	})
	following.Go(func() {
		last := int64(0)
		for frame, err := range c.Watch(ctx, nil) {
			if err != nil {
				if ctx.Err() == nil {
					w.take("", err.Error())
				}
				return
			}
			switch {
			case frame.Resume != nil && frame.Resume.Resume != "ok":
				w.take("", "the verdict is "+frame.Resume.Resume)
			case frame.Type == api.FrameEvent:
				at := seqOf(frame.Position)
				if at <= last {
					w.take("", fmt.Sprintf("position %s after %d", frame.Position, last))
				}
				last = at
				w.take(frame.Event.Session+" "+frame.Event.ID, "")
			}
		}
	})
	return w
}

func (w *watcher) take(id, wrong string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id != "" {
		w.ids = append(w.ids, id)
	}
	if wrong != "" {
		w.wrong = append(w.wrong, wrong)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// until waits for an event and returns all that came, those of one session.
func (w *watcher) until(ctx context.Context, t *testing.T, session, id string) []string {
	t.Helper()
	for {
		w.mu.Lock()
		ids, wrong, changed := slices.Clone(w.ids), slices.Clone(w.wrong), w.changed
		w.mu.Unlock()
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if slices.Contains(ids, session+" "+id) {
			return slices.DeleteFunc(ids, func(each string) bool { return !strings.HasPrefix(each, session+" ") })
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s has not come", id)
		}
	}
}

// untilResult reads what the agent says to the end of a turn, and returns the uuids of
// its lines.
func untilResult(ctx context.Context, t *testing.T, r *client.RemoteSession) []string {
	t.Helper()
	var uuids []string
	for m, err := range r.Messages(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.(*wire.StreamEvent); ok {
			continue
		}
		h, err := wire.Peek(m.Raw())
		if err != nil {
			t.Fatal(err)
		}
		if len(h.UUID) > 0 { // control messages have none
			uuids = append(uuids, string(h.UUID))
		}
		if result, ok := m.(*wire.Result); ok {
			if result.IsError {
				t.Errorf("the turn failed: %s", m.Raw())
			}
			return uuids
		}
	}
	t.Fatal("the loop ended")
	return nil
}

// TestRemoteSession drives a session by the client's remote one, over a kill of the
// hub in the middle of a question: one answers, another is told that it was too
// late, and who watches all sessions sees each event once.
func TestRemoteSession(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	c := l.client()
	w := watch(t, c)
	k := l.talk(t, nil)

	answers, asked, settled := make(chan string), make(chan string, 8), make(chan error, 8)
	first, err := c.Open(l.ctx(), k.id, &client.RemoteOptions{Answer: func(ctx context.Context, q api.Question) (api.Answer, error) {
		asked <- q.ID
		select {
		case decision := <-answers:
			return api.Answer{Decision: decision}, nil
		case <-ctx.Done():
			return api.Answer{}, ctx.Err()
		}
	}, Failed: func(q api.Question, err error) { t.Errorf("answering %s: %v", q.ID, err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	second, err := c.Open(l.ctx(), k.id, &client.RemoteOptions{Answer: func(ctx context.Context, q api.Question) (api.Answer, error) {
		asked <- q.ID
		<-ctx.Done()
		settled <- context.Cause(ctx)
		return api.Answer{}, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })

	if _, err := first.Send(l.ctx(), bash("touch one.txt")); err != nil {
		t.Fatal(err)
	}
	one, two := <-asked, <-asked
	if one != two {
		t.Errorf("asked about %s and %s", one, two)
	}
	// The question outlives the hub, and so do those who were asked.
	l.kill()
	l.start()
	answers <- "allow"
	if cause, ok := errors.AsType[*client.SettledError](<-settled); !ok || cause.Question.ID != one || cause.Question.State != api.QuestionAnswered || cause.Question.Answer.Decision != "allow" {
		t.Errorf("who was too late is told %+v", cause)
	}
	uuids := untilResult(l.ctx(), t, first)
	if _, err := first.Send(l.ctx(), "@say And again."); err != nil {
		t.Fatal(err)
	}
	uuids = append(uuids, untilResult(l.ctx(), t, first)...)
	slices.Sort(uuids)
	if n := len(slices.Compact(slices.Clone(uuids))); n != len(uuids) {
		t.Errorf("%d lines, of which %d are different", len(uuids), n)
	}
	if len(asked) > 0 {
		t.Errorf("asked about %s once more", <-asked)
	}

	s, err := first.Snapshot(l.ctx())
	if err != nil {
		t.Fatal(err)
	}
	epoch, _, _ := strings.Cut(s.LastEventID, ":")
	var want []string
	for seq := range seqOf(s.LastEventID) {
		want = append(want, fmt.Sprintf("%s %s:%d", k.id, epoch, seq+1))
	}
	got := w.until(l.ctx(), t, k.id, s.LastEventID)
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("who watches all sees (-want +got):\n%s", diff)
	}
	for _, r := range []*client.RemoteSession{first, second} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	l.verdict(k.session)
}

// TestDiscover finds the hub at both of its addresses.
func TestDiscover(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	_, port, err := net.SplitHostPort(l.address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.Discover(l.ctx(), &client.DiscoverOptions{Ports: []int{number}, Sockets: []string{l.socket()}, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]client.Found{{Socket: l.socket(), API: "v1"}, {BaseURL: "http://" + l.address, API: "v1"}}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}
