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
