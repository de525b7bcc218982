package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Goroutines are looked after by TestMain, processes and descriptors by
// leavesNothing.

// openFiles returns how many descriptors this process has, -1 where that cannot be
// told.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// leavesNothing fails if more descriptors are open after a test than before, or
// children of this process are left. A first process opens some that stay (the
// runtime's poller), so there has been one.
func leavesNothing(t *testing.T, f func()) {
	t.Helper()
	p := startFake(t, "echo", "", nil)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	before := openFiles()
	f()
	eventually(t, fmt.Sprintf("there are %d descriptors again", before), func() bool { return openFiles() <= before })
	if left := childrenLeft(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// The CLI is killed in the middle of a turn.
func TestRobustKilled(t *testing.T) {
	leavesNothing(t, func() {
		s, err := startRough(t, "2.1.325", nil)
		if err != nil {
			t.Fatal(err)
		}
		type outcome struct {
			c   *Completion
			err error
		}
		ended := make(chan outcome, 1)
		go func() {
			c, err := s.Ask(soon(t), Prompt{Text: "@say So far.\n@tool Bash {\"command\":\"make\"}\n@takes 1h\n@say Never."})
			ended <- outcome{c, err}
		}()
		for a, err := range s.Activity(soon(t), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := a.(*ActionChanged); ok {
				break
			}
		}
		process, err := os.FindProcess(s.PID())
		if err != nil {
			t.Fatal(err)
		}
		// The handle is a descriptor of its own.
		if err := errors.Join(process.Kill(), process.Release()); err != nil {
			t.Fatal(err)
		}
		o := <-ended
		if exit, ok := errors.AsType[*ExitError](o.err); !ok || runtime.GOOS != "windows" && exit.Signal != "killed" {
			t.Errorf("the turn ended with %v", o.err)
		}
		if o.c == nil || o.c.Answer != "So far." || o.c.Err() == nil {
			t.Errorf("the turn came to %+v", o.c)
		}
		<-s.Done()
		if exit, ok := errors.AsType[*ExitError](s.Err()); !ok || exit.PID != s.PID() {
			t.Errorf("the session ended with %v", s.Err())
		}
		if phase, _ := s.State(); phase != fold.PhaseEnded {
			t.Errorf("the session is %s", phase)
		}
		if _, err := s.Send(soon(t), Prompt{Text: "x"}); err == nil {
			t.Error("a dead CLI took a prompt")
		}
		if _, err := s.MCPStatus(soon(t)); err == nil {
			t.Error("a dead CLI answered")
		}
		if _, err := s.Interrupt(soon(t)); err == nil {
			t.Error("a dead CLI was interrupted")
		}
		var last error
		for _, err := range s.Events(soon(t), 0) {
			last = err
		}
		if _, ok := errors.AsType[*ExitError](last); !ok {
			t.Errorf("the events end with %v", last)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}

// What is no message does not disturb the session, and is there to be read.
func TestRobustNoise(t *testing.T) {
	for _, version := range defectVersions() {
		t.Run(version, func(t *testing.T) {
			s := roughSession(t, version, nil)
			c, err := s.Ask(soon(t), Prompt{Text: "@tool Read {\"file_path\":\"noise\"}\n@say Heard.", ID: ""})
			if err != nil || c.Answer != "Heard." {
				t.Fatalf("%+v, %v", c, err)
			}
			if c, err := s.Ask(soon(t), Prompt{Text: "@say Again."}); err != nil || c.Answer != "Again." {
				t.Fatalf("%+v, %v", c, err)
			}
			var got strings.Builder
			for _, l := range soFar(t, s, 0) {
				got.Write(l.Bytes)
				got.WriteByte('\n')
			}
			for noise := range strings.SplitSeq(roughNoise, "\n") {
				if strings.TrimSpace(noise) != "" && !strings.Contains(got.String(), noise+"\n") {
					t.Errorf("%q is lost", noise)
				}
			}
			unread := 0
			for l, err := range s.Events(soon(t), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := l.Message(); err != nil {
					unread++
				}
				if l.Header.Is("result", "") && strings.Contains(string(l.Raw), "Again.") {
					break
				}
			}
			if unread == 0 {
				t.Error("the noise is no error of Message")
			}
		})
	}
}

// A line of 40 MB goes through, and what comes after it.
func TestRobustHugeLine(t *testing.T) {
	s := roughSession(t, "2.1.325", nil)
	const size = 40 << 20
	c, err := s.Ask(soon(t), Prompt{Text: fmt.Sprintf("@tool Read {\"file_path\":\"huge %d\"}\n@say Read.", size)})
	if err != nil || c.Answer != "Read." {
		t.Fatalf("%+v, %v", c, err)
	}
	longest := 0
	for _, l := range soFar(t, s, 0) {
		if longest = max(longest, len(l.Bytes)); len(l.Bytes) > size {
			m, err := l.Message()
			if err != nil {
				t.Fatal(err)
			}
			if text := m.(*wire.Assistant).Message.Content[0].(*wire.TextBlock).Text; len(text) != size {
				t.Errorf("the text has %d bytes", len(text))
			}
		}
	}
	if longest < size {
		t.Errorf("the longest line has %d bytes", longest)
	}
}

// A consumer that sleeps while many lines come misses some and is told so, the
// memory stays bounded, and requests are answered meanwhile.
func TestRobustSleepingConsumer(t *testing.T) {
	lines, backlog := int64(20_000), 1<<18 // 6 MB of lines
	limit := uint64(16 << 20)
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		lines, backlog, limit = 100_000, 1<<20, 64<<20
	}
	s := roughSession(t, "2.1.325", &Options{Backlog: backlog})
	awake := make(chan struct{})
	seen, missed := 0, int64(0)
	var reader sync.WaitGroup
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	reader.Go(func() {
		for e, err := range s.Events(ctx, 0) {
			<-awake
			if lagged, ok := errors.AsType[*LaggedError](err); ok {
				missed += lagged.Missed
			} else if err != nil {
				return
			}
			seen++
			if e.Header.Is("result", "") {
				return
			}
		}
	})
	begin := time.Now()
	type outcome struct {
		c   *Completion
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		c, err := s.Ask(soon(t), Prompt{Text: fmt.Sprintf("@flood %d 300\n@tool Bash {\"command\":\"make\"}\n@takes 1h", lines)})
		ended <- outcome{c, err}
	}()
	eventually(t, "the lines have come", func() bool { return s.conn.backlog.newest() > lines })
	t.Logf("%d lines in %s", lines, time.Since(begin))
	// In the middle of the turn, with the reader asleep.
	if _, err := s.MCPStatus(soon(t)); err != nil {
		t.Errorf("a request: %v", err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > limit {
		t.Errorf("%d MB are in use, for a backlog of %d KB", m.HeapAlloc>>20, backlog>>10)
	}
	if _, err := s.Interrupt(soon(t)); err != nil {
		t.Errorf("interrupting: %v", err)
	}
	if o := <-ended; o.err != nil || !o.c.Interrupted {
		t.Errorf("%+v, %v", o.c, o.err)
	}
	close(awake)
	reader.Wait()
	if missed == 0 || seen == 0 {
		t.Errorf("the reader saw %d and was told of %d that it missed", seen, missed)
	}
}

// A hundred sessions at once.
func TestRobustManySessions(t *testing.T) {
	const sessions = 100
	leavesNothing(t, func() {
		cli, env := simProgram(t, "2.1.325"), simEnviron(t)
		var all sync.WaitGroup
		var asked atomic.Int32
		pids := make(chan int, sessions)
		for i := range sessions {
			all.Go(func() {
				s, err := Start(patient(t), &Options{CLI: cli, Env: env, Dir: os.TempDir(), OnQuestion: allowing(&asked)})
				if err != nil {
					t.Errorf("session %d: %v", i, err)
					return
				}
				pids <- s.PID()
				want := fmt.Sprintf("Session %d.", i)
				if c, err := s.Ask(patient(t), Prompt{Text: "@tool Bash {\"command\":\"touch one\"}\n@say " + want}); err != nil || c.Answer != want {
					t.Errorf("session %d: %+v, %v", i, c, err)
				}
				if err := s.Close(); err != nil {
					t.Errorf("session %d: %v", i, err)
				}
			})
		}
		all.Wait()
		close(pids)
		different := map[int]bool{}
		for pid := range pids {
			different[pid] = true
		}
		if len(different) != sessions || asked.Load() != sessions {
			t.Errorf("%d processes, %d questions, want %d of each", len(different), asked.Load(), sessions)
		}
	})
}

// patient is a context for what takes long when a hundred do it on a busy machine.
func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The session is closed while somebody thinks about a question.
func TestRobustCloseDuringQuestion(t *testing.T) {
	for _, version := range defectVersions() {
		for _, pull := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s pull %v", version, pull), func(t *testing.T) {
				leavesNothing(t, func() {
					withdrawn := make(chan error, 1)
					o := &Options{Pull: pull}
					if !pull {
						o.OnQuestion = func(ctx context.Context, q Question) (Reply, error) {
							<-ctx.Done()
							withdrawn <- context.Cause(ctx)
							return allowAny(q), nil
						}
					}
					s, err := startRough(t, version, o)
					if err != nil {
						t.Fatal(err)
					}
					ended := make(chan error, 1)
					go func() {
						c, err := s.Ask(soon(t), Prompt{Text: "@tool Bash {\"command\":\"touch one\"}\n@result It has run.\n@say Over."})
						if err == nil {
							err = c.Err()
						}
						ended <- err
					}()
					var open Question
					for q, err := range s.Questions(soon(t)) {
						if err != nil {
							t.Fatal(err)
						}
						open = q
						break
					}
					if err := s.Close(); err != nil {
						t.Errorf("closing: %v", err)
					}
					if err := <-ended; err == nil {
						t.Error("the turn succeeded")
					}
					<-open.Done()
					if !pull {
						if err := <-withdrawn; err == nil {
							t.Error("the handler's context has no cause")
						}
					}
					if err := s.Answer(soon(t), open.ID(), allowAny(open)); !errors.Is(err, ErrWithdrawn) && !errors.Is(err, ErrClosed) {
						t.Errorf("a late answer: %v", err)
					}
					for _, text := range toolResults(t, s) {
						if strings.Contains(text, "It has run") {
							t.Error("the tool has run")
						}
					}
					if !errors.Is(s.Err(), ErrClosed) {
						t.Errorf("the session ended with %v", s.Err())
					}
				})
			})
		}
	}
}
