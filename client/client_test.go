package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// serve starts a server on loopback and a client of it.
func serve(t *testing.T, handler http.HandlerFunc, options *client.Options) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	if options == nil {
		options = &client.Options{}
	}
	options.BaseURL = server.URL + "/"
	c, err := client.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return c
}

func TestNew(t *testing.T) {
	for name, test := range map[string]struct {
		options *client.Options
		want    string // part of the error, empty for none
	}{
		"nothing":       {nil, "give a socket or a base URL"},
		"both":          {&client.Options{Socket: "/x", BaseURL: "http://localhost"}, "not both"},
		"socket":        {&client.Options{Socket: "/x"}, ""},
		"loopback":      {&client.Options{BaseURL: "http://127.0.0.1:8765", Token: "t"}, ""},
		"localhost":     {&client.Options{BaseURL: "http://localhost:8765/"}, ""},
		"six":           {&client.Options{BaseURL: "http://[::1]:8765"}, ""},
		"elsewhere":     {&client.Options{BaseURL: "http://192.0.2.1:8765", Token: "t"}, "only https is safe"},
		"a name":        {&client.Options{BaseURL: "http://localhost.example"}, "only https is safe"},
		"https":         {&client.Options{BaseURL: "https://example.com/hub"}, ""},
		"another":       {&client.Options{BaseURL: "ftp://127.0.0.1"}, "not of the form"},
		"no scheme":     {&client.Options{BaseURL: "127.0.0.1"}, "not of the form"},
		"token in it":   {&client.Options{BaseURL: "http://sb:secret@127.0.0.1"}, "has a place of its own"},
		"query":         {&client.Options{BaseURL: "http://127.0.0.1/?a=1"}, "more than an address"},
		"not to be had": {&client.Options{BaseURL: "http://%zz"}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.New(test.options)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("New: %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q holds the password", err)
			}
		})
	}
}

// Each method, the request that it makes, and that it reads the answer.
func TestOperations(t *testing.T) {
	type request struct{ Method, Path, Body string }
	var got request
	var answer string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = request{r.Method, r.URL.EscapedPath(), strings.TrimSpace(string(body))}
		if r.URL.RawQuery != "" {
			got.Path += "?" + r.URL.RawQuery
		}
		if h := r.Header.Get("Authorization"); h != "Bearer sb_a_b" {
			t.Errorf("Authorization %q", h)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}, &client.Options{Token: "sb_a_b"})
	title := "t"
	for _, test := range []struct {
		name string
		do   func(context.Context) (any, error)
		want request
	}{
		{"Info", func(ctx context.Context) (any, error) { return c.Info(ctx) }, request{"GET", "/v1/info", ""}},
		{"Create", func(ctx context.Context) (any, error) {
			return c.Create(ctx, api.CreateSession{Dir: "/a", Options: api.SessionOptions{Settings: json.RawMessage(`{"a":"<"}`)}})
		}, request{"POST", "/v1/sessions", `{"dir":"/a","options":{"settings":{"a":"<"}}}`}},
		{"List", func(ctx context.Context) (any, error) { return c.List(ctx, api.SessionFilter{}) }, request{"GET", "/v1/sessions", ""}},
		{"List some", func(ctx context.Context) (any, error) {
			return c.List(ctx, api.SessionFilter{State: []api.State{"idle", "ended"}, Dir: "/a b", Text: "&", Archived: true, Cursor: "c", Limit: 3})
		}, request{"GET", "/v1/sessions?archived=true&cursor=c&dir=%2Fa+b&limit=3&q=%26&state=idle%2Cended", ""}},
		{"Session", func(ctx context.Context) (any, error) { return c.Session(ctx, "a/b") }, request{"GET", "/v1/sessions/a%2Fb", ""}},
		{"Update", func(ctx context.Context) (any, error) { return c.Update(ctx, "s", api.UpdateSession{Title: &title}) }, request{"PATCH", "/v1/sessions/s", `{"title":"t"}`}},
		{"Send", func(ctx context.Context) (any, error) { return c.Send(ctx, "s", api.SendMessage{Text: "<hi>"}) }, request{"POST", "/v1/sessions/s/messages", `{"text":"<hi>"}`}},
		{"EditMessage", func(ctx context.Context) (any, error) {
			return c.EditMessage(ctx, "s", "c/1", api.EditMessage{Text: "x"})
		}, request{"PATCH", "/v1/sessions/s/messages/c%2F1", `{"text":"x"}`}},
		{"TakeBack", func(ctx context.Context) (any, error) { return c.TakeBack(ctx, "s", "c") }, request{"DELETE", "/v1/sessions/s/messages/c", ""}},
		{"Interrupt", func(ctx context.Context) (any, error) {
			return c.Interrupt(ctx, "s", api.Interrupt{CancelQueued: true})
		}, request{"POST", "/v1/sessions/s/interrupt", `{"cancel_queued":true}`}},
		{"Stop", func(ctx context.Context) (any, error) { return c.Stop(ctx, "s", api.Stop{}) }, request{"POST", "/v1/sessions/s/stop", `{}`}},
		{"Resume", func(ctx context.Context) (any, error) { return c.Resume(ctx, "s", api.Resume{Force: true}) }, request{"POST", "/v1/sessions/s/resume", `{"force":true}`}},
		{"Fork", func(ctx context.Context) (any, error) { return c.Fork(ctx, "s", api.Fork{At: "u"}) }, request{"POST", "/v1/sessions/s/fork", `{"at":"u"}`}},
		{"Questions", func(ctx context.Context) (any, error) {
			return c.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Session: "s", Kind: api.QuestionPlan, Limit: 2})
		}, request{"GET", "/v1/questions?kind=plan&limit=2&session=s&state=open", ""}},
		{"Question", func(ctx context.Context) (any, error) { return c.Question(ctx, "q") }, request{"GET", "/v1/questions/q", ""}},
		{"Answer", func(ctx context.Context) (any, error) { return c.Answer(ctx, "q", api.Answer{Decision: "allow"}) }, request{"POST", "/v1/questions/q/answer", `{"decision":"allow"}`}},
		{"Answer a plan", func(ctx context.Context) (any, error) {
			return c.Answer(ctx, "q", api.Answer{Outcome: api.PlanFresh, Plan: new(""), NoPrompts: true})
		}, request{"POST", "/v1/questions/q/answer", `{"outcome":"fresh","plan":"","no_prompts":true}`}},
		{"Answer for good", func(ctx context.Context) (any, error) {
			return c.Answer(ctx, "q", api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0)}})
		}, request{"POST", "/v1/questions/q/answer", `{"decision":"allow","always":{"suggestion":0}}`}},
		{"AddRule", func(ctx context.Context) (any, error) {
			return c.AddRule(ctx, "s", api.AddRule{Rule: "Bash(a > b)", Decision: api.RuleDeny, For: 60})
		}, request{"POST", "/v1/sessions/s/rules", `{"rule":"Bash(a > b)","decision":"deny","for":60}`}},
		{"RemoveRule", func(ctx context.Context) (any, error) { return c.RemoveRule(ctx, "s", "r/1") }, request{"DELETE", "/v1/sessions/s/rules/r%2F1", ""}},
		{"Policy", func(ctx context.Context) (any, error) { return c.Policy(ctx) }, request{"GET", "/v1/policy", ""}},
		{"ConfirmPolicy", func(ctx context.Context) (any, error) {
			return c.ConfirmPolicy(ctx, api.ConfirmPolicy{Sum: "abc"})
		}, request{"POST", "/v1/policy/confirm", `{"sum":"abc"}`}},
		{"Release", func(ctx context.Context) (any, error) {
			return c.Release(ctx, "s", api.Release{Hold: "h", USD: 1.5})
		}, request{"POST", "/v1/sessions/s/release", `{"hold":"h","usd":1.5}`}},
		{"Release all", func(ctx context.Context) (any, error) { return c.Release(ctx, "s", api.Release{}) }, request{"POST", "/v1/sessions/s/release", `{}`}},
		{"Events", func(ctx context.Context) (any, error) { return c.Events(ctx, "s", "e:1", 5) }, request{"GET", "/v1/sessions/s/events?after=e%3A1&limit=5", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer = `{"id":"x","version":"v","sessions":[{"id":"x"}],"questions":[{"id":"x"}],"file":"x","next":"x","was":true,"tomorrow":[1]}`
			out, err := test.do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the request (-want +got):\n%s", diff)
			}
			if text, err := json.Marshal(out); err != nil || !strings.Contains(string(text), `"x"`) && !strings.Contains(string(text), `"v"`) && !strings.Contains(string(text), `true`) {
				t.Errorf("the answer was not read: %s, %v", text, err)
			}
			answer = `{"id":`
			if _, err := test.do(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the answer") {
				t.Errorf("half an answer: %v", err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, kind, body string
		status           int
		want             api.Error
	}{
		{
			"ours", "application/problem+json", `{"status":409,"code":"already_settled","title":"T","hint":"H","question":{"id":"q","by":"anna"}}`, 409,
			api.Error{Status: 409, Code: api.CodeAlreadySettled, Title: "T", Hint: "H", Question: &api.Question{ID: "q", By: "anna"}},
		},
		{"a code of tomorrow", "application/problem+json; charset=utf-8", `{"code":"tired","title":"T","more":1}`, 418, api.Error{Status: 418, Code: "tired", Title: "T"}},
		{"a proxy", "text/html", "<h1>Bad Gateway</h1>", 502, api.Error{Status: 502, Code: api.CodeInternal, Title: "The server answered 502 Bad Gateway"}},
		{"another program", "text/plain", "404 page not found", 404, api.Error{Status: 404, Code: api.CodeNotFound, Title: "The server answered 404 Not Found"}},
		{"broken", "application/problem+json", `{"code":"inv`, 400, api.Error{Status: 400, Code: api.CodeInvalid, Title: "The server answered 400 Bad Request"}},
		{"redirect", "", "", 307, api.Error{Status: 307, Code: api.CodeInternal, Title: "The server answered 307 Temporary Redirect"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					t.Error("the redirect was followed")
				}
				w.Header().Set("Content-Type", test.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}, nil)
			_, err := c.Session(t.Context(), "s")
			var e *api.Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(test.want, *e); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	reached := make(chan struct{})
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		// Only then does the server notice that its client leaves.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		close(reached)
		<-r.Context().Done()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := c.Interrupt(ctx, "s", api.Interrupt{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Info(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "talking to the server: ") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the error is %v", err)
	}
}
