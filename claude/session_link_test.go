package claude

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A connection may be replaced so fast that nobody sees the transport without
// one. What was written to the old one is written again all the same.
func TestSessionReplacedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		sent, err := s.Send(t.Context(), Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		f.next(t) // which is lost
		synctest.Wait()
		f.Set(StateReconnecting)
		f.Set(StateConnected)
		line := f.next(t)
		if !strings.Contains(line, `"initialize"`) {
			t.Fatalf("written: %s", line)
		}
		f.say <- answerTo(line, `{}`)
		if line := f.next(t); uuidOf(t, line) != sent.ID {
			t.Errorf("written: %s", line)
		}
	})
}

// A losingTransport fails to write prompts while lost is set, before it says that
// its connection is lost.
type losingTransport struct {
	*fakeTransport
	lost atomic.Bool
}

var errLostLine = errors.New("lost on the way")

func (l *losingTransport) Write(ctx context.Context, line []byte) error {
	if l.lost.Load() && strings.Contains(string(line), `"type":"user"`) {
		return errLostLine
	}
	return l.fakeTransport.Write(ctx, line)
}

// The failure of a write may be the first sign that the connection is lost.
func TestSessionLossIsToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &losingTransport{fakeTransport: newFakeTransport()}
		f.Set(StateConnected)
		go func() { f.say <- answerTo(<-f.heard, `{}`) }()
		s, err := NewSession(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f.lost.Store(true)
		_, q, err := s.send(t.Context(), Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.Set(StateReconnecting)
		if _, err := s.Await(t.Context(), fold.PhaseOffline); err != nil {
			t.Fatal(err)
		}
		f.lost.Store(false)
		f.Set(StateConnected)
		f.say <- answerTo(f.next(t), `{}`)
		if line := f.next(t); uuidOf(t, line) != q.ID {
			t.Errorf("written: %s", line)
		}
		synctest.Wait()
		if q.isDone {
			t.Errorf("the prompt was given up: %v", q.err)
		}
	})
}

// A listError cannot be compared, which no error of a transport has to be.
type listError []string

func (listError) Error() string { return "several things" }

func TestSessionEndsWithAnyError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		_ = f.die(listError{"a", "b"})
		var end error
		for _, err := range s.Events(t.Context(), 0) {
			end = err
		}
		if _, ok := errors.AsType[listError](end); !ok {
			t.Errorf("it ends with %v", end)
		}
	})
}

// If the connection is not lost, a prompt that cannot be written is given up.
func TestSessionWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &losingTransport{fakeTransport: newFakeTransport()}
		f.Set(StateConnected)
		go func() { f.say <- answerTo(<-f.heard, `{}`) }()
		s, err := NewSession(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f.lost.Store(true)
		id := wire.NewUUID()
		if _, err := s.Ask(t.Context(), Prompt{Text: "x", ID: id}); !errors.Is(err, errLostLine) {
			t.Errorf("got %v", err)
		}
		if phase, _ := s.State(); phase != fold.PhaseIdle {
			t.Errorf("the session is %s", phase)
		}
		// Whoever tries again with the same id is not told that it was sent.
		f.lost.Store(false)
		if _, err := s.Send(t.Context(), Prompt{Text: "x", ID: id}); err != nil {
			t.Error(err)
		}
		if line := f.next(t); uuidOf(t, line) != id {
			t.Errorf("written: %s", line)
		}
	})
}
