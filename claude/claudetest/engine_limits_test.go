package claudetest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// flipped starts the newest version with some of its quirks changed.
func flipped(change func(*Quirks)) func(*SimOptions) {
	return func(o *SimOptions) { change(o.Quirks) }
}

func TestSimMaxTurns(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, withArgs("--max-turns", "2"))
			result := s.turn("@tool Read {}\n@tool Read {}\n@next\n@tool Read {}\n@next\n@tool Read {}\n@say Never.")
			failed := version != "2.1.37"
			if result["subtype"] != "error_max_turns" || result["num_turns"] != 3.0 || result["is_error"] != failed {
				t.Errorf("the turn ended with %v", result)
			}
			if errors, _ := result["errors"].([]any); (len(errors) == 1) != failed {
				t.Errorf("the errors are %v", result["errors"])
			}
			if result := s.turn("@say Hello."); result["subtype"] != "success" {
				t.Errorf("the next turn ended with %v", result)
			}
		})
	}
}

func TestSimBudget(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--max-budget-usd", "0.0000001"))
	if result := s.turn("@tool Read {}\n@say Never."); result["subtype"] != "error_max_budget_usd" || result["terminal_reason"] != "budget_exhausted" {
		t.Errorf("the first turn ended with %v", result)
	}
	if strings.Contains(s.story(), "tool_result") {
		t.Error("the tool was run")
	}
	if result := s.turn("@say Never."); result["subtype"] != "error_max_budget_usd" || strings.Contains(s.story(), "Never.") {
		t.Errorf("the second turn ended with %v", result)
	}
}

const testSchema = `{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"enum":["a","b"]}}},"required":["n"],"additionalProperties":false}`

func TestSimSchema(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, withArgs("--json-schema", testSchema))
			result := s.turn("@tool StructuredOutput {\"n\":\"five\"}\n@next\n@tool StructuredOutput {\"n\":5,\"list\":[\"a\"]}\n@say After.")
			if !strings.Contains(s.story(), "/n: must be integer") {
				t.Errorf("wrong data was taken:\n%s", s.story())
			}
			want := "After."
			if version == "2.1.325" {
				want = `{"n":5,"list":["a"]}`
			}
			if output := string(plainJSON(result["structured_output"])); result["result"] != want || !strings.Contains(output, `"n":5`) {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestSimSchemaByInitialize(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.request(`{"subtype":"initialize","jsonSchema":` + testSchema + `}`)
	if result := s.turn("@tool StructuredOutput {\"n\":1}"); result["structured_output"] == nil {
		t.Errorf("the turn ended with %v", result)
	}
}

// A model that only talks is reminded: once, or without end.
func TestSimSchemaReminder(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--json-schema", testSchema))
	if result := s.turn("@say Words."); result["subtype"] != "success" || result["structured_output"] != nil || result["num_turns"] != 2.0 {
		t.Errorf("the turn ended with %v", result)
	}
	s = startSim(t, "2.1.37", withArgs("--json-schema", testSchema, "--max-turns", "2"))
	s.prompt("@say Words.")
	for reminders := 0; reminders < 10; {
		if line := s.next(); line["isSynthetic"] == true {
			reminders++
		}
	}
	s.request(`{"subtype":"interrupt"}`)
	s.result()
}

func TestCheckSchema(t *testing.T) {
	tests := []struct {
		value any
		want  []string
	}{
		{map[string]any{"n": 1.0}, nil},
		{map[string]any{"n": 1.5}, []string{"/n: must be integer"}},
		{map[string]any{}, []string{"root: must have required property 'n'"}},
		{map[string]any{"n": 1.0, "list": []any{"a", "c"}}, []string{"/list/1: must be equal to one of the allowed values"}},
		{map[string]any{"n": 1.0, "more": true}, []string{"root: must NOT have additional properties"}},
		{[]any{}, []string{"root: must be object"}},
	}
	schema := map[string]any{
		"type": "object", "required": []any{"n"}, "additionalProperties": false,
		"properties": map[string]any{
			"n": map[string]any{"type": []any{"integer", "null"}}, "list": map[string]any{"type": "array", "items": map[string]any{"enum": []any{"a", "b"}}},
		},
	}
	for _, test := range tests {
		got := checkSchema(schema, test.value, "")
		for i := range got {
			got[i] = strings.Replace(got[i], "integer,null", "integer", 1)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v does not fit because %v, want %v", test.value, got, test.want)
		}
	}
}

// endless says the same with a stop reason again and again.
func endless(reason string) func(*SimOptions) {
	return func(o *SimOptions) {
		o.Script = func(Request) Reply { return Reply{Blocks: []Block{Text("Words.")}, StopReason: reason} }
	}
}

func TestSimStopReasons(t *testing.T) {
	tests := []struct {
		version, reason string
		lines           []string
		stop            any
	}{
		{"2.1.37", StopMaxTokens, []string{"assistant", "assistant", "assistant", "assistant", "assistant", "assistant", "assistant", "assistant"}, "stop_sequence"},
		{"2.1.120", StopMaxTokens, []string{"assistant", "assistant", "assistant", "assistant", "assistant"}, "stop_sequence"},
		{"2.1.325", StopMaxTokens, []string{"assistant", "user", "assistant", "user", "assistant", "user", "assistant", "assistant"}, "stop_sequence"},
		{"2.1.37", StopRefusal, []string{"assistant", "assistant"}, "stop_sequence"},
		{"2.1.120", StopRefusal, []string{"assistant", "assistant"}, "refusal"},
		{"2.1.325", StopRefusal, []string{"assistant", "system/informational", "user", "assistant", "system/model_refusal_no_fallback", "assistant"}, "refusal"},
	}
	for _, test := range tests {
		t.Run(test.version+" "+test.reason, func(t *testing.T) {
			s := startSim(t, test.version, withoutStates, endless(test.reason))
			result := s.turn("Go on.")
			if got, want := s.kinds(), slices.Concat([]string{"system/init"}, test.lines, []string{"result/success"}); !slices.Equal(got, want) {
				t.Errorf("the lines are %v, want %v", got, want)
			}
			if result["is_error"] != true || result["stop_reason"] != test.stop {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestSimEmptyMessage(t *testing.T) {
	tests := []struct {
		version, subtype string
		lines            []string
	}{
		{"2.1.37", "error_during_execution", nil},
		{"2.1.120", "success", nil},
		{"2.1.325", "success", []string{"user"}},
	}
	for _, test := range tests {
		s := startSim(t, test.version, withoutStates, func(o *SimOptions) { o.Script = func(Request) Reply { return Reply{} } })
		s.turn("Go on.")
		if got, want := s.kinds(), slices.Concat([]string{"system/init"}, test.lines, []string{"result/" + test.subtype}); !slices.Equal(got, want) {
			t.Errorf("%s: the lines are %v, want %v", test.version, got, want)
		}
	}
}

func TestSimThinking(t *testing.T) {
	for version, want := range map[string]bool{"2.1.37": false, "2.1.120": false, "2.1.325": true} {
		s := startSim(t, version)
		s.turn("@think Hm, let me see.\n@say So.")
		if got := slices.Contains(s.kinds(), "system/thinking_tokens"); got != want {
			t.Errorf("%s tells thinking tokens: %t, want %t", version, got, want)
		}
	}
}

func TestSimFallbackModel(t *testing.T) {
	tests := []struct {
		version, model string
		told           bool
		answered       string // by which model; empty: not at all
	}{
		{"2.1.37", "claude-opus-4-5-20251101", false, ""},
		{"2.1.37", "claude-sonnet-4-5-20250929", false, "sonnet"},
		{"2.1.120", "claude-opus-4-5-20251101", false, "haiku"},
		{"2.1.120", "claude-sonnet-4-5-20250929", false, "sonnet"},
		{"2.1.325", "claude-sonnet-4-5-20250929", true, "haiku"},
	}
	for _, test := range tests {
		t.Run(test.version+" "+test.model, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, test.version, withArgs("--model", test.model, "--fallback-model", "claude-haiku-4-5-20251001"))
				result := s.turn("@error 529 times=3\n@say After.")
				if got := slices.Contains(s.kinds(), "system/model_fallback"); got != test.told {
					t.Errorf("the fallback was told: %t, want %t", got, test.told)
				}
				if test.answered == "" {
					if text, _ := result["result"].(string); result["is_error"] != true || !strings.Contains(text, "Model fallback triggered") {
						t.Errorf("the turn ended with %v", result)
					}
					return
				}
				for _, line := range s.lines {
					if message, ok := line["message"].(map[string]any); ok && line["type"] == "assistant" && !strings.Contains(message["model"].(string), test.answered) {
						t.Errorf("answered by %v, want %s", message["model"], test.answered)
					}
				}
			})
		})
	}
}

// The model is asked for more than it can say only as often as the quirks say.
func TestSimQuirksFlipped(t *testing.T) {
	s := startSim(t, "2.1.325", flipped(func(q *Quirks) { q.RefusalContinues = false }), endless(StopRefusal))
	s.turn("Go on.")
	if slices.Contains(s.kinds(), "system/informational") {
		t.Error("the model was asked again")
	}
	s = startSim(t, "2.1.325", flipped(func(q *Quirks) { q.ThinkingLines = false }))
	s.turn("@think Hm.\n@say So.")
	if slices.Contains(s.kinds(), "system/thinking_tokens") {
		t.Error("thinking tokens were told")
	}
}

func TestSimBigOutput(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, func(o *SimOptions) {
				o.Tool = func(ToolCall) (ToolOutcome, bool) { return ToolOutcome{Text: strings.Repeat("x", 100_000)}, true }
			})
			s.turn("@tool Bash {\"command\":\"echo\"}\n@say Much.")
			for _, line := range s.lines {
				detail, ok := line["tool_use_result"].(map[string]any)
				if !ok {
					continue
				}
				if text := string(plainJSON(line["message"])); !strings.Contains(text, "<persisted-output>") || len(text) > 4000 {
					t.Errorf("the model gets %d bytes", len(text))
				}
				stdout := len(detail["stdout"].(string))
				if cut := version != "2.1.37"; (stdout == 30_000) != cut || (detail["persistedOutputPath"] != nil) != cut {
					t.Errorf("%d bytes are told", stdout)
				}
				return
			}
			t.Errorf("there is no result:\n%s", s.story())
		})
	}
}

// The newest version closes a message whose stream broke before it asks again.
func TestSimCutStream(t *testing.T) {
	for version, want := range map[string]int{"2.1.37": 0, "2.1.120": 0, "2.1.325": 2} {
		synctest.Test(t, func(t *testing.T) {
			s := startSim(t, version, withArgs("--include-partial-messages"))
			s.turn("@cut 4 times=1\n@say Hello, in some words.")
			stops := 0
			for _, line := range s.lines {
				if event, _ := line["event"].(map[string]any); event["type"] == "message_stop" {
					stops++
				}
			}
			if stops != want {
				t.Errorf("%s: %d messages were closed, want %d", version, stops, want)
			}
		})
	}
}
