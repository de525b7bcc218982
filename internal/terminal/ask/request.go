package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// A call is the tool call that a question is about.
type call struct {
	tool  string
	input json.RawMessage
	// hook says that a hook of ours has brought it, which can allow it once only and can't stop the turn.
	hook bool
	// once says that the CLI does not want it to be allowed for good; no that the obvious answer is no.
	once, no bool
}

// callOf returns the tool call that a question is about.
func callOf(q *api.Question) call {
	var asked wire.CanUseToolRequest
	if words.Request(q, &asked) == nil && asked.ToolName != "" {
		return call{tool: asked.ToolName, input: asked.Input, once: asked.SuppressAlwaysAllowRule, no: asked.DefaultToNo}
	}
	var hook wire.HookCallbackRequest
	if words.Request(q, &hook) == nil {
		if before, ok := hook.Input.(*wire.PreToolUseInput); ok {
			return call{tool: before.ToolName, input: before.ToolInput, hook: true}
		}
	}
	return call{tool: q.Tool}
}

// about returns what is to be known about a question of any kind.
func about(m Model) []string {
	q := m.q
	var lines []string
	if q.AgentID != "" {
		lines = append(lines, note(m, "asked by", "the sub-agent "+brief(q.AgentID))...)
	}
	lines = append(lines, note(m, "reason", q.Why)...)
	if _, input := words.Call(q); !words.NamesPath(input, q.BlockedPath) { // else it is shown already
		lines = append(lines, note(m, "path", q.BlockedPath)...)
	}
	if r := q.Rule; r != nil {
		text := fmt.Sprintf("%s %s (%s)", r.Decision, brief(r.Rule), brief(r.Scope))
		if r.Reason != "" {
			text += ", because: " + brief(r.Reason)
		}
		lines = append(lines, note(m, "rule", text)...)
	}
	if q.Deadline > 0 {
		lines = append(lines, note(m, "deadline", fmt.Sprintf("denied automatically after %d s in view", q.Deadline))...)
	}
	return lines
}

// question draws the line that says what is asked.
func question(m Model, text string) []string {
	s := m.styles
	lines := wrapped(text, max(1, m.o.Width-2), 3)
	for i, line := range lines {
		if i == 0 {
			lines[i] = paint.Cut(s.Warn.Render("?")+" "+s.Bold.Render(line), m.o.Width)
		} else {
			lines[i] = paint.Cut("  "+s.Bold.Render(line), m.o.Width)
		}
	}
	return lines
}

// maxDetail is how much of a text is shown, in bytes, maxLines in how many lines.
const (
	maxDetail = 64 << 10
	maxLines  = 5000
)

// bounded cuts a text where it becomes too long to be shown, and says so.
func bounded(text string) string {
	if len(text) <= maxDetail {
		return text
	}
	return strings.ToValidUTF8(text[:maxDetail], "") + fmt.Sprintf("\n… (%s more, NOT SHOWN; e opens all of it)", units.Size(int64(len(text)-maxDetail)))
}

// reveal makes characters visible that show nothing, but for those that join emoji and letters of scripts that need it: in what the user is
// to allow, nothing may be that cannot be seen.
func reveal(text string) string {
	if strings.IndexFunc(text, invisible) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	joins := func(r rune) bool { return r == '\u200c' || r == '\u200d' }
	selects := func(r rune) bool { return r == '\ufe0e' || r == '\ufe0f' }
	before := rune(0)
	for _, r := range text {
		// They stand behind something that is no Latin letter, and never behind another of their own.
		fits := before >= 0x250 && !joins(before) && (joins(r) || selects(r) && !selects(before))
		if invisible(r) && !fits {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		if before = r; r == utf8.RuneError {
			before = 0
		}
	}
	return b.String()
}

// revealed returns lines, styled or not, with what shows nothing made visible. They may be wider then.
func revealed(lines []string) []string {
	for i, line := range lines {
		lines[i] = reveal(line)
	}
	return lines
}

// invisible reports whether a character that may reach a terminal shows nothing.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x200c, r == 0x200d, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	default:
		return unicode.Is(unicode.Variation_Selector, r)
	}
}

// textLines returns a text as it is, cleaned and wrapped.
func textLines(text string, width int, indent string) []string {
	lines := paint.Wrap(reveal(strings.TrimRight(bounded(text), "\n")), max(1, width-len(indent)))
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines:maxLines], paint.CleanLine(fmt.Sprintf("… (%d more lines, NOT SHOWN)", more), max(1, width-len(indent))))
	}
	if len(indent) >= width {
		indent = ""
	}
	for i, line := range lines {
		lines[i] = indent + line
	}
	return lines
}

// members shows an object member by member, but for those that are shown already.
func members(m Model, input json.RawMessage, but ...string) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil {
		if len(input) == 0 {
			return nil
		}
		return textLines(string(input), m.o.Width, "")
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(but, name) {
			continue
		}
		if len(lines) > 2*maxLines {
			return append(lines, paint.CleanLine("… (there is more, NOT SHOWN; e opens all of it)", m.o.Width))
		}
		lines = append(lines, member(m, name, object[name])...)
	}
	return lines
}

// member shows one member of an object. A name is the agent's too: it must not look like another member.
func member(m Model, name string, value json.RawMessage) []string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	label := paint.CleanLine(reveal(brief(name)), max(1, m.o.Width/2))
	room := m.o.Width - paint.Width(label) - 2
	if !strings.Contains(text, "\n") && len(text) <= 4*m.o.Width {
		// As it is: spaces count in a path.
		if line := paint.Wrap(reveal(text), 0)[0]; paint.Width(line) <= room {
			return []string{m.styles.Dim.Render(label+":") + " " + line}
		}
	}
	return append([]string{paint.Cut(m.styles.Dim.Render(label+":"), m.o.Width)}, textLines(text, m.o.Width, "  ")...)
}
