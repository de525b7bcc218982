package screen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
)

const epoch = "e"

// errDown is what a hub says that is not there.
var errDown = errors.New("connection refused")

// A fakeSession is a session of a fake hub. Its events are made when they are asked for, so that there can be many.
type fakeSession struct {
	snapshot api.Session
	last     int64
	event    func(seq int64) api.Event
	made     map[int64]api.Event // those that were added
	live     []api.Frame         // not kept; those who follow get them once
}

// A fakeHub counts what it is asked for.
type fakeHub struct {
	mu       sync.Mutex
	sessions []*fakeSession
	wide     []api.Frame // for those who watch
	changed  chan struct{}
	down     bool
	shut     error // of everything that is asked, and the last thing that streams give
	most     int   // events in a page, 0 for as many as were asked for

	calls  map[string]int // by the method
	events int64          // how many were given by pages
	asked  []string       // pages, "after+limit"
	sent   []api.SendMessage
	tried  []string // client ids of messages, also of those that did not arrive
	given  map[string]api.Answer
	hits   []api.SearchHit
	update []api.UpdateSession
	// refuse is the error of everything that acts, and slow how long it takes. deaf has messages taken, and their senders not told.
	refuse error
	slow   time.Duration
	deaf   bool
	taken  map[string]*api.Message // by the client id
	// stopped are the sessions whose turns were stopped.
	stopped []string
	forks   []api.Fork
	rewind  []api.Rewind
	would   api.RewindResult // what a rewind would change
}

func newFakeHub() *fakeHub {
	return &fakeHub{changed: make(chan struct{}), calls: map[string]int{}, given: map[string]api.Answer{}, taken: map[string]*api.Message{}}
}

// add adds a session with so many events.
func (h *fakeHub) add(id, title string, last int64, event func(seq int64) api.Event) *fakeSession {
	s := &fakeSession{last: last, event: event, made: map[int64]api.Event{}, snapshot: api.Session{
		ID: id, Title: title, Dir: "/home/me/blog", State: api.StateIdle, Run: 1, Linked: true, Model: "claude-sonnet", PermissionMode: "default",
		Created: start, Updated: start, Cost: &api.Cost{USD: 0.25, Turns: 3},
		Initialize: json.RawMessage(`{"commands":[{"name":"compact","description":"Make it short"}],"models":[{"value":"default","displayName":"Default","description":"what is best"},{"value":"claude-haiku","displayName":"Haiku","description":"fast"}]}`),
	}}
	h.sessions = append(h.sessions, s)
	return s
}

// start is when everything begins: the time of a bubble.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// tell says that something has changed. mu is held.
func (h *fakeHub) tell() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// happen adds an event.
func (h *fakeHub) happen(s *fakeSession, e api.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.last++
	e.Seq, e.Session, e.ID, e.Run = s.last, s.snapshot.ID, fmt.Sprintf("%s:%d", epoch, s.last), 1
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	s.made[e.Seq] = e
	switch e.Kind {
	case api.KindState:
		var data struct{ State api.State }
		_ = json.Unmarshal(e.Data, &data)
		s.snapshot.State = data.State
	case api.KindQuestionOpened:
		var q api.Question
		_ = json.Unmarshal(e.Data, &q)
		s.snapshot.Questions = append(s.snapshot.Questions, q)
	case api.KindQuestionSettled:
		var q api.Question
		_ = json.Unmarshal(e.Data, &q)
		s.snapshot.Questions = slices.DeleteFunc(s.snapshot.Questions, func(o api.Question) bool { return o.ID == q.ID })
	}
	s.snapshot.Updated = e.Time
	if slices.Contains(listKinds(), e.Kind) {
		h.wide = append(h.wide, api.Frame{Type: api.FrameEvent, Event: &e, Position: fmt.Sprint(len(h.wide) + 1)})
	}
	h.tell()
}

// say adds something live.
func (h *fakeHub) say(s *fakeSession, f api.Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.live = append(s.live, f)
	h.tell()
}

// fall has the hub go away, or come back.
func (h *fakeHub) fall(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
	h.tell()
}

// shutOut has the hub come back as one that accepts nothing.
func (h *fakeHub) shutOut(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down, h.shut = false, err
	h.tell()
}

// count counts a call, and fails if the hub is away.
func (h *fakeHub) count(name string) error {
	h.calls[name]++
	if h.down {
		return errDown
	}
	return h.shut
}

func (h *fakeHub) find(id string) (*fakeSession, error) {
	for _, s := range h.sessions {
		if s.snapshot.ID == id {
			return s, nil
		}
	}
	return nil, &api.Error{Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is no session " + id}
}

func (s *fakeSession) at(seq int64) api.Event {
	if e, ok := s.made[seq]; ok {
		return e
	}
	e := s.event(seq)
	e.Seq, e.Session, e.ID, e.Run = seq, s.snapshot.ID, fmt.Sprintf("%s:%d", epoch, seq), 1
	if e.Time.IsZero() {
		e.Time = start
	}
	return e
}

func (h *fakeHub) List(_ context.Context, f api.SessionFilter) (*api.SessionList, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.count("List"); err != nil {
		return nil, err
	}
	list := &api.SessionList{}
	from := atoi(f.Cursor)
	for i := from; i < len(h.sessions) && i < from+f.Limit; i++ {
		s := &h.sessions[i].snapshot
		if s.Archived && !f.Archived {
			continue
		}
		list.Sessions = append(list.Sessions, api.SessionSummary{
			ID: s.ID, Title: s.Title, Dir: s.Dir, State: s.State, Questions: len(s.Questions), USD: s.Cost.USD, Created: s.Created, Updated: s.Updated,
			Failed: s.Result != nil && s.Result.Failed,
		})
	}
	if from+f.Limit < len(h.sessions) {
		list.Next = itoa(from + f.Limit)
	}
	return list, nil
}

func (h *fakeHub) Session(_ context.Context, id string) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.count("Session"); err != nil {
		return nil, err
	}
	s, err := h.find(id)
	if err != nil {
		return nil, err
	}
	copied := s.snapshot
	copied.LastEventID = fmt.Sprintf("%s:%d", epoch, s.last)
	copied.Questions = slices.Clone(s.snapshot.Questions)
	return &copied, nil
}

func (h *fakeHub) Events(_ context.Context, id, after string, limit int) (*api.EventPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.count("Events"); err != nil {
		return nil, err
	}
	s, err := h.find(id)
	if err != nil {
		return nil, err
	}
	h.asked = append(h.asked, fmt.Sprintf("%s+%d", after, limit))
	named, seq := eventlog.Position(after)
	page := &api.EventPage{Resume: "ok"}
	if after != "" && (named != epoch || seq > s.last) {
		page.Resume, seq = "reset", 0
	}
	if h.most > 0 {
		limit = min(limit, h.most)
	}
	for n := seq + 1; n <= s.last && len(page.Events) < limit; n++ {
		page.Events = append(page.Events, s.at(n))
	}
	h.events += int64(len(page.Events))
	return page, nil
}

func (h *fakeHub) Search(context.Context, api.SearchFilter) (*api.SearchResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.count("Search"); err != nil {
		return nil, err
	}
	return &api.SearchResult{Hits: h.hits}, nil
}

// follow gives frames as a client does: what next returns, until ctx ends, with a pause while the hub is away.
func (h *fakeHub) follow(ctx context.Context, o *client.FollowOptions, next func() (api.Frame, bool)) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		connected := false
		for {
			h.mu.Lock()
			changed := h.changed
			var frame api.Frame
			found := false
			switch {
			case h.down && connected:
				connected = false
				h.mu.Unlock()
				o.Lost(errDown, time.Second)
				continue
			case h.down:
			case h.shut != nil:
				err := h.shut
				h.mu.Unlock()
				yield(api.Frame{}, err)
				return
			case !connected:
				connected, found, frame = true, true, api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}}
			default:
				frame, found = next()
			}
			h.mu.Unlock()
			if found {
				if !yield(frame, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(api.Frame{}, ctx.Err())
				return
			}
		}
	}
}

func (h *fakeHub) Follow(ctx context.Context, id string, o *client.FollowOptions) iter.Seq2[api.Frame, error] {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls["Follow"]++
	s, err := h.find(id)
	if err != nil {
		return func(yield func(api.Frame, error) bool) { yield(api.Frame{}, err) }
	}
	_, seq := eventlog.Position(o.After)
	live := len(s.live)
	return h.follow(ctx, o, func() (api.Frame, bool) {
		if seq < s.last {
			seq++
			e := s.at(seq)
			return api.Frame{Type: api.FrameEvent, Event: &e}, true
		}
		if live < len(s.live) && !o.NoLive {
			live++
			return s.live[live-1], true
		}
		return api.Frame{}, false
	})
}

func (h *fakeHub) Watch(ctx context.Context, o *client.FollowOptions) iter.Seq2[api.Frame, error] {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls["Watch"]++
	at := len(h.wide)
	return h.follow(ctx, o, func() (api.Frame, bool) {
		if at < len(h.wide) {
			at++
			return h.wide[at-1], true
		}
		return api.Frame{}, false
	})
}

// acted counts what changes something.
func (h *fakeHub) acted(name, id string) (*fakeSession, error) {
	if err := h.count(name); err != nil {
		return nil, err
	}
	if h.refuse != nil {
		return nil, h.refuse
	}
	return h.find(id)
}

// pause takes the time that it takes.
func (h *fakeHub) pause(ctx context.Context) error {
	if h.slow == 0 {
		return nil
	}
	select {
	case <-time.After(h.slow):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *fakeHub) Send(ctx context.Context, id string, m api.SendMessage) (*api.Message, error) {
	if err := h.pause(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = append(h.tried, m.ClientID)
	if _, err := h.acted("Send", id); err != nil {
		return nil, err
	}
	message := h.taken[m.ClientID]
	if message == nil {
		message = &api.Message{ID: "m1", ClientID: m.ClientID, State: api.MessageQueued, Text: m.Text, Created: time.Now()}
		h.taken[m.ClientID] = message
		h.sent = append(h.sent, m)
	}
	if h.deaf {
		return nil, errDown
	}
	return message, nil
}

func (h *fakeHub) Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error) {
	if err := h.pause(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	if err := h.count("Answer"); err != nil {
		h.mu.Unlock()
		return nil, err
	}
	if h.refuse != nil {
		defer h.mu.Unlock()
		return nil, h.refuse
	}
	h.given[question] = a
	var asked *fakeSession
	var q api.Question
	for _, s := range h.sessions {
		for i := range s.snapshot.Questions {
			if s.snapshot.Questions[i].ID == question {
				asked, q = s, s.snapshot.Questions[i]
			}
		}
	}
	h.mu.Unlock()
	if asked == nil {
		return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeAlreadySettled, Title: "Somebody was faster"}
	}
	q.State, q.By, q.Answer = api.QuestionAnswered, "me", &a
	h.happen(asked, api.Event{Kind: api.KindQuestionSettled, Source: "hub", Data: encode(q)})
	return &q, nil
}

func (h *fakeHub) Interrupt(_ context.Context, id string, _ api.Interrupt) (*api.Interrupted, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted("Interrupt", id)
	if err != nil {
		return nil, err
	}
	h.stopped = append(h.stopped, id)
	return &api.Interrupted{Was: true, Session: &s.snapshot}, nil
}

func (h *fakeHub) Update(_ context.Context, id string, in api.UpdateSession) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted("Update", id)
	if err != nil {
		return nil, err
	}
	h.update = append(h.update, in)
	return &s.snapshot, nil
}

func (h *fakeHub) Stop(_ context.Context, id string, _ api.Stop) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted("Stop", id)
	if err != nil {
		return nil, err
	}
	return &s.snapshot, nil
}

func (h *fakeHub) Release(_ context.Context, id string, _ api.Release) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted("Release", id)
	if err != nil {
		return nil, err
	}
	return &s.snapshot, nil
}

func (h *fakeHub) TakeBack(_ context.Context, id, message string) (*api.Message, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.acted("TakeBack", id); err != nil {
		return nil, err
	}
	return &api.Message{ID: message, State: api.MessageTakenBack}, nil
}

func (h *fakeHub) Fork(ctx context.Context, id string, in api.Fork) (*api.Created, error) {
	if err := h.pause(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted("Fork", id)
	if err != nil {
		return nil, err
	}
	h.forks = append(h.forks, in)
	made := h.add(fmt.Sprintf("s9fork%015d", len(h.forks)), s.snapshot.Title+" (fork)", s.last, s.event)
	return &api.Created{Session: made.snapshot}, nil
}

func (h *fakeHub) Rewind(ctx context.Context, id string, in api.Rewind) (*api.RewindResult, error) {
	if err := h.pause(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.acted("Rewind", id); err != nil {
		return nil, err
	}
	h.rewind = append(h.rewind, in)
	would := h.would
	return &would, nil
}

func (h *fakeHub) Archive(_ context.Context, id string) (*api.Session, error) {
	return h.putAway("Archive", id, true)
}

func (h *fakeHub) Unarchive(_ context.Context, id string) (*api.Session, error) {
	return h.putAway("Unarchive", id, false)
}

func (h *fakeHub) putAway(name, id string, away bool) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.acted(name, id)
	if err != nil {
		return nil, err
	}
	s.snapshot.Archived = away
	copied := s.snapshot
	return &copied, nil
}

// encode returns a value as JSON.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// said is a line in which the agent says something.
func said(text string) api.Event {
	return api.Event{Kind: api.KindLine, Source: "agent", Line: encode(map[string]any{
		"type": "assistant", "uuid": "u-" + text[:min(len(text), 40)], "session_id": "c1", "parent_tool_use_id": nil,
		"message": map[string]any{"id": "msg-" + text[:min(len(text), 40)], "role": "assistant", "type": "message", "model": "claude-sonnet", "content": []any{
			map[string]any{"type": "text", "text": text},
		}},
	})}
}

// called is a line in which the agent calls a tool, gave the one with its result.
func called(id, tool string, input any) api.Event {
	return api.Event{Kind: api.KindLine, Source: "agent", Line: encode(map[string]any{
		"type": "assistant", "uuid": "u-" + id, "session_id": "c1", "parent_tool_use_id": nil,
		"message": map[string]any{"id": "msg-" + id, "role": "assistant", "type": "message", "model": "claude-sonnet", "content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input},
		}},
	})}
}

func gave(id, output string) api.Event {
	return api.Event{Kind: api.KindLine, Source: "agent", Line: encode(map[string]any{
		"type": "user", "uuid": "r-" + id, "session_id": "c1", "parent_tool_use_id": nil,
		"message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id, "content": output},
		}},
	})}
}

// prompted is a message to the agent.
func prompted(n int64, text string) api.Event {
	return api.Event{Kind: api.KindMessage, Source: "person", By: "me", Data: encode(api.Message{
		ID: fmt.Sprint("m", n), State: api.MessagePickedUp, Text: text, UUID: fmt.Sprint("p", n), By: "me",
	})}
}

// wrote is the line in which a message is sent to the agent.
func wrote(n int64, text string) api.Event {
	return api.Event{Kind: api.KindSent, Source: "person", By: "me", Line: encode(map[string]any{
		"type": "user", "uuid": fmt.Sprint("p", n), "session_id": "c1", "parent_tool_use_id": nil,
		"message": map[string]any{"role": "user", "content": text},
	})}
}

// state is a change of the state.
func state(s api.State) api.Event {
	return api.Event{Kind: api.KindState, Source: "hub", Data: encode(map[string]any{"state": s})}
}

// long is a session of any length: prompts, answers, tools.
func long(seq int64) api.Event {
	switch turn := seq / 5; seq % 5 {
	case 0:
		return prompted(turn, fmt.Sprintf("Prompt %d", turn))
	case 1:
		return said(fmt.Sprintf("Answer %d is **this**.", turn))
	case 2:
		return called(fmt.Sprint("t", turn), "Bash", map[string]any{"command": fmt.Sprintf("make test-%d", turn)})
	case 3:
		return gave(fmt.Sprint("t", turn), fmt.Sprintf("first of %d\nsecond\nneedle-%d", turn, turn))
	default:
		return said(fmt.Sprintf("Turn %d is over.", turn))
	}
}

// short is a session of a few lines.
func short(lines ...api.Event) (int64, func(int64) api.Event) {
	return int64(len(lines)), func(seq int64) api.Event { return lines[seq-1] }
}

// permission is a question.
func permission(id, command string) api.Question {
	return api.Question{
		ID: id, Session: "s1", Run: 1, RequestID: "r" + id, Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", ToolUseID: "t" + id,
		Title: command, Opened: start,
		Request: encode(map[string]any{"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t" + id, "input": map[string]any{"command": command}}),
	}
}

// opens is the event that opens a question.
func opens(q api.Question) api.Event {
	return api.Event{Kind: api.KindQuestionOpened, Source: "agent", Data: encode(q)}
}
