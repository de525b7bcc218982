package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// onEachVersion runs a test with a simulated CLI of each version, in a bubble.
func onEachVersion(t *testing.T, f func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, version) })
		})
	}
}

// asks asks and fails if there is no completion.
func asks(t *testing.T, s *Session, text string) *Completion {
	t.Helper()
	c, err := s.Ask(t.Context(), Prompt{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSessionAsk(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		if phase, _ := s.State(); phase != fold.PhaseIdle {
			t.Errorf("at first the session is %s", phase)
		}
		c := asks(t, s, "@say Hello.")
		if c.Answer != "Hello." || c.Err() != nil || c.Turn != 1 || len(c.Prompts) != 1 || c.Interrupted || c.Costs.CostUSD <= 0 {
			t.Errorf("the completion is %+v, %v", c, c.Err())
		}
		c = asks(t, s, "@say Again.")
		if c.Answer != "Again." || c.Turn != 2 {
			t.Errorf("the completion is %+v", c)
		}
		info := s.Info()
		if info.Conversation == "" || info.Model == "" || info.Init == nil || info.Initialize == nil || info.Turns != 2 ||
			info.Version.String() != version || info.Mode == "" || len(info.Tools) == 0 {
			t.Errorf("the info is %+v", info)
		}
		if _, err := s.Await(t.Context(), fold.PhaseIdle); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Err(); !errors.Is(err, ErrClosed) {
			t.Errorf("it ended with %v", err)
		}
		if _, err := s.Ask(t.Context(), Prompt{Text: "x"}); !errors.Is(err, ErrClosed) {
			t.Errorf("asking a closed session: %v", err)
		}
	})
}

func TestSessionEvents(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		asks(t, s, "@think Hm.\n@say Hello there.")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var types []string
		var text strings.Builder
		last := int64(0)
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Number <= last {
				t.Errorf("event %d comes after %d", e.Number, last)
			}
			last = e.Number
			types = append(types, string(e.Header.Type))
			if d, ok := e.Delta(); ok && !strings.Contains(string(e.Raw), "thinking") {
				text.Write(d.Text)
			}
			m, err := e.Message()
			if err != nil {
				t.Fatal(err)
			}
			if typ, _ := m.MessageType(); typ != string(e.Header.Type) {
				t.Errorf("the message is of type %s, the header of %s", typ, e.Header.Type)
			}
		}
		for _, typ := range []string{"system", "stream_event", "assistant", "result"} {
			if !slices.Contains(types, typ) {
				t.Errorf("there is no %s among %v", typ, types)
			}
		}
		for _, typ := range types {
			if strings.HasPrefix(typ, "control_") || typ == "keep_alive" {
				t.Errorf("there is a %s", typ)
			}
		}
		if text.String() != "Hello there." {
			t.Errorf("the deltas make %q", text.String())
		}
		control := 0
		for l := range s.Lines(t.Context(), 0) {
			if l.Header.Is("control_response", "") {
				control++
			}
		}
		if control == 0 {
			t.Error("the raw tap has no control lines")
		}
	})
}

func TestSessionQueueAndSteer(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(10 * time.Second)}, &Options{})
		first, err := s.Send(t.Context(), Prompt{Text: "@tool Read {\"file_path\":\"/x\"}\n@say One."})
		if err != nil {
			t.Fatal(err)
		}
		if !first.Queued || first.ID == "" {
			t.Errorf("sent: %+v", first)
		}
		if phase, _ := s.State(); phase != fold.PhaseRunning {
			t.Errorf("with a prompt the session is %s", phase)
		}
		synctest.Wait() // the tool runs
		if q := s.Queue(); len(q) != 0 {
			t.Errorf("the queue is %v", q)
		}
		later, err := s.Send(t.Context(), Prompt{Text: "@say Later."})
		if err != nil {
			t.Fatal(err)
		}
		back, err := s.Send(t.Context(), Prompt{Text: "@say Never."})
		if err != nil {
			t.Fatal(err)
		}
		if q := s.Queue(); len(q) != 2 || q[0].ID != later.ID {
			t.Errorf("the queue is %v", q)
		}
		if ok, err := s.TakeBack(t.Context(), back.ID); !ok || err != nil {
			t.Errorf("taking back: %v, %v", ok, err)
		}
		if ok, err := s.TakeBack(t.Context(), back.ID); ok || err != nil {
			t.Errorf("taking back again: %v, %v", ok, err)
		}
		steer, err := s.Send(t.Context(), Prompt{Text: "And mind the gap.", Steer: true})
		if err != nil || steer.Queued {
			t.Errorf("steering: %+v, %v", steer, err)
		}
		// The same prompt twice is one.
		if again, err := s.Send(t.Context(), Prompt{Text: "@say Later.", ID: later.ID}); err != nil || again.ID != later.ID {
			t.Errorf("sending again: %+v, %v", again, err)
		}
		var done []*Completion
		var dropped []string
		for a, err := range s.Activity(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch a := a.(type) {
			case *TurnCompleted:
				done = append(done, a.Completion)
			case *PromptDropped:
				dropped = append(dropped, a.ID)
			}
			if len(done) == 2 {
				break
			}
		}
		if done[0].Answer != "One." || !slices.Contains(done[0].Prompts, first.ID) || !slices.Contains(done[0].Prompts, steer.ID) {
			t.Errorf("the first turn answers %v with %q; first is %s, steer %s", done[0].Prompts, done[0].Answer, first.ID, steer.ID)
		}
		if done[1].Answer != "Later." || !slices.Equal(done[1].Prompts, []string{later.ID}) {
			t.Errorf("the second turn answers %v with %q", done[1].Prompts, done[1].Answer)
		}
		if !slices.Equal(dropped, []string{back.ID}) {
			t.Errorf("dropped: %v", dropped)
		}
	})
}

// slowTool lets every tool take its time.
func slowTool(d time.Duration) func(claudetest.ToolCall) (claudetest.ToolOutcome, bool) {
	return func(claudetest.ToolCall) (claudetest.ToolOutcome, bool) {
		return claudetest.ToolOutcome{Text: "done", Takes: d}, true
	}
}

func TestSessionActivity(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		asks(t, s, "@say I look.\n@tool Read {\"file_path\":\"/x\"}\n@say That is all.")
		asks(t, s, "/cost")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for a, err := range s.Activity(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch a := a.(type) {
			case *TurnStarted:
				got = append(got, fmt.Sprintf("start %d", a.Turn))
			case *ActionChanged:
				got = append(got, fmt.Sprintf("%s %s", a.Phase, a.Title))
			case *TurnCompleted:
				got = append(got, fmt.Sprintf("end %d", a.Turn))
			case *PromptDropped:
				got = append(got, "dropped")
			}
		}
		if s := strings.Join(got, ", "); s != "start 1, started Read /x, completed Read /x, end 1, start 2, end 2" {
			t.Errorf("got %s", s)
		}
	})
}

func TestSessionPartials(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		sent, err := s.Send(t.Context(), Prompt{Text: "@slow 1s\n@say One two three four five six seven eight nine ten."})
		if err != nil {
			t.Fatal(err)
		}
		// As soon as some of the text is there, it can be seen.
		var seen string
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Delta(); ok {
				if p := s.Partials(); len(p) == 1 && len(p[0].Blocks) == 1 {
					seen = p[0].Blocks[0].Text
				}
				break
			}
		}
		if seen == "" || !strings.HasPrefix("One two three four five six seven eight nine ten.", seen) {
			t.Errorf("being written: %q", seen)
		}
		for a := range s.Activity(t.Context(), 0) {
			if c, ok := a.(*TurnCompleted); ok {
				if !slices.Equal(c.Prompts, []string{sent.ID}) {
					t.Errorf("answered %v", c.Prompts)
				}
				break
			}
		}
		if p := s.Partials(); len(p) != 0 {
			t.Errorf("behind the turn there is %v", p)
		}
	})
}

func TestSessionInterrupt(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(time.Hour)}, nil)
		// Idle.
		if _, err := s.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, prompt := range []string{"@tool Read {\"file_path\":\"/x\"}\n@say No.", "@slow 1m\n@say Never to be said."} {
			for _, begun := range []bool{true, false} {
				_, q, err := s.send(t.Context(), Prompt{Text: prompt})
				if err != nil {
					t.Fatal(err)
				}
				next, err := s.Send(t.Context(), Prompt{Text: "@say Next."})
				if err != nil {
					t.Fatal(err)
				}
				if begun {
					synctest.Wait()
				} // else not even the first line may have been written
				if _, err := s.Interrupt(t.Context()); err != nil {
					t.Fatal(err)
				}
				select {
				case <-q.done:
				default:
					t.Fatalf("%d, begun %v: Interrupt has returned and the turn is not over", i, begun)
				}
				if q.err != nil || !q.completion.Interrupted || !slices.Contains(q.completion.Prompts, q.ID) {
					t.Errorf("%d, begun %v: completion %+v, %v", i, begun, q.completion, q.err)
				}
				// What was queued comes next.
				for a := range s.Activity(t.Context(), 0) {
					if c, ok := a.(*TurnCompleted); ok && slices.Contains(c.Prompts, next.ID) {
						if c.Answer != "Next." {
							t.Errorf("the next answer is %q", c.Answer)
						}
						break
					}
				}
			}
		}
	})
}

func TestSessionAskGivenUp(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(time.Hour)}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.Ask(ctx, Prompt{Text: "@tool Read {\"file_path\":\"/x\"}\n@say No."}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if phase, err := s.Await(t.Context(), fold.PhaseIdle); err != nil {
			t.Errorf("the session is %s, %v", phase, err)
		}
		if c := asks(t, s, "@say Still here."); c.Answer != "Still here." || c.Turn != 2 {
			t.Errorf("then %+v", c)
		}
	})
}

func TestSessionBackground(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(time.Minute)}, nil)
				c := asks(t, s, `@tool Bash {"command":"sleep 60","run_in_background":true}`+"\n@say Launched.")
				if c.Answer != "Launched." {
					t.Errorf("the answer is %q", c.Answer)
				}
				if phase, _ := s.State(); phase != fold.PhaseBackground {
					t.Errorf("the session is %s", phase)
				}
				if err := s.Finish(t.Context()); err != nil {
					t.Error(err)
				}
				var ends []*Completion
				for a := range s.Activity(t.Context(), 0) {
					if c, ok := a.(*TurnCompleted); ok {
						ends = append(ends, c.Completion)
					}
				}
				if len(ends) != 2 || len(ends[1].Prompts) != 0 {
					t.Errorf("the turns: %+v", ends)
				}
			})
		})
	}
}

func TestSessionFinishLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simSession(t, "2.1.325", claudetest.SimOptions{Tool: slowTool(time.Hour)}, &Options{BackgroundLimit: time.Minute})
		asks(t, s, `@tool Bash {"command":"sleep 3600","run_in_background":true}`+"\n@say Launched.")
		start := time.Now()
		if err := s.Finish(t.Context()); !errors.Is(err, ErrStillBusy) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d < time.Minute || d > 2*time.Minute {
			t.Errorf("it took %s", d)
		}
	})
}

func TestSessionFailedTurn(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		c := asks(t, s, "@error 400 message=no such thing")
		if c.Err() == nil || c.Result == nil {
			t.Errorf("completion %+v", c)
		}
		if c := asks(t, s, "@say Fine."); c.Err() != nil || c.Answer != "Fine." {
			t.Errorf("then %+v, %v", c, c.Err())
		}
	})
}

func TestSessionCloseMidTurn(t *testing.T) {
	onEachVersion(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(time.Hour)}, nil)
		_, q, err := s.send(t.Context(), Prompt{Text: "@tool Read {\"file_path\":\"/x\"}\n@say No."})
		if err != nil {
			t.Fatal(err)
		}
		_, waiting, err := s.send(t.Context(), Prompt{Text: "@say Never."})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if <-waiting.done; !errors.Is(waiting.err, ErrClosed) {
			t.Errorf("the prompt that waited: %v", waiting.err)
		}
		// The turn has its result, so the transcript has it too.
		if <-q.done; q.err != nil || q.completion.Result == nil || !q.completion.Interrupted {
			t.Errorf("the turn: %+v, %v", q.completion, q.err)
		}
		results := 0
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Header.Is("result", "") {
				results++
			}
		}
		if results != 1 {
			t.Errorf("%d results", results)
		}
		if phase, _ := s.State(); phase != fold.PhaseEnded {
			t.Errorf("the session is %s", phase)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestSessionPromptRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simSession(t, "2.1.37", claudetest.SimOptions{}, nil)
		for _, p := range []Prompt{{}, {Text: "  "}, {Text: "x", ID: "not a uuid"}} {
			if _, err := s.Send(t.Context(), p); err == nil {
				t.Errorf("%+v was taken", p)
			} else if _, ok := errors.AsType[*OptionError](err); !ok {
				t.Errorf("%+v: %v", p, err)
			}
		}
		if _, err := s.Ask(t.Context(), Prompt{Text: "x", Append: true}); err == nil {
			t.Error("an answer was waited for that cannot come")
		}
	})
}

func TestPromptContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := talkingFake(t, nil)
		if _, err := s.Send(t.Context(), Prompt{Text: "Look.", Content: []wire.Block{
			Image("image/png", []byte("png")), Document("application/pdf", "T", []byte("pdf")), Document("text/plain", "", []byte("plain")),
		}}); err != nil {
			t.Fatal(err)
		}
		line := f.next(t)
		for _, want := range []string{
			`{"type":"text","text":"Look."}`, `"media_type":"image/png"`, `"data":"cG5n"`, `"title":"T"`, `"type":"text","media_type":"text/plain","data":"plain"`,
		} {
			if !strings.Contains(line, want) {
				t.Errorf("there is no %s in %s", want, line)
			}
		}
		if strings.Index(line, "Look.") > strings.Index(line, "cG5n") {
			t.Errorf("the text does not come first: %s", line)
		}
	})
}
