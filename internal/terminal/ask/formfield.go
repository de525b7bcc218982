package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// A schema is the part of a JSON schema that a form is made of.
type schema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

// A property describes a field.
type property struct {
	Type        any               `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	EnumNames   []string          `json:"enumNames"`
	OneOf       []constant        `json:"oneOf"`
	AnyOf       []constant        `json:"anyOf"`
	Items       *property         `json:"items"`
	Default     json.RawMessage   `json:"default"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	MinLength   *int              `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
}

// A constant is something to choose, with a name.
type constant struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// options returns what can be chosen, and what each is called.
func (p *property) options() (values []json.RawMessage, names []string) {
	for i, v := range p.Enum {
		values = append(values, v)
		if i < len(p.EnumNames) {
			names = append(names, p.EnumNames[i])
		} else {
			names = append(names, plainText(v))
		}
	}
	for _, c := range slices.Concat(p.OneOf, p.AnyOf) {
		if c.Const == nil {
			continue
		}
		name := c.Title
		if name == "" {
			name = plainText(c.Const)
		}
		values, names = append(values, c.Const), append(names, name)
	}
	return values, names
}

// plainText returns a value as a person writes it.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// fieldKind is how a field is filled in.
type fieldKind int

const (
	fieldText    fieldKind = iota // a text
	fieldNumber                   // a number
	fieldBool                     // yes or no
	fieldOne                      // one of several
	fieldSeveral                  // some of several
	fieldJSON                     // anything else
)

// A field is one to be filled in.
type field struct {
	name     string
	property property
	required bool
	kind     fieldKind

	set    bool            // something was filled in
	kept   json.RawMessage // what it comes with, if that is too long to be edited
	input  compose.Field
	yes    bool
	values []json.RawMessage
	names  []string
	at     int    // the option that is chosen, or that the next key is about
	chosen []bool // of several
}

// fieldsOf returns the fields of a form, in the order that it wants.
func fieldsOf(r *wire.ElicitationRequest) []field {
	var s schema
	if json.Unmarshal(r.RequestedSchema, &s) != nil {
		return nil
	}
	var order []string
	add := func(name string) {
		if _, ok := s.Properties[name]; ok && len(order) < maxFields && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	for _, name := range r.PropertyOrder {
		add(name)
	}
	for _, name := range inOrder(r.RequestedSchema) {
		add(name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		add(name)
	}
	fields := make([]field, 0, len(order))
	for _, name := range order {
		fields = append(fields, newField(name, s.Properties[name], slices.Contains(s.Required, name)))
	}
	return fields
}

// maxFields is how many fields of a form are shown.
const maxFields = 200

// inOrder returns the names of a schema's fields in the order in which they are written.
func inOrder(raw json.RawMessage) []string {
	properties, ok := wire.Lookup(raw, "properties")
	if !ok {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for d.More() && len(names) < maxFields {
		name, err := d.Token()
		if err != nil {
			break
		}
		text, ok := name.(string)
		var skip json.RawMessage
		if !ok || d.Decode(&skip) != nil {
			break
		}
		names = append(names, text)
	}
	return names
}

func newField(name string, p property, required bool) field {
	f := field{name: name, property: p, required: required}
	kind, _ := p.Type.(string)
	f.values, f.names = p.options()
	if kind == "array" && p.Items != nil {
		f.values, f.names = p.Items.options()
	}
	switch {
	case kind == "array" && len(f.values) > 0:
		f.kind, f.chosen = fieldSeveral, make([]bool, len(f.values))
	case kind != "array" && len(f.values) > 0:
		f.kind, f.at = fieldOne, -1
	case kind == "string" || kind == "" && p.Type == nil:
		f.kind = fieldText
	case kind == "number", kind == "integer":
		f.kind = fieldNumber
	case kind == "boolean":
		f.kind = fieldBool
	default:
		f.kind = fieldJSON
	}
	f.input.Multiline = f.kind == fieldJSON
	return f.preset(p.Default)
}

// preset fills in what the form comes with.
func (f field) preset(value json.RawMessage) field {
	if len(value) == 0 || string(value) == "null" {
		return f
	}
	if f.written() && len(value) > maxInPlace {
		f.kept, f.set = value, true
		return f
	}
	same := func(other json.RawMessage) bool { return plainText(other) == plainText(value) }
	switch f.kind {
	case fieldText, fieldNumber:
		f.input, f.set = f.input.Set(plainText(value)), true
	case fieldBool:
		f.set, f.yes = true, string(value) == "true"
	case fieldOne:
		f.at = slices.IndexFunc(f.values, same)
		f.set = f.at >= 0
	case fieldSeveral:
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			break
		}
		f.set = true
		given := map[string]bool{}
		for _, o := range list {
			given[plainText(o)] = true
		}
		for i, v := range f.values {
			f.chosen[i] = given[plainText(v)]
		}
	case fieldJSON:
		f.input, f.set = f.input.Set(string(value)), true
	}
	return f
}

// written reports whether the field is filled in by writing.
func (f field) written() bool {
	return f.kind == fieldText || f.kind == fieldNumber || f.kind == fieldJSON
}

// label returns what the field is called.
func (f field) label() string {
	if f.property.Title != "" && f.property.Title != f.name {
		return brief(f.property.Title) + " (" + brief(f.name) + ")"
	}
	return brief(f.name)
}

// value returns what was filled in; nil if nothing was, and need not be.
func (f field) value() (json.RawMessage, error) {
	if f.kept != nil {
		return f.kept, nil
	}
	name := paint.CleanLine(f.label(), 60)
	missing := func() (json.RawMessage, error) {
		if f.required {
			return nil, fmt.Errorf("%s must be filled in", name)
		}
		return nil, nil
	}
	text := strings.TrimSpace(f.input.Value())
	switch f.kind {
	case fieldText:
		if f.input.Value() == "" && (!f.set || !f.required) {
			return missing()
		}
		return json.Marshal(f.input.Value())
	case fieldNumber:
		if text == "" {
			return missing()
		}
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%s must be a number, such as 12 or -0.5", name)
		}
		return json.RawMessage(text), nil
	case fieldBool:
		if !f.set {
			return missing()
		}
		return strconv.AppendBool(nil, f.yes), nil
	case fieldOne:
		if f.at < 0 || !f.set {
			return missing()
		}
		return f.values[f.at], nil
	case fieldSeveral:
		list := []json.RawMessage{}
		for i, on := range f.chosen {
			if on {
				list = append(list, f.values[i])
			}
		}
		if len(list) == 0 && !f.set && !f.required {
			return nil, nil
		}
		return json.Marshal(list)
	case fieldJSON:
		if text == "" {
			return missing()
		}
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%s must be written in JSON", name)
		}
		return json.RawMessage(text), nil
	}
	return missing()
}

func (f field) keys() []Key {
	switch f.kind {
	case fieldBool:
		return []Key{{"space", "yes or no"}, {"backspace", "leave out"}}
	case fieldOne:
		return []Key{{"left/right/1-9", "choose"}, {"backspace", "leave out"}}
	case fieldSeveral:
		return []Key{{"left/right", "move"}, {"space/1-9", "choose"}}
	case fieldText, fieldNumber, fieldJSON:
	}
	return nil
}

// key does what a key says.
func (f field) key(key tea.KeyPressMsg, width int) field {
	if f.written() {
		var ok bool
		if f.input, ok = f.input.Key(key, width); ok {
			f.set, f.kept = true, nil
		}
		return f
	}
	name := key.String()
	back := name == "backspace" || name == "delete"
	switch f.kind {
	case fieldBool:
		switch {
		case back:
			f.set, f.yes = false, false
		case name == "y":
			f.set, f.yes = true, true
		case name == "n":
			f.set, f.yes = true, false
		case name == "space", name == "left", name == "right":
			f.set, f.yes = true, !f.yes
		}
	case fieldOne:
		n := len(f.values)
		switch {
		case back:
			f.at, f.set = -1, false
		case name == "right", name == "space":
			f.at, f.set = (f.at+1)%n, true
		case name == "left":
			f.at, f.set = (max(f.at, 0)+n-1)%n, true
		default:
			if i := digit(name) - 1; i >= 0 && i < n {
				f.at, f.set = i, true
			}
		}
	case fieldSeveral:
		n := len(f.values)
		toggle := func(i int) {
			f.chosen = slices.Clone(f.chosen)
			f.chosen[i], f.at, f.set = !f.chosen[i], i, true
		}
		switch {
		case name == "right":
			f.at = (f.at + 1) % n
		case name == "left":
			f.at = (f.at + n - 1) % n
		case name == "space":
			toggle(f.at)
		default:
			if i := digit(name) - 1; i >= 0 && i < n {
				toggle(i)
			}
		}
	case fieldText, fieldNumber, fieldJSON:
	}
	return f
}

// lines draws the field, and says which of the lines has the focus and the cursor.
func (f field) lines(m Model, focused bool) (lines []string, focus int, cursor bool, x int) {
	s, width := m.styles, m.o.Width
	mark := "  "
	if focused {
		mark = s.Accent.Render(s.Glyphs.Prompt) + " "
	}
	label := f.label()
	if f.required {
		label += " *"
	}
	for i, line := range wrapped(label, max(1, width-2), 2) {
		if focused {
			line = s.Bold.Render(line)
		}
		if i > 0 {
			mark = "  "
		}
		lines = append(lines, paint.Cut(mark+line, width))
	}
	focus = len(lines) - 1
	if focused {
		for _, line := range wrapped(f.about(), max(1, width-4), 3) {
			lines = append(lines, paint.Cut("    "+s.Dim.Render(line), width))
		}
	}
	if f.written() {
		rows, cx, cy := f.input.Lines(max(2, width-4), 4)
		if focused {
			focus, cursor, x = len(lines)+cy, true, min(cx+4, max(0, width-1))
		}
		empty := ""
		switch {
		case f.kept != nil:
			empty = fmt.Sprintf("(%s, as it comes; backspace removes it)", units.Size(int64(len(f.kept))))
		case !focused && f.input.Value() == "":
			empty = "(empty)"
		}
		if empty != "" {
			rows = []string{s.Dim.Render(paint.CleanLine(empty, max(1, width-4)))}
		}
		for _, row := range rows {
			lines = append(lines, paint.Cut("    "+row, width))
		}
		return lines, focus, cursor, x
	}
	for _, line := range f.chosenLines(m, focused) {
		lines = append(lines, paint.Cut("    "+line, width))
	}
	return lines, focus, false, 0
}

// chosenLines draws what is chosen, and what can be.
func (f field) chosenLines(m Model, focused bool) []string {
	width := max(1, m.o.Width-4)
	if f.kind == fieldBool {
		switch {
		case !f.set:
			return wrapped("(not said)", width, 1)
		case f.yes:
			return wrapped("yes", width, 1)
		default:
			return wrapped("no", width, 1)
		}
	}
	if !focused {
		var names []string
		for i, name := range f.names {
			if f.kind == fieldOne && i == f.at || f.kind == fieldSeveral && f.chosen[i] {
				names = append(names, paint.CleanLine(brief(name), 60))
			}
		}
		if len(names) == 0 {
			return wrapped("(none)", width, 1)
		}
		return wrapped(strings.Join(names, ", "), width, 2)
	}
	const most = 9
	from := min(max(0, f.at-most/2), max(0, len(f.names)-most))
	var lines []string
	for i := from; i < len(f.names) && i < from+most; i++ {
		sign := "( ) "
		switch {
		case f.kind == fieldSeveral && f.chosen[i]:
			sign = "[x] "
		case f.kind == fieldSeveral:
			sign = "[ ] "
		case i == f.at:
			sign = "(x) "
		}
		text := strconv.Itoa(i+1) + " " + sign + paint.CleanLine(brief(f.names[i]), max(1, width-6))
		if i == f.at {
			text = m.styles.Selected.Render(text)
		}
		lines = append(lines, text)
	}
	if len(f.names) > most {
		lines = append(lines, m.styles.Dim.Render(paint.CleanLine(fmt.Sprintf("(%d to choose from)", len(f.names)), width)))
	}
	return lines
}

// about says what is to be filled in.
func (f field) about() string {
	p := f.property
	parts := []string{}
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(paint.CleanLine(brief(p.Description), 0))
	if kind, _ := p.Type.(string); f.kind == fieldNumber {
		add(map[string]string{"integer": "a whole number", "number": "a number"}[kind])
	}
	if f.kind == fieldJSON {
		add("in JSON")
	}
	add(paint.CleanLine(brief(p.Format), 30))
	if p.Minimum != nil {
		add(fmt.Sprintf("at least %v", *p.Minimum))
	}
	if p.Maximum != nil {
		add(fmt.Sprintf("at most %v", *p.Maximum))
	}
	if p.MinLength != nil && *p.MinLength > 0 {
		add(fmt.Sprintf("at least %d characters", *p.MinLength))
	}
	if p.MaxLength != nil {
		add(fmt.Sprintf("at most %d characters", *p.MaxLength))
	}
	return strings.Join(parts, "; ")
}
