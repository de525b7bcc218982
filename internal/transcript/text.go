package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// MaxText is how much of a text an item holds, in bytes.
const MaxText = 1 << 20

// Further bounds of what an item holds, in bytes.
const (
	maxRaw   = 64 << 10
	maxShort = 4 << 10
)

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// Clip returns the beginning of a text that is too long, and how many bytes were left out. What it returns does not hold on to the text.
func Clip(text string, most int) (string, int64) {
	if len(text) <= most {
		return strings.Clone(text), 0
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end]), int64(len(text) - end)
}

// clipMiddle leaves out the middle of a text that is too long, and says so there: of what a tool gave, the beginning and the end matter.
func clipMiddle(text string, s stamp, session string) (string, int64) {
	if len(text) <= MaxText {
		return strings.Clone(text), 0
	}
	head, _ := Clip(text, MaxText/2)
	from := len(text) - MaxText/2
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	left := int64(from - len(head))
	return head + "\n" + LeftOut(left, session, s.event) + "\n" + text[from:], left
}

// LeftOut says that something was left out, and where to read it: an event of a session, if both are known.
func LeftOut(bytes int64, session, event string) string {
	where := ""
	if _, seq, _ := strings.Cut(event, ":"); session != "" && seq != "" {
		where = fmt.Sprintf("; switchboard show %s --event %s", session, seq)
	}
	return fmt.Sprintf("[%d bytes left out%s]", bytes, where)
}

// Short returns a text for a line of a notice: not too long, without what is around it.
func Short(text string) string {
	text, left := Clip(strings.TrimSpace(text), maxShort)
	if left > 0 {
		text += "…"
	}
	return text
}

// ContentText returns the text of a message's content, with the names of what cannot be read. What is no content is returned as it is.
func ContentText(raw json.RawMessage) string {
	var content wire.Content
	if json.Unmarshal(raw, &content) != nil {
		return string(raw)
	}
	return plain(&content)
}

// plain returns the text of content, with the names of what cannot be read.
func plain(content *wire.Content) string {
	if len(content.Blocks) == 0 {
		return content.Text
	}
	var parts []string
	if content.Text != "" {
		parts = append(parts, content.Text)
	}
	for _, block := range content.Blocks {
		switch b := block.(type) {
		case *wire.TextBlock:
			parts = append(parts, b.Text)
		case *wire.ToolResultBlock:
		case *wire.ImageBlock:
			parts = append(parts, "[image]")
		case *wire.DocumentBlock:
			parts = append(parts, strings.TrimSpace("[document "+b.Title)+"]")
		case *wire.SearchResultBlock:
			parts = append(parts, "[search result]")
		case *wire.ToolReferenceBlock:
			parts = append(parts, "[tool "+b.ToolName+"]")
		default:
			parts = append(parts, "["+block.BlockType()+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// members returns the members of an object, or nothing.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// text returns a member that is a text.
func textMember(m map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var text string
		if raw := m[name]; len(raw) > 0 && json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// CallTitle says in a line what a call is about: the member that tells a person most, else all of them.
func CallTitle(tool string, input json.RawMessage) string {
	m := members(input)
	switch {
	case len(m) == 0:
		return ""
	case tool == "AskUserQuestion" || tool == "ExitPlanMode":
		return "" // the question that follows says it
	case len(m["todos"]) > 0:
		return progress(todos(m["todos"]))
	}
	about := textMember(m, "command", "file_path", "notebook_path", "pattern", "url", "query", "skill", "description", "subject", "prompt", "path", "code")
	switch tool {
	case "Grep", "Glob":
		if where := textMember(m, "path", "glob"); where != "" {
			about += " in " + where
		}
	case "TaskUpdate":
		about = strings.TrimSpace("#" + textMember(m, "taskId", "task_id") + " " + textMember(m, "status", "subject"))
	case "Task", "Agent":
		if kind := textMember(m, "subagent_type"); kind != "" {
			about = kind + ": " + about
		}
	}
	if about == "" {
		about = string(input)
	}
	return oneLine(about)
}

// maxTitle is how long a title is kept, in bytes; more than a line is never shown.
const maxTitle = 1 << 10

// oneLine returns a text in a line. It is not cleaned.
func oneLine(text string) string {
	text, _ = Clip(text, maxTitle)
	return strings.Join(strings.Fields(text), " ")
}

// maxTodos is how many entries of a list are kept.
const maxTodos = 500

// todos reads a list of what is to do.
func todos(raw json.RawMessage) []Todo {
	var list []struct {
		Content    string `json:"content"`
		ActiveForm string `json:"activeForm"`
		Status     string `json:"status"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	list = list[:min(len(list), maxTodos)]
	out := make([]Todo, 0, len(list))
	for _, t := range list {
		out = append(out, Todo{Text: oneLine(t.Content), Active: oneLine(t.ActiveForm), Status: t.Status})
	}
	return out
}

// progress sums up a list of what is to do.
func progress(list []Todo) string {
	done, current := 0, ""
	for _, t := range list {
		switch t.Status {
		case "completed":
			done++
		case "in_progress":
			current = ": " + later(t.Text, t.Active)
		}
	}
	return fmt.Sprintf("%d of %d done%s", done, len(list), current)
}

// input returns a call's input, with long texts in it cut if it is too long to be kept.
func input(raw json.RawMessage) json.RawMessage {
	if len(raw) <= MaxText {
		return append(json.RawMessage(nil), raw...)
	}
	m := members(raw)
	if m == nil {
		return json.RawMessage(`{}`)
	}
	for name, value := range m {
		if len(value) <= maxRaw {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			m[name] = json.RawMessage(`"[left out]"`)
			continue
		}
		text, left := Clip(text, maxRaw)
		cut, err := json.Marshal(text + "\n" + LeftOut(left, "", ""))
		if err != nil { // a text can always be written
			cut = json.RawMessage(`""`)
		}
		m[name] = cut
	}
	out, err := json.Marshal(m)
	if err != nil || len(out) > MaxText {
		return json.RawMessage(`{}`)
	}
	return out
}
