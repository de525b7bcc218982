package fold_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// TestCalls: the one call that is going on is known, through sub-agents, interrupts and
// a stored fold.
func TestCalls(t *testing.T) {
	t.Parallel()
	use := func(parent string, ids ...string) string {
		blocks := ""
		for i, id := range ids {
			if i > 0 {
				blocks += ","
			}
			blocks += fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{}}`, id)
		}
		return fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%s,"message":{"role":"assistant","content":[%s]},"uuid":"u","session_id":"c"}`, parent, blocks)
	}
	result := func(id string) string {
		return fmt.Sprintf(`{"type":"user","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]},"uuid":"u","session_id":"c"}`, id)
	}
	var c fold.Calls
	for i, step := range []struct{ line, want string }{
		{`{"type":"assistant","parent_tool_use_id":null,"message":{"role":"assistant","content":[{"type":"text","text":"tool_use"}]},"uuid":"u","session_id":"c"}`, ""},
		{use("null", "a"), "a"},
		{use("null", "a"), "a"}, // repeated
		{use("null", "b"), ""},
		{result("a"), "b"},
		{result("b"), ""},
		{use("null", "agent"), "agent"},
		{use(`"agent"`, "c"), "c"},
		{use(`"agent"`, "d"), ""},
		{result("c"), "d"},
		{result("agent"), ""}, // with it all that its sub-agent called
		{use("null", "e", "f"), ""},
		{`{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"session_id":"c","uuid":"u"}`, ""},
		{use("null", "g"), "g"},
	} {
		c.Apply(fold.NewLine([]byte(step.line), true)) // what is sent to the CLI is none of its calls
		c.Apply(fold.NewLine([]byte(step.line), false))
		if got := c.Only(); got != step.want {
			t.Fatalf("after line %d: %q, want %q; %+v", i, got, step.want, c)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		c = fold.Calls{}
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
	}
	c.Happened(fold.Event{Kind: fold.EventEnded})
	if c.Only() != "" || len(c.Open) != 0 {
		t.Errorf("after the end: %+v", c)
	}
	for i := range 100 {
		c.Apply(fold.NewLine([]byte(use("null", fmt.Sprint("x", i))), false))
	}
	for i := range 99 {
		c.Apply(fold.NewLine([]byte(result(fmt.Sprint("x", i))), false))
	}
	if len(c.Open) != 1 || c.Only() != "" {
		t.Errorf("with calls that were forgotten: %+v", c)
	}
}
