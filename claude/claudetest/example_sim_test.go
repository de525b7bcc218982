package claudetest_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A simulated CLI has the methods of claude.Transport: lines go in and come out. Here the prompt says what the model does and what the tool
// prints.
func ExampleStartSim() {
	ctx := context.Background()
	sim := claudetest.StartSim(nil)
	defer func() { _ = sim.Close() }()

	prompt, err := wire.NewUser(wire.TextContent("@tool Bash {\"command\":\"git status\"}\n@result nothing to commit\n@say All is well."), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := sim.Write(ctx, prompt); err != nil {
		fmt.Println(err)
		return
	}
	for {
		line, err := sim.Read(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		message, err := wire.Decode(line)
		if err != nil {
			fmt.Println(err)
			return
		}
		switch m := message.(type) {
		case *wire.Assistant:
			for _, block := range m.Message.Content {
				if call, ok := block.(*wire.ToolUseBlock); ok {
					fmt.Println("calls", call.Name)
				}
			}
		case *wire.User:
			for _, block := range m.Message.Content.Blocks {
				if result, ok := block.(*wire.ToolResultBlock); ok {
					fmt.Println("gets", result.Content.Text)
				}
			}
		case *wire.Result:
			fmt.Println("says", m.Result)
			return
		}
	}
	// Output:
	// calls Bash
	// gets nothing to commit
	// says All is well.
}

// A test decides what its tools do. The record has every line that the CLI read and wrote.
func ExampleSimOptions() {
	ctx := context.Background()
	sim := claudetest.StartSim(&claudetest.SimOptions{
		Script: claudetest.Steps(
			claudetest.Say(claudetest.Tool("Read", map[string]any{"file_path": "config.yaml"})),
			claudetest.Say(claudetest.Text("There is no configuration.")),
		),
		Tool: func(call claudetest.ToolCall) (claudetest.ToolOutcome, bool) {
			return claudetest.ToolOutcome{Text: "File does not exist.", Failed: true}, call.Name == "Read"
		},
	})
	defer func() { _ = sim.Close() }()
	if err := sim.Write(ctx, []byte(`{"type":"user","message":{"role":"user","content":"Read the configuration."}}`)); err != nil {
		fmt.Println(err)
		return
	}
	if err := sim.CloseInput(); err != nil {
		fmt.Println(err)
		return
	}
	for {
		if _, err := sim.Read(ctx); err != nil {
			break // it has ended
		}
	}
	for _, entry := range sim.Record() {
		var line struct{ Type, Subtype, Result string }
		if err := json.Unmarshal([]byte(entry.Line), &line); err != nil {
			fmt.Println(err)
			return
		}
		switch {
		case entry.Read:
			fmt.Println(entry.Number, "read", line.Type)
		case line.Type == "result":
			fmt.Println("wrote", line.Subtype, line.Result)
		}
	}
	// Output:
	// 1 read user
	// wrote success There is no configuration.
}
