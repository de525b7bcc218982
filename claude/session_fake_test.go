package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// talkingFake returns a session on a fake transport, which has answered
// initialize.
func talkingFake(t *testing.T, o *Options) (*fakeTransport, *Session) {
	t.Helper()
	f := newFakeTransport()
	f.Set(StateConnected)
	go func() { f.say <- answerTo(<-f.heard, `{}`) }()
	s, err := NewSession(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, s
}

// answerTo returns a success answer to a request that was written.
func answerTo(line, body string) string {
	h, err := wire.Peek([]byte(line))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, h.RequestID, body)
}

// uuidOf returns the uuid of a line.
func uuidOf(t *testing.T, line string) string {
	t.Helper()
	h, err := wire.Peek([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return string(h.UUID)
}

const (
	initLine   = `{"type":"system","subtype":"init","session_id":"c1","claude_code_version":"2.1.37","model":"m","tools":["Bash"]}`
	resultLine = `{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"c1"}`
)

func echoOf(line string) string {
	return strings.Replace(line, `"type":"user"`, `"type":"user","isReplay":true`, 1)
}

func TestSessionStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("gone")
		f := newFakeTransport()
		go func() {
			<-f.heard
			_ = f.die(cause)
		}()
		if _, err := NewSession(t.Context(), f, nil); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}

		f = newFakeTransport()
		go func() {
			line := <-f.heard
			f.say <- strings.NewReplacer(`"success"`, `"error"`, `"response":{}`, `"error":"no"`).Replace(answerTo(line, `{}`))
		}()
		_, err := NewSession(t.Context(), f, nil)
		if refused, ok := errors.AsType[*ControlError](err); !ok || refused.Message != "no" {
			t.Errorf("got %v", err)
		}
		<-f.done // it was closed

		f = newFakeTransport()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-f.heard
			cancel(cause)
		}()
		if _, err := NewSession(ctx, f, nil); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		<-f.done
	})
}

// The CLI may have been initialized before: an older one then answers with an
// error that lists what it waits for.
func TestSessionJoinsInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeTransport()
		go func() {
			line := <-f.heard
			f.say <- fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"Already initialized","pending_permission_requests":[]}}`, requestID(t, line))
		}()
		s, err := NewSession(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSessionInterruptBeforeInit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		done := make(chan error, 1)
		go func() {
			_, err := s.Interrupt(t.Context())
			done <- err
		}()
		// The CLI has not looked at the prompt, so the interrupt does nothing.
		f.say <- answerTo(f.next(t), `{}`)
		f.quiet(t)
		select {
		case err := <-done:
			t.Fatalf("it has returned before the turn began: %v", err)
		default:
		}
		f.say <- initLine
		f.say <- echoOf(prompt)
		again := f.next(t)
		if !strings.Contains(again, `"interrupt"`) {
			t.Fatalf("written: %s", again)
		}
		f.say <- answerTo(again, `{}`)
		f.quiet(t)
		f.say <- `{"type":"result","subtype":"error_during_execution","is_error":false,"errors":[]}`
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestSessionOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		first, err := s.Send(t.Context(), Prompt{Text: "first"})
		if err != nil {
			t.Fatal(err)
		}
		f.next(t)
		f.Set(StateReconnecting)
		if _, err := s.Await(t.Context(), fold.PhaseOffline); err != nil {
			t.Fatal(err)
		}
		second, err := s.Send(t.Context(), Prompt{Text: "second"})
		if err != nil || !second.Queued {
			t.Errorf("%+v, %v", second, err)
		}
		f.quiet(t)
		f.Set(StateConnected)
		line := f.next(t)
		if !strings.Contains(line, `"initialize"`) {
			t.Fatalf("written: %s", line)
		}
		f.say <- answerTo(line, `{}`)
		// It was not picked up, so it is written again, and only that.
		again := f.next(t)
		if uuidOf(t, again) != first.ID {
			t.Fatalf("written: %s", again)
		}
		f.quiet(t)
		f.say <- initLine
		f.say <- echoOf(again)
		f.say <- resultLine
		if line := f.next(t); uuidOf(t, line) != second.ID {
			t.Fatalf("written: %s", line)
		}
	})
}

// The result was lost with the connection. A CLI that is silent afterwards gets
// the next prompt all the same.
func TestSessionResultLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		f.say <- initLine
		f.say <- echoOf(prompt)
		synctest.Wait()
		f.Set(StateReconnecting)
		synctest.Wait()
		f.Set(StateConnected)
		f.say <- answerTo(f.next(t), `{}`)
		next, err := s.Send(t.Context(), Prompt{Text: "y"})
		if err != nil {
			t.Fatal(err)
		}
		f.quiet(t)
		// As long as something comes, the turn goes on.
		for range 3 {
			time.Sleep(quietGrace / 2) // of the bubble's time
			f.say <- `{"type":"system","subtype":"x"}`
		}
		f.quiet(t)
		if line := f.next(t); uuidOf(t, line) != next.ID {
			t.Errorf("written: %s", line)
		}
	})
}

func TestSessionInterruptOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		f.say <- initLine
		f.say <- echoOf(prompt)
		done := make(chan error, 1)
		go func() {
			_, err := s.Interrupt(t.Context())
			done <- err
		}()
		f.say <- answerTo(f.next(t), `{}`)
		synctest.Wait()
		f.Set(StateReconnecting)
		if err := <-done; !errors.Is(err, ErrOffline) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Interrupt(t.Context()); !errors.Is(err, ErrOffline) {
			t.Errorf("without a connection: %v", err)
		}
		f.Set(StateConnected)
		f.say <- answerTo(f.next(t), `{}`)
		f.quiet(t) // no second interrupt
	})
}

// The process ends in mid-turn: the turn is completed once, with the cause.
func TestSessionEndsMidTurn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
	}{{"with code 0", nil}, {"broken", &ExitError{Code: 137, Signal: "killed"}}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := talkingFake(t, nil)
				type outcome struct {
					c   *Completion
					err error
				}
				got := make(chan outcome, 1)
				go func() {
					c, err := s.Ask(t.Context(), Prompt{Text: "x"})
					got <- outcome{c, err}
				}()
				prompt := f.next(t)
				queued, err := s.Send(t.Context(), Prompt{Text: "y"})
				if err != nil {
					t.Fatal(err)
				}
				f.say <- initLine
				f.say <- echoOf(prompt)
				f.say <- `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"So far."}]}}`
				_ = f.die(tt.cause)
				o := <-got
				if o.err == nil || tt.cause != nil && !errors.Is(o.err, tt.cause) {
					t.Errorf("Ask returns %v", o.err)
				}
				if o.c == nil || o.c.Answer != "So far." || o.c.Result != nil || o.c.Err() == nil {
					t.Errorf("the completion is %+v", o.c)
				}
				var list []string
				var end error
				for a, err := range s.Activity(t.Context(), 0) {
					switch a := a.(type) {
					case *TurnStarted:
						list = append(list, "start")
					case *TurnCompleted:
						list = append(list, "end")
					case *PromptDropped:
						list = append(list, "dropped")
						if a.ID != queued.ID {
							t.Errorf("dropped %s", a.ID)
						}
					}
					end = err
				}
				if !slices.Equal(list, []string{"start", "end", "dropped"}) {
					t.Errorf("activity: %v", list)
				}
				if tt.cause == nil && !errors.Is(end, io.ErrUnexpectedEOF) || tt.cause != nil && !errors.Is(end, tt.cause) {
					t.Errorf("the activity ends with %v", end)
				}
				if phase, err := s.Await(t.Context(), fold.PhaseIdle); phase != fold.PhaseEnded || err == nil {
					t.Errorf("the session is %s, %v", phase, err)
				}
			})
		})
	}
}

// A result has no text: the answer is the last text of the main conversation.
func TestCompletionAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		got := make(chan *Completion, 1)
		go func() {
			c, err := s.Ask(t.Context(), Prompt{Text: "x"})
			if err != nil {
				t.Error(err)
			}
			got <- c
		}()
		prompt := f.next(t)
		f.say <- initLine
		f.say <- echoOf(prompt)
		f.say <- `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Last words."}]}}`
		f.say <- `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"X","input":{"type":"text","text":"none"}}]}}`
		f.say <- `{"type":"assistant","parent_tool_use_id":"t1","message":{"role":"assistant","content":[{"type":"text","text":"Of a sub-agent."}]}}`
		f.say <- `{"type":"result","subtype":"success","is_error":false,"result":""}`
		if c := <-got; c.Answer != "Last words." {
			t.Errorf("the answer is %q", c.Answer)
		}
	})
}

// Prompts that a turn takes in are answered by its result, by whatever shows it.
func TestTurnPrompts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines func(a, b string) []string // what the CLI says to two prompts
		want  string                     // which turn answers each
	}{
		{"echoes", func(a, b string) []string {
			return []string{initLine, echoOf(a), resultLine, initLine, echoOf(b), resultLine}
		}, "1 2"},
		{"folded in", func(a, b string) []string { return []string{initLine, echoOf(a), echoOf(b), resultLine} }, "1 1"},
		{"named by the result", func(a, b string) []string {
			ids := fmt.Sprintf(`"result":"","user_message_uuids":[%q,%q]`, mustUUID(a), mustUUID(b))
			return []string{initLine, strings.Replace(resultLine, `"result":"Done."`, ids, 1)}
		}, "1 1"},
		{"fates", func(a, b string) []string {
			fate := func(line, state string) string {
				return fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, mustUUID(line), state)
			}
			return []string{
				fate(a, "queued"), fate(b, "queued"), fate(a, "started"), initLine, resultLine, fate(a, "completed"),
				fate(b, "started"), initLine, resultLine, fate(b, "completed"),
			}
		}, "1 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := talkingFake(t, nil)
				_, a, err := s.send(t.Context(), Prompt{Text: "a", Steer: true})
				if err != nil {
					t.Fatal(err)
				}
				_, b, err := s.send(t.Context(), Prompt{Text: "b", Steer: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range tt.lines(f.next(t), f.next(t)) {
					f.say <- line
				}
				<-a.done
				<-b.done
				if got := fmt.Sprint(a.completion.Turn, b.completion.Turn); got != tt.want {
					t.Errorf("answered by turn %s, expected %s", got, tt.want)
				}
			})
		})
	}
}

func mustUUID(line string) string {
	h, err := wire.Peek([]byte(line))
	if err != nil {
		panic(err)
	}
	return string(h.UUID)
}

// A prompt that the CLI drops is told as dropped.
func TestPromptDroppedByCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		_, q, err := s.send(t.Context(), Prompt{Text: "a", Steer: true})
		if err != nil {
			t.Fatal(err)
		}
		id := uuidOf(t, f.next(t))
		f.say <- fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":"discarded"}`, id)
		<-q.done
		if !errors.Is(q.err, ErrTakenBack) {
			t.Errorf("got %v", q.err)
		}
	})
}

func TestSessionLagged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, &Options{Backlog: 4 << 10})
		for range 100 {
			f.say <- `{"type":"system","subtype":"x","pad":"` + strings.Repeat("x", 1000) + `"}`
		}
		synctest.Wait()
		lagged, events := 0, 0
		for e, err := range s.Events(t.Context(), 1) {
			if l, ok := errors.AsType[*LaggedError](err); ok {
				lagged += int(l.Missed)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if events++; e.Number == 101 {
				break
			}
		}
		if lagged == 0 || lagged+events != 100 {
			t.Errorf("%d lagged, %d events", lagged, events)
		}
	})
}

// An exitedTransport is one whose CLI ends instead of taking a line.
type exitedTransport struct {
	*fakeTransport
	exit *ExitError
	at   string // the line's type
}

func (e *exitedTransport) Write(ctx context.Context, line []byte) error {
	if h, err := wire.Peek(line); err == nil && h.Is(e.at, "") {
		e.heard <- string(line)
		return fmt.Errorf("writing to claude: %w", e.exit)
	}
	return e.fakeTransport.Write(ctx, line)
}

// A prompt that cannot be written because the CLI has ended fails with the reason that
// the CLI gave, also if its end is noticed later.
func TestAskOfAnEndedCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &exitedTransport{newFakeTransport(), &ExitError{Code: 1}, "user"}
		f.Set(StateConnected)
		go func() { f.say <- answerTo(<-f.heard, `{}`) }()
		s, err := NewSession(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f.say <- `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: c1"],"session_id":"c1"}`
		synctest.Wait()
		s.process = new(Process) // which is not asked anything
		go func() {
			<-f.heard
			time.Sleep(time.Second)
			_ = f.die(f.exit)
		}()
		_, err = s.Ask(t.Context(), Prompt{Text: "hello"})
		exit, exited := errors.AsType[*ExitError](err)
		if _, ok := errors.AsType[*ConversationNotFoundError](err); !ok || !exited || exit.Result == nil {
			t.Errorf("got %v", err)
		}
	})
}

// A session that cannot be started because the CLI has ended fails with the reason
// that the CLI gave, also if that is read after the initialize request has failed.
func TestStartOfAnEndedCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &exitedTransport{newFakeTransport(), &ExitError{Code: 1}, "control_request"}
		f.Set(StateConnected)
		go func() {
			<-f.heard
			synctest.Wait() // until NewSession waits
			f.say <- `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: c1"],"session_id":"c1"}`
			_ = f.die(f.exit)
		}()
		_, err := NewSession(t.Context(), f, nil)
		exit, exited := errors.AsType[*ExitError](err)
		if _, ok := errors.AsType[*ConversationNotFoundError](err); !ok || !exited || exit.Result == nil {
			t.Errorf("got %v", err)
		}
	})
}
