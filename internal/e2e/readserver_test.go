//go:build linux || darwin

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/wire"
)

// roleReads is an MCP server on standard input and output whose only tool reads a
// file: one that it is told, or one that a variable of its environment names.
const roleReads = "reads"

// readServers is the configuration of that server.
func (l *lab) readServers() json.RawMessage {
	l.t.Helper()
	program, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"files": map[string]any{
		"type": "stdio", "command": program, "args": []string{},
		"env": map[string]string{
			roleEnv: roleReads, suiteEnv: suite.id, labEnv: l.id, "GORACE": "atexit_sleep_ms=0", "E2E_KEY": filepath.Join(l.home, ".ssh", "id"),
		},
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

// runReads is the server. It ends with its input.
func runReads() error {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		var m wire.JSONRPC
		if err := json.Unmarshal(input.Bytes(), &m); err != nil {
			return err
		}
		reply := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch {
		case m.ID == nil || m.Method == "":
			// A notification.
		case m.Method == "initialize":
			reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1.0"}}`)
		case m.Method == "tools/list":
			reply(`{"tools":[{"name":"read","description":"Reads","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"variable":{"type":"string"}}}}]}`)
		case m.Method == "tools/call":
			var call struct {
				Arguments struct{ Path, Variable string } `json:"arguments"`
			}
			if err := json.Unmarshal(m.Params, &call); err != nil {
				return err
			}
			path := call.Arguments.Path
			if call.Arguments.Variable != "" {
				path = os.Getenv(call.Arguments.Variable)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				text = []byte(err.Error())
			}
			reply(`{"content":[{"type":"text","text":` + quoted(string(text)) + `}]}`)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"There is no such method."}}`+"\n", m.ID)
		}
	}
	return input.Err()
}
