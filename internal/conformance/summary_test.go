package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A normalizer makes texts comparable between runs: what is different each time gets a name in angle brackets.
type normalizer struct {
	replacer *strings.Replacer
}

// newNormalizer knows the folders of a scenario by name.
func newNormalizer(home, dir string) *normalizer {
	return &normalizer{strings.NewReplacer(dir, "<dir>", home, "<home>")}
}

// tagPattern matches the tags that make prompts unique.
var tagPattern = regexp.MustCompile(`\s*\[[A-Za-z0-9_.-]+ \S+ #\d+\]`)

var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{tagPattern, ""},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\btoolu_\w+`), "<tool>"},
	{regexp.MustCompile(`\breq_\w+`), "<request>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
}

// text returns a text on one line, normalized and shortened.
func (n *normalizer) text(s string) string {
	// Only its beginning is kept, and long texts take their time.
	const longest = 4096
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	if n.replacer != nil {
		s = n.replacer.Replace(s)
	}
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.name)
	}
	s = strings.Join(strings.Fields(s), " ")
	const most = 160
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

// line returns a short summary of a message:
//
//	system/init
//	system/status permissionMode=plan
//	assistant text: Hello.
//	assistant tool_use Bash {"command":"ls"}
//	user tool_result error: No.
//	asks can_use_tool Bash
//	withdraws
//	answers success
//	result success: Hello.
//	result error_during_execution is_error
//
// Lines of sub-agents begin with "sub ".
func (n *normalizer) line(message wire.Message) string {
	typ, subtype := message.MessageType()
	switch m := message.(type) { //nolint:gochecksumtype // the rest is named by its type
	case *wire.Assistant:
		head := "assistant"
		if m.Error != "" {
			head += " error=" + string(m.Error)
		}
		return sub(m.ParentToolUseID) + head + " " + n.blocks(wire.Content{Blocks: m.Message.Content})
	case *wire.User:
		head := "user"
		if m.IsReplay {
			head += " replay"
		}
		if m.IsSynthetic {
			head += " synthetic"
		}
		return sub(m.ParentToolUseID) + head + " " + n.blocks(m.Message.Content)
	case *wire.Result:
		return n.result(m)
	case *wire.ControlRequest:
		return "asks " + n.request(m.Request)
	case *wire.ControlResponse:
		return strings.TrimSpace("answers " + m.Response.Subtype + " " + n.text(strings.TrimSpace(m.Response.Error+" "+m.Response.ErrorCode)))
	case *wire.ControlCancel:
		return "withdraws"
	case *wire.StreamEvent:
		return sub(m.ParentToolUseID) + "stream_event " + m.Event.EventType()
	case *wire.Status:
		s := "system/status"
		if m.Status != "" {
			s += " " + string(m.Status)
		}
		if m.PermissionMode != "" {
			s += " permissionMode=" + string(m.PermissionMode)
		}
		return s
	case *wire.SessionStateChanged:
		return "system/session_state_changed " + string(m.State)
	case *wire.PermissionDenied:
		return "system/permission_denied " + m.ToolName + " " + string(m.DecisionReasonType)
	case *wire.APIRetry:
		status := "null"
		if m.ErrorStatus != nil {
			status = strconv.FormatInt(*m.ErrorStatus, 10)
		}
		return fmt.Sprintf("system/api_retry %d of %d status=%s error=%s", m.Attempt, m.MaxRetries, status, m.Error)
	case *wire.Informational:
		return strings.TrimSpace("system/informational " + m.Tag + ": " + n.text(m.Content))
	}
	if subtype != "" {
		return typ + "/" + subtype
	}
	return typ
}

func sub(parent string) string {
	if parent != "" {
		return "sub "
	}
	return ""
}

func (n *normalizer) result(m *wire.Result) string {
	s := "result " + string(m.Subtype)
	if m.IsError {
		s += " is_error"
	}
	for _, e := range m.Errors {
		if strings.HasPrefix(e, "[ede_diagnostic]") {
			e = "[ede_diagnostic]" // the rest is internal
		}
		s += " error=" + n.text(e)
	}
	if m.Result != "" {
		s += ": " + n.text(m.Result)
	}
	return s
}

func (n *normalizer) request(r wire.Request) string {
	switch r := r.(type) { //nolint:gochecksumtype // the rest is named by its subtype
	case *wire.CanUseToolRequest:
		return "can_use_tool " + r.ToolName
	case *wire.HookCallbackRequest:
		return "hook_callback " + r.CallbackID + " " + r.Input.HookEventName()
	case *wire.MCPMessageRequest:
		return "mcp_message " + r.ServerName + " " + r.Message.Method
	}
	return r.RequestSubtype()
}

func (n *normalizer) blocks(content wire.Content) string {
	var parts []string
	for _, block := range content.All() {
		switch b := block.(type) {
		case *wire.TextBlock:
			parts = append(parts, "text: "+n.text(b.Text))
		case *wire.ThinkingBlock:
			parts = append(parts, "thinking: "+n.text(b.Thinking))
		case *wire.ToolUseBlock:
			parts = append(parts, "tool_use "+b.Name+" "+n.json(b.Input))
		case *wire.ToolResultBlock:
			head := "tool_result: "
			if b.IsError {
				head = "tool_result error: "
			}
			parts = append(parts, head+n.text(texts(b.Content)))
		default:
			parts = append(parts, b.BlockType())
		}
	}
	return strings.Join(parts, " + ")
}

// json returns JSON with its names in order, normalized.
func (n *normalizer) json(raw json.RawMessage) string {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return n.text(string(raw))
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return n.text(string(raw))
	}
	return n.text(out.String())
}

// texts returns all the text of content.
func texts(content wire.Content) string {
	var all []string
	for _, block := range content.All() {
		if text, ok := block.(*wire.TextBlock); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, " ")
}
