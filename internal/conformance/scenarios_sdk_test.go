package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// hidesVersions is why rows of Session run on the oldest version, though they expect the same of all.
const hidesVersions = "Session hides what the oldest version does otherwise"

// sdkScenarios are what programs do with package claude: a [claude.Session] of their own, beside the process that a row gets otherwise.
func sdkScenarios() []Scenario {
	return slices.Concat(sdkTurnScenarios(), sdkLifeScenarios(), sdkToolScenarios(), sdkMoreScenarios())
}

// An sdkSession is a session of a scenario, and what it needs to be started again.
type sdkSession struct {
	*claude.Session
	stage *Stage
	host  *host
}

// sdkOpen starts a session on a CLI of the subject, over its transport: process says how the CLI is started, session what the session does. Folders
// are those of another session, or new ones if that is nil. The caller closes it.
func sdkOpen(s *Stage, in *sdkSession, process, session func(*claude.Options)) *sdkSession {
	opened, err := sdkTry(s, in, process, session)
	if err != nil {
		s.Fail("starting a session: %w", err)
	}
	return opened
}

// sdkTry is sdkOpen for sessions that may not start.
func sdkTry(s *Stage, in *sdkSession, process, session func(*claude.Options)) (*sdkSession, error) {
	l := s.column.launch(s)
	h := &host{}
	if in != nil {
		h.home, h.dir = in.host.home, in.host.dir
	} else {
		h.home, h.dir = must(newFolder(l.base, "home"+s.Tag())), must(newFolder(l.base, "dir"+s.Tag()))
	}
	h.setHandler(nil)
	quiet := slog.New(slog.DiscardHandler) // what panics here is meant to
	options := &claude.Options{Dir: h.dir, Env: cliEnv(h.home, l.model.URL()), CLI: l.cli, RequestTimeout: patience, Logger: quiet}
	if process != nil {
		process(options)
	}
	if s.Transport == stdio {
		if session != nil {
			session(options)
		}
		opened, err := claude.Start(s.ctx, options)
		if err != nil {
			return nil, err
		}
		h.stop = append(h.stop, opened.Close)
		return &sdkSession{opened, s, h}, nil
	}
	options.CLI, options.RequestTimeout, options.Logger, options.ReplayUserMessages = nil, 0, nil, true // who only starts a process takes nothing for a session
	transport, err := l.connect(s.ctx, h, options)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	own := &claude.Options{CLI: l.cli, RequestTimeout: patience, Logger: quiet}
	if s.Transport == hybrid {
		own.Insist = insistence
	}
	if session != nil {
		session(own)
	}
	opened, err := claude.NewSession(s.ctx, transport, own)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.stop = append(h.stop, opened.Close)
	return &sdkSession{opened, s, h}, nil
}

// close ends the session, and has its lines checked like all others.
func (k *sdkSession) close() {
	err := k.host.close()
	for line, end := range k.Lines(context.Background(), 0) {
		if end != nil {
			break
		}
		k.stage.lines = append(k.stage.lines, line.Bytes)
	}
	if err != nil {
		k.stage.Fail("closing the session: %w", err)
	}
}

// ask asks and returns how the turn ended, and the tag of its prompt.
func (k *sdkSession) ask(text string) (*claude.Completion, string) {
	tag := k.stage.Tag()
	c, err := k.Ask(k.stage.ctx, claude.TextPrompt(text+"\n"+tag))
	if err != nil {
		k.stage.Fail("asking: %w", err)
	}
	return c, tag
}

// activity returns what has happened in a session that has ended, in short.
func (k *sdkSession) activity() []string {
	var all []string
	for a, err := range k.Activity(context.Background(), 0) {
		if err != nil {
			return append(all, err.Error())
		}
		switch a := a.(type) {
		case *claude.TurnStarted:
			all = append(all, fmt.Sprintf("turn %d", a.Turn))
		case *claude.ActionChanged:
			all = append(all, fmt.Sprintf("%s %s", a.Phase, a.Action.Tool))
		case *claude.TurnCompleted:
			all = append(all, fmt.Sprintf("end %d: %s", a.Turn, a.Answer))
		case *claude.PromptDropped:
			all = append(all, "dropped")
		}
	}
	return all
}

// sdkAllow allows what may be allowed, and notes what is asked.
func sdkAllow(s *Stage) func(*claude.Options) {
	return func(o *claude.Options) {
		o.OnQuestion = func(_ context.Context, q claude.Question) (claude.Reply, error) {
			s.Note("asked: %s", q.Kind())
			if p, ok := q.(*claude.PermissionQuestion); ok {
				return p.Allow(), nil
			}
			return nil, errors.New("that is another question")
		}
	}
}

// sdkTouch is a prompt for a tool that is asked about.
func sdkTouch(name, say string) string {
	return fmt.Sprintf(`@tool Bash {"command":"touch %s","description":"Make a file"}
		@say %s`, name, say)
}

func sdkTurnScenarios() []Scenario {
	return []Scenario{
		{
			ID: "sdk.conversation", Facts: "Session: turns, a permission by callback, activity, costs",
			Also: map[string]string{
				Oldest + "/stdio": hidesVersions, Oldest + "/hybrid": "Session over POST, to the version that loses answers",
				LastDialing + "/websocket": "Session over a WebSocket",
			},
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, sdkAllow(s))
				first, _ := k.ask("@say I will.\n" + sdkTouch("one", "Made."))
				second, _ := k.ask("@say Welcome.")
				s.Note("%s %v, %s %v", first.Answer, first.Err(), second.Answer, second.Err())
				s.Note("each answers its prompt: %t", len(first.Prompts) == 1 && len(second.Prompts) == 1 && first.Prompts[0] != second.Prompts[0])
				info := k.Info()
				s.Note("known: %t, cost: %t", info.Conversation != "" && info.Version == s.Version && info.Init != nil && info.Initialize != nil && info.Turns == 2, first.Costs.CostUSD > 0 && info.Costs.CostUSD > first.Costs.CostUSD)
				_, err := k.Await(s.ctx, fold.PhaseIdle)
				s.Note("idle: %v", err)
				k.close()
				s.Note("%s", strings.Join(k.activity(), ", "))
			},
			Want: Same("asked: permission", "Made. <nil>, Welcome. <nil>", "each answers its prompt: true", "known: true, cost: true", "idle: <nil>",
				"turn 1, started Bash, completed Bash, end 1: Made., turn 2, end 2: Welcome."),
		},
		{
			ID: "sdk.pull", Facts: "Session: questions that are pulled, an interrupt with one open",
			Also: map[string]string{Oldest + "/hybrid": "an answer that comes too early is lost there, and sent again"},
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, func(o *claude.Options) { o.Pull = true })
				for _, stop := range []bool{false, true} {
					sent, err := k.Send(s.ctx, claude.TextPrompt(sdkTouch("two", "Made.")))
					if err != nil {
						s.Fail("sending: %w", err)
					}
					for q, err := range k.Questions(s.ctx) {
						if err != nil {
							s.Fail("waiting for a question: %w", err)
						}
						p, ok := q.(*claude.PermissionQuestion)
						if !ok {
							s.Fail("%s is asked", q.Kind())
						}
						if stop {
							// In hybrid mode 2.1.37 hangs if the interrupt comes before the answer to the POST with the question.
							if _, err := k.MCPStatus(s.ctx); err != nil {
								s.Fail("asking for the servers: %w", err)
							}
							_, err := k.Interrupt(s.ctx)
							<-q.Done()
							s.Note("interrupted: %v, withdrawn: %t, a late answer: %t", err, errors.Is(q.Err(), claude.ErrWithdrawn), errors.Is(k.Answer(s.ctx, q.ID(), p.Allow()), claude.ErrWithdrawn))
						} else {
							s.Note("%s, %d open, answered: %v", p.Tool, len(k.Pending()), k.Answer(s.ctx, q.ID(), p.Allow()))
							s.Note("again: %t", errors.Is(k.Answer(s.ctx, q.ID(), p.Deny("No.")), claude.ErrSettled))
						}
						break
					}
					for a := range k.Activity(s.ctx, 0) {
						if c, ok := a.(*claude.TurnCompleted); ok && slices.Contains(c.Prompts, sent.ID) {
							s.Note("%q, interrupted: %t", c.Answer, c.Interrupted)
							break
						}
					}
				}
				k.close()
			},
			Want: Same("Bash, 1 open, answered: <nil>", "again: true", `"Made.", interrupted: false`, "interrupted: <nil>, withdrawn: true, a late answer: true", `"", interrupted: true`),
		},
		{
			ID: "sdk.interrupt", Facts: "Session: an interrupt returns when the turn is over, before its beginning and in the middle",
			Also: map[string]string{Oldest + "/stdio": hidesVersions},
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, func(o *claude.Options) { o.IncludePartialMessages = true }, nil)
				_, err := k.Interrupt(s.ctx)
				s.Note("idle: %v", err)
				for _, begun := range []bool{false, true} {
					_, err := k.Send(s.ctx, claude.TextPrompt(chatter))
					if err != nil {
						s.Fail("sending: %w", err)
					}
					if begun {
						for len(k.Partials()) == 0 {
							for e, err := range k.Events(s.ctx, claude.NewestEvent) {
								if err != nil {
									s.Fail("waiting for words: %w", err)
								}
								if _, words := e.Delta(); words {
									break
								}
							}
						}
					}
					turns := k.Info().Turns
					_, err = k.Interrupt(s.ctx)
					s.Note("%v, turns: %d, still being written: %d", err, k.Info().Turns-turns, len(k.Partials()))
					next, _ := k.ask("@say Next.")
					s.Note("%s %t", next.Answer, next.Interrupted)
				}
				k.close()
			},
			Want: Same("idle: <nil>", "<nil>, turns: 1, still being written: 0", "Next. false", "<nil>, turns: 1, still being written: 0", "Next. false"),
		},
		{
			ID: "sdk.queue", Facts: "Session: a queue, a prompt into the turn that runs, one that is taken back",
			Also: map[string]string{Oldest: hidesVersions}, Where: stdioOnly,
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, func(o *claude.Options) { o.Pull = true })
				send := func(p claude.Prompt) claude.Sent {
					sent, err := k.Send(s.ctx, p)
					if err != nil {
						s.Fail("sending: %w", err)
					}
					return sent
				}
				first := send(claude.TextPrompt(sdkTouch("three", "First.")))
				for q, err := range k.Questions(s.ctx) { // the turn waits
					if err != nil {
						s.Fail("waiting for a question: %w", err)
					}
					second, never := send(claude.TextPrompt("@say Second.")), send(claude.TextPrompt("@say Never."))
					steered := send(claude.Prompt{Text: "Look left.", Steer: true})
					back, err := k.TakeBack(s.ctx, never.ID)
					s.Note("waiting: %d, taken back: %t %v", len(k.Queue()), back, err)
					if err := k.Answer(s.ctx, q.ID(), q.(*claude.PermissionQuestion).Allow()); err != nil {
						s.Fail("answering: %w", err)
					}
					names := map[string]string{first.ID: "first", second.ID: "second", steered.ID: "steered", never.ID: "never"}
					turns := 0
					for a, err := range k.Activity(s.ctx, 0) {
						if err != nil {
							s.Fail("waiting for the turns: %w", err)
						}
						if c, ok := a.(*claude.TurnCompleted); ok {
							var answered []string
							for _, id := range c.Prompts {
								answered = append(answered, names[id])
							}
							slices.Sort(answered)
							s.Note("%q answers %s", c.Answer, strings.Join(answered, " "))
							if turns++; turns == 2 {
								break
							}
						}
					}
					break
				}
				k.close()
			},
			Want: Same("waiting: 1, taken back: true <nil>", `"First." answers first steered`, `"Second." answers second`),
		},
	}
}

func sdkLifeScenarios() []Scenario {
	return []Scenario{
		{
			ID: "sdk.resume", Facts: "Session: resume, continue, fork, resume at a message", Where: stdioOnly,
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, nil)
				_, one := k.ask("@say One.")
				said := ""
				for e, err := range k.Events(s.ctx, 0) {
					if err != nil {
						s.Fail("reading: %w", err)
					}
					if e.Header.Is("assistant", "") {
						said = string(e.Header.UUID)
						break
					}
				}
				_, two := k.ask("@say Two.")
				id := k.Info().Conversation
				k.close()
				for _, how := range []struct {
					name    string
					options func(*claude.Options)
				}{
					{"resumed", func(o *claude.Options) { o.Resume = id }},
					{"continued", func(o *claude.Options) { o.Continue = true }},
					{"forked", func(o *claude.Options) { o.Resume, o.ForkSession = id, true }},
					{"at the first", func(o *claude.Options) { o.Resume, o.ResumeSessionAt, o.ForkSession = id, said, true }},
				} {
					r := sdkOpen(s, k, how.options, nil)
					c, tag := r.ask("@say More.")
					body := string(s.AwaitModel(tag, 1)[0].Body)
					s.Note("%s: %s, the same: %t, knows the first turn: %t, the second: %t", how.name, c.Answer, r.Info().Conversation == id, strings.Contains(body, one), strings.Contains(body, two))
					r.close()
				}
				_, err := sdkTry(s, k, func(o *claude.Options) { o.Resume = unusedID }, nil)
				if err == nil {
					s.Note("nothing to resume is told later") // with the first prompt, or not at all
				} else {
					_, ok := errors.AsType[*claude.ConversationNotFoundError](err)
					s.Note("nothing to resume: %t", ok)
				}
			},
			Want: Same("resumed: More., the same: true, knows the first turn: true, the second: true", "continued: More., the same: true, knows the first turn: true, the second: true",
				"forked: More., the same: false, knows the first turn: true, the second: true", "at the first: More., the same: false, knows the first turn: true, the second: false", "nothing to resume: true"),
		},
		{
			ID: "sdk.query", Facts: "Query, Text and QueryAs; a turn without a login", Where: stdioOnly,
			Run: func(s *Stage) {
				options := func(env ...string) *claude.Options {
					home := must(newFolder(s.column.base, "home"+s.Tag()))
					dir := must(newFolder(s.column.base, "dir"+s.Tag()))
					return &claude.Options{CLI: s.column.cli, Dir: dir, Env: append(cliEnv(home, s.Model.URL()), env...), MaxBudgetUSD: 5}
				}
				text, err := claude.Text(s.ctx, "@say Hello.", options())
				s.Note("%s %v", text, err)
				var types []string
				for e, err := range claude.Query(s.ctx, "@say Hello.", options()) {
					if err != nil {
						s.Fail("asking: %w", err)
					}
					if name := string(e.Header.Type); name == "assistant" || name == "result" {
						types = append(types, name)
					}
				}
				s.Note("%s", strings.Join(types, " "))
				got, _, err := claude.QueryAs[struct {
					N int `json:"n"`
				}](s.ctx, "@tool StructuredOutput {\"n\":\"five\"}\n@next\n@tool StructuredOutput {\"n\":6}\n@say That is all.", options())
				s.Note("%d %v", got.N, err)
				none := options()
				none.Env = slices.DeleteFunc(none.Env, func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") })
				_, err = claude.Text(s.ctx, "@say Hello.", none)
				login, ok := errors.AsType[*claude.LoginError](err)
				s.Note("without a login: %t", ok && login.Reason != "")
			},
			Sim:  map[string]string{"*": "it wants no login"},
			Want: Same("Hello. <nil>", "assistant result", "6 <nil>", "without a login: true"),
		},
		{
			ID: "sdk.background", Facts: "Session: Finish waits for what runs in the background, and for the turn that it leads to", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not wake up by itself")),
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, sdkAllow(s))
				first, _ := k.ask(`@tool Bash {"command":"touch begun; sleep 1; touch ended","description":"Wait","run_in_background":true}
					@takes 1s
					@say Launched.`)
				phase, _ := k.State()
				s.Note("%s %s", first.Answer, phase)
				s.Note("finished: %v", k.Finish(s.ctx))
				k.close()
				ends := 0
				for _, a := range k.activity() {
					if strings.HasPrefix(a, "end ") {
						ends++
					}
				}
				s.Note("turns: %d", ends)
			},
			Want: Same("asked: permission", "Launched. background", "finished: <nil>", "turns: 2"),
		},
		{
			ID: "sdk.close", Facts: "Session: Close in the middle of a turn keeps what was said", Where: stdioOnly,
			Run: func(s *Stage) {
				k := sdkOpen(s, nil, nil, func(o *claude.Options) { o.Pull = true })
				k.ask("@say One.")
				if _, err := k.Send(s.ctx, claude.TextPrompt("@say I will.\n"+sdkTouch("four", "Made."))); err != nil {
					s.Fail("sending: %w", err)
				}
				for _, err := range k.Questions(s.ctx) {
					if err != nil {
						s.Fail("waiting for a question: %w", err)
					}
					break
				}
				id := k.Info().Conversation
				k.close()
				s.Note("ended: %t", errors.Is(k.Err(), claude.ErrClosed))
				where := claude.ReadOptions{ConversationOptions: claude.ConversationOptions{ConfigDir: filepath.Join(k.host.home, ".claude"), Dir: k.host.dir}}
				var said []string
				for m, err := range claude.ReadConversation(s.ctx, id, &where) {
					if err != nil {
						s.Fail("reading: %w", err)
					}
					if a, ok := m.Message.(*wire.Assistant); ok {
						for _, b := range a.Message.Content {
							switch b := b.(type) { //nolint:gochecksumtype // the others are of no interest
							case *wire.TextBlock:
								said = append(said, b.Text)
							case *wire.ToolUseBlock:
								said = append(said, b.Name)
							}
						}
					}
				}
				s.Note("%s", strings.Join(said, " "))
			},
			Want: Same("ended: true", "One. I will. Bash"),
		},
	}
}
