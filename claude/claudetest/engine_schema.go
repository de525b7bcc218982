package claudetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// schema is the schema of the structured output; nil if none is wanted.
func (e *engine) schema() json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.body != nil && has(e.body.JSONSchema) {
		return e.body.JSONSchema
	}
	if e.flags.JSONSchema != "" {
		return json.RawMessage(e.flags.JSONSchema)
	}
	return nil
}

// wantsSchema reports whether the model still owes the structured output: in this turn, or ever.
func (e *engine) wantsSchema(t *turn, th *thread) bool {
	if th.parent != "" || e.schema() == nil {
		return false
	}
	if e.quirks.SchemaReminds {
		return t.schema == nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.structured
}

// maxMisfits is how many structured outputs of a turn may fail to fit the schema.
const maxMisfits = 5

// emitMisfits writes how a turn ended whose structured output never fit.
func (e *engine) emitMisfits(t *turn) {
	t.mu.Lock()
	last := t.misfits[len(t.misfits)-1]
	t.mu.Unlock()
	end := ending{subtype: "error_max_structured_output_retries", failed: true, stop: orNull(t.stopped)}
	message := fmt.Sprintf("Failed to provide valid structured output after %d attempts", maxMisfits)
	if e.quirks.SchemaReason {
		message += " — last StructuredOutput error: " + last
		end.terminal = "structured_output_retry_exhausted"
	}
	end.errors = []string{message}
	e.emitResult(t, end)
}

// playSchema takes the structured output.
func (e *engine) playSchema(t *turn, call ToolCall) (playedResult, error) {
	const done = "Structured output provided successfully"
	var schema, value any
	if json.Unmarshal(e.schema(), &schema) == nil && json.Unmarshal(call.Input, &value) == nil {
		if problems := checkSchema(schema, value, ""); len(problems) > 0 {
			text := "Output does not match required schema: " + strings.Join(problems, ", ")
			t.mu.Lock()
			t.misfits = append(t.misfits, text)
			tooMany := len(t.misfits) >= maxMisfits
			t.mu.Unlock()
			result := playedResult{content: text, failed: true, detail: "Error: " + text}
			if tooMany {
				return result, errMisfits
			}
			return result, nil
		}
	}
	t.mu.Lock()
	t.schema = call.Input
	t.mu.Unlock()
	e.mu.Lock()
	e.structured = true
	e.mu.Unlock()
	result := playedResult{content: done, detail: done}
	if e.quirks.SchemaStops {
		return result, errDone
	}
	return result, nil
}

// checkSchema says where a value does not fit a schema. It knows types, enumerations, properties and items, which is what tests use.
func checkSchema(schema, value any, path string) []string {
	rules, ok := schema.(map[string]any)
	if !ok {
		return nil // true and false, or no schema at all
	}
	at := path
	if at == "" {
		at = "root"
	}
	if types := schemaTypes(rules["type"]); len(types) > 0 && !slices.ContainsFunc(types, func(kind string) bool { return isOfType(value, kind) }) {
		return []string{at + ": must be " + strings.Join(types, ",")}
	}
	var problems []string
	if allowed, ok := rules["enum"].([]any); ok {
		same := func(other any) bool { return string(plainJSON(other)) == string(plainJSON(value)) }
		if !slices.ContainsFunc(allowed, same) {
			problems = append(problems, at+": must be equal to one of the allowed values")
		}
	}
	switch value := value.(type) {
	case map[string]any:
		problems = append(problems, checkObject(rules, value, path, at)...)
	case []any:
		for i, item := range value {
			problems = append(problems, checkSchema(rules["items"], item, fmt.Sprintf("%s/%d", path, i))...)
		}
	}
	return problems
}

func checkObject(rules, value map[string]any, path, at string) []string {
	var problems []string
	required, _ := rules["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			if _, given := value[name]; !given {
				problems = append(problems, fmt.Sprintf("%s: must have required property '%s'", at, name))
			}
		}
	}
	properties, _ := rules["properties"].(map[string]any)
	for _, name := range sortedKeys(value) {
		property, known := properties[name]
		if !known && rules["additionalProperties"] == false {
			problems = append(problems, at+": must NOT have additional properties")
		}
		problems = append(problems, checkSchema(property, value[name], path+"/"+name)...)
	}
	return problems
}

func schemaTypes(rule any) []string {
	switch rule := rule.(type) {
	case string:
		return []string{rule}
	case []any:
		var types []string
		for _, kind := range rule {
			if kind, ok := kind.(string); ok {
				types = append(types, kind)
			}
		}
		return types
	}
	return nil
}

func isOfType(value any, kind string) bool {
	switch value := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && value == math.Trunc(value)
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}
