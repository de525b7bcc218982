//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// seedEnv repeats the choices of a run that failed. Timing is never the same
// twice, so neither is the run, but it comes close.
const seedEnv = "SWITCHBOARD_SEED"

// seed returns a seed for random choices and tells it.
func seed(t testing.TB) uint64 {
	t.Helper()
	value := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if value, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("repeat with %s=%d", seedEnv, value)
	return value
}

// TestRandomKills kills the hub at random moments while prompts are sent,
// answers streamed and questions answered.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	// A CLI that dials in comes back after a second at the earliest, and less
	// and less soon when it finds nobody: it gets fewer kills, and more time
	// between them.
	tests := []struct {
		transport         string
		sessions          int
		kills, soaked     int
		shortest, longest time.Duration
	}{
		{"shim", 3, 25, 800, 0, 900 * time.Millisecond},
		{"websocket", 2, 6, 120, 500 * time.Millisecond, 2500 * time.Millisecond},
		{"hybrid", 1, 4, 80, 500 * time.Millisecond, 2500 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.transport, func(t *testing.T) {
			t.Parallel()
			kills := test.kills
			if soak() {
				kills = test.soaked
			}
			value := seed(t)
			// As people run it, with the sandbox that is the default.
			l := newLab(t, &labOptions{sandbox: sandboxAuto})
			l.start()
			var sessions []*session
			for range test.sessions {
				sessions = append(sessions, l.session(test.transport))
			}
			over := make(chan struct{})
			var drivers sync.WaitGroup
			for i, s := range sessions {
				random := rand.New(rand.NewPCG(value, uint64(i)+1))
				drivers.Go(func() {
					if err := s.drive(t.Context(), random, over); err != nil {
						t.Errorf("session %s: %v", s.id, err)
					}
				})
			}
			random := rand.New(rand.NewPCG(value, 0))
			begin := time.Now()
			for i := range kills {
				span := test.shortest + time.Duration(random.Int64N(int64(test.longest-test.shortest)))
				if err := l.killAfter(span, random.IntN(5) == 0); err != nil {
					t.Errorf("kill %d of %d: %v", i+1, kills, err)
					break
				}
			}
			close(over)
			drivers.Wait()
			t.Logf("%d kills in %s", kills, time.Since(begin).Round(time.Second))
			if t.Failed() {
				return
			}
			l.verdict(sessions...)
			t.Logf("%s", tally(sessions))
		})
	}
}

// killAfter lets the hub live for a while, counted from when it listens, or,
// if early, from when it was started, kills it and starts it again.
func (l *lab) killAfter(span time.Duration, early bool) error {
	s := l.current()
	if !early {
		if err := s.awaitReady(); err != nil {
			return err
		}
	}
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
		return fmt.Errorf("the hub died by itself: %w", errors.Join(s.err, errors.New(exitText(s))))
	}
	l.kill()
	_, err := l.tryLaunch()
	return err
}

// drive uses a session until over is closed: it streams, asks, answers, sends two
// prompts at once.
func (s *session) drive(ctx context.Context, random *rand.Rand, over <-chan struct{}) error {
	for n := 1; ; n++ {
		select {
		case <-over:
			return nil
		default:
		}
		if err := s.act(ctx, random, fmt.Sprintf("turn-%d", n)); err != nil {
			return err
		}
	}
}

// act is one step of drive.
func (s *session) act(ctx context.Context, random *rand.Rand, name string) (err error) {
	// Whoever is killed again and again needs longer for everything.
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	switch random.IntN(4) {
	case 0:
		err = s.turn(ctx, name, saying(name))
	case 1, 2:
		answer := api.Answer{ClientID: "answer-" + name, Decision: "allow"}
		if random.IntN(3) == 0 {
			answer.Decision, answer.Message = "deny", "No."
		}
		err = s.asked(ctx, name, answer)
	case 3:
		err = s.pair(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// asked is a turn whose one question is answered.
func (s *session) asked(ctx context.Context, name string, answer api.Answer) error {
	mark := s.mark()
	message, err := s.send(ctx, name, asking(name))
	if err != nil {
		return err
	}
	question, err := s.awaitQuestion(ctx, mark, 1)
	if err != nil {
		return err
	}
	if err := s.answer(ctx, question.ID, answer); err != nil {
		return err
	}
	return s.awaitTurn(ctx, mark, message)
}

// pair sends two prompts at once and waits for both.
func (s *session) pair(ctx context.Context, name string) error {
	mark := s.mark()
	first, err := s.send(ctx, name+"a", saying(name))
	if err != nil {
		return err
	}
	if err := s.turn(ctx, name+"b", saying(name)); err != nil {
		return err
	}
	return s.awaitTurn(ctx, mark, first)
}

// tally says how much went on.
func tally(sessions []*session) string {
	events, live, joined := 0, 0, 0
	for _, s := range sessions {
		s.mu.Lock()
		events, live, joined = events+len(s.events), live+s.live, joined+s.joined
		s.mu.Unlock()
	}
	return fmt.Sprintf("%d sessions, %d events, %d live lines, %d streams", len(sessions), events, live, joined)
}

// stopAgent ends a session's process in good order.
func (s *session) stopAgent(ctx context.Context) error {
	return s.lab.insist(ctx, http.MethodPost, s.path("/stop"), api.Stop{}, nil)
}
