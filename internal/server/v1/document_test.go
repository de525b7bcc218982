package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// described is the document, as far as the tests look at it.
type described struct {
	Paths map[string]map[string]struct {
		ID          string           `json:"operationId"`
		Summary     string           `json:"summary"`
		Description string           `json:"description"`
		Tags        []string         `json:"tags"`
		Scope       string           `json:"x-scope"`
		Codes       []string         `json:"x-codes"`
		Security    *[]any           `json:"security"`
		Parameters  []map[string]any `json:"parameters"`
		Body        map[string]any   `json:"requestBody"`
		Responses   map[string]struct {
			Description string         `json:"description"`
			Content     map[string]any `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

func describedDocument(t *testing.T) *described {
	t.Helper()
	text, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	var d described
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// The document is the same however often it is made, and the one that is served.
func TestDocumentIsStable(t *testing.T) {
	first, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Document()
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the second document is another one, %v", err)
	}
	r := newRig(t, nil, nil)
	if got := text(t, r.do(t, observeToken, "GET", "/v1/openapi.json", "")); got != string(first) {
		t.Error("another document is served")
	}
	if !bytes.HasPrefix(first, []byte("{\n  \"")) || !bytes.HasSuffix(first, []byte("}\n")) {
		t.Error("the document is not indented")
	}
}

// Every operation says what it does, what it needs and how it may fail.
func TestDocumentIsWhole(t *testing.T) {
	d := describedDocument(t)
	var tags []string
	for _, tag := range d.Tags {
		tags = append(tags, tag.Name)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			name := method + " " + path
			if op.ID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || !slices.Contains(tags, op.Tags[0]) {
				t.Errorf("%s: id %q, summary %q, description %q, tags %v", name, op.ID, op.Summary, op.Description, op.Tags)
			}
			if public := op.ID == "login" || op.ID == "join-node"; public != (op.Scope == "none") || public != (op.Security != nil) {
				t.Errorf("%s: scope %q, security %v", name, op.Scope, op.Security)
			}
			described := map[string]bool{}
			for status, response := range op.Responses {
				if strings.HasPrefix(status, "2") || status == "101" {
					continue
				}
				if response.Content["application/problem+json"] == nil {
					t.Errorf("%s: %s is no problem", name, status)
				}
				for _, code := range op.Codes {
					if strings.Contains(response.Description, "`"+code+"`") {
						described[code] = true
					}
				}
			}
			for _, code := range op.Codes {
				if !described[code] {
					t.Errorf("%s: the code %s has no status", name, code)
				}
			}
			for _, parameter := range op.Parameters {
				if parameter["description"] == nil {
					t.Errorf("%s: the parameter %v is not described", name, parameter["name"])
				}
			}
		}
	}
	for _, path := range []string{eventsPath, allEventsPath} {
		responses := d.Paths[path]["get"].Responses
		if responses["101"].Content["application/json"] == nil {
			t.Errorf("%s: the messages of a WebSocket are not described", path)
		}
		events, ok := at(responses["200"].Content["text/event-stream"], "schema", "contentSchema", "oneOf").([]any)
		if !ok || len(events) != 4 {
			t.Errorf("%s: the data of server-sent events is not described: %v", path, events)
		}
	}
	for _, name := range []string{"Frame", "Event", "Verdict", "Partials", "Closing"} {
		if d.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}

// Every code that there is has an outcome.
func TestCodesAreDescribed(t *testing.T) {
	known := map[string]bool{}
	for _, o := range outcomes() {
		known[o.code] = true
	}
	for _, code := range declared(t, "../../../api/error.go", "Code") {
		if !known[code] {
			t.Errorf("the code %s is not described", code)
		}
	}
	if !known[api.CodeInvalid] {
		t.Error("nothing is known at all")
	}
}

// What the hub refuses is among the codes that an operation tells of.
func TestCodesOfOperations(t *testing.T) {
	want := map[string][]string{
		"get-backup":        {api.CodeStorage},
		"search":            {api.CodeStorage},
		"list-transcripts":  {api.CodeConflict},
		"get-transcript":    {api.CodeConflict, api.CodeNotFound},
		"list-folders":      {api.CodeConflict},
		"resume-session":    {api.CodeConflict, api.CodeOffline, api.CodeOwned, api.CodeStartFailed},
		"stop-session":      {api.CodeConflict, api.CodeOffline},
		"interrupt-session": {api.CodeConflict, api.CodeEnded, api.CodeOffline},
		"suggest-files":     {api.CodeConflict, api.CodeEnded, api.CodeOffline, api.CodeUnsupported},
	}
	for _, methods := range describedDocument(t).Paths {
		for _, op := range methods {
			for _, code := range want[op.ID] {
				if !slices.Contains(op.Codes, code) {
					t.Errorf("%s does not tell of %s: %v", op.ID, code, op.Codes)
				}
			}
			delete(want, op.ID)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no operations %v", want)
	}
}

// Everything that a request may hold has a bound.
func TestInputsAreBounded(t *testing.T) {
	d := describedDocument(t)
	seen := map[string]bool{}
	var walk func(where string, schema map[string]any)
	walk = func(where string, schema map[string]any) {
		if ref, ok := schema["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, schemaPrefix)
			if !seen[name] {
				seen[name] = true
				walk(name, d.Components.Schemas[name])
			}
			return
		}
		types := fmt.Sprint(schema["type"])
		switch {
		case strings.Contains(types, "string"):
			if schema["maxLength"] == nil && schema["enum"] == nil && schema["format"] == nil {
				t.Errorf("%s: a text without a bound", where)
			}
		case strings.Contains(types, "integer"), strings.Contains(types, "number"):
			if schema["maximum"] == nil {
				t.Errorf("%s: a number without a bound", where)
			}
		case strings.Contains(types, "array"):
			if schema["maxItems"] == nil {
				t.Errorf("%s: a list without a bound", where)
			}
			if items, ok := schema["items"].(map[string]any); ok {
				walk(where+"[]", items)
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			walk(where+"."+name, property.(map[string]any))
		}
		if values, ok := schema["additionalProperties"].(map[string]any); ok {
			walk(where+"{}", values)
		}
	}
	for _, methods := range d.Paths {
		for _, op := range methods {
			for _, parameter := range op.Parameters {
				walk(fmt.Sprintf("%s?%v", op.ID, parameter["name"]), parameter["schema"].(map[string]any))
			}
			if schema, ok := at(op.Body, "content", "application/json", "schema").(map[string]any); ok {
				walk(op.ID, schema)
			}
		}
	}
	if !seen["CreateSession"] || !seen["SessionOptions"] {
		t.Errorf("only %v were looked at", seen)
	}
}

// The examples of the document are requests that are taken.
func TestDocumentExamples(t *testing.T) {
	w := newWorld(t)
	sent := 0
	for path, methods := range describedDocument(t).Paths {
		for method, op := range methods {
			example := at(op.Body, "content", "application/json", "example")
			if op.Body != nil && at(op.Body, "content", "application/json", "schema") == nil {
				t.Errorf("%s: the body has no schema", op.ID)
			}
			if example == nil {
				continue
			}
			t.Run(op.ID, func(t *testing.T) {
				w := w.of(t)
				w.names["client_id"], w.names["server"], w.names["conversation"] = "c", "notes", onShelf
				about := strings.Replace(path, "/questions/{id}", "/questions/QUESTION", 1)
				situationOf(about)(w)
				filled := w.fill(strings.NewReplacer("QUESTION", "{question}", "{id}", "{session}").Replace(about))
				if res := w.do(t, adminToken, strings.ToUpper(method), filled, marshalled(t, example)); res.StatusCode >= 300 {
					t.Errorf("%s: %d %s", op.ID, res.StatusCode, text(t, res))
				}
			})
			sent++
		}
	}
	if sent < 15 {
		t.Errorf("only %d examples", sent)
	}
}

// situationOf returns the situation that an operation of a document is about.
func situationOf(path string) func(*world) {
	for part, given := range map[string]func(*world){
		"/resume": ended, "/retry": failed, "/fork": talked, "/messages/m-1": queued("m-1"), "/messages/{client_id}": queued("c"), "QUESTION": asking, "/interrupt": asking,
		"/context": scriptedAgent, "/mcp": scriptedAgent, "/files": scriptedAgent, "/rewind": scriptedAgent, "/control": scriptedAgent, "/environment": old,
	} {
		if strings.Contains(path, part) {
			return given
		}
	}
	return idle
}
