package wire_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

func ExamplePeek() {
	line := []byte(`{"message":{"id":"msg_1"},"session_id":"0c4f","uuid":"77a1","type":"assistant"}`)
	h, err := wire.Peek(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s, %v\n", h.Type, h.UUID, wire.ClassOf(h))
	// Output: assistant 77a1, durable
}

func ExampleDecoder() {
	output := `{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}
{"type":"result","subtype":"success","result":"Hello.","total_cost_usd":0.01}
{"type":"from_the_future","x":1}
`
	d := wire.NewDecoder(strings.NewReader(output))
	for {
		m, err := d.Next()
		if err != nil {
			break // io.EOF
		}
		switch m := m.(type) {
		case *wire.Assistant:
			for _, b := range m.Message.Content {
				if t, ok := b.(*wire.TextBlock); ok {
					fmt.Println("text:", t.Text)
				}
			}
		case *wire.Result:
			fmt.Println("cost:", m.Cost())
		case *wire.Unknown:
			fmt.Printf("unknown %s: %s\n", m.Header().Type, m.Raw())
		}
	}
	// Output:
	// text: Hello.
	// cost: 0.01
	// unknown from_the_future: {"type":"from_the_future","x":1}
}

func ExampleNewPermission() {
	m, err := wire.Decode([]byte(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	question := m.(*wire.ControlRequest)
	line, err := wire.NewPermission(question, &wire.Deny{Message: "not now"})
	fmt.Println(string(line), err)
	// Output: {"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"not now","toolUseID":"t1"}}} <nil>
}

func ExampleFit() {
	line, _ := wire.NewCancel("r1")
	_, _, err := wire.Fit(line, wire.Version{Major: 2, Minor: 1, Patch: 37})
	if unsupported, ok := errors.AsType[*wire.UnsupportedError](err); ok {
		fmt.Println("needs", unsupported.Since)
	}
	// Output: needs 2.1.47
}

func ExampleTranslate() {
	m, _ := wire.Decode([]byte(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}`))
	open := map[string]*wire.ControlRequest{"r1": m.(*wire.ControlRequest)}
	line, err := wire.Translate([]byte(`{"type":"control_response","request_id":"r1","permission":{"allow":true}}`),
		func(id string) *wire.ControlRequest { return open[id] })
	fmt.Println(string(line), err)
	// Output: {"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{"command":"ls"},"toolUseID":"t1"}}} <nil>
}

func ExampleActions() {
	m, _ := wire.Decode([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"main.go"}}]}}`))
	var actions wire.Actions
	for _, a := range actions.Of(m) {
		fmt.Println(a.Kind, a.Phase, a.Title)
	}
	// Output: file_change started main.go
}
