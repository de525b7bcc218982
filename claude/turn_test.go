package claude

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

func stateLine(state string) string {
	return `{"type":"system","subtype":"session_state_changed","state":"` + state + `"}`
}

// A CLI that says it is idle in mid-turn is given time for the result.
func TestTurnResultOverdue(t *testing.T) {
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f, s := talkingFake(t, nil)
			_, q, err := s.send(t.Context(), Prompt{Text: "x"})
			if err != nil {
				t.Fatal(err)
			}
			prompt := f.next(t)
			for _, line := range []string{stateLine("running"), initLine, echoOf(prompt), stateLine("idle")} {
				f.say <- line
			}
			time.Sleep(resultGrace / 2) // of the bubble's time
			if comes {
				f.say <- resultLine
			}
			<-q.done
			switch {
			case comes && (q.completion.Answer != "Done." || q.completion.Err() != nil):
				t.Errorf("the completion is %+v", q.completion)
			case !comes && !errors.Is(q.completion.Err(), errNoResult):
				t.Errorf("the turn ended with %v", q.completion.Err())
			}
			// The session goes on.
			if _, err := s.Send(t.Context(), Prompt{Text: "y"}); err != nil {
				t.Fatal(err)
			}
			if line := f.next(t); !strings.Contains(line, `"y"`) {
				t.Errorf("written: %s", line)
			}
		})
	}
}

// When the last task in the background is done, the CLI is idle for a moment
// before the turn that the task starts.
func TestFinishWaitsForTheTurnOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		for _, line := range []string{
			initLine, echoOf(prompt),
			`{"type":"system","subtype":"task_started","task_id":"b1","tool_use_id":"t1","description":"d","task_type":"local_bash","is_backgrounded":true}`,
			resultLine, stateLine("idle"),
			`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1","task_type":"local_bash","description":"d"}]}`,
		} {
			f.say <- line
		}
		if _, err := s.Await(t.Context(), fold.PhaseBackground); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Finish(t.Context()) }()
		synctest.Wait()
		f.say <- `{"type":"system","subtype":"background_tasks_changed","tasks":[]}`
		synctest.Wait()
		if phase, _ := s.State(); phase != fold.PhaseIdle {
			t.Errorf("the session is %s", phase)
		}
		time.Sleep(followGrace / 2) // of the bubble's time
		select {
		case err := <-done:
			t.Fatalf("it was finished before the task's turn: %v", err)
		default:
		}
		f.say <- initLine
		time.Sleep(2 * followGrace) // of the bubble's time
		f.say <- resultLine
		if err := <-done; err != nil {
			t.Error(err)
		}
		turns := 0
		for a := range s.Activity(t.Context(), 0) {
			if _, ok := a.(*TurnCompleted); ok {
				turns++
			}
		}
		if turns != 2 {
			t.Errorf("%d turns", turns)
		}
	})
}

// A session that is not prompted has nothing to wait for.
func TestFinishIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := talkingFake(t, nil)
		start := time.Now()
		if err := s.Finish(t.Context()); err != nil || time.Since(start) > time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestMarksAreBounded(t *testing.T) {
	s := newSession(&Options{})
	defer s.cancel(nil)
	for i := range 5 * maxMarks {
		s.seen = int64(i + 1)
		s.mark(&TurnStarted{Turn: int64(i + 1)})
	}
	if n := len(s.turns.marks); n > 2*maxMarks {
		t.Errorf("%d marks are kept", n)
	}
	// A reader goes on with the first that is kept.
	list, next := s.marksUpTo(0, 5*maxMarks, true)
	if next != 5*maxMarks || list[len(list)-1].(*TurnStarted).Turn != 5*maxMarks {
		t.Errorf("%d marks, next %d", len(list), next)
	}
	if first := s.firstMark(5*maxMarks - 1); first != 5*maxMarks-1 {
		t.Errorf("the first mark is %d", first)
	}
}

// Ids are remembered, but not for ever.
func TestOutboxRemembers(t *testing.T) {
	var o outbox
	ids := make([]string, 0, maxKnown+10)
	for range maxKnown + 10 {
		id := wire.NewUUID()
		if !wire.IsUUID(id) || !o.remember(id) || o.remember(id) {
			t.Fatalf("the id %s", id)
		}
		ids = append(ids, id)
	}
	if len(o.known) != maxKnown || o.known[ids[0]] || !o.known[ids[10]] || !slices.Contains(o.order, ids[10]) {
		t.Errorf("%d ids are known", len(o.known))
	}
}
