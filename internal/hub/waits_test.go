package hub_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A gate holds up the calls that pass it while it is closed.
type gate struct {
	mu      sync.Mutex
	shut    chan struct{} // nil while it is open
	skip    int           // how many calls pass although it is closed
	reached chan struct{}
}

// close closes the gate but for a number of calls. The function that it returns opens
// it again.
func (g *gate) close(skip int) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	shut := make(chan struct{})
	g.shut, g.skip, g.reached = shut, skip, make(chan struct{}, 16)
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.shut = nil
		close(shut)
	})
}

// pass returns when the gate is open, or ctx ends.
func (g *gate) pass(ctx context.Context) {
	g.mu.Lock()
	shut, reached := g.shut, g.reached
	if g.skip--; g.skip >= 0 {
		shut = nil
	}
	g.mu.Unlock()
	if shut != nil {
		reached <- struct{}{}
		select {
		case <-shut:
		case <-ctx.Done():
		}
	}
}

// A slowJournal is a journal some of whose reads can be held up.
type slowJournal struct {
	*journal.SQLite

	entries, question, clientID, run gate
}

func (j *slowJournal) Entries(ctx context.Context, id string, after int64, limit int, maxBytes int64) ([]journal.Entry, error) {
	j.entries.pass(ctx)
	return j.SQLite.Entries(ctx, id, after, limit, maxBytes)
}

func (j *slowJournal) Question(ctx context.Context, id string) (*journal.Question, error) {
	j.question.pass(ctx)
	return j.SQLite.Question(ctx, id)
}

func (j *slowJournal) ClientID(ctx context.Context, scope, id string) (*journal.ClientID, error) {
	j.clientID.pass(ctx)
	return j.SQLite.ClientID(ctx, scope, id)
}

func (j *slowJournal) Run(ctx context.Context, id string, run int) (*journal.Run, error) {
	j.run.pass(ctx)
	return j.SQLite.Run(ctx, id, run)
}

// slow opens the lab anew with a journal whose reads can be held up.
func (l *lab) slow() *slowJournal {
	l.t.Helper()
	l.close()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	j := &slowJournal{SQLite: l.journal}
	l.options.Journal = j
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		l.t.Fatal(err)
	}
	return j
}

// TestNoStepWaits has calls wait for the journal, for a file or for a process: what
// others ask of the same session meanwhile is done.
func TestNoStepWaits(t *testing.T) {
	const failed = `{"type":"result","subtype":"error_during_execution","is_error":true,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"session_id":"c","total_cost_usd":0,"usage":{},"uuid":"r"}`
	for _, test := range []struct {
		name string
		// make returns a session, the gate at which call is held up, after how many
		// others, and the call.
		make func(t *testing.T, l *lab, j *slowJournal, process *gate) (id string, at *gate, skip int, call func() error)
	}{
		{"a client's own id", func(_ *testing.T, l *lab, j *slowJournal, _ *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			return s.id, &j.clientID, 0, func() error {
				_, err := l.hub.Send(l.ctx(), person, s.id, api.SendMessage{Text: "hello", ClientID: "c"})
				return err
			}
		}},
		{"a question that was answered", func(_ *testing.T, l *lab, j *slowJournal, _ *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			q := s.asks("r1", askBash)
			s.answer(q.ID, api.Answer{Decision: "allow"})
			return s.id, &j.question, 1, func() error {
				if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "deny"}); code(err) != api.CodeAlreadySettled || !strings.Contains(err.Error(), person.Name) {
					return errors.Join(errors.New("the second answer"), err)
				}
				return nil
			}
		}},
		{"the prompt of a failed turn", func(_ *testing.T, l *lab, j *slowJournal, _ *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			s.says(failed)
			return s.id, &j.entries, 0, func() error {
				m, err := l.hub.Retry(l.ctx(), person, s.id)
				if err == nil && m.Text != "hello" {
					err = errors.New("sent again was " + m.Text)
				}
				return err
			}
		}},
		{"a run that is over", func(_ *testing.T, l *lab, j *slowJournal, _ *gate) (string, *gate, int, func() error) {
			created, hello, a, _ := l.tee()
			a.Lost(nil)
			hello.Run = 7
			return created.ID, &j.run, 0, func() error {
				if _, _, err := l.hub.Attach(l.ctx(), hello, newDialler()); !errors.As(err, new(*hub.GoneError)) {
					return errors.Join(errors.New("it was attached"), err)
				}
				return nil
			}
		}},
		{"repeated lines", func(t *testing.T, l *lab, j *slowJournal, _ *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			said := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"c","uuid":"u2"}`
			s.says(said)
			return s.id, &j.entries, 0, func() error {
				more := strings.ReplaceAll(said, "u2", "u3")
				again := hub.Item{Record: link.Record{Kind: link.Line, Bytes: []byte(said)}, Repeat: true}
				if err := s.a.Receive(l.ctx(), []hub.Item{again, line(more)}); err != nil {
					return err
				}
				if got := kinds(l.events(s.id)); strings.Count(got, "line:assistant") != 2 {
					t.Errorf("the log is %s", got)
				}
				return nil
			}
		}},
		{"a program's process", func(t *testing.T, l *lab, _ *slowJournal, process *gate) (string, *gate, int, func() error) {
			l.launcher.alive(t, 7)
			created, hello, a, _ := l.tee()
			a.Lost(nil)
			hello.PID, hello.PIDStart = 7, "x"
			a, _, err := l.hub.Attach(l.ctx(), hello, newDialler())
			if err != nil {
				l.t.Fatal(err)
			}
			// The hub itself looks whether it lives when the link is lost.
			open := process.close(0)
			a.Lost(nil)
			<-process.reached
			open()
			return created.ID, process, 0, func() error {
				if _, err := l.hub.Stop(l.ctx(), person, created.ID, api.Stop{}); code(err) != api.CodeConflict {
					return errors.Join(errors.New("it was stopped"), err)
				}
				return nil
			}
		}},
		{"the file of a plan", func(t *testing.T, l *lab, _ *slowJournal, process *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			ask := `{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{}}}`
			return s.id, process, 0, func() error {
				// A question that comes meanwhile waits for its place in the log.
				if err := s.a.Receive(l.ctx(), []hub.Item{line(ask), line(bashQuestion("r2"))}); err != nil {
					return err
				}
				v := l.snapshot(s.id).Questions
				if len(v) != 2 || v[0].Kind != api.QuestionPlan || v[0].Plan.Text != "the plan" || v[1].RequestID != "r2" {
					t.Errorf("these are asked: %s", encode(v))
				}
				return nil
			}
		}},
		{"the files of plans that are listed", func(t *testing.T, l *lab, _ *slowJournal, process *gate) (string, *gate, int, func() error) {
			s := newStage(l, "2.1.120")
			ask := `{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{}}}`
			id := s.initializeID()
			return s.id, process, 0, func() error {
				if err := s.a.Receive(l.ctx(), []hub.Item{line(`{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{},"pending_permission_requests":[` + ask + `]}}`)}); err != nil {
					return err
				}
				v := l.snapshot(s.id).Questions
				if len(v) != 1 || v[0].Kind != api.QuestionPlan || v[0].Plan.Text != "the plan" {
					t.Errorf("these are asked: %s", encode(v))
				}
				return nil
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
			process := &gate{}
			l.launcher.planned, l.launcher.watched, l.launcher.plan = process.pass, process.pass, "the plan"
			j := l.slow()
			id, at, skip, call := test.make(t, l, j, process)
			open := at.close(skip)
			defer open()
			done := make(chan error, 1)
			go func() { done <- call() }()
			select {
			case <-at.reached:
			case err := <-done:
				t.Fatalf("it was not held up: %v", err)
			}
			l.snapshot(id)
			title := "meanwhile"
			if v, err := l.hub.Update(l.ctx(), person, id, api.UpdateSession{Title: &title}); err != nil || v.Title != title {
				t.Errorf("the title is %s, %v", encode(v), err)
			}
			open()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// initializeID returns the id of the hub's initialize request.
func (s *stage) initializeID() string {
	s.t.Helper()
	for _, e := range s.events(s.id) {
		if e.Kind == api.KindSent && strings.Contains(string(e.Line), `"initialize"`) {
			_, rest, _ := strings.Cut(string(e.Line), `"request_id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
	}
	s.t.Fatal("initialize was not sent")
	return ""
}

// TestPlanWhoseProcessEnds has the process of a plan killed, or the hub restarted, while
// the plan's file is read: the plan is not lost.
func TestPlanWhoseProcessEnds(t *testing.T) {
	for _, restart := range []bool{false, true} {
		l := planLab(t, "the plan")
		file := &gate{}
		l.launcher.planned = file.pass // not when the hub looks whether the process lives
		open := file.close(0)
		defer open()
		s := l.create(api.CreateSession{Prompt: planning, Options: api.SessionOptions{PermissionMode: "plan"}})
		<-file.reached
		if v := l.snapshot(s.ID); v.State != api.StateRunning || len(v.Questions) != 0 {
			t.Errorf("while the file is read the session is %s", encode(v))
		}
		if restart {
			l.restart()
			<-file.reached // the new hub reads it again
			open()
			if q := l.question(s.ID); q.Plan.Text != "the plan" || q.Stale {
				t.Errorf("the plan is %s", encode(q))
			}
			l.judge(s.ID)
			continue
		}
		l.launcher.of(s.ID).kill()
		l.snapshot(s.ID) // the session has been told that the link is lost
		open()
		v := l.await(s.ID, "it has ended", func(s *api.Session) bool { return s.State == api.StateEnded })
		if len(v.Questions) != 1 || !v.Questions[0].Stale || v.Questions[0].Plan.Text != "the plan" {
			t.Errorf("the plan is %s", encode(v.Questions))
		}
		l.rebuilt(s.ID, 1)
	}
}
