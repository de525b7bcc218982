package claudetest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// A simulated model says what its script says, and remembers what it was asked. A CLI is pointed at it with claudetest.Env; here a plain HTTP
// request stands for the CLI.
func ExampleModel() {
	model := claudetest.NewModel(&claudetest.ModelOptions{
		Script: claudetest.Rules(
			claudetest.Rule{Prompt: "weather", Replies: []claudetest.Reply{claudetest.Say(claudetest.Text("It rains."))}},
		),
	})
	defer func() { _ = model.Close() }()

	answer, err := http.Post(model.URL()+"/v1/messages", "application/json", strings.NewReader(
		`{"model":"any","max_tokens":100,"messages":[{"role":"user","content":"How is the weather?"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	http.DefaultClient.CloseIdleConnections()

	fmt.Println("the model said it:", strings.Contains(string(body), "It rains."))
	for _, request := range model.Requests() {
		fmt.Println("it was asked:", request.Prompt())
	}
	// Output:
	// the model said it: true
	// it was asked: How is the weather?
}

// With directives the prompt controls the model: here it fails once and then answers.
func ExampleDirectives() {
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	defer func() { _ = model.Close() }()
	defer http.DefaultClient.CloseIdleConnections()

	for range 2 {
		answer, err := http.Post(model.URL()+"/v1/messages", "application/json", strings.NewReader(
			`{"model":"any","max_tokens":100,"messages":[{"role":"user","content":"@error 529 times=1 retry-after=1\n@say Here I am."}]}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.StatusCode, answer.Header.Get("Retry-After"), strings.Contains(string(body), "Here I am."))
	}
	// Output:
	// 529 1 false
	// 200  true
}

// Your own script sees the attempt, so a model can recover from an error.
func ExampleFail() {
	script := func(r claudetest.Request) claudetest.Reply {
		if r.Attempt == 1 {
			return claudetest.Fail(http.StatusTooManyRequests, "").WithHeader("retry-after", "2")
		}
		return claudetest.Say(claudetest.Text("Back again."))
	}
	first := script(claudetest.Request{Attempt: 1})
	fmt.Println(first.Error.Status, first.Header.Get("retry-after"))
	fmt.Println(script(claudetest.Request{Attempt: 2}).Error == nil)
	// Output:
	// 429 2
	// true
}
