package words

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxHeadline is how long the part of a headline is that an agent chose.
const maxHeadline = 60

// Headline says what a question asks, in a few words.
func Headline(q *api.Question) string {
	switch q.Kind {
	case api.QuestionPermission:
		tool, input := Call(q)
		return ToolHeadline(tool, input)
	case api.QuestionChoice:
		return "Claude has a question"
	case api.QuestionPlan:
		if q.Plan != nil && q.Plan.Text == "" {
			return "Leave plan mode without a plan?"
		}
		return "Approve this plan?"
	case api.QuestionForm:
		return "Fill in this form"
	case api.QuestionDialog:
		return "Claude shows a dialog"
	default:
		return paint.CleanLine(string(q.Kind), maxHeadline)
	}
}

// Asked returns the headline of a question with what it is about: of a connection the program that wants it, since the headline names the rest.
func Asked(q *api.Question, about string) string {
	if tool, input := Call(q); tool == wire.ToolSandboxNetwork {
		about = ""
		if command, ok := wire.LookupString(input, "command"); ok && command != "" {
			about = "(" + paint.CleanLine(command, 0) + ")"
		}
	}
	return strings.TrimSpace(Headline(q) + " " + about)
}

// Outcome says what an outcome of a plan review means.
func Outcome(o api.PlanOutcome) string {
	switch o {
	case api.PlanFresh:
		return "approved, with cleared context"
	case api.PlanAcceptEdits:
		return "approved, edits accepted"
	case api.PlanAsk:
		return "approved, edits need approval"
	case api.PlanRevise:
		return "sent back for changes"
	case api.PlanReject:
		return "rejected"
	case api.PlanOutline:
		return "asked for an outline"
	default: // one of tomorrow
		return part(strings.ReplaceAll(string(o), "_", " "))
	}
}

// Failure says in brackets why a turn failed; nothing if the CLI calls that a success, as it does if the API failed.
func Failure(subtype string) string {
	if subtype == "" || subtype == "success" {
		return ""
	}
	return " (" + paint.CleanLine(strings.ReplaceAll(strings.TrimPrefix(subtype, "error_"), "_", " "), 0) + ")"
}

// ToolHeadline asks whether a tool may do what its input says.
func ToolHeadline(tool string, input json.RawMessage) string {
	file := ""
	for _, member := range []string{"file_path", "notebook_path"} {
		if name, ok := wire.LookupString(input, member); ok && file == "" {
			file = part(path.Base(strings.TrimRight(name, "/")))
		}
	}
	switch tool {
	case "Bash", "PowerShell":
		return "Run this command?"
	case "Edit", "MultiEdit", "NotebookEdit":
		if file != "" {
			return "Edit " + file + "?"
		}
	case "Write":
		if file != "" {
			return "Write " + file + "?"
		}
	case "Read", "NotebookRead":
		if file != "" {
			return "Read " + file + "?"
		}
	case "WebFetch":
		if address, ok := wire.LookupString(input, "url"); ok {
			if u, err := url.Parse(address); err == nil && u.Host != "" {
				return "Fetch " + part(u.Host) + "?"
			}
		}
		return "Fetch a web page?"
	case wire.ToolSandboxNetwork:
		if host, ok := wire.LookupString(input, "host"); ok && host != "" {
			port, _ := wire.Lookup(input, "port")
			if _, err := strconv.ParseUint(string(port), 10, 16); err == nil {
				host = net.JoinHostPort(host, string(port))
			}
			return "Connect to " + part(host) + "?"
		}
		return "Connect to another machine?"
	case "WebSearch":
		return "Search the web?"
	case "Task", "Agent":
		return "Start a sub-agent?"
	case "EnterPlanMode":
		return "Enter plan mode?"
	}
	return "Use " + part(tool) + "?"
}

// part returns a word of an agent's that becomes a part of a headline.
func part(text string) string { return paint.CleanLine(text, maxHeadline) }

// Request decodes what the CLI asks in a question, which may come with its envelope.
func Request(q *api.Question, into any) error {
	raw := q.Request
	if inner, ok := wire.Lookup(raw, "request"); ok {
		raw = inner
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	return nil
}

// Call returns the tool call that a question is about: the CLI asks about it, or a hook of ours has brought it.
func Call(q *api.Question) (tool string, input json.RawMessage) {
	var ask wire.CanUseToolRequest
	if Request(q, &ask) == nil && ask.ToolName != "" {
		return ask.ToolName, ask.Input
	}
	var hook wire.HookCallbackRequest
	if Request(q, &hook) == nil {
		if before, ok := hook.Input.(*wire.PreToolUseInput); ok {
			return before.ToolName, before.ToolInput
		}
	}
	return q.Tool, nil
}

// NamesPath reports whether a tool's input names a path as the file that it is about.
func NamesPath(input json.RawMessage, path string) bool {
	for _, member := range []string{"file_path", "notebook_path"} {
		if name, ok := wire.LookupString(input, member); ok && name == path {
			return true
		}
	}
	return false
}
