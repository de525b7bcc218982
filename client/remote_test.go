package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/wire"
)

// A board is a server with one session, of which the test says what happens.
type board struct {
	t *testing.T

	mu       sync.Mutex
	events   []api.Event
	epoch    string
	changed  chan struct{}  // closed at the next change
	open     []api.Question // of the snapshot
	answers  []api.Answer
	sent     []api.SendMessage
	refuse   *api.Error // what the next answer is refused with
	drop     int        // how many requests are cut before they are looked at
	cutAfter int        // the stream is cut after so many events; 0 never
}

func newBoard(t *testing.T) (*board, *client.Client) {
	t.Helper()
	b := &board{t: t, epoch: "e", changed: make(chan struct{})}
	return b, serve(t, b.serve, nil)
}

// change does something under the lock and tells the streams.
func (b *board) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.changed)
	b.changed = make(chan struct{})
}

// add appends an event to the log.
func (b *board) add(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		b.t.Error(err)
	}
	b.change(func() {
		e := api.Event{Session: "s", Seq: int64(len(b.events) + 1), Kind: kind}
		e.ID = fmt.Sprintf("%s:%d", b.epoch, e.Seq)
		if kind == api.KindLine {
			e.Line = raw
		} else {
			e.Data = raw
		}
		b.events = append(b.events, e)
	})
}

func (b *board) ask(id string) {
	b.add(api.KindQuestionOpened, api.Question{ID: id, Session: "s", Kind: api.QuestionPermission, State: api.QuestionOpen})
}

func (b *board) settle(id, by string) {
	b.add(api.KindQuestionSettled, api.Question{ID: id, Session: "s", Kind: api.QuestionPermission, State: api.QuestionAnswered, By: by})
}

func (b *board) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	dropped := r.Method == http.MethodPost && b.drop > 0
	if dropped {
		b.drop--
	}
	b.mu.Unlock()
	if dropped {
		panic(http.ErrAbortHandler)
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/sessions/s":
		b.mu.Lock()
		defer b.mu.Unlock()
		b.write(w, api.Session{ID: "s", LastEventID: fmt.Sprintf("%s:%d", b.epoch, len(b.events)), Questions: b.open})
	case "GET /v1/sessions/s/events":
		b.stream(w, r)
	case "POST /v1/sessions/s/messages":
		var m api.SendMessage
		b.read(r, &m)
		b.mu.Lock()
		b.sent = append(b.sent, m)
		b.mu.Unlock()
		b.write(w, api.Message{ID: "m", ClientID: m.ClientID})
	case "POST /v1/sessions/s/interrupt":
		b.write(w, api.Interrupted{Was: true})
	default:
		id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/questions/"), "/answer")
		if !ok {
			b.t.Errorf("%s %s", r.Method, r.URL)
			return
		}
		var a api.Answer
		b.read(r, &a)
		b.mu.Lock()
		b.answers = append(b.answers, a)
		refuse := b.refuse
		b.refuse = nil
		b.mu.Unlock()
		if refuse != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(refuse.Status)
			b.write(w, refuse)
			return
		}
		b.settle(id, "us")
		b.write(w, api.Question{ID: id, State: api.QuestionAnswered})
	}
}

func (b *board) read(r *http.Request, v any) {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		b.t.Error(err)
	}
}

func (b *board) write(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		b.t.Error(err)
	}
}

// stream serves the log as a server does: from the place that the client names,
// only the kinds that it wants.
func (b *board) stream(w http.ResponseWriter, r *http.Request) {
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	kinds := strings.Split(r.URL.Query().Get("kinds"), ",")
	w.Header().Set("Content-Type", "text/event-stream")
	b.mu.Lock()
	verdict, next := "ok", 0
	if epoch, number, ok := strings.Cut(after, ":"); ok {
		if _, err := fmt.Sscan(number, &next); err != nil {
			b.t.Error(err)
		}
		if epoch != b.epoch {
			verdict, next = "reset", 0
		}
	}
	epoch := b.epoch
	fmt.Fprint(w, resume(verdict, fmt.Sprintf("%s:%d", epoch, len(b.events))))
	b.mu.Unlock()
	written := 0
	for {
		b.mu.Lock()
		changed, cut := b.changed, b.epoch != epoch
		for ; !cut && next < len(b.events); next++ {
			e := b.events[next]
			if kinds[0] != "" && !slices.Contains(kinds, e.Kind) {
				continue
			}
			raw, err := json.Marshal(e)
			if err != nil {
				b.t.Error(err)
			}
			fmt.Fprintf(w, "event: event\nid: %s\ndata: %s\n\n", e.ID, raw)
			if written++; written == b.cutAfter {
				cut = true
			}
		}
		b.mu.Unlock()
		_ = http.NewResponseController(w).Flush()
		if cut {
			panic(http.ErrAbortHandler)
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// given returns what was answered.
func (b *board) given() []api.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.answers)
}

// open opens the session and closes it at the end.
func open(t *testing.T, c *client.Client, o *client.RemoteOptions) *client.RemoteSession {
	t.Helper()
	r, err := c.Open(t.Context(), "s", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // perhaps a second time
	return r
}

func TestRemoteAnswers(t *testing.T) {
	b, c := newBoard(t)
	b.open = []api.Question{{ID: "q1", State: api.QuestionOpen}}
	b.drop = 2 // an answer must not get lost
	asked := make(chan string, 8)
	r := open(t, c, &client.RemoteOptions{Answer: func(_ context.Context, q api.Question) (api.Answer, error) {
		asked <- q.ID
		return api.Answer{Decision: "allow", Note: q.ID}, nil
	}})
	if id := <-asked; id != "q1" {
		t.Errorf("asked about %s", id)
	}
	b.ask("q2")
	if id := <-asked; id != "q2" {
		t.Errorf("asked about %s", id)
	}
	waitFor(t, b, func() bool { return len(b.answers) == 2 })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	answers := b.given()
	if answers[0].ClientID == "" || answers[0].ClientID == answers[1].ClientID {
		t.Errorf("the client ids are %q and %q", answers[0].ClientID, answers[1].ClientID)
	}
	if len(asked) != 0 {
		t.Errorf("asked about %s too", <-asked)
	}
}

// waitFor waits until something is true of the board.
func waitFor(t *testing.T, b *board, is func() bool) {
	t.Helper()
	for {
		b.mu.Lock()
		done, changed := is(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("it did not happen")
		}
	}
}

// Whoever is asked while somebody else answers is told by its context, and what it
// says then does not count.
func TestRemoteSettledElsewhere(t *testing.T) {
	b, c := newBoard(t)
	begun, causes := make(chan struct{}), make(chan error, 2)
	r := open(t, c, &client.RemoteOptions{
		Answer: func(ctx context.Context, _ api.Question) (api.Answer, error) {
			begun <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return api.Answer{Decision: "deny"}, nil
		},
		Failed: func(q api.Question, err error) { t.Errorf("%s failed: %v", q.ID, err) },
	})
	b.ask("q1")
	b.ask("q2")
	<-begun
	<-begun
	b.settle("q1", "anna")
	settled, ok := errors.AsType[*client.SettledError](<-causes)
	if !ok || settled.Question.By != "anna" || settled.Error() != "the question was answered by anna" {
		t.Errorf("the cause is %+v", settled)
	}
	// The other one goes on until the session is closed.
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-causes; !errors.Is(err, client.ErrClosed) {
		t.Errorf("the cause is %v", err)
	}
	if answers := b.given(); len(answers) != 0 {
		t.Errorf("answered %v", answers)
	}
}

func TestRemoteLeavesOpen(t *testing.T) {
	b, c := newBoard(t)
	failed := make(chan string, 3)
	wrong := errors.New("I do not know")
	r := open(t, c, &client.RemoteOptions{
		Answer: func(_ context.Context, q api.Question) (api.Answer, error) {
			if q.ID == "q1" {
				return api.Answer{}, wrong
			}
			return api.Answer{ClientID: "mine", Decision: "allow"}, nil
		},
		Failed: func(q api.Question, err error) { failed <- q.ID + " " + err.Error() },
	})
	b.ask("q1")
	if got := <-failed; got != "q1 I do not know" {
		t.Errorf("failed: %s", got)
	}
	b.mu.Lock()
	b.refuse = &api.Error{Status: 422, Code: api.CodeInvalid, Title: "It does not fit"}
	b.mu.Unlock()
	b.ask("q2")
	if got := <-failed; got != "q2 It does not fit" {
		t.Errorf("failed: %s", got)
	}
	// Somebody was faster than the stream: nobody's fault.
	b.mu.Lock()
	b.refuse = &api.Error{Status: 409, Code: api.CodeAlreadySettled, Title: "Too late"}
	b.mu.Unlock()
	b.ask("q3")
	b.ask("q4")
	waitFor(t, b, func() bool { return len(b.answers) == 3 })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if len(failed) != 0 {
		t.Errorf("failed: %s", <-failed)
	}
	if answers := b.given(); answers[0].ClientID != "mine" {
		t.Errorf("the client id is %q", answers[0].ClientID)
	}
}

// When the log is another one, what is open is what the session says.
func TestRemoteReset(t *testing.T) {
	b, c := newBoard(t)
	asked, over := make(chan string, 8), make(chan string, 8)
	open(t, c, &client.RemoteOptions{Answer: func(ctx context.Context, q api.Question) (api.Answer, error) {
		asked <- q.ID
		<-ctx.Done()
		over <- q.ID
		return api.Answer{}, ctx.Err()
	}})
	b.ask("q1")
	b.ask("q2")
	if got := []string{<-asked, <-asked}; !slices.Contains(got, "q1") || !slices.Contains(got, "q2") {
		t.Errorf("asked about %v", got)
	}
	b.change(func() {
		b.epoch, b.events = "f", nil
		b.open = []api.Question{{ID: "q2", State: api.QuestionOpen}, {ID: "q3", State: api.QuestionOpen}, {ID: "q4", State: api.QuestionAnswered}}
	})
	if id := <-asked; id != "q3" {
		t.Errorf("asked about %s", id)
	}
	if id := <-over; id != "q1" {
		t.Errorf("%s is over", id)
	}
	if len(asked) != 0 || len(over) != 0 {
		t.Errorf("asked %d, over %d more", len(asked), len(over))
	}
}

func TestRemoteMessages(t *testing.T) {
	b, c := newBoard(t)
	b.add(api.KindLine, map[string]any{"type": "assistant", "uuid": "before"})
	b.cutAfter = 3
	r := open(t, c, nil)
	if r.ID() != "s" || r.Opened().LastEventID != "e:1" {
		t.Errorf("opened %+v", r.Opened())
	}
	b.add(api.KindState, map[string]any{"state": "running"})
	for i := range 9 {
		b.add(api.KindLine, map[string]any{"type": "assistant", "uuid": fmt.Sprint("u", i)})
	}
	b.add(api.KindLine, "no object")
	b.add(api.KindLine, map[string]any{"type": "tomorrow", "uuid": "u9"})
	b.add(api.KindLine, map[string]any{"type": "result", "subtype": "success", "uuid": "u10"})
	var got []string
	read := func(until string) {
		t.Helper()
		for m, err := range r.Messages(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			h, err := wire.Peek(m.Raw())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(h.UUID))
			if string(h.UUID) == until {
				return
			}
		}
	}
	// A loop that is left is gone on with.
	read("u4")
	read("u10")
	want := []string{"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	// Two at once would each lack what the other has.
	for _, err := range r.Frames(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, second := range r.Messages(t.Context()) {
			if second == nil || !strings.Contains(second.Error(), "open another") {
				t.Errorf("a second loop: %v", second)
			}
		}
		break
	}
	for _, when := range []string{"while it is read", "afterwards"} {
		for _, err := range r.Frames(t.Context()) {
			if err == nil {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				continue
			}
			if !errors.Is(err, client.ErrClosed) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
}

func TestRemoteHistory(t *testing.T) {
	b, c := newBoard(t)
	for range 3 {
		b.add(api.KindState, nil)
	}
	for name, test := range map[string]struct {
		options client.RemoteOptions
		want    string
	}{
		"all":   {client.RemoteOptions{History: true}, "e:1"},
		"after": {client.RemoteOptions{After: "e:2", NoLive: true}, "e:3"},
	} {
		r := open(t, c, &test.options)
		for frame, err := range r.Frames(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if frame.Event == nil {
				continue
			}
			if frame.Event.ID != test.want {
				t.Errorf("%s begins with %s", name, frame.Event.ID)
			}
			break
		}
	}
}

func TestRemoteSends(t *testing.T) {
	b, c := newBoard(t)
	b.drop = 3
	lost := 0
	r := open(t, c, &client.RemoteOptions{Lost: func(error, time.Duration) { lost++ }})
	if _, err := r.Send(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	if _, err := r.Steer(t.Context(), "left"); err != nil {
		t.Error(err)
	}
	if done, err := r.Interrupt(t.Context()); err != nil || !done.Was {
		t.Errorf("%+v, %v", done, err)
	}
	b.mu.Lock()
	sent := slices.Clone(b.sent)
	b.mu.Unlock()
	if lost != 3 || len(sent) != 2 {
		t.Fatalf("lost %d, sent %v", lost, sent)
	}
	if sent[0].ClientID == "" || sent[0].Text != "hello" || sent[1].Mode != "steer" {
		t.Errorf("sent %+v", sent)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Send(ctx, "late"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Send(t.Context(), "too late"); !errors.Is(err, client.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

// What does not pass by waiting is what Close returns.
func TestRemoteRefused(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/sessions/s" {
			fmt.Fprint(w, `{"id":"s","last_event_id":"e:1"}`)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}, nil)
	r := open(t, c, &client.RemoteOptions{Answer: func(context.Context, api.Question) (api.Answer, error) { return api.Answer{}, nil }})
	if err := r.Err(); err != nil && !strings.Contains(err.Error(), "403") {
		t.Errorf("before the end: %v", err)
	}
	<-r.Done()
	for _, err := range r.Frames(t.Context()) {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Code != api.CodeForbidden {
			t.Errorf("a loop ends with %v", err)
		}
	}
	if e, ok := errors.AsType[*api.Error](r.Close()); !ok || e.Code != api.CodeForbidden {
		t.Errorf("the error is %v", e)
	}
	if _, err := c.Open(t.Context(), "none", nil); err == nil {
		t.Error("there is a session none")
	}
}
