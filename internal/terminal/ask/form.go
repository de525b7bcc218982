package ask

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// A form is filled in for an MCP server, or a page of it is visited.
type form struct {
	request wire.ElicitationRequest
	fields  []field
	at      int // the field; len(fields): send, and one more: decline
}

func newForm(q *api.Question) form {
	var f form
	if words.Request(q, &f.request) != nil {
		return f
	}
	if !f.page() {
		f.fields = fieldsOf(&f.request)
	}
	return f
}

// page reports whether a page is to be visited instead of a form to be filled in.
func (f form) page() bool { return f.request.Mode == wire.ElicitationModeURL }

func (f form) head(m Model) []string {
	r := &f.request
	who := r.DisplayName
	if who == "" {
		who = r.MCPServerName
	}
	text := "Fill in this form"
	switch {
	case who != "" && r.Message != "":
		text = paint.CleanLine(brief(who), 60) + " asks: " + brief(r.Message)
	case who != "":
		text = paint.CleanLine(brief(who), 60) + " asks"
	case r.Message != "":
		text = r.Message
	}
	lines := question(m, text)
	if r.Title != "" && r.Title != r.Message {
		lines = append(lines, note(m, "title", r.Title)...)
	}
	if r.Description != r.Message {
		lines = append(lines, note(m, "about", r.Description)...)
	}
	return append(lines, about(m)...)
}

// body shows the address of a page: whole, for a user who follows it must have seen where it leads. It is never opened automatically.
func (f form) body(m Model) []string {
	if !f.page() {
		return nil
	}
	lines := fittedLines(m.styles.Bold.Render, "Open this page in a browser, if you trust it:", m.o.Width, 2)
	return append(lines, textLines(f.request.URL, m.o.Width, "")...)
}

func (f form) tail(m Model) tail {
	if f.page() {
		return tail{}
	}
	var t tail
	for i, each := range f.fields {
		lines, focus, cursor, x := each.lines(m, i == f.at)
		if i == f.at {
			t.focus, t.cursor, t.x = len(t.lines)+focus, cursor, x
		}
		t.lines = append(t.lines, lines...)
	}
	for i, text := range []string{"Send", "Decline"} {
		if f.at == len(f.fields)+i {
			t.focus = len(t.lines)
		}
		t.lines = append(t.lines, keyed(m, m.styles.Glyphs.Bullet, text, f.at == len(f.fields)+i)...)
	}
	return t
}

func (f form) keys(Model) []Key {
	if f.page() {
		return []Key{{"y", "done"}, {"n", "decline"}, {"c", "cancel"}}
	}
	keys := []Key{{"tab/down", "next"}}
	if f.at < len(f.fields) {
		keys = append(keys, f.fields[f.at].keys()...)
	}
	return append(keys, Key{"enter", "next, send"}, Key{"ctrl+s", "send"}, Key{"ctrl+d", "decline"}, Key{"ctrl+x", "cancel"})
}

// changed takes over nothing: a form does not change while it is open, and what was filled in stays.
func (f form) changed(Model) part { return f }

func (f form) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	name := key.String()
	if f.page() {
		switch name {
		case "y", "enter":
			if name == "enter" {
				m.problem = "press y when you are done there, n to decline"
				return m, nil
			}
			return m.answered(api.Answer{Decision: "accept"})
		case "n", "d":
			return m.answered(api.Answer{Decision: "decline"})
		case "c":
			return m.answered(api.Answer{Decision: "cancel"})
		}
		return m.common(key)
	}
	stops := len(f.fields) + 2
	switch name {
	case "esc":
		return m, m.putOff()
	case "ctrl+s":
		return f.send(m)
	case "ctrl+d":
		return m.answered(api.Answer{Decision: "decline"})
	case "ctrl+x":
		return m.answered(api.Answer{Decision: "cancel"})
	case "tab", "down", "ctrl+n":
		f.at = (f.at + 1) % stops
	case "shift+tab", "up", "ctrl+p":
		f.at = (f.at + stops - 1) % stops
	case "enter":
		switch f.at {
		case len(f.fields):
			return f.send(m)
		case len(f.fields) + 1:
			return m.answered(api.Answer{Decision: "decline"})
		}
		if _, err := f.fields[f.at].value(); err != nil {
			m.problem = err.Error()
			return m, nil
		}
		f.at++
	default:
		if f.at >= len(f.fields) {
			return m, nil
		}
		f.fields = slices.Clone(f.fields)
		f.fields[f.at] = f.fields[f.at].key(key, m.fieldWidth())
	}
	m.part = f
	return m, nil
}

// paste writes what was pasted into the field.
func (f form) paste(m Model, text string) (Model, tea.Cmd) {
	if f.at >= len(f.fields) || !f.fields[f.at].written() {
		return m, nil
	}
	each := f.fields[f.at]
	input, err := each.input.Insert(text)
	if err != nil {
		m.problem = err.Error()
		return m, nil
	}
	each.input, each.set, each.kept = input, true, nil
	f.fields = slices.Clone(f.fields)
	f.fields[f.at] = each
	m.part = f
	return m, nil
}

// send accepts the form with what was filled in, if it fits.
func (f form) send(m Model) (Model, tea.Cmd) {
	content := map[string]json.RawMessage{}
	for i, each := range f.fields {
		value, err := each.value()
		if err != nil {
			f.at = i
			m.part, m.problem = f, err.Error()
			return m, nil
		}
		if value != nil {
			content[each.name] = value
		}
	}
	data, err := json.Marshal(content)
	if err == nil {
		err = wire.CheckForm(&f.request, data)
	}
	if err != nil {
		for i, each := range f.fields {
			if strings.Contains(err.Error(), "\""+each.name+"\"") {
				f.at = i
				break
			}
		}
		m.part, m.problem = f, err.Error()
		return m, nil
	}
	return m.answered(api.Answer{Decision: "accept", Content: data})
}
