//go:build linux || darwin

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A schemaBook holds the schemas of an OpenAPI document, for checking values. It
// knows the words of JSON Schema that the document uses, and takes one that it does
// not know for a fault: it would let anything pass.
type schemaBook map[string]any

// check returns what is wrong with a JSON text. It is stricter than the schemas
// are: an object whose members are listed has no others.
func (b schemaBook) check(schema any, text []byte) []string {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return []string{err.Error()}
	}
	if decoder.More() {
		return []string{"there is more than one value"}
	}
	return b.value(schema, value, "$")
}

// value returns what is wrong with a value.
func (b schemaBook) value(schema, value any, at string) []string {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: the schema is %v", at, schema)}
	}
	if ref, ok := s["$ref"].(string); ok {
		named, ok := b[strings.TrimPrefix(ref, "#/components/schemas/")]
		if !ok {
			return []string{at + ": there is no schema " + ref}
		}
		return b.value(named, value, at)
	}
	var wrong []string
	fail := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	for _, word := range slices.Sorted(maps.Keys(s)) {
		rule := s[word]
		switch word {
		case "description", "example", "examples", "default", "title", "deprecated", "readOnly", "writeOnly", "required", "additionalProperties":
			// They say nothing about the value, or are looked at with properties.
		case "type":
			if !isOf(rule, value) {
				fail("%s is no %v", kindOf(value), rule)
			}
		case "enum":
			if values, ok := rule.([]any); !ok || !slices.Contains(values, value) {
				fail("%v is none of %v", value, rule)
			}
		case "properties":
			// With those that are no properties, below.
		case "items":
			items, _ := value.([]any)
			for i, item := range items {
				wrong = append(wrong, b.value(rule, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems":
			if why := bounded(word, rule, value); why != "" {
				fail("%s", why)
			}
		case "pattern":
			if text, ok := value.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
				fail("%q does not match %s", text, rule)
			}
		case "format", "contentEncoding":
			if why := formed(rule, value); why != "" {
				fail("%s", why)
			}
		default:
			fail("the test does not know the word %s", word)
		}
	}
	if object, ok := value.(map[string]any); ok {
		wrong = append(wrong, b.members(s, object, at)...)
	}
	return wrong
}

// members returns what is wrong with the members of an object.
func (b schemaBook) members(s, object map[string]any, at string) []string {
	var wrong []string
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %v is missing", at, name))
		}
	}
	properties, listed := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch others := s["additionalProperties"].(type) {
		case map[string]any:
			if properties[name] == nil {
				wrong = append(wrong, b.value(others, object[name], at+"."+name)...)
				continue
			}
		case bool:
			if others && properties[name] == nil {
				continue
			}
		}
		switch {
		case properties[name] != nil:
			wrong = append(wrong, b.value(properties[name], object[name], at+"."+name)...)
		case listed:
			wrong = append(wrong, at+": the member "+name+" is not described")
		}
	}
	return wrong
}

// kindOf returns the JSON type of a value.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// isOf reports whether a value is of a type, or of one of several.
func isOf(rule, value any) bool {
	if several, ok := rule.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return isOf(one, value) })
	}
	kind := kindOf(value)
	return rule == kind || rule == "number" && kind == "integer"
}

// bounded says why a value is not within a bound.
func bounded(word string, rule, value any) string {
	bound, err := rule.(json.Number).Float64()
	if err != nil {
		return err.Error()
	}
	var size float64
	switch v := value.(type) {
	case json.Number:
		if !strings.HasSuffix(word, "imum") {
			return ""
		}
		if size, err = v.Float64(); err != nil {
			return err.Error()
		}
	case string:
		if !strings.HasSuffix(word, "Length") {
			return ""
		}
		size = float64(utf8.RuneCountInString(v))
	case []any:
		if !strings.HasSuffix(word, "Items") {
			return ""
		}
		size = float64(len(v))
	default:
		return ""
	}
	if strings.HasPrefix(word, "min") && size < bound || strings.HasPrefix(word, "max") && size > bound {
		return fmt.Sprintf("%v is against %s %v", size, word, bound)
	}
	return ""
}

// formed says why a value is not of a format.
func formed(rule, value any) string {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	var err error
	switch rule {
	case "date-time":
		if isText {
			_, err = time.Parse(time.RFC3339, text)
		}
	case "base64":
		if isText {
			_, err = base64.StdEncoding.DecodeString(text)
		}
	case "int64", "int32":
		if isNumber {
			_, err = number.Int64()
		}
	case "double", "float":
	default:
		return fmt.Sprintf("the test does not know the format %v", rule)
	}
	if err != nil {
		return fmt.Sprintf("no %v: %v", rule, err)
	}
	return ""
}

// The check must be able to fail.
func TestSchemaBook(t *testing.T) {
	t.Parallel()
	var book schemaBook
	decoder := json.NewDecoder(strings.NewReader(`{
		"Thing": {"type": "object", "required": ["id"], "properties": {
			"id": {"type": "string", "pattern": "^t", "minLength": 2, "maxLength": 4},
			"n": {"type": ["integer", "null"], "format": "int64", "minimum": 1, "maximum": 9},
			"f": {"type": "number", "format": "double"},
			"state": {"type": "string", "enum": ["new", "old"]},
			"time": {"type": "string", "format": "date-time"},
			"bytes": {"type": "string", "contentEncoding": "base64"},
			"parts": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/components/schemas/Thing"}},
			"raw": {}
		}},
		"Map": {"type": "object", "additionalProperties": {"type": "boolean"}},
		"Free": {"type": "object", "additionalProperties": true, "properties": {"a": {"type": "string"}}},
		"Odd": {"oneOf": []}, "Form": {"format": "cheese"}, "Lost": {"$ref": "#/components/schemas/Gone"}
	}`))
	decoder.UseNumber()
	if err := decoder.Decode(&book); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ schema, text, want string }{
		{"Thing", `{"id":"t1","n":3,"f":1.5,"state":"new","time":"2026-01-02T03:04:05.6Z","bytes":"aGk=","parts":[{"id":"t2","n":null}],"raw":[1]}`, ""},
		{"Thing", `{"id":"t1","f":2}`, ""},
		{"Thing", `{"n":3}`, "$: id is missing"},
		{"Thing", `{"id":"t1","x":1}`, "$: the member x is not described"},
		{"Thing", `{"id":7}`, "$.id: integer is no string"},
		{"Thing", `{"id":"a1"}`, `$.id: "a1" does not match ^t`},
		{"Thing", `{"id":"t"}`, "$.id: 1 is against minLength 2"},
		{"Thing", `{"id":"tüüüü"}`, "$.id: 5 is against maxLength 4"},
		{"Thing", `{"id":"t1","n":0}`, "$.n: 0 is against minimum 1"},
		{"Thing", `{"id":"t1","n":10}`, "$.n: 10 is against maximum 9"},
		{"Thing", `{"id":"t1","n":1.5}`, "$.n: number is no [integer null]"},
		{"Thing", `{"id":"t1","state":"odd"}`, "$.state: odd is none of [new old]"},
		{"Thing", `{"id":"t1","time":"today"}`, "$.time: no date-time"},
		{"Thing", `{"id":"t1","bytes":"?"}`, "$.bytes: no base64"},
		{"Thing", `{"id":"t1","parts":[]}`, "$.parts: 0 is against minItems 1"},
		{"Thing", `{"id":"t1","parts":[{"id":"t2"},{"id":"t3"},{"id":"t4"}]}`, "$.parts: 3 is against maxItems 2"},
		{"Thing", `{"id":"t1","parts":[{"id":"t2"},{}]}`, "$.parts[1]: id is missing"},
		{"Thing", `[]`, "$: array is no object"},
		{"Thing", `{`, "unexpected EOF"},
		{"Thing", `{"id":"t1"} {}`, "more than one value"},
		{"Map", `{"a":true}`, ""},
		{"Map", `{"a":1}`, "$.a: integer is no boolean"},
		{"Free", `{"a":"x","b":1}`, ""},
		{"Free", `{"a":1}`, "$.a: integer is no string"},
		{"Odd", `1`, "does not know the word oneOf"},
		{"Form", `1`, "does not know the format cheese"},
		{"Lost", `1`, "there is no schema"},
	} {
		wrong := strings.Join(book.check(map[string]any{"$ref": "#/components/schemas/" + test.schema}, []byte(test.text)), "\n")
		if test.want == "" && wrong != "" || !strings.Contains(wrong, test.want) {
			t.Errorf("%s as a %s: %q, want %q", test.text, test.schema, wrong, test.want)
		}
	}
}
