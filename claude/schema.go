package claude

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A Schemer describes itself. [SchemaOf] uses what it says in place of what the
// Go type says, which is how a type has values of its own choosing:
//
//	type Colour string
//
//	func (Colour) JSONSchema() json.RawMessage {
//		return json.RawMessage(`{"type":"string","enum":["red","green"]}`)
//	}
type Schemer interface {
	// JSONSchema returns a JSON Schema, an object. It is called on a zero
	// value.
	JSONSchema() json.RawMessage
}

// A SchemaError reports a type that no schema describes.
type SchemaError struct {
	// Type is the type that is the problem.
	Type reflect.Type
	// Path leads to it from the type that was asked for, such as "Items[].Next".
	// It is empty if that is the one.
	Path string
	// Reason says what is wrong, and mostly what to do.
	Reason string
}

// Error names the type, where it is and what is wrong with it.
func (e *SchemaError) Error() string {
	s := fmt.Sprintf("there is no schema for %v", e.Type)
	if e.Path != "" {
		s += " (" + e.Path + ")"
	}
	return s + ": " + e.Reason
}

// SchemaOf returns the JSON Schema of a Go type as encoding/json reads it, for
// [Options].JSONSchema; [QueryAs] does both.
//
//   - A struct is an object with the fields that encoding/json sees, embedded
//     ones included, and no others. A field is required unless its json tag has
//     omitempty or omitzero.
//   - A pointer may also be null. Slices and arrays are arrays, maps are objects
//     of any names.
//   - [time.Time], []byte and types with UnmarshalText are strings, any and
//     [json.RawMessage] anything.
//   - The tag description, or jsonschema as in the official MCP SDK for Go, is
//     told to the model. The tag enum lists the values that a string or number
//     may have, with commas between them. A type that is a [Schemer] describes
//     itself.
//
// A type that contains itself has no schema here, nor have functions, channels,
// and types that read JSON in their own way without being a Schemer; those are a
// [*SchemaError]. The keywords used are those that all drafts share.
func SchemaOf[T any]() (json.RawMessage, error) {
	n, err := schemaOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return n.encode()
}

// schemaOf returns the schema of a type.
func schemaOf(t reflect.Type) (*schemaNode, error) {
	b := &schemaBuilder{}
	return b.node(t, "")
}

// A schemaNode is a schema whose members keep their order: the model fills in
// the fields in the order in which it reads them.
type schemaNode struct {
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	Minimum     *int              `json:"minimum,omitempty"`
	AnyOf       []*schemaNode     `json:"anyOf,omitempty"`
	Items       *schemaNode       `json:"items,omitempty"`
	MinItems    *int              `json:"minItems,omitempty"`
	MaxItems    *int              `json:"maxItems,omitempty"`
	Properties  *schemaProperties `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	// Other is what further members look like, false or a schema.
	Other any `json:"additionalProperties,omitempty"`

	own json.RawMessage // of a Schemer; all but the description plays no part then
}

type schemaProperties []schemaProperty

type schemaProperty struct {
	name string
	node *schemaNode
}

// MarshalJSON writes the properties in their order.
func (p schemaProperties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, property := range p {
		name, err := json.Marshal(property.name)
		if err != nil {
			return nil, err
		}
		value, err := property.node.encode()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// MarshalJSON writes the schema.
func (n *schemaNode) MarshalJSON() ([]byte, error) { return n.encode() }

func (n *schemaNode) encode() (json.RawMessage, error) {
	if n.own == nil {
		type plain schemaNode // has no methods
		return json.Marshal((*plain)(n))
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(n.own, &members); err != nil {
		return nil, err
	}
	if _, described := members["description"]; n.Description == "" || described {
		return n.own, nil
	}
	text, err := json.Marshal(n.Description)
	if err != nil {
		return nil, err
	}
	comma := ","
	if len(members) == 0 {
		comma = ""
	}
	rest := bytes.TrimPrefix(bytes.TrimSpace(n.own), []byte("{"))
	return slices.Concat([]byte(`{"description":`), text, []byte(comma), rest), nil
}

// isObject reports whether the schema describes objects alone, as that of a
// structured output must.
func (n *schemaNode) isObject() bool {
	if n.own == nil {
		return n.Type == "object"
	}
	var head struct{ Type string }
	return json.Unmarshal(n.own, &head) == nil && head.Type == "object"
}

// A schemaBuilder knows the types that it is inside of.
type schemaBuilder struct {
	inside []reflect.Type
}

var (
	schemerType         = reflect.TypeFor[Schemer]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawType             = reflect.TypeFor[json.RawMessage]()
	numberType          = reflect.TypeFor[json.Number]()
	timeType            = reflect.TypeFor[time.Time]()
	durationType        = reflect.TypeFor[time.Duration]()
)

// hasMethods reports whether a type, or a pointer to it, has the methods.
func hasMethods(t, methods reflect.Type) bool {
	return t.Implements(methods) || reflect.PointerTo(t).Implements(methods)
}

func (b *schemaBuilder) node(t reflect.Type, path string) (*schemaNode, error) {
	fail := func(reason string) (*schemaNode, error) {
		return nil, &SchemaError{Type: t, Path: path, Reason: reason}
	}
	switch {
	case t.Kind() == reflect.Pointer && !t.Implements(schemerType):
		return b.nullable(t, path)
	case hasMethods(t, schemerType) && t.Kind() != reflect.Interface:
		return own(t, path)
	case t == rawType:
		return &schemaNode{}, nil
	case t == numberType:
		return &schemaNode{Type: "number"}, nil
	case t == timeType:
		// No format: validators that do not know the word refuse the schema.
		return &schemaNode{Type: "string", Description: "a date and time as in RFC 3339, such as 2006-01-02T15:04:05Z"}, nil
	case t == durationType:
		return &schemaNode{Type: "integer", Description: "a duration in nanoseconds"}, nil
	case t.Kind() == reflect.Interface:
		if t.NumMethod() > 0 {
			return fail("encoding/json cannot decode into an interface with methods")
		}
		return &schemaNode{}, nil
	case hasMethods(t, unmarshalerType):
		return fail("it reads JSON in its own way; give it a method JSONSchema (claude.Schemer)")
	case hasMethods(t, textUnmarshalerType):
		return &schemaNode{Type: "string"}, nil
	}
	switch t.Kind() { //nolint:exhaustive // the rest is refused
	case reflect.Bool:
		return &schemaNode{Type: "boolean"}, nil
	case reflect.String:
		return &schemaNode{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return &schemaNode{Type: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schemaNode{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return &schemaNode{Type: "integer", Minimum: new(int)}, nil
	case reflect.Slice, reflect.Array:
		return b.list(t, path)
	case reflect.Map:
		return b.object(t, path)
	case reflect.Struct:
		return b.structure(t, path)
	}
	return fail("JSON has no such values")
}

// own asks a type for its schema.
func own(t reflect.Type, path string) (*schemaNode, error) {
	v := reflect.New(t)
	if t.Kind() == reflect.Pointer {
		v.Elem().Set(reflect.New(t.Elem())) // a method on a nil pointer might not expect that
	}
	s, ok := reflect.TypeAssert[Schemer](v)
	if !ok {
		s, ok = reflect.TypeAssert[Schemer](v.Elem())
	}
	if !ok {
		return nil, &SchemaError{Type: t, Path: path, Reason: "its method JSONSchema cannot be called"}
	}
	raw := bytes.TrimSpace(s.JSONSchema())
	if !json.Valid(raw) || raw[0] != '{' {
		return nil, &SchemaError{Type: t, Path: path, Reason: "its method JSONSchema does not return a JSON object"}
	}
	return &schemaNode{own: slices.Clone(raw)}, nil
}

func (b *schemaBuilder) nullable(t reflect.Type, path string) (*schemaNode, error) {
	n, err := b.node(t.Elem(), path)
	if err != nil || n.own == nil && n.Type == "" && n.AnyOf == nil {
		return n, err // anything can be null
	}
	if n.AnyOf != nil {
		return n, nil // a pointer to a pointer
	}
	return &schemaNode{AnyOf: []*schemaNode{n, {Type: "null"}}}, nil
}

func (b *schemaBuilder) list(t reflect.Type, path string) (*schemaNode, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !hasMethods(t.Elem(), unmarshalerType) && !hasMethods(t.Elem(), textUnmarshalerType) {
		return &schemaNode{Type: "string", Description: "bytes in base64"}, nil
	}
	leave, err := b.enter(t, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	items, err := b.node(t.Elem(), path+"[]")
	if err != nil {
		return nil, err
	}
	n := &schemaNode{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		length := t.Len()
		n.MinItems, n.MaxItems = &length, &length
	}
	return n, nil
}

func (b *schemaBuilder) object(t reflect.Type, path string) (*schemaNode, error) {
	switch t.Key().Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
	default:
		if !hasMethods(t.Key(), textUnmarshalerType) {
			return nil, &SchemaError{Type: t, Path: path, Reason: "its keys cannot be names in JSON"}
		}
	}
	leave, err := b.enter(t, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	values, err := b.node(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	return &schemaNode{Type: "object", Other: values}, nil
}

// enter refuses a type that is inside of itself.
func (b *schemaBuilder) enter(t reflect.Type, path string) (leave func(), err error) {
	if t.Name() == "" {
		return func() {}, nil // only a type with a name can contain itself
	}
	if slices.Contains(b.inside, t) {
		return nil, &SchemaError{Type: t, Path: path, Reason: "it contains itself; give it a method JSONSchema (claude.Schemer), or make the inner one a json.RawMessage"}
	}
	b.inside = append(b.inside, t)
	return func() { b.inside = b.inside[:len(b.inside)-1] }, nil
}

func (b *schemaBuilder) structure(t reflect.Type, path string) (*schemaNode, error) {
	leave, err := b.enter(t, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	fields, err := b.fields(t, path)
	if err != nil {
		return nil, err
	}
	n := &schemaNode{Type: "object", Properties: &schemaProperties{}, Other: false}
	for _, f := range fields {
		inner := f.Name
		if path != "" {
			inner = path + "." + inner
		}
		node, err := b.field(f, inner)
		if err != nil {
			return nil, err
		}
		*n.Properties = append(*n.Properties, schemaProperty{f.name, node})
		if !f.optional {
			n.Required = append(n.Required, f.name)
		}
	}
	return n, nil
}

// field returns the schema of a field, with what its tags say.
func (b *schemaBuilder) field(f schemaField, path string) (*schemaNode, error) {
	n, err := b.node(f.Type, path)
	if err != nil {
		return nil, err
	}
	if f.quoted {
		n = &schemaNode{Type: "string", Description: "a value of type " + n.Type + ", in quotes"}
	}
	for _, tag := range []string{"description", "jsonschema"} {
		if text := f.Tag.Get(tag); text != "" {
			n.Description = text
			break
		}
	}
	list, ok := f.Tag.Lookup("enum")
	if !ok {
		return n, nil
	}
	values, err := enumValues(list, n, path, f.Type)
	if err != nil {
		return nil, err
	}
	inner := n
	for ; len(inner.AnyOf) > 0; inner = inner.AnyOf[0] {
	}
	if inner.Type == "array" {
		inner = inner.Items
	}
	inner.Enum = values
	return n, nil
}

// enumValues reads the tag enum as values of the field's type, or of its
// elements.
func enumValues(list string, n *schemaNode, path string, t reflect.Type) ([]json.RawMessage, error) {
	for ; len(n.AnyOf) > 0; n = n.AnyOf[0] {
	}
	if n.Type == "array" {
		n = n.Items
	}
	var values []json.RawMessage
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		raw := json.RawMessage(text)
		if n.Type == "string" {
			quoted, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			raw = quoted
		}
		fits := n.Type == "string" || n.Type == "integer" || n.Type == "number"
		if !fits || text == "" || json.Unmarshal(raw, reflect.New(elementType(t)).Interface()) != nil {
			return nil, &SchemaError{Type: t, Path: path, Reason: fmt.Sprintf("the tag enum has %q, which is not a value of it", text)}
		}
		values = append(values, raw)
	}
	return values, nil
}

// elementType returns what a type is a pointer to, or a list of.
func elementType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}
