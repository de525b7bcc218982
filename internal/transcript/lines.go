package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

func toolKey(id string) string { return bounded("tool:", id) }

// A reader turns events into entries of a part.
type reader struct {
	*part
	stamp
	session string
	history bool // of a transcript
}

// item adds an entry.
func (r *reader) item(e entry) { r.add(r.stamp, &e) }

// notice adds what the CLI tells.
func (r *reader) notice(key string, level Level, label, text string) {
	text, left := Clip(strings.TrimSpace(text), MaxText)
	r.item(entry{key: key, shows: true, Item: Item{Kind: KindNotice, Level: level, Label: label, Text: text, Left: left, Failed: level == LevelBad}})
}

// unknown adds what is not known, as it came.
func (r *reader) unknown(parent, label string, raw []byte) {
	it := Item{Kind: KindUnknown, Parent: parent, Label: label}
	it.Text, it.Left = Clip(string(raw), maxRaw)
	if it.Left == 0 && json.Valid(raw) {
		it.Raw = json.RawMessage(it.Text)
	}
	r.item(entry{shows: true, Item: it})
}

// brokenLabel returns the label of a line that is not JSON, with what the hub could
// still read of it, if it says.
func brokenLabel(data json.RawMessage) string {
	var d api.BrokenLine
	if len(data) == 0 || json.Unmarshal(data, &d) != nil || !d.Broken {
		return "line"
	}
	label := "broken line"
	if d.Init {
		label += ", init"
	}
	if d.Conversation != "" {
		label += ", session " + d.Conversation
	}
	return label
}

// line reads a line that the CLI wrote.
func (r *reader) line(e *api.Event) {
	if len(e.Line) == 0 {
		switch {
		case e.Text != "":
			r.unknown("", brokenLabel(e.Data), []byte(e.Text))
		case len(e.Base64) > 0:
			r.unknown("", brokenLabel(e.Data), []byte(fmt.Sprintf("%d bytes that aren't text", len(e.Base64))))
		}
		return
	}
	m, err := wire.Decode(e.Line)
	if err != nil {
		r.unknown("", "line", e.Line)
		return
	}
	r.message(m)
}

// message reads a message of the CLI.
func (r *reader) message(message wire.Message) {
	switch m := message.(type) {
	case *wire.Assistant:
		r.assistant(m)
	case *wire.User:
		r.user(m)
	case *wire.Result:
		r.turn(m)
	case *wire.StreamlinedText:
		r.text(m.UUID, "", m.Text, false)
	case *wire.Init, *wire.Status, *wire.SessionStateChanged, *wire.CommandsChanged, *wire.BackgroundTasksChanged, *wire.ThinkingTokens:
		r.status(message)
	case *wire.TaskStarted, *wire.TaskProgress, *wire.TaskUpdated, *wire.TaskNotification:
		r.taskLine(message)
	case *wire.HookStarted, *wire.HookProgress, *wire.HookResponse:
		r.hook(message)
	case *wire.PermissionDenied:
		r.item(entry{
			key: toolKey(m.ToolUseID), shows: true, refused: true, weak: m.ToolName, Item: Item{Kind: KindTool},
			tool: Tool{ID: m.ToolUseID, Denied: Short(later(m.DecisionReason, m.Message))},
		})
	case *wire.ToolProgress:
		r.progress(m)
	case *wire.StreamEvent, *wire.ControlRequest, *wire.ControlResponse, *wire.ControlCancel, *wire.KeepAlive, *wire.EnvironmentUpdate:
		// Pieces of a message are live; requests are told by the hub as questions, or are not for people.
	case *wire.Unknown:
		r.strange(m)
	default:
		r.told(message)
	}
}

// housekeeping are types of lines that are found in transcripts only, and say nothing to a person.
var housekeeping = map[string]bool{
	"summary": true, "file-history-snapshot": true, "queue-operation": true, "last-prompt": true, "attachment": true, "progress": true,
	"permission-mode": true, "mode": true, "custom-title": true, "ai-title": true, "tag": true, "agent-name": true, "agent-color": true,
	"worktree-state": true, "content-replacement": true, "pr-link": true,
}

// strange reads a message of an unknown type.
func (r *reader) strange(m *wire.Unknown) {
	typ, subtype := m.MessageType()
	if r.history {
		if housekeeping[typ] {
			return
		}
		if content := textMember(members(m.Raw()), "content"); typ == "system" && content != "" {
			r.notice("", LevelInfo, strings.ReplaceAll(subtype, "_", " "), content)
			return
		}
	}
	r.unknown("", strings.Trim(typ+"/"+subtype, "/"), m.Raw())
}

// maxBlocks is how many blocks of one line are shown.
const maxBlocks = 2000

// assistant reads what the agent says and which tools it calls.
func (r *reader) assistant(m *wire.Assistant) {
	r.retract(m.Supersedes)
	r.facts.spoke(m, r.at)
	blocks := m.Message.Content
	if len(blocks) > maxBlocks {
		r.notice("", LevelWarn, "blocks", fmt.Sprintf("%d more not shown", len(blocks)-maxBlocks))
		blocks = blocks[:maxBlocks]
	}
	for n, block := range blocks {
		key := ""
		if m.UUID != "" {
			key = bounded("line:", m.UUID) + "." + itoa(n)
		}
		in := entry{key: key, line: m.UUID, shows: true, Item: Item{Parent: m.ParentToolUseID}}
		if m.SubagentType != "" {
			in.Author = Short(m.SubagentType)
		}
		switch b := block.(type) {
		case *wire.TextBlock:
			in.Kind, in.Failed = KindText, m.Error != ""
			in.Text, in.Left = Clip(b.Text, MaxText)
			if strings.TrimSpace(b.Text) != "" {
				r.item(in)
			}
		case *wire.ThinkingBlock:
			in.Kind = KindThinking
			in.Text, in.Left = Clip(b.Thinking, MaxText)
			if strings.TrimSpace(b.Thinking) != "" {
				r.item(in)
			}
		case *wire.RedactedThinkingBlock:
			in.Kind, in.Text = KindThinking, "(not readable)"
			r.item(in)
		case *wire.ToolUseBlock:
			r.call(m, b.ID, b.Name, b.Input)
		case *wire.ServerToolUseBlock:
			r.call(m, b.ID, b.Name, b.Input)
		case *wire.MCPToolUseBlock:
			r.call(m, b.ID, strings.Trim(b.ServerName+" "+b.Name, " "), b.Input)
		case *wire.CompactionBlock:
			in.Kind, in.Label = KindNotice, CompactedLabel
			in.Text, in.Left = Clip(later("the conversation so far was summarized", b.Content), MaxText)
			r.item(in)
		case *wire.FallbackBlock:
			in.Kind, in.Label, in.Level = KindNotice, "model", LevelWarn
			in.Text = fmt.Sprintf("%s answers in place of %s", b.To.Model, b.From.Model)
			r.item(in)
		default:
			if !r.served(b, m.ParentToolUseID) {
				r.unknown(m.ParentToolUseID, block.BlockType(), block.Raw())
			}
		}
	}
	r.apiError(m)
}

// apiError tells of an error that ended up in the conversation, where a person can do something about it.
func (r *reader) apiError(m *wire.Assistant) {
	switch m.Error { //nolint:exhaustive // the text of the message says the rest
	case wire.AssistantErrorAuthenticationFailed, wire.AssistantErrorOAuthOrgNotAllowed, wire.AssistantErrorVerificationRequired:
		r.notice("", LevelBad, "login", "the agent isn't logged in; run `claude` and /login on its machine, or set an API key")
	case wire.AssistantErrorBillingError, wire.AssistantErrorAccountOnHold:
		r.notice("", LevelBad, "account", "the account can't be used: "+string(m.Error))
	}
}

// call reads a tool call.
func (r *reader) call(m *wire.Assistant, id, name string, in json.RawMessage) {
	e := entry{
		key: toolKey(id), line: m.UUID, shows: true, called: true,
		Item: Item{Kind: KindTool, Parent: m.ParentToolUseID, Author: Short(m.SubagentType)},
		tool: Tool{ID: id, Name: oneLine(name), Input: input(in), Title: CallTitle(name, in), Started: r.at},
	}
	if id == "" {
		e.key = ""
	}
	switch name {
	case "TodoWrite":
		e.tool.Todos = todos(members(in)["todos"])
		if m.ParentToolUseID == "" && e.tool.Todos != nil {
			r.facts.todoList(e.tool.Todos)
		}
	case "TaskUpdate":
		if f := members(in); m.ParentToolUseID == "" {
			if task := oneLine(textMember(f, "taskId", "task_id")); task != "" {
				r.item(entry{key: bounded("todo:", task), todo: Todo{
					Text: oneLine(textMember(f, "subject")), Active: oneLine(textMember(f, "activeForm")), Status: oneLine(textMember(f, "status")),
				}})
			}
		}
	}
	r.item(e)
}

// served reads a result of a tool that the API itself runs. It reports false if the block is none.
func (r *reader) served(b wire.Block, parent string) bool {
	if !strings.HasSuffix(b.BlockType(), "tool_result") {
		return false
	}
	m := members(b.Raw())
	id := textMember(m, "tool_use_id")
	content := m["content"]
	var failed bool
	if raw := m["is_error"]; len(raw) > 0 {
		failed = string(raw) == "true"
	}
	kind := textMember(members(content), "type")
	failed = failed || strings.HasSuffix(kind, "_error")
	var read wire.Content
	text := ""
	if json.Unmarshal(content, &read) == nil {
		text = plain(&read)
	} else {
		text = string(content)
	}
	r.answer(id, parent, text, failed, nil)
	return true
}

// text adds what the agent says.
func (r *reader) text(uuid, parent, text string, failed bool) {
	e := entry{line: uuid, shows: true, Item: Item{Kind: KindText, Parent: parent, Failed: failed}}
	if uuid != "" {
		e.key = bounded("line:", uuid)
	}
	e.Text, e.Left = Clip(text, MaxText)
	r.item(e)
}

// answer reads the result of a tool.
func (r *reader) answer(id, parent, text string, failed bool, structured json.RawMessage) {
	e := entry{
		key: toolKey(id), shows: true, answered: true, Item: Item{Kind: KindTool, Parent: parent},
		tool: Tool{ID: id, Ended: r.at, State: ToolDone},
	}
	if id == "" {
		e.key = ""
	}
	if failed {
		e.tool.State = ToolFailed
	}
	e.tool.Output, e.tool.Left = clipMiddle(text, r.stamp, r.session)
	m := members(structured)
	if patch := m["structuredPatch"]; len(patch) > 2 && len(patch) <= MaxText {
		e.tool.Patch = append(json.RawMessage(nil), patch...)
	}
	if task := members(m["task"]); parent == "" && task["id"] != nil {
		r.item(entry{key: bounded("todo:", textMember(task, "id")), todo: Todo{Text: oneLine(textMember(task, "subject"))}})
	}
	r.item(e)
}

// user reads what tools gave, and prompts.
func (r *reader) user(m *wire.User) {
	var said []string
	if m.Message.Content.Text != "" {
		said = append(said, m.Message.Content.Text)
	}
	rest := wire.Content{}
	for _, block := range m.Message.Content.Blocks[:min(len(m.Message.Content.Blocks), maxBlocks)] {
		if b, ok := block.(*wire.ToolResultBlock); ok {
			structured := m.ToolUseResult
			if len(structured) == 0 {
				structured = m.Extra("toolUseResult") // as transcripts call it
			}
			r.answer(b.ToolUseID, m.ParentToolUseID, plain(&b.Content), b.IsError, structured)
			continue
		}
		rest.Blocks = append(rest.Blocks, block)
	}
	if text := plain(&rest); text != "" {
		said = append(said, text)
	}
	text := strings.TrimSpace(strings.Join(said, "\n"))
	switch {
	case text == "" || m.ParentToolUseID != "": // what an agent is told to do stands in the call that started it
	case strings.HasPrefix(text, "[Request interrupted by user"):
		r.interrupts = append(r.interrupts, interrupt{place: r.next * subPlaces, told: true}) // the end of the turn tells of it
	case m.IsSynthetic || isTrue(m.Extra("isMeta")) || isTrue(m.Extra("is_meta")) || isTrue(m.Extra("isCompactSummary")) || isTrue(m.Extra("is_compact_summary")):
		r.notice(lineKey(m.UUID), LevelInfo, "told to the agent", text)
	case tagged(text, "local-command-stdout") != "" || strings.HasPrefix(text, "<local-command-stdout>"):
		if text = tagged(text, "local-command-stdout"); text != "" {
			r.notice(lineKey(m.UUID), LevelInfo, "output", text)
		}
	case tagged(text, "local-command-stderr") != "":
		r.notice(lineKey(m.UUID), LevelWarn, "output", tagged(text, "local-command-stderr"))
	default:
		if command := tagged(text, "command-name"); command != "" { // the CLI's own words for a command that a person typed
			text = strings.TrimSpace(command + " " + tagged(text, "command-args"))
		}
		e := entry{line: m.UUID, shows: true, Item: Item{Kind: KindPrompt, Author: origin(m.Origin)}}
		if m.UUID != "" {
			e.key = promptKey(m.UUID)
		}
		e.written, e.Left = Clip(text, MaxText)
		r.item(e)
	}
}

// tagged returns what stands between the tags of a name in a text that begins with a tag.
func tagged(text, name string) string {
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	_, rest, found := strings.Cut(text, "<"+name+">")
	if !found {
		return ""
	}
	inner, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return strings.TrimSpace(inner)
}

func promptKey(uuid string) string { return bounded("prompt:", uuid) }

func lineKey(uuid string) string {
	if uuid == "" {
		return ""
	}
	return bounded("line:", uuid)
}

func isTrue(raw json.RawMessage) bool { return string(raw) == "true" }

// origin names who sent a prompt, if it was no person.
func origin(o *wire.MessageOrigin) string {
	if o == nil || o.Kind == wire.OriginKindHuman || o.Kind == "" {
		return ""
	}
	return Short(later(later(string(o.Kind), o.Server), later(o.From, o.Name)))
}

// turn reads the end of a turn.
func (r *reader) turn(m *wire.Result) {
	r.over()
	e := entry{
		key: "", shows: true,
		Item: Item{Kind: KindResult, Failed: m.IsError || m.Subtype != wire.ResultSubtypeSuccess && m.Subtype != ""},
		result: Result{
			Subtype: string(m.Subtype), Duration: time.Duration(m.DurationMs) * time.Millisecond, Turns: m.NumTurns, Total: m.TotalCostUSD,
			Interrupted: m.TerminalReason == wire.TerminalReasonAbortedStreaming || m.TerminalReason == wire.TerminalReasonAbortedTools,
			Input:       m.Usage.InputTokens + m.Usage.CacheReadInputTokens + m.Usage.CacheCreationInputTokens, Output: m.Usage.OutputTokens,
		},
	}
	if m.UUID != "" {
		e.key = bounded("result:", m.UUID)
	}
	if len(m.StructuredOutput) > 0 && len(m.StructuredOutput) <= MaxText {
		e.result.Structured = append(json.RawMessage(nil), m.StructuredOutput...)
	}
	if e.Failed {
		// Those that begin so the CLI writes for its makers.
		text := strings.Join(slices.DeleteFunc(slices.Clone(m.Errors), func(s string) bool { return strings.HasPrefix(s, "[ede_diagnostic]") }), "\n")
		if text == "" {
			text = m.Result
		}
		if e.Text, e.Left = Clip(strings.TrimSpace(text), MaxText); e.Text == "" {
			e.Text = string(m.Subtype)
		}
	}
	r.item(e)
	r.facts.turned(m)
}
