package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Stage is what a scenario runs on: a CLI, a model, and a pad for notes. What goes wrong ends the scenario and fails it, so its methods
// return no errors; they must be called from the scenario's own goroutine, save Note, Answer, Raw and Send.
type Stage struct {
	Subject

	// Conn is the connection to the CLI. Restart replaces it.
	Conn *claude.Conn
	// Model is the simulated model, which the scenarios of a job share. It takes its orders from the prompts: see claudetest.Directives.
	Model *claudetest.Model
	// Home and Dir are the CLI's home and working folder. In a shared process the scenarios before have used them, too.
	Home, Dir string
	// Init is the answer to the first request, nil if none was made.
	Init *wire.ControlAnswer
	// Started are the lines that came before the answer to the first request, and that answer.
	Started []Seen

	ctx      context.Context
	scenario *Scenario
	column   *column
	host     *host
	hosts    []*host // those that Restart has replaced
	at       int64   // the number of the last line that the scenario was given
	lines    [][]byte
	normal   *normalizer

	mu       sync.Mutex
	notes    []string
	handlers map[string]func(*wire.ControlRequest) any
}

// A failure ends a scenario.
type failure struct{ err error }

// Fail ends the scenario.
func (s *Stage) Fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Context ends when the scenario has taken too long.
func (s *Stage) Context() context.Context { return s.ctx }

// Note notes what was seen. The text is normalized: folders, ids and tags get names.
func (s *Stage) Note(format string, args ...any) {
	text := s.normal.text(fmt.Sprintf(format, args...))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

// A Seen is a line of the CLI.
type Seen struct {
	Number  int64
	Raw     []byte
	Message wire.Message
	Text    string // the summary, see normalizer.line
}

// Is reports whether the summary begins with one of the texts.
func (l Seen) Is(prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(l.Text, p) })
}

// Get returns a member of the line by its path, "response.response.mode", as compact JSON, or "" if there is none.
func (l Seen) Get(path string) string { return member(l.Raw, path) }

// member returns a member of an object by its path, as compact JSON; texts come without their quotes.
func member(raw []byte, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return ""
		}
		raw = object[name]
	}
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return text
	}
	return string(raw)
}

// rawMember returns a member of an object by its path as it stands there, or "".
func rawMember(raw []byte, path ...string) string {
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return ""
		}
		raw = object[name]
	}
	return string(raw)
}

// names returns the names of an object's members in order.
func names(raw []byte) []string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil
	}
	var all []string
	for name := range object {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// next returns the next line.
func (s *Stage) next(ctx context.Context) (Seen, error) {
	for line, err := range s.Conn.Lines(ctx, s.at) {
		if err != nil {
			return Seen{}, err
		}
		s.at = line.Number
		s.lines = append(s.lines, line.Bytes)
		message, err := line.Message()
		if err != nil {
			return Seen{}, fmt.Errorf("decoding a line of the CLI: %w: %.200s", err, line.Bytes)
		}
		return Seen{line.Number, line.Bytes, message, s.normal.line(message)}, nil
	}
	return Seen{}, io.ErrUnexpectedEOF
}

// Next returns the next line of the CLI, whatever it is.
func (s *Stage) Next() Seen {
	line, err := s.next(s.ctx)
	if err != nil {
		s.Fail("waiting for a line: %w%s", err, s.said())
	}
	return line
}

// said tells what the CLI said last, for failures.
func (s *Stage) said() string {
	var out strings.Builder
	if text := strings.TrimSpace(s.host.process.Stderr()); text != "" {
		fmt.Fprintf(&out, "\non its standard error: %s", text)
	}
	for _, line := range s.lines[max(0, len(s.lines)-8):] {
		fmt.Fprintf(&out, "\n  < %.300s", line)
	}
	if s.ctx.Err() != nil {
		out.WriteString(s.silence())
	}
	return out.String()
}

// Await returns the lines up to the first that matches, that one included.
func (s *Stage) Await(match func(Seen) bool) []Seen {
	var lines []Seen
	for {
		line := s.Next()
		lines = append(lines, line)
		if match(line) {
			return lines
		}
	}
}

// AwaitText returns the lines up to the first whose summary begins so.
func (s *Stage) AwaitText(prefix string) []Seen {
	return s.Await(func(l Seen) bool { return l.Is(prefix) })
}

// AwaitAsk waits for the next question for permission and returns it, with the lines up to it.
func (s *Stage) AwaitAsk() (*wire.ControlRequest, *wire.CanUseToolRequest, []Seen) {
	lines := s.AwaitText("asks can_use_tool")
	request := lines[len(lines)-1].Message.(*wire.ControlRequest)
	return request, request.Request.(*wire.CanUseToolRequest), lines
}

// AwaitEnd returns the lines up to the end of the connection.
func (s *Stage) AwaitEnd() []Seen {
	var lines []Seen
	for {
		line, err := s.next(s.ctx)
		if s.ctx.Err() != nil {
			s.Fail("the CLI has not ended in time%s", s.said())
		}
		if err != nil {
			return lines
		}
		lines = append(lines, line)
	}
}

// Settle has the CLI answer a request, which shows that it has read everything that was sent before, and returns the lines that came up to it:
// none means that what was sent had no effect.
func (s *Stage) Settle() []Seen {
	answer := s.Request(&wire.MCPStatusRequest{})
	lines := s.Await(func(l Seen) bool {
		r, ok := l.Message.(*wire.ControlResponse)
		return ok && r.Response.RequestID == answer.RequestID
	})
	return lines[:len(lines)-1]
}

// awaitIdle waits for the line that says that the CLI is idle, if it writes such lines: it comes after the result, and a request may be answered in
// between.
func (s *Stage) awaitIdle() {
	s.mu.Lock()
	state, due := "", false
	for _, line := range s.lines {
		if len(line) > 1<<20 {
			continue // no such line is meant
		}
		switch {
		case member(line, "subtype") == `session_state_changed`:
			state, due = member(line, "state"), false
		case member(line, "type") == `result`:
			due = state == "running"
		}
	}
	s.mu.Unlock()
	if due {
		s.AwaitText("system/session_state_changed idle")
	}
}

// A Turn is what came between a prompt and its result.
type Turn struct {
	Tag    string // in the prompt, for AwaitModel
	Lines  []Seen // the result included
	Result *wire.Result
}

// Asked returns the questions for permission.
func (t Turn) Asked() []*wire.CanUseToolRequest {
	var asked []*wire.CanUseToolRequest
	for _, line := range t.Lines {
		if r, ok := line.Message.(*wire.ControlRequest); ok {
			if q, ok := r.Request.(*wire.CanUseToolRequest); ok {
				asked = append(asked, q)
			}
		}
	}
	return asked
}

// Find returns the lines whose summaries begin with one of the texts.
func (t Turn) Find(prefixes ...string) []Seen {
	return slices.DeleteFunc(slices.Clone(t.Lines), func(l Seen) bool { return !l.Is(prefixes...) })
}

// Last returns the result's line.
func (t Turn) Last() Seen { return t.Lines[len(t.Lines)-1] }

// Turn sends a prompt and returns what comes up to the next result.
func (s *Stage) Turn(prompt string) Turn { return s.turn(s.Prompt(prompt)) }

// TurnExact is Turn for a prompt that must not be tagged, such as a slash command.
func (s *Stage) TurnExact(prompt string) Turn {
	s.Send(must(wire.NewUser(wire.TextContent(prompt), nil)))
	return s.turn("")
}

func (s *Stage) turn(tag string) Turn {
	lines := s.AwaitText("result ")
	return Turn{tag, lines, lines[len(lines)-1].Message.(*wire.Result)}
}

// AwaitResult returns what comes up to the next result, without sending anything.
func (s *Stage) AwaitResult() Turn { return s.turn("") }

// Prompt sends a prompt with a tag at its end, which makes it unlike all others, and returns the tag.
func (s *Stage) Prompt(text string) string { return s.PromptWith(text, nil) }

// PromptWith is Prompt for the less common parts of a user message.
func (s *Stage) PromptWith(text string, o *wire.UserOptions) string {
	tag := s.Tag()
	s.Send(must(wire.NewUser(wire.TextContent(text+"\n"+tag), o)))
	return tag
}

// Tag returns a text that occurs in no other prompt.
func (s *Stage) Tag() string {
	return fmt.Sprintf("[%s %s #%d]", s.scenario.ID, s.Subject, s.column.tags.Add(1))
}

// Send fits a line to the CLI's version and sends it.
func (s *Stage) Send(line []byte) {
	if err := s.Conn.Send(s.ctx, line); err != nil {
		s.Fail("sending %.200s: %w%s", line, err, s.said())
	}
}

// Raw sends a line as it is, unfitted and unchecked.
func (s *Stage) Raw(line string) {
	if err := s.Conn.Transport().Write(s.ctx, []byte(line)); err != nil {
		s.Fail("writing %.200s: %w%s", line, err, s.said())
	}
}

// RawBytes writes bytes as they are, the line end included. The scenario must be Raw.
func (s *Stage) RawBytes(data string) {
	if s.host.pipe == nil {
		s.Fail("only a Raw scenario can write any bytes")
	}
	if err := s.host.pipe.bytes([]byte(data)); err != nil {
		s.Fail("writing: %w", err)
	}
}

// Request makes a control request and returns its answer, which must be success.
func (s *Stage) Request(r wire.Request) *wire.ControlAnswer {
	answer, err := s.TryRequest(r)
	if err != nil {
		s.Fail("%w%s", err, s.said())
	}
	return answer
}

// TryRequest makes a control request. An error answer is a *claude.ControlError.
func (s *Stage) TryRequest(r wire.Request) (*wire.ControlAnswer, error) {
	return s.Conn.Request(s.ctx, r)
}

// RawRequest makes a control request from its body as it is, whatever the version says to it, and returns its answer; nil means that the CLI
// read on without answering.
func (s *Stage) RawRequest(body string) *wire.ControlAnswer {
	id := fmt.Sprintf("raw-%d", s.column.tags.Add(1))
	s.Raw(`{"type":"control_request","request_id":"` + id + `","request":` + body + `}`)
	after := s.Request(&wire.MCPStatusRequest{}).RequestID
	var found *wire.ControlAnswer
	s.Await(func(l Seen) bool {
		r, ok := l.Message.(*wire.ControlResponse)
		if ok && r.Response.RequestID == id {
			found = &r.Response
		}
		return ok && r.Response.RequestID == after
	})
	return found
}

// NoteLines notes the summaries of lines, without those that come with everything (see noise) and those that begin with one of the texts.
func (s *Stage) NoteLines(lines []Seen, except ...string) {
	for _, line := range lines {
		if !line.Is(noise()...) && !line.Is(except...) {
			s.Note("%s", line.Text)
		}
	}
}

// NoteOnly notes the summaries of the lines that begin with one of the texts.
func (s *Stage) NoteOnly(lines []Seen, prefixes ...string) {
	for _, line := range lines {
		if line.Is(prefixes...) {
			s.Note("%s", line.Text)
		}
	}
}

// noise returns what the summaries of lines begin with that say nothing about most scenarios.
func noise() []string {
	return []string{"answers", "keep_alive", "stream_event", "system/session_state_changed", "system/thinking_tokens", "command_lifecycle"}
}

// Ctx returns a context that ends after a time, or with the scenario; the scenario need not cancel it.
func (s *Stage) Ctx(after time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(s.ctx, after)
	context.AfterFunc(s.ctx, cancel)
	return ctx
}

// AwaitModel waits until the model has been asked n times for the turn with this tag, and returns these requests.
func (s *Stage) AwaitModel(tag string, n int) []claudetest.Request {
	requests, err := s.Model.Await(s.ctx, func(all []claudetest.Request) bool { return len(tagged(all, tag)) >= n })
	if err != nil {
		s.Fail("waiting for the model to be asked: %w%s", err, s.said())
	}
	return tagged(requests, tag)
}

// Asked returns the model's requests for the turn with this tag so far.
func (s *Stage) Asked(tag string) []claudetest.Request { return tagged(s.Model.Requests(), tag) }

func tagged(all []claudetest.Request, tag string) []claudetest.Request {
	return slices.DeleteFunc(slices.Clone(all), func(r claudetest.Request) bool {
		return r.Kind != claudetest.KindTurn || !strings.Contains(r.Prompt(), tag)
	})
}

// CloseInput tells the CLI that no more input comes.
func (s *Stage) CloseInput() {
	s.host.spoiled = true
	if err := s.Conn.Transport().CloseInput(); err != nil {
		s.Fail("closing the input: %w", err)
	}
}

// Exit waits for the end of the process and returns its exit code; 128 and more is a signal, as in a shell. Read the lines first (AwaitEnd).
func (s *Stage) Exit() int {
	s.host.spoiled = true
	err := s.host.process.Wait(s.ctx)
	if exit, ok := errors.AsType[*claude.ExitError](err); ok {
		return exit.Code
	}
	if err != nil {
		s.Fail("%w%s", err, s.said())
	}
	return 0
}

// Stderr returns what the CLI has written to its standard error.
func (s *Stage) Stderr() string { return s.host.process.Stderr() }

// Signal sends a signal to the CLI.
func (s *Stage) Signal(signal os.Signal) {
	s.host.spoiled = true
	process, err := os.FindProcess(s.host.process.PID())
	if err == nil {
		err = process.Signal(signal)
	}
	if err != nil {
		s.Fail("sending a signal: %w", err)
	}
}

// Spoil says that the process must not be used by other scenarios after this one.
func (s *Stage) Spoil() { s.host.spoiled = true }

// Restart ends the CLI, if it has not ended, and starts another one in the same folders, with the scenario's options and then with these. The
// scenario must have a process of its own.
func (s *Stage) Restart(options func(*claude.Options)) {
	if !s.scenario.alone() {
		s.Fail("a scenario that shares its process cannot restart it")
	}
	if err := s.host.close(); err != nil {
		s.Fail("ending the CLI: %w", err)
	}
	s.drain()
	l := s.column.launch(s)
	l.home, l.dir = s.Home, s.Dir
	l.options = append(l.options, options)
	h, err := l.start(s.ctx)
	s.hosts = append(s.hosts, s.host)
	s.use(h)
	if err != nil {
		s.Fail("starting again: %w", err)
	}
}

// use makes a host the one that the scenario is about.
func (s *Stage) use(h *host) {
	s.host, s.Conn, s.Home, s.Dir, s.Init = h, h.conn, h.home, h.dir, h.initialed
	s.normal = newNormalizer(s.Home, s.Dir)
	s.at, s.Started = 0, nil
	h.setHandler(s.handlerFor(h))
	if s.Init == nil {
		return
	}
	for {
		seen, err := s.next(s.ctx)
		if err != nil {
			return // as the scenario will see
		}
		s.Started = append(s.Started, seen)
		if r, ok := seen.Message.(*wire.ControlResponse); ok && r.Response.RequestID == s.Init.RequestID {
			return
		}
	}
}

// drain reads the rest of a connection that has ended, to be checked like all lines.
func (s *Stage) drain() {
	if s.Conn == nil {
		return
	}
	for {
		if _, err := s.next(context.Background()); err != nil {
			return
		}
	}
}

// must is for lines that the scenario builds.
func must[T any](value T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return value
}

// Peer returns the CLI that dialled in.
func (s *Stage) Peer() *claudews.Peer {
	if s.host.peer == nil {
		s.Fail("the CLI has not dialled in")
	}
	return s.host.peer
}

// Accept returns the next request of the CLI of a Bare scenario.
func (s *Stage) Accept() *Upgrade {
	upgrade, err := s.host.bare.next(s.ctx)
	if err != nil {
		s.Fail("waiting for the CLI to dial: %w; it says: %s", err, s.Stderr())
	}
	return upgrade
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	process, err := os.FindProcess(pid)
	return err != nil || process.Signal(syscall.Signal(0)) != nil
}
