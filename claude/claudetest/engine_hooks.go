package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
	"github.com/switchboard-dev/switchboard/wire"
)

// hookLimit is how long the CLI waits for a hook whose registration names no timeout.
const hookLimit = 600 * time.Second

// hookBeat is how often the newest version tells that it still waits for a hook.
const hookBeat = 30 * time.Second

// hookState is what the hooks of the controller said and the model has not been told yet. The engine's mu guards it.
type hookState struct {
	notes   map[*thread][]string // for the model, with its next request
	notices []members            // lines that follow the init line
	before  map[string][]members // lines before the result of a tool call, by its id
	after   map[string][]members // lines behind it
	decided map[string]bool      // calls that a PermissionRequest hook has allowed
	begun   map[string]time.Time // when a call was allowed to run
	active  map[*thread]bool     // sub-agents that a hook has made go on
}

// turnHooks is what the hooks of a turn share. The turn's mu guards it.
type turnHooks struct {
	promptID  string
	active    bool // a Stop hook has made the model go on
	prevented bool // a Stop hook has said continue: false
}

// terminal is why a turn ended whose model is done.
func (h *turnHooks) terminal() string {
	if h.prevented {
		return "stop_hook_prevented"
	}
	return "completed"
}

// hookEntry is a registration of hooks for an event.
type hookEntry struct {
	Matcher *string  `json:"matcher"`
	IDs     []string `json:"hookCallbackIds"`
	Timeout float64  `json:"timeout"` // in seconds
}

// A hookRun is an event that hooks are asked about.
type hookRun struct {
	event   string
	subject string // what matchers look at; empty: all match
	call    string // id of the tool call; empty: there is none
	id      string // of the event as hooks are told it: the tool call's, or a random one
	turn    *turn
	thread  *thread
	input   members // the event's own members
}

// name is how the event is called in what people and the model read.
func (r hookRun) name() string {
	if r.call == "" {
		return r.event
	}
	return r.event + ":" + r.subject
}

// How asking a hook ended.
const (
	hookAnswered = iota
	hookFailed   // an error, or an answer of a wrong shape: as if it were empty
	hookLate     // no answer in time
	hookClosed   // the input ended
	hookStopped  // the turn ended
)

// A hookAnswer is what one hook said.
type hookAnswer struct {
	state int

	Continue      *bool   `json:"continue"`
	StopReason    string  `json:"stopReason"`
	Decision      *string `json:"decision"`
	Reason        string  `json:"reason"`
	SystemMessage string  `json:"systemMessage"`
	Async         bool    `json:"async"`
	Output        struct {
		Event     string          `json:"hookEventName"`
		Verdict   *string         `json:"permissionDecision"`
		Reason    string          `json:"permissionDecisionReason"`
		Input     json.RawMessage `json:"updatedInput"`
		Context   string          `json:"additionalContext"`
		MCPOutput json.RawMessage `json:"updatedMCPToolOutput"`
		Decision  *hookDecision   `json:"decision"`
		Worktree  string          `json:"worktreePath"`
	} `json:"hookSpecificOutput"`
}

// A hookDecision is what a PermissionRequest hook decided.
type hookDecision struct {
	Behavior  string            `json:"behavior"`
	Input     json.RawMessage   `json:"updatedInput"`
	Updates   []json.RawMessage `json:"updatedPermissions"`
	Message   string            `json:"message"`
	Interrupt bool              `json:"interrupt"`
}

// stops reports whether the hook wants the turn to end.
func (a *hookAnswer) stops() bool { return a.Continue != nil && !*a.Continue }

// blocks reports whether the hook refuses, and why.
func (a *hookAnswer) blocks() (string, bool) {
	return a.Reason, a.Decision != nil && *a.Decision == "block"
}

// read reads an answer. What does not fit the event is a failure.
func (a *hookAnswer) read(body json.RawMessage, event string, q Quirks) error {
	if !has(body) {
		return errors.New("there is no answer")
	}
	if err := json.Unmarshal(body, a); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if a.Async {
		*a = hookAnswer{} // the CLI does not wait for what comes later
		return nil
	}
	if a.Decision != nil && *a.Decision != "approve" && *a.Decision != "block" {
		return fmt.Errorf("the decision %q is neither approve nor block", *a.Decision)
	}
	var given struct {
		Output json.RawMessage `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(body, &given); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if has(given.Output) && a.Output.Event != event {
		return fmt.Errorf("the answer is for the event %q", a.Output.Event)
	}
	verdicts := []string{"allow", "deny", "ask"}
	if q.HookDefers {
		verdicts = append(verdicts, "defer")
	}
	if a.Output.Verdict != nil && !slices.Contains(verdicts, *a.Output.Verdict) {
		return fmt.Errorf("the permission decision %q is unknown", *a.Output.Verdict)
	}
	if d := a.Output.Decision; d != nil && d.Behavior != "allow" && d.Behavior != "deny" {
		return fmt.Errorf("the behavior %q is neither allow nor deny", d.Behavior)
	}
	return nil
}

// hookMatches reports whether a matcher is for a subject: none at all, a name or several, or a regular expression.
func (q Quirks) hookMatches(matcher *string, subject string) bool {
	if matcher == nil || *matcher == "" || *matcher == "*" || subject == "" {
		return true
	}
	separators := "|"
	if q.HookLists {
		separators = "|, "
	}
	plain := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune(separators, r)
	}
	if strings.IndexFunc(*matcher, func(r rune) bool { return !plain(r) }) < 0 {
		names := strings.FieldsFunc(*matcher, func(r rune) bool { return strings.ContainsRune(separators, r) })
		return slices.Contains(names, subject) || subject == "Agent" && slices.Contains(names, "Task")
	}
	expression, err := regexp.Compile(*matcher)
	return err == nil && expression.MatchString(subject)
}

// hookTool is how hooks are told a tool's name.
func (e *engine) hookTool(name string) string {
	if name == "Task" && e.quirks.HookSaysAgent {
		return "Agent"
	}
	return name
}

// hookEntries are the registrations for an event that match.
func (e *engine) hookEntries(event, subject string) []hookEntry {
	e.mu.Lock()
	body := e.body
	e.mu.Unlock()
	if body == nil || !has(body.Hooks) {
		return nil
	}
	var events map[string]json.RawMessage
	var entries []hookEntry
	if json.Unmarshal(body.Hooks, &events) != nil || json.Unmarshal(events[event], &entries) != nil {
		return nil // what is no registration registers nothing
	}
	return slices.DeleteFunc(entries, func(entry hookEntry) bool { return !e.quirks.hookMatches(entry.Matcher, subject) })
}

// hookInput is what hooks are told about an event.
func (e *engine) hookInput(r hookRun) members {
	path, _ := e.store.Path(e.conversation()) // without a name there is no file
	input := members{"session_id", e.conversation(), "transcript_path", path, "cwd", e.dir}
	if e.quirks.HookFields {
		input = input.with("prompt_id", r.turn.hookPromptID())
	}
	mode, effort := true, true
	switch r.event {
	case "SubagentStart", "PreCompact", "PostCompact", "SessionStart":
		mode, effort = false, false
	case "UserPromptSubmit":
		effort = false
	}
	input = input.when(mode, "permission_mode", e.gate.Mode())
	agent := members{}
	if r.thread != nil && r.thread.agent != nil {
		agent = members{"agent_id", r.thread.agent.id, "agent_type", r.thread.agent.kind}
	}
	if e.quirks.HookAgents {
		input = input.with(agent...)
	}
	if level := e.hookEffort(); effort && e.quirks.HookFields && level != "" {
		input = input.with("effort", members{"level", level})
	}
	input = input.with("hook_event_name", r.event).with(r.input...)
	if !e.quirks.HookAgents && strings.HasPrefix(r.event, "Subagent") {
		input = input.with(agent...)
	}
	return input
}

// hookEffort is how much effort the model makes; empty if it knows no such thing.
func (e *engine) hookEffort() string {
	switch {
	case e.flags.Effort != "":
		return e.flags.Effort
	case strings.Contains(e.modelName(), "opus"):
		return "medium"
	}
	return ""
}

// hookPromptID is the id of the turn's prompt as hooks are told it.
func (t *turn) hookPromptID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hooks.promptID == "" {
		t.hooks.promptID = wire.NewUUID()
	}
	return t.hooks.promptID
}

// An openHook is a hook that was asked.
type openHook struct {
	id    string
	limit time.Duration
	ask   *ask
	err   error // it could not be asked
}

// askHooks asks all hooks for an event at the same time, in the order of their registration.
func (e *engine) askHooks(r hookRun) []openHook {
	e.settingsHooks(r)
	background := r.thread != nil && r.thread.agent != nil && r.thread.agent.background
	var open []openHook
	for _, entry := range e.hookEntries(r.event, r.subject) {
		limit := hookLimit
		if entry.Timeout > 0 {
			limit = time.Duration(entry.Timeout * float64(time.Second))
		}
		for _, id := range entry.IDs {
			hook := openHook{id: id, limit: limit}
			hook.ask, hook.err = e.open(&ask{agent: background}, members{"subtype", "hook_callback", "callback_id", id, "input", e.hookInput(r), "tool_use_id", r.id})
			open = append(open, hook)
		}
	}
	return open
}

// runHooks asks all hooks for an event and waits for all answers, which are in the order of registration.
func (e *engine) runHooks(ctx context.Context, r hookRun) []hookAnswer {
	if r.id = r.call; r.id == "" {
		r.id = wire.NewUUID()
	}
	open := e.askHooks(r)
	if len(open) == 0 {
		return nil
	}
	done := make(chan struct{})
	var beats sync.WaitGroup
	if e.quirks.HookBeats {
		beats.Go(func() { e.hookBeats(r, done) })
	}
	answers := make([]hookAnswer, len(open))
	var wait sync.WaitGroup
	for i, hook := range open {
		wait.Go(func() { answers[i] = e.hookAnswer(ctx, r, hook) })
	}
	wait.Wait()
	close(done)
	beats.Wait()
	return answers
}

// hookBeats tells every now and then that hooks are waited for.
func (e *engine) hookBeats(r hookRun, done <-chan struct{}) {
	ticker := time.NewTicker(hookBeat)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
			e.emit(members{
				"type", "tool_progress", "tool_use_id", fmt.Sprintf("hook-%s-%s-heartbeat-%d", r.event, r.id, n), "tool_name", r.event, "parent_tool_use_id", r.id,
				"elapsed_time_seconds", (time.Duration(n+1) * hookBeat).Seconds(), "heartbeat", true, "session_id", e.conversation(), "uuid", wire.NewUUID(),
			})
		case <-done:
			return
		}
	}
}

// hookAnswer waits for the answer of a hook.
func (e *engine) hookAnswer(ctx context.Context, r hookRun, hook openHook) hookAnswer {
	var body answerBody
	err := hook.err
	if err == nil {
		body, err = e.await(ctx, hook.ask, hook.limit)
	}
	var answer hookAnswer
	switch {
	case errors.Is(err, errStreamClosed):
		return hookAnswer{state: hookClosed}
	case errors.Is(err, errNoAnswer):
		return hookAnswer{state: hookLate}
	case err != nil:
		return hookAnswer{state: hookStopped}
	case body.subtype != "success":
		err = errors.New(body.message)
	default:
		err = answer.read(body.body, r.event, e.quirks)
	}
	if err != nil {
		_, _ = fmt.Fprintf(e.stderr, "Error in hook callback %s: %v\n", hook.id, err) // noise for people
		if e.quirks.HookNotices {
			e.hookNotice(r, e.systemLine("informational", "content", r.event+": Hook callback "+hook.id+" failed. Its answer was treated as empty.",
				"level", "warning", "tag", "hook_callback_failed"))
		}
		return hookAnswer{state: hookFailed}
	}
	if answer.SystemMessage != "" && e.quirks.HookNotices {
		e.hookSays(r, answer.SystemMessage)
	}
	return answer
}

// hookNotice shows a line about a hook: at once, but never before the line that begins the turn.
func (e *engine) hookNotice(r hookRun, line members) {
	if r.event != "UserPromptSubmit" {
		e.emit(line)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hooks.notices = append(e.hooks.notices, line)
}

// hookSays shows what a hook says to people, beside the result of the tool that it is about.
func (e *engine) hookSays(r hookRun, text string) {
	line := e.systemLine("informational", "content", r.name()+" says: "+text, "level", "notice")
	e.mu.Lock()
	switch r.event {
	case "PreToolUse":
		note(&e.hooks.before, r.call, line)
	case "PostToolUse", "PostToolUseFailure":
		note(&e.hooks.after, r.call, line)
	default:
		e.mu.Unlock()
		e.hookNotice(r, line)
		return
	}
	e.mu.Unlock()
}

// note adds to a list in a map that need not exist yet.
func note[K comparable, V any](lists *map[K][]V, key K, value V) {
	if *lists == nil {
		*lists = map[K][]V{}
	}
	(*lists)[key] = append((*lists)[key], value)
}

// hookTells keeps words of a hook for the model's next request.
func (e *engine) hookTells(th *thread, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	note(&e.hooks.notes, th, text)
}

// hookNews shows and hands on what hooks said since the last request to the model.
func (e *engine) hookNews(th *thread) {
	e.mu.Lock()
	notes := e.hooks.notes[th]
	delete(e.hooks.notes, th)
	e.mu.Unlock()
	if th.parent == "" {
		e.hookNotices()
	}
	for _, text := range notes {
		th.attach(members{"type", "text", "text", "<system-reminder>\n" + text + "\n</system-reminder>"})
	}
}

// hookNotices shows the lines that wait for the one that begins the turn.
func (e *engine) hookNotices() {
	e.mu.Lock()
	notices := e.hooks.notices
	e.hooks.notices = nil
	e.mu.Unlock()
	for _, line := range notices {
		e.emit(line)
	}
}

// hookLines shows what hooks said about a call, before or behind its result.
func (e *engine) hookLines(call ToolCall, behind bool) {
	e.mu.Lock()
	from := e.hooks.before
	if behind {
		from = e.hooks.after
	}
	lines := from[call.ID]
	delete(from, call.ID)
	e.mu.Unlock()
	for _, line := range lines {
		e.emit(line)
	}
}

// settingsHooks tells of the hooks in the settings that the command line brought. None is run: each says "(simulated)". The start of a session and
// its setup are always told, other events only on request.
func (e *engine) settingsHooks(r hookRun) {
	if r.event != "SessionStart" && r.event != "Setup" && !e.flags.IncludeHookEvents {
		return
	}
	var settings struct {
		Hooks map[string][]struct {
			Matcher *string           `json:"matcher"`
			Hooks   []json.RawMessage `json:"hooks"`
		} `json:"hooks"`
	}
	for _, source := range e.settings {
		if source.Name == permit.FlagSettings {
			_ = json.Unmarshal(source.Settings, &settings) // what does not fit names no hooks
		}
	}
	for _, entry := range settings.Hooks[r.event] {
		if !e.quirks.hookMatches(entry.Matcher, r.subject) {
			continue
		}
		for range entry.Hooks {
			name, id := r.event, wire.NewUUID()
			if r.subject != "" {
				name += ":" + r.subject
			}
			e.emit(e.systemLine("hook_started", "hook_id", id, "hook_name", name, "hook_event", r.event))
			e.emit(e.systemLine("hook_response", "hook_id", id, "hook_name", name, "hook_event", r.event,
				"output", "(simulated)\n", "stdout", "(simulated)\n", "stderr", "", "exit_code", 0, "outcome", "success"))
		}
	}
}

// startHooks tells of the hooks that run when the CLI starts. They are over before initialize could register any.
func (e *engine) startHooks() {
	for _, trigger := range []string{"init", "maintenance"} {
		if e.flags.Given[trigger] {
			e.settingsHooks(hookRun{event: "Setup", subject: trigger})
		}
	}
	source := "startup"
	if e.flags.Continue || e.flags.Resume != "" {
		source = "resume"
	}
	e.settingsHooks(hookRun{event: "SessionStart", subject: source})
}
