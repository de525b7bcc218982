package talk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// tool draws a tool call: in a line, or with all that it got and gave.
func (d *drawing) tool() {
	s, t := d.Styles, d.item.Tool
	if t == nil {
		t = &transcript.Tool{}
	}
	d.add(d.toolLine(t))
	if !d.unfolded {
		d.failure(t)
		return
	}
	if d.room == 0 || d.room >= 20 {
		d.indent += "  "
		d.room = d.inner(2)
	}
	if t.Summary != "" {
		d.block("", d.all(t.Summary, 0, s.Dim))
	}
	if t.Denied != "" {
		d.block("", d.all("denied: "+t.Denied, 0, s.Bad))
	}
	if t.Rule != "" && t.Rule != t.Denied {
		d.block("", d.all(t.Rule, 0, s.Dim))
	}
	d.given(t)
	if t.Task != nil {
		d.add(s.Dim.Render(d.Styles.CleanLine("task "+t.Task.ID+" "+t.Task.Description, d.room)))
	}
	d.output(t)
}

// maxFailure is how many lines of a failed call's output are shown unasked.
const maxFailure = 10

// failure shows the end of what a failed call gave: that it failed says little.
func (d *drawing) failure(t *transcript.Tool) {
	text, _, _ := strings.Cut(t.Output, "[Request interrupted by user") // the end of the turn tells of it
	text = strings.TrimRight(text, " \n\r\t")
	first, rest, more := strings.Cut(text, "\n")
	if t.State != transcript.ToolFailed || !more || d.room > 0 && d.room < 20 {
		return
	}
	if !strings.HasPrefix(first, "Exit code ") {
		rest = text
	}
	end, before := lastLines(strings.Trim(rest, "\n"), maxFailure)
	if before > 0 {
		end = fmt.Sprintf("(%s before)\n%s", units.Plural(before, "line"), end)
	}
	d.block("  ", d.first(end, 2, d.Styles.Dim, 2*maxFailure))
}

// toolLine returns a call in a line: how it is going, its name, what it is about, how long it took, and the first words of its result.
func (d *drawing) toolLine(t *transcript.Tool) string {
	s := d.Styles
	sign := s.Accent.Render(s.Glyphs.Running)
	switch t.State {
	case transcript.ToolDone:
		sign = s.Good.Render(s.Glyphs.Done)
	case transcript.ToolFailed:
		sign = s.Bad.Render(s.Glyphs.Failed)
	case transcript.ToolDenied:
		sign = s.Bad.Render(s.Glyphs.Denied)
	case transcript.ToolStopped:
		sign = s.Warn.Render(s.Glyphs.Denied)
	case transcript.ToolRunning:
	}
	name := s.CleanLine(t.Name, 40)
	if name == "" {
		name = "tool"
	}
	line := sign + " " + s.Tool.Render(name)
	after := d.after(t)
	words, bad := d.words(t)
	title := s.CleanLine(t.Title, 0)
	room := 1 << 30
	if d.room > 0 {
		room = d.room - paint.Width(line) - paint.Width(after)
		if title != "" {
			room -= 2
		}
	}
	if title != "" && room > 3 {
		most := room
		if words != "" && paint.Width(title) > room*3/5 {
			most = max(room*3/5, 8)
		}
		title = s.CleanLine(title, min(most, room))
		room -= paint.Width(title)
		line += "  " + title
	}
	line += s.Dim.Render(after)
	if words != "" && room > 8 {
		style := s.Dim
		if bad {
			style = s.Bad
		}
		line += s.Dim.Render(" "+s.Glyphs.Dot+" ") + style.Render(s.CleanLine(words, room-3))
	}
	return line
}

// after returns what stands behind a call's title: how long it took, and how much an agent has done.
func (d *drawing) after(t *transcript.Tool) string {
	dot := " " + d.Styles.Glyphs.Dot + " "
	text := ""
	switch {
	case t.Asking || t.Started.IsZero(): // it has not begun
	case t.State == transcript.ToolRunning && !d.Now.IsZero() && d.Now.Sub(t.Started) > t.Waited:
		text = dot + units.Duration(d.Now.Sub(t.Started)-t.Waited)
	case t.State != transcript.ToolRunning && !t.Ended.IsZero() && t.Ended.Sub(t.Started) > t.Waited:
		text = dot + units.Duration(t.Ended.Sub(t.Started)-t.Waited)
	}
	if t.Children > 0 {
		text += dot + units.Plural(t.Children, "step")
	}
	return text
}

// words returns the first words of what a call gave, and whether they tell of a failure.
func (d *drawing) words(t *transcript.Tool) (string, bool) {
	switch {
	case t.State == transcript.ToolDenied:
		return strings.TrimSuffix("denied: "+t.Denied, ": "), true
	case t.State == transcript.ToolStopped:
		return "stopped", false
	case t.Asking:
		return "waiting for an answer", false
	case t.State == transcript.ToolRunning:
		return t.Progress, false
	case len(t.Todos) > 0:
		return "", false // the title says it
	}
	if added, removed, ok := paint.PatchSize(t.Patch); ok && t.State == transcript.ToolDone {
		return fmt.Sprintf("+%d -%d", added, removed), false
	}
	first, more := paint.FirstLine(t.Output, 200)
	if t.Name == "Read" && t.State == transcript.ToolDone {
		return units.Plural(more+1, "line"), false
	}
	if more > 0 && (t.State != transcript.ToolFailed || d.unfolded) {
		first += " (" + units.Plural(more, "more line") + ")"
	}
	return first, t.State == transcript.ToolFailed
}

// given shows what a call got: a list of what is to do, a difference, a command, or the input as it is.
func (d *drawing) given(t *transcript.Tool) {
	s := d.Styles
	if len(t.Todos) > 0 {
		for _, line := range TodoLines(s, t.Todos, d.room) {
			d.add(line)
		}
		return
	}
	o := paint.DiffOptions{Width: d.room}
	if d.Full {
		o.Lines = 1 << 30
	}
	if lines, ok := s.Hunks(t.Patch, o); ok {
		for _, line := range lines {
			d.add(line)
		}
		return
	}
	path := member(t.Input, "file_path", "notebook_path", "path")
	switch t.Name {
	case "Bash", "PowerShell":
		if command := member(t.Input, "command"); command != "" {
			d.block(s.Dim.Render("$")+" ", d.first(command, 2, s.Code, maxLines))
			if about := member(t.Input, "description"); about != "" {
				d.block("", d.first(about, 0, s.Dim, maxLines))
			}
			return
		}
	case "Edit":
		if before, after := member(t.Input, "old_string"), member(t.Input, "new_string"); before != "" || after != "" {
			d.diff(s.Diff(path, before, after, o))
			return
		}
	case "MultiEdit":
		var edits []json.RawMessage
		if list, ok := wire.Lookup(t.Input, "edits"); ok && json.Unmarshal(list, &edits) == nil && len(edits) > 0 {
			for _, e := range edits[:min(len(edits), maxLines)] {
				d.diff(s.Diff(path, member(e, "old_string"), member(e, "new_string"), o))
			}
			return
		}
	case "Write":
		if content := member(t.Input, "content"); content != "" {
			d.diff(s.Diff(path, "", content, o))
			return
		}
	case "Task", "Agent", "ExitPlanMode":
		if text := member(t.Input, "prompt", "plan"); text != "" {
			for _, line := range d.some(s.Markdown(text, d.room), maxLines) {
				d.add(line)
			}
			return
		}
	}
	if input := bytes.TrimSpace(t.Input); d.item.Streaming || len(input) > 0 && string(input) != "{}" {
		d.block("", d.first(indented(string(t.Input)), 0, s.Code, maxLines))
	}
}

func (d *drawing) diff(lines []string) {
	for _, line := range lines {
		d.add(line)
	}
}

// output shows what a call gave.
func (d *drawing) output(t *transcript.Tool) {
	s := d.Styles
	text := strings.TrimRight(t.Output, " \n\r\t")
	if text == "" {
		if t.State == transcript.ToolDone && len(t.Patch) == 0 && len(t.Todos) == 0 {
			d.add(s.Dim.Render("(no output)"))
		}
		return
	}
	if (len(t.Patch) > 0 || len(t.Todos) > 0) && t.State == transcript.ToolDone {
		return // the difference, or the list, says it
	}
	style := s.Dim
	if t.State == transcript.ToolFailed {
		style = s.Bad
	}
	d.block("", d.last(text, 0, style))
}

// lastLines returns the last lines of a text, and how many stand before them.
func lastLines(text string, most int) (string, int) {
	from := len(text)
	for range most {
		i := strings.LastIndexByte(text[:from], '\n')
		if i < 0 {
			return text, 0
		}
		from = i
	}
	return text[from+1:], strings.Count(text[:from+1], "\n")
}

// indented returns JSON in lines, or a text as it is.
func indented(text string) string {
	if len(text) > transcript.MaxText {
		return text
	}
	var b bytes.Buffer
	if deep(text) || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return readable(b.String())
}

// readable writes out the characters that are escaped in JSON for the sake of HTML only.
func readable(text string) string {
	if !strings.Contains(text, `\u00`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		sign := byte(0)
		switch {
		case strings.HasPrefix(text[i:], `\u003c`):
			sign = '<'
		case strings.HasPrefix(text[i:], `\u003e`):
			sign = '>'
		case strings.HasPrefix(text[i:], `\u0026`):
			sign = '&'
		}
		if sign != 0 {
			b.WriteByte(sign)
			i += 5
			continue
		}
		end := min(i+2, len(text)) // what is escaped may be a backslash itself
		b.WriteString(text[i:end])
		i = end - 1
	}
	return b.String()
}

// member returns the first member of an object that is a text.
func member(object json.RawMessage, names ...string) string {
	for _, name := range names {
		if text, ok := wire.LookupString(object, name); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// deep reports whether JSON is nested so much that its indentation would be longer than itself.
func deep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			if depth++; depth > 20 {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// TodoLines draws a list of what is to do in lines of at most width columns; 0 does not cut.
func TodoLines(s *paint.Styles, list []transcript.Todo, width int) []string {
	lines := make([]string, 0, len(list))
	for _, t := range list {
		sign, style, text := s.Dim.Render(s.Glyphs.Open), s.Text, t.Text
		switch t.Status {
		case "completed":
			sign, style = s.Good.Render(s.Glyphs.Done), s.Dim
		case "in_progress":
			sign, style, text = s.Accent.Render(s.Glyphs.Running), s.Bold, cmp.Or(t.Active, t.Text)
		}
		room := 0
		if width > 0 {
			room = max(width-2, 1)
		}
		lines = append(lines, s.Cut(sign+" "+style.Render(s.CleanLine(text, room)), width))
	}
	return lines
}
