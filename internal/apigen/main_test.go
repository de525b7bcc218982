package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiDir is the folder of package api.
var apiDir = filepath.Join("..", "..", "api")

// TestUpToDate holds the committed files against what would be written now.
func TestUpToDate(t *testing.T) {
	if err := run(apiDir, true); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "reading what was generated") {
		t.Errorf("without files: %v", err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Error(err)
	}
	path := filepath.Join(dir, "v1.d.ts")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "v1.d.ts is out of date: run go generate ./api") {
		t.Errorf("with another file: %v", err)
	}
	if err := run(filepath.Join(dir, "none"), false); err == nil || !strings.Contains(err.Error(), "writing what was generated") {
		t.Errorf("without a folder: %v", err)
	}
}

// TestNamesAreDeclared looks for types that the declarations use and do not have.
func TestNamesAreDeclared(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(apiDir, "v1.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`//.*|/\*\*.*?\*/|"[^"\n]*"`).ReplaceAllString(string(raw), "")
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^export (?:type|interface) (\w+)`).FindAllStringSubmatch(text, -1) {
		if declared[m[1]] {
			t.Errorf("%s is declared twice", m[1])
		}
		declared[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\b([A-Z]\w*)\b`).FindAllStringSubmatch(text, -1) {
		if !declared[m[1]] {
			t.Errorf("%s is not declared", m[1])
			declared[m[1]] = true
		}
	}
	for _, name := range []string{"Session", "Event", "Frame", "Question", "Error", "Operations"} {
		if !declared[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

const small = `{
  "paths": {
    "/v1/things/{id}": {
      "get": {
        "operationId": "get-thing", "summary": "Show a thing", "description": "It is */ shown.", "x-scope": "observe",
        "parameters": [
          {"name": "id", "in": "path", "required": true, "description": "Its id", "schema": {"type": "string", "pattern": "^t"}},
          {"name": "kind", "in": "query", "schema": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}},
          {"name": "Accept", "in": "header", "schema": {"type": "string"}}
        ],
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}, "default": {}}
      },
      "put": {
        "operationId": "put-thing", "summary": "Change a thing",
        "parameters": [{"name": "dry-run", "in": "query", "required": true, "schema": {"type": "boolean"}}],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Change"}}}},
        "responses": {"204": {}}
      },
      "post": {
        "operationId": "send-thing", "summary": "Send it",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}}},
        "responses": {"200": {"content": {"text/markdown": {"schema": {"type": "string"}}}}}
      }
    }
  },
  "components": {"schemas": {
    "Thing": {
      "type": "object", "description": "A thing.", "required": ["id", "parts"],
      "properties": {
        "id": {"type": "string", "example": "t1", "description": "Its id."},
        "parts": {"type": ["array", "null"], "items": {"$ref": "#/components/schemas/Part"}},
        "state": {"type": "string", "enum": ["new", "old"]},
        "counts": {"type": "object", "additionalProperties": {"type": ["integer", "null"], "format": "int64"}},
        "raw": {"description": "Whatever it is."},
        "free": {"type": "object", "additionalProperties": true},
        "a-b": {"type": "boolean"},
        "$schema": {"type": "string"}
      }
    },
    "Part": {"type": "object", "additionalProperties": false, "properties": {
      "size": {"type": "number", "minimum": 0},
      "modes": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
      "in": {"type": "object", "required": ["deep"], "properties": {"deep": {"type": "array", "items": {"type": ["string", "null"]}}}}
    }},
    "Change": {"type": "object", "additionalProperties": false, "required": ["state"], "properties": {"state": {"type": "string", "enum": ["new", "old"]}}},
    "Streamed": {"type": "object", "properties": {"type": {"type": "string", "enum": ["x", "y"]}}},
    "Names": {"type": "array", "items": {"type": "string"}}
  }}
}`

const smallWant = `// Code generated from openapi.json by internal/apigen. DO NOT EDIT.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Change {
  state: "new" | "old";
}

export type Names = string[];

export interface Part {
  in?: {
    deep: (string | null)[];
  };
  modes?: ("x" | (string & {}))[];
  size?: number;
}

export interface Streamed {
  type?: "x" | "y" | (string & {});
}

/** A thing. */
export interface Thing {
  "a-b"?: boolean;
  counts?: { [name: string]: number | null };
  free?: { [name: string]: Json };
  /** Its id. */
  id: string;
  parts: Part[] | null;
  /** Whatever it is. */
  raw?: Json;
  state?: "new" | "old" | (string & {});
}

/** Operations holds every operation of the interface by its id. A parameter of the path stands in it in braces; answer is what comes with success, as JSON. */
export interface Operations {
  /** Show a thing. It is * / shown. */
  "get-thing": {
    method: "GET";
    path: "/v1/things/{id}";
    scope: "observe";
    pathParams: {
      /** Its id */
      id: string;
    };
    query?: {
      kind?: ("a" | "b")[];
    };
    answer: Thing;
  };
  /** Send it. */
  "send-thing": {
    method: "POST";
    path: "/v1/things/{id}";
    body: {
      a?: string;
    };
    answer: string;
  };
  /** Change a thing. */
  "put-thing": {
    method: "PUT";
    path: "/v1/things/{id}";
    query: {
      "dry-run": boolean;
    };
    body?: Change;
    answer: void;
  };
}

/** OperationID is the id of an operation. */
export type OperationID = keyof Operations;
`

func TestTypeScript(t *testing.T) {
	got, err := typescript([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(smallWant, string(got)); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
}

// What it does not understand is an error, not a guess.
func TestTypeScriptRefuses(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"no JSON", small, "{", "reading the OpenAPI document"},
		{"unknown word", `"pattern"`, `"oneOf"`, "reading oneOf"},
		{"unknown type", `"type": "number"`, `"type": "text"`, `the type "text" is not known`},
		{"unknown schema", `"$ref": "#/components/schemas/Part"`, `"$ref": "#/components/schemas/Past"`, "the schema Past is not there"},
		{"reference elsewhere", `"$ref": "#/components/schemas/Part"`, `"$ref": "#/definitions/Part"`, "unexpected"},
		{"name", `"Names"`, `"a name"`, "is none in TypeScript"},
		{"numbers", `"enum": ["x"]`, `"enum": [1]`, "is no string"},
		{"twice", `"send-thing"`, `"put-thing"`, "has no id of its own"},
		{"no id", `"operationId": "send-thing"`, `"operationId": ""`, "has no id of its own"},
		{"no success", `"204"`, `"404"`, "put-thing has no answer"},
		{"form", `"requestBody": {"required": true, "content": {"application/json"`, `"requestBody": {"required": true, "content": {"text/plain"`, "a body that isn't JSON"},
		{"members of anything", `"type": "object", "required": ["deep"]`, `"required": ["deep"]`, "is no object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(small, test.old, test.new, 1)
			if changed == small {
				t.Fatal("nothing was changed")
			}
			if _, err := typescript([]byte(changed)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
