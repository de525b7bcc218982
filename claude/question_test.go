package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

const (
	bashAllowed = `{"behavior":"allow","updatedInput":{"command":"touch one"},"toolUseID":"toolu_1"}`
	bashDenied  = `{"behavior":"deny","message":"No.","toolUseID":"toolu_1"}`
)

// Without anybody to ask nothing is allowed, and dialogs are left alone.
func TestQuestionsWithoutHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", nil)
		deny := func(tool string) string {
			return fmt.Sprintf(`{"behavior":"deny","message":%q,"toolUseID":%q}`, nobodyAsked, tool)
		}
		for id, want := range map[string][2]string{
			"bash": {askBash, deny("toolu_1")}, "choice": {askChoice, deny("toolu_2")}, "plan": {askPlan, deny("toolu_3")},
			"form": {askForm, `{"action":"decline"}`}, "page": {askPage, `{"action":"decline"}`},
		} {
			f.asks(id, want[0])
			f.expectAnswer(t, id, want[1])
		}
		f.asks("dialog", askDialog) // which nobody has declared
		f.quiet(t)
		if open := s.Pending(); len(open) != 0 {
			t.Errorf("%d questions are open", len(open))
		}
	})
}

// A dialog of a kind that was declared can be answered; others are for others.
func TestQuestionDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true, DialogKinds: []string{"pick"}})
		f.asks("dialog", askDialog)
		f.asks("foreign", strings.ReplaceAll(askDialog, "pick", "other"))
		f.quiet(t)
		q := only(t, s).(*DialogQuestion)
		if err := s.Answer(t.Context(), "dialog", q.Complete("this")); err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "dialog", `{"behavior":"completed","result":"this"}`)
	})
}

func TestQuestionHandler(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(q *PermissionQuestion) (Reply, error)
		want  string
	}{
		"allow": {func(q *PermissionQuestion) (Reply, error) { return q.Allow(), nil }, bashAllowed},
		"deny":  {func(q *PermissionQuestion) (Reply, error) { return q.Deny("No."), nil }, bashDenied},
		"error": {
			func(q *PermissionQuestion) (Reply, error) { return q.Allow(), errors.New("the terminal is gone") },
			`{"behavior":"deny","message":"The question could not be answered: the terminal is gone","toolUseID":"toolu_1"}`,
		},
		"nothing": {
			func(*PermissionQuestion) (Reply, error) { return nil, nil },
			`{"behavior":"deny","message":"The question could not be answered: the question handler gave no answer","toolUseID":"toolu_1"}`,
		},
		"panic": {
			func(*PermissionQuestion) (Reply, error) { panic("oh no") },
			`{"behavior":"deny","message":"The question could not be answered: the question handler panicked: oh no","toolUseID":"toolu_1"}`,
		},
		"unfit": {
			func(q *PermissionQuestion) (Reply, error) { return q.AllowWith([]byte(`[1]`)), nil },
			`{"behavior":"deny","message":"The question could not be answered: `,
		},
		"another's": {
			func(*PermissionQuestion) (Reply, error) {
				return questionOf(&asked{request: &wire.ControlRequest{RequestID: "bash", Request: &wire.CanUseToolRequest{}}}).Decline("No."), nil
			},
			`{"behavior":"deny","message":"The question could not be answered: answering question bash: the reply was made for another question","toolUseID":"toolu_1"}`,
		},
	} {
		bubble(t, name, func(t *testing.T) {
			f, s, _ := askingSession(t, "2.1.325", &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
				return c.reply(q.(*PermissionQuestion))
			}})
			f.asks("bash", askBash)
			if got := answerBody(t, f.next(t), "bash"); !strings.HasPrefix(got, c.want) {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
			synctest.Wait()
			if open := s.Pending(); len(open) != 0 {
				t.Errorf("%d questions are open", len(open))
			}
			f.quiet(t)
		})
	}
}

// The model reads why a handler failed; the program's log has it too, with the
// place of a panic.
func TestQuestionHandlerFailureIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, s, _ := askingSession(t, "2.1.325", &Options{
			Logger:     slog.New(slog.NewTextHandler(&log, nil)),
			OnQuestion: func(context.Context, Question) (Reply, error) { panic("oh no") },
		})
		f.asks("bash", askBash)
		f.next(t)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantPart(t, log.String(), `level=ERROR msg="a function that the session called panicked" function="question handler" panic="oh no"`)
		wantPart(t, log.String(), "TestQuestionHandlerFailureIsLogged")
		wantPart(t, log.String(), "level=WARN")
	})
}

// The CLI takes questions back in several ways, and the handler is told.
func TestQuestionWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		how   func(f *fakeTransport)
		cause error
	}{
		"cancel": {func(f *fakeTransport) { f.withdraws("bash") }, ErrWithdrawn},
		"tool done": {func(f *fakeTransport) {
			f.say <- `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no"}]},"parent_tool_use_id":null,"session_id":"s"}`
		}, ErrWithdrawn},
		"turn over": {func(f *fakeTransport) {
			f.say <- `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"","session_id":"s","total_cost_usd":0,"uuid":"u"}`
		}, ErrWithdrawn},
		"end": {func(f *fakeTransport) { _ = f.die(io.ErrUnexpectedEOF) }, io.ErrUnexpectedEOF},
	} {
		bubble(t, name, func(t *testing.T) {
			handler, asked := handed()
			f, s, _ := askingSession(t, "2.1.325", &Options{OnQuestion: handler})
			f.asks("bash", askBash)
			h := <-asked
			c.how(f)
			<-h.ctx.Done()
			<-h.q.Done()
			if err := h.q.Err(); !errors.Is(err, ErrWithdrawn) {
				t.Errorf("Err: %v", err)
			}
			if cause := context.Cause(h.ctx); !errors.Is(cause, c.cause) {
				t.Errorf("the handler's context ended with %v", cause)
			}
			if err := s.Answer(t.Context(), "bash", h.q.(*PermissionQuestion).Allow()); !errors.Is(err, ErrWithdrawn) {
				t.Errorf("a late answer: %v", err)
			}
			if open := s.Pending(); len(open) != 0 {
				t.Errorf("%d questions are open", len(open))
			}
			f.quiet(t)
		})
	}
}

// A question that is taken back in the same breath is not asked, or its asking
// ends at once.
func TestQuestionWithdrawnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		for range 50 {
			f.asks("bash", askBash)
			f.say <- `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"","session_id":"s","total_cost_usd":0,"uuid":"u"}`
			synctest.Wait()
			if open := s.Pending(); len(open) != 0 {
				t.Fatalf("%d questions are open", len(open))
			}
		}
		f.quiet(t)
	})
}

// Whoever is first settles a question, the handler or Answer.
func TestQuestionSettledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, asked := handed()
		f, s, _ := askingSession(t, "2.1.325", &Options{OnQuestion: handler})
		f.asks("one", askBash)
		h := <-asked
		if err := s.Answer(t.Context(), "one", h.q.Decline("No.")); err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "one", bashDenied)
		<-h.ctx.Done()
		if cause := context.Cause(h.ctx); !errors.Is(cause, ErrSettled) {
			t.Errorf("the handler's context ended with %v", cause)
		}
		if err := s.Answer(t.Context(), "one", h.q.(*PermissionQuestion).Allow()); !errors.Is(err, ErrSettled) {
			t.Errorf("a second answer: %v", err)
		}
		if err := h.q.Err(); !errors.Is(err, ErrSettled) {
			t.Errorf("Err: %v", err)
		}
		f.quiet(t)

		// The handler leaves it to Answer.
		f.asks("two", askBash)
		h = <-asked
		h.reply(nil, ErrLater)
		f.quiet(t)
		q := only(t, s).(*PermissionQuestion)
		if err := s.Answer(t.Context(), "two", q.Allow()); err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "two", bashAllowed)

		if err := s.Answer(t.Context(), "three", q.Allow()); !errors.Is(err, ErrNoQuestion) {
			t.Errorf("an unknown question: %v", err)
		}
	})
}

// Of many answers at once one is sent.
func TestQuestionAnswerRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		f.asks("bash", askBash)
		q := only(t, s).(*PermissionQuestion)
		const many = 20
		outcomes := make(chan error, many)
		for range many {
			go func() { outcomes <- s.Answer(t.Context(), "bash", q.Allow()) }()
		}
		won := 0
		for range many {
			switch err := <-outcomes; {
			case err == nil:
				won++
			case !errors.Is(err, ErrSettled):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d answers were given", won)
		}
		f.expectAnswer(t, "bash", bashAllowed)
		f.quiet(t)
	})
}

// An answer that does not fit is refused, and the question stays open.
func TestQuestionUnfitReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.37", &Options{Pull: true})
		f.asks("one", askBash)
		one := only(t, s).(*PermissionQuestion)
		f.asks("two", askPlan)
		synctest.Wait()
		two := s.Pending()[1].(*PlanQuestion)
		for name, c := range map[string]struct {
			id string
			r  Reply
		}{
			"no object":      {"one", one.AllowWith([]byte(`"x"`))},
			"nothing":        {"one", nil},
			"another's":      {"one", two.Approve("")},
			"bypass":         {"one", one.AllowUpdating(&wire.SetMode{Mode: wire.PermissionModeBypassPermissions, Destination: wire.UpdateDestinationSession})},
			"bypass by plan": {"two", two.Approve(wire.PermissionModeBypassPermissions)},
			"edited plan":    {"two", two.ApproveWith(Approval{Plan: "2. Do it well."})}, // 2.1.37 would hand on the old one
		} {
			if err := s.Answer(t.Context(), c.id, c.r); err == nil {
				t.Errorf("%s: it was taken", name)
			}
		}
		f.quiet(t)
		if open := s.Pending(); len(open) != 2 {
			t.Errorf("%d questions are open, want 2", len(open))
		}
		// The version gets what it takes: without the tool call's id.
		if err := s.Answer(t.Context(), "one", one.Allow()); err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "one", `{"behavior":"allow","updatedInput":{"command":"touch one"}}`)
	})
}

// Questions yields each question once, and ends with the session.
func TestQuestionsPulled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		f.asks("one", askBash)
		synctest.Wait()
		seen := make(chan string)
		end := make(chan error, 1)
		go func() {
			for q, err := range s.Questions(t.Context()) {
				if err != nil {
					end <- err
					return
				}
				seen <- q.ID()
			}
			end <- nil
		}()
		if id := <-seen; id != "one" {
			t.Errorf("got %s", id)
		}
		f.asks("one", askBash) // once more, as it may be
		f.asks("gone", askBash)
		f.asks("two", askChoice)
		f.withdraws("gone")
		synctest.Wait()
		got := []string{<-seen}
		if got[0] == "gone" { // it was there when it was looked for
			got[0] = <-seen
		}
		if got[0] != "two" {
			t.Errorf("got %v", got)
		}
		if err := f.die(io.ErrUnexpectedEOF); err != nil {
			t.Fatal(err)
		}
		if err := <-end; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the end: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for q, err := range s.Questions(ctx) {
			if q != nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, %v", q, err)
			}
		}
	})
}

// What a CLI asked while nobody was connected is in its answer to initialize, and
// is asked once, even if it also comes by itself.
func TestQuestionRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true})
		f.asks("new", askBash)
		synctest.Wait()
		done := make(chan error, 1)
		go func() { _, err := s.Reinitialize(t.Context()); done <- err }()
		id := requestID(t, f.next(t))
		pending := func(id, body string) string {
			return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, body)
		}
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{},"pending_permission_requests":[` +
			pending("new", askBash) + "," + pending("old", askChoice) + `],"pending_user_dialog_requests":[]}}`
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		f.asks("old", askChoice)
		synctest.Wait()
		open := s.Pending()
		if len(open) != 2 || open[0].ID() != "new" || open[1].ID() != "old" || open[0].Recovered() || !open[1].Recovered() {
			t.Fatalf("open: %v", open)
		}
		if err := s.Answer(t.Context(), "old", open[1].(*ChoiceQuestion).Pick("A")); err != nil {
			t.Fatal(err)
		}
		wantPart(t, f.next(t), `"answers":{"Which?":"A"}`)
		f.quiet(t)

		// A second list still has it: the answer was lost, and is given again. What
		// the list does not have is not asked any more.
		go func() { _, err := s.Reinitialize(t.Context()); done <- err }()
		id = requestID(t, f.next(t))
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{},"pending_permission_requests":[` + pending("old", askChoice) + `]}}`
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		wantPart(t, f.next(t), `"answers":{"Which?":"A"}`)
		<-open[0].Done()
		if err := open[0].Err(); !errors.Is(err, ErrWithdrawn) {
			t.Error(err)
		}
		if open := s.Pending(); len(open) != 0 {
			t.Errorf("open: %v", open)
		}
		f.quiet(t)
	})
}

// An older CLI refuses to be initialized twice, and lists its questions with that.
func TestQuestionRecoveredFromRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.120", &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) { return q.Decline("No."), nil }})
		done := make(chan error, 1)
		go func() {
			a, err := s.Reinitialize(t.Context())
			if a != nil {
				err = errors.New("there is an answer")
			}
			done <- err
		}()
		id := requestID(t, f.next(t))
		f.say <- `{"type":"control_response","response":{"subtype":"error","error":"Already initialized","request_id":"` + id + `","pending_permission_requests":[{"type":"control_request","request_id":"old","request":` + askBash + `}]}}`
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		f.expectAnswer(t, "old", bashDenied)
	})
}

// A session can be closed while somebody thinks about a question, also if he does
// not hear that it is over.
func TestCloseDuringQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		called := make(chan Question, 1)
		f, s, _ := askingSession(t, "2.1.325", &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			called <- q
			<-deaf
			return q.(*PermissionQuestion).Allow(), nil
		}})
		f.asks("bash", askBash)
		q := <-called
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := q.Err(); !errors.Is(err, ErrWithdrawn) || !errors.Is(err, ErrClosed) {
			t.Errorf("Err: %v", err)
		}
		if err := s.Answer(t.Context(), "bash", q.Decline("")); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("a late answer: %v", err)
		}
		close(deaf)
		synctest.Wait()
		for len(f.heard) > 0 {
			if line := <-f.heard; strings.Contains(line, "control_response") {
				t.Errorf("written: %s", line)
			}
		}
	})
}

// Questions tell who asks and what, in a line.
func TestQuestionDescribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{Pull: true, DialogKinds: []string{"pick"}})
		for _, c := range []struct {
			body, title, agent, tool string
			kind                     fold.Kind
		}{
			{askBash, "touch one", "", "toolu_1", fold.KindPermission},
			{`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"x"},"tool_use_id":"t","agent_id":"a1","title":"Run x"}`, "Run x", "a1", "t", fold.KindPermission},
			{askChoice, "Which?", "", "toolu_2", fold.KindChoice},
			{`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[]},"tool_use_id":"t"}`, "", "", "t", fold.KindPermission},
			{askPlan, "Carry out the plan?", "", "toolu_3", fold.KindPlan},
			{askForm, "forms: Your name?", "", "", fold.KindForm},
			{askDialog, "Dialog pick", "", "", fold.KindDialog},
		} {
			f.asks("q", c.body)
			q := only(t, s)
			if q.Kind() != c.kind || q.AgentID() != c.agent || q.ToolUseID() != c.tool || c.title != "" && q.Title() != c.title || q.Title() == "" || q.Ask().RequestID != "q" {
				t.Errorf("%s: kind %q, title %q, agent %q, tool %q", c.body, q.Kind(), q.Title(), q.AgentID(), q.ToolUseID())
			}
			f.withdraws("q")
			synctest.Wait()
		}
	})
}
