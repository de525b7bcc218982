//go:build linux || darwin

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/switchboard-dev/switchboard/wire"
)

// roleForms is an MCP server on standard input and output whose only tool has the
// user fill in a form, and returns what came of it.
const roleForms = "forms"

// formSchema is the form.
const formSchema = `{"type":"object","properties":{"name":{"type":"string","title":"Name"},"age":{"type":"integer","minimum":1}},"required":["name"]}`

// formServers is the configuration of the server, as a CLI wants it. Whatever of
// it is left behind is found by its environment.
func (l *lab) formServers() json.RawMessage {
	l.t.Helper()
	program, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"forms": map[string]any{
		"type": "stdio", "command": program, "args": []string{},
		"env": map[string]string{roleEnv: roleForms, suiteEnv: suite.id, labEnv: l.id, "GORACE": "atexit_sleep_ms=0"},
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

// runForms is the server. It ends with its input.
func runForms() error {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	var call json.RawMessage // the call whose form is open
	for input.Scan() {
		var m wire.JSONRPC
		if err := json.Unmarshal(input.Bytes(), &m); err != nil {
			return err
		}
		reply := func(id json.RawMessage, result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
		switch {
		case m.Method == "" && call != nil: // the answer to the form
			text := m.Result
			if text == nil {
				text = []byte(`"no answer"`)
			}
			reply(call, `{"content":[{"type":"text","text":`+quoted(string(text))+`}]}`)
			call = nil
		case m.ID == nil || m.Method == "":
			// A notification.
		case m.Method == "initialize":
			reply(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"forms","version":"1.0"}}`)
		case m.Method == "tools/list":
			reply(m.ID, `{"tools":[{"name":"ask","description":"Asks","inputSchema":{"type":"object","properties":{}}}]}`)
		case m.Method == "tools/call":
			call = m.ID
			fmt.Printf(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":%s}}`+"\n", formSchema)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"There is no such method."}}`+"\n", m.ID)
		}
	}
	return input.Err()
}
