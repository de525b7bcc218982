package claudetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// compare looks into the types of a reply.
var compare = cmp.AllowUnexported(Block{}, Fault{})

func TestDirectives(t *testing.T) {
	bash := Tool("Bash", json.RawMessage(`{"command":"ls"}`))
	tests := map[string]struct {
		prompt string
		want   []Reply // to the first attempts of each step
	}{
		"say":        {"@say hello world", []Reply{Say(Text("hello world"))}},
		"quoted":     {`@say "two\nlines"`, []Reply{Say(Text("two\nlines"))}},
		"one quote":  {`@say "`, []Reply{Say(Text(`"`))}},
		"no text":    {"@say", []Reply{Say(Text(""))}},
		"with prose": {"Please do this:\r\n\n  @say hello\r\nand mind @say in a line\n@README.md is no directive, nor is a lone @\n@ say", []Reply{Say(Text("hello"))}},
		"tabs":       {"\t@say\ta\tb", []Reply{Say(Text("a\tb"))}},
		"blocks":     {"@think hm\n@redacted\n@say a\n@say b\n@huge 1000", []Reply{Say(Thinking("hm"), RedactedThinking(signature), Text("a"), Text("b"), Huge(1000))}},
		"steps": {
			"@say look\n@tool Bash {\"command\":\"ls\"}\n@tool Read\n@say done",
			[]Reply{Say(Text("look"), bash, Tool("Read", map[string]any{})), Say(Text("done"))},
		},
		"next": {
			"@next\n@tool Bash {\"command\":\"ls\"}\n@next\n@tool Bash {\"command\":\"ls\"}\n@next\n@empty\n@next\n@say x\n@next",
			[]Reply{Say(bash), Say(bash), {}, Say(Text("x"))},
		},
		"manner": {
			"@slow 50ms\n@stop max_tokens\n@usage in=1 out=2 cache_read=3 cache_write=4\n@header anthropic-ratelimit-unified-status=allowed X-A=b=c\n@say x",
			[]Reply{{
				Blocks: []Block{Text("x")}, StopReason: StopMaxTokens, Delay: 50 * time.Millisecond,
				Usage:  Usage{InputTokens: 1, OutputTokens: 2, CacheReadInputTokens: 3, CacheCreationInputTokens: 4},
				Header: http.Header{"Anthropic-Ratelimit-Unified-Status": {"allowed"}, "X-A": {"b=c"}},
			}},
		},
		"of its step": {"@slow 1s\n@tool Bash {\"command\":\"ls\"}\n@stop refusal", []Reply{{Blocks: []Block{bash}, Delay: time.Second}, {StopReason: StopRefusal}}},
		"error": {
			"@header a=1 b=1\n@error 529 retry-after=1 b=2 type=odd message=Too much, times=2 really\n@say never",
			[]Reply{{
				Error:  &APIError{Status: 529, Type: "odd", Message: "Too much, times=2 really"},
				Header: http.Header{"A": {"1"}, "B": {"2"}, "Retry-After": {"1"}},
			}},
		},
		"plain error":  {"@error 401", []Reply{Fail(401, "")}},
		"stream error": {"@say x\n@error 500 after=3", []Reply{{Blocks: []Block{Text("x")}, Fault: ErrorAfter(3, APIError{Status: 500})}}},
		"cut":          {"@cut 3\n@say x", []Reply{{Blocks: []Block{Text("x")}, Fault: CutAfter(3)}}},
		"malformed":    {"@malformed 0\n@say x", []Reply{{Blocks: []Block{Text("x")}, Fault: MalformedAfter(0, "")}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			script := Directives(nil)
			text, err := json.Marshal(test.prompt)
			if err != nil {
				t.Fatal(err)
			}
			messages := `{"role":"user","content":` + string(text) + `}`
			for i, want := range append(test.want, scriptEnd()) {
				got := script(parse(t, `{"messages":[`+messages+`]}`))
				if diff := cmp.Diff(want, got, compare); diff != "" {
					t.Errorf("step %d (-want +got):\n%s", i+1, diff)
				}
				messages += `,` + toolUse + `,` + toolResult
			}
		})
	}
}

func TestDirectivesAndAttempts(t *testing.T) {
	prompt := "@error 429 times=1\n@cut 2 times=2\n@malformed 1 times=1\n@error 529 after=0 times=1\n@say at last"
	script := Directives(nil)
	message := Say(Text("at last"))
	with := func(fault Fault) Reply {
		reply := message
		reply.Fault = fault
		return reply
	}
	want := []Reply{Fail(429, ""), with(CutAfter(2)), with(CutAfter(2)), with(MalformedAfter(1, "")), with(ErrorAfter(0, APIError{Status: 529})), message, message}
	for i, want := range want {
		request := Request{Attempt: i + 1, Messages: []TurnMessage{{Role: "user", Content: []ContentPart{{Type: "text", Text: prompt}}}}}
		if diff := cmp.Diff(want, script(request), compare); diff != "" {
			t.Errorf("attempt %d (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestDirectiveMistakes(t *testing.T) {
	tests := map[string]struct{ prompt, want string }{
		"unknown":        {"hello\n@dance wildly", "line 2: @dance: unknown directive; known are @say"},
		"capital":        {"@Say hi", "line 1: @Say: unknown directive"},
		"later step":     {"@tool Bash\n@say x\n@what", "line 3: @what: unknown directive"},
		"quotes":         {`@say "a\q"`, "line 1: @say: a text in quotes is to be a JSON string"},
		"tool":           {"@tool", "line 1: @tool: want the name of a tool"},
		"tool name":      {`@tool {"a":1}`, "line 1: @tool: want the name of a tool"},
		"tool input":     {"@tool Bash ls", "line 1: @tool: the input of Bash is to be a JSON object: invalid"},
		"tool list":      {"@tool Bash [1]", "line 1: @tool: the input of Bash is to be a JSON object: json: cannot"},
		"tool null":      {"@tool Bash null", "line 1: @tool: the input of Bash is to be a JSON object: it is null"},
		"huge":           {"@huge many", `line 1: @huge: want a number from 0 to 1073741824, got "many"`},
		"too huge":       {"@huge 1073741825", "line 1: @huge: want a number"},
		"huge together":  {"@huge 1073741824\n@huge 1", "line 2: @huge: the huge texts of one message have 1073741825 bytes together"},
		"stop":           {"@stop", `line 1: @stop: want one word, such as max_tokens, got ""`},
		"stop words":     {"@stop right now", "line 1: @stop: want one word"},
		"usage":          {"@usage inn=1", `line 1: @usage: want in=, out=, cache_read= or cache_write=, got "inn=1"`},
		"usage number":   {"@usage in=-1", "line 1: @usage: in: want a number"},
		"slow":           {"@slow down", `line 1: @slow: want a duration from 0s to 1m0s, such as 50ms, got "down"`},
		"too slow":       {"@slow 61s", "line 1: @slow: want a duration"},
		"header":         {"@header a", `line 1: @header: want name=value, got "a"`},
		"header name":    {"@header a:b=c", "line 1: @header: want name=value"},
		"error":          {"@error", `line 1: @error: want an HTTP status from 400 to 599, got ""`},
		"error status":   {"@error 200", "line 1: @error: want an HTTP status"},
		"error header":   {"@error 500 quickly", "line 1: @error: header: want name=value"},
		"error times":    {"@error 500 times=0", "line 1: @error: times: want a number from 1 to"},
		"error after":    {"@error 500 after=x", "line 1: @error: after: want a number from 0 to"},
		"error in both":  {"@error 500 after=1 retry-after=1", "line 1: @error: an error inside the stream has no headers"},
		"cut":            {"@cut", "line 1: @cut: want a number"},
		"cut times":      {"@cut 1 times=x", "line 1: @cut: times: want a number"},
		"cut rest":       {"@cut 1 now", `line 1: @cut: want times=N, got "now"`},
		"malformed":      {"@malformed x", "line 1: @malformed: want a number"},
		"next":           {"@next one", `line 1: @next: want nothing after it, got "one"`},
		"too many":       {strings.Repeat("@say x\n", maxDirectives+1), "line 1001: more than 1000 directives"},
		"none":           {"hello", "The simulated model found no directive in the prompt."},
		"only of a line": {"say @say", "The simulated model found no directive in the prompt."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reply := Directives(nil)(Request{Messages: []TurnMessage{{Role: "user", Content: []ContentPart{{Type: "text", Text: test.prompt}}}}})
			if got := said(reply); !strings.Contains(got, test.want) || len(reply.Blocks) != 1 {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDirectivesOtherwise(t *testing.T) {
	script := Directives(Rules(Rule{Prompt: "greet", Replies: []Reply{Say(Text("hello"))}}))
	if got := said(script(parse(t, `{"messages":[{"role":"user","content":"greet me"}]}`))); got != "hello" {
		t.Errorf("got %q", got)
	}
	if got := said(script(parse(t, `{"messages":[{"role":"user","content":"greet me\n@say no"}]}`))); got != "no" {
		t.Errorf("got %q", got)
	}
}

// A CLI that tries again after an error is told so by nothing but the request itself.
func TestDirectivesOverHTTP(t *testing.T) {
	m := newModel(t, &ModelOptions{Script: Directives(nil)})
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"@error 529 times=1 retry-after=0\n@think hm\n@tool Bash {\"command\":\"ls\"}"}]}`
	response, answer, err := exchange(t, m, "/v1/messages", body)
	if err != nil || response.StatusCode != 529 || response.Header.Get("Retry-After") != "0" {
		t.Errorf("first attempt: %d %s %v", response.StatusCode, answer, err)
	}
	_, answer = post(t, m, "/v1/messages", body)
	got := assemble(t, answer)
	if len(got.Content) != 2 || *got.Content[0].Thinking != "hm" || string(got.Content[1].Input) != `{"command":"ls"}` || *got.StopReason != StopToolUse {
		t.Errorf("second attempt: %s", answer)
	}
}

func FuzzDirectives(f *testing.F) {
	for _, seed := range []string{
		"@say x", `@tool Bash {"a":1}` + "\n@next", "@error 529 times=1 after=2 message=x", "@usage in=1", "@header a=b", "@cut 1 times=2", "@\u2028say", "@slow 1h",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		steps, err := parseDirectives(prompt)
		if err != nil {
			if steps != nil {
				t.Errorf("steps beside the error %v", err)
			}
			return
		}
		if lines := strings.Count(prompt, "\n") + 1; len(steps) > lines {
			t.Errorf("%d steps out of %d lines", len(steps), lines)
		}
		for i, step := range steps {
			for attempt := range 3 {
				// Whatever was accepted must be good for an answer.
				reply := step.attempt(attempt + 1)
				_ = fmt.Sprint(reply.complete(Request{}).header)
				for _, block := range reply.Blocks {
					if block.kind == "tool_use" && !json.Valid(block.input) {
						t.Errorf("step %d calls a tool with %s", i, block.input)
					}
				}
			}
		}
	})
}
