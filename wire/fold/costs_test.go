package fold_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// spent is a result line with cumulative figures: dollars, tokens read and
// written, and the tokens that the turn itself read and wrote.
func spent(usd float64, in, out, turnIn, turnOut int) string {
	return fmt.Sprintf(`< {"type":"result","subtype":"success","duration_ms":100,"duration_api_ms":%d,"num_turns":2,"total_cost_usd":%v,`+
		`"usage":{"input_tokens":%d,"output_tokens":%d},"modelUsage":{"m":{"inputTokens":%d,"outputTokens":%d,"costUSD":%v}}}`,
		in/10, usd, turnIn, turnOut, in, out, usd)
}

// told is such a line of a version that also tells what was used since the last.
func told(usd float64, in, out int, since float64, sinceIn, sinceOut int) string {
	return fmt.Sprintf(`< {"type":"result","subtype":"success","duration_ms":100,"duration_api_ms":%d,"total_cost_usd":%v,`+
		`"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{"m":{"inputTokens":%d,"outputTokens":%d,"costUSD":%v}},`+
		`"model_usage_since_last_result":{"m":{"inputTokens":%d,"outputTokens":%d,"costUSD":%v}}}`,
		in/10, usd, in, out, usd, sinceIn, sinceOut, since)
}

const (
	nothingSpent = `< {"type":"result","subtype":"success","total_cost_usd":0,"usage":{},"modelUsage":{}}`
	cleared      = `< {"type":"conversation_reset","new_conversation_id":"n","trigger":"clear"}`
	ended        = `! ended exit code 0`
	fresh        = `! started 2`
	resumed      = `! started 2 resumed`
)

func TestCosts(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		turns []float64 // what each turn cost
		total float64
		in    int64 // tokens read in all
	}{
		{"figures are cumulative", []string{started, spent(1, 100, 10, 100, 10), spent(1.5, 150, 15, 50, 5)}, []float64{1, 0.5}, 1.5, 150},
		{"a fresh process starts from nothing", []string{started, spent(1, 100, 10, 100, 10), ended, fresh, spent(2, 200, 20, 200, 20)}, []float64{1, 2}, 3, 300},
		{"a fresh process is not taken for a resumed one", []string{started, spent(1, 100, 10, 100, 10), ended, fresh, spent(2, 200, 20, 1, 1)}, []float64{1, 2}, 3, 300},
		{"a resumed process that starts from nothing", []string{started, spent(1, 100, 10, 100, 10), ended, resumed, spent(0.5, 50, 5, 50, 5)}, []float64{1, 0.5}, 1.5, 150},
		{
			"a resumed process that starts from nothing with a larger turn",
			[]string{started, spent(1, 100, 10, 100, 10), ended, resumed, spent(2, 200, 20, 200, 20), spent(3, 300, 30, 100, 10)},
			[]float64{1, 2, 1},
			4, 400,
		},
		{
			"a resumed process that goes on",
			[]string{started, spent(1, 100, 10, 100, 10), ended, resumed, spent(1.5, 150, 15, 50, 5), spent(2, 200, 20, 50, 5)},
			[]float64{1, 0.5, 0.5},
			2, 200,
		},
		{"a resumed process that goes on from an older end", []string{
			started, spent(1, 100, 10, 100, 10), ended, resumed, spent(2, 200, 20, 100, 10), `! ended signal KILL`,
			`! started 3 resumed`, spent(1.25, 125, 13, 25, 3),
		}, []float64{1, 1, 0.25}, 2.25, 225},
		{
			"a resumed process that first tells nothing",
			[]string{started, spent(1, 100, 10, 100, 10), ended, resumed, nothingSpent, spent(1.5, 150, 15, 50, 5)},
			[]float64{1, 0, 0.5},
			1.5, 150,
		},
		{
			"a resumed process that goes on without having done anything",
			[]string{started, spent(1, 100, 10, 100, 10), ended, resumed, spent(1, 100, 10, 0, 0), spent(1.5, 150, 15, 50, 5)},
			[]float64{1, 0, 0.5},
			1.5, 150,
		},
		{
			"a resumed process that tells what is new",
			[]string{started, told(1, 100, 10, 1, 100, 10), ended, resumed, told(5, 500, 50, 4, 400, 40)},
			[]float64{1, 4},
			5, 500,
		},
		{
			"a resumed process that starts from nothing and says so",
			[]string{started, told(1, 100, 10, 1, 100, 10), ended, resumed, told(5, 500, 50, 5, 500, 50)},
			[]float64{1, 5},
			6, 600,
		},
		{"a conversation that was begun elsewhere", []string{resumed, told(5, 500, 50, 0.5, 50, 5), told(6, 600, 60, 1, 100, 10)}, []float64{0.5, 1}, 1.5, 150},
		{"cleared", []string{started, spent(1, 100, 10, 100, 10), cleared, nothingSpent, spent(0.5, 50, 5, 50, 5)}, []float64{1, 0, 0.5}, 1.5, 150},
		{"cleared, and the next turn is larger", []string{started, spent(1, 100, 10, 100, 10), cleared, nothingSpent, spent(2, 200, 20, 200, 20)}, []float64{1, 0, 2}, 3, 300},
		{
			"cleared, and the figures go on",
			[]string{started, spent(1, 100, 10, 100, 10), cleared, spent(1, 100, 10, 0, 0), spent(1.5, 150, 15, 50, 5)},
			[]float64{1, 0, 0.5},
			1.5, 150,
		},
		{"cleared, and nothing tells but the next turn", []string{started, spent(1, 100, 10, 100, 10), cleared, spent(2, 200, 20, 200, 20)}, []float64{1, 2}, 3, 300},
		{"cleared at once", []string{started, cleared, spent(1, 100, 10, 100, 10)}, []float64{1}, 1, 100},
		{
			"figures that go down begin anew",
			[]string{started, spent(2, 200, 20, 200, 20), spent(0.5, 50, 5, 50, 5), spent(0.75, 75, 8, 25, 3)},
			[]float64{2, 0.5, 0.25},
			2.75, 275,
		},
		{"tokens that go down begin anew", []string{started, spent(1, 200, 20, 200, 20), spent(1, 50, 5, 50, 5)}, []float64{1, 1}, 2, 250},
		{"figures that are not told once", []string{started, spent(1, 100, 10, 100, 10), nothingSpent, spent(1.5, 150, 15, 50, 5)}, []float64{1, 0, 0.5}, 1.5, 150},
		{
			"cost_usd where total_cost_usd is missing",
			[]string{started, `< {"type":"result","subtype":"success","cost_usd":0.25}`, `< {"type":"result","subtype":"success","cost_usd":0.5}`},
			[]float64{0.25, 0.25},
			0.5, 0,
		},
		{"binary fractions", []string{started, spent(0.1, 1, 1, 1, 1), spent(0.30000000000000004, 3, 3, 2, 2)}, []float64{0.1, 0.2}, 0.3, 3},
		{"what is written is not counted", []string{started, `> {"type":"result","subtype":"success","total_cost_usd":5}`}, nil, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c fold.Costs
			var turns []float64
			for _, s := range script(t, test.lines...) {
				if s.event != nil {
					c.Happened(*s.event)
				} else if turn := c.Apply(s.line); turn != nil {
					turns = append(turns, turn.Figures.CostUSD)
				}
			}
			if diff := cmp.Diff(test.turns, turns); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if total := c.Total(); total.CostUSD != test.total || total.Tokens().Input != test.in {
				t.Errorf("total %+v, want $%v and %d tokens read", total, test.total, test.in)
			}
		})
	}
}

func TestBaseline(t *testing.T) {
	var c fold.Costs
	base := &fold.Figures{CostUSD: 1, Models: map[string]fold.Model{"m": {Tokens: fold.Tokens{Input: 100, Output: 10}, CostUSD: 1}}}
	c.Happened(fold.Event{Kind: fold.EventStarted, Run: 1, Resumed: true, Baseline: base})
	base.Models["m"] = fold.Model{} // the caller's value is its own
	turn := c.Apply(script(t, spent(1.5, 150, 15, 50, 5))[0].line)
	if turn == nil || turn.Figures.CostUSD != 0.5 || c.Total().CostUSD != 0.5 || c.Total().Tokens().Sum() != 55 {
		t.Errorf("turn %+v, total %+v, want half a dollar and 55 tokens", turn, c.Total())
	}
}

func TestTurn(t *testing.T) {
	const first = `< {"type":"result","subtype":"success","is_error":true,"uuid":"r","duration_ms":1200,"duration_api_ms":900,"num_turns":3,"total_cost_usd":0.5,"origin":{"kind":"task-notification"},` +
		`"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4},` +
		`"modelUsage":{"a":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"webSearchRequests":5,"costUSD":0.4},"b":{"outputTokens":7,"costUSD":0.1}}}`
	const second = `< {"type":"result","subtype":"success","duration_ms":300,"duration_api_ms":1000,"num_turns":1,"total_cost_usd":0.75,` +
		`"usage":{"output_tokens":1},` +
		`"modelUsage":{"a":{"inputTokens":1,"outputTokens":3,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"webSearchRequests":5,"costUSD":0.65},"b":{"outputTokens":7,"costUSD":0.1}}}`
	var c fold.Costs
	var turns []*fold.Turn
	for _, s := range script(t, started, first, second) {
		if s.event != nil {
			c.Happened(*s.event)
		} else if turn := c.Apply(s.line); turn != nil {
			turns = append(turns, turn)
		}
	}
	want := []*fold.Turn{
		{
			Run: 1, Seq: 2, Time: noon.Add(2e9), UUID: "r", Failed: true, Origin: "task-notification", Millis: 1200, Rounds: 3,
			Main: fold.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
			Figures: fold.Figures{CostUSD: 0.5, APIMillis: 900, Models: map[string]fold.Model{
				"a": {Tokens: fold.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, WebSearches: 5, CostUSD: 0.4},
				"b": {Tokens: fold.Tokens{Output: 7}, CostUSD: 0.1},
			}},
		},
		{
			// Models that were not used are left out; the time at the API is
			// cumulative, the duration is not.
			Run: 1, Seq: 3, Time: noon.Add(3e9), Millis: 300, Rounds: 1, Main: fold.Tokens{Output: 1},
			Figures: fold.Figures{CostUSD: 0.25, APIMillis: 100, Models: map[string]fold.Model{"a": {Tokens: fold.Tokens{Output: 1}, CostUSD: 0.25}}},
		},
	}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Turns != 2 || c.Failed != 1 || c.Rounds != 4 || c.Millis != 1500 || c.Main.Sum() != 11 {
		t.Errorf("sums %+v", c)
	}
}

func TestTimeAtTheAPINeverGoesBack(t *testing.T) {
	const line = `< {"type":"result","subtype":"success","duration_api_ms":%d,"total_cost_usd":%d}`
	var c fold.Costs
	var times []int64
	for _, s := range script(t, fmt.Sprintf(line, 500, 1), fmt.Sprintf(line, 100, 2), fmt.Sprintf(line, 600, 3)) {
		times = append(times, c.Apply(s.line).Figures.APIMillis)
	}
	if want := []int64{500, 0, 100}; !cmp.Equal(times, want) || c.Total().APIMillis != 600 {
		t.Errorf("times %v, %d ms in all, want %v", times, c.Total().APIMillis, want)
	}
}

func TestAgents(t *testing.T) {
	said := func(parent, id string, in, out int) string {
		return fmt.Sprintf(`< {"type":"assistant","parent_tool_use_id":%q,"message":{"id":%q,"content":[],"usage":{"input_tokens":%d,"output_tokens":%d}}}`, parent, id, in, out)
	}
	a := play(
		t, started,
		said("u1", "m1", 10, 1), said("u1", "m1", 10, 4), said("u1", "m1", 10, 2), // three parts of one message
		said("u2", "m1", 7, 7), said("u2", "m1", 7, 3), // another one's
		said("u1", "m2", 20, 2), said("u1", "m1", 10, 5), // late
		`< {"type":"assistant","parent_tool_use_id":null,"message":{"id":"m9","content":[],"usage":{"input_tokens":99}}}`,
		`< {"type":"system","subtype":"task_notification","task_id":"t","tool_use_id":"u1","status":"completed","usage":{"total_tokens":40,"tool_uses":2,"duration_ms":900}}`,
		`< {"type":"system","subtype":"task_notification","task_id":"t","status":"completed"}`,
	)
	want := []fold.Agent{
		{
			ToolUseID: "u1", Main: fold.Tokens{Input: 30, Output: 7}, Messages: 2, ToldTokens: 40, ToldTools: 2, ToldMillis: 900,
			Recent: []fold.Counted{{ID: "m1", Tokens: fold.Tokens{Input: 10, Output: 5}}, {ID: "m2", Tokens: fold.Tokens{Input: 20, Output: 2}}},
		},
		{ToolUseID: "u2", Main: fold.Tokens{Input: 7, Output: 7}, Messages: 1, Recent: []fold.Counted{{ID: "m1", Tokens: fold.Tokens{Input: 7, Output: 7}}}},
	}
	if diff := cmp.Diff(want, a.Costs.Agents); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestManyAgents(t *testing.T) {
	lines := []string{started}
	const n = 250
	for i := range n {
		lines = append(lines, fmt.Sprintf(`< {"type":"assistant","parent_tool_use_id":"u%d","message":{"id":"m","content":[],"usage":{"input_tokens":1}}}`, i))
	}
	c := &play(t, lines...).Costs
	if got := int64(len(c.Agents)) + c.Others.Messages; got != n || c.Others.Main.Input != c.Others.Messages || len(c.Agents) >= n {
		t.Errorf("%d listed and %d others, want %d in all", len(c.Agents), c.Others.Messages, n)
	}
}
