package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// pretend is a stand-in for a server with one session.
func pretend() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/sessions", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"s5k2m7q3zr4t6w8xabcdy","state":"starting"}`)
	})
	mux.HandleFunc("GET /v1/sessions/{id}/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: resume\ndata: {\"resume\":\"ok\"}\n\n"+
			"event: event\nid: e:1\ndata: {\"id\":\"e:1\",\"session\":\"s5k2m7q3zr4t6w8xabcdy\",\"seq\":1,\"kind\":\"created\"}\n\n"+
			"event: event\nid: e:2\ndata: {\"id\":\"e:2\",\"session\":\"s5k2m7q3zr4t6w8xabcdy\",\"seq\":2,\"kind\":\"line\",\"line\":{\"type\":\"result\"}}\n\n")
	})
	mux.HandleFunc("GET /v1/questions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"questions":[{"id":"q2","kind":"plan","state":"open","plan":{"text":"1. Rewrite it","outcomes":["fresh","accept_edits","ask","revise","reject","outline"]}}]}`)
	})
	mux.HandleFunc("POST /v1/questions/q2/answer", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":"q2","kind":"plan","state":"answered","answer":{"outcome":"revise","message":"Write the tests first."}}`)
	})
	mux.HandleFunc("POST /v1/sessions/{id}/rules", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"r1","rule":"Bash(git push:*)","decision":"deny"}`)
	})
	mux.HandleFunc("POST /v1/questions/{id}/answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"status":409,"code":"already_settled","title":"This was answered before","question":{"id":"q1","state":"answered","by":"anna"}}`)
	})
	return httptest.NewServer(mux)
}

func Example() {
	server := pretend() // yours is there already
	defer server.Close()

	c, err := client.New(&client.Options{BaseURL: server.URL, Token: "sb_…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx := context.Background()
	created, err := c.Create(ctx, api.CreateSession{ClientID: "fix-1", Dir: "/home/me/project", Prompt: "Fix the tests"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(created.ID, created.State)
	// Output: s5k2m7q3zr4t6w8xabcdy starting
}

func ExampleClient_Follow() {
	server := pretend()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	for frame, err := range c.Follow(context.Background(), "s5k2m7q3zr4t6w8xabcdy", nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if frame.Type != api.FrameEvent {
			continue
		}
		fmt.Println(frame.Event.ID, frame.Event.Kind)
		if frame.Event.Seq == 2 {
			break
		}
	}
	// Output:
	// e:1 created
	// e:2 line
}

func ExampleClient_Answer() {
	server := pretend()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	_, err = c.Answer(context.Background(), "q1", api.Answer{Decision: "allow"})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeAlreadySettled {
		fmt.Println("already answered by", e.Question.By)
	}
	// Output: already answered by anna
}

func ExampleClient_Answer_plan() {
	server := pretend()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx := context.Background()

	list, err := c.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Kind: api.QuestionPlan})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range list.Questions {
		answer := api.Answer{ClientID: "review-" + q.ID, Outcome: api.PlanRevise, Message: "Write the tests first."}
		if q.Plan != nil && strings.Contains(q.Plan.Text, "test") {
			// A new process that knows nothing but the plan carries it out.
			answer = api.Answer{ClientID: "review-" + q.ID, Outcome: api.PlanFresh}
		}
		settled, err := c.Answer(ctx, q.ID, answer)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(settled.ID, settled.State, settled.Answer.Outcome)
	}
	// Output: q2 answered revise
}

func ExampleClient_AddRule() {
	server := pretend()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	rule, err := c.AddRule(context.Background(), "s5k2m7q3zr4t6w8xabcdy", api.AddRule{
		ClientID: "no-push", Rule: "Bash(git push:*)", Decision: api.RuleDeny, Message: "A person pushes.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule.ID, rule.Decision, rule.Rule)
	// Output: r1 deny Bash(git push:*)
}
