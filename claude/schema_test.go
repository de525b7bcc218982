package claude

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
)

type schemaColour string

func (schemaColour) JSONSchema() json.RawMessage {
	return json.RawMessage(` {"type":"string","enum":["red","green"]} `)
}

type schemaPoint struct{ x, y int }

func (p *schemaPoint) UnmarshalJSON([]byte) error { p.x, p.y = 1, 2; return nil }

func (*schemaPoint) JSONSchema() json.RawMessage { return json.RawMessage(`{}`) }

type schemaOpaque struct{}

func (*schemaOpaque) UnmarshalJSON([]byte) error { return nil }

type schemaBadOwn struct{}

func (schemaBadOwn) JSONSchema() json.RawMessage { return json.RawMessage(`[]`) }

type schemaTree struct {
	Children []schemaTree
}

type schemaList struct {
	Next *schemaList `json:"next"`
}

type (
	schemaDeep  struct{ Shared, Deep string }
	schemaInner struct {
		schemaDeep
		Shared string `json:"shared"`
		Hidden string
	}
	schemaOther struct {
		Clash string
		Won   int
	}
	schemaThird struct {
		Clash string
		Won2  string `json:"Won"`
	}
)

type schemaLoop map[string]schemaLoop

type schemaEmbedsItself struct {
	*schemaEmbedsItself //nolint:unused // that it is there is the point
	X                   int
}

func schemaText[T any](t *testing.T) string {
	t.Helper()
	raw, err := SchemaOf[T]()
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatalf("not JSON: %s", raw)
	}
	return string(raw)
}

func TestSchemaOf(t *testing.T) {
	object := func(properties, required string) string {
		if required != "" {
			required = `,"required":[` + required + `]`
		}
		return `{"type":"object","properties":{` + properties + `}` + required + `,"additionalProperties":false}`
	}
	tests := []struct{ name, got, want string }{
		{"string", schemaText[string](t), `{"type":"string"}`},
		{"bool", schemaText[bool](t), `{"type":"boolean"}`},
		{"int", schemaText[int8](t), `{"type":"integer"}`},
		{"uint", schemaText[uint64](t), `{"type":"integer","minimum":0}`},
		{"float", schemaText[float32](t), `{"type":"number"}`},
		{"number", schemaText[json.Number](t), `{"type":"number"}`},
		{"anything", schemaText[any](t), `{}`},
		{"raw", schemaText[json.RawMessage](t), `{}`},
		{"a pointer to anything", schemaText[*any](t), `{}`},
		{"bytes", schemaText[[]byte](t), `{"type":"string","description":"bytes in base64"}`},
		{"duration", schemaText[time.Duration](t), `{"type":"integer","description":"a duration in nanoseconds"}`},
		{"text", schemaText[netip.Addr](t), `{"type":"string"}`},
		{"slice", schemaText[[][]int](t), `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`},
		{"array", schemaText[[2]bool](t), `{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}`},
		{"empty array", schemaText[[0]bool](t), `{"type":"array","items":{"type":"boolean"},"minItems":0,"maxItems":0}`},
		{"map", schemaText[map[int]string](t), `{"type":"object","additionalProperties":{"type":"string"}}`},
		{"map by text", schemaText[map[netip.Addr]any](t), `{"type":"object","additionalProperties":{}}`},
		{"pointer", schemaText[**string](t), `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		{"own", schemaText[schemaColour](t), `{"type":"string","enum":["red","green"]}`},
		{"own by pointer", schemaText[schemaPoint](t), `{}`},
		{"own through a pointer", schemaText[*schemaPoint](t), `{}`},
		{"empty struct", schemaText[struct{}](t), object("", "")},
		{
			"fields",
			schemaText[struct {
				B        string `json:"b" description:"the <b>"`
				A        int    `json:",omitempty" jsonschema:"the a"`
				Zero     int    `json:"zero,omitzero"`
				Left     string `json:"-"`
				Dash     string `json:"-,"` //nolint:staticcheck // encoding/json takes it for a name
				private  string
				Quoted   int     `json:",string"`
				Odd      string  `json:"a\"b"` //nolint:staticcheck // encoding/json does not take it
				Optional *string `json:"optional,omitempty"`
				Null     *bool   `description:"yes, no or nothing"`
			}](t),
			object(`"b":{"type":"string","description":"the \u003cb\u003e"},"A":{"type":"integer","description":"the a"},"zero":{"type":"integer"},`+
				`"-":{"type":"string"},"Quoted":{"type":"string","description":"a value of type integer, in quotes"},"Odd":{"type":"string"},`+
				`"optional":{"anyOf":[{"type":"string"},{"type":"null"}]},"Null":{"description":"yes, no or nothing","anyOf":[{"type":"boolean"},{"type":"null"}]}`,
				`"b","-","Quoted","Odd","Null"`),
		},
		{
			"values",
			schemaText[struct {
				S string       `enum:"a, b"`
				N int          `enum:"1,2"`
				F *float64     `enum:"0.5"`
				L []string     `enum:"x"`
				C schemaColour `description:"a colour"`
				P schemaPoint  `description:"a point"`
			}](t),
			object(`"S":{"type":"string","enum":["a","b"]},"N":{"type":"integer","enum":[1,2]},`+
				`"F":{"anyOf":[{"type":"number","enum":[0.5]},{"type":"null"}]},"L":{"type":"array","items":{"type":"string","enum":["x"]}},`+
				`"C":{"description":"a colour","type":"string","enum":["red","green"]},"P":{"description":"a point"}`,
				`"S","N","F","L","C","P"`),
		},
		{
			"embedded",
			schemaText[struct {
				schemaInner
				*schemaOther
				schemaThird
				Time   time.Time
				Named  schemaDeep `json:"named"`
				Hidden int
			}](t),
			object(`"Shared":{"type":"string"},"Deep":{"type":"string"},"shared":{"type":"string"},"Won":{"type":"string"},`+
				`"Time":{"type":"string","description":"a date and time as in RFC 3339, such as 2006-01-02T15:04:05Z"},`+
				`"named":`+object(`"Shared":{"type":"string"},"Deep":{"type":"string"}`, `"Shared","Deep"`)+`,"Hidden":{"type":"integer"}`,
				`"Shared","Deep","shared","Won","Time","named","Hidden"`),
		},
		// The same type twice, side by side, does not contain itself.
		{"twice", schemaText[struct{ A, B []schemaDeep }](t), object(
			`"A":{"type":"array","items":`+object(`"Shared":{"type":"string"},"Deep":{"type":"string"}`, `"Shared","Deep"`)+`},`+
				`"B":{"type":"array","items":`+object(`"Shared":{"type":"string"},"Deep":{"type":"string"}`, `"Shared","Deep"`)+`}`, `"A","B"`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got      %s\nexpected %s", test.got, test.want)
			}
		})
	}
}

func schemaFailure[T any](t *testing.T) *SchemaError {
	t.Helper()
	raw, err := SchemaOf[T]()
	e, ok := errors.AsType[*SchemaError](err)
	if !ok {
		t.Fatalf("got %s, %v", raw, err)
	}
	return e
}

func TestSchemaOfRefuses(t *testing.T) {
	tests := []struct {
		name       string
		err        *SchemaError
		path, text string
	}{
		{"a function", schemaFailure[struct{ F []func() }](t), "F[]", "no such values"},
		{"a channel", schemaFailure[map[string]chan int](t), "{}", "no such values"},
		{"a complex number", schemaFailure[complex128](t), "", "no such values"},
		{"an interface", schemaFailure[struct{ E error }](t), "E", "interface with methods"},
		{"an interface that describes itself", schemaFailure[Schemer](t), "", "interface with methods"},
		{"keys", schemaFailure[map[[2]int]int](t), "", "names in JSON"},
		{"a reader of JSON", schemaFailure[struct{ A struct{ B schemaOpaque } }](t), "A.B", "JSONSchema"},
		{"a bad description", schemaFailure[schemaBadOwn](t), "", "does not return a JSON object"},
		{"a tree", schemaFailure[schemaTree](t), "Children[]", "contains itself"},
		{"a list", schemaFailure[struct{ L schemaList }](t), "L.Next", "contains itself"},
		{"a map", schemaFailure[schemaLoop](t), "{}", "contains itself"},
		{"embedded in itself", schemaFailure[schemaEmbedsItself](t), "", "contains itself"},
		{"values of another type", schemaFailure[struct {
			N int `enum:"1,two"`
		}](t), "N", `has "two"`},
		{"values that overflow", schemaFailure[struct {
			N int8 `enum:"300"`
		}](t), "N", `has "300"`},
		{"values of a struct", schemaFailure[struct {
			S struct{} `enum:"a"`
		}](t), "S", `has "a"`},
		{"no value", schemaFailure[struct {
			S string `enum:"a,"`
		}](t), "S", `has ""`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.err.Path != test.path || !strings.Contains(test.err.Reason, test.text) || !strings.Contains(test.err.Error(), test.err.Type.String()) {
				t.Errorf("the error is %q at %q, expected %q at %q", test.err, test.err.Path, test.text, test.path)
			}
		})
	}
}

// What the schema calls required is what encoding/json writes, by name.
func TestSchemaNamesAreThoseOfJSON(t *testing.T) {
	type value struct {
		schemaInner
		*schemaOther
		schemaThird
		Named schemaDeep `json:"named"`
		Tag   string     `json:"täg/x"`
	}
	raw, err := SchemaOf[value]()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(value{schemaOther: &schemaOther{}})
	if err != nil {
		t.Fatal(err)
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(written, &names); err != nil {
		t.Fatal(err)
	}
	for name := range names {
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("the schema has no %q", name)
		}
	}
	if len(schema.Properties) != len(names) {
		t.Errorf("the schema has %d names, JSON %d: %s", len(schema.Properties), len(names), written)
	}
}
