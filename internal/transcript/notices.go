package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// told reads what the CLI tells besides the conversation.
func (r *reader) told(message wire.Message) {
	switch m := message.(type) {
	case *wire.ToolUseSummary:
		r.notice(lineKey(m.UUID), LevelInfo, "summary", m.Summary)
	case *wire.StreamlinedToolUseSummary:
		r.notice(lineKey(m.UUID), LevelInfo, "summary", m.ToolSummary)
	case *wire.PromptSuggestion:
		r.facts.suggested(m.Suggestion)
		r.notice(lineKey(m.UUID), LevelInfo, "suggestion", m.Suggestion)
	case *wire.ConversationReset:
		why := ""
		if m.Trigger != "" {
			why = " (" + string(m.Trigger) + ")"
		}
		r.notice(lineKey(m.UUID), LevelInfo, "conversation", "a new one started"+why+"; the agent doesn't remember what was said before")
	case *wire.ActiveGoal:
		text := "none"
		if m.Value != nil {
			text = later(m.Value.Condition, "")
			if m.Value.LastReason != "" {
				text += " (" + m.Value.LastReason + ")"
			}
		}
		r.notice(lineKey(m.UUID), LevelInfo, "goal", text)
	case *wire.CommandLifecycle:
		// That one was cancelled is told of every prompt whose turn failed or was interrupted, although nothing is lost.
		if m.State == wire.CommandStateDiscarded || m.State == wire.CommandStateRefused {
			r.notice(bounded("fate:", m.CommandUUID), LevelWarn, "message", "a message was "+string(m.State))
		}
	case *wire.CompactBoundary:
		r.compacted(m)
	case *wire.WorkerShuttingDown:
		r.notice(lineKey(m.UUID), LevelWarn, "agent", "the agent is shutting down: "+m.Reason)
	case *wire.AuthStatus:
		r.login(m)
	case *wire.PluginInstall:
		level := LevelInfo
		text := strings.TrimSpace(m.Name + " " + string(m.Status))
		if m.Error != "" || m.Status == wire.PluginInstallStatusFailed {
			level, text = LevelWarn, strings.TrimSuffix(text+": "+m.Error, ": ")
		}
		r.notice(lineKey(m.UUID), level, "plugin", text)
	case *wire.SessionWritesLost:
		lost := make([]string, 0, len(m.Lost))
		for _, l := range m.Lost {
			lost = append(lost, string(l))
		}
		r.notice(lineKey(m.UUID), LevelBad, "transcript", fmt.Sprintf("couldn't be written (%s): %s", m.ErrorCode, strings.Join(lost, ", ")))
	case *wire.MirrorError:
		r.notice(lineKey(m.UUID), LevelWarn, "transcript", "couldn't be copied: "+m.Error)
	case *wire.FilesPersisted:
		r.files(m)
	case *wire.Informational:
		level := LevelInfo
		if m.Level == wire.InformationalLevelWarning || m.PreventContinuation {
			level = LevelWarn
		}
		r.notice(lineKey(m.UUID), level, later("note", m.Tag), m.Content)
	case *wire.Notification:
		level := LevelInfo
		if m.Priority == wire.NotificationPriorityHigh || m.Priority == wire.NotificationPriorityImmediate {
			level = LevelWarn
		}
		r.notice(lineKey(m.UUID), level, "note", m.Text)
	case *wire.LocalCommandOutput:
		r.notice(lineKey(m.UUID), LevelInfo, "output", m.Content)
	case *wire.MemoryRecall:
		paths := make([]string, 0, len(m.Memories))
		for _, memory := range m.Memories[:min(len(m.Memories), 20)] {
			paths = append(paths, later("(summary)", memory.Path))
		}
		r.notice(lineKey(m.UUID), LevelInfo, "remembered", strings.Join(paths, ", "))
	case *wire.RateLimitEvent:
		r.rateLimit(m)
	case *wire.APIRetry:
		r.retry(m)
	case *wire.ModelRefusalFallback:
		r.retract(m.RetractedMessageUUIDs)
		r.notice(lineKey(m.UUID), LevelWarn, "refusal", later(fmt.Sprintf("%s refused; %s answers instead", m.OriginalModel, m.FallbackModel), m.Content))
	case *wire.ModelRefusalNoFallback:
		r.notice(lineKey(m.UUID), LevelWarn, "refusal", later(m.OriginalModel+" refused to answer", m.Content))
	case *wire.ElicitationComplete:
		r.notice(lineKey(m.UUID), LevelInfo, "form", m.MCPServerName+" got what it asked for")
	case *wire.ControlRequestProgress:
		text := string(m.Status)
		if m.Attempt > 0 {
			text += fmt.Sprintf(", attempt %d of %d", m.Attempt, m.MaxRetries)
		}
		r.notice(bounded("progress:", m.RequestID), LevelInfo, "request", text)
	case *wire.ErrorLine:
		r.notice("", LevelBad, "error", strings.TrimPrefix(m.Error.Type+": "+m.Error.Message, ": "))
	default:
		typ, subtype := message.MessageType()
		r.unknown("", strings.Trim(typ+"/"+subtype, "/"), message.Raw())
	}
}

// bounded returns a key of a name that may be as long as a person likes.
func bounded(prefix, name string) string {
	name, _ = Clip(name, 256)
	return prefix + name
}

// CompactedLabel is the label of the item that tells that the conversation was summarized.
const CompactedLabel = "compacted"

func (r *reader) compacted(m *wire.CompactBoundary) {
	d := m.CompactMetadata
	text := "the conversation was summarized"
	if d.Trigger != "" {
		text += " (" + string(d.Trigger) + ")"
	}
	if d.PreTokens > 0 {
		text += ": " + units.Tokens(d.PreTokens)
		if d.PostTokens > 0 {
			text += " to " + units.Tokens(d.PostTokens)
		}
		text += " tokens"
	}
	r.facts.compacted(d.PostTokens)
	r.notice(lineKey(m.UUID), LevelInfo, CompactedLabel, text)
}

func (r *reader) login(m *wire.AuthStatus) {
	text := strings.Join(m.Output, "\n")
	level := LevelInfo
	switch {
	case m.Error != "":
		level, text = LevelBad, strings.TrimSpace(m.Error+"\n"+text)
	case m.IsAuthenticating:
		text = later("login needed", text)
	default:
		text = later("logged in", text)
	}
	r.notice(lineKey(m.UUID), level, "login", text)
}

func (r *reader) files(m *wire.FilesPersisted) {
	names := make([]string, 0, len(m.Files))
	for _, f := range m.Files[:min(len(m.Files), 20)] {
		names = append(names, f.Filename)
	}
	lines := []string{fmt.Sprintf("%d kept: %s", len(m.Files), strings.Join(names, ", "))}
	level := LevelInfo
	for _, f := range m.Failed[:min(len(m.Failed), 20)] {
		level = LevelWarn
		lines = append(lines, "not "+f.Filename+": "+f.Error)
	}
	r.notice(lineKey(m.UUID), level, "files", strings.Join(lines, "\n"))
}

// rateLimit reads how near a limit is. One that is far is not worth a line.
func (r *reader) rateLimit(m *wire.RateLimitEvent) {
	i := m.RateLimitInfo
	text := ""
	level := LevelWarn
	switch i.Status {
	case wire.RateLimitStatusAllowed, "":
	case wire.RateLimitStatusRejected:
		text, level = "limit reached", LevelBad
	case wire.RateLimitStatusAllowedWarning:
		text = "limit near"
	default:
		text = string(i.Status)
	}
	if text == "" {
		r.facts.limited("")
		return
	}
	if i.RateLimitType != "" {
		text += " (" + strings.ReplaceAll(string(i.RateLimitType), "_", " ") + ")"
	}
	if i.Utilization != nil {
		text += fmt.Sprintf(", %.0f%% used", *i.Utilization*100)
	}
	if i.ResetsAt > 0 {
		text += ", until " + units.Clock(time.Unix(int64(i.ResetsAt), 0))
	}
	r.facts.limited(text)
	r.notice(bounded("limit:", fmt.Sprintf("%s %s %.0f", i.RateLimitType, i.Status, i.ResetsAt)), level, "rate limit", text)
}

// RetryLabel is the label of the item that tells of attempts to repeat a request. While they go on, a later one takes its place.
const RetryLabel = "retry"

func (r *reader) retry(m *wire.APIRetry) {
	text := fmt.Sprintf("API error (%s", m.Error)
	if m.ErrorStatus != nil {
		text += fmt.Sprintf(", %d", *m.ErrorStatus)
	}
	text += fmt.Sprintf("); retry %d", m.Attempt)
	if m.MaxRetries > 0 {
		text += fmt.Sprintf(" of %d", m.MaxRetries)
	}
	if m.RetryDelayMs > 0 {
		text += " in " + units.Duration(time.Duration(m.RetryDelayMs)*time.Millisecond)
	}
	r.facts.retrying(m, r.at)
	it := Item{Kind: KindNotice, Level: LevelWarn, Label: RetryLabel, Text: Short(text)}
	r.item(entry{key: lineKey(m.UUID), shows: true, attempt: m.Attempt, Item: it})
}

// hook reads what a hook does.
func (r *reader) hook(message wire.Message) {
	switch m := message.(type) { //nolint:gochecksumtype // see message
	case *wire.HookStarted:
		r.hookItem(m.HookID, m.HookName, LevelInfo, "runs")
	case *wire.HookProgress:
		r.hookItem(m.HookID, m.HookName, LevelInfo, "runs: "+Short(later(m.Output, later(m.Stderr, m.Stdout))))
	case *wire.HookResponse:
		text, level := later("done", string(m.Outcome)), LevelInfo
		if m.Outcome == wire.HookOutcomeError || m.ExitCode != nil && *m.ExitCode != 0 {
			level = LevelWarn
		}
		if m.ExitCode != nil && *m.ExitCode != 0 {
			text += fmt.Sprintf(" (exit code %d)", *m.ExitCode)
		}
		said := strings.TrimSpace(later(m.Output, later(m.Stdout, m.Stderr)))
		if said != "" {
			text += ": " + said
		}
		r.hookItem(m.HookID, m.HookName, level, text)
	}
}

func (r *reader) hookItem(id, name string, level Level, text string) {
	key := ""
	if id != "" {
		key = bounded("hook:", id)
	}
	r.notice(key, level, strings.TrimSpace("hook "+oneLine(name)), text)
}

// progress reads how far a tool is.
func (r *reader) progress(m *wire.ToolProgress) {
	text := units.Duration(time.Duration(m.ElapsedTimeSeconds * float64(time.Second)))
	if s := m.SubagentRetry; s != nil {
		text += fmt.Sprintf(", retry %d of %d", s.Attempt, s.MaxRetries)
	}
	use := m.ToolUseID
	if m.Heartbeat && !strings.HasPrefix(use, "hook-") {
		use = m.ParentToolUseID // it has an id of its own
	}
	if e := r.known[toolKey(use)]; e != nil {
		e.tool.Progress = text
		r.refresh(e)
	}
}

// taskLine reads what a sub-agent or a command in the background does.
func (r *reader) taskLine(message wire.Message) {
	var t taskFacts
	key := ""
	switch m := message.(type) { //nolint:gochecksumtype // see message
	case *wire.TaskStarted:
		key = m.TaskID
		t = taskFacts{
			tool: m.ToolUseID, kind: later(later(m.TaskType, m.SubagentType), m.WorkflowName), description: m.Description, status: "running",
			quiet: m.Ambient || m.SkipTranscript,
		}
	case *wire.TaskProgress:
		key = m.TaskID
		t = taskFacts{tool: m.ToolUseID, description: m.Description, summary: later(m.LastToolName, m.Summary)}
		if m.Usage.ToolUses > 0 {
			t.summary = strings.TrimSpace(fmt.Sprintf("%s, %s tokens; %s", units.Plural(int(m.Usage.ToolUses), "call"), units.Tokens(m.Usage.TotalTokens), t.summary))
		}
	case *wire.TaskUpdated:
		key = m.TaskID
		t = taskFacts{description: m.Patch.Description, status: string(m.Patch.Status), reason: m.Patch.Error}
	case *wire.TaskNotification:
		key = m.TaskID
		t = taskFacts{tool: m.ToolUseID, status: string(m.Status), summary: m.Summary, reason: m.Reason, quiet: m.Ambient || m.SkipTranscript}
	}
	t.id = oneLine(key)
	t.kind, t.description, t.status = oneLine(t.kind), oneLine(t.description), oneLine(t.status)
	t.summary, t.reason = Short(t.summary), Short(t.reason)
	if t.id == "" {
		return
	}
	e := r.add(r.stamp, &entry{key: bounded("task:", key), shows: true, Item: Item{Kind: KindNotice}, task: t})
	if tool := r.known[toolKey(e.task.tool)]; e.task.tool != "" && tool != nil {
		r.refresh(tool)
	}
	for _, call := range r.running { // whether they go on depends on it
		if call.Parent == e.task.tool {
			r.touch(call)
		}
	}
}

// status reads what says something about the state only, or about servers that cannot be used.
func (r *reader) status(message wire.Message) {
	switch m := message.(type) { //nolint:gochecksumtype // see message
	case *wire.Init:
		r.facts.init(m)
		for _, s := range m.MCPServers[:min(len(m.MCPServers), 100)] {
			if s.Status == wire.MCPServerStateFailed || s.Status == wire.MCPServerStateNeedsAuth {
				text := s.Name + " can't be used"
				if s.Status == wire.MCPServerStateNeedsAuth {
					text = s.Name + " needs a login"
				}
				r.notice(bounded("mcp:", s.Name+" "+string(s.Status)), LevelWarn, "MCP server", text)
			}
		}
		for _, p := range m.PluginErrors[:min(len(m.PluginErrors), 100)] {
			r.notice(bounded("plugin:", p.Plugin+" "+p.Type), LevelWarn, "plugin", strings.TrimSpace(p.Plugin+": "+p.Message))
		}
	case *wire.Status:
		r.facts.status(m)
		if m.CompactError != "" || m.CompactResult == wire.CompactResultFailed {
			r.notice(lineKey(m.UUID), LevelWarn, "not compacted", later("no reason given", m.CompactError))
		}
	case *wire.BackgroundTasksChanged:
		r.facts.background(m)
	case *wire.ThinkingTokens:
		r.facts.thinking(m)
	case *wire.SessionStateChanged, *wire.CommandsChanged:
		// The hub tells the state.
	}
}
