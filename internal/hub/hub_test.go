package hub_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// judge compares the log of a session's newest run with what its CLI wrote and
// read.
//
// What is on its way when it begins, such as the answer to a request of the hub's
// own, is waited for.
func (l *lab) judge(id string) {
	l.t.Helper()
	ctx := l.ctx()
	c, err := l.hub.Follow(ctx, id, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for {
		diff := l.differs(id)
		if diff == "" {
			return
		}
		if _, err := c.Next(ctx); err != nil {
			l.t.Errorf("%v; %s", err, diff)
			return
		}
	}
}

// differs says how the log of a session's newest run differs from what its CLI
// wrote and read.
func (l *lab) differs(id string) string {
	s := l.shimOf(id)
	var lines, sent []string
	for _, e := range l.events(id) {
		if e.Run != s.spec.Run {
			continue
		}
		switch e.Kind {
		case api.KindLine:
			lines = append(lines, string(e.Line))
		case api.KindSent:
			// A prompt that could not be written is sent again, under a new number.
			sent = slices.DeleteFunc(sent, func(line string) bool { return line == string(e.Line) })
			sent = append(sent, string(e.Line))
		}
	}
	if diff := cmp.Diff(s.lines(), lines); diff != "" {
		return "the log differs from what the CLI wrote:\n" + diff
	}
	if diff := cmp.Diff(s.commands(), sent); diff != "" {
		return "the log differs from what the CLI read:\n" + diff
	}
	return ""
}

func TestSession(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello", Title: "first"})
	done := l.awaitDone(s.ID, 1)
	if done.Text != "hello" || done.Title != "first" || done.Run != 1 || !done.Simulated || !done.Linked || done.Conversation == "" || done.Version != "2.1.325" {
		t.Errorf("the session is %s", encode(done))
	}
	if len(done.Init) == 0 || len(done.Initialize) == 0 {
		t.Error("init or the answer to initialize is missing")
	}
	l.judge(s.ID)
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].State != api.StateIdle || list.Sessions[0].Title != "first" {
		t.Errorf("the list is %s, %v", encode(list), err)
	}
	ended, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{})
	if err != nil {
		t.Fatal(err)
	}
	if ended.State != api.StateEnded || ended.Ended == nil || !strings.Contains(ended.Ended.Reason, "ada") {
		t.Errorf("after stop the session is %s", encode(ended))
	}
}

func TestQueue(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	// While it asks, prompts wait in the hub.
	first := l.send(s.ID, "@say one")
	second, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say two", ClientID: "c2"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say two", ClientID: "c2"})
	if err != nil || again.ID != second.ID {
		t.Errorf("the same client id gave %s, %v; want %s", encode(again), err, encode(second))
	}
	if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say other", ClientID: "c2"}); code(err) != api.CodeClientIDReused {
		t.Errorf("another message with the same client id: %v", err)
	}
	third := l.send(s.ID, "@say three")
	edited, err := l.hub.EditMessage(l.ctx(), person, s.ID, "c2", api.EditMessage{Text: "@say zwei"})
	if err != nil || edited.Text != "@say zwei" {
		t.Errorf("edit: %s, %v", encode(edited), err)
	}
	taken, err := l.hub.TakeBack(l.ctx(), person, s.ID, third.ID)
	if err != nil || taken.State != api.MessageTakenBack {
		t.Errorf("take back: %s, %v", encode(taken), err)
	}
	if _, err := l.hub.TakeBack(l.ctx(), person, s.ID, third.ID); code(err) != api.CodeNotQueued {
		t.Errorf("taking back twice: %v", err)
	}
	if got := len(l.snapshot(s.ID).Messages); got != 2 {
		t.Errorf("%d messages wait, want 2: %s", got, encode(l.snapshot(s.ID).Messages))
	}
	if _, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "allow"}); err != nil {
		t.Fatal(err)
	}
	done := l.awaitDone(s.ID, 3)
	if done.Text != "zwei" {
		t.Errorf("the last text is %q, want zwei", done.Text)
	}
	l.judge(s.ID)
	if _, err := l.hub.TakeBack(l.ctx(), person, s.ID, first.ID); code(err) != api.CodeNotQueued {
		t.Errorf("taking back what was worked on: %v", err)
	}
}

func TestQuestionSettledOnce(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	q := asked.Questions[0]
	if q.Kind != api.QuestionPermission || q.Tool != "Bash" || asked.State != api.StateRequiresAction {
		t.Errorf("the question is %s in a session that is %s", encode(q), asked.State)
	}
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "maybe"}); code(err) != api.CodeInvalid {
		t.Errorf("an answer that makes no sense: %v", err)
	}
	if open, err := l.hub.Questions(l.ctx(), api.QuestionFilter{State: api.QuestionOpen}); err != nil || len(open.Questions) != 1 {
		t.Errorf("after it the question is not open: %s, %v", encode(open), err)
	}
	type result struct {
		by  string
		err error
	}
	results := make(chan result)
	for i := range 8 {
		go func() {
			by := hub.Actor{Source: "person", Name: fmt.Sprint("p", i)}
			decision := "allow"
			if i%2 == 1 {
				decision = "deny"
			}
			_, err := l.hub.Answer(l.ctx(), by, q.ID, api.Answer{Decision: decision})
			results <- result{by.Name, err}
		}()
	}
	winner := ""
	var late []error
	for range 8 {
		if r := <-results; r.err == nil {
			if winner != "" {
				t.Errorf("%s and %s both answered", winner, r.by)
			}
			winner = r.by
		} else {
			late = append(late, r.err)
		}
	}
	for _, err := range late {
		var problem *api.Error
		if !errors.As(err, &problem) || problem.Code != api.CodeAlreadySettled || problem.Question == nil || problem.Question.By != winner {
			t.Errorf("a late answer got %v, want to be told of %s", err, winner)
		}
	}
	l.awaitDone(s.ID, 1)
	l.judge(s.ID)
	settled, err := l.hub.Question(l.ctx(), q.ID)
	if err != nil || settled.State != api.QuestionAnswered || settled.By != winner || settled.Answer == nil {
		t.Errorf("the question is %s, %v", encode(settled), err)
	}
}

// TestRestart ends the hub while a question is open and prompts wait, and goes on
// with another.
func TestRestart(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			l := newLab(t)
			l.launcher.version = version
			s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
			asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			l.send(s.ID, "@say after")
			l.restart()
			back := l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked })
			if len(back.Questions) != 1 || back.Questions[0].ID != asked.Questions[0].ID || len(back.Messages) != 2 && len(back.Messages) != 1 {
				t.Errorf("after the restart the session is %s", encode(back))
			}
			if _, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "allow"}); err != nil {
				t.Fatal(err)
			}
			done := l.awaitDone(s.ID, 2)
			if done.Text != "after" {
				t.Errorf("the last text is %q", done.Text)
			}
			l.judge(s.ID)
		})
	}
}

// TestCuts cuts the link again and again while lines stream.
func TestCuts(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	shim := l.launcher.of(s.ID)
	for i := range 10 {
		l.send(s.ID, fmt.Sprintf("@flood 50\n@say turn %d", i))
		shim.cut()
		shim.connect()
	}
	l.awaitDone(s.ID, 11)
	l.judge(s.ID)
}

func TestDeadShim(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.launcher.of(s.ID).kill()
	ended := l.awaitState(s.ID, api.StateEnded)
	if ended.Ended == nil || !strings.Contains(ended.Ended.Reason, "shim") || !ended.Ended.Unfinished {
		t.Errorf("it ended so: %s", encode(ended.Ended))
	}
	q, err := l.hub.Question(l.ctx(), asked.Questions[0].ID)
	if err != nil || q.State != api.QuestionCancelled {
		t.Errorf("the question is %s, %v", encode(q), err)
	}
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "allow"}); code(err) != api.CodeAlreadySettled {
		t.Errorf("answering it: %v", err)
	}
	if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "x", NoResume: true}); code(err) != api.CodeEnded {
		t.Errorf("a message that must not resume: %v", err)
	}
	l.send(s.ID, "@say again")
	done := l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "again" })
	if done.Run != 2 || done.Conversation != asked.Conversation {
		t.Errorf("after the resume: run %d, conversation %s; want 2, %s", done.Run, done.Conversation, asked.Conversation)
	}
	l.judge(s.ID)
}

func TestInterrupt(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if out, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{}); err != nil || out.Was {
		t.Errorf("interrupting an idle session: %s, %v", encode(out), err)
	}
	l.send(s.ID, `@tool Bash {"command":"make"}`)
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.send(s.ID, "@say never")
	out, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{CancelQueued: true})
	if err != nil || !out.Was || len(out.Taken) != 1 || out.Session.State != api.StateIdle || len(out.Session.Questions) != 0 {
		t.Errorf("interrupting a question: %s, %v", encode(out), err)
	}
	l.judge(s.ID)
}

func TestCreateFails(t *testing.T) {
	l := newLab(t)
	l.launcher.fail = errors.New("there is no Claude Code here")
	_, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir()})
	if code(err) != api.CodeStartFailed || !strings.Contains(err.Error(), "no Claude Code") {
		t.Errorf("got %v", err)
	}
	if list, err := l.hub.List(l.ctx(), api.SessionFilter{}); err != nil || len(list.Sessions) != 0 {
		t.Errorf("something is left: %s, %v", encode(list), err)
	}
	if _, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: "relative"}); code(err) != api.CodeInvalid {
		t.Errorf("a relative folder: %v", err)
	}
	first := l.create(api.CreateSession{Dir: "/", ClientID: "one"})
	second := l.create(api.CreateSession{Dir: "/", ClientID: "one"})
	if first.ID != second.ID {
		t.Errorf("one client id made sessions %s and %s", first.ID, second.ID)
	}
}

// TestInterruptRefused keeps the queue of a session whose turn cannot be interrupted,
// because its agent cannot be reached.
func TestInterruptRefused(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.send(s.ID, "@say later")
	l.launcher.listen(false)
	l.launcher.cutAll()
	l.awaitState(s.ID, api.StateOffline)
	if _, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{CancelQueued: true}); code(err) != api.CodeOffline {
		t.Errorf("an interrupt without a link: %v", err)
	}
	if now := l.snapshot(s.ID); len(now.Messages) != 1 || now.Messages[0].State != api.MessageQueued {
		t.Errorf("the messages are %s", encode(now.Messages))
	}
	l.launcher.connectAll()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateRequiresAction })
	out, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{CancelQueued: true})
	if err != nil || !out.Was || len(out.Taken) != 1 || len(out.Session.Messages) != 0 {
		t.Errorf("with one: %s, %v", encode(out), err)
	}
}
