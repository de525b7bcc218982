package fold_test

import (
	"fmt"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A session's state is folded from the lines of both directions.
func ExampleState() {
	var s fold.State
	s.Happened(fold.Event{Kind: fold.EventStarted, Run: 1})
	fmt.Println("started:", s.Phase())

	s.Apply(fold.NewLine([]byte(`{"type":"user","message":{"role":"user","content":"tidy up"},"uuid":"a"}`), true))
	s.Apply(fold.NewLine([]byte(`{"type":"system","subtype":"init","session_id":"c1","model":"claude-sonnet-4-5"}`), false))
	fmt.Println("prompted:", s.Phase(), s.Model)

	s.Apply(fold.NewLine([]byte(`{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm x"},"tool_use_id":"u"}}`), false))
	fmt.Println("asked:", s.Phase(), s.Questions.Open[0].Tool)

	s.Apply(fold.NewLine([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"q","response":{"behavior":"allow","updatedInput":{"command":"rm x"}}}}`), true))
	fmt.Println("answered:", s.Phase())

	s.Apply(fold.NewLine([]byte(`{"type":"result","subtype":"success"}`), false))
	fmt.Println("done:", s.Phase())
	// Output:
	// started: starting
	// prompted: running claude-sonnet-4-5
	// asked: requires_action Bash
	// answered: running
	// done: idle
}

// Questions report what becomes of each of them.
func ExampleQuestions() {
	var q fold.Questions
	ask := []byte(`{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"1. Do it."},"tool_use_id":"u"}}`)
	withdrawn := []byte(`{"type":"control_cancel_request","request_id":"q"}`)
	for _, line := range [][]byte{ask, ask, withdrawn} {
		for _, change := range q.Apply(fold.NewLine(line, false)) {
			fmt.Printf("%s %s %q\n", change.Question.Kind, change.Fate, change.Reason)
		}
	}
	// Output:
	// plan opened ""
	// plan cancelled "withdrawn"
}

// Whoever joins late is shown the whole text so far.
func ExamplePartial() {
	var p fold.Partial
	for _, line := range []string{
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Once upon"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a time"}}}`,
	} {
		p.Apply(fold.NewLine([]byte(line), false))
	}
	fmt.Printf("%q\n", p.Messages()[0].Blocks[0].Text)

	p.Apply(fold.NewLine([]byte(`{"type":"result","subtype":"success"}`), false))
	fmt.Println(len(p.Messages()))
	// Output:
	// "Once upon a time"
	// 0
}

// The CLI's figures are cumulative for its process; costs are not.
func ExampleCosts() {
	var c fold.Costs
	c.Happened(fold.Event{Kind: fold.EventStarted, Run: 1})
	for _, line := range []string{
		`{"type":"result","subtype":"success","total_cost_usd":0.25}`,
		`{"type":"result","subtype":"success","total_cost_usd":0.40}`,
	} {
		fmt.Println("turn:", c.Apply(fold.NewLine([]byte(line), false)).Figures.CostUSD)
	}
	c.Happened(fold.Event{Kind: fold.EventStarted, Run: 2})
	c.Apply(fold.NewLine([]byte(`{"type":"result","subtype":"success","total_cost_usd":0.10}`), false))
	fmt.Println("session:", c.Total().CostUSD)
	// Output:
	// turn: 0.25
	// turn: 0.15
	// session: 0.5
}
