package wire

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An ActionKind is the sort of thing that a tool call does.
type ActionKind string

// The kinds of action.
const (
	// ActionCommand runs a command.
	ActionCommand ActionKind = "command"
	// ActionFileChange changes a file.
	ActionFileChange ActionKind = "file_change"
	// ActionWebSearch looks something up on the web.
	ActionWebSearch ActionKind = "web_search"
	// ActionTool is any other tool.
	ActionTool ActionKind = "tool"
	// ActionNote is something that the agent notes or asks.
	ActionNote ActionKind = "note"
)

// An ActionPhase says how far an action is.
type ActionPhase string

// The phases of an action.
const (
	// ActionStarted is a call that the model has made.
	ActionStarted ActionPhase = "started"
	// ActionCompleted is a call whose result is there.
	ActionCompleted ActionPhase = "completed"
	// ActionFailed is a call whose result is an error, which a refusal is too.
	ActionFailed ActionPhase = "failed"
)

// An Action is a tool call in a form that can be shown in one line.
type Action struct {
	// ID is the tool call's id, the same in every phase.
	ID string `json:"id"`
	// Tool is the tool's name; empty for a result whose call was not seen.
	Tool string `json:"tool,omitempty"`
	// Kind is the sort of thing that it does.
	Kind ActionKind `json:"kind"`
	// Title says what it does, in one line of at most 200 characters.
	Title string `json:"title"`
	// Phase says how far it is.
	Phase ActionPhase `json:"phase"`
	// ParentToolUseID is the call of the sub-agent that acts; empty for the main
	// conversation.
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
}

// Actions turns messages into actions. It remembers the calls that have no
// result yet, because a result names its call only by id. The zero value is
// ready to use; it is not safe for concurrent use.
type Actions struct {
	open  map[string]Action
	order []string
}

// maxOpenActions bounds what is remembered of calls that never get a result.
const maxOpenActions = 4096

// Of returns the actions in a message, none for most.
func (a *Actions) Of(m Message) []Action {
	switch m := m.(type) { //nolint:gochecksumtype // the others hold no tool calls
	case *Assistant:
		return a.ofBlocks(m.Message.Content, m.ParentToolUseID)
	case *User:
		return a.ofBlocks(m.Message.Content.Blocks, m.ParentToolUseID)
	}
	return nil
}

func (a *Actions) ofBlocks(blocks []Block, parent string) []Action {
	var out []Action
	for _, b := range blocks {
		switch b := b.(type) {
		case *ToolUseBlock:
			out = append(out, a.start(b.ID, b.Name, b.Input, parent))
		case *ServerToolUseBlock:
			out = append(out, a.start(b.ID, b.Name, b.Input, parent))
		case *MCPToolUseBlock:
			name := b.Name
			if b.ServerName != "" {
				name = "mcp__" + b.ServerName + "__" + b.Name
			}
			out = append(out, a.start(b.ID, name, b.Input, parent))
		default:
			if id, failed, ok := resultOf(b); ok {
				out = append(out, a.finish(id, failed, parent))
			}
		}
	}
	return out
}

// resultOf recognises the results of tools: tool_result itself and the many that
// end in its name.
func resultOf(b Block) (id string, failed, ok bool) {
	if r, is := b.(*ToolResultBlock); is {
		return r.ToolUseID, r.IsError, true
	}
	if !strings.HasSuffix(b.BlockType(), "tool_result") {
		return "", false, false
	}
	raw := b.Raw()
	setFrom(&failed, lookup(raw, "is_error"), setBool)
	content := lookup(raw, "content")
	if strings.HasSuffix(lookupString(content, "type"), "_error") {
		failed = true
	}
	return lookupString(raw, "tool_use_id"), failed, true
}

func (a *Actions) start(id, tool string, input json.RawMessage, parent string) Action {
	kind, title := describe(tool, input)
	act := Action{ID: id, Tool: tool, Kind: kind, Title: title, Phase: ActionStarted, ParentToolUseID: parent}
	if a.open == nil {
		a.open = map[string]Action{}
	}
	if _, there := a.open[id]; !there {
		a.order = append(a.order, id)
	}
	a.open[id] = act
	for len(a.order) > maxOpenActions {
		delete(a.open, a.order[0])
		a.order = a.order[1:]
	}
	return act
}

func (a *Actions) finish(id string, failed bool, parent string) Action {
	act, seen := a.open[id]
	if !seen {
		act = Action{ID: id, Kind: ActionTool, Title: "tool result", ParentToolUseID: parent}
	}
	act.Phase = ActionCompleted
	if failed {
		act.Phase = ActionFailed
	}
	delete(a.open, id)
	if len(a.order) > 2*len(a.open)+16 {
		a.forget()
	}
	return act
}

// forget drops the ids of finished calls from the order.
func (a *Actions) forget() {
	kept := a.order[:0]
	for _, id := range a.order {
		if _, there := a.open[id]; there {
			kept = append(kept, id)
		}
	}
	a.order = kept
}

// ActionTitle returns one line that says what a tool call is about, the same as
// the title of its [Action].
func ActionTitle(tool string, input json.RawMessage) string {
	_, title := describe(tool, input)
	return title
}

// describe returns a tool call's kind and title.
func describe(tool string, input json.RawMessage) (ActionKind, string) {
	str := func(names ...string) string {
		for _, n := range names {
			if s := lookupString(input, n); s != "" {
				return s
			}
		}
		return ""
	}
	// with is the tool's name and what it is about.
	with := func(names ...string) string { return strings.TrimSpace(tool + " " + str(names...)) }
	kind, title := ActionTool, ""
	switch tool {
	case "Bash", "PowerShell", "bash_code_execution", "code_execution":
		kind, title = ActionCommand, str("command", "code")
	case "BashOutput", "TaskOutput", "AgentOutputTool":
		kind, title = ActionCommand, with("bash_id", "task_id")
	case "KillShell", "KillBash", "TaskStop":
		kind, title = ActionCommand, with("shell_id", "task_id")
	case "Monitor":
		kind, title = ActionCommand, with("command", "task_id")
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "text_editor_code_execution":
		kind, title = ActionFileChange, str("file_path", "notebook_path", "path")
	case "Read", "NotebookRead", "LS":
		title = with("file_path", "notebook_path", "path")
	case "Glob", "Grep":
		title = with("pattern")
	case "WebSearch", "web_search":
		kind, title = ActionWebSearch, str("query")
	case "WebFetch", "web_fetch":
		kind, title = ActionWebSearch, str("url")
	case ToolSandboxNetwork:
		title = connectTitle(str("host"), input)
	case "ToolSearch", "tool_search_tool_regex", "tool_search_tool_bm25":
		title = with("query", "pattern")
	case "TodoWrite", "TodoRead":
		kind, title = ActionNote, "update todos"
	case "TaskCreate", "TaskUpdate", "TaskGet", "TaskList":
		kind, title = ActionNote, with("subject", "taskId", "task_id")
	case "AskUserQuestion":
		kind, title = ActionNote, "ask user"
	case "EnterPlanMode":
		kind, title = ActionNote, "enter plan mode"
	case "ExitPlanMode":
		kind, title = ActionNote, "present the plan"
	case "Task", "Agent":
		title = with("description")
	case "Skill", "SlashCommand":
		title = with("skill", "command")
	case "StructuredOutput":
		kind, title = ActionNote, "give the structured answer"
	default:
		title = mcpTitle(tool)
	}
	if title = oneLine(title); title == "" {
		title = oneLine(tool)
	}
	return kind, title
}

// mcpTitle turns mcp__server__tool into "server: tool".
func mcpTitle(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return tool
	}
	server, name, ok := strings.Cut(rest, "__")
	if !ok {
		return tool
	}
	return server + ": " + name
}

// oneLine makes text fit to be a title: one line, no control characters, not too
// long.
func oneLine(s string) string {
	const most = 200
	var line []rune
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = len(line) > 0
			continue
		}
		if space {
			line, space = append(line, ' '), false
		}
		if line = append(line, r); len(line) > most {
			line = append(line[:most-1], '…')
			break
		}
	}
	return string(line)
}
