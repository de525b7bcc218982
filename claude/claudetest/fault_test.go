package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	wholeTurn  = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}]}`
	streamTurn = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"go"}]}`
)

// head is an answer without its body.
type head struct {
	StatusCode int
	Header     http.Header
}

// exchange sends a body and returns the answer with as much of its body as came, and the error that ended the body.
func exchange(t *testing.T, m *Model, path, body string) (head, string, error) {
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
	return head{response.StatusCode, response.Header}, string(answer), err
}

// events returns the names of the events in a stream.
func events(stream string) []string {
	var names []string
	for line := range strings.Lines(stream) {
		if name, found := strings.CutPrefix(line, "event: "); found {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		reply      Reply
		status     int
		kind, text string
	}{
		"400":       {Fail(400, ""), 400, "invalid_request_error", "The simulated model does not take this request"},
		"own text":  {Fail(400, "prompt is too long"), 400, "invalid_request_error", "prompt is too long"},
		"401":       {Fail(401, ""), 401, "authentication_error", "invalid x-api-key"},
		"402":       {Fail(402, ""), 402, "billing_error", "There is a problem with the billing of this account"},
		"403":       {Fail(403, ""), 403, "permission_error", "This key may not use the resource"},
		"404":       {Fail(404, ""), 404, "not_found_error", "Not Found"},
		"413":       {Fail(413, ""), 413, "request_too_large", "Request Entity Too Large"},
		"418":       {Fail(418, ""), 418, "invalid_request_error", "I'm a teapot"},
		"429":       {Fail(429, ""), 429, "rate_limit_error", "This request would exceed the rate limit of the account"},
		"500":       {Fail(500, ""), 500, "api_error", "Internal server error"},
		"504":       {Fail(504, ""), 504, "timeout_error", "Gateway Timeout"},
		"529":       {Fail(529, ""), 529, "overloaded_error", "Overloaded"},
		"599":       {Fail(599, ""), 599, "api_error", "Error"},
		"own type":  {Reply{Error: &APIError{Status: 500, Type: "odd_error"}}, 500, "odd_error", "Internal server error"},
		"no status": {Reply{Error: &APIError{}}, 500, "api_error", "the script of the simulated model asks for an error with the HTTP status 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reply := test.reply.WithHeader("retry-after", "7").WithHeader("request-id", "req_mine").
				WithHeader("anthropic-ratelimit-requests-remaining", "0").WithHeader("content-length", "1")
			script := func(Request) Reply { return reply }
			m := newModel(t, &ModelOptions{Script: script, Count: script})
			for _, ask := range [][2]string{{"/v1/messages", streamTurn}, {"/v1/messages", wholeTurn}, {"/v1/messages/count_tokens", wholeTurn}} {
				response, answer, err := exchange(t, m, ask[0], ask[1])
				if err != nil {
					t.Fatal(err)
				}
				var body struct {
					Type  string
					Error struct{ Type, Message string }
					ID    string `json:"request_id"`
				}
				if err := json.Unmarshal([]byte(answer), &body); err != nil {
					t.Fatalf("answer %s: %v", answer, err)
				}
				if response.StatusCode != test.status || body.Type != "error" || body.Error.Type != test.kind || body.Error.Message != test.text {
					t.Errorf("got %d %s, want %d %s %q", response.StatusCode, answer, test.status, test.kind, test.text)
				}
				header := response.Header
				if header.Get("Retry-After") != "7" || header.Get("Anthropic-Ratelimit-Requests-Remaining") != "0" || header.Get("Content-Type") != "application/json" {
					t.Errorf("headers %v", header)
				}
				if header.Get("Request-Id") != "req_mine" || body.ID != "req_mine" {
					t.Errorf("request ids %q and %q", header.Get("Request-Id"), body.ID)
				}
			}
		})
	}
}

func TestMistakesInScriptsPanic(t *testing.T) {
	for name, mistake := range map[string]func(){
		"good status":   func() { Fail(200, "") },
		"no status":     func() { Fail(0, "") },
		"negative huge": func() { Huge(-1) },
		"too huge":      func() { Huge(MaxHuge + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			mistake()
		})
	}
}

func TestWithHeaderLeavesTheOriginal(t *testing.T) {
	first := Say().WithHeader("a", "1")
	second := first.WithHeader("a", "2")
	if first.Header.Get("a") != "1" || second.Header.Get("a") != "2" {
		t.Errorf("headers %v and %v", first.Header, second.Header)
	}
}

func TestFaults(t *testing.T) {
	overloaded := APIError{Status: 529}
	tests := map[string]struct {
		fault  Fault
		events string // of the stream
		cut    bool   // whether the answer ends too early
		last   string // what the stream contains at its fault
		status int    // of the answer that is not streamed
		body   string // what that begins with
	}{
		"cut at once":      {CutAfter(0), "", true, "", 200, `{"id":"msg_`},
		"negative":         {CutAfter(-5), "", true, "", 200, `{"id":"msg_`},
		"cut after 3":      {CutAfter(3), "message_start content_block_start content_block_delta", true, "Hello", 200, `{"id":"msg_`},
		"cut at the end":   {CutAfter(99), "message_start content_block_start content_block_delta content_block_stop message_delta message_stop", true, "Hello", 200, `{"id":"msg_`},
		"malformed":        {MalformedAfter(2, ""), "message_start content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop", false, `{"type":"text_de` + "\n", 200, malformedBody},
		"malformed, own":   {MalformedAfter(1, "rubbish\n\n"), "message_start content_block_start content_block_delta content_block_stop message_delta message_stop", false, "rubbish", 200, "rubbish"},
		"malformed at end": {MalformedAfter(99, "rubbish\n\n"), "message_start content_block_start content_block_delta content_block_stop message_delta message_stop", false, "rubbish", 200, "rubbish"},
		"error":            {ErrorAfter(2, overloaded), "message_start content_block_start error", false, `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_`, 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_`},
		"error at once":    {ErrorAfter(0, overloaded), "error", false, "Overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, &ModelOptions{Script: Steps(Reply{Blocks: []Block{Text("Hello")}, Fault: test.fault})})

			response, stream, err := exchange(t, m, "/v1/messages", streamTurn)
			if response.StatusCode != 200 || strings.Join(events(stream), " ") != test.events || !strings.Contains(stream, test.last) {
				t.Errorf("got %d and the stream %s", response.StatusCode, stream)
			}
			if cut := errors.Is(err, io.ErrUnexpectedEOF); cut != test.cut || err != nil && !cut {
				t.Errorf("the stream ended with %v", err)
			}

			response, whole, err := exchange(t, m, "/v1/messages", wholeTurn)
			if response.StatusCode != test.status || !strings.HasPrefix(whole, test.body) {
				t.Errorf("not streamed, got %d %s", response.StatusCode, whole)
			}
			if cut := errors.Is(err, io.ErrUnexpectedEOF); cut != test.cut || err != nil && !cut {
				t.Errorf("the answer that is not streamed ended with %v", err)
			}
			if test.status == 200 && json.Valid([]byte(whole)) {
				t.Errorf("the answer that is not streamed is valid: %s", whole)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	for name, reply := range map[string]Reply{
		StopMaxTokens: {Blocks: []Block{Text("half a")}, StopReason: StopMaxTokens, Usage: Usage{InputTokens: 1, OutputTokens: 9, CacheReadInputTokens: 3, CacheCreationInputTokens: 4}},
		StopRefusal:   {StopReason: StopRefusal, Usage: Usage{OutputTokens: 1}},
		StopEndTurn:   {Usage: Usage{OutputTokens: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, &ModelOptions{Script: Steps(reply)})
			_, stream := post(t, m, "/v1/messages", streamTurn)
			_, answer := post(t, m, "/v1/messages", wholeTurn)
			var whole apiMessage
			if err := json.Unmarshal([]byte(answer), &whole); err != nil {
				t.Fatal(err)
			}
			for _, got := range []apiMessage{whole, assemble(t, stream)} {
				if *got.StopReason != name || got.Usage != reply.Usage || len(got.Content) != len(reply.Blocks) || got.Content == nil {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
}

func TestDelay(t *testing.T) {
	const delay = 50 * time.Millisecond
	reply := Say(Text("one"), Thinking("two"), Tool("Bash", map[string]any{"a": 1, "b": 2}))
	reply.Delay = delay
	const deltas = 1 + 2 + 2 // the thought has its signature, the input two members
	for name, streamed := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				recorder := httptest.NewRecorder()
				say(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", nil), Request{Stream: streamed}, reply)
				if took := time.Since(began); took != deltas*delay {
					t.Errorf("took %v, want %v", took, deltas*delay)
				}
				if !strings.Contains(recorder.Body.String(), StopToolUse) {
					t.Errorf("got %s", recorder.Body)
				}
			})
		})
		t.Run(name+", gone away", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*delay+delay/2)
				defer cancel()
				began := time.Now()
				recorder := httptest.NewRecorder()
				say(recorder, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/messages", nil), Request{Stream: streamed}, reply)
				if took := time.Since(began); took != 2*delay+delay/2 {
					t.Errorf("the wait ended after %v", took)
				}
				want := 0
				if streamed {
					want = 2
				}
				if got := strings.Count(recorder.Body.String(), "event: content_block_delta"); got != want {
					t.Errorf("%d deltas, want %d", got, want)
				}
			})
		})
	}
}

// counter is a response whose body is only counted.
type counter struct {
	header  http.Header
	size    int
	largest int
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Write(p []byte) (int, error) {
	c.size += len(p)
	c.largest = max(c.largest, len(p))
	return len(p), nil
}

func TestHugeIsNeverWholeInMemory(t *testing.T) {
	const size = 20_000_000
	for name, streamed := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			got := &counter{header: http.Header{}}
			say(got, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", nil), Request{Stream: streamed}, Say(Huge(size)))
			if got.size < size || got.size > 2*size {
				t.Errorf("wrote %d bytes for a text of %d", got.size, size)
			}
			if got.largest > 8<<10 {
				t.Errorf("wrote %d bytes at once", got.largest)
			}
		})
	}
}

func TestCount(t *testing.T) {
	m := newModel(t, &ModelOptions{Count: func(r Request) Reply { return Reply{Usage: Usage{InputTokens: 1000 + len(r.Messages)}} }})
	if _, got := post(t, m, "/v1/messages/count_tokens", wholeTurn); got != `{"input_tokens":1001}` {
		t.Errorf("got %s", got)
	}
	plain := newModel(t, nil)
	if _, got := post(t, plain, "/v1/messages/count_tokens", `{"messages":[]}`); got != `{"input_tokens":4}` {
		t.Errorf("estimated %s", got)
	}
}

func TestHold(t *testing.T) {
	held := make(chan struct{})
	m := newModel(t, &ModelOptions{Script: Steps(Reply{Blocks: []Block{Text("Hello")}, Fault: HoldAfter(2, held)})})
	for _, turn := range []string{streamTurn, wholeTurn} {
		r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(turn))
		w := httptest.NewRecorder()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m.ServeHTTP(w, r.WithContext(ctx)) // returns: the caller has gone away
		if strings.Contains(w.Body.String(), "Hello") {
			t.Errorf("what is held back was said: %s", w.Body)
		}
	}
	close(held)
	for _, turn := range []string{streamTurn, wholeTurn} {
		if _, text, err := exchange(t, m, "/v1/messages", turn); err != nil || !strings.Contains(text, "Hello") {
			t.Errorf("after the hold: %v, %s", err, text)
		}
	}
}
