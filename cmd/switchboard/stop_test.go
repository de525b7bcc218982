package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// A meetingHub is a hub whose agents end only when a number of stops is under way at
// the same time.
type meetingHub struct {
	want int

	mu      sync.Mutex
	inside  int
	most    int
	met     chan struct{} // closed when want stops are under way
	stopped map[string]bool
}

func (h *meetingHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, found := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/sessions/"), "/stop")
	if !found || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // without which it is not noticed that the client has left
	h.mu.Lock()
	h.inside++
	h.most = max(h.most, h.inside)
	if h.inside == h.want {
		close(h.met)
	}
	h.mu.Unlock()
	select {
	case <-h.met:
	case <-r.Context().Done():
	}
	h.mu.Lock()
	h.inside--
	h.stopped[id] = true
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.Session{ID: id, State: api.StateEnded}) // a client that has left fails the test
}

// TestStopTogether: stop --all waits for agents at the same time, and not for one after
// the other, up to a limit.
func TestStopTogether(t *testing.T) {
	const n = maxStops + 72
	h := &meetingHub{want: maxStops, met: make(chan struct{}), stopped: map[string]bool{}}
	server := httptest.NewServer(h)
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var sessions []*api.Session
	var want bytes.Buffer
	for i := range n {
		id := fmt.Sprintf("s%020d", i)
		sessions = append(sessions, &api.Session{ID: id, State: api.StateRunning})
		fmt.Fprintln(&want, id)
	}
	var out, complaints bytes.Buffer
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		v := &stopCmd{listFlags: listFlags{quiet: true}}
		done <- v.stop(ctx, &env{stdout: &out, stderr: &complaints}, c, sessions, nil)
	}()
	select {
	case <-h.met:
	case <-time.After(30 * time.Second): // fewer will never meet
		h.mu.Lock()
		inside := h.inside
		h.mu.Unlock()
		cancel()
		<-done
		t.Fatalf("%d stops are under way at once, want %d", inside, maxStops)
	}
	if err := <-done; err != nil || complaints.Len() > 0 {
		t.Fatalf("%v, %s", err, &complaints)
	}
	if h.most > maxStops || len(h.stopped) != n {
		t.Errorf("%d at once, %d in all; want at most %d and %d", h.most, len(h.stopped), maxStops, n)
	}
	if out.String() != want.String() {
		t.Error("what has become of the sessions is not told in the order in which they were named")
	}
}

// TestInParallel: each number is worked on once, and no more than the limit at a time.
func TestInParallel(t *testing.T) {
	for _, test := range []struct{ n, limit int }{{0, 3}, {1, 3}, {3, 3}, {50, 3}} {
		var mu sync.Mutex
		inside, most, calls := 0, 0, map[int]int{}
		inParallel(test.n, test.limit, func(i int) {
			mu.Lock()
			inside++
			most, calls[i] = max(most, inside), calls[i]+1
			mu.Unlock()
			mu.Lock()
			inside--
			mu.Unlock()
		}).Wait()
		if len(calls) != test.n || most > test.limit {
			t.Errorf("%+v: %d calls, %d at once", test, len(calls), most)
		}
		for i, n := range calls {
			if n != 1 {
				t.Errorf("%+v: %d was called %d times", test, i, n)
			}
		}
	}
}
