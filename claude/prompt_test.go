package claude

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A prompt that was never written may be sent again under its id.
func TestPromptSentAfterTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		first := f.next(t)
		f.say <- initLine
		f.say <- echoOf(first)
		id := wire.NewUUID()
		if _, err := s.Send(t.Context(), Prompt{Text: "y", ID: id}); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.TakeBack(t.Context(), id); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
		if sent, err := s.Send(t.Context(), Prompt{Text: "y", ID: id}); err != nil || !sent.Queued {
			t.Errorf("%+v, %v", sent, err)
		}
		f.quiet(t)
		f.say <- resultLine
		if line := f.next(t); uuidOf(t, line) != id {
			t.Errorf("written: %s", line)
		}
	})
}

// Who gives up when the answer has just come does not interrupt the next turn.
func TestAskGivenUpTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		_, q, err := s.send(t.Context(), Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		first := f.next(t)
		if _, err := s.Send(t.Context(), Prompt{Text: "y"}); err != nil {
			t.Fatal(err)
		}
		f.say <- initLine
		f.say <- echoOf(first)
		f.say <- resultLine
		second := f.next(t)
		f.say <- initLine
		f.say <- echoOf(second)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		go s.giveUp(ctx, q)
		f.quiet(t)
	})
}

// Nothing is sent for somebody who has given up before.
func TestAskGivenUpBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err := s.Ask(ctx, Prompt{Text: "x"}); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		f.quiet(t)
	})
}

// What happens without a line is told without waiting for one.
func TestActivityWithoutALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		told := make(chan Activity, 10)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for a, err := range s.Activity(ctx, NewestEvent) {
				if err != nil {
					return
				}
				told <- a
			}
		}()
		synctest.Wait() // it listens: what comes before that is not new to it
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		first := f.next(t)
		f.say <- initLine
		f.say <- echoOf(first)
		if _, ok := (<-told).(*TurnStarted); !ok {
			t.Error("no turn has started")
		}
		queued, err := s.Send(t.Context(), Prompt{Text: "y"})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := s.TakeBack(t.Context(), queued.ID); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
		synctest.Wait()
		select {
		case a := <-told:
			if d, ok := a.(*PromptDropped); !ok || d.ID != queued.ID {
				t.Errorf("told: %+v", a)
			}
		default:
			t.Error("that the prompt was dropped is not told")
		}
		// The CLI is idle without a result, and says nothing more.
		f.say <- stateLine("idle")
		time.Sleep(2 * resultGrace) // of the bubble's time
		synctest.Wait()
		select {
		case a := <-told:
			if c, ok := a.(*TurnCompleted); !ok || !errors.Is(c.Err(), errNoResult) {
				t.Errorf("told: %+v", a)
			}
		default:
			t.Error("that the turn is over is not told")
		}
	})
}

// A CLI that says it is running, without a turn, and nothing more is prompted
// after a while.
func TestPromptAfterAFalseState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		first := f.next(t)
		for _, line := range []string{stateLine("running"), initLine, echoOf(first), resultLine} {
			f.say <- line
		}
		if _, err := s.Send(t.Context(), Prompt{Text: "y"}); err != nil {
			t.Fatal(err)
		}
		f.quiet(t) // the word idle is waited for
		if line := f.next(t); !strings.Contains(line, `"y"`) {
			t.Errorf("written: %s", line)
		}
	})
}
