package claudetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// post sends a body to a path of the model and returns status and answer.
func post(t *testing.T, m *Model, path, body string) (int, string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func newModel(t *testing.T, options *ModelOptions) *Model {
	t.Helper()
	m := NewModel(options)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// assemble puts a streamed message together again, as a client does.
func assemble(t *testing.T, stream string) apiMessage {
	t.Helper()
	var out apiMessage
	var partial string
	ended := false
	lines := bufio.NewScanner(strings.NewReader(stream)) // no event is longer than a Scanner takes
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		var event struct {
			Type    string
			Message apiMessage
			Block   apiBlock `json:"content_block"`
			Delta   struct {
				Text        string
				Thinking    string
				Signature   string
				PartialJSON string  `json:"partial_json"`
				StopReason  *string `json:"stop_reason"`
			}
			Usage Usage
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("event %s: %v", data, err)
		}
		switch event.Type {
		case "message_start":
			out = event.Message
		case "content_block_start":
			out.Content = append(out.Content, event.Block)
			partial = ""
		case "content_block_delta":
			block := &out.Content[len(out.Content)-1]
			if block.Text != nil {
				*block.Text += event.Delta.Text
			}
			if block.Thinking != nil {
				*block.Thinking += event.Delta.Thinking
				*block.Signature += event.Delta.Signature
			}
			partial += event.Delta.PartialJSON
		case "content_block_stop":
			if partial != "" {
				out.Content[len(out.Content)-1].Input = json.RawMessage(partial)
			}
		case "message_delta":
			out.StopReason, out.Usage = event.Delta.StopReason, event.Usage
		case "message_stop":
			ended = true
		default:
			t.Errorf("unexpected event %q", event.Type)
		}
	}
	if !ended {
		t.Errorf("the stream has no message_stop: %s", stream)
	}
	return out
}

func TestStreamedAndWholeSayTheSame(t *testing.T) {
	reply := Say(
		Text("A text of several words, long enough to be cut into more than one piece; ü and 漢字 stay whole."),
		Tool("Write", map[string]any{"file_path": "/x", "content": "a, b, c"}).WithID("toolu_fixed"),
		Text(""),
		Thinking("Let me see, this is a thought of several words."),
		RedactedThinking("b3BhcXVl"),
		Huge(10_001),
		Huge(0),
	)
	m := newModel(t, &ModelOptions{Script: Steps(reply)})
	_, whole := post(t, m, "/v1/messages?beta=true", `{"model":"m","max_tokens":9,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`)
	_, stream := post(t, m, "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`)

	var want apiMessage
	if err := json.Unmarshal([]byte(whole), &want); err != nil {
		t.Fatalf("answer %s: %v", whole, err)
	}
	got := assemble(t, stream)
	want.ID, got.ID = "", ""
	want.Usage, got.Usage = Usage{}, Usage{} // the two requests differ in length
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("streamed message differs from the whole one (-whole +streamed):\n%s", diff)
	}
	if len(got.Content) != 7 || *got.StopReason != "tool_use" || got.Model != "m" {
		t.Errorf("got %d blocks, stop reason %q, model %q", len(got.Content), *got.StopReason, got.Model)
	}
	if size := len(*got.Content[5].Text); size != 10_001 {
		t.Errorf("the huge text has %d bytes", size)
	}
	if strings.Count(stream, "text_delta") < 2 {
		t.Error("the text came in one piece; a consumer's handling of deltas would not be tested")
	}
}

func TestReplyDefaults(t *testing.T) {
	tests := map[string]struct {
		reply Reply
		stop  string
		usage Usage
	}{
		"text":        {Say(Text("12345678")), "end_turn", Usage{InputTokens: 3, OutputTokens: 3}},
		"tool":        {Say(Tool("Bash", json.RawMessage(`{}`))), "tool_use", Usage{InputTokens: 3, OutputTokens: 1}},
		"explicit":    {Reply{Blocks: []Block{Text("x")}, StopReason: "max_tokens", Usage: Usage{OutputTokens: 7}}, "max_tokens", Usage{OutputTokens: 7}},
		"no content":  {Reply{}, "end_turn", Usage{InputTokens: 3, OutputTokens: 1}},
		"text + tool": {Say(Text("x"), Tool("Bash", map[string]any{})), "tool_use", Usage{InputTokens: 3, OutputTokens: 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.reply.complete(Request{Body: make([]byte, 8)})
			if got.stopReason != test.stop || got.usage != test.usage {
				t.Errorf("got %q %+v, want %q %+v", got.stopReason, got.usage, test.stop, test.usage)
			}
			var data bytes.Buffer
			if err := got.encode(&data); err != nil || !json.Valid(data.Bytes()) || !bytes.Contains(data.Bytes(), []byte(`"content":[`)) {
				t.Errorf("whole message %s, %v: want a list of content", &data, err)
			}
		})
	}
}

func TestToolIDs(t *testing.T) {
	call := Tool("Bash", map[string]any{"command": "true"})
	first, second := Say(call).complete(Request{}), Say(call).complete(Request{})
	if first.blocks[0].id == second.blocks[0].id {
		t.Error("a call that is said twice has the same id twice; the API refuses that")
	}
	if got := Say(call.WithID("mine")).complete(Request{}).blocks[0].id; got != "mine" {
		t.Errorf("got id %q, want the fixed one", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an input that cannot be encoded went through")
		}
	}()
	Tool("Bash", func() {})
}

const (
	toolTurn = `{"model":"big","max_tokens":32000,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"go"}]}`
	title    = `{"model":"claude-haiku-4-5","max_tokens":32000,"tools":[],"messages":[{"role":"user","content":"go"}]}`
)

func TestKinds(t *testing.T) {
	tests := map[string]struct {
		path, body string
		want       Kind
		status     int
	}{
		"turn":             {"/v1/messages?beta=true", toolTurn, KindTurn, 200},
		"without tools":    {"/v1/messages", `{"model":"big","max_tokens":32000,"messages":[{"role":"user","content":"go"}]}`, KindTurn, 200},
		"title":            {"/v1/messages", title, KindSide, 200},
		"small with tools": {"/v1/messages", `{"model":"haiku","max_tokens":9,"tools":[{"name":"Bash"}],"messages":[]}`, KindTurn, 200},
		"quota":            {"/v1/messages", `{"model":"big","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, KindSide, 200},
		"compaction": {
			"/v1/messages", `{"model":"big","max_tokens":9,"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"Your task is to ` + summary + `, please"}]}`,
			KindSide, 200,
		},
		"count":     {"/v1/messages/count_tokens?beta=true", `{"model":"big","messages":[{"role":"user","content":"go"}]}`, KindCount, 200},
		"elsewhere": {"/api/event_logging/batch", `{"events":[]}`, KindOther, 200},
		"not JSON":  {"/v1/messages", `{`, KindTurn, 400},
		"bad block": {"/v1/messages", `{"messages":[{"role":"user","content":[5]}]}`, KindTurn, 400},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, nil)
			status, answer := post(t, m, test.path, test.body)
			if status != test.status || !json.Valid([]byte(answer)) {
				t.Errorf("answered %d %s, want %d with JSON", status, answer, test.status)
			}
			requests := m.Requests()
			if len(requests) != 1 || requests[0].Kind != test.want || requests[0].Seq != 1 {
				t.Fatalf("recorded %+v, want one request of kind %q", requests, test.want)
			}
			if requests[0].Path != test.path || string(requests[0].Body) != test.body {
				t.Errorf("recorded %s %s, want it as sent", requests[0].Path, requests[0].Body)
			}
		})
	}
}

func TestSideRequestsDoNotReachTheScript(t *testing.T) {
	var sides []string
	m := newModel(t, &ModelOptions{
		Script: Steps(Say(Text("from the script"))),
		Side: func(r Request) Reply {
			sides = append(sides, r.Prompt())
			return Say(Text("from the side"))
		},
	})
	if _, answer := post(t, m, "/v1/messages", title); !strings.Contains(answer, "from the side") {
		t.Errorf("side request answered by %s", answer)
	}
	if _, answer := post(t, m, "/v1/messages", toolTurn); !strings.Contains(answer, "from the script") {
		t.Errorf("turn answered by %s", answer)
	}
	if !slices.Equal(sides, []string{"go"}) {
		t.Errorf("side requests %q, want one", sides)
	}

	everything := newModel(t, &ModelOptions{
		Script:   Steps(Say(Text("from the script"))),
		Classify: func(Request) Kind { return KindTurn },
	})
	if _, answer := post(t, everything, "/v1/messages", title); !strings.Contains(answer, "from the script") {
		t.Errorf("with a Classify of its own the model answered %s", answer)
	}
}

func TestAwait(t *testing.T) {
	m := newModel(t, nil)
	one := func(requests []Request) bool { return len(requests) >= 1 }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Await(ctx, one); err == nil {
		t.Error("Await returned without a request although its context had ended")
	}
	done := make(chan error, 1)
	go func() {
		_, err := m.Await(t.Context(), one)
		done <- err
	}()
	post(t, m, "/hello", "")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCloseCutsWhatIsBeingAnswered(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	m := NewModel(&ModelOptions{Script: func(Request) Reply {
		close(entered)
		<-release
		return Say(Text("too late"))
	}})
	failed := make(chan error, 1)
	go func() {
		transport := &http.Transport{DisableKeepAlives: true}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+"/v1/messages", strings.NewReader(toolTurn))
		if err == nil {
			var response *http.Response
			if response, err = (&http.Client{Transport: transport}).Do(request); err == nil {
				_ = response.Body.Close()
			}
		}
		failed <- err
	}()
	<-entered
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the request was answered after Close")
	}
	close(release)
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestAnswering(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	m := newHandler(&ModelOptions{Script: func(Request) Reply {
		close(entered)
		<-release
		return Say(Text("at last"))
	}})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(toolTurn)))
	}()
	<-entered
	if open := m.Answering(); len(open) != 1 || open[0].Seq != 1 {
		t.Errorf("while the script runs, the model is answering %v", open)
	}
	close(release)
	<-answered
	if open := m.Answering(); len(open) != 0 {
		t.Errorf("after its answer the model is still answering %v", open)
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "a developer's own")
	t.Setenv("PATH", "/somewhere/bin")
	env := Env("/home/of/test", "http://127.0.0.1:1")
	names := make([]string, 0, len(env))
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		names = append(names, name)
		if value == "" {
			t.Errorf("%s is empty", name)
		}
	}
	want := []string{
		"PATH", "HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_BUG_COMMAND", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if env[0] != "PATH=/somewhere/bin" || env[1] != "HOME=/home/of/test" || env[3] != "ANTHROPIC_BASE_URL=http://127.0.0.1:1" {
		t.Errorf("got %q", env)
	}
}
