package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeHub has one session.
type fakeHub struct {
	mu        sync.Mutex
	session   api.Session
	events    []api.Event
	changed   chan struct{}
	questions []api.Question
	calls     []string
	refuse    error // what sending gives
	reset     bool  // the first verdict is a reset
	away      bool  // snapshots after the first fail
	looked    int
	cut       chan struct{} // the stream breaks off, and goes on
}

func newFakeHub() *fakeHub {
	return &fakeHub{session: api.Session{ID: "s1", State: api.StateIdle, LastEventID: "e:0"}, changed: make(chan struct{})}
}

// happen adds events and sets the state, which stays as it is if it is empty.
func (h *fakeHub) happen(state api.State, events ...api.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		e.Seq, e.Session = int64(len(h.events)+1), "s1"
		h.events = append(h.events, e)
	}
	if state != "" {
		h.session.State = state
		h.events = append(h.events, api.Event{Seq: int64(len(h.events) + 1), Session: "s1", Kind: api.KindState, Data: data(map[string]any{"state": state})})
	}
	h.session.LastEventID = "e:" + strconv.Itoa(len(h.events))
	close(h.changed)
	h.changed = make(chan struct{})
}

// asks sets what the session asks.
func (h *fakeHub) asks(questions ...api.Question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session.Questions = questions
}

func (h *fakeHub) called(call string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
}

func (h *fakeHub) Session(_ context.Context, id string) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looked++; h.looked > 1 && h.away {
		return nil, errors.New("connection refused")
	}
	if id != h.session.ID {
		return nil, api.Errorf(404, api.CodeNotFound, "there is no session %s", id)
	}
	s := h.session
	return &s, nil
}

func (h *fakeHub) Send(_ context.Context, _ string, m api.SendMessage) (*api.Message, error) {
	h.called("send " + m.Text)
	return &api.Message{}, h.refuse
}

func (h *fakeHub) Interrupt(context.Context, string, api.Interrupt) (*api.Interrupted, error) {
	h.called("interrupt")
	return &api.Interrupted{}, nil
}

func (h *fakeHub) Stop(context.Context, string, api.Stop) (*api.Session, error) {
	h.called("stop")
	return &api.Session{}, nil
}

func (h *fakeHub) Questions(_ context.Context, f api.QuestionFilter) (*api.QuestionList, error) {
	if f.Session != "s1" || f.State != api.QuestionOpen {
		return nil, errors.New("asked for other questions")
	}
	return &api.QuestionList{Questions: h.questions}, nil
}

func (h *fakeHub) Answer(_ context.Context, id string, a api.Answer) (*api.Question, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	h.called("answer " + id + " " + string(text))
	if id == "qsettled" {
		return nil, &api.Error{Code: api.CodeAlreadySettled, Title: "settled", Question: &api.Question{ID: id, State: api.QuestionAnswered, By: "bob", Answer: &api.Answer{Decision: "deny", Message: "no"}}}
	}
	return &api.Question{}, nil
}

func (h *fakeHub) AddRule(_ context.Context, _ string, in api.AddRule) (*api.SessionRule, error) {
	h.called("rule " + string(data(in)))
	return &api.SessionRule{}, h.refuse
}

func (h *fakeHub) RemoveRule(_ context.Context, _, rule string) (*api.SessionRule, error) {
	h.called("unrule " + rule)
	return &api.SessionRule{}, nil
}

func (h *fakeHub) Release(_ context.Context, _ string, in api.Release) (*api.Session, error) {
	h.called("release " + string(data(in)))
	return &api.Session{}, nil
}

func (h *fakeHub) Follow(ctx context.Context, _ string) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		verdict := &api.Verdict{Resume: "ok"}
		if h.reset {
			verdict.Resume = "reset"
		}
		if !yield(api.Frame{Type: api.FrameResume, Resume: verdict}, nil) {
			return
		}
		for next := 0; ; {
			h.mu.Lock()
			events, changed := h.events[next:], h.changed
			h.mu.Unlock()
			for i := range events {
				next++
				if !yield(api.Frame{Type: api.FrameEvent, Event: &events[i]}, nil) {
					return
				}
			}
			if len(events) > 0 {
				continue
			}
			select {
			case <-changed:
			case <-h.cut:
				if !yield(api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "gap"}}, nil) {
					return
				}
			case <-ctx.Done():
				yield(api.Frame{}, ctx.Err())
				return
			}
		}
	}
}

func data(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func line(text string) api.Event { return api.Event{Kind: api.KindLine, Line: json.RawMessage(text)} }

// permission, choice, plan, form and dialog are questions.
var (
	permission = api.Question{ID: "qperm", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", Request: json.RawMessage(
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -rf \u001b[31m/"}}}`)}
	choice = api.Question{
		ID: "qcho", Kind: api.QuestionChoice, State: api.QuestionOpen, Request: json.RawMessage(
			`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[` +
				`{"question":"Which?","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]},` +
				`{"question":"And?","multiSelect":true,"options":[{"label":"One","description":"1"},{"label":"Two","description":"2"}]}]}}`),
		Choices: []api.Choice{
			{Question: "Which?", Options: []api.Option{{Label: "Red", Description: "warm"}, {Label: "Blue", Description: "cold"}}},
			{Question: "And?", Multiple: true, Options: []api.Option{{Label: "One", Description: "1"}, {Label: "Two", Description: "2"}}},
		},
	}
	plan = api.Question{ID: "qplan", Kind: api.QuestionPlan, State: api.QuestionOpen, Request: json.RawMessage(
		`{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"# Plan\n\nquestion qx: Run this command?"}}`)}
	form = api.Question{ID: "qform", Kind: api.QuestionForm, State: api.QuestionOpen, Request: json.RawMessage(
		`{"subtype":"elicitation","mcp_server_name":"notes","message":"Where?","requested_schema":{"type":"object","properties":{"to":{"type":"string","default":"top"},"why":{"type":"string"}},"required":["to"]}}`)}
	strictForm = api.Question{ID: "qstrict", Kind: api.QuestionForm, State: api.QuestionOpen, Request: json.RawMessage(
		`{"subtype":"elicitation","mcp_server_name":"notes","message":"Where?","requested_schema":{"type":"object","properties":{"why":{"type":"string"}},"required":["why"]}}`)}
	dialog   = api.Question{ID: "qdia", Kind: api.QuestionDialog, State: api.QuestionOpen, Request: json.RawMessage(`{"subtype":"request_user_dialog"}`)}
	settled1 = api.Question{ID: "qsettled", Kind: api.QuestionPermission, State: api.QuestionOpen, Request: permission.Request}
)

// TestShow compares what is written of a log with golden files: as one that is over, and as it comes.
func TestShow(t *testing.T) {
	code := 3
	hub := newFakeHub()
	hub.reset = true
	hub.happen(api.StateIdle,
		api.Event{Kind: api.KindCreated, Data: data(map[string]any{"dir": "/p", "title": "Tidy"})},
		api.Event{Kind: api.KindRunStarted, Run: 2},
	)
	hub.happen(api.StateRunning,
		api.Event{Kind: api.KindMessage, Data: data(api.Message{ID: "m1", State: api.MessageQueued, Text: "Hello\nthere", UUID: "u1", By: "ann"})},
		line(`{"type":"user","uuid":"u1","isReplay":true,"message":{"role":"user","content":"Hello\nthere"}}`),
		line(`{"type":"user","uuid":"u2","message":{"role":"user","content":[{"type":"text","text":"from elsewhere"}]}}`),
		line(`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm  hm"},{"type":"text","text":"I look.\n\tquestion q9: Run this command?\u001b]0;title\u0007\u202e"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/p/x"}}]}}`),
		line(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"one\ntwo\nthree"}]}}`),
		line(`{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"tool_use","id":"t2","name":"Odd","input":{"a":1}},{"type":"tool_use","id":"t3","name":"Bare","input":{}},{"type":"tool_use","id":"t4","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}},{"type":"tool_use","id":"t5","name":"ExitPlanMode","input":{"plan":"x"}}]}}`),
		line(`{"type":"user","parent_tool_use_id":"t","message":{"role":"user","content":[{"type":"tool_result","is_error":true,"tool_use_id":"t2","content":[{"type":"text","text":"no"}]},{"type":"tool_result","tool_use_id":"t3","content":""}]}}`),
	)
	var events []api.Event
	for _, q := range []api.Question{permission, choice, plan, form, dialog} {
		events = append(events, api.Event{Kind: api.KindQuestionOpened, Data: data(q)})
	}
	hub.happen(api.StateRequiresAction, events...)
	answered := func(q api.Question, state api.QuestionState, by, reason string, a *api.Answer) api.Event {
		q.State, q.By, q.Reason, q.Answer = state, by, reason, a
		return api.Event{Kind: api.KindQuestionSettled, Data: data(q)}
	}
	hub.happen(api.StateRunning,
		answered(permission, api.QuestionAnswered, "ann", "", &api.Answer{Decision: "deny", Message: "too hot"}),
		answered(choice, api.QuestionAnswered, "bob", "", &api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"Red"}, Text: "dark"}}}),
		answered(form, api.QuestionAnsweredTooLate, "", "", &api.Answer{Decision: "accept", Content: json.RawMessage(`{"to":"top"}`)}),
		answered(plan, api.QuestionCancelled, "", "the turn was interrupted", nil),
		answered(dialog, api.QuestionAnswered, "ann", "", nil),
		api.Event{Kind: api.KindMessage, Data: data(api.Message{ID: "m2", State: api.MessageNotDelivered, Content: json.RawMessage(`[{"type":"text","text":"lost"}]`), Reason: "the process ended"})},
		api.Event{Kind: api.KindMessage, Data: data(api.Message{ID: "m3", State: api.MessageWritten, Text: "written"})},
		api.Event{Kind: api.KindGap, Data: data(api.Gap{Reason: "the link was cut"})},
		api.Event{Kind: api.KindGap, Data: data(api.Gap{Reason: "a backup was restored", Certain: true})},
		api.Event{Kind: api.KindOversize, Data: data(api.Oversize{Length: 999})},
		api.Event{Kind: api.KindNotice, Data: data(api.Notice{Text: "look out"})},
		api.Event{Kind: api.KindNotice, Data: json.RawMessage(`"not an object"`)},
		api.Event{Kind: api.KindLinkLost, Data: data(map[string]string{"reason": "the connection broke"})},
		api.Event{Kind: api.KindLine, Text: "no JSON\x1b"},
		line(`{"type":"of_tomorrow","x":1}`),
		line(`{"type":"system","subtype":"init"}`),
		line(`{"type":"result","subtype":"success","is_error":false,"num_turns":4,"result":"fine"}`),
		line(`{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"no login"}`),
		line(`{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":9}`),
		api.Event{Kind: api.KindRunEnded, Data: data(api.Ended{Reason: "it was killed", Code: &code, Stderr: "a\nb"})},
		api.Event{Kind: "of_tomorrow"},
	)
	for _, mode := range []string{"past", "live"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub.changed = make(chan struct{}) // one of this bubble
				if hub.looked = 0; mode == "live" {
					hub.session.LastEventID = "e:0" // all comes while one looks
				}
				ctx, cancel := context.WithCancel(t.Context())
				var out bytes.Buffer
				done := make(chan error)
				go func() { done <- Attach(ctx, hub, "s1", &Options{Out: &out, Hints: true}) }()
				synctest.Wait()
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				golden(t, "show-"+mode+".txt", out.String())
			})
		})
	}
}

func TestCommands(t *testing.T) {
	tests := []struct {
		name, in string
		refuse   error
		calls    []string
		out      []string
	}{
		{"messages", "hello\n\n  /path is a message only so: \n//slash\n", nil, []string{"send hello", "send /slash"}, []string{"unknown command /path", "write //path"}},
		{"interrupt", "/interrupt\n", nil, []string{"interrupt"}, []string{"No turn was running"}},
		{"stop", "/stop\n", nil, []string{"stop"}, nil},
		{"help", "/help\n", nil, nil, []string{"/answer ID TEXT"}},
		{"quit", "/quit\nnever read\n", nil, nil, nil},
		{"unsent", "hello\n", errors.New("the server is away"), []string{"send hello"}, []string{"That failed: the server is away"}},
		{"allow", "/allow qperm\n", nil, []string{`answer qperm {"decision":"allow"}`}, nil},
		{"short id", "/deny qpe  not that \n", nil, []string{`answer qperm {"decision":"deny","message":"not that"}`}, nil},
		{"id that is not clear", "/allow q\n", nil, nil, []string{"11 open questions begin with q"}},
		{"id that is not there", "/allow x\n", nil, nil, []string{"no open question of this session is called x"}},
		{"no id", "/allow\n", nil, nil, []string{"which question?"}},
		{"allow with words", "/allow qperm but slowly\n", nil, nil, []string{`send "but slowly" as a message`}},
		{"plan", "/allow qplan\n", nil, []string{`answer qplan {"decision":"allow"}`}, nil},
		{"choice by number", "/answer qcho 2; 1,2\n", nil, []string{`answer qcho {"decision":"allow","choices":{"And?":{"labels":["One","Two"]},"Which?":{"labels":["Blue"]}}}`}, nil},
		{"choice by label and words", "/answer qcho red; none of these\n", nil, []string{`answer qcho {"decision":"allow","choices":{"And?":{"text":"none of these"},"Which?":{"labels":["Red"]}}}`}, nil},
		{"choice skipped in part", "/answer qcho -; 2\n", nil, []string{`answer qcho {"decision":"allow","choices":{"And?":{"labels":["Two"]},"Which?":{"skip":true}}}`}, nil},
		{"choice in words that are a number, or -", "/answer qcho \"2\"; \"-\"\n", nil, []string{`answer qcho {"decision":"allow","choices":{"And?":{"text":"-"},"Which?":{"text":"2"}}}`}, nil},
		{"too few answers", "/answer qcho 1\n", nil, nil, []string{"qcho has 2 questions, and 1 answer was given; a semicolon between them, - to skip one"}},
		{"an empty answer", "/answer qcho 1;\n", nil, nil, []string{`no answer to "And?"`}},
		{"two where one is possible", "/answer qcho 1,2;1\n", nil, nil, []string{"takes one answer only"}},
		{"number that is not there", "/answer qcho 3;1\n", nil, []string{`answer qcho {"decision":"allow","choices":{"And?":{"labels":["One"]},"Which?":{"text":"3"}}}`}, nil},
		{"allow a choice", "/allow qcho\n", nil, nil, []string{"choose with: /answer qcho NUMBER"}},
		{"skip a choice", "/deny qcho\n", nil, []string{`answer qcho {"decision":"deny"}`}, nil},
		{"always", "/allow qsug 2\n", nil, []string{`answer qsug {"decision":"allow","always":{"suggestion":1}}`}, nil},
		{"always, elsewhere", "/allow qsug 1  userSettings\n", nil, []string{`answer qsug {"decision":"allow","always":{"suggestion":0,"destination":"userSettings"}}`}, nil},
		{"no such suggestion", "/allow qsug 3\n/allow qsug 0\n/allow qperm 1\n", nil, nil, []string{"2 suggestions", "none of them number 3", "none of them number 0", "0 suggestions"}},
		{"no such place", "/allow qsug 1 cloud\n/allow qsug 1 switchboard\n", nil, nil, []string{`save it in "cloud"; use one of: session, local`, "can't be saved in switchboard"}},
		{"deny and stop", "/abort qperm enough\n/abort qform\n", nil, []string{`answer qperm {"decision":"deny","message":"enough","interrupt":true}`}, []string{"can't be aborted"}},
		{"plan by number", "/answer qrev 2 compact\n", nil, []string{`answer qrev {"outcome":"accept_edits","compact":true}`}, nil},
		{"plan by name", "/answer qrev fresh bypass no-prompts\n", nil, []string{`answer qrev {"outcome":"fresh","mode":"bypassPermissions","no_prompts":true}`}, nil},
		{"plan with feedback", "/answer qrev revise tests first; then code\n", nil, []string{`answer qrev {"message":"tests first; then code","outcome":"revise"}`}, nil},
		{"plan without feedback", "/answer qrev revise\n", nil, nil, []string{"what should change?"}},
		{"plan rejected", "/answer qrev reject\n/answer qrev 5 not now\n", nil, []string{`answer qrev {"outcome":"reject"}`, `answer qrev {"message":"not now","outcome":"reject"}`}, nil},
		{"plan paused", "/answer qrev 6\n/answer qrev outline slowly\n", nil, []string{`answer qrev {"outcome":"outline"}`}, []string{"to change the plan write /answer qrev revise"}},
		{"approval with words", "/answer qrev ask but tests first\n", nil, nil, []string{"to change the plan write /answer qrev revise"}},
		{"no such outcome", "/answer qrev maybe\n/answer qrev 7\n/answer qrev 0\n/answer qplan 1\n", nil, nil, []string{"qrev can be answered with one of: 1 fresh, 2 accept_edits, 3 ask, 4 revise, 5 reject, 6 outline", "qplan can be"}},
		{"stale plan", "/answer qsta ask\n/answer qsta revise more\n", nil, []string{`answer qsta {"message":"more","outcome":"revise"}`}, []string{"qsta can be answered with one of: 1 fresh, 2 revise"}},
		{"form filled in", `/answer qstrict {"why": "so"}` + "\n", nil, []string{`answer qstrict {"decision":"accept","content":{"why":"so"}}`}, nil},
		{"form filled in badly", "/answer qstrict so\n/answer qstrict null\n/answer qstrict\n", nil, nil, []string{"fill in a form with a JSON object"}},
		{"dialog answered", `/answer qdia {"a":1}` + "\n/answer qdia yes\n/answer qdia {\n/answer qdia\n", nil, []string{`answer qdia {"decision":"choose","result":{"a":1}}`, `answer qdia {"decision":"choose","result":"yes"}`}, []string{"isn't valid JSON", "which result?"}},
		{"rule", "/rule deny Bash(git push:*)\n", nil, []string{`rule {"rule":"Bash(git push:*)","decision":"deny"}`}, nil},
		{"rule for a while", "/rule allow * for 30m\n", nil, []string{`rule {"rule":"*","decision":"allow","for":1800}`}, nil},
		{"rule with for in it", "/rule ask Bash(wait for it)\n", nil, []string{`rule {"rule":"Bash(wait for it)","decision":"ask"}`}, nil},
		{"rule that is none", "/rule\n/rule warn Bash\n/rule deny\n/rule allow * for 1ms\n", nil, nil, []string{"/rule deny Bash(git push:*)", "at least a second"}},
		{"rule refused", "/rule allow *\n", errors.New("needs an end"), []string{`rule {"rule":"*","decision":"allow"}`}, []string{"That failed: needs an end"}},
		{"rule removed", "/unrule r1\n/unrule\n", nil, []string{"unrule r1"}, []string{"which rule?"}},
		{"release", "/release\n/release h1\n", nil, []string{`release {}`, `release {"hold":"h1"}`}, nil},
		{"answer what is no choice", "/answer qperm 1\n", nil, nil, []string{"answer with: /allow qperm, or: /deny qperm"}},
		{"form", "/allow qform\n", nil, []string{`answer qform {"decision":"accept","content":{"to":"top"}}`}, nil},
		{"form that needs more", "/allow qstrict\n", nil, nil, []string{`"why" of the form is required; fill it in with /answer qstrict {`}},
		{"decline a form", "/deny qform\n/deny qform why\n", nil, []string{`answer qform {"decision":"decline"}`}, []string{"it takes no reason", "write /deny qform alone"}},
		{"page visited", "/allow qpage\n", nil, []string{`answer qpage {"decision":"accept"}`}, nil},
		{"dialog", "/deny qdia\n/allow qdia\n", nil, []string{`answer qdia {"decision":"cancel"}`}, []string{"choose with: /answer qdia RESULT"}},
		{"too late", "/allow qsettled\n", nil, []string{`answer qsettled {"decision":"allow"}`}, []string{"already answered by someone else: qsettled was denied by bob"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hub := newFakeHub()
			hub.refuse = test.refuse
			hub.questions = []api.Question{permission, choice, plan, form, strictForm, dialog, settled1, suggesting, review1, stale1, page}
			var out bytes.Buffer
			if err := Attach(t.Context(), hub, "s1", &Options{In: strings.NewReader(test.in), Out: &out}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(hub.calls, test.calls) {
				t.Errorf("called %q, want %q", hub.calls, test.calls)
			}
			said, first := strings.CutPrefix(out.String(), "This is session s1.\n")
			if !first {
				t.Errorf("it does not begin with the session's id:\n%s", &out)
			}
			for _, part := range test.out {
				if !strings.Contains(said, part) {
					t.Errorf("no %q in:\n%s", part, said)
				}
			}
			if len(test.out) == 0 && said != "" {
				t.Errorf("it said %q", said)
			}
		})
	}
}

// TestWait follows a session after the end of the input until it has nothing more to do.
func TestWait(t *testing.T) {
	tests := []struct {
		name   string
		end    func(*fakeHub)
		reason string // of the error
	}{
		{"idle", func(h *fakeHub) { h.happen(api.StateIdle) }, ""},
		{"failed", func(h *fakeHub) {
			h.session.Result = &api.TurnResult{Subtype: "error_max_turns", Failed: true}
			h.happen(api.StateIdle)
		}, "the last turn failed (max turns)"},
		{"interrupted", func(h *fakeHub) {
			h.session.Result = &api.TurnResult{Failed: true, Interrupted: true}
			h.happen(api.StateIdle)
		}, ""},
		{"killed", func(h *fakeHub) {
			h.session.Ended = &api.Ended{Reason: "somebody killed it", Unfinished: true}
			h.happen(api.StateEnded)
		}, "somebody killed it"},
		{"a plan that outlived its process", func(h *fakeHub) {
			h.asks(plan)
			h.happen(api.StateEnded)
			synctest.Wait()
			h.asks(stale1)
			h.happen("", api.Event{Kind: api.KindQuestionChanged, Data: data(stale1)})
		}, ""},
		{"a message that is known to be written when the turn is over", func(h *fakeHub) {
			h.session.Messages = []api.Message{{ID: "m1", State: api.MessageSent}}
			h.happen(api.StateIdle)
			synctest.Wait()
			h.mu.Lock()
			h.session.Messages = nil
			h.mu.Unlock()
			h.happen("", api.Event{Kind: api.KindMessage, Data: data(api.Message{ID: "m1", State: api.MessageWritten})})
		}, ""},
		{"asked in between", func(h *fakeHub) {
			h.happen(api.StateRequiresAction)
			h.happen(api.StateRunning)
			h.happen(api.StateIdle)
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := newFakeHub()
				hub.happen(api.StateRunning)
				var out bytes.Buffer
				done := make(chan error)
				go func() {
					done <- Attach(t.Context(), hub, "s1", &Options{In: strings.NewReader("hello\n"), Out: &out, Wait: true})
				}()
				synctest.Wait()
				select {
				case err := <-done:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
				test.end(hub)
				err := <-done
				turn, ok := errors.AsType[*TurnError](err)
				if test.reason == "" && err != nil || test.reason != "" && (!ok || !strings.Contains(turn.Reason, test.reason)) {
					t.Errorf("ended with %v, want %q", err, test.reason)
				}
				if !strings.Contains(out.String(), "state: "+string(hub.session.State)+"\n") {
					t.Errorf("the end was not shown:\n%s", &out)
				}
			})
		})
	}
}

// TestWaitOverRestart has the server away at the very moment at which the input ends.
func TestWaitOverRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newFakeHub()
		hub.away, hub.cut = true, make(chan struct{})
		hub.happen(api.StateIdle)
		var out bytes.Buffer
		done := make(chan error)
		go func() {
			done <- Attach(t.Context(), hub, "s1", &Options{In: strings.NewReader(""), Out: &out, Wait: true})
		}()
		synctest.Wait()
		hub.mu.Lock()
		hub.away = false
		hub.mu.Unlock()
		hub.cut <- struct{}{}
		if err := <-done; err != nil || !strings.HasSuffix(out.String(), "Something was removed from the log here.\n") {
			t.Errorf("%v:\n%s", err, &out)
		}
	})
}

func TestAttachFails(t *testing.T) {
	var out bytes.Buffer
	if err := Attach(t.Context(), newFakeHub(), "s2", &Options{Out: &out}); err == nil || !strings.Contains(err.Error(), "no session s2") {
		t.Errorf("another session: %v", err)
	}
	hub := newFakeHub()
	hub.refuse = errors.New("the server is away")
	if err := Attach(t.Context(), hub, "s1", &Options{In: strings.NewReader("hello\nmore\n"), Out: &out, Wait: true}); !errors.Is(err, hub.refuse) || len(hub.calls) != 1 {
		t.Errorf("input that cannot be sent: %v after %q", err, hub.calls)
	}
	hub = newFakeHub()
	hub.happen(api.StateIdle)
	reader, writer := io.Pipe()
	_ = reader.Close()
	if err := Attach(t.Context(), hub, "s1", &Options{In: strings.NewReader(""), Out: writer, Wait: true}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("output that nobody reads: %v", err)
	}
	broken := errors.New("unplugged")
	failing, feed := io.Pipe()
	_ = feed.CloseWithError(broken)
	if err := Attach(t.Context(), newFakeHub(), "s1", &Options{In: failing, Out: &out}); !errors.Is(err, broken) {
		t.Errorf("input that breaks: %v", err)
	}
}

// TestDetails shows a question whole: what is cut off could be what matters.
func TestDetails(t *testing.T) {
	long := strings.Repeat("echo ok; ", 1000) + "rm -rf /"
	for input, want := range map[string]string{
		`{"command":"` + long + `","timeout":5}`: "\ncommand: " + long + "\ntimeout: 5",
		`{"new":"a\nb\n","x":{"y":1}}`:           "\nnew: \n  a\n  b\nx: {\"y\":1}",
		`[1]`:                                    "\n[1]",
		`{"a":1,"a":2}`:                          "\na: 2",
		`{"c":"rm","x\ncommand: ls\ny":"z"}`:     "\nc: rm\nx command: ls y: z",
	} {
		if got := details(json.RawMessage(input)); got != want {
			t.Errorf("%.60s is shown as %q", input, got)
		}
	}
	huge := details(json.RawMessage(`{"a":"` + strings.Repeat("x", 2*maxDetail) + `"}`))
	if !strings.HasSuffix(huge, "(65536 bytes more, NOT SHOWN)") {
		t.Errorf("it ends %q", huge[len(huge)-60:])
	}
}

// TestPosing has a choice and a form whose texts try to pass for other options and values than those that count.
func TestPosing(t *testing.T) {
	set := []api.Choice{{Question: "Delete all?\n  1 No", Header: "a\nb", Options: []api.Option{
		{Label: "Yes\n  2 No - keep all", Description: "gone\n  3 Cancel", Preview: "x\n  2 No\n" + strings.Repeat("y\n", 20)}, {Label: "No"},
	}}}
	want := "a b - Delete all? 1 No\n  1 Yes 2 No - keep all - gone 3 Cancel\n    | x\n    |   2 No\n" + strings.Repeat("    | y\n", 18) + "    | … (2 more lines)\n  2 No"
	if got := listed(set); got != want {
		t.Errorf("the choice is shown as %q, want %q", got, want)
	}
	long := strings.Repeat("x", 1000)
	form := &wire.ElicitationRequest{URL: "https://example.com/\x1b[2J", RequestedSchema: json.RawMessage(
		`{"properties":{"a\nb":{"default":"` + long + `"},"c":{}}}`)}
	if got, want := filled(form), "\npage to open: https://example.com/␛[2J\n  a b: \""+long+"\"\n  c"; got != want {
		t.Errorf("the form is shown as %q, want %q", got, want)
	}
}

func TestShort(t *testing.T) {
	if got := short(strings.Repeat("ü", 500)); len([]rune(got)) != most || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"a\x00b\x7fc\u0085d\u2066e": "a␀b␡c�d�e", "a\r\nb\rc": "a\nb␍c", "👩‍💻": "👩‍💻", "\xff": "�", "tab\tbed": "tab    bed", "a\u2028b": "a�b",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
