package transcript_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

func TestState(t *testing.T) {
	events := logtest.Whole()
	got := logtest.Read(events).State()
	want := transcript.State{
		Session: api.StateIdle, Title: "Fix the build", Dir: "/src/app", Model: "claude-x", Mode: "acceptEdits", USD: 0.05, Turns: 2,
		Todos: []transcript.Todo{
			{Text: "Run make", Active: "Running make", Status: "in_progress"}, {Text: "Fix it", Status: "pending"}, {Text: "Look", Status: "completed"},
		},
		Queued:      []api.Message{{ID: "m3", UUID: "p3", Text: "still waiting", By: "bob", State: api.MessageQueued}},
		RateLimit:   "limit near (five hour), 90% used, until 2026-01-01 20:40 UTC",
		Context:     &api.ContextUse{Tokens: 20000, Max: 200000, Percent: 10},
		Sandbox:     &api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap", Network: "listed", Hidden: 3},
		Result:      &api.TurnResult{Subtype: "error_during_execution", Failed: true},
		Ended:       &api.Ended{Reason: "it was stopped", Code: new(int)},
		LastEventID: events[len(events)-1].ID,
	}
	got.Tokens = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// In the middle: something is asked, and a turn is going on.
	for i, e := range events {
		if e.Kind != api.KindQuestionOpened {
			continue
		}
		s := logtest.Read(events[:i+1]).State()
		if len(s.Questions) != 1 || s.Questions[0] != "q1" || !s.TurnStarted.Equal(logtest.Noon.Add(9*time.Second)) || s.Session != api.StateRunning {
			t.Errorf("%+v", s)
		}
	}
}

// TestSeed holds that a snapshot tells the state, and that only what comes after it changes that, however the log is read.
func TestSeed(t *testing.T) {
	events := logtest.Whole()
	at := 20
	session := &api.Session{
		ID: "s1", Title: "A title", Dir: "/dir", State: api.StateRequiresAction, Model: "claude-y", PermissionMode: "plan", LastEventID: events[at-1].ID, Updated: logtest.Noon,
		Cost: &api.Cost{USD: 7, Turns: 3}, Questions: []api.Question{{ID: "q9", State: api.QuestionOpen}},
		Messages: []api.Message{{ID: "m9", UUID: "p9", Text: "later", State: api.MessageQueued}}, Holds: []api.Hold{{ID: "h9", Reason: "no money"}},
		Context: &api.ContextUse{Tokens: 5, Max: 10, Percent: 50},
	}
	ways := map[string]func(c *transcript.Conversation){
		"only the snapshot":    func(c *transcript.Conversation) { c.Seed(session) },
		"then pages in front":  func(c *transcript.Conversation) { c.Seed(session); c.Prepend(events[10:at]); c.Prepend(events[:10]) },
		"then from the start":  func(c *transcript.Conversation) { c.Seed(session); feed(c, events[:at]) },
		"the snapshot at last": func(c *transcript.Conversation) { feed(c, events[:at]); c.Seed(session) },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var c transcript.Conversation
			way(&c)
			s := c.State()
			if s.Session != api.StateRequiresAction || s.Title != "A title" || s.Model != "claude-y" || s.Mode != "plan" || s.Dir != "/dir" || s.USD != 7 || s.Turns != 3 {
				t.Errorf("%+v", s)
			}
			if diff := cmp.Diff([]string{"q9"}, s.Questions); diff != "" {
				t.Error(diff)
			}
			if len(s.Queued) != 1 || s.Queued[0].ID != "m9" || len(s.Holds) != 1 || s.Context.Percent != 50 || s.TurnStarted.IsZero() {
				t.Errorf("%+v", s)
			}
			if q := c.Question("q9"); q == nil || q.State != api.QuestionOpen {
				t.Errorf("question q9 is %+v", q)
			}
			if name != "only the snapshot" {
				if diff := cmp.Diff(logtest.Dump(t, logtest.Read(events[:at])), logtest.Dump(t, &c)); diff != "" {
					t.Errorf("items (-read, +with a snapshot):\n%s", diff)
				}
			}
			// What comes after it counts.
			feed(&c, events[at:])
			s = c.State()
			if s.Mode != "acceptEdits" || s.Session != api.StateIdle || s.Turns != 5 || s.Title != "A title" {
				t.Errorf("later: %+v", s)
			}
			c.Seed(session) // it is too old now
			if s := c.State(); s.Mode != "acceptEdits" {
				t.Errorf("after an old snapshot: %+v", s)
			}
		})
	}
}

// TestCompacting holds that a compaction is told as long as it goes on, whatever else happens meanwhile and however the log is read.
func TestCompacting(t *testing.T) {
	const compacting = `{"type":"system","subtype":"status","status":"compacting"}`
	ends := map[string]func(*logtest.Script){
		"its end": func(s *logtest.Script) { s.Line(`{"type":"system","subtype":"status","status":null}`) },
		"its result": func(s *logtest.Script) {
			s.Line(`{"type":"system","subtype":"status","status":null,"permissionMode":"plan","compact_result":"success"}`)
		},
		"the summary": func(s *logtest.Script) {
			s.Line(`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto"}}`)
		},
		"the end of the turn": func(s *logtest.Script) { s.Line(`{"type":"result","subtype":"success"}`) },
		"an answer": func(s *logtest.Script) {
			s.Line(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`)
		},
		"the end of the process": func(s *logtest.Script) { s.Hub(api.KindRunEnded, api.Ended{Reason: "it ended"}) },
		"a session at rest":      func(s *logtest.Script) { s.Hub(api.KindState, map[string]any{"state": api.StateIdle}) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			var s logtest.Script
			s.Line(compacting)
			s.Line(`{"type":"system","subtype":"status","status":"requesting"}`)
			s.Line(`{"type":"system","subtype":"status","status":null,"permissionMode":"acceptEdits"}`)
			s.Line(`{"type":"assistant","parent_tool_use_id":"agent","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`)
			for at := range s.Events {
				c := logtest.Read(s.Events[at:])
				c.Prepend(s.Events[:at])
				if doing := c.State().Doing; doing != "compacting" {
					t.Errorf("with %d events in front the agent does %q", at, doing)
				}
			}
			var seeded transcript.Conversation
			seeded.Seed(&api.Session{ID: "s1", State: api.StateRunning, LastEventID: s.Events[len(s.Events)-1].ID})
			seeded.Prepend(s.Events)
			if doing := seeded.State().Doing; doing != "compacting" {
				t.Errorf("behind a snapshot the agent does %q", doing)
			}
			end(&s)
			for at := range s.Events {
				c := logtest.Read(s.Events[at:])
				c.Prepend(s.Events[:at])
				if doing := c.State().Doing; doing != "" {
					t.Errorf("at the end, with %d events in front, the agent does %q", at, doing)
				}
			}
		})
	}
	var s logtest.Script
	s.Line(`{"type":"system","subtype":"status","status":null,"compact_result":"failed","uuid":"a"}`)
	if c := logtest.Read(s.Events); c.Len() != 1 || c.Item(0).Level != transcript.LevelWarn || c.Item(0).Text == "" {
		t.Errorf("a compaction that failed without a reason shows %d items", c.Len())
	}
}

func feed(c *transcript.Conversation, events []api.Event) {
	for i := range events {
		c.Event(&events[i])
	}
}

// TestCost holds what a turn cost: the CLI only tells sums of a process.
func TestCost(t *testing.T) {
	result := func(n int, total float64) api.Event {
		return api.Event{ID: fmt.Sprintf("e:%d", n), Kind: api.KindLine, Line: json.RawMessage(fmt.Sprintf(`{"type":"result","subtype":"success","uuid":"r%d","total_cost_usd":%g}`, n, total))}
	}
	created := api.Event{ID: "e:1", Kind: api.KindCreated, Data: json.RawMessage(`{"dir":"/x"}`)}
	events := []api.Event{created, result(2, 1), result(3, 1.5), result(4, 0.25), result(5, 0.5)}
	c := logtest.Read(events)
	want := []float64{1, 0.5, 0.25, 0.25}
	for i, usd := range want {
		if r := c.Item(i + 1).Result; r.USD != usd || !r.Known {
			t.Errorf("turn %d cost %g (%t)", i+1, r.USD, r.Known)
		}
	}
	if s := c.State(); s.USD != 2 || s.Turns != 4 {
		t.Errorf("%g in %d turns", s.USD, s.Turns)
	}
	// What came before is not known.
	c = logtest.Read(events[2:])
	if r := c.Item(0).Result; r.Known {
		t.Error("it is said to be known what a turn cost whose predecessor was not read")
	}
	c.Prepend(events[:2])
	if r := c.Item(2).Result; r.USD != 0.5 || !r.Known {
		t.Errorf("it cost %g (%t)", r.USD, r.Known)
	}
}

// TestQueue holds when a message leaves the queue and becomes an item: as soon as anything tells that it is on its way.
func TestQueue(t *testing.T) {
	queued := api.Message{ID: "m", UUID: "p", Text: "hello", State: api.MessageQueued}
	sent := queued
	sent.State = api.MessageSent
	line := json.RawMessage(`{"type":"user","uuid":"p","message":{"role":"user","content":"hello"}}`)
	for name, tell := range map[string]func(*logtest.Script){
		"the hub says so": func(s *logtest.Script) { s.Hub(api.KindMessage, sent) },
		"it is written":   func(s *logtest.Script) { s.Add(api.Event{Kind: api.KindSent, Line: line}) },
		"the CLI says it": func(s *logtest.Script) { s.Add(api.Event{Kind: api.KindLine, Line: line}) },
		"a transcript":    func(s *logtest.Script) { s.Add(api.Event{Kind: api.KindHistory, Line: line}) },
	} {
		t.Run(name, func(t *testing.T) {
			var s logtest.Script
			s.Hub(api.KindMessage, queued)
			c := logtest.Read(s.Events)
			if state := c.State(); len(state.Queued) != 1 || c.Len() != 0 {
				t.Errorf("%d are queued, %d are shown", len(state.Queued), c.Len())
			}
			tell(&s)
			changed := c.Event(&s.Events[1])
			if state := c.State(); len(state.Queued) != 0 || c.Len() != 1 || !changed.State || changed.Appended != 1 || c.Item(0).Text != "hello" {
				t.Errorf("then %d are queued, %d are shown: %+v", len(state.Queued), c.Len(), changed)
			}
			pages := logtest.Read(s.Events[1:])
			pages.Prepend(s.Events[:1])
			if state := pages.State(); len(state.Queued) != 0 || pages.Len() != 1 {
				t.Errorf("in pages %d are queued, %d are shown", len(state.Queued), pages.Len())
			}
		})
	}
}

// TestTodoTasks holds that the list is also put together from the tools of newer versions.
func TestTodoTasks(t *testing.T) {
	var s logtest.Script
	for i, subject := range []string{"One", "Two", "Three"} {
		s.Call(fmt.Sprintf("t%d", i), "TaskCreate", `{"subject":"`+subject+`"}`, "")
		s.Gave(fmt.Sprintf("t%d", i), "created", false, fmt.Sprintf(`,"tool_use_result":{"task":{"id":"%d","subject":"%s"}}`, i+1, subject))
	}
	s.Call("u1", "TaskUpdate", `{"taskId":"1","status":"completed"}`, "")
	s.Call("u2", "TaskUpdate", `{"taskId":"2","status":"in_progress","activeForm":"Doing two"}`, "")
	s.Call("u3", "TaskUpdate", `{"taskId":"3","status":"deleted"}`, "")
	want := []transcript.Todo{{Text: "One", Status: "completed"}, {Text: "Two", Active: "Doing two", Status: "in_progress"}}
	if diff := cmp.Diff(want, logtest.Read(s.Events).State().Todos); diff != "" {
		t.Error(diff)
	}
	c := logtest.Read(s.Events[6:])
	c.Prepend(s.Events[:6])
	if diff := cmp.Diff(want, c.State().Todos); diff != "" {
		t.Error(diff)
	}
}

// TestFind holds that items are found by their ids, those that are being written as well.
func TestFind(t *testing.T) {
	c := logtest.Read(logtest.Whole())
	c.Event(streamed(start("m")))
	c.Event(streamed(open(0, `{"type":"text","text":"now"}`)))
	for i := range c.Len() {
		if at := c.Find(c.Item(i).ID); at != i {
			t.Errorf("item %d (%s) is found at %d", i, c.Item(i).ID, at)
		}
	}
	if c.Find("nothing") != -1 || c.Find("prompt:p3") != -1 {
		t.Error("something is found that is not there")
	}
}
