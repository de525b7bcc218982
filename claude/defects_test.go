package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The tests named TestDefect… are mistakes that other SDKs for Go have, found by
// reading them, and show that they are not made here.

// defectVersions are all that are told apart.
func defectVersions() []string { return []string{"2.1.37", "2.1.120", "2.1.325"} }

// onFakes runs a test with a scripted CLI of each version, in a bubble.
func onFakes(t *testing.T, o *Options, f func(t *testing.T, f *fakeTransport, s *Session)) {
	t.Helper()
	for _, version := range defectVersions() {
		bubble(t, version, func(t *testing.T) {
			fake, s, _ := askingSession(t, version, o)
			f(t, fake, s)
		})
	}
}

// The handler runs where the lines are read, so that a person who thinks stops the
// stream, and even the interrupt.
func TestDefectHandlerBlocksReader(t *testing.T) {
	asked := make(chan struct{}, 10)
	onFakes(t, &Options{OnQuestion: func(ctx context.Context, _ Question) (Reply, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}, func(t *testing.T, f *fakeTransport, s *Session) {
		f.asks("q1", askBash)
		f.asks("q2", askBash)
		<-asked
		<-asked // both are asked at once
		f.say <- `{"type":"system","subtype":"while"}`
		synctest.Wait()
		if s.conn.backlog.newest() < 4 {
			t.Error("nothing is read while a question is open")
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.MCPStatus(t.Context())
			done <- err
		}()
		f.answer(f.next(t), `{"mcpServers":[]}`)
		if err := <-done; err != nil {
			t.Errorf("a request while a question is open: %v", err)
		}
	})
}

// The input is left out of an answer that allows, which older CLIs refuse, and the
// message of one that denies, which all refuse.
func TestDefectUpdatedInputLeftOut(t *testing.T) {
	var reply func(*PermissionQuestion) Reply
	onFakes(t, &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) { return reply(q.(*PermissionQuestion)), nil }},
		func(t *testing.T, f *fakeTransport, _ *Session) {
			for i, tt := range []struct {
				reply   func(*PermissionQuestion) Reply
				members []string
			}{
				{(*PermissionQuestion).Allow, []string{`"behavior":"allow"`, `"updatedInput":{"command":"touch one"}`}},
				{(*PermissionQuestion).AllowAlways, []string{`"behavior":"allow"`, `"updatedInput":{"command":"touch one"}`, `"updatedPermissions":[{"type":"addRules"`}},
				{func(q *PermissionQuestion) Reply { return q.AllowWith(json.RawMessage(`{"command":"ls"}`)) }, []string{`"updatedInput":{"command":"ls"}`}},
				{func(q *PermissionQuestion) Reply { return q.Deny("") }, []string{`"behavior":"deny"`, `"message":"`}},
				{func(q *PermissionQuestion) Reply { return q.DenyAndStop("") }, []string{`"behavior":"deny"`, `"message":"`, `"interrupt":true`}},
			} {
				reply = tt.reply
				id := fmt.Sprintf("q%d", i)
				f.asks(id, askBash)
				got := answerBody(t, f.next(t), id)
				for _, m := range tt.members {
					wantPart(t, got, m)
				}
				if strings.Contains(got, `"message":""`) || strings.Contains(got, "updated_input") {
					t.Errorf("the answer is %s", got)
				}
			}
		})
}

// Without a handler everything is allowed.
func TestDefectAllowByDefault(t *testing.T) {
	refuses := func(t *testing.T, f *fakeTransport, _ *Session) {
		for i, q := range []string{askBash, askChoice, askPlan} {
			id := fmt.Sprintf("q%d", i)
			f.asks(id, q)
			got := answerBody(t, f.next(t), id)
			if !strings.Contains(got, `"behavior":"deny"`) || strings.Contains(got, `"message":""`) {
				t.Errorf("%.60s is answered with %s", q, got)
			}
		}
	}
	t.Run("no handler", func(t *testing.T) { onFakes(t, nil, refuses) })
	for name, handler := range map[string]QuestionHandler{
		"error":   func(context.Context, Question) (Reply, error) { return nil, errors.New("broken") },
		"nothing": func(context.Context, Question) (Reply, error) { return nil, nil },
		"panic":   func(context.Context, Question) (Reply, error) { panic("broken") },
		"both":    func(_ context.Context, q Question) (Reply, error) { return allowAny(q), errors.New("broken") },
	} {
		t.Run(name, func(t *testing.T) { onFakes(t, &Options{OnQuestion: handler, Logger: quietly()}, refuses) })
	}
	// On a CLI, too, nothing runs.
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, nil)
		asks(t, s, "@tool Bash {\"command\":\"touch one\"}\n@result It has run.\n@say Over.")
		if got := toolResults(t, s); len(got) != 1 || strings.Contains(got[0], "It has run") {
			t.Errorf("the tool says %q", got)
		}
	})
}

// allowAny is the reply of somebody who does not look.
func allowAny(q Question) Reply {
	switch q := q.(type) {
	case *PermissionQuestion:
		return q.Allow()
	case *PlanQuestion:
		return q.Approve("")
	case *ChoiceQuestion:
		return q.Pick()
	}
	return nil
}

// What the CLI suggests as rules, and which tool call and agent asks, does not
// reach the handler.
func TestDefectSuggestionsDropped(t *testing.T) {
	var got *PermissionQuestion
	onFakes(t, &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
		got = q.(*PermissionQuestion)
		return got.AllowAlways(), nil
	}}, func(t *testing.T, f *fakeTransport, _ *Session) {
		f.asks("q1", strings.Replace(askBash, `"tool_use_id"`, `"agent_id":"a1","decision_reason":"why","blocked_path":"/x","tool_use_id"`, 1))
		line := f.next(t)
		if len(got.Suggestions) != 1 || got.ToolUseID() != "toolu_1" || got.AgentID() != "a1" || got.Tool != "Bash" ||
			got.Request.DecisionReason != "why" || got.Request.BlockedPath != "/x" {
			t.Errorf("the handler gets %+v of %+v", got, got.Request)
		}
		// As they came, what is not known of them included.
		wantPart(t, line, `"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*","later":1}],"behavior":"allow","destination":"localSettings"}]`)
	})
}

// A form of an MCP server is an unknown request, and the tool that asks fails.
func TestDefectElicitationUnanswered(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		bubble(t, version, func(t *testing.T) {
			f, _, _ := askingSession(t, version, nil)
			f.asks("q1", askForm)
			f.expectAnswer(t, "q1", `{"action":"decline"}`)
			f.asks("q2", askPage)
			f.expectAnswer(t, "q2", `{"action":"decline"}`)
			f, _, _ = askingSession(t, version, &Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
				return q.(*FormQuestion).Accept(map[string]any{"name": "Ada"}), nil
			}})
			f.asks("q1", askForm)
			f.expectAnswer(t, "q1", `{"action":"accept","content":{"name":"Ada"}}`)
		})
	}
}

// Who does not read the messages is not asked for permission either, since the
// messages are in the way.
func TestDefectUnreadMessagesStallApprovals(t *testing.T) {
	onFakes(t, &Options{Backlog: 1 << 10, OnQuestion: func(_ context.Context, q Question) (Reply, error) { return q.(*PermissionQuestion).Allow(), nil }},
		func(t *testing.T, f *fakeTransport, s *Session) {
			// Somebody has begun to read, and stands still.
			stand := make(chan struct{})
			var reader sync.WaitGroup
			reader.Go(func() {
				for range s.Events(t.Context(), 0) {
					<-stand
				}
			})
			for range 1000 {
				f.say <- `{"type":"system","subtype":"x","pad":"` + strings.Repeat("x", 1000) + `"}`
			}
			f.asks("q1", askBash)
			wantPart(t, answerBody(t, f.next(t), "q1"), `"allow"`)
			close(stand)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			reader.Wait()
		})
}

// A type of message that is not known ends the stream, or the message is dropped.
func TestDefectUnknownTypeEndsStream(t *testing.T) {
	onFakes(t, nil, func(t *testing.T, f *fakeTransport, s *Session) {
		const line = `{"later":[1, 2.50],"type":"invented","session_id":"c1"}`
		f.say <- line
		f.say <- `{"type":"system","subtype":"after"}`
		var got []wire.Message
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Message()
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, m); len(got) == 2 {
				break
			}
		}
		unknown, ok := got[0].(*wire.Unknown)
		if !ok || string(unknown.Raw()) != line {
			t.Errorf("got %#v", got[0])
		}
	})
}

// A line of over 1 MB ends the session, as the usual scanner has it. One that is
// over even our limit is reported, and the next one comes.
func TestDefectLongLines(t *testing.T) {
	cli, env := fakeCLI(t, "huge", fmt.Sprint(3<<20), version(325))
	p, err := cli.Start(soon(t), &Options{Env: env, MaxLine: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(p, nil)
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	var got []Line
	for l, err := range c.Lines(soon(t), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, l); len(got) == 2 {
			break
		}
	}
	if got[0].TooLong == nil || got[0].TooLong.Length != 3<<20 || got[0].Bytes != nil || string(got[1].Bytes) != `{"after":true}` {
		t.Errorf("got %.200v", got)
	}
}

// The CLI withdraws a question and the handler goes on asking, for an answer that
// nobody wants.
func TestDefectCancelIgnored(t *testing.T) {
	withdrawn := make(chan error, 1)
	onFakes(t, &Options{OnQuestion: func(ctx context.Context, q Question) (Reply, error) {
		<-ctx.Done()
		withdrawn <- context.Cause(ctx)
		return allowAny(q), nil
	}}, func(t *testing.T, f *fakeTransport, s *Session) {
		f.asks("q1", askBash)
		q := only(t, s)
		f.withdraws("q1")
		if err := <-withdrawn; !errors.Is(err, ErrWithdrawn) {
			t.Errorf("the handler's context ends with %v", err)
		}
		<-q.Done()
		f.quiet(t) // what the handler returns is not sent
		if len(s.Pending()) != 0 || !errors.Is(q.Err(), ErrWithdrawn) {
			t.Errorf("%d questions are open, %v", len(s.Pending()), q.Err())
		}
		if err := s.Answer(t.Context(), "q1", allowAny(q)); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("a late answer: %v", err)
		}
	})
}

// A request that is not known is answered with success, or never; one that another
// program is to answer is answered.
func TestDefectUnknownRequestsAnsweredWithSuccess(t *testing.T) {
	onFakes(t, nil, func(t *testing.T, f *fakeTransport, _ *Session) {
		for i, subtype := range []string{"invented", "interrupt", "rewind_files", "mcp_toggle", "set_model"} {
			id := fmt.Sprintf("q%d", i)
			f.asks(id, fmt.Sprintf(`{"subtype":%q}`, subtype))
			if got := answerBody(t, f.next(t), id); !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s is answered with %s", subtype, got)
			}
		}
		f.asks("q9", askDialog)
		f.quiet(t)
	})
}

// The line is not there beside what was read from it, so that what the SDK does not
// know is lost, and nothing can be passed on.
func TestDefectNoRawLine(t *testing.T) {
	lines := []string{
		initLine, resultLine, `{ "type":"assistant", "message":{"content":[{"type":"text","text":"\u00e9"}]} , "new":1}`,
		`{"type":"user","message":{"role":"user","content":"x"}}`, `{"type":"stream_event","event":{"type":"message_stop"}}`,
	}
	onFakes(t, nil, func(t *testing.T, f *fakeTransport, s *Session) {
		for _, line := range lines {
			f.say <- line
		}
		n := 0
		for e, err := range s.Events(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Message()
			if err != nil {
				t.Fatal(err)
			}
			raw := m.(interface{ Raw() json.RawMessage }).Raw()
			if string(e.Raw) != lines[n] || string(raw) != lines[n] {
				t.Errorf("the line is %s\nthe event's %s\nthe message's %s", lines[n], e.Raw, raw)
			}
			if n++; n == len(lines) {
				break
			}
		}
	})
}

// The message of a refusal is lost on its way: what the program says does not reach
// the model.
func TestDefectMessageLeftOut(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{Args: askingArgs()}, withVersion(t, version, Options{OnQuestion: func(_ context.Context, q Question) (Reply, error) {
			return q.Decline("Use the other file."), nil
		}}))
		asks(t, s, touchOne)
		if got := toolResults(t, s); len(got) != 1 || !strings.Contains(got[0], "Use the other file.") {
			t.Errorf("the model is told %q", got)
		}
	})
}

// The handler returns anything, and what does not fit is found out when it is too
// late: by the CLI.
func TestDefectAnswersOfAnyType(t *testing.T) {
	onFakes(t, &Options{Pull: true}, func(t *testing.T, f *fakeTransport, s *Session) {
		f.asks("q1", askBash)
		f.asks("q2", askChoice)
		synctest.Wait()
		var bash *PermissionQuestion
		var choice *ChoiceQuestion
		for _, q := range s.Pending() {
			switch q := q.(type) {
			case *PermissionQuestion:
				bash = q
			case *ChoiceQuestion:
				choice = q
			}
		}
		if bash == nil || choice == nil {
			t.Fatalf("asked is %v", s.Pending())
		}
		for name, err := range map[string]error{
			"a reply to another question": s.Answer(t.Context(), "q1", choice.Pick("A")),
			"no reply":                    s.Answer(t.Context(), "q1", nil),
			"input that is no object":     s.Answer(t.Context(), "q1", bash.AllowWith(json.RawMessage(`[]`))),
			"a mode that is not allowed":  s.Answer(t.Context(), "q1", bash.AllowUpdating(&wire.SetMode{Mode: wire.PermissionModeBypassPermissions, Destination: "session"})),
		} {
			if err == nil {
				t.Errorf("%s was taken", name)
			}
		}
		f.quiet(t) // nothing was sent
		if len(s.Pending()) != 2 {
			t.Error("a question is not open any more")
		}
		if err := s.Answer(t.Context(), "q1", bash.Allow()); err != nil {
			t.Error(err)
		}
		wantPart(t, f.next(t), `"q1"`)
	})
	// Nobody else can make one.
	if reply := reflect.TypeFor[Reply](); !slices.ContainsFunc(slices.Collect(methodsOf(reply)), func(m reflect.Method) bool { return !m.IsExported() }) {
		t.Error("anything can be a Reply")
	}
}

func methodsOf(t reflect.Type) func(func(reflect.Method) bool) {
	return func(yield func(reflect.Method) bool) {
		for m := range t.Methods() {
			if !yield(m) {
				return
			}
		}
	}
}

// A write to a CLI that does not read has no deadline, and holds up everything.
func TestDefectWritesWithoutDeadline(t *testing.T) {
	cli, env := fakeCLI(t, "deaf", "", version(325))
	p, err := cli.Start(soon(t), &Options{Env: env, InputGrace: time.Millisecond, TermGrace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Write(ctx, []byte(strings.Repeat("x", 1<<20))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// One consumer takes the messages away from the others.
func TestDefectOneConsumer(t *testing.T) {
	onEach(t, func(t *testing.T, version string) {
		s := simSession(t, version, claudetest.SimOptions{}, nil)
		var readers sync.WaitGroup
		counts := make([]int, 5)
		for i := range counts {
			readers.Go(func() {
				for _, err := range s.Events(t.Context(), 0) {
					if err == nil {
						counts[i]++
					}
				}
			})
		}
		asks(t, s, "@say Hello to all.")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		readers.Wait()
		for e, err := range s.Events(t.Context(), 0) { // who comes late reads it all, too
			if err != nil {
				t.Fatal(e, err)
			}
			counts[0]--
		}
		if counts[0] != 0 || counts[1] < 4 || slices.Min(counts[1:]) != slices.Max(counts[1:]) {
			t.Errorf("the readers got %v", counts)
		}
		if phase, _ := s.State(); phase != fold.PhaseEnded {
			t.Errorf("the session is %s", phase)
		}
	})
}
