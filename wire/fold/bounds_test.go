package fold_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// flood writes lines of which no two are alike and none is ever settled: what a
// CLI gone mad, or one that means harm, could send.
func flood(i int) []string {
	long := strings.Repeat("x", 300)
	id := fmt.Sprintf("%d-%s", i, long)
	return []string{
		prompt(id),
		lifecycle(id, "queued"),
		prompt("taken" + id), lifecycle("taken"+id, "started"),
		`< {"type":"system","subtype":"task_started","task_id":"` + id + `","description":"` + long + `","is_backgrounded":true}`,
		`< {"type":"system","subtype":"task_notification","task_id":"over` + id + `","tool_use_id":"u` + id + `","status":"completed","usage":{"total_tokens":1}}`,
		canUse(id, id, `,"agent_id":"`+id+`"`),
		canUse("done"+id, id, ""), answer("done" + id),
		hook(id, "h"+id),
		`> {"type":"control_request","request_id":"` + id + `","request":{"subtype":"get_context_usage"}}`,
		`> {"type":"control_request","request_id":"i` + id + `","request":{"subtype":"initialize"}}`,
		`> {"type":"control_request","request_id":"s` + id + `","request":{"subtype":"interrupt"}}`,
		`< {"type":"system","subtype":"init","session_id":"` + id + `","cwd":"` + long + `","tools":["` + id + `"],"` + id + `":1}`,
		`< {"type":"assistant","parent_tool_use_id":"` + id + `","message":{"id":"` + id + `","usage":{"input_tokens":9e18},"content":[]},"supersedes":["` + id + `"]}`,
		`< {"type":"` + id + `"}`,
		`< {"type":"control_request","request_id":"d","request":{"subtype":"` + id + `"}}`,
		`< {"type":"rate_limit_event","rate_limit_info":{"rateLimitType":"` + id + `"}}`,
		event("p"+id, `{"type":"message_start","message":{"id":"`+id+`","model":"`+long+`"}}`),
		event("p"+id, `{"type":"content_block_start","index":0,"content_block":{"type":"`+id+`"}}`),
		event("p"+id, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"`+long+`"}}`),
		`< {"type":"result","subtype":"` + id + `","uuid":"` + id + `","total_cost_usd":` + fmt.Sprint(i%7) + `,"duration_ms":9e18,"modelUsage":{"` + id + `":{"inputTokens":9e18,"costUSD":1e300}}}`,
		fmt.Sprintf(`! started %d resumed`, i),
	}
}

// TestBounds shows that nothing grows for ever.
func TestBounds(t *testing.T) {
	size := func(a *all) int {
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	grow := func(rounds int, restart bool) int {
		a := new(all)
		a.Partial.Max = 10_000
		for i := range rounds {
			for _, line := range flood(i) {
				if !restart && strings.HasPrefix(line, "!") {
					continue
				}
				a.apply(script(t, line)[0])
			}
		}
		return size(a)
	}
	for _, test := range []struct {
		name       string
		some, many int
		restart    bool
	}{
		{"one run", 300, 400, false},
		{"many runs", 300, 400, true},
	} {
		some, many := grow(test.some, test.restart), grow(test.many, test.restart)
		if many > some+some/100 {
			t.Errorf("%s: %d bytes after %d rounds, %d after %d: it grows", test.name, some, test.some, many, test.many)
		}
	}
}
