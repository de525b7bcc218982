package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The tests named TestComplaint… are what users of the official SDKs complain
// about most, and show that it does not happen here.

// askingArgs starts a simulated CLI that asks before it runs Bash.
func askingArgs(more ...string) []string {
	return append([]string{
		"--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--permission-prompt-tool", "stdio", "--replay-user-messages", "--include-partial-messages",
	}, more...)
}

// allowing is a handler that allows every tool and counts the questions.
func allowing(asked *atomic.Int32) QuestionHandler {
	return func(_ context.Context, q Question) (Reply, error) {
		asked.Add(1)
		p, ok := q.(*PermissionQuestion)
		if !ok {
			return nil, errors.New("that is another question")
		}
		return p.Allow(), nil
	}
}

// The input of the CLI is closed at the first result, while agents and commands
// in the background go on: what they ask later is refused with "Stream closed",
// and hooks are silently left out.
func TestComplaint01InputStaysOpenForBackgroundWork(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} { // 2.1.37 does not wake up by itself
		bubble(t, version, func(t *testing.T) {
			var asked, hooked atomic.Int32
			s := simSession(t, version, claudetest.SimOptions{
				Args: askingArgs(),
				Tool: slowTool(time.Minute),
				Script: claudetest.Steps(
					claudetest.Say(claudetest.Tool("Bash", map[string]any{"command": "make one", "run_in_background": true})),
					claudetest.Say(claudetest.Text("Launched.")),
					claudetest.Say(claudetest.Tool("Bash", map[string]any{"command": "touch two"})), // in the turn of its own
					claudetest.Say(claudetest.Text("Finished.")),
				),
			}, withVersion(t, version, Options{OnQuestion: allowing(&asked), Hooks: Hooks{PreToolUse: On("Bash", func(context.Context, *wire.PreToolUseInput) (*HookAnswer[wire.PreToolUseOutput], error) {
				hooked.Add(1)
				return nil, nil
			})}}))
			if c := asks(t, s, "go"); c.Answer != "Launched." {
				t.Fatalf("the first answer is %q", c.Answer)
			}
			if err := s.Finish(t.Context()); err != nil {
				t.Errorf("finishing: %v", err)
			}
			if asked.Load() != 2 || hooked.Load() != 2 {
				t.Errorf("%d questions and %d hooks, want 2 of each: %s", asked.Load(), hooked.Load(), toolResults(t, s))
			}
			all := s.completions()
			if len(all) != 2 || all[1].Answer != "Finished." {
				t.Errorf("the turns: %+v", all)
			}
			for e, err := range s.Events(t.Context(), 0) {
				if err != nil || strings.Contains(string(e.Raw), "closed") {
					t.Errorf("%s, %v", e.Raw, err)
				}
			}
		})
	}
	t.Run("Query", func(t *testing.T) {
		results := 0
		for e, err := range Query(soon(t), "@tool Bash {\"command\":\"make one\",\"run_in_background\":true}\n@takes 2s\n@say Launched.",
			&Options{CLI: simProgram(t, "2.1.325"), Env: simEnviron(t), AllowedTools: []string{"Bash"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Header.Is("result", "") {
				results++
			}
		}
		if results != 2 {
			t.Errorf("%d results, want that of the prompt and that of the task", results)
		}
	})
}

// The handler of permissions is never called: a single prompt needs another mode of
// input for it, or something else has decided before, and nothing says so.
func TestComplaint02HandlerIsCalled(t *testing.T) {
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			var asked atomic.Int32
			text, err := Text(soon(t), touchOne, &Options{CLI: simProgram(t, version), Env: simEnviron(t), OnQuestion: allowing(&asked)})
			if err != nil || text != "Over." || asked.Load() != 1 {
				t.Errorf("%q, %v, asked %d times", text, err, asked.Load())
			}
		})
	}
	handler := allowing(new(atomic.Int32))
	for _, o := range []Options{
		{OnQuestion: handler, AllowedTools: []string{"Bash"}},
		{OnQuestion: handler, PermissionMode: wire.PermissionModeBypassPermissions},
		{OnQuestion: handler, PermissionPromptTool: "none"},
	} {
		if len(o.Warnings()) == 0 {
			t.Errorf("nothing is said of %+v", o)
		}
	}
	if w := (&Options{OnQuestion: handler}).Warnings(); len(w) != 0 {
		t.Errorf("without a reason: %q", w)
	}
}

// A new CLI says something that the SDK does not know, and the SDK's parser ends
// the session.
func TestComplaint03UnknownMessagesAreEvents(t *testing.T) {
	bubble(t, "invented", func(t *testing.T) {
		f, s := talkingFake(t, nil)
		_, q, err := s.send(t.Context(), Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		invented := []string{
			`{"type":"rate_limit_event","rate_limit_info":{"status":"invented"}}`,
			`{"type":"invented","deep":{"er":[1,2]}}`,
			`{"type":"system","subtype":"invented","x":null}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"invented","x":1},{"type":"text","text":"Known.","y":2}],"stop_reason":"invented"}}`,
			`{"type":"stream_event","event":{"type":"invented"}}`,
			`{"type":"user","message":{"role":"invented","content":[{"type":"invented"}]}}`,
		}
		for _, line := range append([]string{initLine, echoOf(prompt)}, invented...) {
			f.say <- line
		}
		f.say <- strings.Replace(resultLine, `"result":"Done."`, `"result":"","invented":{}`, 1)
		<-q.done
		if q.err != nil || q.completion.Answer != "Known." {
			t.Errorf("%+v, %v", q.completion, q.err)
		}
		var got []string
		newest := s.conn.backlog.newest()
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Message(); err != nil {
				t.Errorf("%s: %v", e.Raw, err)
			}
			got = append(got, string(e.Raw))
			if e.Number == newest {
				break
			}
		}
		for _, line := range invented {
			if !slices.Contains(got, line) {
				t.Errorf("there is no event %s", line)
			}
		}
	})
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		if c := asks(t, s, "@every"); c.Err() != nil { // every message that there is, whatever the version
			t.Error(c.Err())
		}
		synctest.Wait()
		for _, l := range soFar(t, s, 0) {
			if _, err := l.Message(); err != nil {
				t.Errorf("%s: %v", l.Bytes, err)
			}
		}
		if _, err := s.MCPStatus(t.Context()); err != nil || s.Err() != nil {
			t.Errorf("then %v, %v", err, s.Err())
		}
	})
}

// The start hangs for ever, or for a minute and then without a reason, when
// the CLI does not answer.
func TestComplaint05StartNeverHangs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options *Options
		want    time.Duration
	}{{"by default", nil, 2 * time.Minute}, {"as told", &Options{StartTimeout: 3 * time.Second}, 3 * time.Second}} {
		bubble(t, tt.name, func(t *testing.T) {
			f := newFakeTransport()
			begin := time.Now()
			_, err := NewSession(t.Context(), f, tt.options)
			if !errors.Is(err, ErrNoAnswer) || time.Since(begin) != tt.want {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
			<-f.done // it was closed
		})
	}
	t.Run("dead", func(t *testing.T) {
		cli, env := fakeCLI(t, "fail", "the plugin is broken", version(325))
		_, err := Start(soon(t), &Options{CLI: cli, Env: env})
		if exit, ok := errors.AsType[*ExitError](err); !ok || exit.Code != 3 {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "cancelled", func(t *testing.T) {
		f := newFakeTransport()
		cause := errors.New("no patience")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		begin := time.Now()
		if _, err := NewSession(ctx, f, nil); !errors.Is(err, cause) || time.Since(begin) != time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// Each question pays for the start of a process, many seconds of it.
func TestComplaint06OneProcessForManyPrompts(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		begin := time.Now()
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		for i := range 3 {
			if c := asks(t, s, fmt.Sprintf("@say Answer %d.", i)); c.Answer != fmt.Sprintf("Answer %d.", i) {
				t.Errorf("the answer is %q", c.Answer)
			}
		}
		// The bubble's time passes only where somebody waits for a clock.
		if d := time.Since(begin); d != 0 {
			t.Errorf("somebody waited for %s", d)
		}
		initialized := 0
		for _, l := range soFar(t, s, 0) {
			if l.Header.Is("control_response", "") {
				initialized++
			}
		}
		if initialized != 1 {
			t.Errorf("%d answers to requests, want that to initialize alone", initialized)
		}
	})
	// A CLI that is given is not asked for its version, which is another start.
	cli, env := fakeCLI(t, "fail", "it was run", version(325))
	found, err := (&Options{CLI: cli, Env: env}).startProcess(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if found.command.Version != version(325) {
		t.Errorf("the version is %s", found.command.Version)
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
}

// All that is said is that the process exited with code 1.
func TestComplaint07CauseOfTheExit(t *testing.T) {
	cli, env := fakeCLI(t, "fail", "Error: the settings file is not JSON", version(325))
	_, err := Start(soon(t), &Options{CLI: cli, Env: env})
	if err == nil || !strings.Contains(err.Error(), "the settings file is not JSON") || !strings.Contains(err.Error(), "3") {
		t.Errorf("the error says: %v", err)
	}
	bubble(t, "in a turn", func(t *testing.T) {
		f, s := talkingFake(t, nil)
		_, q, err := s.send(t.Context(), Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		prompt := f.next(t)
		for _, line := range []string{initLine, echoOf(prompt), `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["the disk is full"]}`} {
			f.say <- line
		}
		<-q.done
		if err := q.completion.Err(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("the turn's error says: %v", err)
		}
		_ = f.die(&ExitError{Code: 1, Stderr: "goodbye"})
		<-s.Done()
		exit, ok := errors.AsType[*ExitError](s.Err())
		if !ok || exit.Code != 1 || exit.Result == nil || exit.Stderr != "goodbye" || !strings.Contains(s.Err().Error(), "the disk is full") {
			t.Errorf("the session ended with %v", s.Err())
		}
	})
}

// A line of over 1 MiB, such as an image, ends the session.
func TestComplaint08LongLines(t *testing.T) {
	s := roughSession(t, "2.1.325", nil)
	const size = 5 << 20
	if c, err := s.Ask(soon(t), Prompt{Text: fmt.Sprintf("@tool Read {\"file_path\":\"huge %d\"}\n@say Read.", size)}); err != nil || c.Answer != "Read." {
		t.Fatalf("%+v, %v", c, err)
	}
	longest := 0
	for _, l := range soFar(t, s, 0) {
		longest = max(longest, len(l.Bytes))
	}
	if longest < size {
		t.Errorf("the longest line has %d bytes", longest)
	}
	// The other way.
	if c, err := s.Ask(soon(t), Prompt{Text: "@say Seen.", Content: []wire.Block{Image("image/png", make([]byte, 1<<20))}}); err != nil || c.Answer != "Seen." {
		t.Errorf("%+v, %v", c, err)
	}
}

// An interrupt never settles while the model is asked, does nothing before the
// first message, and what comes after it still belongs to what was interrupted.
func TestComplaint09InterruptSettles(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		for _, begun := range []bool{false, true} {
			_, q, err := s.send(t.Context(), Prompt{Text: "@slow 1m\n@say This is never said to its end, since it takes an hour."})
			if err != nil {
				t.Fatal(err)
			}
			if begun {
				synctest.Wait() // the model speaks
			}
			began := time.Now()
			if _, err := s.Interrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d > time.Minute {
				t.Errorf("it took %s", d)
			}
			select {
			case <-q.done:
			default:
				t.Fatal("Interrupt has returned before the end of the turn")
			}
			if !q.completion.Interrupted || s.Partials() != nil {
				t.Errorf("begun %v: %+v, partial %v", begun, q.completion, s.Partials())
			}
			after := s.conn.backlog.newest()
			if c := asks(t, s, "@say Next."); c.Answer != "Next." || c.Interrupted {
				t.Errorf("begun %v: then %+v", begun, c)
			}
			for _, l := range soFar(t, s, after) {
				if strings.Contains(string(l.Bytes), "an hour") || strings.Contains(string(l.Bytes), "interrupted by user") {
					t.Errorf("it came late: %s", l.Bytes)
				}
			}
		}
	})
}

// What is said while a turn runs is lost, or mixed up with it, and cannot be
// taken back.
func TestComplaint10QueueSteerTakeBack(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Tool: slowTool(time.Minute)}, nil)
		_, first, err := s.send(t.Context(), Prompt{Text: "@tool Read {\"file_path\":\"/x\"}\n@say First."})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var waiting []*sentPrompt
		for _, p := range []Prompt{{Text: "@say Second."}, {Text: "@say Never."}, {Text: "Look left.", Steer: true}} {
			_, q, err := s.send(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, q)
		}
		second, never, steered := waiting[0], waiting[1], waiting[2]
		if ok, err := s.TakeBack(t.Context(), never.ID); !ok || err != nil {
			t.Errorf("taking back: %v, %v", ok, err)
		}
		for _, q := range []*sentPrompt{first, second, never, steered} {
			<-q.done
		}
		if first.completion.Answer != "First." || first.completion.Turn != 1 || steered.completion != first.completion {
			t.Errorf("the first turn: %+v", first.completion)
		}
		if second.completion.Answer != "Second." || second.completion.Turn != 2 {
			t.Errorf("the second turn: %+v", second.completion)
		}
		if !errors.Is(never.err, ErrTakenBack) || s.Info().Turns != 2 {
			t.Errorf("what was taken back: %v, after %d turns", never.err, s.Info().Turns)
		}
		if phase, err := s.Await(t.Context(), fold.PhaseIdle); err != nil {
			t.Errorf("the session is %s, %v", phase, err)
		}
	})
}
