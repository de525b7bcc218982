package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// A dialog is one of the CLI's own. What it wants as a result depends on its kind; only the CLI knows.
type dialog struct {
	kind    string
	payload json.RawMessage
	values  []json.RawMessage // in the payload, that look as if they could be chosen
}

func newDialog(q *api.Question) dialog {
	var r wire.UserDialogRequest
	if words.Request(q, &r) != nil || r.DialogKind == "" {
		return dialog{payload: q.Request}
	}
	return dialog{kind: r.DialogKind, payload: r.Payload, values: values(r.Payload)}
}

// values returns what is in the lists of a payload: the nine first.
func values(payload json.RawMessage) []json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(payload, &object) != nil {
		return nil
	}
	var list []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var each []json.RawMessage
		if json.Unmarshal(object[name], &each) == nil {
			list = append(list, each...)
		}
	}
	return list[:min(len(list), 9)]
}

func (d dialog) head(m Model) []string {
	text := "Claude shows a dialog"
	if d.kind != "" {
		text = "Claude shows the dialog " + brief(d.kind)
	}
	return append(question(m, text), about(m)...)
}

func (d dialog) body(m Model) []string { return members(m, d.payload) }

func (d dialog) tail(m Model) tail {
	var t tail
	for i, value := range d.values {
		t.lines = append(t.lines, numbered(m, i+1, brief(string(value)), false)...)
	}
	return t
}

func (d dialog) keys(Model) []Key {
	keys := []Key{{"w/enter", "write the result"}}
	if len(d.values) > 0 {
		keys = append(keys, Key{fmt.Sprintf("1-%d", len(d.values)), "take that"})
	}
	return append(keys, Key{"c", "cancel the dialog"})
}

func (d dialog) changed(m Model) part { return newDialog(m.q) }

func (d dialog) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	switch name := key.String(); name {
	case "c", "n":
		return m.answered(api.Answer{Decision: "cancel"})
	case "w", "enter":
		return d.write(m, "")
	default:
		if i := digit(name) - 1; i >= 0 && i < len(d.values) {
			return d.write(m, string(d.values[i]))
		}
	}
	return m.common(key)
}

// write asks for the result, in JSON.
func (d dialog) write(m Model, text string) (Model, tea.Cmd) {
	e := newEntry("The result, in JSON: a word in quotes, a number or an object", "", true, func(m Model, in written) (Model, tea.Cmd) {
		if !json.Valid([]byte(in.text)) {
			m.problem = "this isn't valid JSON: put a word in quotes, or write an object such as {\"branch\": \"main\"}"
			return m, nil
		}
		return m.answered(api.Answer{Decision: "choose", Result: json.RawMessage(in.text)})
	})
	e.field = e.field.Set(text)
	m.entry = e
	return m, nil
}

// unknown is a question of a kind that this version does not know.
type unknown struct{}

func (unknown) head(m Model) []string {
	return append(question(m, "A question of the kind "+paint.CleanLine(brief(string(m.q.Kind)), 40)+", which can't be answered here"), about(m)...)
}

func (unknown) body(m Model) []string { return members(m, m.q.Request) }
func (unknown) tail(Model) tail       { return tail{} }
func (unknown) keys(Model) []Key      { return nil }
func (unknown) changed(Model) part    { return unknown{} }

func (unknown) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) { return m.common(key) }
