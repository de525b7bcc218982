package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
)

// guarded runs a test with a model that guards questions, in a bubble: what is done by event and key has all the time that it takes, what is done by
// now has none.
func guarded(t *testing.T, f func(s *stage, now func(msg tea.Msg))) {
	synctest.Test(t, func(t *testing.T) {
		s := newGuarded(t, 80, 24, time.Second)
		s.state(api.StateRunning)
		f(s, func(msg tea.Msg) { s.Update(msg) })
	})
}

// opened is the frame in which a question is opened, or settled.
func (s *stage) opened(kind, id string, change map[string]any) pane.Batch {
	q := question(id)
	maps.Copy(q, change)
	data, err := json.Marshal(q)
	if err != nil {
		s.t.Fatal(err)
	}
	s.seq++
	return batch(api.Frame{Type: api.FrameEvent, Event: &api.Event{
		ID: fmt.Sprintf("e:%d", s.seq), Session: s.fake.ID(), Run: 1, Seq: s.seq, Kind: kind, Time: time.Now(), Data: data,
	}})
}

// TestSurprise holds that a key does not answer a question that nobody can have read yet.
func TestSurprise(t *testing.T) {
	guarded(t, func(s *stage, now func(tea.Msg)) {
		time.Sleep(time.Minute) // the bubble's
		_, cmd := s.Update(s.opened(api.KindQuestionOpened, "qone", nil))
		if s.pane.Ask == nil || !s.pane.Ask.Guarded() || !strings.Contains(s.shown(), "one moment") {
			t.Fatalf("the question takes keys at once:\n%s", s.shown())
		}
		now(tea.KeyPressMsg{Code: 'y', Text: "y"})
		if len(s.fake.answers) != 0 {
			t.Fatal("a key answers that was pressed before the question could be read")
		}
		s.obey(cmd) // too soon, since a key was pressed
		if !s.pane.Ask.Guarded() {
			t.Error("keys count though one was pressed just now")
		}
	})
}

// TestReplaced holds that a key that is meant for one question does not answer the one that takes its place.
func TestReplaced(t *testing.T) {
	for _, by := range []string{"me", "ann"} {
		guarded(t, func(s *stage, now func(tea.Msg)) {
			s.event(api.KindQuestionOpened, question("qone"))
			s.event(api.KindQuestionOpened, question("qtwo"))
			if s.pane.Ask == nil || s.pane.Ask.Guarded() {
				t.Fatal("the first question takes no keys")
			}
			given := 0
			if by == "me" {
				s.key("y")
				given = 1
			}
			time.Sleep(time.Minute) // the hub takes its time
			now(s.opened(api.KindQuestionSettled, "qone", map[string]any{"state": "answered", "by": by, "answer": map[string]any{"decision": "allow"}}))
			if s.pane.Ask == nil || s.pane.Ask.Question().ID != "qtwo" || !s.pane.Ask.Guarded() {
				t.Fatalf("by %s: the second question takes keys at once:\n%s", by, s.shown())
			}
			s.key("y")
			if len(s.fake.answers) != given {
				t.Fatalf("by %s: a key that was meant for the first question answers the second", by)
			}
			s.key("y") // a good while later
			if len(s.fake.answers) != given+1 {
				t.Errorf("by %s: the second question cannot be answered", by)
			}
		})
	}
}

// TestBroughtBack holds that who asks for a question can answer it at once.
func TestBroughtBack(t *testing.T) {
	guarded(t, func(s *stage, _ func(tea.Msg)) {
		s.event(api.KindQuestionOpened, question("qone"))
		s.key("esc")
		if s.pane.Ask != nil {
			t.Fatal("it is not put off")
		}
		s.key("esc")
		if s.pane.Ask == nil || s.pane.Ask.Guarded() {
			t.Error("the question is not back, or takes no keys")
		}
	})
}

// TestPasteWhileGuarded holds that what is pasted just when a question comes up is neither lost nor an answer, and that otherwise it goes to one place.
func TestPasteWhileGuarded(t *testing.T) {
	guarded(t, func(s *stage, now func(tea.Msg)) {
		now(s.opened(api.KindQuestionOpened, "qone", nil))
		now(tea.PasteMsg{Content: "yes"})
		if s.pane.Composer.Value() != "yes" || len(s.fake.answers) != 0 {
			t.Errorf("the composer has %q, and there are %d answers", s.pane.Composer.Value(), len(s.fake.answers))
		}
	})
}

// TestEditedWhileAsked holds that what was written in the composer's editor is there though a question came up meanwhile.
func TestEditedWhileAsked(t *testing.T) {
	s := newStage(t, 80, 24)
	edit := func(string, string) tea.Cmd { return func() tea.Msg { return nil } }
	s.pane.Composer = compose.New(compose.Options{Editor: edit}).Focus()
	s.state(api.StateRunning)
	s.update(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl})
	s.event(api.KindQuestionOpened, question("qone"))
	s.update(compose.EditedMsg{Text: "a long text"})
	if s.pane.Composer.Value() != "a long text" {
		t.Errorf("the composer has %q", s.pane.Composer.Value())
	}
}

// TestQuestionChanged holds that what is new about a question is shown at once, and that it does not bring back one that is settled.
func TestQuestionChanged(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	q := question("qone")
	s.event(api.KindQuestionOpened, q)
	q["rule"] = map[string]any{"rule": "Bash(make:*)", "scope": "global", "decision": "ask"}
	s.event(api.KindQuestionChanged, q)
	if s.pane.Ask == nil || s.pane.Ask.Question().Rule == nil {
		t.Error("the question that is shown is not the one that is asked")
	}
	s.key("y")
	s.says("something else", "")
	if s.pane.Ask == nil || s.pane.Ask.Question().State != api.QuestionAnswered {
		t.Errorf("the question is open again:\n%s", s.shown())
	}
}

// TestForgets holds that a session that is watched for long does not grow without bound, and that nothing is printed twice or left out.
func TestForgets(t *testing.T) {
	s := newStage(t, 80, 24)
	s.fake.snapshot = &api.Session{ID: s.fake.ID(), Dir: "/work", State: api.StateIdle}
	most := 0
	for i := range maxItems + 1000 {
		if i%100 == 0 {
			s.state(api.StateRunning)
		}
		s.says(fmt.Sprintf("Text %d.", i), "")
		if i%100 == 99 {
			s.fake.snapshot.LastEventID = fmt.Sprintf("e:%d", s.seq+1)
			s.state(api.StateIdle)
			if i%1000 == 99 { // something that it does not know
				s.fake.snapshot.LastEventID = "e:1"
			}
		}
		most = max(most, s.talk.Len())
	}
	if most > maxItems+500 {
		t.Errorf("%d items are kept", most)
	}
	if s.talk.State().Session != api.StateIdle {
		t.Errorf("the state is %s", s.talk.State().Session)
	}
	printed := s.printed()
	for i := range maxItems + 1000 {
		if n := strings.Count(printed, fmt.Sprintf("Text %d.", i)); i%500 == 0 && n != 1 {
			t.Errorf("text %d is printed %d times", i, n)
		}
	}
}
