package claudetest

import (
	"net/http"
	"net/url"
	"testing"
)

// parse reads a messages request from its JSON.
func parse(t *testing.T, body string) Request {
	t.Helper()
	request, err := parseRequest(&http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/v1/messages"}}, []byte(body))
	if err != nil {
		t.Fatalf("parsing %s: %v", body, err)
	}
	return request
}

const (
	reminder   = `{"type":"text","text":"<system-reminder>\nmind the gap\n</system-reminder>\n"}`
	toolUse    = `{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}`
	toolResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no such"},{"type":"text","text":"file"}]}]}`
)

func TestPromptAndReplies(t *testing.T) {
	tests := map[string]struct {
		messages string
		prompt   string
		replies  int
	}{
		"plain":         {`[{"role":"user","content":"first"}]`, "first", 0},
		"reminder":      {`[{"role":"user","content":[` + reminder + `,{"type":"text","text":"first"}]}]`, "first", 0},
		"reminder last": {`[{"role":"user","content":[{"type":"text","text":"first"},` + reminder + `]}]`, "first", 0},
		"in one block":  {`[{"role":"user","content":"<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>first"}]`, "first", 0},
		"cut reminder":  {`[{"role":"user","content":"<system-reminder>a"}]`, "", 0},
		"after a tool":  {`[{"role":"user","content":"first"},` + toolUse + `,` + toolResult + `]`, "first", 1},
		"second turn": {
			`[{"role":"user","content":"first"},` + toolUse + `,` + toolResult + `,{"role":"assistant","content":"done"},{"role":"user","content":"second"}]`,
			"second", 0,
		},
		"system after it": {`[{"role":"user","content":"first"},{"role":"system","content":"be nice"}]`, "first", 0},
		"nothing":         {`[]`, "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := parse(t, `{"model":"m","messages":`+test.messages+`}`)
			if got := request.Prompt(); got != test.prompt {
				t.Errorf("Prompt() = %q, want %q", got, test.prompt)
			}
			if got := request.Replies(); got != test.replies {
				t.Errorf("Replies() = %d, want %d", got, test.replies)
			}
		})
	}
}

func TestToolResults(t *testing.T) {
	request := parse(t, `{"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"first"},`+toolUse+`,`+toolResult+`]}`)
	results := request.ToolResults()
	if len(results) != 1 || results[0].ToolUseID != "t1" || results[0].Text != "no such\nfile" || !results[0].IsError {
		t.Errorf("got %+v", results)
	}
	if call := request.Messages[1].Content[1]; call.Name != "Bash" || string(call.Input) != `{"command":"ls"}` || call.ID != "t1" {
		t.Errorf("got tool call %+v", call)
	}
	if request.System != "a\nb" {
		t.Errorf("system prompt %q", request.System)
	}
	if got := (Request{}).ToolResults(); got != nil {
		t.Errorf("a request without messages has results %+v", got)
	}
}

// said is the first text of a reply.
func said(r Reply) string { return r.Blocks[0].text }

func TestSteps(t *testing.T) {
	script := Steps(Say(Text("one")), Say(Text("two")))
	begin := parse(t, `{"messages":[{"role":"user","content":"first"}]}`)
	next := parse(t, `{"messages":[{"role":"user","content":"first"},`+toolUse+`,`+toolResult+`]}`)
	over := parse(t, `{"messages":[{"role":"user","content":"first"},`+toolUse+`,`+toolResult+`,`+toolUse+`,`+toolResult+`]}`)
	for _, want := range []struct {
		request Request
		text    string
	}{{begin, "one"}, {begin, "one"}, {next, "two"}, {over, "The script of the simulated model is over."}} {
		if got := said(script(want.request)); got != want.text {
			t.Errorf("got %q, want %q", got, want.text)
		}
	}
}

func TestRules(t *testing.T) {
	script := Rules(
		Rule{Prompt: "list", Replies: []Reply{Say(Tool("Bash", map[string]any{"command": "ls"})), Say(Text("listed"))}},
		Rule{Prompt: "greet", Replies: []Reply{Say(Text("hello"))}},
	)
	tests := map[string]struct{ messages, want string }{
		"greet":        {`[{"role":"user","content":"please greet me"}]`, "hello"},
		"after a tool": {`[{"role":"user","content":"list them"},` + toolUse + `,` + toolResult + `]`, "listed"},
		"second turn":  {`[{"role":"user","content":"list them"},` + toolUse + `,` + toolResult + `,{"role":"assistant","content":"x"},{"role":"user","content":"greet"}]`, "hello"},
		"used up":      {`[{"role":"user","content":"greet"},{"role":"assistant","content":"hello"}]`, "The script of the simulated model is over."},
		"no rule":      {`[{"role":"user","content":"dance"}]`, "The script of the simulated model has no rule for this prompt."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := said(script(parse(t, `{"messages":`+test.messages+`}`))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
