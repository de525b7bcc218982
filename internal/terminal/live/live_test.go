package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a session of which one decides what happens.
type fake struct {
	frames   chan api.Frame
	snapshot *api.Session // nil: as it was opened

	mu          sync.Mutex
	answers     []api.Answer
	messages    []api.SendMessage
	updates     []api.UpdateSession
	interrupts  int
	stops       int
	answerError error
	sendError   error
}

func (f *fake) ID() string { return "sabcdefghij234567abcd" }

func (f *fake) Opened() *api.Session {
	return &api.Session{ID: f.ID(), Dir: "/work", State: api.StateIdle, LastEventID: "e:0", Initialize: json.RawMessage(`{"commands":[{"name":"compact","description":"make it short"}],"models":[{"value":"opus"}]}`)}
}

func (f *fake) Frames(ctx context.Context) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		for {
			select {
			case frame, more := <-f.frames:
				if !more {
					yield(api.Frame{}, errors.New("gone"))
					return
				}
				if !yield(frame, nil) {
					return
				}
			case <-ctx.Done():
				yield(api.Frame{}, ctx.Err())
				return
			}
		}
	}
}

func (f *fake) Snapshot(context.Context) (*api.Session, error) {
	if f.snapshot != nil {
		return f.snapshot, nil
	}
	return f.Opened(), nil
}

func (f *fake) SendMessage(_ context.Context, m api.SendMessage) (*api.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, m)
	return &api.Message{}, f.sendError
}

func (f *fake) Answer(_ context.Context, id string, a api.Answer) (*api.Question, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = append(f.answers, a)
	return &api.Question{ID: id, State: api.QuestionAnswered, Answer: &a}, f.answerError
}

func (f *fake) Interrupt(context.Context) (*api.Interrupted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupts++
	return &api.Interrupted{Was: true}, nil
}

func (f *fake) Stop(context.Context) (*api.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops++
	return f.Opened(), nil
}

func (f *fake) Update(_ context.Context, in api.UpdateSession) (*api.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.updates = append(f.updates, in)
	return f.Opened(), nil
}

// A stage is a model with a fake session, for which time stands still.
type stage struct {
	*model
	t    *testing.T
	fake *fake
	seq  int64
	// lines are what was printed.
	lines []string
}

func newStage(t *testing.T, width, height int) *stage { return newGuarded(t, width, height, 0) }

// newGuarded is newStage with a guard of questions.
func newGuarded(t *testing.T, width, height int, guard time.Duration) *stage {
	f := &fake{}
	s := &stage{t: t, fake: f, model: newModel(t.Context(), f, &Options{Profile: paint.Profile{Width: width}, Guard: guard})}
	s.later = func(time.Duration, tea.Msg) tea.Cmd { return nil } // time stands still
	s.printer.emit = func(lines []string) tea.Cmd {
		s.lines = append(s.lines, lines...)
		return nil
	}
	s.update(tea.WindowSizeMsg{Width: width, Height: height})
	s.update(readyMsg{})
	return s
}

// update hands the model a message, and what its commands come to, but for time.
func (s *stage) update(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.Update(msg)
	s.obey(cmd)
}

// obey does what a command says.
func (s *stage) obey(cmd tea.Cmd) {
	s.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg:
	case tea.BatchMsg:
		for _, each := range msg {
			s.obey(each)
		}
	default:
		s.update(msg)
	}
}

// key presses a key.
func (s *stage) key(name string) {
	s.t.Helper()
	var key tea.KeyPressMsg
	switch name {
	case "ctrl+c":
		key = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	case "ctrl+d":
		key = tea.KeyPressMsg{Code: 'd', Mod: tea.ModCtrl}
	case "ctrl+o":
		key = tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl}
	case "ctrl+t":
		key = tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl}
	case "esc":
		key = tea.KeyPressMsg{Code: tea.KeyEsc}
	case "enter":
		key = tea.KeyPressMsg{Code: tea.KeyEnter}
	case "shift+tab":
		key = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	default:
		key = tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
	}
	s.update(key)
}

// event tells of an event.
func (s *stage) event(kind string, data any) {
	s.t.Helper()
	s.seq++
	e := &api.Event{ID: fmt.Sprintf("e:%d", s.seq), Session: s.fake.ID(), Run: 1, Seq: s.seq, Kind: kind, Time: time.Unix(1_700_000_000+s.seq, 0)}
	raw, ok := data.(string)
	if !ok {
		text, err := json.Marshal(data)
		if err != nil {
			s.t.Fatal(err)
		}
		raw = string(text)
	}
	if kind == api.KindLine {
		e.Line = json.RawMessage(raw)
	} else {
		e.Data = json.RawMessage(raw)
	}
	s.update(batch(api.Frame{Type: api.FrameEvent, Event: e}))
}

// batch is what a stream brings.
func batch(frames ...api.Frame) pane.Batch { return pane.Batch{Frames: frames} }

// state tells of a state.
func (s *stage) state(state api.State) {
	s.t.Helper()
	s.event(api.KindState, map[string]any{"state": state})
	if got := s.talk.State().Session; got != state {
		s.t.Fatalf("the state is %s, want %s", got, state)
	}
}

// says tells of a text, of an agent if parent is its call.
func (s *stage) says(text, parent string) {
	s.t.Helper()
	s.assistant(map[string]any{"type": "text", "text": text}, parent)
}

// calls tells of a call.
func (s *stage) calls(id, tool, parent string, input any) {
	s.t.Helper()
	s.assistant(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}, parent)
}

func (s *stage) assistant(block map[string]any, parent string) {
	s.t.Helper()
	line := map[string]any{
		"type": "assistant", "uuid": fmt.Sprintf("a%d", s.seq), "session_id": "c", "parent_tool_use_id": nil,
		"message": map[string]any{"id": fmt.Sprintf("m%d", s.seq), "type": "message", "role": "assistant", "content": []any{block}},
	}
	if parent != "" {
		line["parent_tool_use_id"] = parent
	}
	s.event(api.KindLine, line)
}

// gives tells of a result of a call.
func (s *stage) gives(id, output string) {
	s.t.Helper()
	s.event(api.KindLine, map[string]any{
		"type": "user", "uuid": fmt.Sprintf("u%d", s.seq), "session_id": "c", "parent_tool_use_id": nil,
		"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output}}},
	})
}

// printed returns what is printed, without styles.
func (s *stage) printed() string { return strings.Join(slices.Concat(s.lines, s.printer.queue), "\n") }

// shown returns the part that changes.
func (s *stage) shown() string { return s.View().Content }

// want checks what is printed, in this order, and what is not.
func (s *stage) want(printed []string, not ...string) {
	s.t.Helper()
	text := s.printed()
	for _, part := range printed {
		_, after, found := strings.Cut(text, part)
		if !found {
			s.t.Fatalf("%q is not printed, or not in its place:\n%s", part, s.printed())
		}
		text = after
	}
	for _, part := range not {
		if strings.Contains(s.printed(), part) {
			s.t.Errorf("%q is printed:\n%s", part, s.printed())
		}
	}
}

func TestOrder(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	s.says("I look.", "")
	s.calls("t1", "Bash", "", map[string]string{"command": "first"})
	s.calls("t2", "Bash", "", map[string]string{"command": "second"})
	s.gives("t2", "two")
	s.want([]string{"I look."}, "first", "second")
	if view := s.shown(); !strings.Contains(view, "first") || !strings.Contains(view, "second") {
		t.Errorf("what is not finished is not shown:\n%s", view)
	}
	s.gives("t1", "one")
	s.want([]string{"I look.", "first", "second"})
	if view := s.shown(); strings.Contains(view, "first") {
		t.Errorf("what is printed is shown, too:\n%s", view)
	}
}

func TestAgents(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	s.calls("t1", "Task", "", map[string]string{"description": "explore", "prompt": "look around"})
	s.says("I explore.", "t1")
	s.calls("t2", "Bash", "t1", map[string]string{"command": "ls"})
	s.gives("t2", "files")
	s.want([]string{"Task", "I explore.", "ls"})
	s.gives("t1", "explored")
	s.want([]string{"Task", "I explore.", "ls", "Task"})
	s.says("Done.", "")
	s.want([]string{"Task", "I explore.", "ls", "Task", "Done."})
	if n := strings.Count(s.printed(), "I explore."); n != 1 {
		t.Errorf("it is printed %d times", n)
	}
}

// TestStreaming prints the parts of a text that cannot change any more, each once.
func TestStreaming(t *testing.T) {
	text := "# Title\n\nFirst paragraph.\n\n- a\n\n- b\n\nSecond *paragraph*.\n\n```\ncode\n\nmore code\n```\n\nThird.\n"
	s := newStage(t, 40, 12)
	s.state(api.StateRunning)
	partial := func(text string) {
		s.update(batch(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: s.fake.ID(), After: s.seq, Messages: []api.Partial{{
			MessageID: "m1", Blocks: []api.PartialBlock{{Type: "text", Text: text}},
		}}}}))
	}
	early := false
	for i := 1; i <= len(text); i++ {
		partial(text[:i])
		early = early || strings.Contains(s.printed(), "First paragraph.")
		if strings.Contains(s.printed(), "more code") && i < len(text)-1 {
			t.Fatalf("code is printed before it is complete, at %q", text[:i])
		}
		both := s.printed() + "\n" + s.shown()
		if n := strings.Count(both, "First paragraph."); strings.Contains(text[:i], "First paragraph.") && n != 1 {
			t.Fatalf("the first paragraph is there %d times at %q:\n%s", n, text[:i], both)
		}
	}
	if !early {
		t.Error("nothing was printed before the text was complete")
	}
	s.says(text, "")
	whole := newStage(t, 40, 12)
	whole.state(api.StateRunning)
	whole.says(text, "")
	if got, want := strings.TrimSpace(s.printed()), strings.TrimSpace(whole.printed()); got != want {
		t.Errorf("bit by bit it is\n%s\nand at once\n%s", got, want)
	}
}

func TestStreamingAnotherText(t *testing.T) {
	s := newStage(t, 40, 12)
	s.state(api.StateRunning)
	s.update(batch(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: s.fake.ID(), Messages: []api.Partial{{
		MessageID: "m1", Blocks: []api.PartialBlock{{Type: "text", Text: "One.\n\nTwo.\n\nThree"}},
	}}}}))
	s.want([]string{"One."}, "Three")
	s.says("Something else.\n\nAltogether.", "")
	s.want([]string{"One.", "Something else.", "Altogether."})
}

func TestSettled(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"One", ""},
		{"One\n\n", ""},
		{"One\n\nTwo", ""}, // it may become a heading, or a table
		{"One\n\nTwo\n", "One\n\n"},
		{"One\n\n- list\n", ""},
		{"One\n\n    code\n", ""},
		{"One\n\n> quote\n\nTwo\nthree\n", "One\n\n> quote\n\n"},
		{"```\n\nx\n", ""},
		{"```\nx\n\ny\n```\n\nAfter\n", "```\nx\n\ny\n```\n\n"},
		{"~~~ go\n```\n\nx\n~~~\n\nAfter\n\n", "~~~ go\n```\n\nx\n~~~\n\n"},
		{"One\n\n1. first\n\nTwo\n\n2", "One\n\n1. first\n\n"},
	} {
		if got := test.text[:settled(test.text)]; got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		s := newStage(t, 80, 24)
		s.state(api.StateIdle)
		s.key("ctrl+c")
		if !s.leaving || s.fake.interrupts != 0 {
			t.Errorf("leaving %v, %d interrupts", s.leaving, s.fake.interrupts)
		}
	})
	t.Run("something is written", func(t *testing.T) {
		s := newStage(t, 80, 24)
		s.state(api.StateIdle)
		s.key("x")
		s.key("ctrl+c")
		if s.leaving || !s.pane.Composer.Empty() {
			t.Errorf("leaving %v, written %q", s.leaving, s.pane.Composer.Value())
		}
		s.key("ctrl+c")
		if !s.leaving {
			t.Error("the second time does not leave")
		}
	})
	t.Run("twice", func(t *testing.T) {
		s := newStage(t, 80, 24)
		s.state(api.StateRunning)
		s.key("ctrl+c")
		if s.leaving || s.fake.interrupts != 1 {
			t.Fatalf("leaving %v, %d interrupts", s.leaving, s.fake.interrupts)
		}
		if !strings.Contains(s.shown(), "ctrl+c again leaves") {
			t.Errorf("it does not say what the second one does:\n%s", s.shown())
		}
		s.key("ctrl+c")
		if !s.leaving || s.fake.interrupts != 1 {
			t.Errorf("leaving %v, %d interrupts", s.leaving, s.fake.interrupts)
		}
	})
	t.Run("later", func(t *testing.T) {
		s := newStage(t, 80, 24)
		s.state(api.StateRunning)
		s.key("ctrl+c")
		s.update(interruptOverMsg{s.interrupts - 1}) // an older one
		if !s.interrupted {
			t.Error("an older timer counts")
		}
		s.update(interruptOverMsg{s.interrupts})
		s.key("ctrl+c")
		if s.leaving || s.fake.interrupts != 2 {
			t.Errorf("leaving %v, %d interrupts", s.leaving, s.fake.interrupts)
		}
	})
}

// question is one that an agent asks.
func question(id string) map[string]any {
	return map[string]any{
		"id": id, "session": "s", "run": 1, "request_id": "r" + id, "kind": "permission", "state": "open", "tool": "Bash", "tool_use_id": "t1", "title": "make " + id,
		"request": map[string]any{"subtype": "can_use_tool", "tool_name": "Bash", "input": map[string]any{"command": "make " + id}, "tool_use_id": "t1"},
		"opened":  time.Unix(1_700_000_000, 0),
	}
}

func TestQuestion(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	s.event(api.KindQuestionOpened, question("qone"))
	s.event(api.KindQuestionOpened, question("qtwo"))
	if s.pane.Ask == nil || !strings.Contains(s.shown(), "make qone") {
		t.Fatalf("the first question is not shown:\n%s", s.shown())
	}
	s.key("esc")
	if s.pane.Ask == nil || s.pane.Ask.Question().ID != "qtwo" {
		t.Fatalf("after one was put off the other one comes up:\n%s", s.shown())
	}
	s.key("esc")
	if s.pane.Ask != nil || !s.pane.Composer.Focused() {
		t.Fatal("both are put off, and there is no composer")
	}
	s.key("esc")
	if s.pane.Ask == nil || s.pane.Ask.Question().ID != "qone" {
		t.Fatal("it does not come back")
	}
	s.key("y")
	if len(s.fake.answers) != 1 || s.fake.answers[0].Decision != "allow" || s.fake.answers[0].ClientID == "" {
		t.Fatalf("the answers are %+v", s.fake.answers)
	}
	settled := question("qone")
	settled["state"], settled["by"], settled["answer"] = "answered", "me", map[string]any{"decision": "allow"}
	s.event(api.KindQuestionSettled, settled)
	if s.pane.Ask == nil || s.pane.Ask.Question().ID != "qtwo" {
		t.Fatalf("the next question is not shown:\n%s", s.shown())
	}
	s.want([]string{"make qone"}, "make qtwo")
	// Somebody else answers this one.
	settled = question("qtwo")
	settled["state"], settled["by"], settled["answer"] = "answered", "somebody", map[string]any{"decision": "deny"}
	s.event(api.KindQuestionSettled, settled)
	if s.pane.Ask != nil || !s.pane.Composer.Focused() {
		t.Error("a question that is settled is still asked")
	}
	s.want([]string{"make qone", "make qtwo", "somebody"})
}

// TestHelpWhileAsked holds that ? says which keys answer the question.
func TestHelpWhileAsked(t *testing.T) {
	s := newStage(t, 80, 24)
	s.event(api.KindQuestionOpened, question("qone"))
	s.key("?")
	if s.pane.Ask == nil || len(s.fake.answers) != 0 {
		t.Fatal("? answered the question, or put it off")
	}
	s.want([]string{"This question", "deny and stop", "Keys"})
}

// TestAskedBeforeResult holds that the answer is printed before what came of it.
func TestAskedBeforeResult(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	s.calls("t1", "Bash", "", map[string]any{"command": "make clean"})
	asked := question("qone")
	asked["tool_use_id"] = "t1"
	s.event(api.KindQuestionOpened, asked)
	asked["state"], asked["by"], asked["answer"] = "answered", "ann", map[string]any{"decision": "allow"}
	s.event(api.KindQuestionSettled, asked)
	s.gives("t1", "cleaned")
	s.state(api.StateIdle)
	answer, result := strings.Index(s.printed(), "allowed by ann"), strings.Index(s.printed(), "cleaned")
	if answer < 0 || result < answer {
		t.Errorf("the answer at %d, the result at %d:\n%s", answer, result, s.printed())
	}
	if n := strings.Count(s.printed(), "allowed by ann"); n != 1 {
		t.Errorf("the answer is printed %d times", n)
	}
}

// TestBypassIsConfirmed holds that the mode in which nothing is asked has to be asked for twice.
func TestBypassIsConfirmed(t *testing.T) {
	s := newStage(t, 120, 24)
	s.state(api.StateIdle)
	for range 2 {
		if len(s.fake.updates) != 0 {
			t.Fatalf("it was set at once: %+v", s.fake.updates)
		}
		s.update(compose.CommandMsg{Name: "mode", Rest: "bypassPermissions"})
	}
	if len(s.fake.updates) != 1 {
		t.Errorf("updates %+v", s.fake.updates)
	}
	s.want([]string{"write it again: /mode bypassPermissions"})
}

func TestAnswerRefused(t *testing.T) {
	s := newStage(t, 80, 24)
	s.event(api.KindQuestionOpened, question("qone"))
	s.fake.answerError = &api.Error{Code: api.CodeForbidden, Title: "that needs the right approve"}
	s.key("y")
	if s.pane.Ask == nil || !strings.Contains(s.shown(), "needs the right approve") {
		t.Errorf("the server's words are not shown:\n%s", s.shown())
	}
	s.fake.answerError = &api.Error{Code: api.CodeAlreadySettled, Title: "settled", Question: &api.Question{By: "somebody"}}
	s.key("y")
	if s.pane.Ask != nil {
		t.Error("a question that is settled is still asked")
	}
	s.want([]string{"Already answered by somebody"})
}

func TestSend(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateIdle)
	for _, letter := range "hello" {
		s.key(string(letter))
	}
	s.key("enter")
	if len(s.fake.messages) != 1 || s.fake.messages[0].Text != "hello" || s.fake.messages[0].ClientID == "" {
		t.Fatalf("the messages are %+v", s.fake.messages)
	}
	s.fake.sendError = errors.New("no")
	s.update(compose.SubmitMsg{Text: "once more"})
	s.want([]string{"Not sent: no"})
	if s.pane.Composer.Value() != "once more" {
		t.Errorf("the text is lost: %q", s.pane.Composer.Value())
	}
}

func TestCommands(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateIdle)
	s.update(compose.CommandMsg{Name: "model", Rest: "haiku"})
	s.update(compose.CommandMsg{Name: "mode", Rest: "plan"})
	s.update(compose.CommandMsg{Name: "title", Rest: "A title"})
	s.update(compose.CommandMsg{Name: "stop"})
	s.update(compose.CommandMsg{Name: "help"})
	s.update(compose.CommandMsg{Name: "model"})
	s.key("shift+tab")
	if u := s.fake.updates; len(u) != 4 || *u[0].Model != "haiku" || *u[1].PermissionMode != "plan" || *u[2].Title != "A title" || *u[3].PermissionMode != "acceptEdits" {
		t.Errorf("the updates are %+v", u)
	}
	if s.fake.stops != 1 {
		t.Errorf("%d stops", s.fake.stops)
	}
	s.want([]string{"Keys", "ctrl+o", "/title", "Others: opus"})
	s.update(compose.CommandMsg{Name: "quit"})
	if !s.leaving {
		t.Error("it does not leave")
	}
}

func TestLost(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateIdle)
	s.update(pane.Batch{Lost: errors.New("refused")})
	if !strings.Contains(s.shown(), "The hub is away") {
		t.Errorf("it does not say so:\n%s", s.shown())
	}
	s.update(batch(api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}}))
	if strings.Contains(s.shown(), "The hub is away") {
		t.Errorf("it still says so:\n%s", s.shown())
	}
}

// TestFits draws everything at once in terminals of every size: nothing may be wider or higher than them.
func TestFits(t *testing.T) {
	hostile := "\x1b[2J\x1b]0;x\x07 漢字 👩‍👩‍👧‍👦 \u202e" + strings.Repeat("very long ", 50)
	for _, size := range [][2]int{{12, 4}, {20, 6}, {40, 10}, {80, 24}, {200, 60}} {
		s := newStage(t, size[0], size[1])
		s.state(api.StateRunning)
		s.calls("t0", "TodoWrite", "", map[string]any{"todos": []any{map[string]string{"content": hostile, "status": "pending", "activeForm": hostile}}})
		s.gives("t0", "ok")
		s.calls("t1", "Bash", "", map[string]string{"command": hostile})
		s.says(hostile, "")
		for range 3 {
			s.key("x")
		}
		check := func(what string) {
			t.Helper()
			view := s.shown()
			if n := strings.Count(view, "\n") + 1; n >= max(2, size[1]) {
				t.Errorf("%v, %s: %d lines", size, what, n)
			}
			for line := range strings.Lines(view) {
				if w := paint.Width(strings.TrimSuffix(line, "\n")); w > size[0] {
					t.Errorf("%v, %s: a line of %d columns: %q", size, what, w, line)
				}
				if strings.ContainsAny(line, "\x1b\x07\u202e") {
					t.Errorf("%v, %s: %q", size, what, line)
				}
			}
		}
		check("composer")
		q := question("qone")
		q["request"] = map[string]any{"subtype": "can_use_tool", "tool_name": "Bash", "input": map[string]any{"command": hostile}, "tool_use_id": "t1"}
		s.event(api.KindQuestionOpened, q)
		check("question")
		for _, line := range slices.Concat(s.lines, s.printer.queue) {
			if paint.Width(line) >= size[0] { // the last column is lost
				t.Errorf("%v: %q is printed", size, line)
			}
		}
	}
}

// TestPrintedAtOnce prints only as much at a time as there is room for above the part that changes.
func TestPrintedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, fake: &fake{}}
		s.model = newModel(t.Context(), s.fake, &Options{})
		s.Update(tea.WindowSizeMsg{Width: 80, Height: 10})
		if s.printer.add("early"); s.printer.next() != nil {
			t.Error("something is printed before the first drawing")
		}
		s.printer.queue = nil
		s.ready = true
		for i := range 100 {
			s.printer.add(fmt.Sprint("line ", i))
		}
		for _, h := range []int{3, 6, 2} {
			s.printer.measured(h, 0)
		}
		before := len(s.printer.queue)
		if s.printer.next() == nil || before-len(s.printer.queue) != 4 {
			t.Errorf("%d lines at once, want 4: the part that changes may still be 6 high", before-len(s.printer.queue))
		}
		if s.printer.next() != nil {
			t.Error("two commands are on their way")
		}
		for range heightCount {
			time.Sleep(2 * heightAge)
			s.printer.measured(2, 0)
		}
		s.printer.done()
		before = len(s.printer.queue)
		if s.printer.next() == nil || before-len(s.printer.queue) != 8 {
			t.Errorf("%d lines at once, want 8", before-len(s.printer.queue))
		}
	})
}
