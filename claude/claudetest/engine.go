package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/flags"
	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
)

// carrier takes the lines that the CLI writes. The uuid is the line's own, empty for those that have none. The channel, if there is one, is
// closed when the line has left.
type carrier interface {
	writeLine(line []byte, uuid string) (<-chan struct{}, error)
}

// An engine is one simulated CLI: it reads lines, runs turns and writes lines.
//
// Three kinds of goroutines work on it. The caller of run works off prompts, one turn after the other. One goroutine of run's reads the input
// and answers control requests at once, also in the middle of a turn. Background agents and MCP handshakes have one each. What they share is
// guarded by mu; what they write goes through emit, so that lines are never mixed.
type engine struct {
	// Static after construction.
	quirks   Quirks
	flags    *flags.Flags
	dir      string
	scratch  string // a config folder that is removed at the end; empty if the environment names one
	input    io.Reader
	out      carrier
	dialled  bool // the controller was dialled; it is asked without a prompt tool
	record   *record
	stderr   io.Writer
	brain    *brain
	gate     *permit.Gate
	store    *history.Store
	settings []permit.Source // the layers of settings, lowest first
	outcome  func(ToolCall) (ToolOutcome, bool)
	started  time.Time

	ctx    context.Context // ends with the process
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // background agents and handshakes; run waits for them

	hangUp  func(inGoodOrder bool) // ends the link to the controller; nil if there is none
	signals <-chan os.Signal       // SIGINT; nil if none can come

	readDone chan struct{} // closed when the input is not read any more

	writing sync.Mutex // one line at a time

	mu         sync.Mutex
	env        map[string]string
	session    string         // the conversation's id
	main       *thread        // the conversation
	body       *initializeSet // what initialize brought; nil before it
	prompted   bool           // a prompt has been read
	queue      []prompt
	news       chan struct{} // closed and replaced when a prompt comes, the input ends, or a task wants a turn
	ended      bool          // no more input
	turn       *turn         // the running one; nil if idle
	asks       []*ask        // open requests of ours, in order
	seen       map[string]bool
	model      string
	thinking   *int
	planned    planState
	spending   spending
	state      string // last session state that was told
	lastError  string // "", "api" or "other": how the last result failed
	results    int
	taskTurns  []notice         // what background tasks have to say to the model
	running    map[string]*task // background tasks, also those that have ended
	taskCount  int
	held       func() // writes a result that waits for background agents
	said       int    // messages so far, as the oldest version counts them
	context    int    // tokens of the conversation at the last message
	compacted  int    // messages right after a compaction; 0: there was none
	dropped    int    // tokens that compactions saved
	structured bool   // the model has given its structured output
	title      string
	mcp        mcpState
	hooks      hookState
	todo       []members                          // tasks that the model has made, by their number
	worktree   string                             // the folder that EnterWorktree was about
	calls      []string                           // ids of the tool calls that the next summary is about
	limit      string                             // the last rate limit that was told, as JSON
	authTold   bool                               // auth_status was sent
	applied    map[string]json.RawMessage         // settings that came with apply_flag_settings
	asides     map[string]context.CancelCauseFunc // requests that are worked on beside the turn, by id
	signalled  bool                               // SIGINT has come
	marks      map[string]mark                    // where prompts stand in the conversation, by id
}

// An exit is the end of the process with a code, and what is said on stderr.
type exit struct {
	code int
	says string
}

// Error says what goes to stderr.
func (e *exit) Error() string { return fmt.Sprintf("exit %d: %s", e.code, e.says) }

// errEnded is the cause with which everything stops when the CLI ends in good order.
var errEnded = errors.New("the simulated CLI has ended")

// getenv returns a variable of the CLI's environment.
func (e *engine) getenv(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.env[name]
}

// emit writes a line. What is returned is closed when the line has left; nil if that is now.
func (e *engine) emit(line members) <-chan struct{} {
	uuid := ""
	for i := 0; i+1 < len(line); i += 2 {
		if line[i] == "uuid" {
			uuid, _ = line[i+1].(string)
		}
	}
	encoded := plainJSON(line)
	if e.quirks.LiteralSeparators {
		encoded = unescapeSeparators(encoded)
	}
	return e.writeLine(encoded, uuid)
}

// writeLine writes a line as it is.
func (e *engine) writeLine(line []byte, uuid string) <-chan struct{} {
	e.writing.Lock()
	defer e.writing.Unlock()
	if e.ctx.Err() != nil {
		return nil // the process has ended
	}
	e.record.add(false, line)
	gone, err := e.out.writeLine(line, uuid)
	if err != nil {
		e.cancel(&exit{code: 1, says: fmt.Sprintf("writing to the controller: %v", err)})
	}
	return gone
}

// conversation returns the id of the conversation.
func (e *engine) conversation() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.session
}

// signal wakes the goroutines that wait for a change. mu is held.
func (e *engine) signal() {
	close(e.news)
	e.news = make(chan struct{})
}

// run works until the input has ended or something ends the process, and returns the exit code.
func (e *engine) run() int {
	over, err := e.resume()
	if !over && err == nil {
		if e.flags.Name != "" {
			e.retitle(e.flags.Name)
		}
		e.startHooks()
		e.startServers()
	}
	go func() { // ends with the input, which outlives the process if it cannot be closed
		defer close(e.readDone)
		e.read()
	}()
	e.tasks.Go(e.watchSignals)
	if !over && err == nil {
		err = e.work()
	}
	if p, ok := e.out.(*printer); ok {
		p.print()
	}
	e.cancel(errEnded)
	e.tasks.Wait()
	if e.hangUp != nil {
		e.hangUp(err == nil || errors.Is(err, errEnded))
	}
	if e.scratch != "" {
		_ = os.RemoveAll(e.scratch) // usually it was never made
	}
	if cause := context.Cause(e.ctx); !errors.Is(cause, errEnded) {
		err = cause
	}
	var end *exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &end):
		if end.says != "" {
			_, _ = fmt.Fprintln(e.stderr, end.says) // the process ends anyway
		}
		return end.code
	case errors.Is(err, context.Canceled):
		return 143 // the caller has stopped the engine, as a signal would
	default:
		_, _ = fmt.Fprintln(e.stderr, err)
		return 1
	}
}

// watchSignals ends the turn and then the process when SIGINT comes.
func (e *engine) watchSignals() {
	select {
	case <-e.signals:
	case <-e.ctx.Done():
		return
	}
	if !e.quirks.InterruptSignalResult {
		e.cancel(&exit{code: 0})
		return
	}
	e.mu.Lock()
	running := e.turn
	e.signalled, e.ended, e.queue = true, true, nil
	e.mu.Unlock()
	e.withdrawAll(func(a *ask) bool { return a.subtype == "can_use_tool" && !a.agent })
	running.stop(errInterrupted)
	e.mu.Lock()
	e.signal()
	e.mu.Unlock()
}

// work runs turns until the end of input.
func (e *engine) work() error {
	for {
		e.mu.Lock()
		work, news := e.next(), e.news
		finished := work == nil && e.ended && !e.waitsForTasks()
		failed := e.lastError
		if e.signalled {
			failed = "" // a caller that stops it gets no error
		}
		e.mu.Unlock()
		switch {
		case work != nil:
			work()
		case finished:
			e.endInGoodOrder()
			if failed == "api" || failed != "" && e.quirks.ExitAfterAnyError {
				return &exit{code: 1}
			}
			return nil
		default:
			select {
			case <-news:
			case <-e.ctx.Done():
				return context.Cause(e.ctx)
			}
		}
		if e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
	}
}

// next takes what is to be done next, nil for nothing. mu is held.
func (e *engine) next() func() {
	if prompts := e.batch(); prompts != nil {
		return func() {
			e.awaitServers()
			e.promptTurn(prompts)
		}
	}
	if len(e.taskTurns) > 0 && e.quirks.TaskTurns {
		notices := e.takeNotices()
		return func() { e.noticeTurn(notices) }
	}
	return nil
}

// environment returns a copy of an environment list as a map; later entries win.
func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, entry := range list {
		for i := 1; i < len(entry); i++ {
			if entry[i] == '=' {
				env[entry[:i]] = entry[i+1:]
				break
			}
		}
	}
	return env
}

// workingDir returns the folder that the CLI works in, without symbolic links.
func workingDir(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", fmt.Errorf("finding the working folder: %w", err)
		}
	}
	return realPath(dir)
}

// cloneEnv returns the environment as it is now.
func (e *engine) cloneEnv() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.env)
}

// has reports whether raw JSON says anything: it is there and not null.
func has(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
