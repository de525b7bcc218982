package terminal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// line shows a line of the CLI. mu is held.
func (v *view) line(e *api.Event) {
	if len(e.Line) == 0 {
		if e.Text != "" {
			v.print("", "line", short(e.Text))
		}
		return
	}
	message, err := wire.Decode(e.Line)
	if err != nil {
		v.print("", "line", short(string(e.Line)))
		return
	}
	switch m := message.(type) { //nolint:gochecksumtype // the rest is not for a person, or told by events of the hub
	case *wire.Assistant:
		v.assistant(m)
	case *wire.User:
		v.user(m)
	case *wire.Result:
		v.result(m)
	case *wire.Unknown:
		v.print("", "unknown", short(string(e.Line)))
	}
}

// margin sets what a sub-agent does further in.
func margin(parent string) string {
	if parent == "" {
		return ""
	}
	return "    "
}

// assistant shows what the agent says and which tools it calls.
func (v *view) assistant(m *wire.Assistant) {
	in := margin(m.ParentToolUseID)
	for _, block := range m.Message.Content {
		switch b := block.(type) { //nolint:gochecksumtype // other blocks carry nothing to read
		case *wire.TextBlock:
			v.print(in, "agent", b.Text)
		case *wire.ThinkingBlock:
			if text := short(b.Thinking); text != "" {
				v.print(in, "thinking", text)
			}
		case *wire.ToolUseBlock:
			v.print(in, "tool", short(b.Name+" "+about(b.Input)))
		}
	}
}

// about returns what a call is about: the member that tells a person most, else all of them.
func about(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil || len(members) == 0 {
		return ""
	}
	switch {
	case len(members["questions"]) > 0, len(members["plan"]) > 0:
		return "" // the question that follows says it
	case len(members["todos"]) > 0:
		return progress(members["todos"])
	}
	for _, name := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "skill", "description", "prompt"} {
		var text string
		if json.Unmarshal(members[name], &text) == nil && text != "" {
			return text
		}
	}
	return string(input)
}

// progress sums up a list of what is to do.
func progress(raw json.RawMessage) string {
	var todos []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	}
	if err := json.Unmarshal(raw, &todos); err != nil {
		return string(raw)
	}
	done, current := 0, ""
	for _, todo := range todos {
		switch todo.Status {
		case "completed":
			done++
		case "in_progress":
			current = ": " + todo.Content
		}
	}
	return fmt.Sprintf("%d of %d done%s", done, len(todos), current)
}

// user shows what tools gave, and prompts that this server did not send or that were said before it was there.
func (v *view) user(m *wire.User) {
	in := margin(m.ParentToolUseID)
	said := m.Message.Content.Text
	for _, block := range m.Message.Content.Blocks {
		switch b := block.(type) { //nolint:gochecksumtype // images have nothing to read
		case *wire.ToolResultBlock:
			label := "result"
			if b.IsError {
				label = "failed"
			}
			v.print(in, label, summary(plain(&b.Content)))
		case *wire.TextBlock:
			said = strings.TrimSpace(said + "\n" + b.Text)
		}
	}
	switch {
	case said == "" || m.IsSynthetic || m.ParentToolUseID != "":
	case v.shown[m.UUID]:
		delete(v.shown, m.UUID)
	default:
		v.print(in, "user", said)
	}
}

// summary returns the beginning of a text in a line, and how many there are.
func summary(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "(nothing)"
	}
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return short(first)
	}
	lines := "1 more line"
	if n := strings.Count(rest, "\n") + 1; n > 1 {
		lines = fmt.Sprintf("%d more lines", n)
	}
	return short(first) + " (" + lines + ")"
}

// plain returns the text of content.
func plain(content *wire.Content) string {
	texts := nonEmpty(content.Text)
	for _, block := range content.Blocks {
		if text, ok := block.(*wire.TextBlock); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// result shows the end of a turn.
func (v *view) result(m *wire.Result) {
	text := string(m.Subtype)
	if m.IsError && m.Subtype == wire.ResultSubtypeSuccess {
		text = "failed"
	}
	text += fmt.Sprintf(" after %d steps", m.NumTurns)
	if m.IsError && m.Result != "" {
		text += ": " + m.Result
	}
	v.print("", "turn", short(text))
}
