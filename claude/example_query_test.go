package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// Send one prompt and get the text.
func ExampleText() {
	ctx := context.Background()
	o := &claude.Options{Dir: "."}
	defer simulate(o)()

	answer, err := claude.Text(ctx, "@say A short program in Go.", o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output: A short program in Go.
}

// Send one prompt and read all its events.
func ExampleQuery() {
	ctx := context.Background()
	o := &claude.Options{AllowedTools: []string{"Read"}}
	defer simulate(o)()

	for event, err := range claude.Query(ctx, "@tool Read {\"file_path\":\"go.mod\"}\n@say It is Go 1.26.", o) {
		if err != nil {
			log.Fatal(err)
		}
		message, err := event.Message()
		if err != nil {
			continue // not a message at all: noise
		}
		switch m := message.(type) {
		case *wire.Assistant:
			for _, block := range m.Message.Content {
				switch b := block.(type) {
				case *wire.ToolUseBlock:
					fmt.Println("calls", b.Name)
				case *wire.TextBlock:
					fmt.Println("says", b.Text)
				}
			}
		case *wire.Result:
			fmt.Println("ends with", m.Subtype)
		}
	}
	// Output:
	// calls Read
	// says It is Go 1.26.
	// ends with success
}

// A Person is the requested value. The model's schema is derived from it.
type Person struct {
	Name string `json:"name"`
	Born int    `json:"born" jsonschema:"the year"`
}

// Send one prompt and get a value of a Go type.
func ExampleQueryAs() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	person, done, err := claude.QueryAs[Person](ctx, `@tool StructuredOutput {"name":"Ada Lovelace","born":1815}`, o)
	if mismatch, ok := errors.AsType[*claude.MismatchError](err); ok {
		log.Fatalf("the model said %s", mismatch.Raw)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(person.Name, person.Born, done.Err())
	// Output: Ada Lovelace 1815 <nil>
}

// Print the schema of a Go type.
func ExampleSchemaOf() {
	schema, err := claude.SchemaOf[Person]()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(schema))
	// Output: {"type":"object","properties":{"name":{"type":"string"},"born":{"type":"integer","description":"the year"}},"required":["name","born"],"additionalProperties":false}
}
